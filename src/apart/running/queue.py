"""One queue of runs, for everything that trains several: seeds, reproductions, comparisons, sweeps.

An engine gives workers. A worker that is lost (a process killed, a machine gone) costs what was
trained since the last checkpoint: its run goes back into the queue and the next worker resumes it,
to the same bits. A run that fails does not touch the others. No JAX.
"""

from __future__ import annotations

import signal
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, TypeVar

from apart._errors import NonFinite, RunInterrupted, UserError
from apart.running.signals import stop_signals

Name = TypeVar("Name", bound=Hashable)
NOTE: Final = "apart: note: "
_TRIES: Final = 3  # workers that may be lost in a row before the run comes any further
_PATIENCE: Final = 1.0  # seconds
_NAMED: Final = 5  # runs that failed, in the error at the end
# Exit codes of who was asked to end, and did.
STOPPED: Final = {code for n in (signal.SIGINT, signal.SIGTERM) for code in (-n, 128 + n)}


class Ended(NamedTuple):
    """How a worker ended with a run: the exit code of its process and its last line."""

    code: int
    line: str = ""
    lost: bool = False  # nobody asked it to end, and the run itself did not fail


class Failure(NamedTuple):
    """How a run failed: its exit code and its last line."""

    code: int
    line: str

    @property
    def words(self) -> str:
        """The line, for people."""
        return self.line.removeprefix("apart: ")

    def error(self, where: object) -> Exception:
        """As the child would have raised it here."""
        kind = NonFinite if self.code == 3 else UserError
        return kind(self.of(where))

    def of(self, where: object) -> str:
        """Its words, and of which run they are: the child may have said so already."""
        said = self.words.partition(": ")[0].endswith(str(where))
        return self.words if said else f"{where}: {self.words}"


# What is told of a run: its progress; that it failed; None: it ended well.
Watcher = Callable[[Name, Mapping[str, Any] | Failure | None], None]
Event: TypeAlias = tuple[Any, Mapping[str, Any] | Ended]  # the run, and its progress or its end


class Workers(Protocol):
    """Who trains. A run is a folder with its config.json; ``words`` are options of `apart resume`.

    All but ``stop`` are called by one thread.
    """

    @property
    def free(self) -> int:
        """How many more runs may be started now."""

    def start(self, run: Any, words: Sequence[str]) -> None:
        """Let a worker go on with ``run``; what comes of it, `wait` says."""

    def wait(self, seconds: float) -> Event | None:
        """The next thing that happens; None if nothing does in time."""

    def stop(self, number: int) -> None:
        """Ask all runs under way to save and end, as by this signal; those started later too.

        Asked again it does nothing: a second signal would end them before they have saved.
        """

    @property
    def stopped(self) -> str:
        """What became of the runs under way, in words, once they were asked to end."""


def run(
    runs: Mapping[Name, Sequence[str]],
    watch: Watcher[Name],
    until: float,
    workers: Workers,
) -> dict[Name, Failure]:
    """Train all runs; what went wrong, by run.

    Args:
        runs: words for `Workers.start`, by run, started in this order.
        watch: called with a run and its progress, with None when it ended well, and with its
            `Failure`. What it raises stops the workers and is raised here.
        until: when `time.monotonic` says so, no further run is started and those under way are
            asked to end, as by SIGTERM; that is no failure.
        workers: of an engine.

    Raises:
        RunInterrupted: SIGINT or SIGTERM; it was passed on and the workers have ended.
    """
    with stop_signals(workers.stop) as stop:
        failures = _Queue(runs, watch, workers, stop).run(until)
        if stop():
            raise RunInterrupted(f"stopped; {workers.stopped}", stop())
    return failures


class _Queue:
    def __init__(
        self,
        runs: Mapping[Any, Sequence[str]],
        watch: Watcher[Any],
        workers: Workers,
        stop: Callable[[], int],
    ) -> None:
        self._runs, self._watch, self._workers, self._stop = runs, watch, workers, stop
        self._waiting = deque(runs)
        self._busy: set[Any] = set()
        self._fresh: set[Any] = set()  # started, and not heard of yet
        self._began: dict[Any, int] = {}  # steps at which a worker went on last
        self._losses: Counter[Any] = Counter()
        self._failures: dict[Any, Failure] = {}
        self._late = False

    def run(self, until: float) -> dict[Any, Failure]:
        try:
            while self._start_some(until) or self._busy:
                left = until - time.monotonic()
                self._hear(min(max(left, 0.0) or _PATIENCE, _PATIENCE))
        except BaseException:
            self._workers.stop(signal.SIGTERM)
            while self._busy:  # they save and end; nobody listens any more
                event = self._workers.wait(_PATIENCE)
                if event is not None and isinstance(event[1], Ended):
                    self._busy.discard(event[0])
            raise
        return self._failures

    @property
    def _halted(self) -> bool:
        """Whether the workers were asked to end."""
        return self._late or bool(self._stop())

    def _start_some(self, until: float) -> bool:
        """Whether there are runs that wait for a worker still."""
        if time.monotonic() >= until and not self._halted:
            self._late = True
            self._workers.stop(signal.SIGTERM)
        while self._waiting and not self._halted and self._workers.free > 0:
            run = self._waiting.popleft()
            self._workers.start(run, self._runs[run])
            self._busy.add(run)  # not before: who never began never ends
            self._fresh.add(run)
        return bool(self._waiting) and not self._halted

    def _hear(self, seconds: float) -> None:
        event = self._workers.wait(seconds)
        if event is None:
            return
        run, news = event
        if isinstance(news, Ended):
            self._busy.discard(run)
            self._end(run, news)
            return
        if run in self._fresh and news.get("env_steps", 0) > self._began.get(run, -1):
            self._began[run] = news.get("env_steps", 0)
            self._losses[run] = 0
        self._fresh.discard(run)
        self._watch(run, news)

    def _end(self, run: Any, ended: Ended) -> None:
        if not ended.code:
            self._watch(run, None)
        elif self._halted and ended.code in STOPPED:
            pass  # it saved its state
        elif self._halted and ended.lost:
            note(f"{run}: {ended.line}; it continues from its last checkpoint")
        elif ended.lost and not self._halted and self._losses[run] + 1 < _TRIES:
            self._losses[run] += 1
            note(f"{run}: {ended.line}; another worker continues it")
            self._waiting.append(run)
        else:
            failure = self._failures[run] = Failure(ended.code, ended.line)
            if len(self._runs) > 1:
                note(f"failed: {failure.of(run)}")
            self._watch(run, failure)


def note(words: str) -> None:
    """A line on stderr, for who watches."""
    print(f"{NOTE}{words}", file=sys.stderr, flush=True)


def raise_failures(failures: Mapping[Any, Failure], of: int) -> None:
    """One error for the runs that failed, of so many; nothing without failures.

    It names the first ones: each was named when it failed.
    """
    if not failures:
        return
    (where, first), *more = failures.items()
    if not more:
        raise first.error(where)
    code = first.code if len({failure.code for failure in failures.values()}) == 1 else 2
    named = list(failures.items())[:_NAMED]
    words = "; ".join(failure.of(run) for run, failure in named)
    if len(failures) > _NAMED:
        words += f"; {len(failures) - _NAMED} more, named above"
    raise Failure(code, words).error(f"{len(failures)} of {of} runs failed")
