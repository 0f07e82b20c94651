"""METRA: skills move as far as they can, each in its own direction of a learned embedding phi.

One number of phi for each skill. phi is moved to lengthen the steps of each skill in its direction
under the constraint that no step is longer than 1 (`embedding`).
"""

from __future__ import annotations

import jax

from apart._types import Array, Key, Obs
from apart.learner.episodes import Sampled
from apart.objective import metra
from apart.objective.contexts import Moved
from apart.training.objectives import embedding
from apart.training.objectives.contract import Given, Objective
from apart.training.objectives.embedding import Embedding
from apart.training.state import Hyper


def build(given: Given) -> Objective:
    """METRA for the skills of a configuration."""
    form = given.p.network((given.p.config.skills,))

    def init(key: Key, hyper: Hyper) -> Embedding:
        return embedding.init(form, key, hyper)

    def rewards(kept: Embedding, moved: Moved, hyper: Hyper) -> Array:
        before, after = (embedding.read(form, kept, obs) for obs in (moved.before, moved.after))
        each: Array = jax.vmap(metra.rewards)(before, after)
        return each

    def scores(kept: Embedding, obs: Obs | None, hyper: Hyper) -> Array:
        """How far each skill's direction leads here."""
        return embedding.read(form, kept, obs) @ metra.directions(given.p.config.skills).T

    def fit(kept: Embedding, drawn: Sampled, hyper: Hyper, rate: Array) -> Embedding:
        batch, skill = drawn.batch, drawn.batch.skill

        def gradient(before: Array, after: Array, multiplier: Array) -> tuple[Array, Array]:
            each = jax.vmap(metra.gradient, (0, 0, 0, None))(before, after, skill, multiplier)
            each /= each.shape[0]
            return -each, each

        return embedding.fitted(form, kept, (batch.obs, batch.next_obs), gradient, rate)

    return Objective(init, rewards, scores, fit=fit)
