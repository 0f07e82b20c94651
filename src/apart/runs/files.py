"""Files that are whole or absent: written under another name, synced, renamed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from apart._errors import UserError


def write_bytes(path: Path, data: bytes) -> None:
    """Replace ``path`` by ``data`` in one step; `UserError` when the disk says no."""
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise UserError(f"{path}: cannot be written ({error.strerror})") from None


def write_json(path: Path, value: Any) -> None:
    """``value`` as readable JSON; numbers that are not finite are refused."""
    write_bytes(path, (json.dumps(value, indent=1, allow_nan=False) + "\n").encode())


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in ``path``; `UserError` in one line when it is not one."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise UserError(f"{path}: not valid JSON") from None
    if not isinstance(value, dict):
        raise UserError(f"{path}: not a JSON object")
    return value
