"""Places of skills among what was seen, in a distance that is learned from transitions.

`learner.points` with the distance of an embedding: how many decisions lie between two observations,
not how far apart their numbers are.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array, Key, Obs
from apart.learner import points
from apart.learner.episodes import Sampled
from apart.learner.points import Embed, Points
from apart.objective import metrics
from apart.training.objectives import embedding
from apart.training.objectives.contract import Given, Keeper, Met
from apart.training.objectives.embedding import Embedding
from apart.training.state import Hyper

NUMBERS = 16  # of an embedded observation


class Measured(NamedTuple):
    """What is kept."""

    points: Points  # observations as they came, flat
    metric: Embedding
    turn: Array  # [] int32 batches so far


def measured(given: Given) -> Keeper:
    """For observations that are short enough to be kept whole (`Discriminator.embeds`)."""
    p = given.p
    vectors, form = p.vectors, p.network((NUMBERS,))
    assert vectors is not None

    def whole(flat: Array) -> Obs:
        return flat.reshape(-1, *vectors.shape)

    def scaled(flat: Array) -> Array:
        return vectors.of(whole(flat))

    def embed(kept: Measured) -> Embed:
        return lambda flat: embedding.read(form, kept.metric, whole(flat))

    def init(key: Key, hyper: Hyper) -> Measured:
        where = points.init(p.config.skills, vectors.n)
        return Measured(where, embedding.init(form, key, hyper), jnp.int32(0))

    def read(kept: Measured, obs: Obs | None) -> Array:
        assert obs is not None  # nobody can list all of them
        return points.read(kept.points, obs.reshape(-1, vectors.n), embed(kept))

    def meet(kept: Measured, met: Met, hyper: Hyper) -> Measured:
        flat = met.episodes.obs.reshape(-1, vectors.n)
        space = points.Space(scaled, embed(kept))
        where = points.look(points.add(kept.points, flat, scaled), met.rounds, space)
        return kept._replace(points=where)

    def fit(kept: Measured, drawn: Sampled, hyper: Hyper, rate: Array) -> Measured:
        # Pairs of the memory, which has all that was ever seen: a batch is mostly of the start. The
        # places of these pairs do not depend on the seed; what is in the memory does.
        batch, key = drawn.batch, jax.random.fold_in(jax.random.key(0), kept.turn)
        shape, n = (2, batch.skill.shape[0]), jnp.maximum(kept.points.n, 1)
        first, second = map(whole, kept.points.memory[jax.random.randint(key, shape, 0, n)])
        steps = (batch.obs, batch.next_obs)
        metric = embedding.fitted(form, kept.metric, steps, metrics.gradient, rate, (first, second))
        return Measured(kept.points, metric, kept.turn + 1)

    return Keeper(init, read, meet, fit)
