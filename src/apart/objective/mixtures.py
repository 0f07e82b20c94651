"""Skill dynamics as densities (DADS): mixtures of Gaussians of the change that follows a state.

Every skill has M components; a component has a weight and a mean of D numbers, and the variance of
each number is 1. A row [M, D + 1, K] has the weights, as logits, before the means.
"""

from __future__ import annotations

import math
from typing import Final

from apart._lazy import jax, jnp
from apart._types import Array

COMPONENTS: Final = 4  # as in the public code of the paper


def log_densities(row: Array, change: Array) -> Array:
    """[K] log q(change | s, z) of every skill, from the row [M, D + 1, K] of s and change [D]."""
    weights = jax.nn.log_softmax(row[:, 0], axis=0)  # [M, K]
    squares = jnp.square(row[:, 1:] - change[:, None]).sum(axis=1)
    flat = 0.5 * change.shape[0] * math.log(2.0 * math.pi)
    found: Array = jax.nn.logsumexp(weights - 0.5 * squares, axis=0) - flat
    return found


def rewards(row: Array, change: Array) -> Array:
    """[K] log q(change | s, z) - log mean over j of q(change | s, z_j)."""
    own = log_densities(row, change)
    everyone = jax.nn.logsumexp(own) - math.log(own.shape[0])
    found: Array = own - everyone
    return found


def loss(row: Array, change: Array, skill: Array) -> Array:
    """-log q(change | s, z) of the skill that made it."""
    found: Array = -log_densities(row, change)[skill]
    return found
