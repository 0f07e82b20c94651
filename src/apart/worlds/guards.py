"""Around code of others: what it raises, prints, warns of and draws, and a line while it runs."""

from __future__ import annotations

import contextlib
import io
import random
import sys
import time
import warnings
from collections.abc import Iterator

import numpy as np

from apart._errors import UserError
from apart.worlds import snapshots


@contextlib.contextmanager
def saying(name: str, what: str) -> Iterator[None]:
    """`UserError` in one line where the environment raises."""
    try:
        yield
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        raise UserError(f"{name}: {what} fails: {in_a_line(error)}") from None


def in_a_line(error: BaseException) -> str:
    """Type and message of somebody else's error, and a word where it is about a screen."""
    said = " ".join(str(error).split())
    said = said if len(said) < 300 else f"{said[:300]} ..."
    no_screen = any(word in said.lower() for word in ("display", "video device", "opengl", "glx"))
    return f"{type(error).__name__}: {said}" + (
        " (it wants a display; a search has none, so choose arguments without one)" * no_screen
    )


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """What environments print, warn of and draw from the process's generators is not ours."""
    numpys, pythons = snapshots.global_state(), random.getstate()
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        np.random.set_state(numpys)  # noqa: NPY002
        random.setstate(pythons)


class Line:
    """Where a long search is: one line, rewritten and then gone on a terminal; rare in a log."""

    def __init__(self, name: str) -> None:
        self._name, self._live = name, sys.stderr.isatty()
        self._due = time.monotonic() + (1.0 if self._live else 30.0)
        self._shown = False

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown and self._live:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def show(self, n_states: int, distance: int) -> None:
        """Say it, if it is time to."""
        if time.monotonic() < self._due:
            return
        text = f"searching {self._name}: {n_states:,} states, {distance} steps away"
        begin, end = ("\r\033[K", "") if self._live else ("", "\n")
        print(f"{begin}{text}", end=end, file=sys.stderr, flush=True)
        self._due = time.monotonic() + (0.2 if self._live else 30.0)
        self._shown = True
