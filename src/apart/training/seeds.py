"""Several seeds at once: one process a seed, one thread a process, as many as there are cores.

Measured against one vmapped program on two cores: `benchmarks/seeds.py`, docs/performance.md. A
seed's bits cannot depend on its neighbours, because it has none in its process. No JAX.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from apart._errors import UserError
from apart.progress import Listener, Progress
from apart.runs import store
from apart.settings import resolve
from apart.training import pool


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
) -> list[store.Run]:
    """Train seeds ``seed`` .. ``seed + seeds - 1``; each gets ``out/seed-N``, ``out`` the summary.

    Raises:
        UserError: wrong input (nothing written), or a child failed (its last line is the message).
        RunInterrupted: SIGINT or SIGTERM; the children have saved.
    """
    if seeds < 1:
        raise UserError(f"--seeds: {seeds} is outside 1 to 1000000")
    config, _ = resolve(world, method, {**options, "seed": seed})
    resolve(world, method, {**options, "seed": seed + seeds - 1})
    folder = Path(out) if out else store.default_folder(config.world, method)
    refuse = store.refusal(folder, overwrite)
    if refuse:
        raise UserError(refuse)
    store.claim(folder, overwrite)
    names = range(seed, seed + seeds)
    words = pool.command(world, method, options) + (["--device", device] if device else [])
    sums = _Sums(config.iterations * config.collection * seeds, listener or (lambda _: None))
    failures = pool.run(
        {n: [*words, "--seed", str(n), "--out", str(folder / f"seed-{n}")] for n in names}, sums
    )
    for number, why in failures.items():
        raise UserError(f"seed {number}: {why}")
    runs = [store.load(folder / f"seed-{n}") for n in names]
    store.write_aggregate(folder, runs)
    return runs


class _Sums:
    """Adds up what the seeds say."""

    def __init__(self, total: int, listener: Listener) -> None:
        self._total, self._listener = total, listener
        self._latest: dict[int, Mapping[str, Any]] = {}

    def __call__(self, number: int, progress: Mapping[str, Any] | None) -> None:
        if progress is None:  # it ended: its steps count, its speed does not
            self._latest[number] = {**self._latest.get(number, {}), "steps_per_second": 0.0}
            return
        self._latest[number] = progress
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
