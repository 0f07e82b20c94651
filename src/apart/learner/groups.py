"""Samples in groups of equal actions: what the last layer of Q computes for one action of each.

A batch teaches a sample's own action alone, but a layer of A actions computes all of them, forwards
and twice backwards. Sorted into tiles of samples that share an action, each tile needs the weights
of that action only: the same numbers, at some 1 / A of the work.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from apart._lazy import jnp
from apart._types import Array

TILE: Final = 16  # samples that share an action; as many as 28 cost the same, 8 and 4 more
_LEAST_ACTIONS: Final = 4  # from here on sorting costs less than it saves


class Tiles(NamedTuple):
    """Where samples are."""

    sample: Array  # [tiles * TILE] the sample in each place; an empty place repeats one
    action: Array  # [tiles]
    place: Array  # [B] the place of each sample


def pays(n_actions: int, batch: int) -> bool:
    """Whether tiles are less work than all actions."""
    return n_actions >= _LEAST_ACTIONS and batch >= TILE * n_actions


def by_action(action: Array, n_actions: int) -> Tiles:
    """Tiles for samples with these actions [B]."""
    batch = action.shape[0]
    n_tiles = batch // TILE + n_actions  # the last tile of each action may be nearly empty
    count = jnp.zeros(n_actions, jnp.int32).at[action].add(1)
    tiles = -(-count // TILE)
    ends = jnp.cumsum(tiles)
    order = jnp.argsort(action, stable=True)
    of = action[order]
    nth = jnp.arange(batch, dtype=jnp.int32) - (jnp.cumsum(count) - count)[of]
    there = (ends - tiles)[of] * TILE + nth
    sample = jnp.zeros(n_tiles * TILE, jnp.int32).at[there].set(order.astype(jnp.int32))
    tile = jnp.arange(n_tiles, dtype=jnp.int32)
    which = jnp.minimum((tile[:, None] >= ends).sum(1), n_actions - 1)
    return Tiles(sample, which, jnp.zeros(batch, jnp.int32).at[order].set(there))


def own_rows(below: Array, last: Array, action: Array) -> Array:
    """[B, K] below[b] @ last[:, action[b]].

    Args:
        below: [B, units] inputs of the last layer.
        last: [units, A, K] its weights.
        action: [B].
    """
    tiles = by_action(action, last.shape[1])
    rows = below[tiles.sample].reshape(-1, TILE, below.shape[1])
    weights = last.swapaxes(0, 1)[tiles.action]
    made = jnp.einsum("tmh,thk->tmk", rows, weights)
    return made.reshape(-1, last.shape[2])[tiles.place]
