"""Where random walks lead, and whose they are (UPSIDE, Kamienny et al. 2022), on a known graph."""

from __future__ import annotations

from typing import Final

from apart._lazy import jnp
from apart._types import Array

KEPT: Final = 0.8  # the mean posterior that a skill needs to be kept


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
