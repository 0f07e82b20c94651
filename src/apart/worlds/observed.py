"""Observations that are kept: as JSON of bounded size, and as a few words. NumPy, no JAX."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

import numpy as np

MOST: Final = 512  # numbers of an array that are kept; of larger ones shape and type are
_LONGEST_TEXT: Final = 80
_MOST_SHOWN: Final = 6  # numbers of a vector
_MOST_WORDS: Final = 60  # characters


def plain(observation: Any, most: int = MOST) -> Any:
    """``observation`` as JSON: numbers, texts, and lists and dictionaries of them.

    Numbers have six digits. An array of more than ``most`` numbers becomes its shape and type,
    ``84 x 84 x 3 uint8``.
    """
    if isinstance(observation, Mapping):
        return {str(key): plain(part, most) for key, part in observation.items()}
    if isinstance(observation, list | tuple):
        return [plain(part, most) for part in observation]
    if isinstance(observation, np.ndarray):
        if observation.size <= most and observation.dtype.kind in "biufO":
            return plain(observation.tolist(), most)
        return f"{' x '.join(map(str, observation.shape))} {observation.dtype}"
    if isinstance(observation, np.generic):
        return plain(observation.item(), most)
    if isinstance(observation, float):
        return float(f"{observation:.6g}") if math.isfinite(observation) else str(observation)
    if observation is None or isinstance(observation, int):
        return observation
    return str(observation)[:_LONGEST_TEXT]


def parts(shown: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The parts of what `plain` gave, with the keys that lead to them: ``inventory.wood``."""
    if not isinstance(shown, Mapping):
        yield name, shown
        return
    for key, part in shown.items():
        yield from parts(part, f"{name}.{key}" if name else key)


def words(shown: Any, only: Collection[str] | None = None) -> str:
    """What `plain` gave, for people, at most a line: ``inventory.wood=2, pick=1``.

    ``only`` names the parts that say something; None: all do.
    """
    said = [
        f"{name}={_number_or_list(part)}" if name else _number_or_list(part)
        for name, part in parts(shown)
        if only is None or name in only
    ]
    line = ", ".join(said)
    if len(line) <= _MOST_WORDS:
        return line
    while len(said) > 1 and len(", ".join(said)) > _MOST_WORDS - 4:
        said.pop()
    return f"{', '.join(said)[: _MOST_WORDS - 4]} ..."


def _number_or_list(part: Any) -> str:
    if isinstance(part, bool):
        return str(int(part))
    if isinstance(part, float):
        return f"{part:.4g}"
    if not isinstance(part, list):
        return str(part)
    if any(isinstance(one, list | Mapping) for one in part):
        shape = np.shape(part) if _regular(part) else (len(part),)
        return f"{' x '.join(map(str, shape))} numbers"
    more = f", ... {len(part)} numbers" * (len(part) > _MOST_SHOWN)
    return f"({', '.join(map(_number_or_list, part[:_MOST_SHOWN]))}{more})"


def _regular(part: Any) -> bool:
    try:
        return np.asarray(part).dtype.kind in "biuf"
    except ValueError:  # lists of different lengths
        return False
