"""States that episodes come to with their last step alone, as no shorter way leads there.

Nobody acts there, so that Q keeps its first values: bootstrapped from, they would stay what they
are for ever. What follows counts as staying. Where states cannot be listed nobody knows them.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from apart._types import Array
from apart.objective.contexts import Moved
from apart.objective.objectives import OBJECTIVES
from apart.training.objectives.contract import Given, Objective, for_ever, rewards_of
from apart.training.state import Hyper, Learnt


def looked_beyond(given: Given, objective: Objective) -> tuple[int, ...]:
    """Those that targets look beyond; none where nothing is bootstrapped at the end of an episode.

    Where rewards are those of whole episodes nobody knows what staying is worth; where an
    objective says itself what an edge is worth, it counts as any other state.
    """
    config = given.p.config
    not_asked = objective.at_edge or OBJECTIVES[config.objective].by_episode
    if given.next_state is None or not_asked or not config.bootstrap_last:
        return ()
    return edge_of(given)


def edge_of(given: Given) -> tuple[int, ...]:
    """All of them."""
    horizon, onward = given.p.config.decisions, np.asarray(given.next_state)
    here, seen = set(given.starts), set(given.starts)
    for _ in range(horizon):
        here = {int(state) for state in np.unique(onward[sorted(here)])} - seen
        seen |= here
        if not here:
            return ()
    return tuple(sorted(here))


def staying(objective: Objective, learnt: Learnt, states: Array, hyper: Hyper) -> Array:
    """[n, K] what it is worth to every skill to stay in ``states`` [n] for ever."""
    reward = objective.rewards(learnt.discriminator, Moved(states, states), hyper)
    return reward * for_ever(hyper)


def staying_of(
    objective: Objective, learnt: Learnt, states: Array, skill: Array, hyper: Hyper
) -> Array:
    """[n] the same to one skill for each state."""
    stay = Moved(states, states)
    return rewards_of(objective, learnt.discriminator, stay, skill, hyper) * for_ever(hyper)


def among(edge: tuple[int, ...], states: Array) -> Array:
    """[n] bool which of ``states`` are on the edge."""
    return jnp.isin(states, jnp.asarray(edge))
