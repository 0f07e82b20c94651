"""METRA: skills move as far as they can, each in its own direction of a learned embedding phi.

One number of phi for each skill, kept as logits are: in a table, or in a network. phi is moved to
lengthen the steps of each skill in its direction under the constraint that no step is longer than
1; the multiplier of the constraint rises where it is broken (dual ascent), in logarithms.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array, Key, Obs
from apart.learner import adam
from apart.learner.adam import Fitted
from apart.learner.approximators import table
from apart.learner.episodes import Sampled
from apart.objective import metra
from apart.objective.contexts import Moved
from apart.training.objectives.contract import Given, Objective
from apart.training.state import Hyper

_NUMBER = table(1, ())  # the form of the multiplier


class Embedding(NamedTuple):
    """What METRA keeps."""

    phi: Fitted  # rows [K]
    log_lambda: Fitted  # [1]


def build(given: Given) -> Objective:
    """METRA for the skills of a configuration."""
    form = given.p.network((given.p.config.skills,))

    def init(key: Key, hyper: Hyper) -> Embedding:
        phi = form.init(key, hyper.init_logits)
        log_lambda = jnp.full(1, math.log(metra.LAMBDA), jnp.float32)
        return Embedding(adam.fit(form, phi), adam.fit(_NUMBER, log_lambda))

    def read(kept: Embedding, obs: Obs | None) -> Array:
        return form.read(kept.phi.params, obs)[0]

    def rewards(kept: Embedding, moved: Moved, hyper: Hyper) -> Array:
        each: Array = jax.vmap(metra.rewards)(read(kept, moved.before), read(kept, moved.after))
        return each

    def scores(kept: Embedding, obs: Obs | None, hyper: Hyper) -> Array:
        """How far each skill's direction leads here."""
        return read(kept, obs) @ metra.directions(given.p.config.skills).T

    def fit(kept: Embedding, drawn: Sampled, hyper: Hyper, rate: Array) -> Embedding:
        batch = drawn.batch
        before, pull_before = form.read(kept.phi.params, batch.obs)
        after, pull_after = form.read(kept.phi.params, batch.next_obs)
        multiplier = jnp.exp(kept.log_lambda.params[0])
        each = jax.vmap(metra.gradient, (0, 0, 0, None))(before, after, batch.skill, multiplier)
        each /= each.shape[0]
        down = jax.tree.map(jnp.add, pull_after(each), pull_before(-each))
        held = jax.vmap(metra.held)(before, after).mean()
        return Embedding(
            adam.step(form, kept.phi, down, rate),
            adam.step(_NUMBER, kept.log_lambda, held[None], rate),
        )

    return Objective(init, rewards, scores, fit=fit)
