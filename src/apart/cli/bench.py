"""``apart bench``."""

from __future__ import annotations

import argparse

from apart._config import number
from apart._errors import UserError
from apart.cli import words
from apart.running.jobs import path

HELP = "measure the speed of this machine"


def add(parser: argparse.ArgumentParser, asked: list[str]) -> None:
    """Add its flags."""
    parser.add_argument("--json", metavar="FILE", help="also write the table as JSON")
    parser.add_argument(
        "--seconds", metavar="N", default="2", help="seconds per measurement (default 2)"
    )
    parser.add_argument(
        "--repeats", metavar="N", default="3", help="measurements per row (default 3)"
    )
    parser.set_defaults(command=run)


def run(parsed: argparse.Namespace) -> int:
    """Measure, print, write."""
    seconds = number("--seconds", parsed.seconds, whole=False)
    if not 0.01 <= seconds <= 3600:
        raise UserError(f"--seconds: {seconds} is outside 0.01 to 3600")
    repeats = words.count("--repeats", parsed.repeats, 1000)
    file = None if parsed.json is None else path("--json", parsed.json)
    if file is not None and (file.is_dir() or not file.parent.is_dir()):
        raise UserError(f"--json: {file} is not a file in an existing folder")
    from apart.running.bench import bench

    return bench(seconds=float(seconds), repeats=repeats, path=file)
