"""SIGINT and SIGTERM as a wish to stop, not as death. Does not import JAX."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stop_signals(also: Callable[[int], None] = lambda _: None) -> Iterator[Callable[[], int]]:
    """Note SIGINT and SIGTERM instead of dying; a second one kills at once.

    Yields a function that returns the number of the signal received, or 0. ``also`` is called with
    the number when it arrives. Without effect outside the main thread.
    """
    received = 0

    def note(number: int, _: FrameType | None) -> None:
        nonlocal received
        received = number
        signal.signal(number, signal.SIG_DFL)
        also(number)

    if threading.current_thread() is not threading.main_thread():
        yield lambda: 0
        return
    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
