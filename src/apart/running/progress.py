"""Words while training: a live bar on a terminal, plain lines in a log, JSON for programs."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol, TextIO, TypeAlias

from apart.runs.folder import found


class Progress(NamedTuple):
    """Where a run is, or a set of runs: sums over its seeds, of measures their mean.

    ``mean_reward`` and ``discriminator_accuracy`` are numbers right after an evaluation and None
    between evaluations; ``n_effective`` is that of the last one.
    """

    env_steps: int
    total_steps: int
    n_effective: float
    n_available: int | None
    steps_per_second: float
    n_skills: int
    counted: bool = True  # whether the world tells skills apart; else ``n_effective`` is no count
    mean_reward: float | None = None
    discriminator_accuracy: float | None = None

    @property
    def seconds_left(self) -> float:
        """At the speed so far."""
        return (self.total_steps - self.env_steps) / max(self.steps_per_second, 1e-9)


Listener: TypeAlias = Callable[[Progress], None]


class Reporter(Protocol):
    """Takes a `Progress` now and then; ``close`` leaves the terminal tidy."""

    def __call__(self, progress: Progress) -> None:
        """Take note of ``progress``."""

    def close(self) -> None:
        """No more is coming."""


class Bar:
    """A live bar: steps, skills found so far, steps per second, time left."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            BarColumn(bar_width=24),
            TextColumn("{task.fields[text]}"),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task("train", total=None, text="compiling")
        self._bar.start()

    def __call__(self, progress: Progress) -> None:
        """Show where the run is."""
        self._bar.update(
            self._task,
            total=progress.total_steps,
            completed=progress.env_steps,
            text=words(progress),
        )

    def close(self) -> None:
        """Stop redrawing."""
        self._bar.stop()


class Lines:
    """A line for every tenth of the run and at least one a minute, the first after 5 seconds."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._tenth, self._last, self._pause = 0, math.inf, 5.0

    def __call__(self, progress: Progress) -> None:
        """Write a line if one is due."""
        tenth = 10 * progress.env_steps // progress.total_steps
        now = time.monotonic()
        if progress.steps_per_second > 0:  # it is under way
            self._last = min(self._last, now)
        waited = now - self._last > self._pause
        if tenth > self._tenth or waited:
            self._tenth, self._last, self._pause = tenth, now, 60.0
            print(words(progress), file=self._stream, flush=True)

    def close(self) -> None:
        """Nothing to tidy."""


class Json:
    """One JSON object a line on standard output, for programs that watch."""

    def __call__(self, progress: Progress) -> None:
        """Write it."""
        print(json.dumps(progress._asdict()), flush=True)

    def close(self) -> None:
        """Nothing to tidy."""


class Silent:
    """Says nothing."""

    def __call__(self, progress: Progress) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


def _auto() -> Reporter:
    return Bar() if sys.stderr.isatty() else Lines()


def _quiet() -> Reporter:
    """For Python: a bar where somebody looks (a terminal, a notebook), else nothing."""
    notebook = "ipykernel" in sys.modules
    return Bar() if sys.stderr.isatty() or notebook else Silent()


REPORTERS: dict[str, Callable[[], Reporter]] = {
    "auto": _auto,
    "bar": Bar,
    "lines": Lines,
    "json": Json,
    "none": Silent,
    "quiet": _quiet,
}


def words(progress: Progress) -> str:
    """``1,250,000 / 5,000,000 steps · 71 of 85 skills · 41,200 steps/s · 1:31 left``."""
    if not progress.steps_per_second:
        return f"{progress.env_steps:,} / {progress.total_steps:,} steps · compiling"
    skills = found(progress.n_effective, progress.n_available, progress.n_skills)
    return (
        f"{progress.env_steps:,} / {progress.total_steps:,} steps · "
        f"{f'{skills} skills · ' * progress.counted}"
        f"{progress.steps_per_second:,.0f} steps/s · {duration(progress.seconds_left)} left"
    )


def several(n: float, noun: str) -> str:
    """``1 run``, ``2 runs``, ``1,000 steps``."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def duration(seconds: float) -> str:
    """``1:31``, ``2:04:10`` or, from two days on, ``3.5 days``."""
    total = round(max(seconds, 0.0))
    if total >= 2 * 86_400:
        return f"{total / 86_400:.1f} days"
    hours, minutes = total // 3600, total // 60 % 60
    return f"{hours}:{minutes:02d}:{total % 60:02d}" if hours else f"{minutes}:{total % 60:02d}"
