"""Where random walks lead, and whose they are (UPSIDE, Kamienny et al. 2022), on a known graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from apart._lazy import jnp
from apart._types import Array

KEPT: Final = 0.8  # the mean posterior that a skill needs to be kept
OLDER: Final = 3.0  # how often a kept skill counts where a new one counts once
_NOBODY: Final = 0.05  # of its time that each growing skill may be anywhere


def begins(starts: Sequence[int], n_states: int) -> Array:
    """[S] the share of episodes that begin in each state."""
    return jnp.zeros(n_states).at[jnp.asarray(starts)].add(1.0 / len(starts))


def walks(source: Array, target: Array, seen: Array, n_states: int, steps: int) -> Array:
    """[S, S] row s: shares of time in each state in ``steps`` random steps from s.

    A step takes a seen edge, all as likely; where none is seen one stays.
    """
    edges = jnp.zeros((n_states, n_states)).at[source, target].add(seen.astype(jnp.float32))
    total = edges.sum(axis=1, keepdims=True)
    one = jnp.where(total > 0, edges / jnp.maximum(total, 1.0), jnp.eye(n_states))
    now, spent = jnp.eye(n_states), jnp.zeros((n_states, n_states))
    for _ in range(steps):
        now = now @ one
        spent = spent + now / steps
    return spent


def told(claims: Array, kept: Array, growing: Array) -> Array:
    """[S, K] q(z | s) of a tree of skills whose walks spend ``claims`` [K, S] of their time there.

    Those that are ``kept`` [K] count `OLDER` times. Where nobody walks, all that are ``growing``
    [K] are as likely, so that they go there rather than where others do; the rest are nowhere.
    """
    anywhere = jnp.where(growing, _NOBODY / claims.shape[1], 0.0)
    own = jnp.where(kept, OLDER, growing.astype(jnp.float32))[:, None] * claims + anywhere[:, None]
    return (own / jnp.maximum(own.sum(axis=0), 1e-8)).T


def reach(source: Array, target: Array, seen: Array, first: Array, steps: int) -> Array:
    """[S] bool the states that at most ``steps`` seen edges lead to from ``first`` [S] bool."""
    for _ in range(steps):
        first = first.at[target].max(first[source] & seen)
    return first


def posterior(claims: Array, active: Array) -> Array:
    """[S, K] q(z | s) of skills whose walks spend ``claims`` [K, S] of their time in states.

    Among those that are ``active`` [K]. One that is not gets what it would with a claim of 1 / S
    everywhere: the more, the less is claimed by others.
    """
    n_states = claims.shape[1]
    total = jnp.where(active[:, None], claims, 0.0).sum(axis=0)
    own = jnp.where(active[:, None], claims, 1.0 / n_states)
    others = jnp.where(active[:, None], total, total + 1.0 / n_states)
    return (own / jnp.maximum(others, 1e-8)).T
