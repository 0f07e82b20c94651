"""EDL (Campos et al. 2020) in three stages: cover the world, find codes, learn to be near them.

1. For the first half of the run all skills explore: by counts in a table, else by random network
   distillation. The states that are seen are kept: in a table which, elsewhere a sample of them.
2. In one round codes of these states are computed, one for each skill.
3. From then on the reward of skill z is -|s' - code_z|^2, which does not change any more: log
   q(s' | z) of a Gaussian around the code, up to its width.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array, Key, Obs, Vectors
from apart.learner import draws
from apart.learner.episodes import Episodes, Sampled
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


class Seen(NamedTuple):
    """How states that were seen are kept, as points."""

    n: int  # M, the most of them
    dims: int  # D
    begin: Callable[[], Array]  # [M, D] before anything was seen
    of: Callable[[Any], Array]  # observations [n, ...], in a table None for all -> [n, D]
    add: Callable[[Stages, Episodes], Stages]


def build(given: Given) -> Objective:
    """EDL for the skills of a configuration."""
    p, n_skills = given.p, given.p.config.skills
    seen = _sample_of(p.vectors) if p.states is None else _cells_of(p.states.coordinates())
    cover = (rnd if p.states is None else counted).build(given)
    assert cover.of_states is not None
    explored = cover.of_states

    def init(key: Key, hyper: Hyper) -> Stages:
        return Stages(
            cover.init(key, hyper),
            seen.begin(),
            jnp.zeros(seen.n),
            jnp.int32(0),
            jnp.zeros((n_skills, seen.dims)),
            jnp.bool_(False),
        )

    def nearness(kept: Stages, obs: Obs | None) -> Array:
        return -codes.distances(seen.of(obs), kept.codes)

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
        kept = kept._replace(cover=cover.meet(kept.cover, met, hyper))
        kept = seen.add(kept, met.episodes)
        due = ~kept.ready & (met.full_rounds >= COVER * hyper.rounds)
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
        stays=lambda kept: kept.ready,
    )


def _cells_of(coordinates: Array) -> Seen:
    """All states of a table, at their ``coordinates`` [S, D]; weights say which were seen."""

    def add(kept: Stages, new: Episodes) -> Stages:
        return kept._replace(weights=kept.weights.at[new.obs[:, 1:].reshape(-1)].set(1.0))

    n, dims = coordinates.shape
    return Seen(
        n,
        dims,
        begin=lambda: coordinates,
        of=lambda states: coordinates if states is None else coordinates[states],
        add=add,
    )


def _sample_of(vectors: Vectors | None) -> Seen:
    """A sample of all observations, as vectors."""
    assert vectors is not None  # as in every world that is no table
    n, of = vectors.n, vectors.of

    def add(kept: Stages, new: Episodes) -> Stages:
        after = new.obs[:, 1:]
        flat = of(after.reshape(-1, *after.shape[2:]))
        made = jnp.ones(len(flat), bool) if new.alive is None else new.alive.reshape(-1)
        return _sampled(kept, flat, made)

    return Seen(SEEN, n, lambda: jnp.zeros((SEEN, n)), of, add)


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
