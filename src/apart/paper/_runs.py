"""The runs that experiments need: what they are, and training those that are missing.

Trains in processes of its own; no JAX here.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from apart.methods import OURS
from apart.paper._spec import Condition, Experiment
from apart.running import study
from apart.running.board import Say
from apart.running.engines import ENGINES, LOCAL, Engine
from apart.running.queue import raise_failures
from apart.running.study import Task
from apart.runs import folder as run_folder


def job(condition: Condition, seed: int, steps: int, folder: Path, reading: str = OURS) -> Task:
    """Where the run of ``condition`` is, or will be: experiments share those of equal settings."""
    config, world = condition.resolved(reading, steps=steps, seed=seed)
    fingerprint = dataclasses.replace(config, seed=0).fingerprint()[:10]
    name = f"{Path(world.name).stem}-{condition.method}-{steps}-{fingerprint}"
    return Task(folder / run_folder.RUNS / name / f"seed-{seed}", condition.label, config, world)


def planned(
    spec: Experiment, folder: Path, seeds: int, steps: int, reading: str = OURS
) -> dict[str, list[Task]]:
    """The jobs of an experiment by condition."""
    return {
        c.label: [job(c, seed, steps, folder, reading) for seed in range(seeds)]
        for c in spec.conditions
    }


def finished(jobs: Iterable[Task], say: Say = print) -> list[run_folder.Run]:
    """The runs of ``jobs``, in this order; what is missing is trained first."""
    jobs = list(jobs)
    todo = [one for one in jobs if not one.done]
    if todo:
        train(todo, {"runs": {one.folder for one in jobs}}, ENGINES[LOCAL], say)
    return [one.load() for one in jobs]


def train(
    todo: Sequence[Task],
    groups: Mapping[str, Collection[Path]],
    engine: Engine,
    say: Say,
    ended: Callable[[], None] = lambda: None,
    until: float = math.inf,
) -> None:
    """Train ``todo``, the cheapest first, as `study.train` does; results are kept, not states.

    Raises:
        UserError: what failed; all others were trained.
    """
    cheapest = sorted(todo, key=lambda one: one.seconds)
    failures = study.train(cheapest, groups, engine, say, ended, until, keep_states=False)
    raise_failures(failures, len(todo))
