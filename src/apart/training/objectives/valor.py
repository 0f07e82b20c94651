"""VALOR: a decoder names the skill from the whole trajectory of state differences.

The reward is log P(z | trajectory), paid in the last step. The number of skills grows: whenever the
decoder names those there are well enough, there are half as many more.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array, Key, Obs
from apart.learner import adam, counts
from apart.learner.adam import Fitted
from apart.learner.approximators import table
from apart.learner.counts import Counts
from apart.learner.episodes import Sampled
from apart.objective.contexts import Moved
from apart.objective.objectives import OBJECTIVES
from apart.training.objectives import moves
from apart.training.objectives.contract import Given, Met, Objective
from apart.training.state import Hyper

FIRST: Final = 2  # skills at the start
ENOUGH: Final = 0.86  # mean probability that the decoder gives the acting skill
LATELY: Final = 1.0 / 50.0  # weight of an episode in that mean


class Valor(NamedTuple):
    """The decoder, how well it does, and how many skills there are."""

    decoder: Fitted  # [T, D, K]: of every step and kind of difference, K logits that add up
    right: Array  # [] mean probability of the acting skill in recent episodes
    n_skills: Array  # [] int32 the skills 0 .. n - 1 are drawn
    ended: Counts


def differences(next_state: Array, path: Array) -> Array:
    """[n, T D] 1 for the kind of difference of every step, else 0; paths [n, T + 1]."""
    took = moves.kind(next_state, path[:, :-1], path[:, 1:])
    return jax.nn.one_hot(took, next_state[0].size).reshape(path.shape[0], -1)


def log_decoded(kept: Valor, seen: Array) -> Array:
    """[n, K] log P(z | trajectory), from the differences [n, T D] in it."""
    weights = kept.decoder.params
    return jax.nn.log_softmax(seen @ weights.reshape(-1, weights.shape[-1]), axis=1)


def _with_more_skills(kept: Valor, most: int) -> Valor:
    """Half as many more and one, at most so many, where those there are were named well enough."""
    enough = (kept.right >= ENOUGH) & (kept.n_skills < most)
    more = jnp.minimum(kept.n_skills * 3 // 2 + 1, most)
    return kept._replace(
        right=jnp.where(enough, 0.0, kept.right),
        n_skills=jnp.where(enough, more, kept.n_skills),
    )


def build(given: Given) -> Objective:
    """The objective in a table; `OBJECTIVES` says whether the number of skills grows."""
    c, next_state = given.p.config, given.next_state
    assert next_state is not None
    n_states, grows = next_state.shape[0], OBJECTIVES[c.objective].grows
    form = table(c.decisions, (next_state[0].size, c.skills))

    def init(key: Key, hyper: Hyper) -> Valor:
        return Valor(
            adam.fit(form, form.init(key, hyper.init_logits)),
            jnp.float32(0.0),
            jnp.int32(min(FIRST, c.skills) if grows else c.skills),
            counts.init(n_states, c.skills),
        )

    def rewards(kept: Valor, moved: Moved, hyper: Hyper) -> Array:
        assert moved.path is not None
        return log_decoded(kept, differences(next_state, moved.path))

    def meet(kept: Valor, met: Met, hyper: Hyper) -> Valor:
        new = met.episodes
        log_named = log_decoded(kept, differences(next_state, new.obs))
        own = jnp.exp(log_named)[jnp.arange(new.skill.shape[0]), new.skill]
        share = 1.0 - (1.0 - LATELY) ** new.skill.shape[0]
        kept = kept._replace(
            right=kept.right + share * (own.mean() - kept.right),
            ended=moves.ended(kept.ended, met, hyper),
        )
        return _with_more_skills(kept, c.skills) if grows else kept

    def fit(kept: Valor, drawn: Sampled, hyper: Hyper, rate: Array) -> Valor:
        batch = drawn.batch
        assert batch.path is not None
        seen = differences(next_state, batch.path)
        wrong = jnp.exp(log_decoded(kept, seen)) - jax.nn.one_hot(batch.skill, c.skills)
        gradient = (seen.T @ wrong / wrong.shape[0]).reshape(kept.decoder.params.shape)
        return kept._replace(decoder=adam.step(form, kept.decoder, gradient, rate))

    def scores(kept: Valor, obs: Obs | None, hyper: Hyper) -> Array:
        return moves.scores(kept.ended, obs, hyper)

    return Objective(
        init=init,
        rewards=rewards,
        scores=scores,
        meet=meet,
        fit=fit,
        active=(lambda kept: jnp.arange(c.skills) < kept.n_skills) if grows else None,
    )
