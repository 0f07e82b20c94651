"""DISCERN (Warde-Farley et al. 2019): goals are states; a skill is to end in a state like its own.

Likeness is that of a learned embedding: the last state of a skill is to be told as that of its own
goal among all goals, the others being decoys. Goals are states that were seen; one that has
another nearby is replaced by a state that has none.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array, Key, Obs
from apart.learner import adam
from apart.learner.adam import Fitted
from apart.learner.episodes import Sampled
from apart.objective import spheres
from apart.training.objectives import moves
from apart.training.objectives.contract import Given, Met, Objective, of_one_state
from apart.training.state import Hyper


class Goals(NamedTuple):
    """What is kept."""

    embedding: Fitted  # rows [D], before they are brought to unit length
    goals: Array  # [K] int32 states


def build(given: Given) -> Objective:
    """DISCERN in a table; its embedding may be a network."""
    n_skills, n_states = given.p.config.skills, given.counted
    assert n_states is not None
    assert given.p.states is not None
    coordinates = given.p.states.coordinates()
    form = given.p.network((spheres.DISCERN_NUMBERS,))

    def init(key: Key, hyper: Hyper) -> Goals:
        embedding = adam.fit(form, form.init(key, hyper.init_logits))
        return Goals(embedding, jnp.full(n_skills, given.starts[0], jnp.int32))

    def similar(kept: Goals, obs: Obs | None) -> Array:
        here, goals = (form.read(kept.embedding.params, at)[0] for at in (obs, kept.goals))
        return spheres.unit(here) @ spheres.unit(goals).T

    def of_states(kept: Goals, obs: Obs | None, hyper: Hyper) -> Array:
        return jnp.maximum(similar(kept, obs), 0.0)

    def scores(kept: Goals, obs: Obs | None, hyper: Hyper) -> Array:
        return spheres.DISCERN_SHARPNESS * similar(kept, obs)

    def meet(kept: Goals, met: Met, hyper: Hyper) -> Goals:
        """A state of each new episode may become a goal."""
        states = met.episodes.obs
        n, length = states.shape
        # Early and late states by turns: a step that goes round with the rounds.
        picked = states[jnp.arange(n), (met.rounds + jnp.arange(n)) % length]

        def offer(goals: Array, state: Array) -> tuple[Array, None]:
            out, better = spheres.farther(coordinates[goals], coordinates[state])
            return goals.at[out].set(jnp.where(better, state, goals[out])), None

        return kept._replace(goals=jax.lax.scan(offer, kept.goals, picked)[0])

    def fit(kept: Goals, drawn: Sampled, hyper: Hyper, rate: Array) -> Goals:
        whole = jnp.zeros_like(drawn.batch.skill)
        obs, weights = moves.last_seen(given, drawn.batch, whole, 1)
        ends, pull_ends = form.read(kept.embedding.params, obs)
        goals, pull_goals = form.read(kept.embedding.params, kept.goals)

        def loss(ends: Array, goals: Array) -> Array:
            each = jax.vmap(spheres.goal_losses, (0, None))(ends, goals)
            return (weights[:, 0] * each).sum()

        of_ends, of_goals = jax.grad(loss, (0, 1))(ends, goals)
        down = jax.tree.map(jnp.add, pull_ends(of_ends), pull_goals(of_goals))
        return kept._replace(embedding=adam.step(form, kept.embedding, down, rate))

    return Objective(
        init, of_one_state(of_states, after=True), scores, of_states, meet=meet, fit=fit
    )
