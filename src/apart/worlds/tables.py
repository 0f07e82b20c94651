"""Tables of numbers -> a `TableWorld`, and the spec that keeps them. NumPy only, no JAX.

The table itself is the spec: a run needs nothing else to be loaded, drawn, resumed and evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from apart._errors import UserError
from apart._types import BoolArray, FloatArray, IntArray
from apart.worlds.world import About, Places, Spec, TableWorld, labels_in

KIND: Final = "table"
MAX_STATES: Final = 1_000_000
_MAX_SIDE: Final = 1_000


def build(
    name: str,
    next_state: IntArray,
    probability: FloatArray | None = None,
    start: int = 0,
    cells: IntArray | None = None,
    horizon: int | None = None,
) -> TableWorld:
    """The world of a table.

    Args:
        name: for people.
        next_state: [S, A, N] the states that may follow each action; [S, A] where one does.
        probability: [S, A, N] of each of them; not needed where N = 1.
        start: the state in which every episode starts.
        cells: [S, 2] row and column of each state, for pictures; states may share a cell.
        horizon: the default length of an episode; twice the way to the farthest state unless said.

    Raises:
        UserError: the numbers are not those of a world.
    """
    moved = np.asarray(next_state, np.int32)
    moved = moved[:, :, None] if moved.ndim == 2 else moved
    if moved.ndim != 3 or 0 in moved.shape or len(moved) > MAX_STATES:
        raise UserError(f"{name}: a table of shape {moved.shape}, not states, actions, successors")
    chance = np.ones(moved.shape) if probability is None else np.asarray(probability, np.float64)
    if moved.min() < 0 or moved.max() >= len(moved) or not 0 <= start < len(moved):
        raise UserError(f"{name}: a state outside 0 to {len(moved) - 1}")
    sums = chance.shape == moved.shape and bool(np.isfinite(chance).all() and (chance >= 0).all())
    if not sums or not np.allclose(chance.sum(2), 1.0):
        raise UserError(f"{name}: the probabilities of an action do not sum to 1")
    distance = distances(moved, chance > 0, start)
    if distance.min() < 0:
        raise UserError(f"{name}: {int((distance < 0).sum())} states cannot be reached")
    if len(moved) < 2:
        raise UserError(f"{name}: one state only; nothing can be done in it")
    places, drawn = _places(name, len(moved), start, cells)
    return TableWorld(
        about=About(
            name,
            _spec(name, moved, None if moved.shape[2] == 1 else chance, start, drawn),
            horizon or max(2 * int(distance.max()), 1),
            moved.shape[1],
        ),
        places=places,
        next_state=moved,
        probability=chance,
        start=start,
        distance=distance,
        cells=drawn,
    )


def from_spec(spec: Spec, horizon: int) -> TableWorld:
    """The world whose ``about.spec`` is ``spec``."""
    name, start, n = spec.get("name"), spec.get("start"), spec.get("successors")
    if not isinstance(name, str) or type(start) is not int or type(n) is not int or n < 1:
        raise UserError("the table has no name, no start or no number of successors")
    moved = _numbers(spec.get("next_state"), int).astype(np.int32)
    n_states, width = moved.shape
    if width % n:
        raise UserError(f"the table has {width} successors in a row, not a multiple of {n}")
    chance = None
    if n > 1:
        chance = _numbers(spec.get("probability"), float)
        if chance.shape != moved.shape:
            raise UserError("the table has not a probability for each successor")
        chance = chance.reshape(n_states, -1, n)
    cells = None if spec.get("cells") is None else _numbers(spec["cells"], int).astype(np.int32)
    return build(name, moved.reshape(n_states, -1, n), chance, start, cells, horizon)


def _spec(
    name: str, moved: IntArray, chance: FloatArray | None, start: int, cells: IntArray
) -> dict[str, Any]:
    """A line of text a state: a large table stays small, and readable."""
    spec: dict[str, Any] = {"kind": KIND, "name": name, "start": start}
    spec |= {"successors": int(moved.shape[2]), "next_state": _lines(moved)}
    if chance is not None:
        spec["probability"] = _lines(chance)
    return spec | ({"cells": _lines(cells)} if len(cells) else {})


def _lines(numbers: IntArray | FloatArray) -> list[str]:
    return [" ".join(map(repr, row)) for row in numbers.reshape(len(numbers), -1).tolist()]


def _numbers(lines: Any, kind: Callable[[str], float]) -> FloatArray:
    """[S, ...] what `_lines` made lines of."""
    try:
        rows = [[kind(word) for word in line.split()] for line in lines]
        found = np.array(rows, np.float64)
        if found.ndim != 2 or not found.size or not np.abs(found).max() < 2**31:
            raise ValueError(found.shape)
    except (TypeError, ValueError, AttributeError, OverflowError):
        raise UserError("the table is not lines of numbers, equally many in each") from None
    return found


def distances(moved: IntArray, likely: BoolArray, start: int) -> IntArray:
    """[S] least number of steps from the start; -1 where no way leads."""
    distance = np.full(len(moved), -1, np.int32)
    front, steps = np.array([start]), 0
    while len(front):
        distance[front] = steps
        after = np.unique(moved[front][likely[front]])
        front, steps = after[distance[after] < 0], steps + 1
    return distance


def _places(
    name: str, n_states: int, start: int, cells: IntArray | None
) -> tuple[Places, IntArray]:
    """Places and cells [S, 2], both from 0 on; without cells a place is the state's number."""
    if cells is None or not len(cells):
        return Places(n_states, noun="state"), np.zeros((0, 2), np.int32)
    given = np.asarray(cells)
    if given.shape != (n_states, 2) or given.min() < 0 or given.max() >= _MAX_SIDE:
        raise UserError(f"{name}: cells are not a row and a column for each state")
    drawn = given.astype(np.int32)
    rows = _backdrop(drawn, start)
    if len(np.unique(drawn, axis=0)) == n_states:
        return Places(n_states, partial(labels_in, drawn), rows), drawn
    numbered = np.concatenate([drawn, np.arange(n_states, dtype=np.int32)[:, None]], axis=1)
    return Places(n_states, partial(labels_in, numbered), rows, noun="state"), drawn


def _backdrop(cells: IntArray, start: int) -> tuple[str, ...]:
    """A map with walls where the agent can never be."""
    picture = np.full(cells.max(axis=0) + 1, "#")
    picture[tuple(cells.T)] = "."
    picture[tuple(cells[start])] = "S"
    return tuple("".join(row) for row in picture)


def rows_of(successors: Sequence[Sequence[dict[int, float]]]) -> tuple[IntArray, FloatArray]:
    """[S, A, N] tables from the successors of each action, {state: probability}, filled up to N."""
    most = max(len(after) for row in successors for after in row)
    moved = np.zeros((len(successors), len(successors[0]), most), np.int32)
    chance = np.zeros(moved.shape)
    for state, row in enumerate(successors):
        for action, after in enumerate(row):
            n = len(after)
            moved[state, action] = [*after, *[next(iter(after))] * (most - n)]
            chance[state, action, :n] = list(after.values())
    return moved, chance
