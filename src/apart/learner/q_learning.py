"""Q-learning for one transition, and the same for the histogram of a batch.

Gets numbers, never a reward function. The table is Q[s, a, z], skills last: neighbours in
memory, so that the maximum over actions and all sums run over contiguous lanes.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from apart._types import Array


class Tally(NamedTuple):
    """All that the loss of a batch needs to know of it, per (state, action, skill)."""

    times: Array  # [S, A, K] how often the transition was sampled
    reward: Array  # [S, A, K] sum of its rewards, each with its time weight or dropout
    proceeds: Array  # [S, A, K] how often the episode went on after it


def td_loss(q_t: Array, action: Array, reward: Array, discount: Array, q_tp1: Array) -> Array:
    """(r + discount max_a q_tp1 - q_t[action])^2 of one transition; q [A], the target is constant.

    ``discount`` is gamma, or 0 where the episode ended.
    """
    return jnp.square(reward + discount * q_tp1.max() - q_t[action])


def table_gradient(q: Array, tally: Tally, value: Array, discount: Array, batch: int) -> Array:
    """[S, A, K] gradient of the mean of `td_loss` over the batch.

    Args:
        q: [S, A, K].
        tally: the batch.
        value: [S, A, K] max over actions of Q in the next state (of the target network, if any).
        discount: gamma.
        batch: number of samples in ``tally``.

    """
    target = tally.reward + discount * tally.proceeds * value
    return (2.0 / batch) * (tally.times * q - target)
