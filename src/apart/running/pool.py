"""Training commands side by side: one process a run, as many as there are cores. No JAX.

Talks to the children by their command line and by JSON lines of progress.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

from apart._errors import NonFinite, RunInterrupted, UserError
from apart.running import machine
from apart.running.signals import stop_signals

Name = TypeVar("Name", bound=Hashable)
Watcher = Callable[[Name, Mapping[str, Any] | None], None]
NOTE = "apart: note: "


class Failure(NamedTuple):
    """How a command failed: its exit code and its last line."""

    code: int
    line: str

    def error(self, where: object) -> Exception:
        """As the child would have raised it here."""
        kind = NonFinite if self.code == 3 else UserError
        return kind(f"{where}: {self.line.removeprefix('apart: ')}")


def command(folder: Path, *words: str) -> list[str]:
    """The words of a child that goes on with the run in ``folder`` and tells its progress."""
    told = ["--progress", "json", "--no-draw", "--threads", "1"]
    return [sys.executable, "-m", "apart", "resume", str(folder), *told, *words]


def run(
    commands: Mapping[Name, list[str]], watch: Watcher[Name], until: float = math.inf
) -> dict[Name, Failure]:
    """Run all commands; what went wrong, by name.

    A failure starts no further commands and waits for those under way. What children note is passed
    on to standard error.

    Args:
        commands: words by name, started in this order.
        watch: called with a name and its progress, and with None when it ended well. Calls come
            one at a time; what it raises stops the children and is raised here.
        until: when `time.monotonic` says so, no further command is started and those under way
            are asked to end, as by SIGTERM; that is no failure.

    Raises:
        RunInterrupted: SIGINT or SIGTERM; it was passed on and the children have ended.
    """
    return _Pool(watch).run(commands, until)


class _Pool:
    def __init__(self, watch: Watcher[Any]) -> None:
        self._watch = watch
        self._running: dict[Any, subprocess.Popen[str]] = {}
        self._lock = threading.Lock()
        self._slots = threading.Semaphore(machine.cores())
        self._failures: dict[Any, Failure] = {}
        self._error: BaseException | None = None
        self._late = False
        self._stop: Callable[[], int] = lambda: 0

    def run(self, commands: Mapping[Any, list[str]], until: float) -> dict[Any, Failure]:
        watchers: list[threading.Thread] = []
        clock = threading.Timer(min(until - time.monotonic(), threading.TIMEOUT_MAX), self._end)
        clock.daemon = True
        with stop_signals(self._forward) as stop:
            self._stop = stop
            clock.start()
            for name, words in commands.items():
                self._slots.acquire()
                if self._failures or self._error or self._late or stop():
                    break
                watcher = threading.Thread(target=self._follow, args=(name, words))
                watcher.start()
                watchers.append(watcher)
            for watcher in watchers:
                watcher.join()
            clock.cancel()
            if self._error is not None:
                raise self._error
            if stop():
                raise RunInterrupted("stopped; the runs under way saved their state", stop())
        return self._failures

    def _end(self) -> None:
        """Time is up."""
        self._late = True
        self._forward(signal.SIGTERM)

    def _forward(self, number: int) -> None:
        """Children are in sessions of their own: only this process hears the terminal."""
        for process in list(self._running.values()):
            process.send_signal(number)

    def _follow(self, name: Any, words: list[str]) -> None:
        try:
            code, line = self._listen(name, words)
            ended = self._late and code in (-signal.SIGTERM, 128 + signal.SIGTERM)
            if code and not ended:
                self._failures[name] = Failure(code, line)
            elif not code:
                self._tell(name, None)
        except BaseException as error:
            self._error = self._error or error
        finally:
            self._running.pop(name, None)
            self._slots.release()

    def _listen(self, name: Any, words: list[str]) -> tuple[int, str]:
        """Run one child to its end; its exit code and its last line on standard error."""
        with subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            start_new_session=True,
        ) as process:
            self._running[name] = process
            if self._stop() or self._late:  # it came before the child was known
                process.send_signal(self._stop() or signal.SIGTERM)
            assert process.stdout is not None
            assert process.stderr is not None
            last: deque[str] = deque(maxlen=1)
            drain = threading.Thread(target=_drain, args=(process.stderr, last))
            drain.start()
            try:
                for line in process.stdout:
                    if line.startswith("{"):
                        self._tell(name, json.loads(line))
            except BaseException:
                self._forward(signal.SIGTERM)
                for _ in process.stdout:  # it saves and ends; nobody listens any more
                    pass
                raise
            finally:
                drain.join()
                process.wait()
        code = process.returncode
        return code, last[0] if last else f"ended by signal {-code}" if code < 0 else f"exit {code}"

    def _tell(self, name: Any, progress: Mapping[str, Any] | None) -> None:
        with self._lock:
            self._watch(name, progress)


def _drain(stream: IO[str], last: deque[str]) -> None:
    """Read all, or the child would wait; keep the last line, pass notes on."""
    for line in stream:
        if line.startswith(NOTE):
            print(line.rstrip(), file=sys.stderr, flush=True)
        elif line.strip():
            last.append(line.strip())
