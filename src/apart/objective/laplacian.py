"""Eigenvectors of a graph: directions along which it is long (Machado et al. 2017)."""

from __future__ import annotations

from typing import Final

from apart._lazy import jnp
from apart._types import Array

_UNKNOWN: Final = 10.0  # on the diagonal: larger than any eigenvalue of a normalised Laplacian


def eigenvectors(source: Array, target: Array, seen: Array, n_states: int, n: int) -> Array:
    """[S, n] of the normalised Laplacian of the seen edges, without directions and loops.

    Those with the smallest eigenvalues, the constant one left out; 0 in states without an edge, and
    0 altogether where there are fewer than n. The entry with the largest magnitude is positive.
    """
    edges = jnp.zeros((n_states, n_states)).at[source, target].max(seen.astype(jnp.float32))
    edges = jnp.maximum(edges, edges.T) * (1.0 - jnp.eye(n_states))
    degree = edges.sum(axis=1)
    known = degree > 0
    scale = jnp.where(known, 1.0 / jnp.sqrt(jnp.maximum(degree, 1.0)), 0.0)
    own = jnp.where(known, 1.0, _UNKNOWN)
    _, vectors = jnp.linalg.eigh(jnp.diag(own) - scale[:, None] * edges * scale)
    most = min(n, n_states - 1)
    taken = vectors[:, 1 : 1 + most] * known[:, None]
    taken *= jnp.arange(1, 1 + most) < known.sum()
    largest = taken[jnp.argmax(jnp.abs(taken), axis=0), jnp.arange(most)]
    return jnp.pad(taken * jnp.where(largest < 0, -1.0, 1.0), ((0, 0), (0, n - most)))
