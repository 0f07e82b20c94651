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

    def log_decoded(kept: Valor, path: Array) -> Array:
        """[n, K] log P(z | trajectory); paths [n, T + 1]."""
        took = moves.kind(next_state, path[:, :-1], path[:, 1:])
        logits = kept.decoder.params[jnp.arange(c.decisions), took].sum(axis=1)
        return jax.nn.log_softmax(logits, axis=1)

    def rewards(kept: Valor, moved: Moved, hyper: Hyper) -> Array:
        assert moved.path is not None
        return log_decoded(kept, moved.path)

    def meet(kept: Valor, met: Met, hyper: Hyper) -> Valor:
        new = met.episodes
        own = jnp.exp(log_decoded(kept, new.obs))[jnp.arange(new.skill.shape[0]), new.skill]
        share = 1.0 - (1.0 - LATELY) ** new.skill.shape[0]
        right = kept.right + share * (own.mean() - kept.right)
        enough = (right >= ENOUGH) & grows
        more = jnp.minimum(kept.n_skills * 3 // 2 + 1, c.skills)
        return kept._replace(
            right=jnp.where(enough, 0.0, right),
            n_skills=jnp.where(enough, more, kept.n_skills),
            ended=moves.ended(kept.ended, met, hyper),
        )

    def fit(kept: Valor, drawn: Sampled, hyper: Hyper, rate: Array) -> Valor:
        batch = drawn.batch
        assert batch.path is not None
        took = moves.kind(next_state, batch.path[:, :-1], batch.path[:, 1:])
        wrong = jnp.exp(log_decoded(kept, batch.path)) - jax.nn.one_hot(batch.skill, c.skills)
        shape = (took.shape[0], c.decisions, c.skills)
        each = jnp.broadcast_to(wrong[:, None] / took.shape[0], shape)
        gradient = jnp.zeros_like(kept.decoder.params)
        gradient = gradient.at[jnp.arange(c.decisions), took].add(each)
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
