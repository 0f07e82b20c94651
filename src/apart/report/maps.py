"""Pictures of grid worlds: the map, a number per state on it, skills as tiles of small maps."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from apart._types import BoolArray, FloatArray, IntArray
from apart.report import axes
from apart.report.draw import GREY
from apart.worlds.world import Axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WALL, FLOOR = "#8c8c8c", "#f2f0ea"
PATH, START, END = "#0072b2", "#000000", "#d55e00"
_NET: Final = "#dcd8cc"  # edges of bins
FAINT: Final = 0.3  # opacity of a skill that ends where an earlier one does
Path = Sequence[tuple[int, ...]]  # row and column of a cell; then, where states share it, which


def walls(rows: Sequence[str]) -> BoolArray:
    """[rows, columns] where a map has walls."""
    return np.array([[char == "#" for char in row] for row in rows])


def values(axis: Axes, rows: Sequence[str], cells: IntArray, numbers: FloatArray, norm: Any) -> Any:
    """The map, and on its ``cells`` [S, 2] the ``numbers`` [S] that are not 0, as colours."""
    solid = walls(rows)
    picture = np.full(solid.shape, np.nan)
    picture[tuple(cells.T)] = np.where(numbers > 0, numbers, np.nan)
    axis.imshow(solid, cmap="Greys", vmin=0, vmax=1.6)
    image = axis.imshow(picture, cmap="viridis_r", norm=norm)
    axis.grid(visible=False)
    axis.set_xticks([])
    axis.set_yticks([])
    axis.spines[:].set(visible=True, color=GREY, linewidth=0.5)
    return image


def by_last_state(paths: Sequence[Path], ways: bool = False) -> list[tuple[int, bool]]:
    """Numbers of the paths sorted by last state, and whether an earlier one ends there too.

    With ``ways`` whether an earlier one goes all the same way, and sorted by these.
    """
    keys = [(path[-1], tuple(path) if ways else ()) for path in paths]
    order = sorted(range(len(paths)), key=lambda k: (keys[k], k))
    before = [None, *(keys[k] for k in order)]
    return [(k, keys[k] == last) for k, last in zip(order, before, strict=False)]


def tiles(
    axis: Axes,
    backdrop: Sequence[str],
    paths: Sequence[Path],
    across: int,
    *,
    head: int = 2,
    points: float = 2.5,
    font: float = 5.0,
    colour: str = PATH,
    end: str = END,
    goals: Collection[tuple[int, int]] = (),
    earned: Sequence[float] | None = None,
) -> None:
    """Every path on a small map of its own with its number above it, sorted by last state.

    One image and three collections of marks, whatever the number of paths: a hundred axes would
    take seconds.

    Args:
        axis: where; becomes bare, with cells as squares.
        backdrop: the lines of the map.
        paths: cells of every skill's episode.
        across: tiles in a row.
        head: room above a tile, in cells.
        points: size of the mark on a last cell; lines follow it.
        font: size of the numbers.
        colour: of lines.
        end: colour of last cells.
        goals: cells that are worth points of a task.
        earned: points of every path; then paths that go the same way as an earlier one are faint.
    """
    from matplotlib.collections import LineCollection
    from matplotlib.colors import LinearSegmentedColormap, to_rgba

    solid = walls(backdrop)
    height, width = solid.shape
    tall, wide = height + head, width + _gap(width)
    rows = -(-len(paths) // across)
    corners = _corners(len(paths), across, (height, width), head)
    ground = np.full((rows * tall, across * wide), np.nan)
    shades, shown, worth = [], [], []
    for place, (number, again) in enumerate(by_last_state(paths, earned is not None)):
        top, left = corners[place]
        shades.append(FAINT if again else 1.0)
        ground[top : top + height, left : left + width] = shades[-1] * solid
        shown.append(np.array([(left + cell[1], top + cell[0]) for cell in paths[number]]))
        worth += [(left + column, top + row) for row, column in goals]
        told = f"{number}" if earned is None else f"{number}: {earned[number]:g} points"
        axis.text(left - 0.5, top - 0.7, told, fontsize=font, color=GREY, va="bottom")
    shade = LinearSegmentedColormap.from_list("ground", [FLOOR, WALL])
    axis.imshow(ground, cmap=shade, vmin=0, vmax=1, interpolation="nearest", zorder=0)
    axis.add_collection(
        LineCollection(shown, colors=[to_rgba(colour, s) for s in shades], linewidths=0.4 * points)
    )
    for at, mark, tint, size in ((-1, "s", end, 1.0), (0, "o", START, 0.6)):
        x, y = np.array([path[at] for path in shown]).T
        axis.scatter(
            x,
            y,
            s=(size * points) ** 2,
            marker=mark,
            c=[to_rgba(tint, s) for s in shades],
            linewidths=0,
            zorder=3,
        )
    if worth:
        x, y = np.array(worth).T
        axis.scatter(x, y, s=(1.8 * points) ** 2, zorder=2, **_GOAL)
    axis.set_axis_off()


def _gap(width: int) -> int:
    """Columns between two tiles."""
    return max(1, round(0.06 * width))


def _corners(n: int, across: int, shape: tuple[int, int], head: int) -> list[tuple[int, int]]:
    """The upper left cell of each tile: row and column."""
    tall, wide = shape[0] + head, shape[1] + _gap(shape[1])
    return [(tall * (nth // across) + head, wide * (nth % across)) for nth in range(n)]


def scales(
    axis: Axes, rows: Axis, columns: Axis, n: int, across: int, head: int, net: bool = True
) -> None:
    """Edges of bins on the ``n`` tiles that `tiles` drew, and what their rows and columns mean.

    Args:
        axis: as in `tiles`.
        rows: the quantity whose bins are rows.
        columns: that of the columns.
        n: number of tiles.
        across: as in `tiles`.
        head: as in `tiles`.
        net: draw the edges of all bins, not only numbers at the border.
    """
    from matplotlib.collections import LineCollection

    tall, wide = rows.bins, columns.bins
    corners = [(top - 0.5, left - 0.5) for top, left in _corners(n, across, (tall, wide), head)]
    if net:
        level = [
            [(left, top + r), (left + wide, top + r)]
            for top, left in corners
            for r in range(tall + 1)
        ]
        upright = [
            [(left + c, top), (left + c, top + tall)]
            for top, left in corners
            for c in range(wide + 1)
        ]
        axis.add_collection(
            LineCollection(level + upright, colors=_NET, linewidths=0.5, zorder=0.5)
        )
    small: Any = {"fontsize": 7, "color": GREY, "clip_on": False}
    for top, left in corners[::across]:
        for at, value, side in ((top, rows.low, "top"), (top + tall, rows.high, "bottom")):
            _at(axis, axes.number(value), (left, at), (-3, 0), ha="right", va=side, **small)
    lowest = corners[-across:]  # of each column
    for top, left in lowest:
        low, high = axes.number(columns.low), axes.number(columns.high)
        _at(axis, low, (left, top + tall), (0, -3), ha="left", va="top", **small)
        _at(axis, high, (left + wide, top + tall), (0, -3), ha="right", va="top", **small)
    middle = (corners[0][0] + corners[-1][0] + tall) / 2
    style: Any = {**small, "fontsize": 9}
    name, offset = axes.title(rows), (-30, 0)
    _at(axis, name, (-0.5, middle), offset, ha="right", va="center", rotation=90, **style)
    centre = (corners[min(across, n) - 1][1] + wide - 0.5) / 2
    place = (centre, corners[-1][0] + tall)
    _at(axis, axes.title(columns), place, (0, -14), ha="center", va="top", **style)


def _at(
    axis: Axes, text: str, place: tuple[float, float], offset: tuple[float, float], **style: Any
) -> None:
    """A text at ``place``, shifted by ``offset`` points."""
    clip = style.pop("clip_on")
    axis.annotate(
        text, place, xytext=offset, textcoords="offset points", annotation_clip=clip, **style
    )


_GOAL: Final[Any] = {"marker": "D", "facecolors": "#f0e442", "edgecolors": GREY, "linewidths": 0.5}


def legend(task: bool = False) -> list[Any]:
    """What the marks of `tiles` mean, in its own colours: handles for a legend."""
    from matplotlib.lines import Line2D

    mark: Any = {"linestyle": "", "markeredgewidth": 0}
    same = "goes the same way" if task else "ends there too"
    handles = [
        Line2D([], [], color=START, marker="o", markersize=4, label="start", **mark),
        Line2D([], [], color=END, marker="s", markersize=7, label="last state", **mark),
        Line2D([], [], color=PATH, alpha=FAINT, label=f"faint: an earlier skill {same}"),
    ]
    goal = {"marker": "D", "markersize": 7, "color": _GOAL["facecolors"], "markeredgecolor": GREY}
    return [*handles, Line2D([], [], linestyle="", label="worth points", **goal)][: 3 + task]
