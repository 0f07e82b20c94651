"""Relative VIC: skills that can be told from where they lead *from here*, not from where they end.

The reward is log q_rel(z | s_0, s_T) - log q_abs(z | s_T): a skill is to be recognised by first
and last state together and not by the last state alone, so that it is a displacement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array, Key, Obs
from apart.learner import adam
from apart.learner.adam import Fitted
from apart.learner.approximators import Approximator
from apart.learner.episodes import Sampled
from apart.objective.contexts import Moved
from apart.training.objectives import moves
from apart.training.objectives.contract import Given, Met, Objective
from apart.training.objectives.moves import named_better
from apart.training.state import Hyper
from apart.worlds.sights import side_by_side


class Discriminators(NamedTuple):
    """Both see the last state, the first one where the episode began, too."""

    relative: Fitted
    absolute: Fitted
    first: Obs | None = None  # [1, ...] where an episode began lately; None in a table


class Together(NamedTuple):
    """How the first discriminator sees first and last state: M rows of K logits for what it reads.

    In a table it reads the last state and has a row for each start; elsewhere it reads both.
    """

    form: Approximator
    n_rows: int  # M
    row: Callable[[Obs], Array]  # first observations [n, ...] -> [n] int32 which of the M
    read: Callable[[Obs, Obs | None], Obs | None]  # (first, last) -> what it reads


def _by_start(given: Given) -> Together:
    starts = given.starts
    number = jnp.zeros(given.counted, jnp.int32).at[jnp.asarray(starts)].set(range(len(starts)))
    form = given.p.network((len(starts), given.p.config.skills))
    return Together(form, len(starts), number.__getitem__, lambda first, last: last)


def _side_by_side(given: Given) -> Together:
    def read(first: Obs, last: Obs | None) -> Obs:
        assert last is not None  # nobody can list all of them
        return jnp.stack([jnp.broadcast_to(first, last.shape), last], axis=1)

    form = given.p.network((1, given.p.config.skills), side_by_side(given.p.sight, 2))
    return Together(form, 1, lambda first: jnp.zeros(len(first), jnp.int32), read)


def build(given: Given) -> Objective:
    """The objective for the skills of a configuration."""
    together = _side_by_side(given) if given.counted is None else _by_start(given)
    relative, absolute = together.form, given.p.network((1, given.p.config.skills))

    def init(key: Key, hyper: Hyper) -> Discriminators:
        keys = jax.random.split(key)
        of_both, of_last = (
            adam.fit(form, form.init(key_form, hyper.init_logits))
            for form, key_form in zip((relative, absolute), keys, strict=True)
        )
        first = None
        if given.counted is None:
            first = jnp.zeros((1, *given.seen.shape), given.seen.dtype)
        return Discriminators(of_both, of_last, first)

    def rewards(kept: Discriminators, moved: Moved, hyper: Hyper) -> Array:
        assert moved.path is not None
        each, first = jnp.arange(moved.after.shape[0]), moved.path[:, 0]
        seen = together.read(first, moved.after)
        of_both = read(relative, kept.relative, seen)[each, together.row(first)]
        return of_both - read(absolute, kept.absolute, moved.after)[:, 0]

    def own_moves(kept: Discriminators, moved: Moved, skill: Array, hyper: Hyper) -> Array:
        assert moved.path is not None
        # Where states are rows, those of all are read once, however often the batch has each.
        obs = None if given.listed else moved.after
        row = moved.after if given.listed else jnp.arange(skill.shape[0])
        first = moved.path[:, 0]
        seen = together.read(first, obs)
        of_both = read(relative, kept.relative, seen)[row, together.row(first), skill]
        return of_both - read(absolute, kept.absolute, obs)[row, 0, skill]

    def scores(kept: Discriminators, obs: Obs | None, hyper: Hyper) -> Array:
        seen = obs if kept.first is None else together.read(kept.first, obs)
        return read(relative, kept.relative, seen)[:, 0]

    def meet(kept: Discriminators, met: Met, hyper: Hyper) -> Discriminators:
        if kept.first is None:
            return kept
        return kept._replace(first=met.episodes.obs[:1, 0].astype(kept.first.dtype))

    def fit(kept: Discriminators, drawn: Sampled, hyper: Hyper, rate: Array) -> Discriminators:
        batch = drawn.batch
        assert batch.path is not None
        first = batch.path[:, 0]
        obs, weights = moves.last_seen(given, batch, together.row(first), together.n_rows)
        alone = weights.sum(axis=1, keepdims=True)
        return kept._replace(
            relative=named_better(
                relative, kept.relative, together.read(first, obs), weights, rate
            ),
            absolute=named_better(absolute, kept.absolute, obs, alone, rate),
        )

    return Objective(init, rewards, scores, own_moves=own_moves, meet=meet, fit=fit)


def read(form: Approximator, fitted: Fitted, obs: Obs | None) -> Array:
    """[n, M, K] log q(z | start, observation); the absolute one has M = 1."""
    return jax.nn.log_softmax(form.read(fitted.params, obs)[0], axis=2)
