"""Around code of others: what it raises, prints, warns of and draws, and a line while it runs."""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import random
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from types import FrameType
from typing import Any, Final

import numpy as np

from apart._errors import UserError
from apart.worlds import snapshots


class NoRender(UserError):
    """A world that gives no pictures of itself."""


@contextlib.contextmanager
def saying(name: str, what: str) -> Iterator[None]:
    """`UserError` in one line where the environment raises."""
    try:
        yield
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        raise UserError(f"{name}: {what} fails: {in_a_line(error)}") from None


def of_reset(name: str, given: Any) -> Any:
    """The observation in what ``reset`` gave; `UserError` where that is not as it should be."""
    if not isinstance(given, tuple) or len(given) != 2:
        raise UserError(f"{name}: reset must return (observation, info), not {_kind(given)}")
    return given[0]


def of_step(name: str, given: Any) -> tuple[Any, bool, bool]:
    """Observation, terminated and truncated of what ``step`` gave; `UserError` as in `of_reset`."""
    if not isinstance(given, tuple) or len(given) != 5:
        raise UserError(
            f"{name}: step must return (observation, reward, terminated, truncated, info), not "
            f"{_kind(given)}"
        )
    obs, _, terminated, truncated, _ = given
    return obs, _flag(name, "terminated", terminated), _flag(name, "truncated", truncated)


def _kind(given: Any) -> str:
    kind = type(given).__name__
    return f"{len(given)} values" if isinstance(given, tuple) else f"one value ({kind})"


def _flag(name: str, what: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    number = np.asarray(value)
    if number.size != 1 or number.dtype.kind not in "biuf":
        raise UserError(f"{name}: step returns {what} = {value!r}, not True or False")
    return bool(number.item())


def in_a_line(error: BaseException) -> str:
    """Type and message of somebody else's error, and a word where it is about a screen."""
    said = " ".join(str(error).split())
    said = said if len(said) < 300 else f"{said[:300]} ..."
    no_screen = any(word in said.lower() for word in ("display", "video device", "opengl", "glx"))
    return f"{type(error).__name__}: {said}" + (
        " (it needs a display, and there is none; choose arguments that need none)" * no_screen
    )


@contextlib.contextmanager
def _aside() -> Iterator[None]:
    """What is written past Python to standard output (C does) goes to standard error."""
    try:
        ours = os.dup(1)
    except OSError:  # it is closed
        yield
        return
    try:
        with contextlib.suppress(OSError):
            os.dup2(2, 1)
        yield
    finally:
        ctypes.CDLL(None).fflush(None)  # what C has not written yet
        os.dup2(ours, 1)
        os.close(ours)


@contextlib.contextmanager
def undisturbed(seed: int | None = None) -> Iterator[None]:
    """What environments print, warn of and draw from the process's generators is not ours.

    With ``seed`` those generators begin with it, so that who draws from them repeats itself.
    """
    numpys, pythons = snapshots.global_state(), random.getstate()
    try:
        if seed is not None:
            np.random.seed(seed)  # noqa: NPY002
            random.seed(seed)
        with _aside(), contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        np.random.set_state(numpys)  # noqa: NPY002
        random.setstate(pythons)


_OFFSCREEN: Final = {"MUJOCO_GL": "egl", "SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}


@contextlib.contextmanager
def offscreen() -> Iterator[None]:
    """Where there is no display, what draws is told to do without; unless the user says how."""
    if any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")):
        yield
        return
    ours = {name: value for name, value in _OFFSCREEN.items() if name not in os.environ}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name in ours:
            os.environ.pop(name, None)


class _Late(BaseException):
    """Raised inside code that does not come back; no ``except Exception`` there stops it."""


class Watch:
    """Ends code of others that does not come back, in the main thread.

    `on` starts the clock, `off` stops it. Code that Python can interrupt ends as `UserError`; where
    it cannot (a loop in C), the process ends with the same line.
    """

    def __init__(self, name: str, seconds: float) -> None:
        self._name, self._seconds = name, seconds
        self._what, self._until = "", 0.0
        self._before: Any = None
        self._watches = False
        self._guard: threading.Thread | None = None

    def __enter__(self) -> Watch:
        self._watches = threading.current_thread() is threading.main_thread()
        if self._watches:
            self._before = signal.signal(signal.SIGALRM, self._late)
            if self._guard is None:
                self._guard = threading.Thread(target=self._wait, daemon=True)
                self._guard.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._watches:
            self.off()
            self._watches = False
            signal.signal(signal.SIGALRM, self._before)
        if kind is _Late:
            raise UserError(self._words()) from None

    def on(self, what: str) -> None:
        """From now on it has so many seconds for ``what``."""
        if self._watches:
            self._what, self._until = what, time.monotonic() + self._seconds
            signal.setitimer(signal.ITIMER_REAL, self._seconds, 1.0)

    def off(self) -> None:
        """It came back."""
        if self._watches:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            self._until = 0.0

    def _late(self, number: int, frame: FrameType | None) -> None:
        if self._until:
            raise _Late

    def _words(self) -> str:
        return (
            f"{self._name}: {self._what} did not return within {self._seconds:g} seconds "
            "(timeout=N allows more)"
        )

    def close(self) -> None:
        """Watch no more."""
        self._guard = None

    def _wait(self) -> None:
        """Where the signal is never looked at."""
        grace = min(self._seconds, 10.0)
        while self._guard is threading.current_thread():
            time.sleep(0.25)
            if self._until and time.monotonic() > self._until + grace:
                line = f"apart: {self._words()}; continue with 'apart resume' on its run folder\n"
                os.write(2, line.encode())
                os._exit(2)


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
