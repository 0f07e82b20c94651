"""One process writes a run folder. The lock dies with the process that holds it (flock)."""

from __future__ import annotations

import contextlib
import os
import platform
import stat
from pathlib import Path
from types import TracebackType
from typing import Final

from apart._errors import UserError

try:
    import fcntl
except ImportError:  # pragma: no cover - no such locks on this system: nothing is promised there
    fcntl = None  # type: ignore[assignment]

NAME: Final = ".lock"


class Lock:
    """Holds ``folder``, which exists, until closed.

    `UserError` says who else has it, unless told to ``wait`` for that.
    """

    def __init__(self, folder: Path, wait: bool = False) -> None:
        path = folder / NAME
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            self._descriptor = os.open(path, flags, 0o644)
        except OSError as error:
            raise UserError(f"{folder}: cannot be written ({error.strerror})") from None
        try:
            self._take(folder, wait)
        except BaseException:
            os.close(self._descriptor)
            raise

    def _take(self, folder: Path, wait: bool) -> None:
        if not stat.S_ISREG(os.fstat(self._descriptor).st_mode):
            raise UserError(f"{folder / NAME}: not a regular file; remove it")
        try:
            if fcntl is not None:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            owner = os.read(self._descriptor, 200).decode("utf-8", "replace").strip()
            raise UserError(
                f"{folder} is in use by {owner or 'another process'}; wait for it or choose "
                "another folder"
            ) from None
        except OSError:
            pass  # a file system without locks: nothing is promised there either
        try:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"process {os.getpid()} on {platform.node()}\n".encode(), 0)
        except OSError as error:
            raise UserError(f"{folder}: cannot be written ({error.strerror})") from None

    def __enter__(self) -> Lock:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let others have the folder."""
        with contextlib.suppress(OSError):
            os.ftruncate(self._descriptor, 0)
        with contextlib.suppress(OSError):
            os.close(self._descriptor)
