"""Grid worlds: text -> states, transition table, distances. NumPy only, no JAX.

A world here is finite and deterministic and has no terminal state: an episode ends after T steps
because the clock says so (a horizon), never because of where the agent is.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from apart._errors import UserError, unknown
from apart._types import FloatArray, IntArray
from apart.worlds.layouts import DEFAULT_HORIZON, LAYOUTS

ACTIONS: Final = ("stay", "left", "right", "up", "down")
_MOVES: Final = ((0, 0), (0, -1), (0, 1), (-1, 0), (1, 0))
MAX_SIDE: Final = 1_000
_MAX_BYTES: Final = MAX_SIDE * (MAX_SIDE + 2)


@dataclass(frozen=True, eq=False)
class World:
    """A map turned into numbers.

    States are the free cells that the start can reach, in reading order.

    Attributes:
        name: the name or file that it came from.
        text: the map, one line a row, no trailing newline.
        horizon: the default number of steps of an episode, T.
        cells: [S, 2] row and column of each state.
        next_state: [S, A] the state after each action; a blocked move stays.
        start: the state in which every episode starts.
        distance: [S] least number of steps from the start.
    """

    name: str
    text: str
    horizon: int
    cells: IntArray
    next_state: IntArray
    start: int
    distance: IntArray

    @property
    def n_states(self) -> int:
        """S, the number of cells that the start can reach."""
        return len(self.cells)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the map."""
        rows = self.text.split("\n")
        return len(rows), len(rows[0])

    def n_available(self, horizon: int) -> int:
        """How many last states an episode of ``horizon`` steps can have (staying is an action)."""
        return int(np.sum(self.distance <= horizon))


def parse(text: str, name: str = "map", horizon: int = DEFAULT_HORIZON) -> World:
    r"""The world of a map text; `UserError` in one line when the text is not a map.

    >>> parse("S.\\n..").n_states
    4
    """
    rows = [row.rstrip("\r") for row in text.split("\n")]
    while rows and not rows[0]:
        rows.pop(0)
    while rows and not rows[-1]:
        rows.pop()
    _check(rows, name)
    starts = [(r, row.index("S")) for r, row in enumerate(rows) if "S" in row]
    distances = _distances(rows, starts[0])
    if len(distances) < 2:
        raise UserError(f"{name}: the start has no free neighbour; free some cells ('.') beside it")
    cells = sorted(distances)
    index = {cell: i for i, cell in enumerate(cells)}
    moved = [[index.get((r + dr, c + dc), index[r, c]) for dr, dc in _MOVES] for r, c in cells]
    return World(
        name=name,
        text="\n".join(rows),
        horizon=horizon,
        cells=np.array(cells, np.int32),
        next_state=np.array(moved, np.int32),
        start=index[starts[0]],
        distance=np.array([distances[cell] for cell in cells], np.int32),
    )


def _check(rows: list[str], name: str) -> None:
    if not rows:
        raise UserError(f"{name}: the map is empty; write rows of '#', '.' and one 'S'")
    if len(rows) > MAX_SIDE or len(rows[0]) > MAX_SIDE:
        raise UserError(f"{name}: the map is larger than {MAX_SIDE} x {MAX_SIDE} cells")
    for number, row in enumerate(rows, 1):
        strange = next((i for i, char in enumerate(row) if char not in "#.S"), None)
        if strange is not None:
            raise UserError(
                f"{name}: line {number}, column {strange + 1}: {row[strange]!r} is not a map "
                "character; use '#' wall, '.' free, 'S' start"
            )
        if len(row) != len(rows[0]):
            raise UserError(
                f"{name}: line {number} has {len(row)} cells but line 1 has {len(rows[0])}; "
                "make all lines equally long"
            )
    count = sum(row.count("S") for row in rows)
    if count != 1:
        raise UserError(f"{name}: the map has {count} starts; mark exactly one cell with 'S'")


def _distances(rows: list[str], start: tuple[int, int]) -> dict[tuple[int, int], int]:
    """Breadth-first search over free cells."""
    height, width = len(rows), len(rows[0])
    found = {start: 0}
    queue = deque([start])
    while queue:
        r, c = queue.popleft()
        for dr, dc in _MOVES:
            cell = (r + dr, c + dc)
            inside = 0 <= cell[0] < height and 0 <= cell[1] < width
            if inside and cell not in found and rows[cell[0]][cell[1]] != "#":
                found[cell] = found[r, c] + 1
                queue.append(cell)
    return found


def load(world: str) -> World:
    """The world of a name in ``LAYOUTS`` or of a path to a text map."""
    if world in LAYOUTS:
        layout = LAYOUTS[world]
        return parse(layout.text, world, layout.horizon)
    path = Path(world)
    if not world or "\0" in world or not path.exists():
        raise _no_world(world)
    if not path.is_file():
        raise UserError(f"{world}: not a map file; give the path of a text file")
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise UserError(f"{world}: cannot be read ({error.strerror})") from None
    if len(data) > _MAX_BYTES:
        raise UserError(f"{world}: the map is larger than {MAX_SIDE} x {MAX_SIDE} cells")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(f"{world}: not a text file; a map has '#', '.' and 'S' only") from None
    return parse(text, world)


def _no_world(world: str) -> UserError:
    if "/" in world or "\\" in world or Path(world).suffix:
        return UserError(f"no map file '{world}'; check the path")
    return unknown("world", world, LAYOUTS)


def random_walk_skills(world: World, horizon: int, n_skills: int) -> float:
    """Expected number of distinct last states of ``n_skills`` uniformly random episodes (exact)."""
    probability: FloatArray = np.zeros(world.n_states)
    probability[world.start] = 1.0
    n_actions = world.next_state.shape[1]
    for _ in range(horizon):
        spread: FloatArray = np.zeros_like(probability)
        np.add.at(spread, world.next_state, probability[:, None] / n_actions)
        probability = spread
    return float(np.sum(1.0 - (1.0 - probability) ** n_skills))
