"""Codes that stand for many points: what a vector quantiser without an encoder is, k-means.

Pure functions of weighted points; what has weight 0 is as if it were not there.
"""

from __future__ import annotations

from typing import Final

from apart._lazy import jax, jnp
from apart._types import Array

_STEPS: Final = 20  # of Lloyd's iteration


def farthest_first(points: Array, weights: Array, n: int) -> Array:
    """[n, D] of the points [M, D], each the farthest from those before it (Gonzalez 1985).

    The first is the one nearest to the mean. With fewer distinct points than n the last ones
    repeat.
    """
    there = weights > 0
    mean = (weights[:, None] * points).sum(0) / jnp.maximum(weights.sum(), 1e-8)
    central = jnp.where(there, _square(points - mean), jnp.inf)
    first = points[jnp.argmin(central)]

    def take(i: int, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        taken, away = carry
        new = points[jnp.argmax(jnp.where(there, away, -1.0))]
        return taken.at[i].set(new), jnp.minimum(away, _square(points - new))

    taken = jnp.zeros((n, points.shape[1])).at[0].set(first)
    found: Array = jax.lax.fori_loop(1, n, take, (taken, _square(points - first)))[0]
    return found


def means(points: Array, weights: Array, n: int) -> Array:
    """[n, D] codes after Lloyd's iteration from `farthest_first`; those without points stay."""

    def step(_: int, codes: Array) -> Array:
        mine = jax.nn.one_hot(jnp.argmin(distances(points, codes), axis=1), n) * weights[:, None]
        size = mine.sum(axis=0)[:, None]
        return jnp.where(size > 0, mine.T @ points / jnp.maximum(size, 1e-8), codes)

    found: Array = jax.lax.fori_loop(0, _STEPS, step, farthest_first(points, weights, n))
    return found


def distances(points: Array, codes: Array) -> Array:
    """[M, n] squared."""
    each: Array = jax.lax.map(lambda code: _square(points - code), codes)
    return each.T


def _square(gaps: Array) -> Array:
    return jnp.square(gaps).sum(axis=-1)
