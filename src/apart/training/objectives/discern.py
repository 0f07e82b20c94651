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
    goals: Obs  # [K, ...] observations; in a table int32 states


def build(given: Given) -> Objective:
    """DISCERN for the skills of a configuration."""
    n_skills, in_table = given.p.config.skills, given.counted is not None
    points, form = given.p.points(), given.p.network((spheres.DISCERN_NUMBERS,))

    def init(key: Key, hyper: Hyper) -> Goals:
        embedding = adam.fit(form, form.init(key, hyper.init_logits))
        if in_table:
            return Goals(embedding, jnp.full(n_skills, given.starts[0], jnp.int32))
        return Goals(embedding, jnp.zeros((n_skills, *given.seen.shape), given.seen.dtype))

    def similar(kept: Goals, obs: Obs | None) -> Array:
        here, goals = (form.read(kept.embedding.params, at)[0] for at in (obs, kept.goals))
        return spheres.unit(here) @ spheres.unit(goals).T

    def of_states(kept: Goals, obs: Obs | None, hyper: Hyper) -> Array:
        return jnp.maximum(similar(kept, obs), 0.0)

    def scores(kept: Goals, obs: Obs | None, hyper: Hyper) -> Array:
        return spheres.DISCERN_SHARPNESS * similar(kept, obs)

    def meet(kept: Goals, met: Met, hyper: Hyper) -> Goals:
        """A state of each new episode may become a goal."""
        seen, goals, alive = met.episodes.obs, kept.goals, met.episodes.alive
        if not in_table:  # all goals begin where the first episode did
            seen = seen.astype(given.seen.dtype)
            goals = jnp.where(met.rounds <= 1, seen[0, 0], goals)
        n, length = seen.shape[:2]
        if alive is not None:  # [E] of episodes that may have ended before
            length = 1 + alive.sum(axis=1)
        # Early and late states by turns: a step that goes round with the rounds.
        picked = seen[jnp.arange(n), (met.rounds + jnp.arange(n)) % length]

        def offer(goals: Obs, one: Obs) -> tuple[Obs, None]:
            out, better = spheres.farther(points(goals), points(one[None])[0])
            return goals.at[out].set(jnp.where(better, one, goals[out])), None

        return kept._replace(goals=jax.lax.scan(offer, goals, picked)[0])

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
        init,
        of_one_state(of_states, after=True),
        scores,
        of_states,
        meet=meet,
        fit=fit,
        bounds=None if in_table else (0.0, 1.0),
        # A goal in which the world ends episodes is worth staying in: beside it others would pay.
        stays=lambda kept: jnp.ones((), bool),
    )
