"""Where runs are trained: in processes of this machine, or as tasks of a Ray cluster."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from apart._errors import unknown
from apart.running import queue
from apart.running.cluster import Cluster
from apart.running.pool import Pool
from apart.running.queue import Failure, Watcher

Runs: TypeAlias = Mapping[Path, Sequence[str]]  # options of `apart resume`, by run folder
# (runs, watcher, when to stop) -> failures by run folder; see `queue.run`
Engine: TypeAlias = Callable[[Runs, "Watcher[Path]", float], dict[Path, Failure]]


def on_this_machine(
    runs: Runs, watch: Watcher[Path], until: float = math.inf
) -> dict[Path, Failure]:
    """A process for each run, as many at once as there are cores."""
    return queue.run(runs, watch, until, Pool())


def on_ray(runs: Runs, watch: Watcher[Path], until: float = math.inf) -> dict[Path, Failure]:
    """The same runs as tasks of a Ray cluster; their folders come back as files.

    Connects to the cluster that RAY_ADDRESS names, or starts one here. Machines need the same
    version of this package; they share no disk.
    """
    cluster = Cluster()  # needs Ray, also where there is nothing to do
    if not runs and cluster.begins_here:
        return {}
    with cluster as workers:
        return queue.run(runs, watch, until, workers)


def check(engine: Engine) -> None:
    """`UserError` where ``engine`` is not there, before anything is changed for it.

    This machine is; a cluster must have Ray and, where RAY_ADDRESS names one, answer.
    """
    if engine is on_ray:
        engine({}, lambda *_: None, math.inf)


LOCAL = "local"
ENGINES: Mapping[str, Engine] = {LOCAL: on_this_machine, "ray": on_ray}


def engine(name: str) -> Engine:
    """The engine of that name; `UserError` with the nearest one otherwise."""
    if not isinstance(name, str) or name not in ENGINES:
        raise unknown("engine", str(name), ENGINES)
    return ENGINES[name]
