"""Tables of environments by id: ``table:gym:ID`` or ``table:gym:ID:key=value,key=value``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from apart._errors import UserError, unknown
from apart.worlds import guards, registered, search
from apart.worlds.registered import MAX_SEED, Option
from apart.worlds.world import TableWorld

SYNTAX: Final = "table:gym:ID[:key=value,...]"
SUMMARY: Final = "the same as a table of all its states (MiniGrid, toy text, your own)"


def load(text: str, slip: float = 0.0) -> TableWorld:
    """The table that ``text``, the words after ``table:``, names."""
    source, _, rest = text.partition(":")
    if source not in _SOURCES:
        raise UserError(f"{unknown('source of a table', source, _SOURCES)} ({SYNTAX})")
    if slip:
        raise UserError(f"--slip is for maps only; {rest or text} has its own dynamics")
    return _SOURCES[source](rest)


def from_gymnasium(text: str) -> TableWorld:
    """The table of ``ID:key=value,...``.

    ``seed``, ``stay``, ``max_states`` and ``max_seconds`` are for `search.table_of`, all others for
    ``gymnasium.make``.
    """
    id_, arguments = registered.parsed(text, SYNTAX)
    named = {key: value for key, value in arguments.items() if key not in _BOUNDS}
    name = registered.named(id_, named)
    options = registered.taken(id_, arguments, _OPTIONS)
    said = registered.limit_said(id_, arguments)
    with guards.undisturbed():
        make, limit = registered.maker(id_, f"table:gym:{id_}")
        env = make(arguments)
    try:
        return search.table_of(env, name, horizon=said or limit, **options)
    finally:
        with guards.undisturbed(), guards.saying(name, "close"):
            env.close()


_SOURCES: Final[Mapping[str, Callable[[str], TableWorld]]] = {"gym": from_gymnasium}
_BOUNDS: Final = ("max_states", "max_seconds")
_OPTIONS: Final[Mapping[str, Option]] = {
    "seed": Option(int, 0, MAX_SEED),
    "stay": Option(bool, 0, 1),
    "max_states": Option(int, 2, 1_000_000),
    "max_seconds": Option(float, 1, 1e6),
}
