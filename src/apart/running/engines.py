"""Where training commands run: in processes of this machine, or as tasks of a Ray cluster."""

from __future__ import annotations

import math
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from apart._errors import UserError
from apart.running import pool
from apart.runs import files
from apart.runs import folder as run_folder
from apart.runs.lock import Lock

# What comes back of a run: the summary, which makes it finished, is written last.
_PARTS = (
    run_folder.CONFIG,
    *run_folder.LOGS,
    run_folder.SKILLS,
    run_folder.SUMMARY,
)
# (commands by run folder, watcher, when to stop) -> failures by run folder; see `pool.run`
Engine: TypeAlias = Callable[
    [Mapping[Path, list[str]], "pool.Watcher[Path]", float], dict[Path, pool.Failure]
]


def on_ray(
    commands: Mapping[Path, list[str]], watch: pool.Watcher[Path], until: float = math.inf
) -> dict[Path, pool.Failure]:
    """The same runs as tasks of a Ray cluster; their folders come back as files.

    Tasks that are under way when the clock says ``until`` are lost.

    Connects to the cluster that RAY_ADDRESS names, or starts one here. Machines need the same
    version of this package; they share no disk.
    """
    try:
        import ray
    except ImportError:
        raise UserError(
            "--engine ray needs Ray: pip install '.[ray]' in a checkout of it"
        ) from None
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would call home
    os.environ.setdefault("RAY_worker_niceness", "0")  # this is the work, not something beside it
    own: dict[str, Any] = {} if os.environ.get("RAY_ADDRESS") else {"include_dashboard": False}
    ray.init(log_to_driver=False, **own)
    try:
        return _distribute(ray, commands, watch, until)
    finally:
        ray.shutdown()


def _distribute(
    ray: Any, commands: Mapping[Path, list[str]], watch: pool.Watcher[Path], until: float
) -> dict[Path, pool.Failure]:
    train = ray.remote(num_cpus=1, max_retries=2)(_train_elsewhere)
    waiting = {
        train.remote((folder / run_folder.CONFIG).read_bytes()): folder for folder in commands
    }
    failures: dict[Path, pool.Failure] = {}
    while waiting and not failures:
        left = None if math.isinf(until) else max(until - time.monotonic(), 0.0)
        found, _ = ray.wait(list(waiting), num_returns=1, timeout=left)
        if not found:  # in time
            for task in waiting:
                ray.cancel(task, force=True)
            break
        (ready,) = found
        folder = waiting.pop(ready)
        answer = ray.get(ready)
        if isinstance(answer, tuple):
            failures[folder] = pool.Failure(*answer)
        else:
            _receive(folder, answer)
            watch(folder, None)
    return failures


def _train_elsewhere(config: bytes) -> dict[str, bytes] | tuple[int, str]:
    """Train in a temporary folder; the files of the run, or exit code and last line of an error."""
    with tempfile.TemporaryDirectory() as where:
        files.write_bytes(Path(where) / run_folder.CONFIG, config)
        done = subprocess.run(
            pool.command(Path(where)), capture_output=True, text=True, check=False
        )
        if done.returncode:
            return done.returncode, done.stderr.strip().split("\n")[-1]
        return {file.name: file.read_bytes() for file in Path(where).iterdir() if file.is_file()}


def _receive(folder: Path, content: Mapping[str, bytes]) -> None:
    """Write a run that was trained elsewhere."""
    with Lock(folder):
        for name in _PARTS:
            files.write_bytes(folder / name, content[name])


ENGINES: Mapping[str, Engine] = {"local": pool.run, "ray": on_ray}
