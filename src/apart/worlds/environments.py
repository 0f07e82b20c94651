"""Tables of environments by id: ``table:gym:ID`` or ``table:gym:ID:key=value,key=value``.

Gymnasium and the packages of environments are imported here only, and only when they are asked for.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from apart._errors import UserError, nearest, unknown
from apart.worlds import guards, search
from apart.worlds.world import TableWorld

SYNTAX: Final = "table:gym:ID[:key=value,...]"
SUMMARY: Final = "a Gymnasium environment as a table (MiniGrid, toy worlds, your own)"
MAX_SEED: Final = 2**31 - 1
_WORDS: Final = {"true": True, "True": True, "false": False, "False": False, "None": None}


class _Package(NamedTuple):
    """Who has the environments whose ids begin in some way."""

    module: str
    install: str


_PACKAGES: Final[Mapping[str, _Package]] = {
    "MiniGrid-": _Package("minigrid", "pip install 'apart[minigrid]'"),
    "BabyAI-": _Package("minigrid", "pip install 'apart[minigrid]'"),
    "ALE/": _Package("ale_py", "pip install ale-py"),
}


def load(text: str, slip: float = 0.0) -> TableWorld:
    """The table that ``text``, the words after ``table:``, names."""
    source, _, rest = text.partition(":")
    if source not in _SOURCES:
        raise UserError(f"{unknown('source of a table', source, _SOURCES)} ({SYNTAX})")
    if slip:
        raise UserError(f"--slip: for maps; {rest or text} has the chances that it has")
    return _SOURCES[source](rest)


def from_gymnasium(text: str) -> TableWorld:
    """The table of ``ID:key=value,...``.

    ``seed``, ``stay``, ``max_states`` and ``max_seconds`` are for `search.table_of`, all others for
    ``gymnasium.make``.
    """
    id_, arguments = _parsed(text)
    name = ",".join([id_, *(f"{k}={_said(v)}" for k, v in arguments.items() if k not in _BOUNDS)])
    options: dict[str, Any] = {}
    for key, (kind, low, high) in _OPTIONS.items():
        if key in arguments:
            options[key] = _checked(f"{id_}: {key}", arguments.pop(key), kind, low, high)
    with guards.undisturbed():
        env, limit = _made(id_, arguments)
    try:
        return search.table_of(env, name, horizon=limit, **options)
    finally:
        with guards.undisturbed(), guards.saying(name, "close"):
            env.close()


_SOURCES: Final[Mapping[str, Callable[[str], TableWorld]]] = {"gym": from_gymnasium}
_BOUNDS: Final = ("max_states", "max_seconds")
_OPTIONS: Final[Mapping[str, tuple[type, float, float]]] = {
    "seed": (int, 0, MAX_SEED),
    "stay": (bool, 0, 1),
    "max_states": (int, 2, 1_000_000),
    "max_seconds": (float, 1, 1e6),
}


def _parsed(text: str) -> tuple[str, dict[str, Any]]:
    """Id (which may begin with a module, ``module:ID``) and arguments."""
    id_, _, last = text.rpartition(":")
    if "=" not in last:
        id_, last = text, ""
    if not id_:
        raise UserError(f"table:gym:{text}: no id; write {SYNTAX}")
    arguments: dict[str, Any] = {}
    for pair in last.split(",") if last else ():
        key, equals, value = pair.partition("=")
        if not key.isidentifier() or not equals:
            raise UserError(f"table:gym:{text}: '{pair}' is not key=value")
        if key in arguments:
            raise UserError(f"table:gym:{text}: '{key}' is said twice")
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


def _said(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _checked(name: str, value: Any, kind: type, low: float, high: float) -> Any:
    if kind is bool and not isinstance(value, bool):
        raise UserError(f"{name}={_said(value)}: give true or false")
    number = isinstance(value, int | float) and isinstance(value, bool) == (kind is bool)
    if not number or not low <= value <= high or kind(value) != value:
        raise UserError(f"{name}={_said(value)}: give a number from {low:g} to {high:g}")
    return kind(value)


def _made(id_: str, arguments: Mapping[str, Any]) -> tuple[Any, int | None]:
    """The environment, and the limit that its registration sets to the length of an episode."""
    try:
        import gymnasium
    except ImportError:
        raise UserError(
            f"table:gym:{id_} needs Gymnasium: pip install 'apart[gym]' (for MiniGrid: "
            "'apart[minigrid]')"
        ) from None
    package = next((p for begin, p in _PACKAGES.items() if id_.startswith(begin)), None)
    if package is not None:
        try:
            importlib.import_module(package.module)
        except ImportError:
            raise UserError(f"{id_} needs {package.module}: {package.install}") from None
    module, colon, id_ = id_.rpartition(":")
    if colon:
        with guards.saying(id_, f"import {module}"):
            importlib.import_module(module)
    try:
        limit = gymnasium.spec(id_).max_episode_steps
    except gymnasium.error.Error as error:
        known = gymnasium.registry
        hint = nearest(id_, known) or f" ({guards.in_a_line(error)})"
        raise UserError(f"unknown Gymnasium environment {id_!r}{hint}") from None
    limit = arguments.get("max_episode_steps", limit)
    rest = {k: v for k, v in arguments.items() if k != "max_episode_steps"}
    with guards.saying(id_, "gymnasium.make"):
        # No limit, as a table has none; no checker, which would look at every step.
        return gymnasium.make(id_, max_episode_steps=-1, disable_env_checker=True, **rest), limit
