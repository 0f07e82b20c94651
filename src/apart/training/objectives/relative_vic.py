"""Relative VIC: skills that can be told from where they lead *from here*, not from where they end.

The reward is log q_rel(z | s_0, s_T) - log q_abs(z | s_T): a skill is to be recognised by first
and last state together and not by the last state alone, so that it is a displacement.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array, Key, Obs
from apart.learner import adam
from apart.learner.adam import Fitted
from apart.learner.approximators import Approximator
from apart.learner.episodes import Sampled
from apart.objective.contexts import Moved
from apart.objective.discriminators import one_vs_all_gradient
from apart.training.objectives.contract import Given, Objective
from apart.training.state import Hyper


class Discriminators(NamedTuple):
    """Both see the last state; the first has K logits for each start, the second K."""

    relative: Fitted
    absolute: Fitted


def build(given: Given) -> Objective:
    """The objective in a table with one or several starts."""
    n_skills, starts = given.p.config.skills, given.starts
    relative, absolute = (given.p.network((m, n_skills)) for m in (len(starts), 1))
    number = jnp.zeros(given.counted, jnp.int32).at[jnp.asarray(starts)].set(range(len(starts)))

    def init(key: Key, hyper: Hyper) -> Discriminators:
        keys = jax.random.split(key)
        made = [
            adam.fit(form, form.init(key_form, hyper.init_logits))
            for form, key_form in zip((relative, absolute), keys, strict=True)
        ]
        return Discriminators(*made)

    def rewards(kept: Discriminators, moved: Moved, hyper: Hyper) -> Array:
        assert moved.path is not None
        of_both = read(relative, kept.relative, moved.after, number[moved.path[:, 0]])
        of_last = read(absolute, kept.absolute, moved.after, None)
        return of_both - of_last

    def scores(kept: Discriminators, obs: Obs | None, hyper: Hyper) -> Array:
        return read(relative, kept.relative, obs, None)

    def fit(kept: Discriminators, drawn: Sampled, hyper: Hyper, rate: Array) -> Discriminators:
        batch = drawn.batch
        assert batch.path is not None
        seen = jax.nn.one_hot(batch.skill, n_skills) * batch.last[:, None]
        weights = seen / jnp.maximum(batch.last.sum(), 1.0)
        start = number[batch.path[:, 0]]
        return Discriminators(
            _step(relative, kept.relative, batch.next_obs, start, weights, rate),
            _step(absolute, kept.absolute, batch.next_obs, jnp.zeros_like(start), weights, rate),
        )

    return Objective(init=init, rewards=rewards, scores=scores, fit=fit)


def read(form: Approximator, fitted: Fitted, obs: Obs | None, start: Array | None) -> Array:
    """[n, K] log q(z | start, observation); None: the first start, or the only row there is."""
    rows = form.read(fitted.params, obs)[0]  # [n, M, K]
    own = rows[:, 0] if start is None else rows[jnp.arange(rows.shape[0]), start]
    return jax.nn.log_softmax(own, axis=1)


def _step(
    form: Approximator, fitted: Fitted, obs: Obs, start: Array, weights: Array, rate: Array
) -> Fitted:
    """After an Adam step on samples [n] with ``weights`` [n, K] of the row of their start."""
    rows, pull = form.read(fitted.params, obs)
    each = jnp.arange(rows.shape[0])
    of_rows = jax.vmap(one_vs_all_gradient, (0, 0, None))
    gradient = of_rows(rows[each, start], weights, jnp.float32(1.0))
    return adam.step(form, fitted, pull(jnp.zeros_like(rows).at[each, start].set(gradient)), rate)
