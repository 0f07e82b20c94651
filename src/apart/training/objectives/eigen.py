"""Eigenoptions: skills climb the eigenvectors of the graph of known transitions.

Skill 2 i climbs the ith eigenvector, skill 2 i + 1 descends it: r = +-(e(s') - e(s)). The graph is
looked at seldom, and only where something new was seen: a look costs S^3.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array, Key, Obs
from apart.objective import laplacian
from apart.objective.contexts import Moved
from apart.training.objectives.contract import Given, Met, Objective
from apart.training.state import Hyper

EVERY = 64  # rounds between two looks, once there were so many


class Climbed(NamedTuple):
    """What is kept."""

    heights: Array  # [S, K] of every state for every skill
    n_seen: Array  # [] int32 transitions that had been seen in the last look


def build(given: Given) -> Objective:
    """Eigenoptions of a table whose known transitions are kept."""
    n_states, n_skills = given.counted, given.p.config.skills
    assert n_states is not None

    def init(key: Key, hyper: Hyper) -> Climbed:
        return Climbed(jnp.zeros((n_states, n_skills)), jnp.int32(0))

    def read(kept: Climbed, obs: Obs | None) -> Array:
        return kept.heights if obs is None else kept.heights[obs]

    def rewards(kept: Climbed, moved: Moved, hyper: Hyper) -> Array:
        return read(kept, moved.after) - read(kept, moved.before)

    def meet(kept: Climbed, met: Met, hyper: Hyper) -> Climbed:
        assert met.graph is not None
        graph = met.graph()
        n_seen = graph.seen.sum(dtype=jnp.int32)
        early = (met.rounds & (met.rounds - 1)) == 0  # 1, 2, 4, 8, ...
        due = (n_seen != kept.n_seen) & (early | (met.rounds % EVERY == 0))

        def look() -> Climbed:
            half = -(-n_skills // 2)
            found = laplacian.eigenvectors(graph.source, graph.target, graph.seen, n_states, half)
            both = jnp.stack([found, -found], axis=2).reshape(n_states, -1)
            return Climbed(both[:, :n_skills], n_seen)

        looked: Climbed = jax.lax.cond(due, look, lambda: kept)
        return looked

    return Objective(init, rewards, lambda kept, obs, hyper: read(kept, obs), meet=meet)
