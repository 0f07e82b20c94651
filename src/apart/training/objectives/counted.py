"""Count-based exploration: states are worth 1 / sqrt(visits), to all skills alike."""

from __future__ import annotations

import jax.numpy as jnp

from apart._types import Array, Key, Obs
from apart.objective import novelty
from apart.training.objectives.contract import Given, Met, Objective, of_one_state
from apart.training.state import Hyper


def build(given: Given) -> Objective:
    """Exploration of a table; what is kept are visits [S], the start of an episode not among them.

    Skills differ by nothing but the initial values of Q.
    """
    n_states, n_skills = given.counted, given.p.config.skills
    assert n_states is not None

    def init(key: Key, hyper: Hyper) -> Array:
        return jnp.zeros(n_states)

    def of_states(kept: Array, obs: Obs | None, hyper: Hyper) -> Array:
        worth = novelty.by_count(kept if obs is None else kept[obs])
        return jnp.broadcast_to(worth[:, None], (worth.shape[0], n_skills))

    def scores(kept: Array, obs: Obs | None, hyper: Hyper) -> Array:
        """Nobody tells skills apart."""
        return jnp.zeros((n_states if obs is None else obs.shape[0], n_skills))

    def meet(kept: Array, met: Met, hyper: Hyper) -> Array:
        return kept.at[met.episodes.obs[:, 1:].reshape(-1)].add(1.0)

    return Objective(init, of_one_state(of_states, after=True), scores, of_states, meet=meet)
