"""Observations that are kept: as JSON of bounded size, as a few words, and by keys. No JAX.

A table that is made of an environment keeps one of each state (`Observed`): it names the state, and
where no two look alike it leads from what the environment gives to the state.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from apart._errors import UserError
from apart.worlds import snapshots

MOST: Final = 512  # numbers of an array that are kept; of larger ones shape and type are
_MOST_OF_ALL: Final = 200_000  # numbers of all states of a table; beyond, large arrays go
_SMALL: Final = 16  # numbers of an array that stays then
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
        if len(observation) > most:
            return f"{len(observation)} values"
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
    """What `plain` gave, for people, at most a line: ``wood=2, pick=1, at=(1, 2)``.

    ``only`` names the parts that say something; None: all do.
    """
    every = dict(parts(shown))
    said = [
        f"{_short(name, every)}={_number_or_list(part)}" if name else _number_or_list(part)
        for name, part in every.items()
        if only is None or name in only
    ]
    line = ", ".join(said)
    if len(line) <= _MOST_WORDS:
        return line
    while len(said) > 1 and len(", ".join(said)) > _MOST_WORDS - 4:
        said.pop()
    return f"{', '.join(said)[: _MOST_WORDS - 4]} ..."


def _short(name: str, names: Collection[str]) -> str:
    """The end of ``name`` from the last dot, or as many before as tell it from other names."""
    for first in reversed([at + 1 for at, char in enumerate(name) if char == "."]):
        end = name[first:]
        if sum(one == end or one.endswith(f".{end}") for one in names) == 1:
            return end
    return name


def _number_or_list(part: Any) -> str:
    if isinstance(part, bool):
        return str(int(part))
    if isinstance(part, float):
        return f"{part:.4g}"
    if not isinstance(part, list):
        return str(part)
    if _nested(part):
        shape = np.shape(part) if _regular(part) else (len(part),)
        return f"{' x '.join(map(str, shape))} numbers"
    more = f", ... {len(part)} numbers" * (len(part) > _MOST_SHOWN)
    return f"({', '.join(map(_number_or_list, part[:_MOST_SHOWN]))}{more})"


def _nested(part: Any) -> bool:
    return isinstance(part, list) and any(isinstance(one, list | Mapping) for one in part)


def _regular(part: Any) -> bool:
    try:
        return np.asarray(part).dtype.kind in "biuf"
    except ValueError:  # lists of different lengths
        return False


def key(observation: Any) -> str:
    """Equal for equal observations, whichever of Python's and NumPy's types their numbers have."""
    return snapshots.key_of(_in_python(observation)).hex()


def _in_python(observation: Any) -> Any:
    if isinstance(observation, Mapping):
        return {str(name): _in_python(part) for name, part in observation.items()}
    if isinstance(observation, np.ndarray | np.generic):
        return _in_python(observation.tolist())
    if isinstance(observation, list | tuple):
        return [_in_python(part) for part in observation]
    return int(observation) if isinstance(observation, bool) else observation


@dataclass(frozen=True, eq=False)
class Observed:
    """What each state of a table looks like in the environment that the table was made of.

    Attributes:
        keys: [S] the `key` of an observation of each state.
        shown: [S] that observation, as `plain` gives it.
        varies: states of which different observations were seen: noise, or a counter of steps.
    """

    keys: Sequence[str]
    shown: Sequence[Any]
    varies: frozenset[int] = frozenset()

    @cached_property
    def known(self) -> frozenset[str]:
        """All keys."""
        return frozenset(self.keys)

    @cached_property
    def _differ(self) -> frozenset[str]:
        """The parts that are not the same in all states, and that words can say: no images."""
        every = [dict(parts(one)) for one in self.shown]
        first = every[0]
        return frozenset(
            name
            for one in every
            for name, part in one.items()
            if part != first.get(name, one) and not _nested(part)
        )

    def words(self, shown: Any) -> str:
        """One of them for people, without what all states have in common."""
        return words(shown, self._differ)

    def lines(self) -> list[str]:
        """A line of text a state, for files: key, ``~`` where it varies, JSON."""
        return [
            f"{known}{'~' * (state in self.varies)} {json.dumps(one, allow_nan=False)}"
            for state, (known, one) in enumerate(zip(self.keys, self.shown, strict=True))
        ]


def bounded(shown: Sequence[Any]) -> Sequence[Any]:
    """``shown`` of all states, without large arrays where these are too many numbers."""
    if sum(map(_numbers_in, shown)) <= _MOST_OF_ALL:
        return shown
    return [_without_arrays(one) for one in shown]


def from_lines(lines: Any, n_states: int) -> Observed:
    """What `Observed.lines` made ``lines`` of; `UserError` where they are none of ``n_states``."""
    if not isinstance(lines, list) or len(lines) != n_states:
        raise UserError(f"the observations are not a line for each of {n_states} states")
    try:
        pairs = [line.split(" ", 1) for line in lines]
        keys, shown = [known for known, _ in pairs], [json.loads(text) for _, text in pairs]
    except (ValueError, AttributeError, RecursionError):
        raise UserError("the observations are not lines of a key and JSON") from None
    varies = frozenset(state for state, known in enumerate(keys) if known.endswith("~"))
    return Observed([known.removesuffix("~") for known in keys], shown, varies)


def _numbers_in(part: Any) -> int:
    if isinstance(part, Mapping):
        return sum(map(_numbers_in, part.values()))
    return sum(map(_numbers_in, part)) if isinstance(part, list) else 1


def _without_arrays(part: Any) -> Any:
    if isinstance(part, Mapping):
        return {name: _without_arrays(one) for name, one in part.items()}
    if isinstance(part, list) and _numbers_in(part) > _SMALL:
        shape = np.shape(part) if _regular(part) else (len(part),)
        return f"{' x '.join(map(str, shape))} numbers"
    return part


def alike(known: Observed, states: Collection[int]) -> list[int]:
    """Those of ``states`` that another of them looks like."""
    times = Counter(known.keys[state] for state in states)
    return [state for state in states if times[known.keys[state]] > 1]
