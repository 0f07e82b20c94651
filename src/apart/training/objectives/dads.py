"""DADS: a skill is what it does to the next state: log q(s' | s, z) - log mean_j q(s' | s, z_j).

In a table the skill dynamics q are shares of fading counts of transitions.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from apart._types import Array, Key, Obs
from apart.learner import counts
from apart.learner.counts import Counts
from apart.objective.contexts import Moved
from apart.training.objectives import moves
from apart.training.objectives.contract import Given, Met, Objective
from apart.training.state import Hyper


class Dads(NamedTuple):
    """How often each skill left each state in which way, and where it ended."""

    left: Array  # [S, D, K] fading counts
    ended: Counts


def build(given: Given) -> Objective:
    """The objective in a table."""
    c, next_state = given.p.config, given.next_state
    assert next_state is not None
    n_states, n_ways = next_state.shape[0], next_state[0].size
    ways = next_state.reshape(n_states, -1)
    different = moves.kind(next_state, jnp.arange(n_states)[:, None], ways) == jnp.arange(n_ways)
    n_successors = different.sum(axis=1)  # [S] places that can follow a state

    def init(key: Key, hyper: Hyper) -> Dads:
        return Dads(
            jnp.zeros((n_states, n_ways, c.skills)),
            counts.init(n_states, c.skills),
        )

    def rewards(kept: Dads, moved: Moved, hyper: Hyper) -> Array:
        took = moves.kind(next_state, moved.before, moved.after)
        left = kept.left[moved.before]  # [n, D, K]
        flat = hyper.prior / n_successors[moved.before][:, None]
        likely = left[jnp.arange(took.shape[0]), took] + flat
        likely /= left.sum(axis=1) + hyper.prior
        return jnp.log(likely) - jnp.log(likely.mean(axis=1, keepdims=True))

    def meet(kept: Dads, met: Met, hyper: Hyper) -> Dads:
        new = met.episodes
        before = new.obs[:, :-1]
        took = moves.kind(next_state, before, new.obs[:, 1:])
        keep = (1.0 - hyper.fading / c.skills) ** new.skill.shape[0]
        left = (kept.left * keep).at[before, took, new.skill[:, None]].add(1.0)
        return Dads(left, moves.ended(kept.ended, met, hyper))

    def scores(kept: Dads, obs: Obs | None, hyper: Hyper) -> Array:
        return moves.scores(kept.ended, obs, hyper)

    return Objective(init=init, rewards=rewards, scores=scores, meet=meet)
