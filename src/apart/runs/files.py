"""Files that are whole or absent: written under another name, synced, renamed.

Readers take regular files of bounded size only: no links, no pipes, nothing that hangs.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from pathlib import Path
from typing import Any

from apart._errors import UserError

_MOST_JSON = 200_000_000


def write_bytes(path: Path, data: bytes) -> None:
    """Replace ``path`` by ``data`` in one step; `UserError` when the disk says no."""
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise UserError(f"{path}: cannot be written ({error.strerror})") from None


def sync_folder(folder: Path) -> None:
    """Make renames and removals in ``folder`` last."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_json(path: Path, value: Any) -> None:
    """``value`` as readable JSON; numbers that are not finite are refused."""
    write_bytes(path, (json.dumps(value, indent=1, allow_nan=False) + "\n").encode())


def read_bytes(path: Path, most: int) -> bytes:
    """The content of a regular file of at most ``most`` bytes; `UserError` otherwise."""
    try:
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        descriptor = os.open(path, flags)
        with os.fdopen(descriptor, "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise UserError(f"{path}: not a regular file")
            if about.st_size > most:
                raise UserError(f"{path}: {about.st_size:,} bytes, at most {most:,} are expected")
            return file.read()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in ``path``; `UserError` in one line when it is not one."""
    try:
        value = json.loads(read_bytes(path, _MOST_JSON).decode("utf-8"))
    except (ValueError, RecursionError):
        raise UserError(f"{path}: not valid JSON") from None
    if not isinstance(value, dict):
        raise UserError(f"{path}: not a JSON object")
    return value
