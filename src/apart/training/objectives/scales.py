"""How large changes of observations are: the mean square of each number over all steps so far."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from apart._types import Array


class Scale(NamedTuple):
    """Of D numbers."""

    square: Array  # [D] mean
    n: Array  # [] float32 steps


def init(n_numbers: int) -> Scale:
    """Before any step: changes are left as they are."""
    return Scale(jnp.ones(n_numbers), jnp.float32(0.0))


def after(scale: Scale, changes: Array, alive: Array | None) -> Scale:
    """With steps [E, T, D] more, those that were taken (``alive`` [E, T]; None: all)."""
    taken = jnp.ones(changes.shape[:2]) if alive is None else alive.astype(jnp.float32)
    n = scale.n + taken.sum()
    more = jnp.einsum("etd,et->d", jnp.square(changes), taken) - scale.square * taken.sum()
    return Scale(scale.square + more / jnp.maximum(n, 1.0), n)


def scaled(scale: Scale, changes: Array) -> Array:
    """[..., D] changes whose mean square is 1; what never changed stays 0."""
    return changes / jnp.sqrt(jnp.maximum(scale.square, 1e-12))
