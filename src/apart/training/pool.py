"""Training commands side by side: one process a run, as many as there are cores. No JAX.

Talks to the children by their command line and by JSON lines of progress.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from apart._errors import RunInterrupted
from apart.training import threads
from apart.training.signals import stop_signals

Name = TypeVar("Name", bound=Hashable)
Watcher = Callable[[Name, Mapping[str, Any] | None], None]


def command(folder: Path, *words: str) -> list[str]:
    """The words of a child that goes on with the run in ``folder`` and tells its progress."""
    told = ["--progress", "json", "--no-draw", "--threads", "1"]
    return [sys.executable, "-m", "apart", "resume", str(folder), *told, *words]


def run(commands: Mapping[Name, list[str]], watch: Watcher[Name]) -> dict[Name, str]:
    """Run all commands; what went wrong, by name.

    A failure starts no further commands and waits for those under way.

    Args:
        commands: words by name, started in this order.
        watch: called with a name and its progress, and with None when it ended well. Calls come
            one at a time.

    Raises:
        RunInterrupted: SIGINT or SIGTERM; it was passed on and the children have ended.
    """
    return _Pool(watch).run(commands)


class _Pool:
    def __init__(self, watch: Watcher[Any]) -> None:
        self._watch = watch
        self._running: dict[Any, subprocess.Popen[str]] = {}
        self._lock = threading.Lock()
        self._slots = threading.Semaphore(threads.cores())
        self._failures: dict[Any, str] = {}

    def run(self, commands: Mapping[Any, list[str]]) -> dict[Any, str]:
        watchers: list[threading.Thread] = []
        with stop_signals(self._forward) as stop:
            for name, words in commands.items():
                self._slots.acquire()
                if self._failures or stop():
                    break
                watcher = threading.Thread(target=self._follow, args=(name, words))
                watcher.start()
                watchers.append(watcher)
            for watcher in watchers:
                watcher.join()
            if stop():
                raise RunInterrupted("stopped; the runs under way saved their state", stop())
        return self._failures

    def _forward(self, number: int) -> None:
        """Children are in sessions of their own: only this process hears the terminal."""
        for process in list(self._running.values()):
            process.send_signal(number)

    def _follow(self, name: Any, words: list[str]) -> None:
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        try:
            with subprocess.Popen(
                words,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=environment,
                start_new_session=True,
            ) as process:
                self._running[name] = process
                assert process.stdout is not None
                assert process.stderr is not None
                for line in process.stdout:
                    if line.startswith("{"):
                        self._tell(name, json.loads(line))
                errors = process.stderr.read().strip().split("\n")
            del self._running[name]
            if process.returncode:
                self._failures[name] = errors[-1]
            else:
                self._tell(name, None)
        finally:
            self._slots.release()

    def _tell(self, name: Any, progress: Mapping[str, Any] | None) -> None:
        with self._lock:
            self._watch(name, progress)
