"""``apart draw DIR``."""

from __future__ import annotations

import argparse

from apart.cli import words
from apart.running import loading
from apart.running.jobs import path

HELP = "draw the skills of a run, or of each run of a set"


def add(parser: argparse.ArgumentParser, asked: list[str]) -> None:
    """Add its arguments."""
    parser.add_argument("folder", metavar="DIR", help="folder of a run or of a set of runs")
    parser.add_argument(
        "--frames",
        action="store_true",
        help="draw frames that the world renders, even where there is a map",
    )
    parser.set_defaults(command=run)


def run(parsed: argparse.Namespace) -> int:
    """Draw, and show the map in text."""
    found = loading.shown(path("DIR", parsed.folder))
    for one in found.runs:
        one.check()
    words.unfinished(found)
    words.tell(found, list(words.pictures(found, parsed.frames)))
    return 0
