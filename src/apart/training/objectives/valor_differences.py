"""VALOR where states cannot be listed: a network decodes ten differences of observations.

They lie between eleven observations of a trajectory at even distances, side by side, each number
divided by the root of its mean square. The curriculum is that of `valor`.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import jax
import numpy as np

from apart._types import Array, Key, Obs
from apart.learner import adam
from apart.learner.episodes import Sampled
from apart.objective.contexts import Moved
from apart.training.objectives import moves, scales, valor
from apart.training.objectives.contract import Given, Met, Objective
from apart.training.objectives.last_states import names
from apart.training.objectives.scales import Scale
from apart.training.objectives.valor import Valor
from apart.training.state import Hyper
from apart.worlds.sights import plain

MOST: Final = 10  # differences


class Differences(NamedTuple):
    """What is kept."""

    valor: Valor  # its decoder and who ends where are networks
    scale: Scale


def build(given: Given) -> Objective:
    """The objective for observations that are vectors."""
    c, vectors, who = given.p.config, given.p.vectors, names(given)
    assert vectors is not None
    n = min(MOST, c.decisions)
    at = np.linspace(0, c.decisions, n + 1).round().astype(np.int32)
    form = given.p.network((1, c.skills), plain(n * vectors.n))

    def differences(path: Obs) -> Array:
        """[m, n, D] of trajectories [m, T + 1, ...]."""
        seen = path[:, at]
        where = vectors.of(seen.reshape(-1, *seen.shape[2:])).reshape(-1, n + 1, vectors.n)
        return where[:, 1:] - where[:, :-1]

    def read(kept: Differences, path: Obs) -> Array:
        """[m, n D] for the decoder: numbers whose squares add up to about 1."""
        found = scales.scaled(kept.scale, differences(path))
        return found.reshape(found.shape[0], -1) / math.sqrt(n * vectors.n)

    def named(kept: Differences, path: Obs) -> Array:
        """[m, K] log P(z | trajectory)."""
        logits = form.read(kept.valor.decoder.params, read(kept, path))[0][:, 0]
        return jax.nn.log_softmax(logits, axis=1)

    def init(key: Key, hyper: Hyper) -> Differences:
        key_decoder, key_named = jax.random.split(key)
        decoder = adam.fit(form, form.init(key_decoder, hyper.init_logits))
        begun = valor.begun(c, decoder, who.init(key_named, hyper))
        return Differences(begun, scales.init(vectors.n))

    def rewards(kept: Differences, moved: Moved, hyper: Hyper) -> Array:
        assert moved.path is not None
        return named(kept, moved.path)

    def meet(kept: Differences, met: Met, hyper: Hyper) -> Differences:
        path, skill = met.episodes.obs, met.episodes.skill
        return Differences(
            valor.grown(c, kept.valor, named(kept, path), skill),
            scales.after(kept.scale, differences(path), None),
        )

    def fit(kept: Differences, drawn: Sampled, hyper: Hyper, rate: Array) -> Differences:
        batch, now = drawn.batch, kept.valor
        assert batch.path is not None
        own = jax.nn.one_hot(batch.skill, c.skills)[:, None] / batch.skill.shape[0]
        after = now._replace(
            decoder=moves.named_better(form, now.decoder, read(kept, batch.path), own, rate),
            ended=who.fit(now.ended, batch, rate),
        )
        return kept._replace(valor=after)

    def scores(kept: Differences, obs: Obs | None, hyper: Hyper) -> Array:
        return who.scores(kept.valor.ended, obs)

    active = valor.drawn(c)
    assert active is not None  # there is no form with all skills from the start
    return Objective(
        init, rewards, scores, meet=meet, fit=fit, active=lambda kept: active(kept.valor)
    )
