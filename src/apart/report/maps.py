"""Pictures of grid worlds: the map, a number per state on it, skills as tiles of small maps."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from apart._types import BoolArray, FloatArray, IntArray
from apart.report.draw import GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WALL, FLOOR = "#8c8c8c", "#f2f0ea"
PATH, START, END = "#0072b2", "#000000", "#d55e00"
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
    tall, wide = height + head, width + max(1, round(0.06 * width))
    rows = -(-len(paths) // across)
    ground = np.full((rows * tall, across * wide), np.nan)
    shades, shown, worth = [], [], []
    for place, (number, again) in enumerate(by_last_state(paths, earned is not None)):
        top, left = tall * (place // across) + head, wide * (place % across)
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
