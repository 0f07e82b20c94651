"""Random bits to numbers. One call for all bits of a purpose is several times cheaper than one
call per distribution, and a purpose is a key that is used once.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from apart._types import Array


def uniform(bits: Array) -> Array:
    """Floats in [0, 1) with 24 random bits each, from uint32."""
    return jnp.multiply((bits >> 8).astype(jnp.float32), 2.0**-24)


def integer(bits: Array, bound: Array | int) -> Array:
    """Integers in [0, bound) from uint32; the bias is below bound / 2^32."""
    return jax.lax.rem(bits, jnp.asarray(bound, jnp.uint32)).astype(jnp.int32)
