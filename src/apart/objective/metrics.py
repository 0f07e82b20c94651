"""A distance that is learned from transitions: observations as far apart as steps allow.

Where no step is longer than 1, two observations are at most as far apart as there are steps between
them, and the greatest distances of that kind are the lengths of the shortest ways. So pairs of what
was seen are pushed apart (Weinberger and Saul 2006 unfold manifolds so, Wang et al. 2023 learn
values so) while steps are held to 1. Distances are root mean squares, as those of `metra`.
"""

from __future__ import annotations

from apart._lazy import jax, jnp
from apart._types import Array
from apart.objective import metra

_LEAST = 1e-12  # under the root: two that are the same pull in no direction


def apart(first: Array, second: Array) -> Array:
    """[] the distance of two embedded observations [E]."""
    return jnp.sqrt(jnp.square(first - second).mean() + _LEAST)


def loss(before: Array, after: Array, first: Array, second: Array, multiplier: Array) -> Array:
    """[] of embedded steps [B, E], from ``before`` to ``after``, and of pairs, [B, E] each."""
    far = jax.vmap(apart)(first, second).mean()
    held = jax.vmap(metra.held)(before, after).mean()
    return -(far + multiplier * held)


def gradient(
    before: Array, after: Array, first: Array, second: Array, multiplier: Array
) -> tuple[Array, Array, Array, Array]:
    """Of `loss`, with respect to all that is embedded."""
    found: tuple[Array, Array, Array, Array] = jax.grad(loss, argnums=(0, 1, 2, 3))(
        before, after, first, second, multiplier
    )
    return found
