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
from apart.training.objectives import moves
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
        each, start = jnp.arange(moved.after.shape[0]), number[moved.path[:, 0]]
        of_both = read(relative, kept.relative, moved.after)[each, start]
        return of_both - read(absolute, kept.absolute, moved.after)[:, 0]

    def own_moves(kept: Discriminators, moved: Moved, skill: Array, hyper: Hyper) -> Array:
        assert moved.path is not None
        # Where states are rows, those of all are read once, however often the batch has each.
        obs = None if given.listed else moved.after
        row = moved.after if given.listed else jnp.arange(skill.shape[0])
        of_both = read(relative, kept.relative, obs)[row, number[moved.path[:, 0]], skill]
        return of_both - read(absolute, kept.absolute, obs)[row, 0, skill]

    def scores(kept: Discriminators, obs: Obs | None, hyper: Hyper) -> Array:
        return read(relative, kept.relative, obs)[:, 0]

    def fit(kept: Discriminators, drawn: Sampled, hyper: Hyper, rate: Array) -> Discriminators:
        batch = drawn.batch
        assert batch.path is not None
        start = number[batch.path[:, 0]]
        obs, weights = moves.last_seen(given, batch, start, len(starts))
        alone = weights.sum(axis=1, keepdims=True)
        return Discriminators(
            _step(relative, kept.relative, obs, weights, rate),
            _step(absolute, kept.absolute, obs, alone, rate),
        )

    return Objective(init, rewards, scores, own_moves=own_moves, fit=fit)


def read(form: Approximator, fitted: Fitted, obs: Obs | None) -> Array:
    """[n, M, K] log q(z | start, observation); the absolute one has M = 1."""
    return jax.nn.log_softmax(form.read(fitted.params, obs)[0], axis=2)


def _step(
    form: Approximator, fitted: Fitted, obs: Obs | None, weights: Array, rate: Array
) -> Fitted:
    """After an Adam step on observations [n] with ``weights`` [n, M, K]."""
    rows, pull = form.read(fitted.params, obs)
    of_rows = jax.vmap(jax.vmap(one_vs_all_gradient, (0, 0, None)), (0, 0, None))
    return adam.step(form, fitted, pull(of_rows(rows, weights, jnp.float32(1.0))), rate)
