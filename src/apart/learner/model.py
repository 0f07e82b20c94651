"""What is known of the world: for every transition ever taken, when in an episode it is taken.

In a deterministic finite world the whole replay memory says no more about a transition than three
sums: how often it was taken, how much its reward weighed, how often the episode went on. Kept per
(state, action), they never forget a transition and need no sampling: an update can sweep over all
that is known. Each visit fades the sums of its own cell, so that the means follow the skills.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from apart._types import Array

_FADE = 0.99  # of a cell's sums at each of its visits: means over about the last hundred


class Model(NamedTuple):
    """Fading sums over the visits of each (state, action); zero: never taken."""

    times: Array  # [S * A]
    factor: Array  # [S * A] sum of the weights W(t) of its rewards
    proceeds: Array  # [S * A] how often the episode went on after it


def init(n_cells: int) -> Model:
    """Nothing is known."""
    return Model(jnp.zeros(n_cells), jnp.zeros(n_cells), jnp.zeros(n_cells))


def add(model: Model, cell: Array, factor: Array, proceeds: Array) -> Model:
    """The model after some more transitions; all arguments [n]."""
    nothing = jnp.zeros_like(model.times)
    taken = nothing.at[cell].add(1.0)
    fade = jnp.power(_FADE, taken)
    return Model(
        times=fade * model.times + taken,
        factor=fade * model.factor + nothing.at[cell].add(factor),
        proceeds=fade * model.proceeds + nothing.at[cell].add(proceeds.astype(jnp.float32)),
    )


def means(model: Model) -> Model:
    """Per cell: 1 if known else 0, mean weight of its reward, share of visits that went on."""
    known = model.times > 0
    times = jnp.where(known, model.times, 1.0)
    return Model(known.astype(jnp.float32), model.factor / times, model.proceeds / times)
