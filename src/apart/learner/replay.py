"""Replay: a ring of whole collections that costs only the work done.

A collection is all the episodes between two rounds of updates, so that an insertion is one
contiguous write: the capacity asked for is rounded down to a multiple of that. Two forms:

- ``packed`` for tables. A transition is two integers, (state * A + action) and (skill * T + t - 1);
  the next state is a look-up where the world is deterministic, else a third integer.
- ``plain`` for everything else: the same ring of episodes as they are; bytes stay bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array
from apart.learner import draws
from apart.learner.episodes import Batch, Episodes

Ring = Any  # a pytree of arrays [slots, ...]


class Replay(NamedTuple):
    """How transitions are kept; how full the ring is follows from the collections inserted."""

    init: Callable[[], Ring]
    insert: Callable[[Ring, Episodes, Array], Ring]
    # (ring, new episodes, collections inserted before)
    sample: Callable[[Ring, Array, Array], Batch]
    # (ring, bits [B] uint32, collections inserted, at least 1) -> uniform with replacement


def packed(
    slots: int, n_episodes: int, next_state: Array, horizon: int, paths: bool = False
) -> Replay:
    """For table worlds; ``next_state`` [S, A, N]. With ``paths`` samples have their episodes."""
    _, n_actions, n_successors = next_state.shape
    successor = next_state.reshape(-1)
    width = 2 if n_successors == 1 else 3

    def init() -> Ring:
        return jnp.zeros((slots, n_episodes * horizon, width), jnp.int32)

    def insert(ring: Ring, new: Episodes, n_before: Array) -> Ring:
        columns = [
            new.obs[:, :-1] * n_actions + new.action,
            new.skill[:, None] * horizon + jnp.arange(horizon),
            new.obs[:, 1:],
        ]
        rows = jnp.stack([column.reshape(-1) for column in columns[:width]], -1)
        return jax.lax.dynamic_update_index_in_dim(
            ring, rows.astype(ring.dtype), n_before % slots, 0
        )

    def sample(ring: Ring, bits: Array, n_inserted: Array) -> Batch:
        filled = jnp.minimum(n_inserted, slots) * n_episodes * horizon
        rows, row = ring.reshape(-1, width), draws.integer(bits, filled)
        picked = rows[row]
        state_action, skill_time = picked[:, 0], picked[:, 1]
        t = skill_time % horizon + 1
        return Batch(
            obs=state_action // n_actions,
            action=state_action % n_actions,
            next_obs=successor[state_action] if width == 2 else picked[:, 2],
            skill=skill_time // horizon,
            time=t.astype(jnp.float32) / horizon,
            last=t == horizon,
            terminated=None,
            path=path(rows, row) if paths else None,
        )

    def path(rows: Array, row: Array) -> Array:
        """[B, T + 1] the states of the episodes that rows are in: its T rows lie together."""
        episode = rows.reshape(-1, horizon, width)[row // horizon]
        last = successor[episode[:, -1, 0]] if width == 2 else episode[:, -1, 2]
        # Written, not concatenated: XLA would compute a concatenation anew for each of its readers.
        states = jnp.zeros((row.shape[0], horizon + 1), jnp.int32).at[:, -1].set(last)
        return states.at[:, :-1].set(episode[:, :, 0] // n_actions)

    return Replay(init, insert, sample)


def plain(
    slots: int,
    n_episodes: int,
    like: Callable[[], Episodes],
    horizon: int,
    paths: bool = False,
    places: bool = False,
) -> Replay:
    """For any world; ``like`` gives an example of one collection's episodes (traced, not run).

    With ``paths`` samples have their episodes, with ``places`` the places of their observations.
    """

    def kept_of(new: Episodes) -> Episodes:
        return new.with_places() if places else new.without_places()

    def init() -> Ring:
        shapes = jax.eval_shape(lambda: kept_of(like()))
        return jax.tree.map(lambda leaf: jnp.zeros((slots, *leaf.shape), leaf.dtype), shapes)

    def insert(ring: Ring, new: Episodes, n_before: Array) -> Ring:
        slot = n_before % slots
        return jax.tree.map(
            lambda kept, leaf: jax.lax.dynamic_update_index_in_dim(kept, leaf, slot, 0),
            ring,
            kept_of(new),
        )

    def sample(ring: Ring, bits: Array, n_inserted: Array) -> Batch:
        flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), ring)
        if flat.alive is None:
            filled = jnp.minimum(n_inserted, slots) * n_episodes * horizon
            episode, t = jnp.divmod(draws.integer(bits, filled), horizon)
            last, terminated, cut = t == horizon - 1, None, None
        else:
            length = flat.alive.sum(1)  # [episodes]; 0 where the ring is not filled yet
            episode, t = _picked(length, bits)
            last = t == length[episode] - 1
            terminated = flat.terminated[episode, t]
            cut = last & (t < horizon - 1) & ~terminated

        def at(leaves: Any, time: Array) -> Any:
            return jax.tree.map(lambda leaf: leaf[episode, time], leaves)

        return Batch(
            obs=at(flat.obs, t),
            action=at(flat.action, t),
            next_obs=at(flat.obs, t + 1),
            skill=flat.skill[episode],
            time=jnp.where(last, 1.0, (t + 1).astype(jnp.float32) / horizon),
            last=last,
            terminated=terminated,
            cut=cut,
            path=jax.tree.map(lambda leaf: leaf[episode], flat.obs) if paths else None,
            place=jnp.stack([at(flat.place, t), at(flat.place, t + 1)], -1) if places else None,
        )

    return Replay(init, insert, sample)


def _picked(length: Array, bits: Array) -> tuple[Array, Array]:
    """Episode and time [B] of steps that were taken, all alike; ``length`` [n] of each episode."""
    ends = jnp.cumsum(length)
    nth = draws.integer(bits, ends[-1])
    episode = jnp.searchsorted(ends, nth, side="right")
    return episode, nth - (ends - length)[episode]


def slots_for(capacity: int, collection: int) -> int:
    """Collections that a ring of at most ``capacity`` transitions holds."""
    return max(capacity // collection, 1)
