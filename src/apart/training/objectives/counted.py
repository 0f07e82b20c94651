"""Count-based exploration: where one comes to is worth 1 / sqrt(visits), to all skills alike."""

from __future__ import annotations

import jax.numpy as jnp

from apart._types import Array, Key, Obs
from apart.objective import novelty
from apart.training.objectives.contract import Given, Met, Objective, of_one_state
from apart.training.state import Hyper


def build(given: Given) -> Objective:
    """Exploration of a table, or of the places of a world whose states cannot be listed.

    What is kept are visits [n] of states or places, by decisions: the start of an episode is not
    among them, nor what is passed while one is held. Skills differ by nothing but the initial
    values of Q.
    """
    by_place, n_skills = given.counted is None, given.p.config.skills
    n = given.places if by_place else given.counted
    assert n is not None

    def init(key: Key, hyper: Hyper) -> Array:
        return jnp.zeros(n)

    def of_states(kept: Array, obs: Obs | None, hyper: Hyper) -> Array:
        worth = novelty.by_count(kept if obs is None else kept[obs])
        return jnp.broadcast_to(worth[:, None], (worth.shape[0], n_skills))

    def scores(kept: Array, obs: Obs | None, hyper: Hyper) -> Array:
        """Nobody tells skills apart."""
        return jnp.zeros((n if obs is None else obs.shape[0], n_skills))

    def meet(kept: Array, met: Met, hyper: Hyper) -> Array:
        made = met.episodes
        came = made.with_places().place if by_place else made.obs
        assert came is not None
        taken = 1.0 if made.alive is None else made.alive.reshape(-1).astype(kept.dtype)
        return kept.at[came[:, 1:].reshape(-1)].add(taken)

    rewards = of_one_state(of_states, after=True)
    return Objective(init, rewards, scores, of_states, meet=meet, by_place=by_place)
