"""Errors that the user can fix: one line, no traceback, exit code 2."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

RENAMED: Final[Mapping[tuple[str, str], str]] = MappingProxyType(
    {("method", "vic_unbiased"): "vic_counts"}
)
"""(kind, old name) -> today's name: an old name is answered with the new one."""

_MOST_LISTED = 10  # names in an error


class UserError(Exception):
    """Wrong input. The message is one line: what is wrong, where, and how to fix it."""

    __module__ = "apart"  # what tracebacks show, and users import


class RunInterrupted(Exception):
    """Training was stopped by a signal after everything was saved.

    ``signal_number`` becomes the exit code 128 + number.
    """

    __module__ = "apart"

    def __init__(self, message: str, signal_number: int) -> None:
        super().__init__(message)
        self.signal_number = signal_number


class NonFinite(Exception):
    """Training produced a number that is not finite (exit code 3)."""

    __module__ = "apart"


def nearest(name: str, choices: Iterable[str], cutoff: float = 0.6) -> str:
    """``; did you mean 'x'?`` for the closest of ``choices``, else the empty string."""
    lower = {choice.lower(): choice for choice in choices}
    close = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=cutoff)
    return f"; did you mean '{lower[close[0]]}'?" if close else ""


def unknown(kind: str, name: str, choices: Iterable[str], see: str = "") -> UserError:
    """The error for a ``name`` that is none of ``choices``, with its new or the nearest name.

    Where none is near, it lists ``choices`` if they are few, else names the command that does:
    ``see``, by default ``apart list``.
    """
    if (kind, name) in RENAMED:
        return UserError(f"unknown {kind} {name!r}; it is called {RENAMED[kind, name]} now")
    names = sorted(choices)
    if len(names) <= _MOST_LISTED:
        rest = f"; choose from {', '.join(names)}"
    else:
        rest = f"; '{see or f'apart list {kind}s'}' shows all"
    return UserError(f"unknown {kind} {name!r}{nearest(name, names) or rest}")
