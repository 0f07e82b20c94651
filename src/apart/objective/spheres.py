"""Embeddings of unit length: of observations, of goals (DISCERN) and of tasks (VISR)."""

from __future__ import annotations

from typing import Final

from apart._lazy import jax, jnp
from apart._types import Array, Key

DISCERN_NUMBERS: Final = 16  # of an embedding
DISCERN_SHARPNESS: Final = 10.0  # of the softmax over goal and decoys
VISR_NUMBERS: Final = 5  # as in the authors' notebook


def unit(row: Array) -> Array:
    """``row`` [..., D] at length 1."""
    return row / jnp.sqrt(jnp.square(row).sum(axis=-1, keepdims=True) + 1e-12)


def directions(key: Key, n: int, dims: int) -> Array:
    """[n, D] uniform on the sphere."""
    return unit(jax.random.normal(key, (n, dims)))


def towards(row: Array, task: Array) -> Array:
    """VISR's loss of a state: -phi . w with phi = `unit` of ``row`` [D], the task w [D]."""
    return -(unit(row) @ task)


def goal_losses(end: Array, goals: Array) -> Array:
    """[K] DISCERN's loss of each skill that ended there, from rows [D] and [K, D].

    -log softmax of its own goal among all.
    """
    similar = DISCERN_SHARPNESS * unit(goals) @ unit(end)
    return -jax.nn.log_softmax(similar)


def farther(goals: Array, candidate: Array) -> tuple[Array, Array]:
    """Which of ``goals`` [K, D] to replace by ``candidate`` [D], and whether to.

    The one with the nearest other goal, if the candidate is farther from all others than it is.
    """
    n = goals.shape[0]
    # No [K, K, D], as goals may be images; around their mean, or squares would swallow distances.
    middle = goals.mean(axis=0)
    goals, candidate = goals - middle, candidate - middle
    squares = jnp.square(goals).sum(axis=-1)
    between = jnp.maximum(squares[:, None] + squares - 2.0 * goals @ goals.T, 0.0)
    nearest = jnp.where(jnp.eye(n, dtype=bool), jnp.inf, between).min(axis=1)
    out = jnp.argmin(nearest)
    away = jnp.square(goals - candidate).sum(axis=-1)
    others = jnp.where(jnp.arange(n) == out, jnp.inf, away)
    return out, others.min() > nearest[out]
