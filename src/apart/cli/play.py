"""``apart play DIR --skill N``."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from apart._config import number
from apart._errors import UserError
from apart.cli import words
from apart.running import loading
from apart.running.jobs import path
from apart.runs.folder import Run
from apart.runs.skills import Skill
from apart.worlds import renders
from apart.worlds.guards import NoRender
from apart.worlds.world import without_places

HELP = "show an episode of a skill, in the terminal or as a GIF"
_PAUSE = 0.12  # seconds between two steps


def add(parser: argparse.ArgumentParser, asked: list[str]) -> None:
    """Add its arguments."""
    parser.add_argument("folder", metavar="DIR", help="folder of a run")
    parser.add_argument(
        "--skill", metavar="N", required=True, help="number of the skill, counted from 0"
    )
    parser.add_argument("--gif", metavar="FILE", help="write an animation instead")
    parser.add_argument(
        "--frames", action="store_true", help="use frames that the world renders, not its map"
    )
    parser.set_defaults(command=run)


def run(parsed: argparse.Namespace) -> int:
    """Walk, or write the animation."""
    found = loading.shown_run(path("DIR", parsed.folder))
    n = number("--skill", parsed.skill, whole=True, like="0")
    if not 0 <= n < len(found.skills) or n != int(n):
        raise UserError(f"--skill: {parsed.skill} is outside 0 to {len(found.skills) - 1}")
    file = None if parsed.gif is None else _gif(path("--gif", parsed.gif))
    if parsed.frames and file is None:
        raise UserError("--frames is for animations; add --gif FILE")
    skill = found.skills[int(n)]
    from apart.report import axes, walking

    words.unfinished(found)
    show, places = _shown(found, skill, parsed.frames), found.world.places
    if file is not None:
        from apart.runs import files

        files.write_bytes(file, show.gif())
        print(f"{walking.told(skill, places)}: {file}")
        return 0
    print(walking.told(skill, places))
    if seen := walking.seen_last(skill, found.world):
        print(f"its last observation: {seen}")
    if not places.counted:
        shown = "; --gif FILE shows the episode" * renders(found.world)
        print(f"{without_places(found.world)}{shown}")
        return 0
    for line in axes.legend(places):
        print(line)
    if not show.times or not sys.stdout.isatty():
        print(walking.listed(skill))
    else:
        print(walking.SIGNS)
        _walk(show)
    return 0


class _Show(NamedTuple):
    """How a skill is shown."""

    gif: Callable[[], bytes]
    times: list[int] = []  # noqa: RUF012 - steps of which there are frames of text
    frame: Callable[[int], str] = str


def _shown(run: Run, skill: Skill, frames: bool) -> _Show:
    """On its map, on its plane, or as the world renders it."""
    from apart.report import gliding, walking
    from apart.report.figures import has_map, has_plane

    places, path = run.world.places, skill.trajectory
    if not frames and has_map(run):
        return _Show(
            lambda: walking.gif(places.backdrop, path),
            [*range(walking.arrival(path) + 1)],
            lambda time: walking.frame(places.backdrop, path, time),
        )
    plane = places.plane
    if not frames and has_plane(run) and plane is not None:
        return _Show(
            lambda: gliding.gif(plane, skill.positions),
            gliding.times(skill.positions),
            lambda time: gliding.frame(plane, skill.positions, time),
        )
    return _Show(lambda: _rendered(run, skill, frames))


_MOST_FRAMES = 100


def _rendered(run: Run, skill: Skill, frames: bool) -> bytes:
    """An animation of what the world renders of its episode, for want of a map or as asked for."""
    from PIL import Image

    from apart.report import walking
    from apart.report.figures import undrawable
    from apart.skills.frames import film  # starts JAX

    last = walking.length(skill, run.world.places)
    apart = -(-last // _MOST_FRAMES)
    times = sorted({*range(apart, last, apart), last})
    try:
        shown = film(run, [skill.index], times)
    except NoRender:
        why = f"{run.world.name} has no render()" if frames else undrawable(run)
        raise UserError(f"--gif: {why}") from None
    except UserError as error:
        raise UserError(f"--gif: {error}") from None
    return walking.animation([Image.fromarray(f) for f in (shown.start, *shown.frames[0])])


def _walk(show: _Show) -> None:
    """Frame after frame in the terminal; the last one alone where it is too low for them."""
    tall = show.frame(0).count("\n") + 1
    fits = tall < shutil.get_terminal_size().lines
    for nth, time_ in enumerate(show.times if fits else show.times[-1:]):
        if nth:
            time.sleep(_PAUSE)
            print(f"\x1b[{tall}A", end="")  # back to the first line
        for line in show.frame(time_).split("\n"):
            print(f"\x1b[2K{line}")


def _gif(file: Path) -> Path:
    if file.suffix.lower() != ".gif":
        raise UserError(f"--gif: {file} does not end in .gif")
    if file.is_dir() or not file.parent.is_dir():
        raise UserError(f"--gif: {file} is not a file in an existing folder")
    return file
