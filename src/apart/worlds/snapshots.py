"""The state of an environment in Python: a key to tell states apart, copies, counters of steps.

The state is everything that the environment holds, wrappers included, by value: numbers, arrays,
objects with attributes. Not part of it are generators of random numbers (who searches tells by them
whether a step draws), spaces, functions, and what only draws pictures.
"""

from __future__ import annotations

import copy
import enum
import hashlib
import random
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

import numpy as np

_PICTURES: Final = ("pygame", "OpenGL", "glfw", "matplotlib", "PIL", "pyglet", "tkinter")
_RANDOM: Final = (np.random.Generator, np.random.RandomState, random.Random)
_FUNCTIONS: Final = (
    *(types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type),
)
_SMALL: Final = 16  # an array of so many numbers equals a tuple of them
_DEEPEST: Final = 8  # how far below the environment counters of steps are looked for
Path = tuple[str | int, ...]  # attributes, keys, places in lists, one below the other


def key_of(env: Any) -> bytes:
    """A digest of the state: equal states have equal keys, whichever way led there."""
    return hashlib.blake2b(_written(env, {}), digest_size=16).digest()


@lru_cache(maxsize=None)
def _is_no_state(kind: type) -> bool:
    from gymnasium import Space
    from gymnasium.envs.registration import EnvSpec

    if issubclass(kind, (*_RANDOM, *_FUNCTIONS, Space, EnvSpec)):
        return True
    return kind.__module__.partition(".")[0] in _PICTURES


@lru_cache(maxsize=None)
def _slots(kind: type) -> tuple[str, ...]:
    return tuple(name for one in kind.__mro__ for name in getattr(one, "__slots__", ()))


def _written(value: Any, seen: dict[int, bytes]) -> bytes:
    """``value`` as bytes, by value: 1, 1.0 and NumPy's 1 are the same."""
    if value is None or isinstance(value, bool | str | bytes):
        return repr(value).encode()
    if isinstance(value, enum.Enum):
        return repr(value.name).encode()
    if isinstance(value, np.bool_):
        return repr(bool(value)).encode()
    if isinstance(value, int | np.integer):
        return str(int(value)).encode()
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number) if number.is_integer() else number).encode()
    if isinstance(value, np.ndarray):
        small = value.size <= _SMALL or value.dtype == object
        head = repr((value.dtype.str, value.shape)).encode()
        return _row(value.tolist()) if small else head + value.tobytes()
    if id(value) in seen:
        return seen[id(value)]
    seen[id(value)] = b"^"  # met again inside of itself
    seen[id(value)] = written = _parts(value, seen)
    return written


def _row(value: Any) -> bytes:
    """The numbers of an array. Lists that live for a moment: their ids say nothing."""
    if isinstance(value, list):
        return b"[" + b",".join([_row(part) for part in value]) + b"]"
    return _written(value, {})


def _parts(value: Any, seen: dict[int, bytes]) -> bytes:
    if isinstance(value, list | tuple | deque):
        return b"[" + b",".join([_written(part, seen) for part in value]) + b"]"
    if isinstance(value, set | frozenset):
        return b"{" + b",".join(sorted(_written(part, seen) for part in value)) + b"}"
    if isinstance(value, Mapping):
        pairs = ((_written(k, seen), _written(v, seen)) for k, v in value.items())
        return b"{" + b",".join(sorted(k + b":" + v for k, v in pairs)) + b"}"
    name = type(value).__qualname__.encode()
    if _is_no_state(type(value)):
        return name
    return name + _parts(_attributes(value), seen)


def _attributes(value: Any) -> dict[str, Any]:
    """What an object holds; nothing of one that does not show it."""
    held = {name: getattr(value, name) for name in _slots(type(value)) if hasattr(value, name)}
    return {**held, **getattr(value, "__dict__", {})}


def _held(value: Any) -> Iterable[tuple[str | int, Any]]:
    """What is one step below ``value``, by attribute, key or place in a list."""
    if isinstance(value, Mapping):
        return [(name, below) for name, below in value.items() if isinstance(name, str | int)]
    if isinstance(value, list | tuple):
        return enumerate(value)
    if isinstance(value, np.ndarray | str | bytes | int | float) or _is_no_state(type(value)):
        return ()
    return _attributes(value).items()


def _objects(value: Any, seen: set[int], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """All that is below ``value``, with its path; no object twice."""
    if id(value) in seen or len(path) > _DEEPEST:
        return
    seen.add(id(value))
    yield path, value
    for name, below in _held(value):
        yield from _objects(below, seen, (*path, name))


def numbers_in(env: Any) -> dict[Path, float]:
    """The plain numbers that it holds where they can be set, by path."""
    found: dict[Path, float] = {}
    for path, value in list(_objects(env, set())):
        for name, number in () if isinstance(value, tuple) else _held(value):
            number = number.item() if isinstance(number, np.number) else number
            if isinstance(number, int | float) and not isinstance(number, bool | enum.Enum):
                found[(*path, name)] = float(number)
    return found


def get(env: Any, path: Path) -> Any:
    """What is at ``path``."""
    for name in path:
        env = env[name] if isinstance(env, Mapping | list | tuple) else getattr(env, str(name))
    return env


def put(env: Any, path: Path, number: Any) -> Any:
    """Set the number at ``path``; what was there before."""
    owner, name = get(env, path[:-1]), path[-1]
    if isinstance(owner, dict | list):
        before, owner[name] = owner[name], number  # type: ignore[index]
        return before
    before = getattr(owner, str(name))
    setattr(owner, str(name), number)
    return before


def copier(env: Any) -> Callable[[Any], Any]:
    """A function that copies ``env`` and its copies; what is no state is shared by all of them."""
    shared = {id(value): value for _, value in _objects(env, set()) if _is_no_state(type(value))}
    return lambda one: copy.deepcopy(one, dict(shared))


def generators_in(env: Any) -> list[Any]:
    """The generators of random numbers that it holds."""
    return [value for _, value in _objects(env, set()) if isinstance(value, _RANDOM)]


def drawn_from(generators: list[Any]) -> list[Any]:
    """What changes when somebody draws from them, or from those of the whole process."""
    states: list[Any] = [random.getstate(), _written(np.random.get_state(legacy=False), {})]
    for one in generators:
        if isinstance(one, np.random.Generator):
            states.append(_written(one.bit_generator.state, {}))
        elif isinstance(one, np.random.RandomState):
            states.append(_written(one.get_state(legacy=False), {}))
        else:
            states.append(one.getstate())
    return states


def reseed(generators: list[Any], seed: int) -> None:
    """Let them, and those of the whole process, draw other numbers than before."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002  it is the one that environments use
    for one in generators:
        if isinstance(one, np.random.Generator):
            one.bit_generator.state = type(one.bit_generator)(seed).state
        else:
            one.seed(seed)
