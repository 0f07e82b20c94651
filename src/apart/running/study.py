"""Many runs as one piece of work: what they are, which are missing, training those. No JAX."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from apart._config import Config
from apart._errors import RunInterrupted, UserError
from apart.checks import memory_bytes
from apart.running import engines, machine
from apart.running.board import Board, Say
from apart.running.engines import Engine
from apart.running.progress import duration, several
from apart.running.queue import Failure
from apart.runs import claims, files, plan
from apart.runs import folder as run_folder
from apart.runs.lock import NAME as LOCK
from apart.settings import only_here
from apart.worlds.world import World

_MOST_RUNS: Final = 100_000


class Task(NamedTuple):
    """One seed to train; equal ones of several studies are one."""

    folder: Path
    label: str  # for people
    config: Config
    world: World

    @property
    def done(self) -> bool:
        """Whether its run is finished."""
        return (self.folder / run_folder.SUMMARY).exists()

    def load(self) -> run_folder.Run:
        """Its run, which is finished.

        Raises:
            UserError: it was damaged, or trained for longer since (`apart resume --steps`).
        """
        try:
            return self._loaded()
        except UserError as error:
            raise UserError(f"{error}; to train it again, remove {self.folder}") from None

    def _loaded(self) -> run_folder.Run:
        run = run_folder.load(self.folder)
        made, asked = run.summary["env_steps"], self.config.steps
        if not asked <= made < asked + self.config.collection:  # the last round may be too much
            raise UserError(f"{self.folder}: has {made:,} steps, not the {asked:,} asked for")
        if not (run.metrics and run.skills):  # reads them
            raise UserError(f"{self.folder}: has no measurements")
        return run

    @property
    def seconds(self) -> float:
        """A guess of what it costs on one core, from the size of its arrays alone.

        From tables of 1 MB to networks of 1.4 GB; larger arrays leave the caches, and networks
        multiply them more often. Of stored rows that took 20 s or more it is in the middle right
        and within a factor of 5, but for `valor` with all skills learning from each transition.
        """
        c = self.config
        megabytes = memory_bytes(c, self.world) / 1e6
        per_update: float = 5.5e-5 * megabytes**1.35
        return 2.0 + c.iterations * c.updates_per_episode * per_update


def task(folder: Path, label: str, config: Config, world: World) -> Task:
    """Where a run of the study in ``folder`` is: named after all that decides its bits."""
    name = f"{Path(world.name).stem}-{config.method}-{config.steps}-{same(config, world)}"
    return Task(folder / run_folder.RUNS / name / f"seed-{config.seed}", label, config, world)


def same(config: Config, world: World) -> str:
    """Ten digits that runs share if nothing but their seeds and steps tells them apart."""
    return plan.identity(dataclasses.replace(config, seed=0), world)[:10]


def same_world(world: World) -> str:
    """Ten digits that only equal worlds share: a map that was edited keeps its name, not these.

    How slippery it is is left out: that is a setting.
    """
    spec = {name: value for name, value in world.about.spec.items() if name != "slip"}
    return files.digest(json.dumps(spec, sort_keys=True).encode())[:10]


def check_folder(folder: Path, what: str, result: str = run_folder.RUNS) -> None:
    """`UserError` where ``folder`` cannot be that of a study: ``what`` it is called.

    A folder that is not empty has ``result`` in it, if not runs.
    """
    if folder.is_symlink():
        raise UserError(f"{folder} is a link; give the folder itself as --out")
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file; choose another --out")
    there = {path.name for path in files.listing(folder)} - {LOCK}  # before others make runs
    its_own = (folder / run_folder.RUNS).is_dir() or (folder / result).exists()
    if there and not its_own:
        raise UserError(f"{folder} is not empty and holds no {what}; choose another --out")


def check_runs(n: int) -> None:
    """`UserError` for more runs than one queue is for."""
    if n > _MOST_RUNS:
        raise UserError(f"{n:,} runs are too many (at most {_MOST_RUNS:,})")


def words(title: str, tasks: Collection[Task], engine: Engine) -> str:
    """``four experiments: 8 runs, 2 done, 6 to do, about 3:10 on 2 cores``.

    How many cores a cluster has, and will have, is not known here.
    """
    todo = [one for one in tasks if not one.done]
    cores = 1 if engine is engines.on_ray else machine.cores()
    return (
        f"{title}: {several(len(tasks), 'run')}, {len(tasks) - len(todo)} done, {len(todo)} to do, "
        f"about {duration(sum(one.seconds for one in todo) / cores)} on {several(cores, 'core')}"
    )


def train(
    todo: Iterable[Task],
    groups: Mapping[str, Collection[Path]],
    engine: Engine,
    say: Say,
    ended: Callable[[], None] = lambda: None,
    until: float = math.inf,
    keep_states: bool = True,
) -> dict[Path, Failure]:
    """Train ``todo`` in this order; ``ended`` is called whenever one of them is done.

    When the clock (`time.monotonic`) says ``until``, what is under way saves its state and ends.
    Unless told to ``keep_states``, checkpoints of finished runs are removed. Returns what failed.
    """
    tasks = {one.folder: one for one in todo}
    engines.check(engine)
    for one in tasks.values():
        _write(one)
    with Board({folder: one.seconds for folder, one in tasks.items()}, groups, say) as board:

        def watch(folder: Path, progress: Mapping[str, Any] | Failure | None) -> None:
            if isinstance(progress, Failure):
                board.failed(folder)
                return
            if progress is not None:
                board.under_way(folder, progress["env_steps"] / progress["total_steps"])
                return
            if not keep_states:
                files.remove(*files.listing(folder / run_folder.CHECKPOINTS))
            found, one = run_folder.load(folder), tasks[folder]
            skills = run_folder.found(found.n_effective, found.n_available, one.config.skills)
            skills = skills if one.world.places.counted else "not counted"
            board.done(folder, f"{one.label}, {one.world.name}, seed {one.config.seed}: {skills}")
            ended()

        try:
            return engine(dict.fromkeys(tasks, ()), watch, until)
        except RunInterrupted as stop:
            again = f"{stop}; repeat the command to continue"
            raise RunInterrupted(again, stop.signal_number) from None


def _write(one: Task) -> None:
    """The run's folder with its config.json, unless it was begun already."""
    path, unknown = one.folder / run_folder.CONFIG, only_here(one.config, one.world)
    if unknown is not None:
        raise UserError(f"worker processes do not know the {unknown}; register it in a plugin")
    if not path.exists():
        try:
            with claims.claim(one.folder, overwrite=False, wait=True):
                plan.write(one.folder, one.config, one.world)
        except UserError:
            if not path.exists():  # another study in the same folder wrote it meanwhile
                raise
    try:
        found = plan.read(one.folder, None)
    except UserError as error:
        raise UserError(f"{error}; to train it again, remove {one.folder}") from None
    if dataclasses.replace(found.config, steps=one.config.steps) != one.config or (
        found.world.about.spec != one.world.about.spec
    ):
        raise UserError(f"{path}: belongs to another configuration; choose another --out")
    if found.config != one.config:
        raise UserError(
            f"{one.folder} was extended to more steps; finish it with 'apart resume "
            f"{one.folder}', remove it, or choose another --out"
        )
