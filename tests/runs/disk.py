"""A disk that goes wrong on demand: stands in front of `os` while it is entered.

Counts the operations on files below one folder and makes the n-th of them fail, or the process die
there. After a death nothing has an effect any more; a power cut also takes what was not synced.
"""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

OPERATIONS = (
    "open",
    "write",
    "pwrite",
    "fsync",
    "ftruncate",
    "close",
    "replace",
    "unlink",
    "mkdir",
    "rmdir",
    "listdir",
)
ERRORS = {"disk full": errno.ENOSPC, "I/O error": errno.EIO, "permission denied": errno.EACCES}
DEATHS = ("killed before", "killed after", "power cut, names kept", "power cut, names lost")
FAULTS = (*ERRORS, "short write", "short write, then full", *DEATHS)


class Died(BaseException):
    """The process is dead; only the test goes on."""


class Disk:
    """``at``-th operation below ``folder`` goes wrong by ``fault``; none if it is 0."""

    def __init__(self, folder: Path, at: int = 0, fault: str = "killed before") -> None:
        self.folder, self.at, self.fault = str(folder), at, fault
        self.count, self.dead, self.names = 0, False, []
        self._plain = {name: getattr(os, name) for name in OPERATIONS}
        self._open: dict[int, str] = {}
        self._synced: dict[str, int] = {}  # bytes that a power cut leaves, of files that we wrote
        self._undo: list[tuple[str, str, bytes | str | None]] = []  # (folder, name, what it was)

    def __enter__(self):
        for name in OPERATIONS:
            setattr(os, name, self._wrapped(name))
        return self

    def __exit__(self, *_):
        for name, plain in self._plain.items():
            setattr(os, name, plain)
        for descriptor in list(self._open):
            os.close(descriptor)
        if self.dead and self.fault.startswith("power cut"):
            self._cut_power()

    def _wrapped(self, name):
        plain = self._plain[name]

        def call(*arguments, **named):
            where = self._where(name, arguments[0])
            if where is None:
                return plain(*arguments, **named)
            if self.dead:
                raise Died
            self.count += 1
            self.names.append(name)
            mine = self.count == self.at
            if mine:
                self._before(name, plain, arguments)
            found = self._does(name, plain, where, arguments, named)
            if mine and self.fault in DEATHS:
                self._die()
            return found

        return call

    def _where(self, name, first):
        """The path that an operation is about, if it is ours."""
        path = self._open.get(first) if isinstance(first, int) else os.fspath(first)
        if path is None or not str(path).startswith(self.folder):
            return None
        return str(path)

    def _before(self, name, plain, arguments):
        if self.fault == "killed before":
            self._die()
        if self.fault in ERRORS:
            if name == "close":
                self._open.pop(arguments[0])
                plain(*arguments)
            number = ERRORS[self.fault]
            raise OSError(number, os.strerror(number), str(arguments[0]))

    def _does(self, name, plain, where, arguments, named):
        short = self.count == self.at and self.fault.startswith("short") and name == "write"
        if name == "fsync":
            if os.path.isdir(where):
                self._undo = [undo for undo in self._undo if undo[0] != where]
            else:
                self._synced[where] = os.path.getsize(where)
            return None  # no disk is asked: nobody pulls this plug
        if name == "write":
            self._synced.setdefault(where, 0)
            if short:
                done = plain(arguments[0], arguments[1][: len(arguments[1]) // 2])
                if self.fault.endswith("full"):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                return done
        if name in ("replace", "unlink", "mkdir", "rmdir"):
            self._remember(os.fspath(arguments[1]) if name == "replace" else where)
        if name == "open" and not os.path.exists(where):
            self._remember(where)
        found = plain(*arguments, **named)
        if name == "replace":
            target = os.fspath(arguments[1])
            self._synced[target] = self._synced.pop(where, 0)
        if name == "open":
            self._open[found] = where
        if name == "close":
            self._open.pop(arguments[0])
        return found

    def _remember(self, path):
        """What a name stood for, until its folder is synced."""
        if os.path.isdir(path):
            before = "a folder"
        else:
            before = Path(path).read_bytes() if os.path.isfile(path) else None
        self._undo.append((os.path.dirname(path), path, before))

    def _die(self):
        self.dead = True
        raise Died

    def _cut_power(self):
        if self.fault.endswith("lost"):
            for _, path, before in reversed(self._undo):
                if before == "a folder":
                    os.makedirs(path, exist_ok=True)
                elif before is None and os.path.isdir(path):
                    shutil.rmtree(path)
                elif before is None:
                    Path(path).unlink(missing_ok=True)
                elif os.path.isdir(os.path.dirname(path)):
                    Path(path).write_bytes(before)
                    self._synced.pop(path, None)
        for path, size in self._synced.items():
            if os.path.isfile(path) and os.path.getsize(path) > size:
                os.truncate(path, size)
