"""``apart sweep FILE``."""

from __future__ import annotations

import argparse
from pathlib import Path

from apart.cli import words
from apart.running import sweep
from apart.running.engines import engine
from apart.running.jobs import path
from apart.running.study import Task

HELP = "train a grid or a list of runs from a TOML file"


def add(parser: argparse.ArgumentParser, asked: list[str]) -> None:
    """Add its flags."""
    parser.add_argument(
        "file", metavar="FILE", help="TOML file that lists the runs (docs/guide/sweeps.md)"
    )
    parser.add_argument(
        "--out", metavar="DIR", help="folder of the runs (default runs/ and the name of the file)"
    )
    parser.add_argument(
        "--index",
        metavar="N,N-N",
        help="train only these runs of the list, counted from 0: 7, 0-19 or 0-4,7 (for job arrays)",
    )
    parser.add_argument(
        "--list", action="store_true", help="list the runs and their state; train nothing"
    )
    words.add_engine(parser)
    parser.set_defaults(command=run)


def run(parsed: argparse.Namespace) -> int:
    """Train what is missing."""
    file, workers = path("FILE", parsed.file), engine(parsed.engine)
    folder = words.out(parsed) or Path("runs") / file.stem
    index = None if parsed.index is None else words.ranges("--index", parsed.index)
    if parsed.list:
        for n, task in sweep.chosen(file, folder, index).items():
            print(f"{n:4}  {_state(task):8}  {task.folder}  {task.label}")
        return 0
    from apart.comparison.compare import summed_up

    sweep.train(file, folder, workers, lambda text: print(text, flush=True), index, summed_up)
    return 0


def _state(task: Task) -> str:
    begun = (task.folder / "config.json").exists()
    return "done" if task.done else "begun" if begun else "to do"
