"""EDL (Campos et al. 2020) in three stages: cover the world, find codes, learn to be near them.

1. For the first half of the run all skills explore: by counts in a table, else by random network
   distillation. The states that are seen are kept: in a table which, elsewhere a sample of them.
2. In one round codes of these states are computed, one for each skill.
3. From then on the reward of skill z is -|s' - code_z|^2, which does not change any more: log
   q(s' | z) of a Gaussian around the code, up to its width.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array, Key, Obs
from apart.learner import draws
from apart.learner.episodes import Sampled
from apart.objective import codes
from apart.training.objectives import counted, rnd
from apart.training.objectives.contract import Given, Kept, Met, Objective, of_one_state
from apart.training.state import Hyper

COVER = 0.5  # share of the run in which the world is covered
SEEN = 2_048  # states that are kept where they cannot be listed


class Stages(NamedTuple):
    """What is kept."""

    cover: Kept  # of the objective that explores
    points: Array  # [M, D] states that were seen
    weights: Array  # [M] 1 where a point is one of them, else 0
    n_seen: Array  # [] int32 states seen, where a sample of them is kept
    codes: Array  # [K, D]
    ready: Array  # [] bool: the codes are there


def build(given: Given) -> Objective:
    """EDL for the skills of a configuration."""
    p, n_skills = given.p, given.p.config.skills
    coordinates = None if p.states is None else p.states.coordinates()
    cover = (rnd if coordinates is None else counted).build(given)
    assert cover.of_states is not None
    explored = cover.of_states

    def points_of(obs: Obs | None) -> Array:
        """[n, D] observations as points: coordinates in a table, else their own numbers."""
        if coordinates is not None:
            return coordinates if obs is None else coordinates[obs]
        assert p.vectors is not None
        return p.vectors.of(obs)

    def init(key: Key, hyper: Hyper) -> Stages:
        points = coordinates
        if points is None:
            assert p.vectors is not None
            points = jnp.zeros((SEEN, p.vectors.n))
        return Stages(
            cover.init(key, hyper),
            points,
            jnp.zeros(points.shape[0]),
            jnp.int32(0),
            jnp.zeros((n_skills, points.shape[1])),
            jnp.bool_(False),
        )

    def nearness(kept: Stages, obs: Obs | None) -> Array:
        return -codes.distances(points_of(obs), kept.codes)

    def of_states(kept: Stages, obs: Obs | None, hyper: Hyper) -> Array:
        worth: Array = jax.lax.cond(
            kept.ready,
            lambda: nearness(kept, obs),
            lambda: explored(kept.cover, obs, hyper),
        )
        return worth

    def scores(kept: Stages, obs: Obs | None, hyper: Hyper) -> Array:
        return jnp.where(kept.ready, nearness(kept, obs), 0.0)

    def meet(kept: Stages, met: Met, hyper: Hyper) -> Stages:
        after = met.episodes.obs[:, 1:]
        kept = kept._replace(cover=cover.meet(kept.cover, met, hyper))
        if coordinates is not None:
            kept = kept._replace(weights=kept.weights.at[after.reshape(-1)].set(1.0))
        else:
            flat = points_of(after.reshape(-1, *after.shape[2:]))
            alive = met.episodes.alive
            made = jnp.ones(len(flat), bool) if alive is None else alive.reshape(-1)
            kept = _sampled(kept, flat, made)
        due = ~kept.ready & (met.rounds >= COVER * hyper.rounds)
        coded: Stages = jax.lax.cond(due, _coded, lambda now: now, kept)
        return coded

    def fit(kept: Stages, drawn: Sampled, hyper: Hyper, rate: Array) -> Stages:
        """Nobody asks what explores once there are codes."""
        assert cover.fit is not None
        learn = cover.fit
        covered = jax.lax.cond(
            kept.ready, lambda: kept.cover, lambda: learn(kept.cover, drawn, hyper, rate)
        )
        return kept._replace(cover=covered)

    return Objective(
        init,
        of_one_state(of_states, after=True),
        scores,
        of_states,
        meet=meet,
        fit=None if cover.fit is None else fit,
    )


def _coded(kept: Stages) -> Stages:
    n_skills = kept.codes.shape[0]
    found = codes.means(kept.points, kept.weights, n_skills)
    return kept._replace(codes=found, ready=jnp.bool_(True))


def _sampled(kept: Stages, new: Array, made: Array) -> Stages:
    """A uniform sample of all points so far (reservoir): the nth replaces one with chance M / n.

    Of ``new`` [n, D] only those count that were ``made`` [n]: the rest follows the end of an
    episode. Which places are taken does not depend on the seed; what comes to them does.
    """
    n_new, size = new.shape[0], kept.points.shape[0]
    nth = kept.n_seen + jnp.cumsum(made) - 1
    key = jax.random.fold_in(jax.random.key(0), kept.n_seen)
    luck = draws.uniform(jax.random.bits(key, (n_new,), jnp.uint32))
    place = jnp.where(nth < size, nth, (luck * (nth + 1)).astype(jnp.int32))
    # Points that are not taken go past the end, where nothing is.
    place = jnp.where(made, place, size)
    return kept._replace(
        points=kept.points.at[place].set(new, mode="drop"),
        weights=kept.weights.at[place].set(1.0, mode="drop"),
        n_seen=kept.n_seen + made.sum(),
    )
