"""The only door to the disk: files that are whole or absent, and readers that trust nothing.

Writers write under another name, sync, rename, sync the folder. Readers take regular files of
bounded size only: no links, no pipes, nothing that hangs. JSON is sealed: it carries the SHA-256 of
its own content. Everything is an `os` call, so that tests can make each of them fail.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import stat
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from apart._errors import UserError

_SEAL: Final = "sha256"
_MOST_JSON: Final = 200_000_000
# A link is not followed, a pipe does not block. Not on every system.
_SAFE: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def write_bytes(path: Path, data: bytes) -> None:
    """Replace ``path`` by ``data`` in one step; `UserError` when the disk says no.

    Of processes that write it at the same time the last one wins: each has a name of its own.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with _saying(path, "written"):
        try:
            _remove(temporary)  # left by a process of that number that was killed
            with _opened(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as descriptor:
                _write_all(descriptor, data)
                os.fsync(descriptor)
            os.replace(temporary, path)
            _sync_folder(path.parent)
        except OSError:
            with contextlib.suppress(OSError):
                _remove(temporary)
            raise


def meant_for(name: str) -> str | None:
    """The file that a temporary one of that name was to become; None where it is not temporary."""
    found = _TEMPORARY.fullmatch(name)
    return None if found is None else found["name"]


_TEMPORARY: Final = re.compile(r"\.(?P<name>.+?)(\.[0-9]+)?\.tmp")  # earlier ones had no number


def leftovers(folder: Path, names: Collection[str] | None = None) -> list[Path]:
    """What killed writers of ``names`` in ``folder`` left there; None: of any.

    Only who holds the folder knows that it is left, and not being written.
    """
    found = []
    for path in listing(folder):
        name = meant_for(path.name)
        ours = name is not None and (names is None or name in names)
        if ours and (path.is_symlink() or not path.is_dir()):
            found.append(path)
    return found


def append(path: Path, data: bytes) -> None:
    """Add ``data`` to the end of ``path``; after an error a part of it may be there."""
    with (
        _saying(path, "written"),
        _opened(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT) as descriptor,
    ):
        _write_all(descriptor, data)


def sync(*paths: Path) -> None:
    """Make what was appended to these files of one folder last, and their names."""
    for path in paths:
        with _saying(path, "written"), _opened(path, os.O_RDONLY) as descriptor:
            os.fsync(descriptor)
    with _saying(paths[0].parent, "written"):
        _sync_folder(paths[0].parent)


def truncate(path: Path, size: int) -> None:
    """Cut ``path`` after ``size`` bytes."""
    with _saying(path, "written"), _opened(path, os.O_WRONLY) as descriptor:
        os.ftruncate(descriptor, size)
        os.fsync(descriptor)


def remove_folder(path: Path) -> None:
    """Remove an empty folder if it is there."""
    with _saying(path, "removed"):
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
            _sync_folder(path.parent)


def remove(*paths: Path) -> None:
    """Remove files, in this order, as far as they are there, and make that last."""
    for path in paths:
        with _saying(path, "removed"):
            _remove(path)
    for folder in dict.fromkeys(path.parent for path in paths):
        with _saying(folder, "written"):
            _sync_folder(folder)


def make_folder(path: Path) -> None:
    """A folder at ``path``, which may be there already but is no link to one."""
    with _saying(path, "written"):
        if path.is_symlink():
            raise UserError(f"{path}: a link; a run writes into its own folder only")
        if not path.is_dir():
            if not path.parent.exists():
                make_folder(path.parent)
            path.mkdir(exist_ok=True)
            _sync_folder(path.parent)


def listing(folder: Path) -> list[Path]:
    """What is in ``folder``, sorted; nothing where there is none; `UserError` if it is a link."""
    with _saying(folder, "read"):
        if folder.is_symlink():
            raise UserError(f"{folder}: a link; a run reads its own folder only")
        try:
            return sorted(folder / name for name in os.listdir(folder))
        except FileNotFoundError:
            return []


def read_bytes(path: Path, most: int) -> bytes:
    """The content of a regular file of at most ``most`` bytes; `UserError` otherwise."""
    with _saying(path, "read"), _opened(path, os.O_RDONLY) as descriptor:
        size = os.fstat(descriptor).st_size
        if size > most:
            raise UserError(f"{path}: {size:,} bytes, at most {most:,} are expected")
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return file.read(size)


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in ``path``; `UserError` in one line when it is not one."""
    try:
        value = json.loads(read_bytes(path, _MOST_JSON).decode("utf-8"))
    except (ValueError, RecursionError):
        raise UserError(f"{path}: not valid JSON") from None
    if not isinstance(value, dict):
        raise UserError(f"{path}: not a JSON object")
    return value


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """``value`` as readable JSON; numbers that are not finite are refused."""
    write_bytes(path, (json.dumps(value, indent=1, allow_nan=False) + "\n").encode())


def write_picture(path: Path, figure: Any) -> None:
    """A Matplotlib figure in the format that the name of ``path`` ends with."""
    write_bytes(path, picture_bytes(figure, path.suffix[1:]))


def picture_bytes(figure: Any, kind: str) -> bytes:
    """A Matplotlib figure in the format ``kind``: png, svg or pdf.

    Names are names, whatever is in them: a $ begins no formula.
    """
    for text in figure.findobj(lambda artist: hasattr(artist, "set_parse_math")):
        text.set_parse_math(False)
        text.set_text(text.get_text().encode("utf-8", "replace").decode())
    data = io.BytesIO()
    figure.savefig(data, format=kind)
    return data.getvalue()


def read_sealed(path: Path) -> dict[str, Any]:
    """The JSON object in ``path``, without its seal; `UserError` when the two do not match."""
    return unsealed(path, read_json(path))


def unsealed(path: Path, value: Mapping[str, Any]) -> dict[str, Any]:
    """``value``, read from ``path``, without its seal."""
    rest = {name: entry for name, entry in value.items() if name != _SEAL}
    try:
        right = value.get(_SEAL) == digest(_canonical(rest))
    except (ValueError, RecursionError):  # not finite; nested too deep
        right = False
    if not right:
        raise UserError(f"{path}: does not match its checksum; it was changed or damaged")
    return rest


def write_sealed(path: Path, value: Mapping[str, Any], lines_of: str | None = None) -> None:
    """``value`` as JSON with its seal; the list under ``lines_of`` with an entry a line."""
    sealed = {**value, _SEAL: digest(_canonical(value))}
    if lines_of is None:
        return write_json(path, sealed)
    entries = sealed.pop(lines_of)
    lines = ",\n".join(json.dumps(entry, allow_nan=False) for entry in entries)
    rest = json.dumps(sealed, allow_nan=False)[1:]
    return write_bytes(path, f'{{"{lines_of}": [\n{lines}\n],\n{rest}\n'.encode())


def digest(data: bytes | memoryview) -> str:
    """SHA-256 in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def _canonical(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, allow_nan=False).encode()


@contextlib.contextmanager
def _saying(path: Path, done: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UserError(f"{path}: cannot be {done} ({error.strerror})") from None


@contextlib.contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    """A descriptor of a regular file."""
    descriptor = os.open(path, flags | _SAFE, 0o644)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UserError(f"{path}: not a regular file")
        yield descriptor
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]  # a disk may take less than it was given


def _remove(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def _sync_folder(folder: Path) -> None:
    """Make renames and removals in ``folder`` last."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
