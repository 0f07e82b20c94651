"""Several seeds at once: one process a seed, one thread a process, as many as there are cores.

Measured against one vmapped program on two cores: `benchmarks/seeds.py`, docs/performance.md. A
seed's bits cannot depend on its neighbours, because it has none in its process. Talks to the
children by their command line and by JSON lines; does not import JAX.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from apart._config import flag
from apart._errors import RunInterrupted, UserError
from apart.progress import Listener, Progress
from apart.runs import store
from apart.settings import resolve
from apart.training import threads
from apart.training.signals import stop_signals


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
    total = config.iterations * config.collection * seeds
    pool = _Pool(total, listener or (lambda _: None))
    base = [sys.executable, "-m", "apart", "train", world, "--method", method]
    for name, value in options.items():
        base += _spell(name, value)
    base += ["--progress", "json", "--no-draw", "--threads", "1"]
    base += ["--device", device] if device else []
    pool.run({n: [*base, "--seed", str(n), "--out", str(folder / f"seed-{n}")] for n in names})
    runs = [store.load(folder / f"seed-{n}") for n in names]
    store.write_aggregate(folder, runs)
    return runs


def _spell(name: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [flag(name) if value else flag(name).replace("--", "--no-", 1)]
    if isinstance(value, tuple | list):
        return [flag(name), ",".join(map(str, value))]
    return [flag(name), str(value)]


class _Pool:
    """Runs commands, as many at once as there are cores, and adds up what they say."""

    def __init__(self, total: int, listener: Listener) -> None:
        self._total, self._listener = total, listener
        self._latest: dict[int, Mapping[str, Any]] = {}
        self._running: dict[int, subprocess.Popen[str]] = {}
        self._lock = threading.Lock()
        self._slots = threading.Semaphore(threads.cores())
        self._failure: str | None = None

    def run(self, commands: Mapping[int, list[str]]) -> None:
        """Run all; a failure or a signal starts no further ones and waits for those under way."""
        watchers: list[threading.Thread] = []
        with stop_signals(self._forward) as stop:
            for number, command in commands.items():
                self._slots.acquire()
                if self._failure or stop():
                    break
                watcher = threading.Thread(target=self._watch, args=(number, command))
                watcher.start()
                watchers.append(watcher)
            for watcher in watchers:
                watcher.join()
            if stop():
                raise RunInterrupted("stopped; the seeds under way saved their state", stop())
        if self._failure:
            raise UserError(self._failure)

    def _forward(self, number: int) -> None:
        """Children are in sessions of their own: only this process hears the terminal."""
        for process in list(self._running.values()):
            process.send_signal(number)

    def _watch(self, number: int, command: list[str]) -> None:
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        try:
            with subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=environment,
                start_new_session=True,
            ) as process:
                self._running[number] = process
                assert process.stdout is not None
                assert process.stderr is not None
                for line in process.stdout:
                    if line.startswith("{"):
                        self._note(number, json.loads(line))
                errors = process.stderr.read().strip().split("\n")
            del self._running[number]
            if process.returncode:
                self._failure = self._failure or f"seed {number}: {errors[-1]}"
            with self._lock:
                self._latest[number] = {**self._latest.get(number, {}), "steps_per_second": 0.0}
        finally:
            self._slots.release()

    def _note(self, number: int, progress: Mapping[str, Any]) -> None:
        with self._lock:
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
