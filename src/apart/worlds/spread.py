"""How well a few ends cover a table: path distances, exact. NumPy only, no JAX.

Where there are fewer skills than places, the number of distinct last states says nothing about
where they are. A place counts as near where few steps lead FROM an end to it: what is left to do
after a skill was used. On a map both directions are equal; in a table with steps that cannot be
undone they are not. A step is any action with a successor of positive probability. A place that
no end leads to counts as S steps away, more than any way has.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from apart._types import BoolArray, IntArray
from apart.worlds.world import TableWorld

# Above this number of states the ideal is tried from some first places only: all pairs of
# distances would take minutes.
_ALL_FIRST, _SOME_FIRST = 1_024, 4


class Spread(NamedTuple):
    """How well the ends of K skills cover the places that can be reached."""

    radius: int  # steps from the nearest end to the farthest place (the covering radius)
    mean_distance: float  # steps from the nearest end, mean over all places
    gap: float | None  # steps from an end to the nearest other one, mean; None: one end only
    ideal_radius: int  # of K places chosen by greedy k-center, from the best first place

    @property
    def score(self) -> float:
        """Ideal radius / radius: 1 is as good as greedy k-center; more is better than it."""
        if self.radius == 0:
            return 1.0
        return self.ideal_radius / self.radius


def spread(
    world: TableWorld,
    horizon: int,
    ends: IntArray,
    n_skills: int,
    may_end: BoolArray | None = None,
) -> Spread:
    """Of the states ``ends`` [n], repeated or not, against ``n_skills`` ideal places.

    Places are the states in reach of ``horizon`` steps; ideal ones are among those in which an
    episode ``may_end`` [S], unless said all where one of so many steps can.
    """
    places = np.flatnonzero(world.distance <= horizon)
    distinct = np.unique(np.asarray(ends))
    away = steps_from(world, distinct)[places]
    return Spread(
        radius=int(away.max()),
        mean_distance=round(float(away.mean()), 4),
        gap=_gap(world, distinct),
        ideal_radius=ideal_radius(world, horizon, n_skills, may_end),
    )


def steps_from(world: TableWorld, ends: IntArray, least: IntArray | None = None) -> IntArray:
    """[S] steps from the nearest of ``ends``; S where no way leads.

    With ``least``, what is known of other ends, the least of both.
    """
    away = np.full(world.n_states, world.n_states, np.int32) if least is None else least.copy()
    front, steps = np.asarray(ends), 0
    likely = world.probability > 0
    while len(front):
        away[front] = steps
        after = np.unique(world.next_state[front][likely[front]])
        steps += 1
        front = after[away[after] > steps]
    return away


def _gap(world: TableWorld, ends: IntArray) -> float | None:
    if len(ends) < 2:
        return None
    is_end = np.zeros(world.n_states, bool)
    is_end[ends] = True
    return round(float(np.mean([_to_another(world, int(end), is_end) for end in ends])), 4)


def _to_another(world: TableWorld, start: int, is_end: BoolArray) -> int:
    """Steps from the end ``start`` to the nearest other one; S where no way leads."""
    likely = world.probability > 0
    been = np.zeros(world.n_states, bool)
    front, steps = np.array([start]), 0
    while len(front):
        been[front] = True
        after = np.unique(world.next_state[front][likely[front]])
        front, steps = after[~been[after]], steps + 1
        if is_end[front].any():
            return steps
    return world.n_states


def ideal_radius(
    world: TableWorld, horizon: int, n_ends: int, may_end: BoolArray | None = None
) -> int:
    """The covering radius of ``n_ends`` places by greedy k-center, from the best first place.

    Each next end is the place farthest from all before it, which is at most twice the smallest
    radius there is (Gonzalez 1985). Only states that an episode can end in are chosen.
    """
    may_end = world.last_states(horizon) if may_end is None else may_end
    places = world.distance <= horizon
    if n_ends >= int(may_end.sum()):
        everywhere = np.flatnonzero(may_end).astype(np.int32)
        return int(steps_from(world, everywhere)[places].max())
    return _greedy(_Same(world), may_end.tobytes(), places.tobytes(), n_ends)


class _Same:
    """A world by its transitions: equal tables share one computation."""

    def __init__(self, world: TableWorld) -> None:
        self.world = world
        self.static = (world.next_state.tobytes(), (world.probability > 0).tobytes())

    def __hash__(self) -> int:
        return hash(self.static)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.static == other.static


@lru_cache(maxsize=64)
def _greedy(same: _Same, may_end: bytes, places: bytes, n_ends: int) -> int:
    ends, counted = (np.frombuffer(mask, bool) for mask in (may_end, places))
    if same.world.n_states <= _ALL_FIRST:
        return _from_all(distances(same.world), ends, counted, n_ends)
    return _from_some(same.world, ends, counted, n_ends)


def distances(world: TableWorld) -> IntArray:
    """[S, S] steps from each state to each; S where no way leads."""
    n = world.n_states
    away = np.full((n, n), n, np.int32)
    np.fill_diagonal(away, 0)
    likely = world.probability.reshape(n, -1) > 0
    onward = np.where(likely, world.next_state.reshape(n, -1), np.arange(n)[:, None])
    columns = np.unique(np.sort(onward, axis=1), axis=1).T  # equal ones are looked at once
    while True:
        before = away.copy()
        for successor in columns:
            np.minimum(away, before[successor] + 1, out=away)
        if (away == before).all():
            return away


def _from_all(away: IntArray, may_end: BoolArray, counted: BoolArray, n_ends: int) -> int:
    """The least radius over all first places, all of them side by side."""
    chosen = np.flatnonzero(may_end)
    nearest = away[chosen]  # [first place, S] steps from the ends chosen so far
    for _ in range(n_ends - 1):
        farthest = chosen[np.argmax(nearest[:, chosen], axis=1)]
        nearest = np.minimum(nearest, away[farthest])
    return int(nearest[:, counted].max(axis=1).min())


def _from_some(world: TableWorld, may_end: BoolArray, counted: BoolArray, n_ends: int) -> int:
    chosen = np.flatnonzero(may_end)
    radii = []
    for first in chosen[np.linspace(0, len(chosen) - 1, _SOME_FIRST).astype(int)]:
        nearest = steps_from(world, np.array([first]))
        for _ in range(n_ends - 1):
            farthest = chosen[np.argmax(nearest[chosen])]
            nearest = steps_from(world, np.array([farthest]), nearest)
        radii.append(int(nearest[counted].max()))
    return min(radii)
