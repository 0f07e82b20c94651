"""``apart play DIR --skill N``."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path

from apart._config import number
from apart._errors import UserError
from apart.running.jobs import path
from apart.runs import folder as run_folder

HELP = "show a skill of a run walking, in the terminal or as a GIF"
_PAUSE = 0.12  # seconds between two steps


def add(parser: argparse.ArgumentParser, asked: list[str]) -> None:
    """Its arguments."""
    parser.add_argument("folder", metavar="DIR", help="the folder of a run")
    parser.add_argument("--skill", metavar="N", required=True, help="its number, from 0 on")
    parser.add_argument("--gif", metavar="FILE", help="write it as an animation instead")
    parser.set_defaults(command=run)


def run(parsed: argparse.Namespace) -> int:
    """Walk, or write the animation."""
    found = run_folder.load(path("DIR", parsed.folder))
    n = number("--skill", parsed.skill, whole=True)
    if not 0 <= n < len(found.skills) or n != int(n):
        raise UserError(f"--skill: {parsed.skill} is outside 0 to {len(found.skills) - 1}")
    file = None if parsed.gif is None else _gif(path("--gif", parsed.gif))
    skill = found.skills[int(n)]
    from apart.report import walking
    from apart.report.figures import has_map
    from apart.runs import files

    backdrop = found.world.places.backdrop if has_map(found) else ()
    if file is not None:
        if not backdrop:
            raise UserError(f"--gif: {found.world.name} has no map to walk on")
        files.write_bytes(file, walking.gif(backdrop, skill.trajectory))
        print(f"{walking.told(skill)}: {file}")
        return 0
    print(walking.told(skill))
    if not backdrop or not sys.stdout.isatty():
        print(walking.listed(skill))
        return 0
    last = walking.arrival(skill.trajectory)
    fits = len(backdrop) < shutil.get_terminal_size().lines
    for step in range(0 if fits else last, last + 1):
        if step and fits:
            time.sleep(_PAUSE)
            print(f"\x1b[{len(backdrop)}A", end="")  # back to the first line of the map
        for line in walking.frame(backdrop, skill.trajectory, step).split("\n"):
            print(f"\x1b[2K{line}")
    return 0


def _gif(file: Path) -> Path:
    if file.suffix.lower() != ".gif":
        raise UserError(f"--gif: {file} does not end in .gif")
    if file.is_dir() or not file.parent.is_dir():
        raise UserError(f"--gif: {file} is no file in a folder that exists")
    return file
