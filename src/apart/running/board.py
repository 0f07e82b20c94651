"""What a reproduction shows while it trains: a live table on a terminal, plain lines in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from apart.running.progress import duration

if TYPE_CHECKING:
    from rich.table import Table

Say = Callable[[str], None]
_UNKNOWN = "unknown time"


class Board:
    """Who is done, who is under way, how long it takes still.

    ``cost`` guesses the seconds of every run that is to be trained; ``groups`` says which runs each
    experiment needs, those that were done before included.
    """

    def __init__(
        self, cost: Mapping[Path, float], groups: Mapping[str, Collection[Path]], say: Say
    ) -> None:
        self._cost = cost
        self._share = dict.fromkeys(cost, 0.0)
        self._before: dict[Path, float] = {}  # share of a run that was trained earlier
        self._failed: set[Path] = set()
        self._groups, self._say = groups, say
        self._began = self._told = time.monotonic()
        self._latest = ""
        self._live: Any = None

    def __enter__(self) -> Board:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(self.table(), console=Console(stderr=True), refresh_per_second=2)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.update(self.table())
            self._live.stop()

    def under_way(self, folder: Path, share: float) -> None:
        """``share`` of a run is trained; it is done when `done` says so."""
        self._before.setdefault(folder, share)
        self._share[folder] = min(share, 0.999)
        self._show("", due=time.monotonic() - self._told > 60)

    def done(self, folder: Path, words: str) -> None:
        """A run ended; ``words`` say with what."""
        self._share[folder] = 1.0
        self._latest = words
        self._show(words, due=True)

    def failed(self, folder: Path) -> None:
        """A run ended with an error, which is said elsewhere: no time is needed for it."""
        self._failed.add(folder)
        self._show("", due=True)

    def _show(self, words: str, due: bool) -> None:
        if self._live is not None:
            self._live.update(self.table())
        elif due:
            self._told = time.monotonic()
            finished = sum(share == 1.0 for share in self._share.values())
            failed = f", {len(self._failed)} failed" if self._failed else ""
            far = f"{finished} of {len(self._share)} done{failed}, {self._left()} left"
            self._say(f"[{far}] {words}".rstrip())

    def _left(self) -> str:
        """At the speed so far, of what was trained here."""
        left = sum(
            (1.0 - share) * self._cost[folder]
            for folder, share in self._share.items()
            if folder not in self._failed
        )
        made = sum(
            (share - self._before.get(folder, 0.0)) * self._cost[folder]
            for folder, share in self._share.items()
        )
        if made <= 0.0:
            return _UNKNOWN
        return duration(left / made * (time.monotonic() - self._began))

    def table(self) -> Table:
        """An experiment a row."""
        from rich.table import Table

        caption = f"time left: {self._left()}" + (
            f" · last: {self._latest}" if self._latest else ""
        )
        table = Table(caption=caption, caption_justify="left", box=None)
        table.add_column("experiment")
        failures = ("failed",) if self._failed else ()
        for name in ("done", "running", "waiting", *failures, "of"):
            table.add_column(name, justify="right")
        for name, folders in self._groups.items():
            shares = [
                self._share.get(folder, 1.0) for folder in folders if folder not in self._failed
            ]
            done = sum(share == 1.0 for share in shares)
            waiting = sum(share == 0.0 for share in shares)
            counts = [done, len(shares) - done - waiting, waiting]
            if self._failed:
                counts.append(len(folders) - len(shares))
            style = "dim" if done == len(shares) else ""
            numbers = [str(n) for n in (*counts, len(folders))]
            table.add_row(name, *numbers, style=style)
        return table
