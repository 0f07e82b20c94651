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
from typing import Any, Final

import numpy as np

_PICTURES: Final = ("pygame", "OpenGL", "glfw", "matplotlib", "PIL", "pyglet", "tkinter")
_RANDOM: Final = (np.random.Generator, np.random.RandomState, random.Random)
_FUNCTIONS: Final = (*(types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type),)
_PLAIN: Final = frozenset((type(None), bool, int, str, bytes))
_CHECKER: Final = "PassiveEnvChecker"
_SMALL: Final = 16  # an array of so many numbers equals a tuple of them
_DEEPEST: Final = 8  # how far below the environment counters of steps are looked for
Path = tuple[str | int, ...]  # attributes, keys, places in lists, one below the other


def key_of(env: Any) -> bytes:
    """A digest of the state: equal states have equal keys, whichever way led there."""
    return hashlib.blake2b(repr(_value(env, {})).encode(), digest_size=16).digest()


def _is_no_state(kind: type) -> bool:
    if kind not in _NO_STATE:
        from gymnasium import Space
        from gymnasium.envs.registration import EnvSpec

        pictures = kind.__module__.partition(".")[0] in _PICTURES
        _NO_STATE[kind] = pictures or issubclass(kind, (*_RANDOM, *_FUNCTIONS, Space, EnvSpec))
    return _NO_STATE[kind]


_NO_STATE: Final[dict[type, bool]] = {}  # what was answered once
_HOW: Final[dict[type, Callable[[Any, dict[int, Any]], Any]]] = {}


def _value(value: Any, seen: dict[int, Any]) -> Any:
    """``value`` as tuples of plain values: 1, 1.0 and NumPy's 1 are the same."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind not in _HOW:
        _HOW[kind] = _how(kind)
    return _HOW[kind](value, seen)


def _how(kind: type) -> Callable[[Any, dict[int, Any]], Any]:
    """What makes plain values of objects of a type."""
    if issubclass(kind, enum.Enum):
        return lambda value, seen: value.name
    if issubclass(kind, np.bool_):
        return lambda value, seen: bool(value)
    if issubclass(kind, int | np.integer):
        return lambda value, seen: int(value)
    if issubclass(kind, float | np.floating):
        return lambda value, seen: int(value) if float(value).is_integer() else float(value)
    if issubclass(kind, np.ndarray):
        return lambda value, seen: _array(value)
    if issubclass(kind, list | tuple | deque):
        return _once(lambda value, seen: tuple([_value(part, seen) for part in value]))
    if issubclass(kind, set | frozenset):
        return _once(lambda value, seen: ("set", *sorted(repr(_value(x, seen)) for x in value)))
    if issubclass(kind, Mapping):
        return _once(_map)
    if _is_no_state(kind):
        return lambda value, seen: kind.__qualname__
    return _once(_object)


def _once(how: Callable[[Any, dict[int, Any]], Any]) -> Callable[[Any, dict[int, Any]], Any]:
    """Every object is looked into once, also one that holds itself."""

    def value_of(value: Any, seen: dict[int, Any]) -> Any:
        if id(value) not in seen:
            seen[id(value)] = "^"
            seen[id(value)] = how(value, seen)
        return seen[id(value)]

    return value_of


def _object(value: Any, seen: dict[int, Any]) -> Any:
    held = _attributes(value)
    return (
        type(value).__qualname__,
        *[(n, v if type(v := held[n]) in _PLAIN else _value(v, seen)) for n in sorted(held)],
    )


def _map(value: Any, seen: dict[int, Any]) -> Any:
    return ("map", *sorted(repr((_value(k, seen), _value(v, seen))) for k, v in value.items()))


def _array(value: Any) -> Any:
    small = value.size <= _SMALL or value.dtype == object
    return _row(value.tolist()) if small else (value.dtype.str, value.shape, value.tobytes())


def _row(value: Any) -> Any:
    """The numbers of an array. Lists that live for a moment: their ids say nothing."""
    return tuple([_row(part) for part in value]) if isinstance(value, list) else _value(value, {})


def _attributes(value: Any) -> dict[str, Any]:
    """What an object holds; nothing of one that does not show it.

    Of Gymnasium's checker, the wrapper that `gymnasium.make` adds, only what it wraps: it notes the
    first step ever and the last step.
    """
    kind = type(value)
    if kind.__qualname__ == _CHECKER and kind.__module__.startswith("gymnasium."):
        return {"env": value.env}
    if kind not in _SLOTS:
        slots = [name for one in kind.__mro__ for name in getattr(one, "__slots__", ())]
        _SLOTS[kind] = tuple(slots)
    held: dict[str, Any] = getattr(value, "__dict__", {})
    if not _SLOTS[kind]:
        return held
    return {name: getattr(value, name) for name in _SLOTS[kind] if hasattr(value, name)} | held


_SLOTS: Final[dict[type, tuple[str, ...]]] = {}


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
        below: Any = env
        indexed = isinstance(env, Mapping | list | tuple)
        env = below[name] if indexed else getattr(env, str(name))
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


def global_state() -> Any:
    """Of NumPy's generator for the whole process, which environments use."""
    return np.random.get_state(legacy=False)  # noqa: NPY002


def drawn_from(generators: list[Any]) -> list[Any]:
    """What changes when somebody draws from them, or from those of the whole process."""
    states: list[Any] = [random.getstate(), _value(global_state(), {})]
    for one in generators:
        if isinstance(one, np.random.Generator):
            states.append(_value(one.bit_generator.state, {}))
        elif isinstance(one, np.random.RandomState):
            states.append(_value(one.get_state(legacy=False), {}))
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
