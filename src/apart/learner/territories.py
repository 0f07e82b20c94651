"""What places share among them, whatever a distance is: used by `ends` (steps) and `points`.

Every known state (or point) belongs to the skill whose place is nearest to it: its territory.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from apart._types import Array


class Most(NamedTuple):
    """Of each territory [K]: its largest value (-1: it is empty) and the first state that has it.

    An empty one has as its state the number of all states.
    """

    value: Array
    state: Array


def most(values: Array, owner: Array, among: Array, n_skills: int) -> Most:
    """Of ``values`` [S] >= 0 in states that are ``among``; ``owner`` [S] is the skill of each."""
    n_states = values.shape[0]
    values = jnp.where(among, values, -1)
    value = jnp.full(n_skills, -1, values.dtype).at[owner].max(values)
    has = among & (values == value[owner])
    states = jnp.where(has, jnp.arange(n_states), n_states)
    return Most(value, jnp.full(n_skills, n_states, jnp.int32).at[owner].min(states))


def needed_elsewhere(without: Array, widest: Most, better: float = 1) -> tuple[Array, Array]:
    """[K] which skills leave their places, and [K] the states that they go to.

    All that have no territory move at once, to the farthest state of one widest territory each;
    without any, the one whose territory others cover best, if that makes the covering radius
    smaller by the factor ``better``.

    Args:
        without: [K] how far the farthest state of a territory is from all other places; -1: it has
            none.
        widest: the farthest state of each territory from its own place.
        better: 1 or less.
    """
    skills = jnp.arange(without.shape[0])
    movers, goals = jnp.argsort(without), jnp.argsort(-widest.value)
    gain, cost = widest.value[goals], without[movers]
    moves = (gain > 0) & ((cost < 0) | ((skills == 0) & (cost < better * gain)))
    leaves = jnp.zeros(skills.shape, bool).at[movers].set(moves)
    return leaves, jnp.zeros_like(widest.state).at[movers].set(widest.state[goals])
