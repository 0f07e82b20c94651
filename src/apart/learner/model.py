"""What is known of the world: for every transition ever taken, when in an episode it is taken.

In a finite world the whole replay memory says no more about a transition than three sums: how
often it was taken, how much its reward weighed, how often the episode went on. Kept per (state,
action, successor), they never forget a transition and need no sampling: an update can sweep over
all that is known. Each visit of a (state, action) fades its sums, so that the means follow the
skills; where an action has several successors, their sums stay in proportion to how often each
was seen.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from apart._types import Array

_FADE = 0.99  # of a cell's sums at each of its visits: means over about the last hundred
_FADE_AMONG_MANY = 0.999  # frequencies of successors need more visits than means do


class Model(NamedTuple):
    """Fading sums over the visits of each (state, action) [S * A, N]; zero: never taken."""

    visits: Array
    weight: Array  # sum of the weights W(t) of its rewards
    proceeds: Array  # how often the episode went on after it


def init(n_cells: int, n_successors: int) -> Model:
    """Nothing is known."""
    return Model(*(jnp.zeros((n_cells, n_successors)) for _ in range(3)))


def add(model: Model, cell: Array, successor: Array, weight: Array, proceeds: Array) -> Model:
    """The model after some more transitions; all arguments [n]."""
    n_cells, n_successors = model.visits.shape
    at = cell * n_successors + successor

    def summed(values: Array | float) -> Array:
        return jnp.zeros(n_cells * n_successors).at[at].add(values).reshape(model.visits.shape)

    taken = summed(1.0)
    keep = _FADE if n_successors == 1 else _FADE_AMONG_MANY
    fade = jnp.power(keep, taken.sum(1, keepdims=True))
    return Model(
        visits=fade * model.visits + taken,
        weight=fade * model.weight + summed(weight),
        proceeds=fade * model.proceeds + summed(proceeds.astype(jnp.float32)),
    )


def means(model: Model) -> Model:
    """Per cell [S * A]: 1 if known else 0; per successor [S * A, N] its share of the visits times
    the mean weight of its reward, and times the share of visits that went on.
    """
    total = model.visits.sum(1)
    known = total > 0
    each = jnp.where(known, total, 1.0)[:, None]
    return Model(known.astype(jnp.float32), model.weight / each, model.proceeds / each)
