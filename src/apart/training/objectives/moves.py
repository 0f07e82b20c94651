"""What several objectives in tables share: kinds of moves, and who ended where lately."""

from __future__ import annotations

import jax.numpy as jnp

from apart._types import Array, Obs
from apart.learner import counts
from apart.learner.counts import Counts
from apart.training.objectives.contract import Met
from apart.training.state import Hyper


def kind(next_state: Array, before: Array, after: Array) -> Array:
    """[...] in which of the D = A N ways of leaving it each state was left; [S, A, N] successors.

    The first that leads there: on maps that is the difference of the two cells, as a move against
    a wall is one of staying.
    """
    ways = next_state.reshape(next_state.shape[0], -1)
    return jnp.argmax(ways[before] == after[..., None], axis=-1)


def ended(now: Counts, met: Met, hyper: Hyper) -> Counts:
    """The fading counts of last states after new episodes."""
    new = met.episodes
    return counts.add_all(now, new.obs[:, -1], new.skill, hyper.fading)


def scores(now: Counts, obs: Obs | None, hyper: Hyper) -> Array:
    """[n, K] logarithms of the share of each skill among those that ended there."""
    found = counts.read(now, obs)
    return jnp.log(found + hyper.prior / found.shape[1])
