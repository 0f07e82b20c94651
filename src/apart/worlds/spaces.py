"""What the spaces of an environment become: one array to see, whole numbers to act with. NumPy.

Both are written down as JSON, so that a run needs no environment to be read. Gymnasium is imported
by who has an environment already.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from apart._errors import UserError, nearest
from apart._types import FloatArray

MAX_HEADS: Final = 8
_JOINT_DIMENSIONS: Final = 2
_MOST_JOINT: Final = 100  # actions
_MOST_NUMBERS: Final = 10_000_000  # of an observation
_MOST_OFFSETS: Final = 4_096  # of an image that are kept one by one
_TASK: Final = "desired_goal"  # of goal environments: a task, which skills have none of
_WIDE: Final = 1e4  # a range beyond which its bounds say nothing


class Seen(NamedTuple):
    """What is kept of an observation.

    Attributes:
        space: the part that is kept.
        image: whether it stays an image [H, W, C].
        dropped: keys of a Dict that are not.
        key: that of a Dict whose value alone is kept; None: all that can be flattened.
    """

    space: Any
    image: bool
    dropped: tuple[str, ...] = ()
    key: str | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the array."""
        from gymnasium.spaces.utils import flatdim

        if not self.image:
            return (int(flatdim(self.space)),)
        shape = tuple(int(n) for n in self.space.shape)
        return shape if len(shape) == 3 else (*shape, 1)

    @property
    def dtype(self) -> str:
        """Bytes stay bytes."""
        return "uint8" if getattr(self.space, "dtype", None) == np.uint8 else "float32"


def seen_of(space: Any, name: str, key: str | None) -> Seen:
    """What of ``space`` is seen; ``key`` names one part of a Dict."""
    from gymnasium.spaces import Dict

    if not isinstance(space, Dict):
        if key is not None:
            raise UserError(f"{name}: see={key}: observations are not a Dict ({space})")
        if not _usable(space):
            raise UserError(f"{name}: observations {space} are not arrays of a fixed shape")
        return _sized(Seen(space, _is_image(space)), name)
    if key is not None:
        if key not in space.spaces:
            hint = nearest(key, space.spaces) or f"; choose from {', '.join(space.spaces)}"
            raise UserError(f"{name}: see={key}: observations have no such part{hint}")
        if not _usable(space[key]):
            raise UserError(f"{name}: see={key}: {space[key]} is not an array of a fixed shape")
        others = tuple(other for other in space.spaces if other != key)
        return _sized(Seen(space[key], _is_image(space[key]), others, key), name)
    kept = {part: one for part, one in space.spaces.items() if _usable(one) and part != _TASK}
    if not kept:
        raise UserError(f"{name}: no part of the observations is an array of a fixed shape")
    images = [part for part, one in kept.items() if _is_image(one)]
    if len(images) == 1:
        return seen_of(space, name, images[0])
    dropped = tuple(part for part in space.spaces if part not in kept)
    return _sized(Seen(Dict(kept), False, dropped), name)


def _sized(seen: Seen, name: str) -> Seen:
    if not 1 <= math.prod(seen.shape) <= _MOST_NUMBERS:
        raise UserError(
            f"{name}: an observation has {math.prod(seen.shape):,} entries, which is too many"
        )
    return seen


def _usable(space: Any) -> bool:
    """Whether Gymnasium flattens it to numbers, equally many each time; texts are none."""
    from gymnasium import spaces

    if isinstance(space, spaces.Dict):
        return all(_usable(one) for one in space.spaces.values())
    if isinstance(space, spaces.Tuple):
        return all(_usable(one) for one in space.spaces)
    return isinstance(
        space, spaces.Box | spaces.Discrete | spaces.MultiBinary | spaces.MultiDiscrete
    )


def _is_image(space: Any) -> bool:
    """[H, W, C], or grey [H, W]."""
    from gymnasium.spaces import Box

    if not isinstance(space, Box):
        return False
    grey = len(space.shape) == 2 and space.dtype == np.uint8 and min(space.shape) >= 8
    return grey or (len(space.shape) == 3 and min(space.shape[:2]) > 1)


def reader(seen: Seen, name: str) -> Callable[[Any], Any]:
    """Observation of the environment -> the array that is kept."""
    from gymnasium.spaces import Box
    from gymnasium.spaces.utils import flatten

    shape, dtype, key = seen.shape, seen.dtype, seen.key
    if isinstance(seen.space, Box):
        own = seen.space.shape

        def of_box(obs: Any) -> Any:
            found = np.asarray(obs if key is None else obs[key])
            if found.shape != own:
                raise UserError(f"{name}: an observation of shape {found.shape}, not {own}")
            if found.dtype.kind == "f" and not np.isfinite(found).all():
                raise UserError(f"{name}: an observation that is not finite")
            return found.reshape(shape).astype(dtype, copy=False)

        return of_box
    parts = None if key is not None else getattr(seen.space, "spaces", None)
    keys = list(parts) if isinstance(parts, Mapping) else None

    def of_any(obs: Any) -> Any:
        part = obs if key is None else obs[key]
        if keys is not None:
            part = {one: part[one] for one in keys}
        found: Any = np.asarray(flatten(seen.space, part))
        if found.shape != shape:
            raise UserError(f"{name}: an observation of shape {found.shape}, not {shape}")
        if found.dtype.kind == "f" and not np.isfinite(found).all():
            raise UserError(f"{name}: an observation that is not finite")
        return found.astype(dtype, copy=False)

    return of_any


def standard(seen: Seen, sample: FloatArray) -> tuple[list[float], list[float]]:
    """Offset and scale that make what networks see about as large as they are initialised for.

    An image gets its mean subtracted and one scale: its mean square over pixels becomes 1. Of a
    vector, one-hot parts stay as they are; other numbers have their mean subtracted and are divided
    by half their range, where the space bounds it, else by their standard deviation. A vector's sum
    of squares becomes about 1.

    Args:
        seen: what is kept.
        sample: [n, ...] observations of random play.
    """
    if seen.image:
        each = sample.shape[1] * sample.shape[2] * sample.shape[3] <= _MOST_OFFSETS
        offset = sample.mean(0) if each else sample.mean(keepdims=True)[0]
        pixels = float(np.square(sample - offset).sum(-1).mean())
        return _rounded(offset.ravel()), _rounded([max(pixels, 1e-6) ** -0.5])
    half = _half_ranges(seen.space)
    binary = half == 0.0
    spread = np.where(half > 0, half, sample.std(0))
    spread = np.where(spread > 1e-6, spread, 1.0)
    units = np.count_nonzero(~binary) + _one_hots(seen.space)
    offset = np.where(binary, 0.0, sample.mean(0))
    scale = np.where(binary, 1.0, 1.0 / spread) / np.sqrt(max(int(units), 1))
    return _rounded(offset), _rounded(scale)


def _half_ranges(space: Any) -> FloatArray:
    """[n] half the range of each flattened number; -1 where it has no bounds, 0 of one-hots."""
    from gymnasium import spaces

    if isinstance(space, spaces.Dict | spaces.Tuple):
        parts = space.spaces.values() if isinstance(space, spaces.Dict) else space.spaces
        return np.concatenate([_half_ranges(part) for part in parts])
    if isinstance(space, spaces.Box):
        low, high = (bound.astype(np.float64).ravel() for bound in (space.low, space.high))
        with np.errstate(over="ignore"):
            half = (high - low) / 2
        return np.where(np.isfinite(half) & (half > 0) & (half < _WIDE), half, -1.0)
    return np.zeros(int(spaces.utils.flatdim(space)))


def _one_hots(space: Any) -> int:
    """How many numbers of a flattened observation are 1 at a time, at most."""
    from gymnasium import spaces

    if isinstance(space, spaces.Dict | spaces.Tuple):
        parts = space.spaces.values() if isinstance(space, spaces.Dict) else space.spaces
        return sum(_one_hots(part) for part in parts)
    if isinstance(space, spaces.Box):
        return 0
    return 1 if isinstance(space, spaces.Discrete) else math.prod(space.shape)


def _rounded(numbers: Any) -> list[float]:
    """Three digits: what another machine finds is then the same."""
    return [float(f"{float(number):.3g}") for number in numbers]


class Acts(NamedTuple):
    """Our whole numbers as actions of the environment; JSON.

    Attributes:
        n_actions: A.
        heads: M numbers make an action.
        start: of Discrete ones: the first action's number.
        values: what the numbers mean: [A] actions where M = 1, [M][A] numbers where M > 1; empty
            for Discrete ones.
    """

    n_actions: int
    heads: int = 1
    start: int = 0
    values: tuple[Any, ...] = ()

    def words(self) -> str:
        """For people."""
        if not self.values:
            return f"{self.n_actions} (Discrete)"
        if self.heads > 1:
            return (
                f"{self.heads} dimensions of {self.n_actions} bins each, one head of Q for each "
                "dimension (DecQN)"
            )
        return f"{self.n_actions}: all combinations of its dimensions' bins"


def acts_of(space: Any, name: str, bins: int) -> Acts:
    """How actions of ``space`` are chosen by whole numbers; boxes get ``bins`` per dimension."""
    from gymnasium import spaces

    if isinstance(space, spaces.Discrete):
        return Acts(int(space.n), start=int(space.start))
    if isinstance(space, spaces.MultiDiscrete | spaces.MultiBinary):
        counts = getattr(space, "nvec", None)
        sizes = [2] * math.prod(space.shape) if counts is None else counts.ravel().tolist()
        starts = np.broadcast_to(getattr(space, "start", 0), space.shape).ravel().tolist()
        if math.prod(sizes) > _MOST_JOINT:
            raise UserError(
                f"{name}: {math.prod(sizes):,} combinations of actions ({space}); at most "
                f"{_MOST_JOINT} are supported"
            )
        ranges = [range(int(a), int(a) + int(n)) for a, n in zip(starts, sizes, strict=True)]
        return _joint(ranges)
    if not isinstance(space, spaces.Box):
        raise UserError(f"{name}: actions {space} are neither Discrete nor a Box")
    dimensions = math.prod(space.shape)
    if not 1 <= dimensions <= MAX_HEADS:
        raise UserError(
            f"{name}: actions of {dimensions} dimensions; at most {MAX_HEADS} can be binned"
        )
    if not space.is_bounded():
        raise UserError(f"{name}: actions {space} are unbounded and cannot be binned")
    low, high = space.low.ravel().tolist(), space.high.ravel().tolist()
    each = [np.linspace(a, b, bins).tolist() for a, b in zip(low, high, strict=True)]
    if dimensions <= _JOINT_DIMENSIONS and bins**dimensions <= _MOST_JOINT:
        return _joint(each)
    return Acts(bins, heads=dimensions, values=tuple(each))


def _joint(each: Sequence[Sequence[float]]) -> Acts:
    values = tuple(list(one) for one in itertools.product(*each))
    return Acts(len(values), values=values)


def actor(acts: Acts, space: Any) -> Callable[[Any], Any]:
    """Our numbers -> an action of the environment."""
    if not acts.values:
        return partial(_number, acts.start)
    shape, dtype = space.shape, space.dtype
    if acts.heads == 1:
        return partial(_combination, [np.array(one, dtype).reshape(shape) for one in acts.values])
    return partial(_numbers, np.array(acts.values, dtype), shape)


def _number(start: int, action: Any) -> int:
    return start + int(action)


def _combination(table: Sequence[Any], action: Any) -> Any:
    return table[int(action)].copy()


def _numbers(values: Any, shape: tuple[int, ...], action: Any) -> Any:
    """Of each of M heads its number, from ``values`` [M, A]."""
    return values[np.arange(len(values)), np.asarray(action)].reshape(shape)
