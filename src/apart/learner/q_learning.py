"""Q-learning for one transition, and the same for the histogram of a batch.

Gets numbers, never a reward function. The table is Q[s, a, z], skills last: neighbours in
memory, so that the maximum over actions and all sums run over contiguous lanes.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from apart._types import Array


class Tally(NamedTuple):
    """All that the loss of a batch needs to know of it, per (state, action, skill).

    Where a transition teaches all skills, ``times`` and ``proceeds`` are one for all: [S, A, 1].
    """

    times: Array  # [S, A, K] how often the transition was sampled
    reward: Array  # [S, A, K] sum of its rewards, each with its time weight or dropout
    proceeds: Array  # [S, A, K] how often the episode went on after it


def td_loss(q_t: Array, action: Array, reward: Array, discount: Array, q_tp1: Array) -> Array:
    """(r + discount max_a q_tp1 - q_t[action])^2 of one transition; q [A], the target is constant.

    ``discount`` is gamma, or 0 where the episode ended.
    """
    return jnp.square(reward + discount * q_tp1.max() - q_t[action])


def table_gradient(q: Array, tally: Tally, value: Array, discount: Array, batch: Array) -> Array:
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


def plain_step(q: Array, tally: Tally, value: Array, discount: Array, rate: Array) -> Array:
    """[S, A, K] every sampled cell moved by ``rate`` towards the mean of its targets.

    Tabular Q-learning; cells that were not sampled stay as they are, so that `rows_step` can do
    the same in a large world without touching them.
    """
    target = tally.reward + discount * tally.proceeds * value
    gap = target / jnp.maximum(tally.times, 1.0) - q
    return q + rate * jnp.where(tally.times > 0, gap, 0.0)


def rows_step(q: Array, cell: Array, target: Array, rate: Array) -> Array:
    """[S, A, K] `plain_step` where each sample teaches all skills, touching sampled rows only.

    Args:
        q: [S, A, K].
        cell: [B] state * A + action.
        target: [B, K] of every skill.
        rate: share of the gap that is closed.
    """
    rows = q.reshape(-1, q.shape[-1])
    times = jnp.zeros(rows.shape[0]).at[cell].add(1.0)
    change = rate * (target - rows[cell]) / times[cell][:, None]
    return rows.at[cell].add(change).reshape(q.shape)
