"""Complete training states on disk: safetensors and a manifest with checksums, whole or absent.

Knows arrays by name, not what they mean.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from apart._errors import UserError
from apart.runs.files import read_json, write_bytes, write_json

FORMAT = 1


def save(folder: Path, iteration: int, arrays: Mapping[str, Any], about: Mapping[str, Any]) -> Path:
    """Write a checkpoint below ``folder`` and return its manifest's path.

    The arrays are in place before the manifest appears: a manifest is what makes a checkpoint.
    """
    folder.mkdir(exist_ok=True)
    plain = {name: np.ascontiguousarray(value) for name, value in arrays.items()}
    stem = f"iteration-{iteration:012d}"
    write_bytes(folder / f"{stem}.safetensors", to_bytes(plain))
    manifest = {
        "format": FORMAT,
        "iteration": iteration,
        "arrays": {name: _digest(value) for name, value in plain.items()},
        **about,
    }
    write_json(folder / f"{stem}.json", manifest)
    return folder / f"{stem}.json"


def load(folder: Path) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, Any]]:
    """Arrays and manifest of the newest checkpoint in ``folder``, checked against its checksums."""
    manifests = sorted(folder.glob("iteration-*.json"))
    if not manifests:
        raise UserError(f"{folder}: no checkpoint here")
    manifest = read_json(manifests[-1])
    path = manifests[-1].with_suffix(".safetensors")
    if manifest.get("format") != FORMAT:
        raise UserError(f"{path}: format {manifest.get('format')!r}, this version reads {FORMAT}")
    try:
        with safe_open(path, framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise UserError(f"{path}: not a readable checkpoint ({error})") from None
    if {name: _digest(value) for name, value in arrays.items()} != manifest.get("arrays"):
        raise UserError(f"{path}: the arrays do not match the manifest's checksums")
    return arrays, manifest


def _digest(value: np.ndarray[Any, Any]) -> str:
    return hashlib.sha256(f"{value.dtype}{value.shape}".encode() + value.tobytes()).hexdigest()
