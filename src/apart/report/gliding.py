"""A skill moving on a plane among walls: frames of text for a terminal, frames of pixels for a GIF.

What `walking` is for maps. Long episodes are shown in fewer steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from apart.report import maps, walking
from apart.worlds.world import Plane

Points = Sequence[tuple[float, float]]  # (x, y) at every step, y upwards
_LETTERS: Final = 40  # across the plane; one is as tall as two are wide
_PIXELS, _EDGE = 480, 12  # of the longer side, and around it
_MOST: Final = 80  # frames
_WALL: Final = "#444444"


def times(points: Points) -> list[int]:
    """The steps that are shown: from the start until it moves no more."""
    last = walking.arrival(points)
    return sorted({*range(0, last, max(math.ceil(last / _MOST), 1)), last})


def frame(plane: Plane, points: Points, time: int) -> str:
    """The plane after ``time`` steps: ``@`` the agent, ``o`` where it was, ``S`` its start."""
    low, high, bottom, top = plane.extent
    scale = _LETTERS / (high - low)
    tall = max(round((top - bottom) * scale / 2), 1)
    rows = [["\u00b7" if c % 2 == 0 else " " for c in range(_LETTERS)] for _ in range(tall)]

    def put(x: float, y: float, sign: str) -> None:
        row, column = int((top - y) * scale / 2), int((x - low) * scale)
        rows[min(max(row, 0), tall - 1)][min(max(column, 0), _LETTERS - 1)] = sign

    for x, y in _middles(plane, scale, tall):
        if _solid(plane, x, y):
            put(x, y, "\u2588")
    for x, y in _along_walls(plane):
        put(x, y, "\u2588")
    for x, y in points[: time + 1]:
        put(x, y, "o")
    put(*points[0], "S")
    put(*points[time], "@")
    return "\n".join("".join(row).rstrip() for row in rows)


def _middles(plane: Plane, scale: float, tall: int) -> list[tuple[float, float]]:
    """The middle of every letter."""
    low, _, _, top = plane.extent
    return [
        (low + (c + 0.5) / scale, top - 2 * (r + 0.5) / scale)
        for r in range(tall)
        for c in range(_LETTERS)
    ]


def _along_walls(plane: Plane) -> list[tuple[float, float]]:
    """Points on the walls between two places where one can be: the others are seen as they are."""
    low, high, bottom, top = plane.extent
    found: list[tuple[float, float]] = []
    for start, end in plane.walls:
        middle, along = (start + end) / 2, end - start
        aside = 0.1 * np.array([-along[1], along[0]])
        sides = [middle + aside, middle - aside]
        free = all(
            low < x < high and bottom < y < top and not _solid(plane, x, y) for x, y in sides
        )
        if free:
            found += [tuple(start + share * along) for share in np.linspace(0.02, 0.98, _LETTERS)]
    return found


def _solid(plane: Plane, x: float, y: float) -> bool:
    return any(
        left <= x <= left + wide and low <= y <= low + tall
        for left, low, wide, tall in plane.solid.tolist()
    )


def gif(plane: Plane, points: Points) -> bytes:
    """The way as an animation that repeats; it pauses at the end."""
    return walking.animation([picture(plane, points, time) for time in times(points)])


def picture(plane: Plane, points: Points, time: int) -> Any:
    """The plane after ``time`` steps."""
    from PIL import Image, ImageDraw

    low, high, bottom, top = plane.extent
    scale = _PIXELS / max(high - low, top - bottom)

    def at(x: float, y: float) -> tuple[float, float]:
        return _EDGE + scale * (x - low), _EDGE + scale * (top - y)

    size = [math.ceil(scale * side) + 2 * _EDGE for side in (high - low, top - bottom)]
    made = Image.new("RGB", size, maps.FLOOR)
    draw = ImageDraw.Draw(made)
    for x, y, wide, tall in plane.solid.tolist():
        draw.rectangle((*at(x, y + tall), *at(x + wide, y)), maps.WALL)
    for start, end in plane.walls.tolist():
        draw.line((at(*start), at(*end)), _WALL, 4)
    passed = [at(*point) for point in points[: time + 1]]
    if time:
        draw.line(passed, maps.PATH, 4, joint="curve")
    walking.disc(draw, passed[0], _PIXELS / 80, maps.START)
    walking.disc(draw, passed[-1], _PIXELS / 50, maps.END)
    return made
