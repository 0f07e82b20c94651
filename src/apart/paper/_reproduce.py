"""``apart reproduce``: train what is missing, keep it, draw it, judge it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from apart._errors import UserError
from apart.paper import _ledger, _panels, _records, _runs, experiment
from apart.paper._board import Say
from apart.paper._spec import Experiment, Results
from apart.running import machine
from apart.running.engines import ENGINES, Engine
from apart.running.progress import duration
from apart.runs import files
from apart.runs import folder as run_folder

__all__ = ["draw", "reproduce"]


def reproduce(
    names: Sequence[str],
    folder: Path,
    *,
    seeds: int | None = None,
    steps: int | None = None,
    engine: Engine = ENGINES["local"],
    say: Say = lambda text: print(text, flush=True),
) -> dict[str, Path]:
    """Train what is missing; write ID.json and ID.png of an experiment as soon as it is complete.

    Raises:
        UserError: an unknown id or a wrong option; nothing was trained.
        RunInterrupted: a signal; finished runs stay, calling again goes on.
    """
    specs = {name: experiment(name) for name in names}
    plans = {
        name: _runs.planned(spec, folder, seeds or spec.seeds, steps or spec.steps)
        for name, spec in specs.items()
    }
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file; choose another --out")
    if not (folder / "runs").is_dir() and files.listing(folder):
        raise UserError(f"{folder} is not empty and holds no reproduction; choose another --out")
    groups = {
        name: {job.folder: job for jobs in plan.values() for job in jobs}
        for name, plan in plans.items()
    }
    every = {path: job for group in groups.values() for path, job in group.items()}
    todo = [job for job in every.values() if not job.done]
    cost = sum(job.seconds for job in todo)
    say(
        f"{names[0] if len(names) == 1 else f'{len(names)} experiments'}: {len(every)} runs, "
        f"{len(every) - len(todo)} done, {len(todo)} to do, about "
        f"{duration(cost / machine.cores())} on {machine.cores()} core{'s'[: machine.cores() > 1]}"
    )
    pictures: dict[str, Path] = {}

    def show() -> None:
        for name, group in groups.items():
            if name not in pictures and all(job.done for job in group.values()):
                results = _collected(specs[name], plans[name], steps)
                pictures[name] = _show(name, specs[name], results, folder, say)

    show()
    if todo:
        _runs.train(todo, groups, engine, say, show)
    return {name: pictures[name] for name in plans}


def _collected(
    spec: Experiment, plan: Mapping[str, Sequence[_runs.Job]], steps: int | None
) -> Results:
    records = {
        label: [
            _records.record_of(run_folder.load(job.folder), job.world, spec.keeps) for job in jobs
        ]
        for label, jobs in plan.items()
    }
    return Results(records, steps or spec.steps)


def _show(name: str, spec: Experiment, results: Results, folder: Path, say: Say) -> Path:
    """Write, draw and print what a complete experiment found; its picture."""
    _records.write(folder / f"{name}.json", results, spec)
    picture = draw(spec, results, folder / f"{name}.png")
    say(f"\n{_ledger.table(name, spec, results)}\n{picture}")
    return picture


def draw(spec: Experiment, results: Results, path: Path) -> Path:
    """The experiment's picture at ``path``."""
    made = spec.draw(results) if spec.draw else _panels.variations(results, spec)
    files.write_picture(path, made)
    return path
