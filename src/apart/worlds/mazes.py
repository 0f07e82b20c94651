"""Continuous mazes, ``maze:NAME``: a point moves among walls. `JaxWorld`s; no JAX until they run.

A drawing has a cell for each square of the plane and a line for each wall between two cells:
``+``, ``-`` and ``|`` are corners and walls, ``#`` a cell that nobody can be in, ``S`` the cell in
which episodes start. The edge of the drawing is a wall, drawn or not.

A state is the cell and where in it the point is, so that a point on a wall is on one side of it. A
wall stops the part of a move that is normal to it: the point slides along. A move crosses at most
one line in each direction (it is no longer than a cell), the nearer one first; at a corner that is
hit exactly, the line in x. Nothing is approximated: no move leads through a wall.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import resources
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np

from apart._errors import UserError, unknown
from apart._lazy import jax, jnp
from apart._types import Array, BoolArray, FloatArray, IntArray, Key
from apart.worlds import words
from apart.worlds.world import About, JaxWorld, ObsSpec, Places, Plane, Spec, TableWorld

KIND: Final = "maze"
SYNTAX: Final = "maze:NAME[:start=random,bins=5]"
_MAX_SIDE: Final = 200
_STARTS: Final[Mapping[str, Callable[[Key], Array]]] = MappingProxyType(
    {  # where in the cell of the start
        "centre": lambda key: jnp.full(2, 0.5, jnp.float32),
        "random": lambda key: jax.random.uniform(key, (2,)),
    }
)


class Maze(NamedTuple):
    """A maze that ships.

    Attributes:
        summary: one line for people.
        drawing: the file that it is drawn in.
        move: the most that a step moves in each direction, in cells.
        horizon: T.
    """

    summary: str
    drawing: str
    move: float
    horizon: int


_UPSIDE: Final = (0.2, 200)
_EDL: Final = (0.95, 50)
MAZES: Final[Mapping[str, Maze]] = MappingProxyType(
    {
        "bottleneck": Maze("four rooms, narrow doors (UPSIDE)", "bottleneck", *_UPSIDE),
        "u": Maze("a U three cells wide (UPSIDE)", "u", *_UPSIDE),
        "square_bottleneck": Maze("the bottleneck with long moves (EDL)", "bottleneck", *_EDL),
        "a": Maze("three halls (EDL)", "a", *_EDL),
        "tree": Maze("a tree of corridors (EDL)", "tree", *_EDL),
        "corridor": Maze("a corridor, start in its middle (EDL)", "corridor", *_EDL),
        "large": Maze("a maze of one-cell corridors (EDL)", "large", *_EDL),
    }
)


class Where(NamedTuple):
    """A state: the point is at ``cell + inside``."""

    cell: Array  # [2] int32: column from the left, row from below
    inside: Array  # [2] in [0, 1]


class Layout(NamedTuple):
    """What a drawing says; [W, H] arrays are by column from the left and row from below."""

    free: BoolArray  # [W, H] cells that one can be in
    ways: BoolArray  # [W, H, 2, 2] whether one can leave a cell along x or y, down or up
    start: tuple[int, int]
    number: IntArray  # [W, H] the place of each cell that can be reached from the start, else -1
    cells: IntArray  # [P, 2] row from above and column of each place
    plane: Plane


def load(text: str, slip: float = 0.0) -> JaxWorld:
    """The maze of ``NAME`` or ``NAME:key=value,...``, the words after ``maze:``."""
    name, options = words.split(KIND, text, {"start": "centre", "bins": 3})
    if name not in MAZES:
        raise unknown("maze", name, MAZES)
    words.certain(KIND, name, slip)
    known = MAZES[name]
    spec = {
        "kind": KIND,
        "name": f"{KIND}:{text.rstrip(':')}",
        "drawing": list(drawing(known.drawing)),
        "move": known.move,
        **options,
    }
    return from_spec(spec, known.horizon)


@cache
def drawing(name: str) -> tuple[str, ...]:
    """The lines of a drawing that ships."""
    file = resources.files("apart.worlds") / "drawings" / f"{name}.txt"
    return tuple(file.read_text("utf-8").splitlines())


def from_spec(spec: Spec, horizon: int) -> JaxWorld:
    """The world whose ``about.spec`` is ``spec``."""
    name, rows, move = spec.get("name"), spec.get("drawing"), spec.get("move")
    start, bins = spec.get("start"), spec.get("bins")
    if not isinstance(name, str) or not isinstance(rows, list | tuple):
        raise UserError("the maze has no name or no drawing")
    if not isinstance(move, int | float) or not 0 < move <= 1:
        raise UserError(f"{name}: a move of {move!r} cells; it must be above 0 and at most 1")
    if not isinstance(start, str) or start not in _STARTS:
        raise UserError(f"{name}: {unknown('start', str(start), _STARTS)}")
    if type(bins) is not int or not 2 <= bins <= 101:
        raise UserError(f"{name}: bins={bins}: give 2 to 101 values in each direction")
    layout = read(rows, name)
    steps = np.linspace(-move, move, bins)
    moves = np.stack(np.meshgrid(steps, steps, indexing="ij"), -1).reshape(-1, 2)
    places = Places(
        len(layout.cells),
        lambda places: layout.cells[places].tolist(),
        noun="bucket",
        plane=layout.plane,
    )
    return JaxWorld(
        about=About(name, spec, horizon, len(moves)),
        places=places,
        obs=ObsSpec((2,), position=True),
        reset=partial(_reset, layout.start, _STARTS[start]),
        step=partial(_step, layout.ways, moves.astype(np.float32)),
        observe=partial(_observe, layout.free.shape),
        place=partial(_place, layout.number),
        position=position,
        cells=_cells(layout, About(name, spec, horizon, 5), places),
    )


def _cells(layout: Layout, about: About, places: Places) -> TableWorld:
    """The buckets as a table: stay, and a step over each side that is no wall."""
    n, height = len(layout.cells), layout.free.shape[1]
    after = np.tile(np.arange(n, dtype=np.int32)[:, None], (1, 5))
    for place, (row, column) in enumerate(layout.cells.tolist()):
        x, y = column, height - 1 - row
        for axis, up in np.argwhere(layout.ways[x, y]).tolist():
            step = 2 * up - 1
            at = (x + step, y) if axis == 0 else (x, y + step)
            after[place, 1 + 2 * axis + up] = layout.number[at]
    start = int(layout.number[layout.start])
    distance = np.full(n, n, np.int32)
    front, steps = np.array([start]), 0
    while len(front):
        distance[front] = steps
        steps += 1
        reached = np.unique(after[front])
        front = reached[distance[reached] > steps]
    next_state = after[:, :, None]
    certain = np.ones(next_state.shape)
    return TableWorld(about, places, next_state, certain, start, distance, layout.cells)


def _reset(start: tuple[int, int], inside: Callable[[Key], Array], key: Key) -> Where:
    return Where(jnp.array(start, jnp.int32), inside(key))


def _step(ways: BoolArray, moves: FloatArray, key: Key, where: Where, action: Array) -> Any:
    return move(ways, where, jnp.asarray(moves)[action]), None


def move(ways: BoolArray, where: Where, delta: Array) -> Where:
    """The state after a move by ``delta`` [2], at most 1 in each direction, among walls.

    Args:
        ways: of the `Layout`.
        where: the state.
        delta: [2] in cells.
    """
    open_, axes = jnp.asarray(ways), jnp.arange(2)
    to = where.inside + delta
    crossed = (to > 1.0).astype(jnp.int32) - (to < 0.0).astype(jnp.int32)
    left = jnp.where(delta > 0.0, 1.0 - where.inside, where.inside)  # to the line ahead
    # The line in x is the nearer one where left_x / |delta_x| <= left_y / |delta_y|.
    y_first = left[0] * jnp.abs(delta[1]) > left[1] * jnp.abs(delta[0])

    def cross(cell: Array, axis: Array) -> Array:
        """The cell behind the line along ``axis``, if there is one to cross and no wall on it."""
        way = crossed[axis]
        passes = open_[cell[0], cell[1], axis, (way > 0).astype(jnp.int32)]
        return cell + jnp.where((axes == axis) & passes, way, 0)

    first = y_first.astype(jnp.int32)
    cell = cross(cross(where.cell, first), 1 - first)
    # Behind the line, at the wall, or where no line was crossed.
    return Where(cell, jnp.clip(to - (cell - where.cell), 0.0, 1.0))


def position(where: Where) -> Array:
    """[2] x and y, in cells from the lower left corner."""
    return where.cell + where.inside


def _observe(shape: tuple[int, int], where: Where) -> Array:
    """Position from -1 to 1 in both directions."""
    return 2.0 * position(where) / jnp.array(shape, jnp.float32) - 1.0


def _place(number: IntArray, where: Where) -> Array:
    return jnp.asarray(number)[where.cell[0], where.cell[1]]


def read(rows: Any, name: str) -> Layout:
    """What the lines of a drawing say; `UserError` in one line when they are none."""
    if not all(isinstance(row, str) for row in rows) or len(rows) < 3 or len(rows) % 2 == 0:
        raise UserError(f"{name}: a drawing has an odd number of lines, at least 3")
    width = max(map(len, rows))
    if width < 3 or width % 2 == 0 or max(width, len(rows)) > 2 * _MAX_SIDE + 1:
        raise UserError(
            f"{name}: lines of {width} characters; a drawing has an odd number, 3 to 401"
        )
    signs = np.array([list(row.ljust(width)) for row in rows])
    lines = signs[::-1].T  # by x and y
    cells = lines[1::2, 1::2]
    for part, allowed in ((cells, " #S"), (lines[::2, 1::2], " |"), (lines[1::2, ::2], " -")):
        strange = [str(sign) for sign in np.unique(part) if sign not in allowed]
        if strange:
            raise UserError(f"{name}: {strange[0]!r} is out of place in the drawing")
    starts = np.argwhere(cells == "S")
    if len(starts) != 1:
        raise UserError(f"{name}: the drawing has {len(starts)} starts; mark one cell with 'S'")
    start = (int(starts[0, 0]), int(starts[0, 1]))
    free = cells != "#"
    ways = _ways(free, lines[::2, 1::2] == "|", lines[1::2, ::2] == "-")
    number, reached = _reached(ways, start)
    return Layout(free, ways, start, number, reached, _plane(free, ways))


def _ways(free: BoolArray, upright: BoolArray, level: BoolArray) -> BoolArray:
    """[W, H, 2, 2] from the walls on the W + 1 upright and on the H + 1 level lines."""
    ways = np.zeros((*free.shape, 2, 2), bool)
    along_x = free[:-1] & free[1:] & ~upright[1:-1]
    along_y = free[:, :-1] & free[:, 1:] & ~level[:, 1:-1]
    ways[:-1, :, 0, 1], ways[1:, :, 0, 0] = along_x, along_x
    ways[:, :-1, 1, 1], ways[:, 1:, 1, 0] = along_y, along_y
    return ways


def _reached(ways: BoolArray, start: tuple[int, int]) -> tuple[IntArray, IntArray]:
    """Numbers of the cells that can be reached, in reading order, and their rows and columns."""
    width, height = ways.shape[:2]
    seen, front = {start}, [start]
    while front:
        x, y = front.pop()
        for axis, up in np.argwhere(ways[x, y]):
            step = 2 * int(up) - 1
            after = (x + step, y) if axis == 0 else (x, y + step)
            if after not in seen:
                seen.add(after)
                front.append(after)
    cells = sorted((height - 1 - y, x) for x, y in seen)
    number = np.full((width, height), -1, np.int32)
    for place, (row, column) in enumerate(cells):
        number[column, height - 1 - row] = place
    return number, np.array(cells, np.int32)


def _plane(free: BoolArray, ways: BoolArray) -> Plane:
    """Walls are the sides of free cells that cannot be crossed."""
    walls = set()
    for x, y in np.argwhere(free).tolist():
        for axis, up in np.argwhere(~ways[x, y]).tolist():
            first = (x + up, y) if axis == 0 else (x, y + up)
            walls.add((first, (first[0] + axis, first[1] + 1 - axis)))
    solid = [(x, y, 1.0, 1.0) for x, y in np.argwhere(~free).tolist()]
    return Plane(
        (0.0, float(free.shape[0]), 0.0, float(free.shape[1])),
        np.array(sorted(walls), np.float64).reshape(-1, 2, 2),
        np.array(solid, np.float64).reshape(-1, 4),
    )


def summaries() -> dict[str, str]:
    """The mazes that ship, as people name them, with a line on each."""
    found = {}
    for name, known in MAZES.items():
        n = len(read(drawing(known.drawing), name).cells)
        found[f"{KIND}:{name}"] = f"{known.summary} ({n} buckets, T = {known.horizon})"
    return found
