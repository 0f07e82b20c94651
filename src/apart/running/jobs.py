"""Training as a job: prepared without JAX, so that errors answer at once, then run. Both doors, the
command line and Python, go through here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from apart._config import Config
from apart._errors import UserError
from apart.methods import OURS
from apart.running import engines
from apart.running.engines import LOCAL
from apart.running.progress import Listener
from apart.runs import claims, plan
from apart.runs import folder as run_folder
from apart.runs.folder import Run, RunSet
from apart.settings import resolve
from apart.worlds.world import World


class Job(NamedTuple):
    """Something to train, checked."""

    config: Config
    world: World
    folder: Path
    seeds: int | None  # None: one run in the folder; else a set of so many
    overwrite: bool


def path(name: str, value: Any) -> Path:
    """``value`` as a path; `UserError` naming the flag otherwise."""
    text = str(value) if isinstance(value, str | os.PathLike) else ""
    if not text or "\0" in text:
        raise UserError(f"{name}: {value!r} is not a path")
    return Path(text)


def prepare(
    world: str | os.PathLike[str] | World,
    *,
    method: str,
    options: Mapping[str, Any],
    seeds: int | None = None,
    slip: float = 0.0,
    reading: str = OURS,
    out: str | Path | None = None,
    overwrite: bool = False,
) -> Job:
    """The job, or `UserError`; nothing is written."""
    config, loaded = resolve(world, method, options, slip, reading)
    if seeds is not None:
        plan.seeds_from(config.seed, seeds)
    folder = run_folder.default_folder(loaded, method) if out is None else path("--out", out)
    refusal = claims.refusal(folder, overwrite)
    if refusal:
        raise UserError(refusal)
    return Job(config, loaded, folder, seeds, overwrite)


def start(
    job: Job,
    device: str | None = None,
    listener: Listener | None = None,
    engine: str = LOCAL,
) -> Run | RunSet:
    """Train ``job``; the runs of a set where the ``engine`` of that name has its workers.

    Raises:
        UserError: wrong input (nothing written), or a child failed (its last line is the message).
        RunInterrupted: SIGINT or SIGTERM; the state was saved.
        NonFinite: the numbers overflowed; the last good checkpoint is kept.
    """
    _check_engine(engine, several=job.seeds is not None)
    if job.seeds is None:
        from apart.running.run import train_one

        return train_one(job.config, job.world, job.folder, job.overwrite, device, listener)
    from apart.running.seeds import train_set

    return train_set(
        *(job.config, job.world, job.seeds, job.folder, job.overwrite),
        *(device, listener, engines.engine(engine)),
    )


def go_on(
    folder: Path,
    steps: int | None = None,
    device: str | None = None,
    listener: Listener | None = None,
    warn: Callable[[str], None] = lambda line: None,
    engine: str = LOCAL,
) -> Run | RunSet:
    """Resume the run or the set of runs in ``folder``; raises as `start` does."""
    several = not (folder / run_folder.CONFIG).exists() and run_folder.is_set(folder)
    _check_engine(engine, several)
    if not several:
        from apart.running.run import resume_one

        return resume_one(folder, steps, device, listener, warn)
    from apart.running.seeds import resume_set

    return resume_set(folder, steps, device, listener, engines.engine(engine))


def _check_engine(name: str, several: bool) -> None:
    engines.engine(name)
    if not several and name != LOCAL:
        raise UserError(
            f"--engine {name} has no effect on a single run, which trains in this process"
        )
