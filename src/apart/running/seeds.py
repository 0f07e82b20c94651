"""Several seeds at once: one process a seed, one thread a process, as many as there are cores.

Measured against one vmapped program on two cores: `benchmarks/seeds.py`, docs/performance.md. A
seed's bits cannot depend on its neighbours, because it has none in its process. No JAX.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from apart._errors import UserError
from apart.running import devices, pool
from apart.running.progress import Listener, Progress
from apart.runs import files
from apart.runs import folder as run_folder
from apart.runs import plan as setup
from apart.runs.lock import Lock
from apart.settings import resolve


def train_seeds(
    world: str,
    *,
    seeds: int,
    method: str = "apart",
    seed: int = 0,
    out: str | Path | None = None,
    overwrite: bool = False,
    device: str | None = None,
    listener: Listener | None = None,
    **options: Any,
) -> list[run_folder.Run]:
    """Train seeds ``seed`` .. ``seed + seeds - 1``; each gets ``out/seed-N``, ``out`` the summary.

    Raises:
        UserError: wrong input (nothing written), or a child failed (its last line is the message).
        NonFinite: the numbers of a child overflowed.
        RunInterrupted: SIGINT or SIGTERM; the children have saved.
    """
    if not 1 <= seeds <= setup.MAX_SEEDS:
        raise UserError(f"--seeds: {seeds} is outside 1 to {setup.MAX_SEEDS}")
    config, loaded = resolve(world, method, {**options, "seed": seed})
    resolve(world, method, {**options, "seed": seed + seeds - 1})
    folder = Path(out) if out else run_folder.default_folder(config.world, method)
    devices.check(device)
    with run_folder.claim(folder, overwrite):
        setup.write_set(folder, config, loaded, seeds)
        return _finish(folder, setup.read_set(folder, None), device, listener)


def resume_seeds(
    path: str | Path,
    *,
    steps: int | None = None,
    device: str | None = None,
    listener: Listener | None = None,
) -> list[run_folder.Run]:
    """Go on with every unfinished run of the set in ``path``; all its runs, finished.

    Raises:
        UserError: no set of runs, or a child failed (its last line is the message).
        NonFinite: the numbers of a child overflowed.
        RunInterrupted: SIGINT or SIGTERM; the children have saved.
    """
    folder = Path(path)
    if not setup.read_set(folder, steps):
        raise UserError(f"{folder}: no run and no set of runs here")
    devices.check(device)
    with Lock(folder):
        plans = setup.read_set(folder, steps)
        if steps is not None and (folder / run_folder.SET).exists():
            first = next(iter(plans.values()))  # from now on it is a longer set, whatever happens
            setup.write_set(folder, first.config, first.world, len(plans))
        return _finish(folder, plans, device, listener)


def _finish(
    folder: Path, plans: Mapping[Path, setup.Plan], device: str | None, listener: Listener | None
) -> list[run_folder.Run]:
    words = ["--device", device] if device else []
    todo = {
        path: pool.command(path, "--steps", str(plan.config.steps), *words)
        for path, plan in plans.items()
        if not plan.finished
    }
    if todo:
        files.remove(folder / run_folder.SUMMARY)
    for path in todo:
        if not (path / run_folder.CONFIG).exists():
            with run_folder.claim(path, overwrite=False):
                setup.write(path, plans[path].config, plans[path].world)
    total = sum(plans[path].config.iterations * plans[path].config.collection for path in todo)
    failures = pool.run(todo, _Sums(total, listener or (lambda _: None)))
    for path, failure in failures.items():
        raise failure.error(path.name)
    runs = [run_folder.load(path) for path in plans]
    run_folder.write_aggregate(folder, runs)
    return runs


class _Sums:
    """Adds up what the seeds say."""

    def __init__(self, total: int, listener: Listener) -> None:
        self._total, self._listener = total, listener
        self._latest: dict[Path, Mapping[str, Any]] = {}

    def __call__(self, path: Path, progress: Mapping[str, Any] | None) -> None:
        if progress is None:  # it ended: its steps count, its speed does not
            self._latest[path] = {**self._latest.get(path, {}), "steps_per_second": 0.0}
            return
        self._latest[path] = progress
        known = [p for p in self._latest.values() if "n_effective" in p]
        self._listener(
            Progress(
                env_steps=sum(p["env_steps"] for p in known),
                total_steps=self._total,
                n_effective=round(sum(p["n_effective"] for p in known) / len(known), 1),
                n_available=known[0]["n_available"],
                steps_per_second=sum(p["steps_per_second"] for p in known),
            )
        )
