"""``apart report DIR...``."""

from __future__ import annotations

import argparse

from apart._errors import UserError
from apart.cli import words
from apart.running.jobs import path
from apart.running.progress import several
from apart.runs import folder as run_folder
from apart.runs.folder import Run

HELP = "write a page to explore the skills of runs in a browser"
_ENDINGS = (".html", ".htm")


def add(parser: argparse.ArgumentParser, asked: list[str]) -> None:
    """Its arguments."""
    parser.add_argument(
        "folders", metavar="DIR", nargs="+", help="folders of runs or of sets of runs, to compare"
    )
    parser.add_argument(
        "--out", metavar="FILE", help=f"the page (default: {run_folder.REPORT} in the first DIR)"
    )
    parser.set_defaults(command=run)


def run(parsed: argparse.Namespace) -> int:
    """Write the page, and say where it is."""
    folders = [path("DIR", folder) for folder in parsed.folders]
    found: dict[object, Run] = {}
    for folder in folders:
        one = run_folder.load_set(folder) if run_folder.is_set(folder) else run_folder.load(folder)
        for single in words.runs_of(one):
            found.setdefault(single.path.resolve(), single)
    file = words.out(parsed) or folders[0] / run_folder.REPORT
    if file.suffix.lower() not in _ENDINGS:
        raise UserError(f"--out: {file} does not end in {' or '.join(_ENDINGS)}")
    if file.is_dir() or not file.parent.is_dir():
        raise UserError(f"--out: {file} is no file in a folder that exists")
    for single in found.values():
        single.check()
    from apart.report import page

    page.write(list(found.values()), file)
    size = file.stat().st_size / 1e6
    print(
        f"{several(len(found), 'run')}: open {file} in a browser ({size:.1f} MB, needs no network)"
    )
    return 0
