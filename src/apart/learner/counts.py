"""Fading counts of last states: a discriminator that is never trained, only kept.

Before an episode adds 1 for its skill in its last state, all counts fade by (1 - rate). Fading is
lazy: a row carries the logarithm of what has faded since it was last touched, so that an episode
costs one row of K numbers and one number a state, however many skills there are, and nothing
accumulates: a run of any length keeps its precision.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array


class Counts(NamedTuple):
    """How often each skill ended where, lately."""

    table: Array  # [S, K] as of when the row was last touched
    faded: Array  # [S] logarithm of the fade since then


def init(n_states: int, n_skills: int) -> Counts:
    """Nothing was counted yet."""
    return Counts(jnp.zeros((n_states, n_skills)), jnp.zeros(n_states))


def read(counts: Counts, states: Array | None) -> Array:
    """[n, K] the counts of now in ``states``; None: in all."""
    if states is None:
        return counts.table * jnp.exp(counts.faded)[:, None]
    return counts.table[states] * jnp.exp(counts.faded[states])[:, None]


def add(counts: Counts, state: Array, skill: Array, rate: Array) -> Counts:
    """One episode of ``skill`` ended in ``state``; ``rate`` of everything fades before."""
    faded = counts.faded + jnp.log1p(-rate)
    row = counts.table[state] * jnp.exp(faded[state])
    return Counts(counts.table.at[state].set(row.at[skill].add(1.0)), faded.at[state].set(0.0))


def add_all(counts: Counts, states: Array, skills: Array, fading: Array) -> Counts:
    """Episodes [E] of ``skills`` ended in ``states``, one after the other.

    ``fading`` is per K episodes, one of each skill on average: a count lasts equally long in the
    life of its skill however many skills there are.
    """
    rate = fading / counts.table.shape[1]

    def one(i: int, now: Counts) -> Counts:
        return add(now, states[i], skills[i], rate)

    after: Counts = jax.lax.fori_loop(0, states.shape[0], one, counts)
    return after
