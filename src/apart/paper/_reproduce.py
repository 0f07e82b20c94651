"""``apart reproduce``: train what is missing, keep it, draw it, judge it."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from apart._errors import UserError, unknown
from apart.methods import OURS, READINGS
from apart.paper import _budget, _ledger, _panels, _records, _runs, experiment
from apart.paper._budget import Scale
from apart.paper._spec import Experiment, Record, Results
from apart.running import machine, study
from apart.running.board import Say
from apart.running.engines import ENGINES, Engine
from apart.running.progress import duration
from apart.runs import files

__all__ = ["draw", "reproduce"]


def reproduce(
    names: Sequence[str],
    folder: Path,
    *,
    seeds: int | None = None,
    steps: int | None = None,
    reading: str = OURS,
    budget: float | None = None,
    engine: Engine = ENGINES["local"],
    say: Say = lambda text: print(text, flush=True),
) -> dict[str, Path]:
    """Train what is missing; write ID.json and ID.png of an experiment as soon as it is complete.

    Those of another reading than ours are in a folder of its name.

    Args:
        names: ids of experiments.
        folder: where runs and results are.
        seeds: per condition; the experiment's own unless said.
        steps: of every run; the experiment's own unless said.
        reading: of the paper.
        budget: seconds that all of it may take: seeds and steps are chosen so that it fits on the
            cores of this machine, and nothing is trained after.
        engine: where runs are trained.
        say: gets every line.

    Returns:
        The pictures, by experiment.

    Raises:
        UserError: an unknown id or a wrong option (nothing was trained), or a run that failed or
            was damaged (all else is made).
        RunInterrupted: a signal; finished runs stay, calling again goes on.
    """
    began = time.monotonic()
    if reading not in READINGS:
        raise unknown("reading", reading, READINGS)
    specs = {name: experiment(name) for name in names}
    specs = _in_reading(specs, reading, say)
    sizes = {
        name: Scale(seeds or spec.seeds, steps or spec.steps_in(reading))
        for name, spec in specs.items()
    }
    study.check_folder(folder, "reproduction")

    @cache
    def planned(name: str, size: Scale) -> dict[str, list[study.Task]]:
        return _runs.planned(specs[name], folder, *size, reading)

    if budget is not None:
        sizes = _sizes_within(budget, specs, planned, reading, say)
    plans = {name: planned(name, size) for name, size in sizes.items()}
    groups = {
        name: {job.folder: job for jobs in plan.values() for job in jobs}
        for name, plan in plans.items()
    }
    every = {path: job for group in groups.values() for path, job in group.items()}
    todo = [job for job in every.values() if not job.done]
    title = names[0] if len(names) == 1 else f"{len(sizes)} experiments"
    say(study.words(title, every.values(), engine))
    steps_of = {name: size.steps for name, size in sizes.items()}
    shown = _Shown(specs, plans, steps_of, reading, folder, say)
    shown.look()
    if todo:
        until = math.inf if budget is None else began + budget
        _runs.train(todo, groups, engine, say, shown.look, until)
    return shown.all()


class _Shown:
    """Experiments, of which each is shown as soon as its runs are done."""

    def __init__(
        self,
        specs: Mapping[str, Experiment],
        plans: Mapping[str, Mapping[str, Sequence[study.Task]]],
        steps: Mapping[str, int],
        reading: str,
        folder: Path,
        say: Say,
    ) -> None:
        self._specs, self._plans, self._steps = specs, plans, steps
        self._reading, self._folder, self._say = reading, folder, say
        self._pictures: dict[str, Path] = {}
        self._damaged: dict[str, UserError] = {}

    def look(self) -> None:
        """Show what is complete and was not shown."""
        for name, plan in self._plans.items():
            jobs = itertools.chain.from_iterable(plan.values())
            if name in self._pictures or name in self._damaged or not all(j.done for j in jobs):
                continue
            try:
                records = _collected(self._specs[name], plan)
            except UserError as error:  # of one run: the others are not to wait for it
                self._damaged[name] = error
                self._say(f"not made: {name}: {error}")
                continue
            results = Results(records, self._steps[name], self._reading)
            self._pictures[name] = _show(name, self._specs[name], results, self._folder, self._say)

    def all(self) -> dict[str, Path]:
        """The pictures, in order; says what is missing, `UserError` where a run was damaged."""
        for name, plan in self._plans.items():
            if name not in self._pictures and name not in self._damaged:
                runs = {job.folder: job.done for jobs in plan.values() for job in jobs}
                far = f"{sum(runs.values())} of {len(runs)} runs"
                self._say(f"not made in time: {name} ({far}); repeat the command to continue")
        if self._damaged:
            names, first = ", ".join(self._damaged), next(iter(self._damaged.values()))
            raise UserError(f"not made: {names}: {first}")
        return {name: self._pictures[name] for name in self._plans if name in self._pictures}


def _sizes_within(
    budget: float,
    specs: Mapping[str, Experiment],
    planned: Callable[[str, Scale], Mapping[str, Sequence[study.Task]]],
    reading: str,
    say: Say,
) -> dict[str, Scale]:
    """Seeds and steps of the experiments that fit into so many seconds; says what is left out."""

    def cost(name: str, size: Scale) -> dict[Path, float]:
        jobs = itertools.chain.from_iterable(planned(name, size).values())
        return {job.folder: job.seconds / machine.cores() for job in jobs}

    sizes = _budget.fit(specs, reading, budget, cost)
    if not sizes:
        raise UserError(f"--budget {duration(budget)} is too short for any experiment")
    for line in _budget.words(specs, reading, sizes):
        say(line)
    return sizes


def _in_reading(specs: Mapping[str, Experiment], reading: str, say: Say) -> dict[str, Experiment]:
    """Those that are made in ``reading``; says which are not."""
    own = [name for name, spec in specs.items() if spec.only_ours and reading != OURS]
    kept = {name: spec for name, spec in specs.items() if name not in own}
    words = f"made with --reading {OURS} only: {', '.join(own)}"
    if not kept:
        raise UserError(f"--reading {reading}: {words}")
    if own:
        say(words)
    return kept


def _collected(
    spec: Experiment, plan: Mapping[str, Sequence[study.Task]]
) -> dict[str, list[Record]]:
    return {
        label: [_records.record_of(job.load(), job.world, spec.keeps) for job in jobs]
        for label, jobs in plan.items()
    }


def _show(name: str, spec: Experiment, results: Results, folder: Path, say: Say) -> Path:
    """Write, draw and print what a complete experiment found; its picture."""
    where = _records.place(folder, results.reading)
    _records.write(where / f"{name}.json", results, spec)
    picture = draw(spec, results, where / f"{name}.png")
    say(f"\n{_ledger.table(name, spec, results)}\n{picture}")
    return picture


def draw(spec: Experiment, results: Results, path: Path) -> Path:
    """The experiment's picture at ``path``."""
    files.make_folder(path.parent)
    made = spec.draw(results) if spec.draw else _panels.variations(results, spec)
    files.write_picture(path, made)
    return path
