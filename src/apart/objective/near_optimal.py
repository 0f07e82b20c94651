"""Several solutions of one task: when a skill may differ, and from whom. Numbers of one skill."""

from __future__ import annotations

from typing import Final

from apart._lazy import jax, jnp
from apart._types import Array

SMERL_SHARE: Final = 0.75  # of the best return that opens the gate of a skill
DOMINO_SHARE: Final = 0.9  # of the best return that every skill is held to
MEMORY: Final = 0.2  # share of the newest episode of a skill in what is known of it


def remembered(known: Array, skill: Array, new: Array) -> Array:
    """Running means ``known`` [K, ...] after ``new`` [E, ...], one of each of ``skill`` [E]."""

    def one(now: Array, seen: tuple[Array, Array]) -> tuple[Array, None]:
        z, value = seen
        return now.at[z].add(MEMORY * (value - now[z])), None

    after: Array = jax.lax.scan(one, known, (skill, new))[0]
    return after


def gate(earned: Array, best: Array) -> Array:
    """1 where a skill earned nearly the best return (SMERL's indicator), else 0.

    Nobody may differ before the task is solved at all.
    """
    return ((best > 0) & (earned >= SMERL_SHARE * best)).astype(jnp.float32)


def repulsion(visits: Array) -> Array:
    """[K, S] psi_z - psi_j with j the skill whose states are nearest to those of z (DOMiNO).

    ``visits`` [K, S] of an episode; with states as features they are psi.
    """
    n_skills = visits.shape[0]
    squares = jnp.square(visits).sum(axis=1)
    apart = squares[:, None] + squares - 2.0 * visits @ visits.T
    nearest = jnp.argmin(jnp.where(jnp.eye(n_skills, dtype=bool), jnp.inf, apart), axis=1)
    return visits - visits[nearest]


def mixed(task: Array, diversity: Array, multiplier: Array) -> Array:
    """sigma(mu) r_task + (1 - sigma(mu)) r_diversity (DOMiNO)."""
    share = jax.nn.sigmoid(multiplier)
    return share * task + (1.0 - share) * diversity


def raised(multiplier: Array, earned: Array, best: Array, rate: Array) -> Array:
    """The multiplier after a look at what a skill earned: up where that is too little."""
    lacks = (DOMINO_SHARE * best - earned) / jnp.maximum(best, 1e-8)
    return jnp.clip(multiplier + rate * jnp.where(best > 0, lacks, 0.0), -5.0, 5.0)
