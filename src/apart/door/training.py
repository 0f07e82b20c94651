"""Training, going on, loading."""

from __future__ import annotations

import contextlib
import dataclasses
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast, overload

from apart._config import Options, check_value
from apart._errors import UserError, unknown
from apart.door.errors import in_python
from apart.methods import OURS
from apart.running import jobs
from apart.running.engines import LOCAL
from apart.running.loading import evaluable
from apart.running.progress import REPORTERS, Progress
from apart.runs import folder as run_folder
from apart.runs.folder import Run, RunSet

if TYPE_CHECKING:
    from apart.running.progress import Listener
    from apart.runs.skills import Acting
    from apart.worlds.world import World


@contextlib.contextmanager
def _shown(progress: str, listener: Listener | None) -> Iterator[Listener]:
    """Tells the reporter of that name, and the user's own listener."""
    if not isinstance(progress, str) or progress not in REPORTERS:
        raise unknown("progress", str(progress), REPORTERS)
    reporter = REPORTERS[progress]()

    def tell(now: Progress) -> None:
        reporter(now)
        if listener is not None:
            listener(now)

    try:
        yield tell
    finally:
        reporter.close()


@overload
def train(
    world: str | World = ...,
    *,
    method: str = ...,
    reading: str = ...,
    seeds: None = ...,
    slip: float = ...,
    out: str | Path | None = ...,
    overwrite: bool = ...,
    device: str | None = ...,
    engine: str = ...,
    progress: str = ...,
    listener: Listener | None = ...,
    **options: Unpack[Options],
) -> Run: ...
@overload
def train(
    world: str | World = ...,
    *,
    method: str = ...,
    reading: str = ...,
    seeds: int,
    slip: float = ...,
    out: str | Path | None = ...,
    overwrite: bool = ...,
    device: str | None = ...,
    engine: str = ...,
    progress: str = ...,
    listener: Listener | None = ...,
    **options: Unpack[Options],
) -> RunSet: ...
def train(
    world: str | World = "four_rooms",
    *,
    method: str = "apart",
    reading: str = OURS,
    seeds: int | None = None,
    slip: float = 0.0,
    out: str | Path | None = None,
    overwrite: bool = False,
    device: str | None = None,
    engine: str = LOCAL,
    progress: str = "quiet",
    listener: Listener | None = None,
    **options: Unpack[Options],
) -> Run | RunSet:
    """Train and return the finished run, or with ``seeds`` the set of runs.

    Args:
        world: a name of `apart.WORLDS`, the path of a map, ``table:gym:ID``, or a world.
        method: a name of `apart.METHODS`.
        reading: how the paper's open points are read; options of one's own come on top.
        seeds: train so many seeds, from ``seed`` on, one process each; the set is in ``out``, its
            runs in ``out/seed-N``.
        slip: probability that a random action is taken instead of the chosen one (maps).
        out: run folder; ``runs/WORLD-METHOD`` unless said.
        overwrite: replace the run or set that is in ``out``; otherwise that is an error.
        device: ``cpu``, ``gpu`` or ``tpu``; JAX's own choice unless said.
        engine: where the seeds are trained: ``local`` (processes of this machine) or ``ray``.
        progress: ``quiet`` shows a bar in terminals and notebooks; ``lines``, ``json``, ``none``.
        listener: called with a `Progress` after every slice of training.
        options: fields of the configuration (``steps``, ``seed``, ``skills``, ...).

    Raises:
        UserError: wrong input; nothing was written.
        RunInterrupted: SIGINT or SIGTERM; the state was saved.
        NonFinite: the numbers overflowed; the last good checkpoint is kept.
    """
    with in_python():
        job = jobs.prepare(
            world,
            method=method,
            reading=reading,
            options=cast("dict[str, Any]", options),
            seeds=seeds,
            slip=slip,
            out=out,
            overwrite=overwrite,
        )
        with _shown(progress, listener) as told:
            return _usable(jobs.start(job, device, told, engine))


def resume(
    path: str | Path,
    *,
    steps: int | str | None = None,
    device: str | None = None,
    engine: str = LOCAL,
    progress: str = "quiet",
    listener: Listener | None = None,
    warn: Callable[[str], None] = lambda text: warnings.warn(text, stacklevel=4),
) -> Run | RunSet:
    """Go on with the run or set in ``path``; it ends with the bits of one that never stopped.

    Args:
        path: the folder.
        steps: train to so many environment steps instead; where rates depend on the length of the
            run, that is refused.
        device: as in `train`.
        engine: as in `train`.
        progress: as in `train`.
        listener: as in `train`.
        warn: called with a line for everything that may change the bits or was passed over.

    Raises:
        UserError: no run that can go on; nothing was changed.
        RunInterrupted: SIGINT or SIGTERM; the state was saved.
        NonFinite: as in `train`.
    """
    with in_python(), _shown(progress, listener) as told:
        until: int | None = None if steps is None else check_value("steps", steps)
        return _usable(jobs.go_on(jobs.path("path", path), until, device, told, warn, engine))


def load(path: str | Path) -> Any:
    """The `Run` in ``path``, or the `RunSet` of several seeds, finished or not.

    An unfinished run (``run.finished`` is False) may be training in another process: its metrics
    are those so far, its skills those of its newest checkpoint, evaluated when first needed.
    """
    with in_python():
        return _usable(run_folder.load_any(jobs.path("path", path)))


def loaded(run: Any) -> Run | RunSet:
    """``run``, or what is in the folder of that path; `UserError` where it is neither."""
    if isinstance(run, str | Path):
        run = load(run)
    if not isinstance(run, Run | RunSet):
        raise UserError(f"run: {run!r} is not a run; give a run or the path of its folder")
    return run


def single(found: Run | RunSet) -> Run:
    """The one run that ``found`` is; `UserError` where it is a set."""
    if isinstance(found, RunSet):
        raise UserError(f"{found.path}: several runs; name one, such as {found.runs[0].path}")
    return found


def _usable(found: Run | RunSet) -> Run | RunSet:
    """``found`` with skills that can act."""
    if isinstance(found, RunSet):
        runs = [dataclasses.replace(run, opener=_policies) for run in found.runs]
        return evaluable(dataclasses.replace(found, runs=runs))
    return evaluable(dataclasses.replace(found, opener=_policies))


def _policies(run: Run) -> Acting:
    """JAX starts when the first skill acts."""
    from apart.skills.library import open_policies

    return open_policies(run)
