"""Pictures of a run, from its folder alone."""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from apart._errors import UserError
from apart.report import axes, draw, maps, planes, sheets, strips
from apart.runs import files
from apart.runs import folder as run_folder
from apart.worlds import short_name
from apart.worlds.guards import NoRender
from apart.worlds.holding import held
from apart.worlds.world import HostWorld, TableWorld

_LEAST_WIDTH, _ABOVE, _BELOW, _MARGIN, _HEAD = 7.0, 0.5, 0.42, 0.15, 0.13  # inches
_BESIDE, _UNDER, _NOTE = 0.55, 0.45, 0.25  # inches for what axes mean, and for a line of text
_LEAST_BIN = 0.05  # inches of a bin whose edges are drawn
_MOST_FLOOR = 200  # rows and columns of a map that is made up from cells
_SHAPE = 1.5  # width to height of all tiles together


class NoPicture(UserError):
    """There is nothing on which the skills of a run could be drawn."""


class Picture(NamedTuple):
    """A figure, and the handles of its legend."""

    figure: draw.Figure
    handles: list[Any]


def skills_picture(run: run_folder.Run, frames: bool = False) -> Path:
    """Draw every skill on its own small map, sorted by last state; returns the PNG's path.

    Skills carry their number; faint ones end in a state that an earlier one already has. Few skills
    get large tiles, many small ones; cells are square, whatever the shape of the map. In worlds
    with a plane all skills are lines on one. In worlds without either, or if ``frames`` are asked
    for, the skills are played again and drawn as the world renders them; where it renders nothing,
    on a bare floor if places are cells. Where frames are drawn, or the world is seen in images,
    small frames are kept for pages (`strips`).

    Raises:
        NoPicture: there is no way to draw them.
    """
    if not frames and (has_plane(run) or has_map(run)):
        if strips.seen_in_images(run):
            with contextlib.suppress(UserError):  # a page has its places all the same
                strips.film_all(run)
        return _written(run, _of_places(run))
    try:
        return _written(run, _of_frames(run))
    except NoRender:
        drawable = has_map(run) or has_plane(run)
        floor = None if frames or drawable else _floor(run)
        if floor is not None:
            return _written(run, _of_map(run, floor))
        why = f"{run.world.name} has no render()" if drawable else undrawable(run)
        raise NoPicture(f"{run.path}: {why}") from None


def undrawable(run: run_folder.Run) -> str:
    """Why the skills of ``run`` cannot be drawn, and what would help."""
    world = run.world
    if isinstance(world, TableWorld):
        return f"{world.name} has no map; give its states cells (cell() of the environment)"
    cure = "; add cell() or render()" if isinstance(world, HostWorld) else ""
    return f"{world.name} has no map and no render() (render_mode 'rgb_array'){cure}"


def _of_places(run: run_folder.Run) -> Picture:
    return _of_plane(run) if has_plane(run) else _of_map(run, run.world.places.backdrop)


def _floor(run: run_folder.Run) -> tuple[str, ...] | None:
    """A map without walls that holds all cells which skills visit; None if places are no cells."""
    visited = {place for skill in run.skills for place in skill.trajectory}
    if not run.world.places.counted or not all(
        isinstance(at, tuple) and len(at) == 2 and 0 <= min(at) <= max(at) < _MOST_FLOOR
        for at in visited
    ):
        return None
    height, width = (int(max(at[side] for at in visited)) + 1 for side in (0, 1))
    return tuple("." * width for _ in range(height))


def _of_map(run: run_folder.Run, rows: Sequence[str]) -> Picture:
    """Every skill on its own small map."""
    n, height, width = len(run.skills), len(rows), len(rows[0])
    cell = math.sqrt(min(max(100 / n, 0.35), 5.0) / (height * width))  # inches
    head = math.ceil(_HEAD / cell)
    across = math.ceil(math.sqrt(n * _SHAPE * (height + head) / (width + 1)))
    across = min(max(across, 1), n)
    down = math.ceil(n / across)
    across = math.ceil(n / down)  # as few as make as many rows: the last one is fuller
    bins = axes.rows_and_columns(run.world.places)
    beside, under = (_BESIDE, _UNDER) if bins else (0.0, 0.0)
    note = run.world.places.note
    below = _BELOW + under + (_NOTE if note else 0.0)
    wide = 2 * _MARGIN + beside + 1.06 * across * width * cell
    tall = _ABOVE + below + down * (height + head) * cell
    page = (max(wide, _LEAST_WIDTH), tall)
    figure, (axis,) = draw.figure(size=page)
    figure.set_layout_engine("none")
    edge, room = _MARGIN / page[0], 1 - (2 * _MARGIN + beside) / page[0]
    axis.set_position((edge + beside / page[0], below / tall, room, 1 - (_ABOVE + below) / tall))
    paths = [skill.trajectory for skill in run.skills]
    points = min(max(0.6 * 72 * cell, 4.0), 9.0)
    font = min(points + 3, 9.0)
    task = run.summary.get("task")  # runs of earlier versions lack it
    told = f"{n} skills, sorted by last state"
    if task is not None:
        told += f"; {task['mean']:.1f} of {task['best']:g} points on average"
    maps.tiles(
        *(axis, rows, paths, across),
        head=head,
        points=points,
        font=font,
        goals=_points(run),
        earned=None if task is None else task["returns"],
    )
    if bins is not None:
        maps.scales(axis, *bins, n=n, across=across, head=head, net=cell > _LEAST_BIN)
    if note:
        figure.text(edge, _BELOW / tall, note, fontsize=9, va="bottom")
    _head(figure, run, edge, tall, told)
    return Picture(figure, maps.legend(task is not None))


_PLANE_INCHES = 7.0


def _of_plane(run: run_folder.Run) -> Picture:
    """Every skill as a line over the walls."""
    plane = run.world.places.plane
    assert plane is not None
    low, high, bottom, top = plane.extent
    scale = _PLANE_INCHES / max(high - low, top - bottom)
    page = (
        max((high - low) * scale + 2 * _MARGIN, _LEAST_WIDTH),
        (top - bottom) * scale + _ABOVE + _BELOW,
    )
    figure, (axis,) = draw.figure(size=page)
    figure.set_layout_engine("none")
    edge = _MARGIN / page[0]
    axis.set_position((edge, _BELOW / page[1], 1 - 2 * edge, 1 - (_ABOVE + _BELOW) / page[1]))
    visited = {place for skill in run.skills for place in skill.trajectory}
    planes.lines(
        axis,
        plane,
        [skill.positions for skill in run.skills],
        [skill.last_state for skill in run.skills],
    )
    n, noun = len(run.skills), run.world.places.noun
    _head(figure, run, edge, page[1], f"{n} skills visit {len(visited)} {noun}s")
    return Picture(figure, planes.legend(noun))


def _of_frames(run: run_folder.Run) -> Picture:
    """Every skill as the world renders it, played again from its evaluation's start."""
    order = _by_place(run)[: sheets.MOST]
    times = sheets.times(len(order), int(run.config["horizon"]))
    try:
        shown = strips.filmed(run, [skill for skill, _ in order], times)
    except NoRender:
        raise
    except UserError as error:
        raise NoPicture(f"{run.path}: {error}") from None
    noun = run.world.places.noun if run.world.places.counted else None
    tiles = [sheets.Tile("all start here", [shown.start])]
    for (skill, again), frames, last in zip(order, shown.frames, shown.last, strict=True):
        tiles.append(sheets.Tile(_ends(skill, noun, last), frames, again))
    tall, wide = shown.start.shape[:2]
    where = sheets.layout(len(tiles), len(times), wide / tall)
    page = (
        max(where.size[0] + 2 * _MARGIN, _LEAST_WIDTH),
        where.size[1] + _ABOVE + _MARGIN,
    )
    figure, (axis,) = draw.figure(size=page)
    figure.set_layout_engine("none")
    edge = _MARGIN / page[0]
    axis.set_position((edge, _MARGIN / page[1], where.size[0] / page[0], where.size[1] / page[1]))
    sheets.sheet(axis, tiles, where)
    _head(figure, run, edge, page[1], _told(run, order, times, shown.last))
    return Picture(figure, [])


def _by_place(run: run_folder.Run) -> list[tuple[int, bool]]:
    """Skills by last place, and whether an earlier one ends there; by number without places."""
    if not run.world.places.counted:
        return [(skill.index, False) for skill in run.skills]
    return maps.by_last_state([skill.trajectory for skill in run.skills])


def _ends(skill: int, noun: str | None, last: Any) -> str:
    """What is said above a skill."""
    if noun is None:
        return f"skill {skill}"
    place = ", ".join(map(str, last)) if isinstance(last, tuple) else str(last)
    return f"skill {skill}: {noun} {place}"


def _told(
    run: run_folder.Run, order: list[tuple[int, bool]], times: list[int], last: list[Any]
) -> str:
    """What the frames are, and where they differ from what is stored."""
    n, number = len(run.skills), len(order)
    several = f"{', '.join(map(str, times[:-1]))} and {times[-1]}"
    when = several if len(times) > 1 else str(times[-1])
    words = f"{n} skills" if number == n else f"the first {number} of {n} skills"
    moved = sum(run.skills[k].last_state != at for (k, _), at in zip(order, last, strict=True))
    differ = f"; {moved} end elsewhere than in the last evaluation" * (moved > 0)
    faint = "; faint: an earlier skill ends there too" * any(again for _, again in order)
    return f"{words} after {when} steps, or where they ended{faint}{differ}"


def _head(figure: draw.Figure, run: run_folder.Run, edge: float, tall: float, words: str) -> None:
    """What the picture shows, in two lines; ``tall`` inches, ``edge`` a share of the width."""
    s = run.summary
    found = run_folder.found(run.n_effective, run.n_available, len(run.skills))
    counted = f"{found} last states " if run.world.places.counted else ""
    world = short_name(s["world"], run.spec)
    unfinished = "" if run.finished else f" · {run.progress}"
    for text, at, size in (
        (f"{world} · {s['method']} · seed {s['seed']}{unfinished}", 0.08, 11.0),
        (f"{counted}after {s['env_steps']:,} steps; {words}", 0.30, 9.0),
    ):
        figure.text(edge, 1 - at / tall, text, fontsize=size, va="top")


def _written(run: run_folder.Run, picture: Picture) -> Path:
    """The picture in the run's folder."""
    path = run.path / run_folder.PICTURE
    files.write_bytes(path, _png(picture))
    return path


def _png(picture: Picture) -> bytes:
    """The figure with its legend."""
    if picture.handles:
        picture.figure.legend(
            handles=picture.handles,
            loc="lower left",
            ncols=len(picture.handles),
            frameon=False,
            fontsize=9,
        )
    return files.picture_bytes(picture.figure, "png")


def picture_of(run: run_folder.Run) -> bytes | None:
    """The PNG of `skills_picture`, drawn anew from what is stored; nothing is written.

    Where that takes frames it is the picture in the folder; None if there is none.
    """
    if has_plane(run) or has_map(run):
        return _png(_of_places(run))
    path = run.path / run_folder.PICTURE
    return files.read_bytes(path, _MOST_PICTURE) if path.exists() else None


_MOST_PICTURE = 50_000_000


def legend(run: run_folder.Run) -> str:
    """What the signs of `terminal_map` mean."""
    signs = ["· none", "+ ten or more", "S start"]
    if _within_reach(run) is not None:
        signs.append("x out of reach")
    if _points(run):
        signs.append("* worth points")
    return ", ".join(signs)


def _points(run: run_folder.Run) -> set[tuple[int, int]]:
    """The cells that are worth points of a task."""
    world = run.world
    if not isinstance(world, TableWorld) or world.task is None:
        return set()
    return {world.cell(int(state)) for state in np.flatnonzero(world.task)}


def _starts(run: run_folder.Run) -> set[tuple[int, int]]:
    """The cells in which episodes start: all of a table, that of the evaluation elsewhere."""
    world = run.world
    cells = {skill.trajectory[0][:2] for skill in run.skills}
    if isinstance(world, TableWorld):
        cells |= {world.cell(state) for state in world.starts}
    return cells


def has_map(run: run_folder.Run) -> bool:
    """Whether places are cells of a map that skills can be drawn on."""
    cells = [skill.last_state for skill in run.skills]
    pairs = all(isinstance(cell, tuple) and len(cell) >= 2 for cell in cells)
    return bool(run.world.places.backdrop) and pairs


def has_plane(run: run_folder.Run) -> bool:
    """Whether skills have positions on a plane that they can be drawn on."""
    return run.world.places.plane is not None and all(skill.positions for skill in run.skills)


def terminal_map(run: run_folder.Run) -> str:
    """The map in text: how many skills end in each cell; `legend` says what the signs mean.

    Below it what rows and columns are, where they are bins.
    """
    ends, reach = Counter(skill.last_state[:2] for skill in run.skills), _within_reach(run)
    points, starts = _points(run), _starts(run)

    def sign(r: int, c: int, wall: bool) -> str:
        if wall:
            return "██"
        shown = _digit(ends[r, c]) if reach is None or (r, c) in reach else "x"
        if (r, c) in starts:
            return f"{shown}S" if ends[r, c] else "S "
        return f"{shown}{'*' if (r, c) in points else ' '}"

    solid = maps.walls(run.world.places.backdrop)
    lines = [
        "".join(sign(r, c, wall) for c, wall in enumerate(row)).rstrip()
        for r, row in enumerate(solid)
    ]
    return "\n".join(lines + axes.legend(run.world.places))


def _within_reach(run: run_folder.Run) -> set[tuple[int, int]] | None:
    """The cells in which an episode can end; None where nobody knows."""
    world = run.world
    if not isinstance(world, TableWorld):
        return None
    hold = int(run.config.get("hold", 1))  # runs made before it was an option lack it
    near = world.cells[held(world, hold).last_states(int(run.config["horizon"]) // hold)]
    return {(int(r), int(c)) for r, c in near}


def _digit(count: int) -> str:
    if count == 0:
        return "·"
    return str(count) if count < 10 else "+"
