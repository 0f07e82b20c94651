"""``apart report DIR...``."""

from __future__ import annotations

import argparse

from apart.cli import words
from apart.running import loading
from apart.running.jobs import path
from apart.running.progress import several
from apart.runs import folder as run_folder

HELP = "write an HTML page to explore the skills of one or more runs"


def add(parser: argparse.ArgumentParser, asked: list[str]) -> None:
    """Add its arguments."""
    parser.add_argument(
        "folders", metavar="DIR", nargs="+", help="folders of runs or of sets of runs"
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help=f"file of the page (default: {run_folder.REPORT} in DIR, or beside several DIR)",
    )
    parser.set_defaults(command=run)


def run(parsed: argparse.Namespace) -> int:
    """Write the page, and say where it is."""
    found = [loading.shown(path("DIR", folder)) for folder in parsed.folders]
    from apart.report import page

    file, n_runs = page.write(found, words.out(parsed))
    for one in found:
        words.unfinished(one)
    size = file.stat().st_size / 1e6
    print(f"{several(n_runs, 'run')}: open {file} in a browser ({size:.1f} MB, needs no network)")
    return 0
