"""Several seeds at once: one process a seed, one thread a process, where an engine has room.

Measured against one vmapped program on two cores by `benchmarks/seeds.py`. A seed's bits cannot
depend on its neighbours, because it has none in its process. No JAX.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from apart._config import Config
from apart._errors import RunInterrupted, UserError
from apart.running import devices, engines
from apart.running.engines import ENGINES, LOCAL, Engine
from apart.running.progress import Listener, Progress
from apart.running.queue import Failure, raise_failures
from apart.runs import claims, files, plan
from apart.runs import folder as run_folder
from apart.runs.folder import RunSet
from apart.runs.lock import Lock
from apart.runs.plan import Plan
from apart.settings import only_here
from apart.worlds.world import World


def train_set(
    config: Config,
    world: World,
    seeds: int,
    folder: Path,
    overwrite: bool,
    device: str | None,
    listener: Listener | None,
    engine: Engine,
) -> RunSet:
    """Train ``seeds`` seeds from ``config.seed`` on; each gets ``folder/seed-N``."""
    unknown = only_here(config, world)
    if unknown is not None:
        raise UserError(
            f"--seeds: worker processes do not know the {unknown}; train the seeds one by one, or "
            "register it in a plugin"
        )
    if engine is ENGINES[LOCAL]:
        devices.check(device)
    engines.check(engine)
    with claims.claimed(folder, overwrite):
        plan.write_set(folder, config, world, seeds)
        return _finish(folder, plan.read_set(folder, None), device, listener, engine)


def resume_set(
    folder: Path,
    steps: int | None,
    device: str | None,
    listener: Listener | None,
    engine: Engine,
) -> RunSet:
    """Go on with every unfinished run of the set in ``folder``; all its runs, finished."""
    if not plan.read_set(folder, steps):
        raise run_folder.nothing_in(folder)
    if engine is ENGINES[LOCAL]:
        devices.check(device)
    engines.check(engine)
    with Lock(folder):
        plans = plan.read_set(folder, steps)
        if steps is not None and (folder / run_folder.SET).exists():
            longer = plan.read_longer_set(folder, steps)
            if longer.longer:  # from now on, whatever happens
                plan.write_longer(folder / run_folder.SET, longer)
        return _finish(folder, plans, device, listener, engine)


def _finish(
    folder: Path,
    plans: Mapping[Path, Plan],
    device: str | None,
    listener: Listener | None,
    engine: Engine,
) -> RunSet:
    words = ["--device", device] if device else []
    todo = {
        path: ("--steps", str(planned.config.steps), *words)
        for path, planned in plans.items()
        if not planned.finished or not (path / run_folder.SKILLS).exists()
    }
    if todo:
        files.remove(folder / run_folder.SUMMARY)
    for path in todo:
        if not (path / run_folder.CONFIG).exists():
            with claims.claim(path, overwrite=False):
                plan.write(path, plans[path].config, plans[path].world)
    total = {path: plans[path].config.steps for path in todo}
    try:
        failures = engine(todo, _Sums(total, listener or (lambda _: None)), math.inf)
    except RunInterrupted as stop:
        raise RunInterrupted(
            f"{stop}; continue with 'apart resume {folder}'", stop.signal_number
        ) from None
    raise_failures({path.name: failure for path, failure in failures.items()}, len(todo))
    runs = [run_folder.load(path) for path in plans]
    run_folder.write_aggregate(folder, runs)
    return RunSet(folder, runs)


class _Sums:
    """Adds up the progress of the seeds."""

    def __init__(self, total: Mapping[Path, int], listener: Listener) -> None:
        self._total, self._listener = dict(total), listener  # of each seed, as far as is known
        self._latest: dict[Path, Mapping[str, Any]] = {}
        self._measured: dict[str, dict[Path, float]] = {name: {} for name in _MEASURES}

    def __call__(self, path: Path, progress: Mapping[str, Any] | Failure | None) -> None:
        if progress is None or isinstance(progress, Failure):  # its steps count, its speed does not
            self._latest[path] = {**self._latest.get(path, {}), "steps_per_second": 0.0}
            return
        self._latest[path] = progress
        self._total[path] = progress.get("total_steps", self._total[path])
        measured = {name: self._mean(name, path, progress.get(name)) for name in _MEASURES}
        known = [p for p in self._latest.values() if "n_effective" in p]
        self._listener(
            Progress(
                env_steps=sum(p["env_steps"] for p in known),
                total_steps=sum(self._total.values()),
                n_effective=round(sum(p["n_effective"] for p in known) / len(known), 1),
                n_available=known[0]["n_available"],
                steps_per_second=sum(p["steps_per_second"] for p in known),
                n_skills=known[0]["n_skills"],
                counted=known[0].get("counted", True),
                **measured,
            )
        )

    def _mean(self, name: str, path: Path, value: float | None) -> float | None:
        """The mean of a measure over the seeds, each at its last evaluation; None between them."""
        if value is None:
            return None
        seeds = self._measured[name]
        seeds[path] = value
        return round(sum(seeds.values()) / len(seeds), 6)


_MEASURES: Final = ("mean_reward", "discriminator_accuracy")
