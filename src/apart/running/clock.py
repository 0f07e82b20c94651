"""What a run has spent its time on, over all its processes, and when its state is saved. No JAX."""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Iterator, Mapping
from typing import Any

from apart._errors import UserError

SAVE_SECONDS = 60.0  # at least, between two checkpoints, unless the variable says otherwise
SAVE_SHARE = 0.01  # at most, of the time
_VARIABLE = "APART_SAVE_SECONDS"
_SPENT = ("wall_seconds", "train_seconds", "compile_seconds", "save_seconds")


class Clock:
    """Of one process that makes a run, or goes on with it."""

    def __init__(self) -> None:
        self._pause = _pause()
        self._earlier = dict.fromkeys(_SPENT, 0.0)  # by other processes
        self._here = dict.fromkeys(_SPENT, 0.0)
        self._last_save = 0.0  # seconds it took
        self._began = self._saved_at = time.perf_counter()

    def go_on(self, spent: Mapping[str, Any]) -> None:
        """Time that the processes before this one have spent, by name."""
        self._earlier = {name: float(spent.get(name, 0.0)) for name in _SPENT}

    def compiled(self) -> None:
        """All until now was compiling; from now on the run is under way."""
        now = time.perf_counter()
        self._here["compile_seconds"] = now - self._began
        self._began = self._saved_at = now

    @property
    def here(self) -> float:
        """Seconds that it has been under way in this process."""
        return time.perf_counter() - self._began

    @property
    def training_here(self) -> float:
        """Seconds of them in compiled training."""
        return self._here["train_seconds"]

    @contextlib.contextmanager
    def training(self) -> Iterator[None]:
        """What is done within it is training."""
        began = time.perf_counter()
        yield
        self._here["train_seconds"] += time.perf_counter() - began

    @contextlib.contextmanager
    def saving(self) -> Iterator[None]:
        """What is done within it saves the state."""
        began = time.perf_counter()
        yield
        self._saved_at = time.perf_counter()
        self._last_save = self._saved_at - began
        self._here["save_seconds"] += self._last_save

    @property
    def save_is_due(self) -> bool:
        """Whether it is time for another checkpoint."""
        pause = max(self._pause, self._last_save / SAVE_SHARE)
        return time.perf_counter() - self._saved_at > pause

    def spent(self) -> dict[str, float]:
        """Seconds, by name, of this process and those before it."""
        now = {**self._here, "wall_seconds": self.here}
        return {name: round(now[name] + self._earlier[name], 3) for name in _SPENT}


def _pause() -> float:
    """At least so many seconds between two checkpoints: fewer where machines are taken away."""
    text = os.environ.get(_VARIABLE)
    if text is None:
        return SAVE_SECONDS
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0.0 <= seconds < math.inf:
        raise UserError(f"{_VARIABLE}={text}: give seconds, such as 10")
    return seconds
