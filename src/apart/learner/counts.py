"""Fading counts of last states: a discriminator that is never trained, only kept.

Before an episode adds 1 for its skill in its last state, all counts fade by (1 - rate). Fading is
lazy: a row carries the logarithm of the fade at which it was last touched, so that an episode
costs one row, however large the world is.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from apart._types import Array


class Fade(NamedTuple):
    """How much has faded."""

    now: Array  # [] log of the fade since the start
    row: Array  # [S] the value of `now` when the row was last touched


def init(n_states: int) -> Fade:
    """Nothing has faded yet."""
    return Fade(jnp.float32(0.0), jnp.zeros(n_states))


def factor(fade: Fade) -> Array:
    """[S] what a row of the table must be multiplied by to be the counts of now."""
    return jnp.exp(fade.now - fade.row)


def add(table: Array, fade: Fade, state: Array, skill: Array, rate: Array) -> tuple[Array, Fade]:
    """One episode of ``skill`` ended in ``state``; table [S, K]."""
    now = fade.now + jnp.log1p(-rate)
    row = table[state] * jnp.exp(now - fade.row[state])
    table = table.at[state].set(row.at[skill].add(1.0))
    return table, Fade(now, fade.row.at[state].set(now))
