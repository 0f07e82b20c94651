"""``apart sweep FILE``."""

from __future__ import annotations

import argparse
from pathlib import Path

from apart._config import number
from apart._errors import UserError
from apart.cli import words
from apart.running import study, sweep
from apart.running.engines import engine
from apart.running.jobs import path
from apart.running.queue import raise_failures
from apart.running.study import Task
from apart.runs import folder as run_folder

HELP = "train a grid or a list of runs"


def add(parser: argparse.ArgumentParser, asked: list[str]) -> None:
    """Its flags."""
    parser.add_argument("file", metavar="FILE", help="TOML (docs/guide/sweeps.md)")
    parser.add_argument("--out", metavar="DIR", help="folder (default runs/NAME of the file)")
    parser.add_argument(
        "--index", metavar="N", help="only run N of the list, from 0 on (arrays of a batch system)"
    )
    parser.add_argument("--list", action="store_true", help="say what the runs are; train nothing")
    words.add_engine(parser)
    parser.set_defaults(command=run)


def run(parsed: argparse.Namespace) -> int:
    """Train what is missing."""
    file = path("FILE", parsed.file)
    if file.is_dir():
        raise UserError(f"{file}: a folder; name the file of a sweep (TOML)")
    if not file.is_file():
        raise UserError(f"{file}: no such file")
    chosen = engine(parsed.engine)
    folder = words.out(parsed) or Path("runs") / file.stem
    study.check_folder(folder, "sweep")
    tasks = sweep.read(file, folder)
    if parsed.index is not None:
        tasks = [tasks[_index(parsed.index, len(tasks))]]
    if parsed.list:
        for n, task in enumerate(tasks):
            print(f"{n:4}  {_state(task):8}  {task.folder}  {task.label}")
        return 0
    todo = [task for task in tasks if not task.done]
    print(study.words(file.name, tasks), flush=True)
    if todo:
        groups = {file.stem: {task.folder for task in tasks}}
        failures = study.train(todo, groups, chosen, lambda text: print(text, flush=True))
        raise_failures(failures, len(todo))
    print(f"runs: {folder / run_folder.RUNS}")
    return 0


def _index(text: str, n: int) -> int:
    value = number("--index", text, whole=True, like="0")
    if not isinstance(value, int) or not 0 <= value < n:
        raise UserError(f"--index: {text} is outside 0 to {n - 1}, the runs of the file")
    return value


def _state(task: Task) -> str:
    begun = (task.folder / "config.json").exists()
    return "done" if task.done else "begun" if begun else "to do"
