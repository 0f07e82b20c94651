"""Runs in processes of this machine: one process a run, as many as there are cores. No JAX.

Talks to the children by their command line and by JSON lines of progress.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from typing import IO, Any

from apart.running import machine
from apart.running.queue import NOTE, STOPPED, Ended, Event


def command(folder: Any, *words: str) -> list[str]:
    """The words of a child that goes on with the run in ``folder`` and tells its progress."""
    told = ["--progress", "json", "--no-draw", "--threads", "1"]
    return [sys.executable, "-m", "apart", "resume", *told, *words, "--", str(folder)]


class Pool:
    """Workers on this machine. What children note is passed on to standard error."""

    def __init__(self) -> None:
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._running: dict[Any, subprocess.Popen[str]] = {}
        self._busy = 0
        self._told = 0  # the signal that all were told to end by

    @property
    def free(self) -> int:
        """A run for each core."""
        return machine.cores() - self._busy

    def start(self, run: Any, words: Sequence[str]) -> None:
        """In a thread: starting a process takes a while."""
        self._busy += 1
        threading.Thread(target=self._follow, args=(run, words), daemon=True).start()

    def wait(self, seconds: float) -> Event | None:
        """What a child said, or how it ended."""
        try:
            event = self._events.get(timeout=seconds)
        except queue.Empty:
            return None
        self._busy -= isinstance(event[1], Ended)
        return event

    def stop(self, number: int) -> None:
        """Children are in sessions of their own: only this process hears the terminal."""
        if self._told:
            return
        self._told = number
        for process in list(self._running.values()):
            process.send_signal(number)

    @property
    def stopped(self) -> str:
        """They end in their own time."""
        return "unfinished runs saved their state"

    def _follow(self, run: Any, words: Sequence[str]) -> None:
        try:
            ended = self._listen(run, words)
        except Exception as error:  # no process, no memory: whatever it is, the queue must hear it
            ended = Ended(1, f"{type(error).__name__}: {error}")
        self._running.pop(run, None)
        self._events.put((run, ended))

    def _listen(self, run: Any, words: Sequence[str]) -> Ended:
        """Run one child to its end."""
        last: deque[str] = deque(maxlen=1)
        with child(run, words, start_new_session=True) as process:  # Ctrl-C is passed on by us
            self._running[run] = process
            if self._told:  # it came before the child was known
                process.send_signal(self._told)
            for progress in said(process, last):
                if not self._told:
                    self._events.put((run, progress))
            process.wait()
        return ending(process.returncode, last)


def child(folder: object, words: Sequence[str], **more: Any) -> subprocess.Popen[str]:
    """A process that goes on with the run in ``folder``; ``more`` is for `subprocess.Popen`."""
    return subprocess.Popen(
        command(folder, *words),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        **more,
    )


def said(process: subprocess.Popen[str], last: deque[str]) -> Iterator[dict[str, Any]]:
    """The progress that a child tells until it closes its output; its last line of errors."""
    assert process.stdout is not None
    errors = threading.Thread(target=drain, args=(process.stderr, last), daemon=True)
    errors.start()
    for line in process.stdout:
        if (progress := told(line)) is not None:
            yield progress
    errors.join()


def told(line: str) -> dict[str, Any] | None:
    """The progress in a line of a child; None in any other line, or half of one."""
    with contextlib.suppress(ValueError):
        found = json.loads(line)
        return found if isinstance(found, dict) else None
    return None


def ending(code: int, last: Sequence[str]) -> Ended:
    """How a process ended that had these last words; one that somebody ended is lost."""
    if code < 0:
        return Ended(code, f"killed by {_signal_name(-code)}", lost=True)
    if code in STOPPED:
        return Ended(code, f"stopped by {_signal_name(code - 128)}, state saved", lost=True)
    return Ended(code, last[0] if last else f"exit {code}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def drain(stream: IO[str], last: deque[str]) -> None:
    """Read all, or the child would wait; keep the last line, pass notes on."""
    for line in stream:
        if line.startswith(NOTE):
            print(line.rstrip(), file=sys.stderr, flush=True)
        elif says_why(line):
            last.append(line.strip())


def says_why(line: str) -> bool:
    """Whether a line of a child may be its reason: JAX ends its tracebacks with a note."""
    text = line.strip()
    return bool(text.strip("-")) and not text.startswith("For simplicity, JAX has removed")


def last_words(text: str) -> str:
    """The reason in all that a child wrote to standard error."""
    return next((line.strip() for line in reversed(text.splitlines()) if says_why(line)), "")
