"""Several solutions of one task: when a skill may differ, and from whom. Numbers of one skill."""

from __future__ import annotations

from typing import Final

from apart._lazy import jax, jnp
from apart._types import Array

MEMORY: Final = 0.2  # share of the newest episode of a skill in what is known of it


def remembered(known: Array, skill: Array, new: Array) -> Array:
    """Running means ``known`` [K, ...] after ``new`` [E, ...], one of each of ``skill`` [E]."""

    def one(now: Array, seen: tuple[Array, Array]) -> tuple[Array, None]:
        z, value = seen
        return now.at[z].add(MEMORY * (value - now[z])), None

    after: Array = jax.lax.scan(one, known, (skill, new))[0]
    return after


def gate(earned: Array, best: Array, optimality: Array) -> Array:
    """1 where a skill earned the share ``optimality`` of the best return (SMERL), else 0.

    Nobody may differ before the task is solved at all.
    """
    return ((best > 0) & (earned >= optimality * best)).astype(jnp.float32)


def force(visits: Array, distance: Array) -> Array:
    """[K, S] (1 - (l_z / l_0)^3) (psi_z - psi_j), j the skill whose psi is nearest to that of z.

    What DOMiNO pays for diversity, the gradient of l^2 / 2 - l^5 / (5 l_0^3) with l_z the distance
    between the two: it drives skills apart that are nearer than l_0 and draws the others together.

    Args:
        visits: [K, S] of an episode; with states as features they are psi.
        distance: l_0; 0: skills are driven apart however far they are.
    """
    n_skills = visits.shape[0]
    squares = jnp.square(visits).sum(axis=1)
    apart = squares[:, None] + squares - 2.0 * visits @ visits.T
    nearest = jnp.argmin(jnp.where(jnp.eye(n_skills, dtype=bool), jnp.inf, apart), axis=1)
    away = visits - visits[nearest]
    length = jnp.sqrt(jnp.square(away).sum(axis=1, keepdims=True))
    near = 1.0 - (length / jnp.where(distance > 0, distance, jnp.inf)) ** 3
    return near * away


def mixed(task: Array, diversity: Array, multiplier: Array) -> Array:
    """sigma(mu) r_task + (1 - sigma(mu)) r_diversity (DOMiNO)."""
    share = jax.nn.sigmoid(multiplier)
    return share * task + (1.0 - share) * diversity


def raised(multiplier: Array, earned: Array, best: Array, optimality: Array, rate: Array) -> Array:
    """The multiplier after a look at what a skill earned: up where that is too little."""
    lacks = (optimality * best - earned) / jnp.maximum(best, 1e-8)
    return jnp.clip(multiplier + rate * jnp.where(best > 0, lacks, 0.0), -5.0, 5.0)
