"""Q-learning for one transition, and the same for the histogram of a batch.

Gets numbers, never a reward function. The table is Q[s, a, z], skills last: neighbours in
memory, so that the maximum over actions and all sums run over contiguous lanes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType
from typing import Final

from apart._lazy import jax, jnp
from apart._types import Array


@dataclass(frozen=True)
class QRule:
    """How Q learns.

    Attributes:
        summary: one line for people.
        adam: Adam on the squared TD error, else steps of the rate towards the mean target of each
            cell, which needs a table.
        shares: a transition teaches all skills, not only the one that made it.
        sweeps: from every known transition at once, not from a batch; needs states that can be
            listed.
        with_adam: the same rule with Adam, for networks.
        with_samples: the same rule from batches, for worlds whose states cannot be listed.
    """

    summary: str
    adam: bool
    shares: bool
    sweeps: bool
    with_adam: str
    with_samples: str


Q_RULES: Final[Mapping[str, QRule]] = MappingProxyType(
    {
        "adam": QRule(
            "Adam on the squared TD error of a batch; a transition updates its own skill",
            *(True, False, False, "adam", "adam"),
        ),
        "shared_adam": QRule(
            "adam; each transition of the batch updates all skills",
            *(True, True, False, "shared_adam", "shared_adam"),
        ),
        "sweep_adam": QRule(
            "adam; every known transition updates all skills at once, without batches",
            *(True, True, True, "sweep_adam", "shared_adam"),
        ),
        "plain": QRule(
            "each entry of the table moves towards its mean target by the learning rate",
            *(False, False, False, "adam", "plain"),
        ),
        "shared_plain": QRule(
            "plain; each transition of the batch updates all skills",
            *(False, True, False, "shared_adam", "shared_plain"),
        ),
        "sweep_plain": QRule(
            "plain; every known transition updates all skills at once, without batches",
            *(False, True, True, "sweep_adam", "shared_plain"),
        ),
    }
)


# In a large table an update that teaches all skills touches part of the cells [S * A] of Q only:
# sampled rows, or the next block of a sweep, as large as a batch. Scattered rows cost some fifteen
# times as much as the same number in one dense expression, so that they pay late; blocks are as
# dense as the whole. Cells for each sample of a batch:
ROWS_ABOVE, BLOCKS_ABOVE = 15, 8


def td_loss(q_t: Array, action: Array, reward: Array, discount: Array, q_tp1: Array) -> Array:
    """(r + discount max_a q_tp1 - q_t[action])^2 of one transition; q [A], the target is constant.

    ``discount`` is gamma, or 0 where the episode ended.
    """
    return jnp.square(reward + discount * q_tp1.max() - q_t[action])


def shape(n_actions: int, n_skills: int, heads: int) -> tuple[int, ...]:
    """Of the values of one observation: [A, K], of several heads [M, A, K]."""
    return (n_actions, n_skills) if heads == 1 else (heads, n_actions, n_skills)


def best(q: Array, by_slices: bool = False) -> Array:
    """[n, K] the value of the best action: q [n, A, K], of heads [n, M, A, K] the mean of theirs.

    Every head has its own best number: their mean is the best of all A^M combinations. With
    ``by_slices`` the same is computed action by action.
    """
    if by_slices:
        most = reduce(jnp.maximum, (q[..., a, :] for a in range(q.shape[-2])))
    else:
        most = q.max(axis=-2)
    return most if q.ndim == 3 else most.mean(axis=1)


def sampled_gradient(
    q: Array, action: Array, teaches: Array, target: Array, batch: Array | float
) -> Array:
    """Gradient, like ``q``, of the mean of `td_loss` over samples that are rows.

    Args:
        q: [n, A, K], or [n, M, A, K]: the value of an action is the mean over its M numbers.
        action: [n], or [n, M].
        teaches: [n, K] (or [n, 1] for all skills) 1 where a sample teaches a skill, else 0.
        target: [n, K] or [n, 1].
        batch: number of samples.
    """
    heads = 1 if q.ndim == 3 else q.shape[1]
    each = q.reshape(q.shape[0], heads, *q.shape[-2:])  # [n, M, A, K]
    did = jax.nn.one_hot(action.reshape(-1, heads), q.shape[-2])[..., None]
    value = (did * each).sum(axis=2).mean(axis=1)  # [n, K]
    error = (2.0 / (batch * heads)) * teaches * (value - target)
    return (did * error[:, None, None]).reshape(q.shape)


def gradient(q: Array, taught: Array, target: Array, batch: Array | float) -> Array:
    """[n, A, K] gradient of the mean of `td_loss` over the batch.

    Args:
        q: [n, A, K].
        taught: [n, A, K] (or [n, A, 1] for all skills) how often the batch has each cell.
        target: [n, A, K] the sum of its targets there.
        batch: number of samples in it.
    """
    return (2.0 / batch) * (taught * q - target)


def plain_step(q: Array, taught: Array, target: Array, rate: Array) -> Array:
    """[n, A, K] every cell of the batch moved by ``rate`` towards the mean of its targets.

    Tabular Q-learning; other cells stay as they are, so that `rows_step` can do the same in a
    large world without touching them. Arguments as in `gradient`.
    """
    gap = target / jnp.maximum(taught, 1.0) - q
    return q + rate * jnp.where(taught > 0, gap, 0.0)


def rows_step(q: Array, cell: Array, target: Array, rate: Array) -> Array:
    """[S, A, K] `plain_step` where each sample teaches all skills, touching sampled rows only.

    Args:
        q: [S, A, K].
        cell: [B] state * A + action.
        target: [B, K] of every skill.
        rate: share of the gap that is closed.
    """
    rows = q.reshape(-1, q.shape[-1])
    taught = jnp.zeros(rows.shape[0]).at[cell].add(1.0)
    change = rate * (target - rows[cell]) / taught[cell][:, None]
    return rows.at[cell].add(change).reshape(q.shape)
