"""METRA (Park et al. 2024) for one transition: an embedding in which steps are at most 1 long.

Skills are directions: skill z is a one-hot vector of K numbers, centred and scaled to 1 for itself
(the authors' code for discrete skills). Distances are root mean squares over the K numbers, theirs
too.
"""

from __future__ import annotations

from typing import Final

from apart._lazy import jax, jnp
from apart._types import Array

LAMBDA: Final = 30.0  # the multiplier at the start, the authors'
SLACK: Final = 1e-3  # a constraint that holds by more than this counts as holding by this


def directions(n_skills: int) -> Array:
    """[K, K] row z: 1 for z, -1 / (K - 1) for each other skill."""
    return (jnp.eye(n_skills) - 1.0 / n_skills) * n_skills / (n_skills - 1)


def rewards(before: Array, after: Array) -> Array:
    """[K] (phi(s') - phi(s)) . z of every skill z, from phi of both [K]."""
    n_skills = before.shape[0]
    moved = after - before
    return (moved - moved.mean()) * (n_skills / (n_skills - 1))


def held(before: Array, after: Array) -> Array:
    """[] by how much the step is shorter than 1: 1 - mean (phi(s') - phi(s))^2, at most `SLACK`."""
    return jnp.minimum(1.0 - jnp.square(after - before).mean(), SLACK)


def loss(before: Array, after: Array, skill: Array, multiplier: Array) -> Array:
    """[] what phi is moved against by a step that ``skill`` made."""
    return -(rewards(before, after)[skill] + multiplier * held(before, after))


def gradient(before: Array, after: Array, skill: Array, multiplier: Array) -> Array:
    """[K] of `loss` with respect to phi(s'); with respect to phi(s) it is the opposite."""
    found: Array = jax.grad(loss, argnums=1)(before, after, skill, multiplier)
    return found
