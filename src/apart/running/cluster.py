"""Runs as tasks of a Ray cluster, whose machines share no disk. No JAX.

A run's folder travels: what is in it goes to the task, and what the task saves comes back, each
checkpoint as soon as it is there. So a machine that is lost costs no more than a killed process
does: the folder here is what its run goes on from elsewhere.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import signal
import socket
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, TypeAlias

from apart._errors import UserError
from apart.running import pool
from apart.running.queue import Ended, Event, note
from apart.runs import checkpoint, claims, files
from apart.runs import folder as run_folder
from apart.runs.lock import NAME as LOCK
from apart.runs.lock import Lock

Content: TypeAlias = dict[str, bytes]  # files of a run folder, by their path in it
# In the order in which they are written: a checkpoint refers to logs, its manifest to its arrays,
# and the summary says that all is there.
_BEFORE: Final = (run_folder.CONFIG, *run_folder.LOGS)
_AFTER: Final = (run_folder.SKILLS, run_folder.SUMMARY)
_MOST: Final = 20_000_000_000  # bytes of a file
_PREFIX: Final = "apart-ray-"  # of the folders of tasks
# Seconds: a task that is alive has written into its folder since, or its run holds it.
_STALE: Final = 600.0
_SECONDS_TO_ANSWER: Final = 5.0
_HERE: Final = "<run>"  # a task's folder, in words for those who have the run's own
# What a task tells: progress, a saved state, how it ended (with the state at the end).
News: TypeAlias = tuple[Mapping[str, Any] | None, Content, tuple[int, str, bool] | None]


class Cluster:
    """Workers on the cluster that RAY_ADDRESS names, or on one that is started here."""

    def __init__(self) -> None:
        try:
            import ray
        except ImportError:
            raise UserError("--engine ray needs Ray: pip install ray") from None
        self._ray: Any = ray
        self._tasks: dict[Any, Path] = {}
        self._locks: dict[Path, Lock] = {}
        self._events: deque[Event] = deque()
        self._told = 0
        self._cancelled = False

    @property
    def begins_here(self) -> bool:
        """Whether the cluster is one that is still to be started."""
        return not os.environ.get("RAY_ADDRESS")

    def __enter__(self) -> Cluster:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would call home
        os.environ.setdefault("RAY_worker_niceness", "0")  # this is the work, not beside it
        own: dict[str, Any] = {}
        if self.begins_here:  # not in one that happens to run here
            own = {"address": "local", "include_dashboard": False}
            if not os.environ.get("RAY_AUTH_TOKEN_PATH"):  # Ray would write one into HOME
                os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        else:
            _check_that_it_answers(os.environ["RAY_ADDRESS"])
        try:
            self._ray.init(log_to_driver=False, logging_level=logging.ERROR, **own)
        except (ConnectionError, OSError, ValueError, RuntimeError) as error:
            raise UserError(f"--engine ray: no cluster ({' '.join(str(error).split())})") from None
        if not self._cores:
            note("the cluster has no cores yet; runs wait for one")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for lock in self._locks.values():
            lock.close()
        self._ray.shutdown()

    @property
    def free(self) -> int:
        """Twice as many runs as cores: what waits there makes a cluster that can grow do so."""
        return max(2 * self._cores, 1) - len(self._tasks)

    @property
    def _cores(self) -> int:
        return int(self._ray.cluster_resources().get("CPU", 0))

    def start(self, run: Path, words: Sequence[str]) -> None:
        """Send the folder to a task; nobody else may write it until the task has ended."""
        try:
            self._locks[run] = Lock(run)
            content = state(run, checkpoint.KEPT)  # where the last is damaged, the one before
        except UserError as error:
            self._end(run, Ended(2, str(error)))
            return
        train = self._ray.remote(num_cpus=1, max_retries=0, num_returns="streaming")(_elsewhere)
        self._tasks[train.remote(content, list(words))] = run

    def wait(self, seconds: float) -> Event | None:
        """What a task says; its states are written into the folder on the way."""
        if self._told and not self._cancelled:
            self._cancelled = True
            for task in self._tasks:
                self._ray.cancel(task, force=True)
        if self._tasks and not self._events:
            ready, _ = self._ray.wait(list(self._tasks), num_returns=1, timeout=seconds)
            for task in ready:
                self._hear(task, self._tasks[task])
        return self._events.popleft() if self._events else None

    def stop(self, number: int) -> None:
        """Tasks are ended; what they trained since their last checkpoint is trained again."""
        self._told = number

    @property
    def stopped(self) -> str:
        """Tasks are not asked: a machine may be one that answers late."""
        return "unfinished runs continue from their last checkpoints"

    def _hear(self, task: Any, run: Path) -> None:
        errors = self._ray.exceptions
        try:
            progress, content, ended = self._ray.get(next(task))
            receive(run, content)
        except StopIteration:
            progress, ended = None, (-signal.SIGKILL, "a task ended without an error message", True)
        except errors.RayTaskError as error:  # in our own code there
            progress, ended = None, (2, str(error).strip().split("\n")[-1], False)
        except errors.RayError as error:
            words = f"lost with its worker ({type(error).__name__})"
            progress, ended = None, (-(self._told or signal.SIGKILL), words, True)
        except UserError as error:  # the disk here
            progress, ended = None, (2, str(error), False)
            self._ray.cancel(task, force=True)
        if progress is not None:
            self._events.append((run, progress))
        if ended is not None:
            del self._tasks[task]
            code, line, lost = ended
            self._end(run, Ended(code, line.replace(_HERE, str(run)), lost))

    def _end(self, run: Path, ended: Ended) -> None:
        if run in self._locks:
            self._locks.pop(run).close()
        self._events.append((run, ended))


def _check_that_it_answers(address: str) -> None:
    """`UserError` where nobody listens at ``HOST:PORT``: Ray would try that for many minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if not port.isdecimal():
        return  # what is wrong with it, Ray says at once
    try:
        socket.create_connection((host.strip("[]"), int(port)), _SECONDS_TO_ANSWER).close()
    except (OSError, OverflowError) as error:
        raise UserError(
            f"--engine ray: no answer from {address}, the RAY_ADDRESS ({error})"
        ) from None


def state(folder: Path, newest: int = 1) -> Content:
    """What the run in ``folder`` goes on from: configuration, logs, its ``newest`` checkpoints.

    While it goes on, that is: logs only grow, so that they are read after what refers to them.
    """
    found: Content = {}
    for path in checkpoint.manifests(folder / run_folder.CHECKPOINTS)[-newest:]:
        for part in (path, path.with_suffix(".safetensors")):
            found[f"{run_folder.CHECKPOINTS}/{part.name}"] = files.read_bytes(part, _MOST)
    return {**found, **_read(folder, _BEFORE)}


def _read(folder: Path, names: Sequence[str]) -> Content:
    there = [name for name in names if (folder / name).exists()]
    return {name: files.read_bytes(folder / name, _MOST) for name in there}


def receive(folder: Path, content: Mapping[str, bytes]) -> None:
    """Make ``folder`` what it was where ``content`` was read; files of other names are left out."""
    if run_folder.SUMMARY not in content:  # it goes on longer
        files.remove(*(folder / name for name in reversed(_AFTER)))
    for name in filter(content.__contains__, _BEFORE):
        files.write_bytes(folder / name, content[name])
    states = folder / run_folder.CHECKPOINTS
    for name in sorted(content, reverse=True):  # arrays before their manifest
        where, _, part = name.rpartition("/")
        if where == run_folder.CHECKPOINTS and checkpoint.is_part(part):
            files.make_folder(states)
            files.write_bytes(states / part, content[name])
    checkpoint.keep_newest(states)
    for name in filter(content.__contains__, _AFTER):
        files.write_bytes(folder / name, content[name])


def _elsewhere(content: Content, words: list[str]) -> Iterator[News]:
    """Train in a temporary folder of another machine."""
    _sweep_up(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as where:
        folder = Path(where)
        receive(folder, content)
        sent = _newest(folder)
        last: deque[str] = deque(maxlen=1)
        with pool.child(folder, words) as process:
            try:
                for progress in pool.said(process, last):
                    saved: Content = {}
                    if _newest(folder) not in (sent, None):
                        saved = _whole(folder)
                    if saved:
                        sent = _newest(folder)
                    yield progress, saved, None
            finally:
                process.kill()  # where nobody listens any more; it has ended otherwise
        ended = pool.ending(process.returncode, last)
        line = ended.line.replace(where, _HERE)
        yield None, {**state(folder), **_read(folder, _AFTER)}, (ended.code, line, ended.lost)


def _sweep_up(place: Path) -> None:
    """Remove what tasks left in ``place`` that were ended at once: nobody goes on with it there."""
    for path in place.glob(f"{_PREFIX}*"):
        with contextlib.suppress(UserError, OSError):  # in use, or of somebody else
            if time.time() - path.lstat().st_mtime > _STALE and not path.is_symlink():
                claims.claim(path, overwrite=True).close()  # refused while a run is under way
                files.remove(path / LOCK)
                files.remove_folder(path)


def _newest(folder: Path) -> str | None:
    known = checkpoint.manifests(folder / run_folder.CHECKPOINTS)
    return known[-1].name if known else None


def _whole(folder: Path) -> Content:
    """The state while the run goes on; nothing where it was just about to be replaced."""
    try:
        return state(folder)
    except UserError:
        return {}
