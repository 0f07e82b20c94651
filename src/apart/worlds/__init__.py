"""Worlds: what an agent can be in. Three kinds of record (`world`), and who builds them.

A world is built from what the user says (`load`) or from the spec that a run stored
(`from_spec`). ``spec["kind"]`` names the builder; to add a kind, `register` its builder. What the
user says is a map unless it begins with the word of a loader and a colon (``table:gym:ID``,
``gym:ID``).
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from apart._errors import UserError, nearest, unknown
from apart._registry import load_plugins, loading
from apart.worlds import (
    environments,
    grid,
    gymnax,
    hosts,
    mazes,
    observed,
    registered,
    tables,
    xminigrid,
)
from apart.worlds.world import HostWorld, JaxWorld, Spec, TableWorld, World

Builder = Callable[[Spec, int], World]  # (spec, horizon) -> world
Loader = Callable[[str, float], World]  # (words after the colon, slip) -> world
_BUILDERS: dict[str, Builder] = {
    grid.KIND: grid.from_spec,
    tables.KIND: tables.from_spec,
    mazes.KIND: mazes.from_spec,
    hosts.KIND: hosts.from_spec,
    xminigrid.KIND: xminigrid.from_spec,
    gymnax.KIND: gymnax.from_spec,
}
_LOADERS: Mapping[str, Loader] = {
    tables.KIND: environments.load,
    mazes.KIND: mazes.load,
    hosts.KIND: hosts.load,
    xminigrid.KIND: xminigrid.load,
    gymnax.KIND: gymnax.load,
}
_EVERYWHERE = frozenset(_BUILDERS)
_PLUGGED: set[str] = set()


def register(kind: str, build: Builder) -> None:
    """Make worlds whose ``about.spec["kind"]`` is ``kind`` known to everything that reads runs.

    ``build`` gets the spec that a run stored and the default length of an episode. In a plugin (an
    entry point of the group ``apart.plugins``) it is known in every process.
    """
    if not isinstance(kind, str) or not kind:
        raise UserError(f"kind of world {kind!r}: must be text, as about.spec['kind'] is")
    if not callable(build):
        raise UserError(f"kind of world {kind!r}: {build!r} is not a function of (spec, horizon)")
    _BUILDERS[kind] = build
    if loading():
        _PLUGGED.add(kind)


def known_everywhere(spec: Spec) -> bool:
    """Whether other processes can build the world too, as seeds side by side need it.

    They can where it comes with this package or with an installed plugin; a Gymnasium environment
    where its code is in a module.
    """
    kind = spec.get("kind")
    if kind == hosts.KIND and hosts.only_here(spec):
        return False
    return kind in _EVERYWHERE or kind in _PLUGGED


def written(spec: Spec) -> str | None:
    """What a user writes to `load` the world of ``spec``; None where only Python has it."""
    kind, name = spec.get("kind"), str(spec.get("name"))
    if kind == hosts.KIND:
        return hosts.written(spec)
    if kind == grid.KIND:
        return grid.written(spec)
    return name if kind in _LOADERS and name.startswith(f"{kind}:") else None


def renders(world: World) -> bool:
    """Whether skills can be seen as the world renders them, as far as is known without trying."""
    if isinstance(world, TableWorld):
        return False
    if isinstance(world, JaxWorld):
        return world.render is not None
    return bool(world.about.spec.get("renders", True))


def short_name(name: str, spec: Spec) -> str:
    """The name of the world of ``spec`` without folders; of a map file also without its ending.

    In other names what follows a dot is no ending: ``timeout=2.5``.
    """
    return Path(name).stem if spec.get("kind") == grid.KIND else Path(name).name


def from_spec(spec: Spec, horizon: int) -> World:
    """The world that ``spec`` describes, with ``horizon`` as its default length of an episode.

    Raises:
        UserError: nobody builds such worlds here, or the spec is damaged.
    """
    kind = spec.get("kind")
    if not isinstance(kind, str):
        raise UserError("the world's spec has no kind")
    if kind not in _BUILDERS:
        load_plugins()
    if kind not in _BUILDERS:
        known = unknown("kind of world", kind, _BUILDERS)
        raise UserError(f"{known} (apart.register_world adds one, for commands from a plugin)")
    try:
        return _BUILDERS[kind](spec, horizon)
    except UserError:
        raise
    except Exception as error:  # of somebody else's builder
        raise UserError(f"the world of kind {kind!r} cannot be built: {error!r}") from None


def seen_as(world: World, lines: Any) -> World:
    """``world`` with what its states look like, as `Observed.lines` wrote it; None: as it is.

    Raises:
        UserError: ``lines`` do not fit the world.
    """
    if lines is None:
        return world
    if not isinstance(world, TableWorld):
        raise UserError("observations of states, and the world is no table")
    return dataclasses.replace(world, observed=observed.from_lines(lines, world.n_states))


def load(world: str | os.PathLike[str] | World, slip: float = 0.0) -> World:
    """The world of a name, a path, ``maze:NAME``, ``gym:ID``, ...; a world as it is.

    Raises:
        UserError: it is none of these.
    """
    if isinstance(world, os.PathLike):
        world = os.fspath(world)
    if isinstance(slip, bool) or not isinstance(slip, int | float):
        raise UserError(f"--slip: {slip!r} is not a number")
    if not isinstance(world, str | TableWorld | JaxWorld | HostWorld):
        raise UserError(f"{_shown(world)} is not a world; give {_instead_of(world)}")
    if not isinstance(world, str):
        if slip:
            raise UserError(f"--slip: {world.name} is built already; set its slip when building it")
        return world
    word, colon, rest = world.partition(":")
    if colon and word in _LOADERS:
        return _LOADERS[word](rest, slip)
    if colon and nearest(word, _LOADERS) and not Path(world).exists():
        raise UserError(f"unknown kind of world {word!r}{nearest(word, _LOADERS)}")
    return grid.load(world, slip)


def lists_states(name: str) -> bool:
    """Whether the states of a world that is written so can be listed, as its first word says."""
    word, colon, _ = name.partition(":")
    return not (colon and word in _LOADERS) or word == tables.KIND


def _shown(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) < 80 else f"{text[:76]} ..."


def _instead_of(given: Any) -> str:
    """What to give instead of something that is no world."""
    if registered.is_environment(given):
        id_ = getattr(getattr(given, "spec", None), "id", None) or "ID"
        return (
            f"its id as 'gym:{id_}' or apart.gym_world('{id_}'), or, where all its states can be "
            "listed, apart.table_of(env)"
        )
    return "a name, the path of a map, or a world"


WORLDS: Mapping[str, grid.Map]  # the maps that ship, read when they are first asked for


def __getattr__(name: str) -> Mapping[str, grid.Map]:
    if name != "WORLDS":
        raise AttributeError(f"module 'apart.worlds' has no attribute '{name}'")
    return grid.maps()
