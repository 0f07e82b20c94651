"""The runs that experiments need: what they are, and training those that are missing.

Trains in processes of its own; no JAX here.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from apart import settings
from apart._config import Config
from apart._errors import RunInterrupted
from apart.methods import OURS
from apart.paper._board import Board, Say
from apart.paper._spec import Condition, Experiment
from apart.running import pool
from apart.running.engines import Engine
from apart.runs import files, plan
from apart.runs import folder as run_folder
from apart.worlds.world import World


class Job(NamedTuple):
    """One seed of one condition to train; equal ones of several experiments are one."""

    folder: Path
    condition: Condition
    config: Config
    world: World

    @property
    def done(self) -> bool:
        """Whether its run is finished."""
        return (self.folder / run_folder.SUMMARY).exists()

    @property
    def seconds(self) -> float:
        """A guess of what it costs on one core, from the size of its arrays alone.

        Within a factor of 5 of all stored runs, from tables of 1 MB to networks of 1.4 GB: larger
        arrays leave the caches, and networks multiply them more often.
        """
        c = self.config
        megabytes = settings.memory_bytes(c, self.world) / 1e6
        per_update: float = 1e-4 * megabytes**1.35
        return 4.0 + c.iterations * c.updates_per_episode * per_update


def job(condition: Condition, seed: int, steps: int, folder: Path, reading: str = OURS) -> Job:
    """Where the run of ``condition`` is, or will be: named after all that decides its bits."""
    config, world = condition.resolved(reading, steps=steps, seed=seed)
    fingerprint = dataclasses.replace(config, seed=0).fingerprint()[:10]
    name = f"{Path(world.name).stem}-{condition.method}-{steps}-{fingerprint}"
    return Job(folder / "runs" / name / f"seed-{seed}", condition, config, world)


def planned(
    spec: Experiment, folder: Path, seeds: int, steps: int, reading: str = OURS
) -> dict[str, list[Job]]:
    """The jobs of an experiment by condition."""
    return {
        c.label: [job(c, seed, steps, folder, reading) for seed in range(seeds)]
        for c in spec.conditions
    }


def finished(jobs: Iterable[Job], say: Say = print) -> list[run_folder.Run]:
    """The runs of ``jobs``, in this order; what is missing is trained first."""
    jobs = list(jobs)
    todo = [one for one in jobs if not one.done]
    if todo:
        train(todo, {"runs": {one.folder for one in jobs}}, pool.run, say)
    return [run_folder.load(one.folder) for one in jobs]


def train(
    todo: Sequence[Job],
    groups: Mapping[str, Collection[Path]],
    engine: Engine,
    say: Say,
    ended: Callable[[], None] = lambda: None,
    until: float = math.inf,
) -> None:
    """Train ``todo``, the cheapest first; ``ended`` is called whenever one of them is done.

    When the clock (`time.monotonic`) says ``until``, what is under way saves its state and ends.
    """
    jobs = {one.folder: one for one in sorted(todo, key=lambda one: one.seconds)}
    for one in jobs.values():
        if not (one.folder / run_folder.CONFIG).exists():
            with run_folder.claim(one.folder, overwrite=False):
                plan.write(one.folder, one.config, one.world)
    with Board({folder: one.seconds for folder, one in jobs.items()}, groups, say) as board:

        def watch(folder: Path, progress: Mapping[str, Any] | None) -> None:
            if progress is not None:
                board.under_way(folder, progress["env_steps"] / progress["total_steps"])
                return
            # A study keeps results, not states.
            files.remove(*files.listing(folder / run_folder.CHECKPOINTS))
            found, one = run_folder.load(folder), jobs[folder]
            board.done(
                folder,
                f"{one.condition.label}, {one.world.name}, seed {one.config.seed}: "
                f"{found.n_effective} of {found.n_available}",
            )
            ended()

        try:
            failures = engine({folder: pool.command(folder) for folder in jobs}, watch, until)
        except RunInterrupted as stop:
            raise RunInterrupted(f"{stop}; the same command goes on", stop.signal_number) from None
    for path, failure in failures.items():
        raise failure.error(path)
