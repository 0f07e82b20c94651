"""Complete training states on disk: safetensors and a manifest with checksums, whole or absent.

Knows arrays by name, not what they mean. The newest two are kept. A reader trusts nothing: it
takes regular files of the expected names and sizes only, and what does not match its checksums
is passed over for the checkpoint before.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as from_bytes
from safetensors.numpy import save as to_bytes

from apart._errors import UserError
from apart.runs import files

FORMAT: Final = 3  # 2: other names of arrays, translated by the caller
KEPT: Final = 2
_NAME: Final = re.compile(r"iteration-(\d{12})\.json")
_PARTS: Final = (".json", ".safetensors")
_MOST_HEADER: Final = 10_000_000


Arrays: TypeAlias = dict[str, np.ndarray[Any, Any]]


class Saved(NamedTuple):
    """A checkpoint that was read."""

    arrays: Arrays
    manifest: dict[str, Any]
    path: Path
    passed_over: list[str]  # newer ones that could not be used, a line each

    @property
    def iteration(self) -> int:
        """Rounds made before it."""
        return int(self.manifest["iteration"])


def save(folder: Path, iteration: int, arrays: Mapping[str, Any], about: Mapping[str, Any]) -> Path:
    """Write a checkpoint below ``folder``, remove those before the last two; its manifest's path.

    The arrays are in place before the manifest appears: a manifest is what makes a checkpoint.
    """
    files.make_folder(folder)
    plain = {name: np.asarray(value, order="C") for name, value in arrays.items()}
    stem = f"iteration-{iteration:012d}"
    files.write_bytes(folder / f"{stem}.safetensors", to_bytes(plain))
    manifest = {
        "format": FORMAT,
        "iteration": iteration,
        "arrays": {name: _digest(value) for name, value in plain.items()},
        **about,
    }
    files.write_sealed(folder / f"{stem}.json", manifest)
    keep_newest(folder)
    return folder / f"{stem}.json"


def manifests(folder: Path) -> list[Path]:
    """Of all checkpoints below ``folder``, oldest first."""
    return [path for path in files.listing(folder) if _NAME.fullmatch(path.name)]


def keep_newest(folder: Path) -> None:
    """Remove those before the last two."""
    for old in manifests(folder)[:-KEPT]:
        remove(old)


def is_part(name: str) -> bool:
    """Whether a file of that name can be one of the two of a checkpoint."""
    return bool(_NAME.fullmatch(Path(name).with_suffix(".json").name)) and name.endswith(_PARTS)


def remove(manifest: Path) -> None:
    """The manifest goes first: arrays without one are no checkpoint."""
    files.remove(manifest, manifest.with_suffix(".safetensors"))


def load(
    folder: Path,
    like: Mapping[str, Any],
    config_sha256: str,
    also: Callable[[Mapping[str, Any], Mapping[str, Any]], None] = lambda arrays, manifest: None,
    older: Callable[[Arrays], Arrays] = lambda arrays: arrays,
) -> Saved | None:
    """The newest checkpoint that is whole; None when there is none at all.

    Args:
        folder: where they are.
        like: arrays (or their shapes) by name: names, types and shapes that must be found.
        config_sha256: of the configuration that the checkpoint must belong to.
        also: called with arrays and manifest; raises `UserError` where they do not fit the rest.
        older: the arrays of the format before this one -> the same in this one.

    Raises:
        UserError: there are checkpoints, but none can be used.
    """
    passed_over: list[str] = []
    known = manifests(folder)
    for path in files.listing(folder):
        if path.suffix == ".safetensors" and (
            not known or path > known[-1].with_suffix(path.suffix)
        ):
            passed_over.append(f"{path}: its manifest is missing; the save was not finished")
    for path in reversed(known):
        try:
            arrays, manifest = _read(path, like, config_sha256, older)
            also(arrays, manifest)
        except UserError as error:
            passed_over.append(str(error))
        else:
            return Saved(arrays, manifest, path, passed_over)
    if known:
        raise UserError(f"no usable checkpoint: {'; '.join(passed_over)}")
    return None


def _read(
    path: Path, like: Mapping[str, Any], config_sha256: str, older: Callable[[Arrays], Arrays]
) -> tuple[Arrays, dict[str, Any]]:
    manifest = files.read_json(path)
    if manifest.get("format") not in (FORMAT - 1, FORMAT):
        raise UserError(f"{path}: format {manifest.get('format')!r}, this version reads {FORMAT}")
    manifest = files.unsealed(path, manifest)
    match = _NAME.fullmatch(path.name)
    if match is None or manifest.get("iteration") != int(match.group(1)):
        raise UserError(f"{path}: the manifest belongs to another iteration")
    if manifest.get("config_sha256") != config_sha256:
        raise UserError(f"{path}: the manifest belongs to another configuration")
    arrays_path = path.with_suffix(".safetensors")
    most = _MOST_HEADER + sum(_bytes(value) for value in like.values())
    try:
        arrays = from_bytes(files.read_bytes(arrays_path, most))
    except (SafetensorError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise UserError(f"{arrays_path}: not a readable checkpoint ({error})") from None
    if {name: _digest(value) for name, value in arrays.items()} != manifest.get("arrays"):
        raise UserError(f"{arrays_path}: the arrays do not match the manifest's checksums")
    if manifest["format"] < FORMAT:
        try:
            arrays = older(arrays)
        except (LookupError, ValueError, TypeError) as error:
            raise UserError(f"{arrays_path}: not written by apart 0.1 ({error!r})") from None
    for name, value in like.items():
        found = arrays.get(name)
        if found is None or found.shape != value.shape or found.dtype != value.dtype:
            raise UserError(f"{arrays_path}: the array {name} is missing or has another shape")
    return arrays, manifest


def _bytes(value: Any) -> int:
    size: int = math.prod(value.shape) * np.dtype(value.dtype).itemsize
    return size


def _digest(value: np.ndarray[Any, Any]) -> str:
    found = hashlib.sha256(f"{value.dtype}{value.shape}".encode())
    found.update(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)
    return found.hexdigest()
