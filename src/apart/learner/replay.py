"""Replay: a ring of packed integers that costs only the work done.

A transition is two integers, (state * A + action) and (skill * T + t - 1). The next state is not
stored: the worlds are deterministic, so it is a look-up. The ring holds whole collections (all
the episodes between two rounds of updates), so that an insertion is one contiguous write: the
capacity asked for is rounded down to a multiple of that.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array
from apart.learner import draws


class Replay(NamedTuple):
    """The ring; how much of it is filled follows from the number of collections made."""

    rows: Array  # [slots, transitions of a collection, 2] int32


def init(capacity: int, collection: int) -> Replay:
    """An empty ring for at most ``capacity`` transitions, ``collection`` at a time."""
    slots = max(capacity // collection, 1)
    return Replay(jnp.zeros((slots, collection, 2), jnp.int32))


def insert(replay: Replay, state_action: Array, skill_time: Array, n_before: Array) -> Replay:
    """The ring with one more collection; ``n_before`` collections were inserted earlier."""
    rows = jnp.stack([state_action, skill_time], -1)
    slot = n_before % replay.rows.shape[0]
    return Replay(jax.lax.dynamic_update_slice(replay.rows, rows[None], (slot, 0, 0)))


def sample(replay: Replay, bits: Array, n_inserted: Array) -> tuple[Array, Array]:
    """[B] state_action and skill_time, uniform with replacement over what the ring holds.

    Args:
        replay: the ring.
        bits: [B] uint32, fresh.
        n_inserted: collections inserted so far, at least 1.
    """
    slots, collection, _ = replay.rows.shape
    filled = jnp.minimum(n_inserted, slots) * collection
    picked = replay.rows.reshape(-1, 2)[draws.integer(bits, filled)]
    return picked[:, 0], picked[:, 1]
