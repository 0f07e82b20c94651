"""SIGINT and SIGTERM as a wish to stop, not as death. Does not import JAX."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_NUMBERS = (signal.SIGINT, signal.SIGTERM)
_AGAIN = 0.5  # seconds: wrappers such as timeout(1) send the same signal twice at once


def _say(line: bytes) -> None:
    """On a line of its own, whatever a bar has written there."""
    with contextlib.suppress(OSError):
        os.write(2, b"\n" + line if os.isatty(2) else line)


@contextmanager
def stop_signals(also: Callable[[int], None] = lambda _: None) -> Iterator[Callable[[], int]]:
    """Note SIGINT and SIGTERM instead of dying; a second one exits at once.

    Yields a function that returns the number of the signal received, or 0. ``also`` is called with
    the number when it arrives. Without effect outside the main thread.
    """
    received = 0

    def note(number: int, _: FrameType | None) -> None:
        nonlocal received
        if not received:
            received = number
            also(number)
            _say(b"apart: stopping: saving the state (a second signal stops at once)\n")

    if threading.current_thread() is not threading.main_thread():
        yield lambda: 0
        return
    with _second_one_exits():
        before = {number: signal.signal(number, note) for number in _NUMBERS}
        try:
            yield lambda: received
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@contextmanager
def _second_one_exits() -> Iterator[None]:
    """A thread that hears of signals while the main one is compiling or waiting for the disk."""
    end, start = os.pipe()
    os.set_blocking(start, False)
    before = signal.set_wakeup_fd(start, warn_on_full_buffer=False)

    def watch() -> None:
        first = 0.0
        while number := os.read(end, 1)[0]:  # 0: no more
            if number not in _NUMBERS:
                continue
            now = time.monotonic()
            first = first or now
            if now - first > _AGAIN:
                _say(b"apart: stopped at once\n")
                os._exit(128 + number)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.write(start, b"\0")
        watcher.join()
        os.close(start)
        os.close(end)
