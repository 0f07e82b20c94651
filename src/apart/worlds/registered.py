"""Gymnasium environments by what the user says: ``ID`` or ``ID:key=value,key=value``.

Gymnasium and the packages of environments are imported here only, and only when they are asked for.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, Final, NamedTuple

from apart._errors import UserError, nearest
from apart.worlds import guards

MAX_SEED: Final = 2**31 - 1
_MOST_STEPS: Final = 100_000  # of an episode
_LIMIT: Final = "max_episode_steps"
_WORDS: Final = {"true": True, "True": True, "false": False, "False": False, "None": None}
_ARGUMENTS: Final = re.compile(r":(?=[^:=,]*=)")  # the first key follows; ids have no equals sign


class _Package(NamedTuple):
    """Who has the environments whose ids begin in some way."""

    module: str
    install: str


_PACKAGES: Final[Mapping[str, _Package]] = {
    "MiniGrid-": _Package("minigrid", "pip install minigrid"),
    "BabyAI-": _Package("minigrid", "pip install minigrid"),
    "ALE/": _Package("ale_py", "pip install ale-py"),
    **{
        begin: _Package("gymnasium_robotics", "pip install gymnasium-robotics")
        for begin in ("PointMaze_", "AntMaze_", "Fetch", "Hand", "AdroitHand", "FrankaKitchen")
    },
}


class Option(NamedTuple):
    """A key of our own: its type and range."""

    kind: type
    low: float
    high: float


def parsed(text: str, syntax: str) -> tuple[str, dict[str, Any]]:
    """Id (which may begin with a module, ``module:ID``) and arguments.

    ``syntax`` is how such a world is written, for errors.
    """
    prefix = syntax.partition("ID")[0]
    id_, *rest = _ARGUMENTS.split(text, maxsplit=1)
    if not id_:
        raise UserError(f"{prefix}{text}: no id; write {syntax}")
    arguments: dict[str, Any] = {}
    for pair in rest[0].split(",") if rest else ():
        key, equals, value = pair.partition("=")
        if not key.isidentifier() or not equals:
            raise UserError(f"{prefix}{text}: '{pair}' is not key=value")
        if key in arguments:
            raise UserError(f"{prefix}{text}: '{key}' is given twice")
        arguments[key] = _value(value)
    return id_, arguments


def _value(text: str) -> Any:
    """A number, true, false, none; else the text itself."""
    if text in _WORDS:
        return _WORDS[text]
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, int | float) or value is None else text


def named(id_: str, arguments: Mapping[str, Any]) -> str:
    """What people call an environment with these arguments."""
    return ",".join([id_, *(f"{key}={_said(value)}" for key, value in arguments.items())])


def _said(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def taken(id_: str, arguments: dict[str, Any], options: Mapping[str, Option]) -> dict[str, Any]:
    """The arguments that are ``options`` of our own, checked, and taken out of ``arguments``."""
    return {
        key: _checked(f"{id_}: {key}", arguments.pop(key), *option)
        for key, option in options.items()
        if key in arguments
    }


def limit_said(id_: str, arguments: Mapping[str, Any]) -> int | None:
    """The ``max_episode_steps`` of the user, checked; None where nothing is said of it.

    It stays among the ``arguments``: it is one of ``gymnasium.make``, no option of our own.
    """
    if _LIMIT not in arguments:
        return None
    limit: int = _checked(f"{id_}: {_LIMIT}", arguments[_LIMIT], int, 1, _MOST_STEPS)
    return limit


def _checked(name: str, value: Any, kind: type, low: float, high: float) -> Any:
    if kind is str:
        if not isinstance(value, str) or not value:
            raise UserError(f"{name}={_said(value)}: give a name")
        return value
    if kind is bool and not isinstance(value, bool):
        raise UserError(f"{name}={_said(value)}: give true or false")
    number = isinstance(value, int | float) and isinstance(value, bool) == (kind is bool)
    if not number or not low <= value <= high or kind(value) != value:
        raise UserError(f"{name}={_said(value)}: give a number from {low:g} to {high:g}")
    return kind(value)


def imported(path: str, what: str) -> Any:
    """What ``module:name`` names, also in a module of the folder in which the command runs."""
    module, colon, name = path.partition(":")
    if not colon or not all(part.isidentifier() for part in (*module.split("."), name)):
        raise UserError(f"{what}={path}: write module:name")
    found = getattr(_module(module, what), name, None)
    if not callable(found):
        known = [key for key, value in vars(_module(module, what)).items() if callable(value)]
        raise UserError(f"{what}={path}: {module} has no function {name}{nearest(name, known)}")
    return found


def path_of(function: Any, what: str) -> str:
    """``module:name`` of a function; `UserError` where it cannot be imported by that."""
    if not callable(function):
        raise UserError(f"{what}={function!r} is not a function")
    module, name = (str(getattr(function, f"__{part}__", "")) for part in ("module", "qualname"))
    if not name.isidentifier() or not module:
        raise UserError(
            f"{what}: {name or repr(function)} cannot be imported, and resuming the run will need "
            "that; define it with def at the top level of a module"
        )
    if imported(f"{module}:{name}", what) is not function:
        raise UserError(f"{what}: {module}:{name} is not the function that was given")
    return f"{module}:{name}"


def _module(name: str, what: str) -> Any:
    here = os.getcwd()
    for last in (here in sys.path, True):
        try:
            return importlib.import_module(name)
        except Exception as error:
            missing = isinstance(error, ModuleNotFoundError) and error.name == name.split(".")[0]
            if last or not missing:
                why = guards.in_a_line(error)
                raise UserError(f"{what}: import {name} fails: {why}") from None
            sys.path.append(here)  # `python -m apart` looks here too, an installed command does not
    raise AssertionError


def maker(id_: str, asked: str) -> tuple[Callable[[Mapping[str, Any]], Any], int | None]:
    """What makes the environment from its arguments, and the limit that its registration sets.

    ``asked`` is the world as the user wrote it. An environment is made without a limit to the
    length of its episodes: T is ours. Without Gymnasium's checker, which looks at every step.
    """
    try:
        import gymnasium
    except ImportError:
        raise UserError(
            f"{asked} needs Gymnasium: pip install gymnasium (for MiniGrid: minigrid)"
        ) from None
    package = next((p for begin, p in _PACKAGES.items() if id_.startswith(begin)), None)
    if package is not None:
        try:
            gymnasium.register_envs(importlib.import_module(package.module))
        except ImportError:
            raise UserError(f"{id_} needs {package.module}: {package.install}") from None
    module, colon, id_ = id_.rpartition(":")
    if colon:
        _module(module, f"{module}:{id_}")
    try:
        known = gymnasium.spec(id_)
    except gymnasium.error.Error as error:
        hint = nearest(id_, gymnasium.registry, cutoff=_NEAR)
        if not hint and module:
            hint = f"; {module} does not register it"
        elif not hint:
            hint = f"; if it is yours, write {asked.replace(id_, f'MODULE:{id_}', 1)}"
            if not isinstance(error, gymnasium.error.NameNotFound):
                hint = f" ({guards.in_a_line(error)}){hint}"
        raise UserError(f"unknown Gymnasium environment {id_!r}{hint}") from None

    def make(arguments: Mapping[str, Any]) -> Any:
        rest = {key: value for key, value in arguments.items() if key != _LIMIT}
        with guards.saying(id_, "gymnasium.make"):
            _quiet(str(known.entry_point))
            return gymnasium.make(id_, max_episode_steps=-1, disable_env_checker=True, **rest)

    return make, known.max_episode_steps


def instead_of(name: str) -> str:
    """How to write the environment that ``name`` seems to mean; "" where it seems to be none."""
    id_ = _ARGUMENTS.split(name, maxsplit=1)[0]
    if any(map(id_.startswith, _PACKAGES)):
        return _WRITE.format(name)
    if find_spec("gymnasium") is None:
        known: Mapping[str, Any] = {}
    else:
        known = importlib.import_module("gymnasium").registry
    if id_ in known:
        return _WRITE.format(name)
    if close := nearest(id_, known, cutoff=_NEAR):
        return close.replace("'", "'gym:", 1).removeprefix("; ")
    if re.fullmatch(r"[\w.]+:[\w.-]+-v\d+", id_):
        return _WRITE.format(name)
    if re.fullmatch(r"[\w.-]+-v\d+", id_):
        return f"if it is an environment of yours, write gym:MODULE:{name}"
    return ""


_NEAR: Final = 0.75  # how alike two ids are that may be one
_WRITE: Final = "for the Gymnasium environment write gym:{}"


def _quiet(entry_point: str) -> None:
    """MuJoCo writes its warnings to a file where the command runs, unless somebody takes them.

    Atari greets on the terminal.
    """
    if "ale_py" in entry_point:
        ale = importlib.import_module("ale_py")
        ale.ALEInterface.setLoggerMode(ale.LoggerMode.Error)
    physics = any(word in entry_point for word in ("mujoco", "gymnasium_robotics"))
    if physics and find_spec("mujoco") is not None:
        importlib.import_module("mujoco").set_mju_user_warning(lambda text: None)


def is_environment(value: Any) -> bool:
    """Whether ``value`` is one, as far as can be seen without Gymnasium."""
    parts = ("action_space", "observation_space", "reset", "step", "unwrapped")
    return not isinstance(value, type) and all(hasattr(value, part) for part in parts)


def check_environment(value: Any) -> None:
    """`UserError` where ``value`` is no Gymnasium environment."""
    if not is_environment(value):
        raise UserError(
            f"env: {value!r} is not a Gymnasium environment; give one, such as gymnasium.make(ID), "
            "or apart.make_env(world) for a map"
        )


def only_here(env: Any) -> bool:
    """Whether the environment is a class of the main program, which other processes have not."""
    entry = getattr(getattr(env, "spec", None), "entry_point", None)
    module = entry.partition(":")[0] if isinstance(entry, str) else getattr(entry, "__module__", "")
    return module == "__main__"


def limit_of(env: Any) -> int | None:
    """The number of steps after which the environment itself cuts episodes off."""
    for limit in (
        getattr(getattr(env, "spec", None), _LIMIT, None),
        getattr(env.unwrapped, "max_steps", None),
    ):
        if isinstance(limit, int) and 1 <= limit <= _MOST_STEPS:
            return limit
    return None
