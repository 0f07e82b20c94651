"""Pictures of worlds whose states are positions: every skill a line over the walls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from apart.report.maps import FAINT, FLOOR, START, WALL
from apart.worlds.world import Plane

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Line = Sequence[tuple[float, float]]
_EDGE, _LINE = 0.01, "#444444"  # room around the plane, in its larger side; colour of walls
_LIGHTEST = 0.58  # of a line, so that it stands out from the floor


def lines(axis: Axes, plane: Plane, paths: Sequence[Line], ends: Sequence[Any]) -> None:
    """All ``paths`` over the walls; faint where an earlier one ends in the same place.

    Colours follow the direction of the end from the middle of the plane, so that skills that end
    side by side look alike, whatever their numbers.

    Args:
        axis: where; becomes bare, with equal scales.
        plane: extent and walls.
        paths: positions of each skill's episode.
        ends: the place in which each ends.
    """
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection, PatchCollection
    from matplotlib.patches import Rectangle

    low, high, bottom, top = plane.extent
    room = _EDGE * max(high - low, top - bottom)
    axis.add_patch(Rectangle((low, bottom), high - low, top - bottom, color=FLOOR, linewidth=0))
    solid = [Rectangle((x, y), w, h) for x, y, w, h in plane.solid.tolist()]
    axis.add_collection(PatchCollection(solid, color=WALL, linewidths=0.3))
    last = np.array([path[-1] for path in paths])
    middle = np.array([low + high, bottom + top]) / 2
    angle = np.arctan2(last[:, 1] - middle[1], last[:, 0] - middle[0])
    colours = colormaps["twilight_shifted"](0.12 + 0.76 * (angle / (2 * np.pi) + 0.5))
    light = colours[:, :3] @ np.array([0.299, 0.587, 0.114])
    colours[:, :3] *= np.minimum(1.0, _LIGHTEST / light)[:, None]
    colours[:, 3] = [FAINT if end in ends[:k] else 0.9 for k, end in enumerate(ends)]
    axis.add_collection(LineCollection([np.array(p) for p in paths], colors=colours, linewidths=1))
    axis.add_collection(LineCollection(list(plane.walls), colors=_LINE, linewidths=2.5, zorder=3))
    mark: Any = {"marker": "s", "edgecolors": "white", "linewidths": 0.6, "zorder": 4}
    axis.scatter(last[:, 0], last[:, 1], s=36, c=colours, **mark)
    first = np.unique(np.array([path[0] for path in paths]), axis=0)
    axis.scatter(first[:, 0], first[:, 1], s=40, c=START, zorder=5)
    axis.set_xlim(low - room, high + room)
    axis.set_ylim(bottom - room, top + room)
    axis.set_aspect("equal")
    axis.set_axis_off()


def legend(noun: str) -> list[Any]:
    """What the marks of `lines` mean: handles for a legend."""
    from matplotlib.lines import Line2D

    mark: Any = {"linestyle": "", "markeredgewidth": 0}
    return [
        Line2D([], [], color=START, marker="o", markersize=5, label="start", **mark),
        Line2D([], [], color=_LINE, marker="s", markersize=6, label="last position", **mark),
        Line2D(
            [],
            [],
            color=_LINE,
            alpha=FAINT,
            label=f"faint: same {noun} as an earlier skill",
        ),
    ]
