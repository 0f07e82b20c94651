"""UPSIDE (Kamienny et al. 2022) without its tree: skills that diffuse where no other diffuses.

A skill goes somewhere and then walks at random; a classifier is to name it from the states of that
walk. Here the walk and the classifier are exact, on the graph of known transitions: what is kept of
a skill is where it lately ended, from which follows where its walk spends time. Its reward in a
state is the mean posterior over a walk from there. A skill is added when all have a mean posterior
of at least `diffusion.KEPT`; when they have not for some time, the worst is taken out.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array, Key, Obs
from apart.objective import diffusion
from apart.objective.near_optimal import remembered
from apart.training.objectives.contract import Given, Met, Objective, of_one_state
from apart.training.state import Hyper

EVERY = 64  # rounds between two looks at the graph and at the skills
PATIENCE = 16  # looks without all being kept before the worst goes
FIRST = 2  # skills at the start
DIFFUSING = 4  # the walk has T / this steps


class Diffused(NamedTuple):
    """What is kept."""

    ends: Array  # [K, S] running shares of last states
    walks: Array  # [S, S] where a walk from each state spends its time
    active: Array  # [K] bool
    waited: Array  # [] int32 looks since skills were added or taken out


def build(given: Given) -> Objective:
    """UPSIDE in a table whose known transitions are kept."""
    n_states, c = given.counted, given.p.config
    n_skills, steps = c.skills, max(c.decisions // DIFFUSING, 1)
    assert n_states is not None
    begins = diffusion.begins(given.starts, n_states)

    def init(key: Key, hyper: Hyper) -> Diffused:
        return Diffused(
            jnp.tile(begins, (n_skills, 1)),
            jnp.eye(n_states),
            jnp.arange(n_skills) < FIRST,
            jnp.int32(0),
        )

    def of_states(kept: Diffused, obs: Obs | None, hyper: Hyper) -> Array:
        told = diffusion.posterior(kept.ends @ kept.walks, kept.active)
        return (kept.walks if obs is None else kept.walks[obs]) @ told

    def scores(kept: Diffused, obs: Obs | None, hyper: Hyper) -> Array:
        told = jnp.log(diffusion.posterior(kept.ends @ kept.walks, kept.active) + 1e-6)
        return told if obs is None else told[obs]

    def meet(kept: Diffused, met: Met, hyper: Hyper) -> Diffused:
        last = jax.nn.one_hot(met.episodes.obs[:, -1], n_states)
        kept = kept._replace(ends=remembered(kept.ends, met.episodes.skill, last))
        assert met.graph is not None
        graph = met.graph()

        def look() -> Diffused:
            ways = (graph.source, graph.target, graph.seen)
            return chosen(kept._replace(walks=diffusion.walks(*ways, n_states, steps)))

        looked: Diffused = jax.lax.cond(met.rounds % EVERY == 0, look, lambda: kept)
        return looked

    return Objective(
        init,
        of_one_state(of_states, after=True),
        scores,
        of_states,
        meet=meet,
        active=lambda kept: kept.active,
    )


def quality(kept: Diffused) -> Array:
    """[K] the mean posterior of each skill over its own walk."""
    claims = kept.ends @ kept.walks
    found: Array = (claims * diffusion.posterior(claims, kept.active).T).sum(axis=1)
    return found


def chosen(kept: Diffused) -> Diffused:
    """``kept`` with one skill more where all are good, one fewer where they long were not."""
    good, n_skills = quality(kept), kept.active.shape[0]
    all_good = jnp.where(kept.active, good >= diffusion.KEPT, True).all()
    new = jnp.argmin(kept.active)  # the first that is not active
    worst = jnp.argmin(jnp.where(kept.active, good, jnp.inf))
    adds = all_good & ~kept.active.all()
    drops = ~all_good & (kept.waited >= PATIENCE) & (kept.active.sum() > 1)
    skills = jnp.arange(n_skills)
    active = (kept.active | (adds & (skills == new))) & ~(drops & (skills == worst))
    waited = jnp.where(adds | drops, 0, kept.waited + 1)
    return kept._replace(active=active, waited=waited)
