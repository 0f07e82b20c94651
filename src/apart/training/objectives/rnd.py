"""Random network distillation: states are worth what a network cannot yet predict of another.

The other one is random and stays as it is. Errors are divided by their running mean, so that
rewards are about 1 whatever the observations are; in a table, until every row is learnt.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array, Key, Obs
from apart.learner import adam
from apart.learner.adam import Fitted
from apart.learner.approximators import Params
from apart.learner.episodes import Sampled
from apart.objective import novelty
from apart.training.objectives.contract import Given, Objective, of_one_state
from apart.training.state import Hyper

_SLOWLY = 0.01  # share of the newest batch in the running mean


class Distilled(NamedTuple):
    """What is kept."""

    wanted: Params  # of the random network
    predictor: Fitted
    mean: Array  # [] running mean of the error


def build(given: Given) -> Objective:
    """Exploration of any world; skills differ by nothing but the initial values of Q."""
    form, n_skills = given.p.network((novelty.RND_OUTPUTS,)), given.p.config.skills

    def init(key: Key, hyper: Hyper) -> Distilled:
        key_wanted, key_predictor = jax.random.split(key)
        predictor = adam.fit(form, form.init(key_predictor, hyper.init_logits))
        return Distilled(form.init(key_wanted, jnp.float32(1.0)), predictor, jnp.float32(1.0))

    def errors(kept: Distilled, obs: Obs | None) -> Array:
        predicted, wanted = (form.read(at, obs)[0] for at in (kept.predictor.params, kept.wanted))
        return novelty.by_error(predicted, wanted)

    def of_states(kept: Distilled, obs: Obs | None, hyper: Hyper) -> Array:
        worth = errors(kept, obs) / jnp.maximum(kept.mean, 1e-8)
        return jnp.broadcast_to(worth[:, None], (worth.shape[0], n_skills))

    def scores(kept: Distilled, obs: Obs | None, hyper: Hyper) -> Array:
        """Nobody tells skills apart."""
        return jnp.zeros((errors(kept, obs).shape[0], n_skills))

    def fit(kept: Distilled, drawn: Sampled, hyper: Hyper, rate: Array) -> Distilled:
        obs = drawn.batch.next_obs
        predicted, pull = form.read(kept.predictor.params, obs)
        wanted, _ = form.read(kept.wanted, obs)
        gap = predicted - wanted
        moved = adam.step(form, kept.predictor, pull(2.0 * gap / gap.size), rate)
        mean = kept.mean + _SLOWLY * (jnp.square(gap).mean() - kept.mean)
        return Distilled(kept.wanted, moved, mean)

    return Objective(init, of_one_state(of_states, after=True), scores, of_states, fit=fit)
