"""VALOR: a decoder names the skill from the whole trajectory of state differences.

The reward is log P(z | trajectory), paid in the last step. The number of skills grows: whenever the
decoder names those there are well enough, there are half as many more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import jax
import jax.numpy as jnp

from apart._config import Config
from apart._types import Array, Key, Obs
from apart.learner import adam, counts
from apart.learner.adam import Fitted
from apart.learner.approximators import table
from apart.learner.episodes import Sampled
from apart.objective.contexts import Moved
from apart.objective.objectives import OBJECTIVES
from apart.training.objectives import moves
from apart.training.objectives.contract import Given, Kept, Met, Objective
from apart.training.state import Hyper

FIRST: Final = 2  # skills at the start
ENOUGH: Final = 0.86  # mean probability that the decoder gives the acting skill
LATELY: Final = 1.0 / 50.0  # weight of an episode in that mean


class Valor(NamedTuple):
    """The decoder, how well it does, and how many skills there are."""

    decoder: Fitted  # [T, D, K]: of every step and kind of difference, K logits that add up
    right: Array  # [] mean probability of the acting skill in recent episodes
    n_skills: Array  # [] int32 the skills 0 .. n - 1 are drawn
    ended: Kept  # who ended where: counts, or a classifier


class Steps(NamedTuple):
    """How a decoder's rows are read: T D of them, or as half as many steps with D D kinds each.

    An episode is the sum of a row for every step. With rows for two steps at once it is a sum of
    half as many, which pays while there are fewer kinds of two steps than episodes to read.
    """

    n_kinds: int  # D
    by_twos: bool

    def rows(self, weights: Array) -> Array:
        """[H, G, K] from the decoder's [T, D, K]."""
        if not self.by_twos:
            return weights
        even = jnp.pad(weights, [(0, weights.shape[0] % 2), (0, 0), (0, 0)])
        both = even[0::2, :, None] + even[1::2, None]
        return both.reshape(both.shape[0], -1, weights.shape[2])

    def kinds(self, took: Array) -> Array:
        """[n, H] which of the G rows of each, from the kinds of steps [n, T]."""
        if not self.by_twos:
            return took
        even = jnp.pad(took, [(0, 0), (0, took.shape[1] % 2)])
        return even[:, 0::2] * self.n_kinds + even[:, 1::2]

    def back(self, gradient: Array, n_steps: int) -> Array:
        """[T, D, K] by the decoder, from a gradient by `rows`."""
        if not self.by_twos:
            return gradient
        both = gradient.reshape(-1, self.n_kinds, self.n_kinds, gradient.shape[-1])
        parts = jnp.stack([both.sum(axis=2), both.sum(axis=1)], axis=1)
        return parts.reshape(-1, *parts.shape[2:])[:n_steps]


def log_decoded(rows: Array, seen: Array) -> Array:
    """[n, K] log P(z | trajectory), from the rows [H, G, K] and which of them it has [n, H].

    Added step by step: a tenth of the work of a product with a matrix of zeros and ones.
    """
    none = jnp.zeros((seen.shape[0], rows.shape[2]))
    logits = jax.lax.fori_loop(0, rows.shape[0], lambda h, sum_: sum_ + rows[h][seen[:, h]], none)
    return jax.nn.log_softmax(logits, axis=1)


def gradient(wrong: Array, seen: Array, n_rows: int) -> Array:
    """[H, G, K] of a loss by the rows, from its gradient by logits, ``wrong`` [n, K]."""
    length = seen.shape[1]
    none = jnp.zeros((length * n_rows, wrong.shape[1]))

    def add(h: Array, sum_: Array) -> Array:
        return sum_.at[h * n_rows + seen[:, h]].add(wrong)

    found: Array = jax.lax.fori_loop(0, length, add, none)
    return found.reshape(length, n_rows, -1)


def begun(config: Config, decoder: Fitted, ended: Kept) -> Valor:
    """Before the first episode; `OBJECTIVES` says whether the number of skills grows."""
    grows = OBJECTIVES[config.objective].grows
    n_skills = min(FIRST, config.skills) if grows else config.skills
    return Valor(decoder, jnp.float32(0.0), jnp.int32(n_skills), ended)


def grown(config: Config, kept: Valor, named: Array, skill: Array) -> Valor:
    """After new episodes of skills [E] whose trajectories were ``named`` so, [E, K] log P.

    Half as many skills more and one, at most K, where those there are were named well enough.
    """
    n_new, most = skill.shape[0], config.skills
    own = jnp.exp(named)[jnp.arange(n_new), skill]
    share = 1.0 - (1.0 - LATELY) ** n_new
    right = kept.right + share * (own.mean() - kept.right)
    if not OBJECTIVES[config.objective].grows:
        return kept._replace(right=right)
    enough = (right >= ENOUGH) & (kept.n_skills < most)
    more = jnp.minimum(kept.n_skills * 3 // 2 + 1, most)
    return kept._replace(
        right=jnp.where(enough, 0.0, right), n_skills=jnp.where(enough, more, kept.n_skills)
    )


def drawn(config: Config) -> Callable[[Valor], Array] | None:
    """`Objective.active`."""
    if not OBJECTIVES[config.objective].grows:
        return None
    return lambda kept: jnp.arange(config.skills) < kept.n_skills


def build(given: Given) -> Objective:
    """The objective in a table."""
    c, next_state = given.p.config, given.next_state
    assert next_state is not None
    n_states, n_kinds = next_state.shape[0], next_state[0].size
    form = table(c.decisions, (n_kinds, c.skills))
    steps = Steps(n_kinds, by_twos=n_kinds**2 <= c.batch)

    def named(kept: Valor, path: Array) -> Array:
        """[n, K] log P(z | trajectory) of episodes [n, T + 1]."""
        return log_decoded(steps.rows(kept.decoder.params), seen_in(path))

    def seen_in(path: Array) -> Array:
        return steps.kinds(moves.kind(next_state, path[:, :-1], path[:, 1:]))

    def init(key: Key, hyper: Hyper) -> Valor:
        decoder = adam.fit(form, form.init(key, hyper.init_logits))
        return begun(c, decoder, counts.init(n_states, c.skills))

    def rewards(kept: Valor, moved: Moved, hyper: Hyper) -> Array:
        assert moved.path is not None
        return named(kept, moved.path)

    def meet(kept: Valor, met: Met, hyper: Hyper) -> Valor:
        kept = grown(c, kept, named(kept, met.episodes.obs), met.episodes.skill)
        return kept._replace(ended=moves.ended(kept.ended, met, hyper))

    def fit(kept: Valor, sampled: Sampled, hyper: Hyper, rate: Array) -> Valor:
        batch = sampled.batch
        assert batch.path is not None
        seen, rows = seen_in(batch.path), steps.rows(kept.decoder.params)
        wrong = jnp.exp(log_decoded(rows, seen)) - jax.nn.one_hot(batch.skill, c.skills)
        of_rows = gradient(wrong / wrong.shape[0], seen, rows.shape[1])
        down = steps.back(of_rows, c.decisions)
        return kept._replace(decoder=adam.step(form, kept.decoder, down, rate))

    def scores(kept: Valor, obs: Obs | None, hyper: Hyper) -> Array:
        return moves.scores(kept.ended, obs, hyper)

    return Objective(
        init=init,
        rewards=rewards,
        scores=scores,
        meet=meet,
        fit=fit,
        active=drawn(c),
    )
