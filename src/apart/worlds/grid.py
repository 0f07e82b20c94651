"""Grid worlds: a map text -> a `TableWorld`. NumPy only, no JAX.

``#`` wall, ``.`` free, ``S`` start (of several, each is as likely), ``1`` to ``9`` free and worth
so many points to the task of the map: a step that ends there earns them. Lines above the map that
begin with ``;`` are words for people; ``; horizon 40`` sets the default length of an episode. The
maps that ship are text files in ``maps/``: to add one, add a file.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np

from apart._errors import UserError, nearest, unknown
from apart._types import FloatArray, IntArray
from apart.worlds import registered
from apart.worlds.world import About, Places, Spec, TableWorld, labels_in

DEFAULT_HORIZON: Final = 40
_HORIZON: Final = "horizon"  # the one option that a line above the map may have
KIND: Final = "grid"
MAX_SIDE: Final = 1_000
_MOVES: Final = ((0, 0), (0, -1), (0, 1), (-1, 0), (1, 0))  # stay, left, right, up, down
_DIGITS: Final = "123456789"
_MAX_BYTES: Final = MAX_SIDE * (MAX_SIDE + 2)


class Map(NamedTuple):
    """A map file: the text without its comments, its first comment, its episode length."""

    text: str
    summary: str
    horizon: int
    above: int  # lines before the map, so that errors name the right one


@lru_cache(maxsize=1)
def maps() -> Mapping[str, Map]:
    """The maps that ship with the package, by name."""
    folder = resources.files("apart.worlds") / "maps"
    files = {f.name: f for f in folder.iterdir() if f.name.endswith(".txt")}
    return MappingProxyType(
        {
            name.removesuffix(".txt"): _read(files[name].read_text("utf-8"), name)
            for name in sorted(files)
        }
    )


def _read(text: str, name: str) -> Map:
    rows = [row.rstrip() for row in text.split("\n")]  # also of "\r", and of blanks at the end
    words, horizon, above = [], DEFAULT_HORIZON, 0
    while rows and (not rows[0] or rows[0].startswith(";")):
        above += 1
        line = rows.pop(0).removeprefix(";").strip()
        key, _, value = line.partition(" ")
        if key != _HORIZON:
            meant = nearest(key, [_HORIZON])
            if meant and value.isdecimal():  # no sentence: an option, misspelled
                raise UserError(f"{name}: line {above}: '; {line}' has no effect{meant}")
            words.append(line)
        elif value.isdecimal() and len(value) < 8 and 1 <= int(value) <= 100_000:
            horizon = int(value)
        else:
            raise UserError(f"{name}: '; horizon {value}': give a number from 1 to 100000")
    while rows and not rows[-1]:
        rows.pop()
    return Map("\n".join(rows), next(filter(None, words), ""), horizon, above)


def parse(
    text: str, name: str = "map", horizon: int | None = None, slip: float = 0.0
) -> TableWorld:
    r"""The world of a map text; `UserError` in one line when the text is not a map.

    Args:
        text: the map.
        name: for people.
        horizon: T unless the user says otherwise; by default what the text says, else 40.
        slip: probability that a random action is taken instead of the chosen one.

    >>> parse("S.\\n..").n_states
    4
    """
    if not isinstance(text, str):
        raise UserError(f"{name}: {text!r} is not a map; give text, rows of '#', '.' and one 'S'")
    found = _read(text, name)
    rows = found.text.split("\n") if found.text else []
    _check(rows, name, found.above + 1)
    if not 0.0 <= slip <= 1.0:
        raise UserError(f"--slip: {slip} is outside 0 to 1")
    starts = [(r, c) for r, row in enumerate(rows) for c, char in enumerate(row) if char == "S"]
    distances = _distances(rows, starts)
    if len(distances) <= len(starts):
        raise UserError(f"{name}: the start has no free neighbour; free some cells ('.') beside it")
    cells = sorted(distances)
    index = {cell: i for i, cell in enumerate(cells)}
    moved = [[index.get((r + dr, c + dc), index[r, c]) for dr, dc in _MOVES] for r, c in cells]
    table = np.array(cells, np.int32)
    spec: dict[str, Any] = {"kind": KIND, "name": name, "map": rows}
    next_state, probability = _slipping(np.array(moved, np.int32), slip)
    return TableWorld(
        about=About(
            name, spec | ({"slip": slip} if slip else {}), horizon or found.horizon, len(_MOVES)
        ),
        places=Places(len(cells), partial(labels_in, table), tuple(rows)),
        next_state=next_state,
        probability=probability,
        start=index[starts[0]],
        distance=np.array([distances[cell] for cell in cells], np.int32),
        cells=table,
        starts=tuple(index[cell] for cell in starts) if len(starts) > 1 else (),
        task=_task(rows, cells),
    )


def _task(rows: list[str], cells: list[tuple[int, int]]) -> FloatArray | None:
    """[S] points of each cell; None where the map has no digit."""
    points = [int(rows[r][c]) if rows[r][c] in _DIGITS else 0 for r, c in cells]
    return np.array(points, np.float64) if any(points) else None


def from_spec(spec: Spec, horizon: int) -> TableWorld:
    """The world whose ``about.spec`` is ``spec``."""
    rows, name, slip = spec.get("map"), spec.get("name"), spec.get("slip", 0.0)
    whole = isinstance(rows, list) and all(isinstance(row, str) for row in rows)
    if not whole or not isinstance(name, str):
        raise UserError("the map is not lines of text")
    if not isinstance(slip, int | float) or not 0 <= slip <= 1:
        raise UserError("slip is not a number from 0 to 1")
    return parse("\n".join(rows or []), name, horizon, float(slip))


def _slipping(moved: IntArray, slip: float) -> tuple[IntArray, FloatArray]:
    """[S, A, N] successors and their probabilities, from one successor per action [S, A]."""
    if not slip:
        return moved[:, :, None], np.ones((*moved.shape, 1))
    n_actions = moved.shape[1]
    successors = np.repeat(moved[:, None, :], n_actions, axis=1)
    chance = (1.0 - slip) * np.eye(n_actions) + slip / n_actions
    return successors, np.repeat(chance[None], len(moved), axis=0)


def _check(rows: list[str], name: str, first: int) -> None:
    if not rows:
        raise UserError(f"{name}: the map is empty; write rows of '#', '.' and one 'S'")
    if len(rows) > MAX_SIDE or len(rows[0]) > MAX_SIDE:
        raise UserError(f"{name}: the map is larger than {MAX_SIDE} x {MAX_SIDE} cells")
    for number, row in enumerate(rows, first):
        if row.startswith(";"):
            raise UserError(f"{name}: line {number}: lines with ';' are allowed above the map only")
        strange = next((i for i, char in enumerate(row) if char not in f"#.S{_DIGITS}"), None)
        if strange is not None:
            raise UserError(
                f"{name}: line {number}, column {strange + 1}: {row[strange]!r} is not a map "
                "character; use '#' wall, '.' free, 'S' start, '1' to '9' points of a task"
            )
        if len(row) != len(rows[0]):
            raise UserError(
                f"{name}: line {number} has {len(row)} cells but line {first} has {len(rows[0])}; "
                "make all lines equally long"
            )
    count = sum(row.count("S") for row in rows)
    if count == 0:
        raise UserError(f"{name}: the map has no start; mark a cell with 'S'")


def _distances(rows: list[str], starts: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Of free cells from the nearest start, by breadth-first search."""
    height, width = len(rows), len(rows[0])
    found = dict.fromkeys(starts, 0)
    queue = deque(starts)
    while queue:
        r, c = queue.popleft()
        for dr, dc in _MOVES:
            cell = (r + dr, c + dc)
            inside = 0 <= cell[0] < height and 0 <= cell[1] < width
            if inside and cell not in found and rows[cell[0]][cell[1]] != "#":
                found[cell] = found[r, c] + 1
                queue.append(cell)
    return found


def load(world: str, slip: float = 0.0) -> TableWorld:
    """The world of a map that ships, by name, or of the path of a text map."""
    if world in maps():
        known = maps()[world]
        return parse(known.text, world, known.horizon, slip)
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
    return parse(text, world, slip=slip)


def written(spec: Spec) -> str | None:
    """What names the map of ``spec`` to `load`: a map that ships, or a file, if it is still there.

    None where its name is that of another map, which ships.
    """
    name = str(spec["name"])
    known = maps().get(name)
    return name if known is None or known.text.split("\n") == spec["map"] else None


def _no_world(world: str) -> UserError:
    if nearest(world, maps()):
        return unknown("world", world, maps())
    if hint := registered.instead_of(world):
        return UserError(f"unknown world {world!r}; {hint}")
    if "/" in world or "\\" in world or Path(world).suffix:
        return UserError(f"no map file '{world}'; check the path")
    return unknown("world", world, maps())
