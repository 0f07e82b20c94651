"""What a state is worth to those who explore, and nothing else."""

from __future__ import annotations

from typing import Final

from apart._lazy import jnp
from apart._types import Array

RND_OUTPUTS: Final = 16  # numbers of the random network that is to be predicted


def by_count(visits: Array) -> Array:
    """1 / sqrt(n) of a state that was visited n times (Strehl and Littman 2008); 1 before that."""
    return 1.0 / jnp.sqrt(jnp.maximum(visits, 1.0))


def by_error(predicted: Array, wanted: Array) -> Array:
    """Mean square of what is still wrong in the prediction of a state (Burda et al. 2019)."""
    return jnp.square(predicted - wanted).mean(axis=-1)
