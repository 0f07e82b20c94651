"""DADS where states cannot be listed: skill dynamics are mixtures of Gaussians from a network.

The network reads s and gives the mixtures of all skills (`objective.mixtures`); what they foretell
is the change s' - s, each number divided by the root of its mean square over all steps so far.
"""

from __future__ import annotations

from typing import NamedTuple

import jax

from apart._types import Array, Key, Obs
from apart.learner import adam
from apart.learner.adam import Fitted
from apart.learner.episodes import Sampled
from apart.objective import mixtures
from apart.objective.contexts import Moved
from apart.training.objectives import scales
from apart.training.objectives.contract import Given, Met, Objective
from apart.training.objectives.last_states import names
from apart.training.objectives.scales import Scale
from apart.training.state import Hyper


class Dynamics(NamedTuple):
    """What is kept."""

    mixtures: Fitted  # rows [M, D + 1, K]
    scale: Scale  # of changes
    named: Fitted  # who ends where, which no reward looks at


def build(given: Given) -> Objective:
    """The objective for observations that are vectors."""
    n_skills, vectors, who = given.p.config.skills, given.p.vectors, names(given)
    assert vectors is not None
    form = given.p.network((mixtures.COMPONENTS, vectors.n + 1, n_skills))

    def init(key: Key, hyper: Hyper) -> Dynamics:
        key_mixtures, key_named = jax.random.split(key)
        fitted = adam.fit(form, form.init(key_mixtures, hyper.init_logits))
        return Dynamics(fitted, scales.init(vectors.n), who.init(key_named, hyper))

    def changes(kept: Dynamics, before: Obs, after: Obs) -> Array:
        return scales.scaled(kept.scale, vectors.of(after) - vectors.of(before))

    def rewards(kept: Dynamics, moved: Moved, hyper: Hyper) -> Array:
        rows = form.read(kept.mixtures.params, moved.before)[0]
        each: Array = jax.vmap(mixtures.rewards)(rows, changes(kept, moved.before, moved.after))
        return each

    def scores(kept: Dynamics, obs: Obs | None, hyper: Hyper) -> Array:
        return who.scores(kept.named, obs)

    def meet(kept: Dynamics, met: Met, hyper: Hyper) -> Dynamics:
        obs = met.episodes.obs
        at = vectors.of(obs.reshape(-1, *obs.shape[2:])).reshape(*obs.shape[:2], -1)
        steps = at[:, 1:] - at[:, :-1]
        return kept._replace(scale=scales.after(kept.scale, steps, met.episodes.alive))

    def fit(kept: Dynamics, drawn: Sampled, hyper: Hyper, rate: Array) -> Dynamics:
        batch = drawn.batch
        rows, pull = form.read(kept.mixtures.params, batch.obs)
        change = changes(kept, batch.obs, batch.next_obs)
        each = jax.vmap(jax.grad(mixtures.loss))(rows, change, batch.skill)
        down = pull(each / rows.shape[0])
        return kept._replace(
            mixtures=adam.step(form, kept.mixtures, down, rate),
            named=who.fit(kept.named, batch, rate),
        )

    return Objective(init, rewards, scores, meet=meet, fit=fit)
