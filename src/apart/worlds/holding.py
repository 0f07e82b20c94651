"""Held decisions: an action is taken for several environment steps, then the agent decides again.

In tables that makes another table, of decisions. Elsewhere the collector takes the steps.
"""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from typing import overload

import numpy as np

from apart._types import FloatArray, IntArray
from apart.worlds import tables
from apart.worlds.world import TableWorld, World


@overload
def held(world: TableWorld, n: int) -> TableWorld: ...
@overload
def held(world: World, n: int) -> World: ...
def held(world: World, n: int) -> World:
    """``world`` one decision at a time: in a table, where an action leads that is taken n times.

    Its distances are numbers of decisions; a state that they do not lead to is farther than any.
    Worlds that are not tables stay as they are.
    """
    return _held(world, n) if isinstance(world, TableWorld) and n > 1 else world


@lru_cache(maxsize=8)
def _held(world: TableWorld, n: int) -> TableWorld:
    moved, chance = world.next_state, world.probability
    if world.deterministic:
        one = moved[:, :, 0]
        actions = np.arange(one.shape[1])
        several = one
        for _ in range(n - 1):
            several = one[several, actions]
        moved, chance = several[:, :, None], np.ones((*several.shape, 1))
    else:
        moved, chance = _by_chance(moved, chance, n)
    likely, starts = chance > 0, world.starts or (world.start,)
    each = np.stack([tables.distances(moved, likely, start) for start in starts])
    distance = np.where(each < 0, np.iinfo(np.int32).max, each).min(axis=0)
    return dataclasses.replace(
        world,
        next_state=moved,
        probability=chance,
        distance=distance.astype(np.int32),
    )


def _by_chance(moved: IntArray, chance: FloatArray, n: int) -> tuple[IntArray, FloatArray]:
    """The successors of n steps with one action, and their probabilities."""
    n_states, n_actions, _ = moved.shape

    def step(after: dict[int, float], action: int) -> dict[int, float]:
        found: dict[int, float] = {}
        for state, p in after.items():
            for to, share in zip(moved[state, action], chance[state, action], strict=True):
                if share > 0:
                    found[int(to)] = found.get(int(to), 0.0) + p * float(share)
        return found

    def several(state: int, action: int) -> dict[int, float]:
        after = {state: 1.0}
        for _ in range(n):
            after = step(after, action)
        return after

    return tables.rows_of([[several(s, a) for a in range(n_actions)] for s in range(n_states)])
