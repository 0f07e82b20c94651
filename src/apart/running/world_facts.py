"""Whether and how a world will work, found out in seconds, before anything is trained."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from apart._errors import UserError
from apart.facts import needs_task
from apart.methods import METHODS
from apart.running.progress import several
from apart.settings import resolve
from apart.worlds import hosts, tasks, written
from apart.worlds.lifetime import lifetime
from apart.worlds.world import HostWorld, JaxWorld, TableWorld, World, evidence, walled_off

_SEARCH_SECONDS = 2.0
_SIDE = 8
Fact = tuple[str, str]
# (what is put before the world's name, options of `train`) -> how to train there
Command = Callable[[str, Mapping[str, Any]], str]
_COMPLETE: Mapping[str, Any] = {"method": "apart_plus", "skills": "auto", "horizon": "auto"}


def facts(world: World, command: Command) -> Iterator[Fact]:
    """What is to be said of ``world``; the last is what to do next."""
    if isinstance(world, TableWorld):
        yield from _of_table(world, command)
    elif isinstance(world, HostWorld):
        yield from _of_host(world, command)
    else:
        yield from _of_jax(world, command)


def _of_table(world: TableWorld, command: Command) -> Iterator[Fact]:
    far = int(world.distance.max())
    yield "kind", f"a table of {world.n_states:,} {world.places.noun}s with known transitions"
    yield "observations", "the number of the state"
    yield "actions", f"{world.about.n_actions} (Discrete)"
    yield (
        "places",
        f"{several(world.n_states, world.places.noun)}{walled_off(world)}; skills are "
        f"counted: {evidence(world)}",
    )
    if world.task is not None:
        cells = several(int(np.count_nonzero(world.task)), world.places.noun)
        best = tasks.best_return(world, world.about.horizon)
        yield "task", f"{cells} with points; an episode earns at most {best:g}"
    away = f"the farthest {world.places.noun} is {several(far, 'step')} away"
    yield "episodes", f"T = {world.about.horizon}; {away}"
    starts = f"in any of {len(world.starts)} states" if world.starts else "in the same state"
    yield "seeds", f"used; every episode starts {starts}"
    yield "transitions", "deterministic" if world.deterministic else "random transitions"
    yield "as a table", "yes, this is one"
    yield "speed", "compiled into the training loop; 'apart bench' measures it"
    if world.task is not None:
        solving = {"method": next(filter(needs_task, METHODS)), "skills": 6, "steps": "100k"}
        yield "for the task", _checked(world, solving, command)
    yield "next", _checked(world, _COMPLETE, command)


def _of_jax(world: JaxWorld, command: Command) -> Iterator[Fact]:
    yield "kind", "JAX functions"
    yield from _arrays(world)
    yield "seeds", "used"
    yield "as a table", "no: its states are not listed"
    yield "speed", "compiled into the training loop"
    yield from _usual(world, command)


def _of_host(world: HostWorld, command: Command) -> Iterator[Fact]:
    from apart.worlds.probe import probe

    yield "kind", "a Gymnasium environment, stepped in Python"
    yield from _arrays(world)
    seen = probe(world)
    start = "the start depends on the seed" if seen.start_varies else "the start is always the same"
    where = world.about.spec.get("places")
    if isinstance(where, Mapping) and where.get("varies"):
        start = f"the layout depends on the seed; gym:{_with_seed(world.name)} keeps one"
    ignored = "ignored: a run that is stopped and resumed will differ"
    yield "seeds", f"used; {start}" if seen.repeats else ignored
    yield "transitions", _chance(seen.repeats, seen.by_chance)
    countable, why = _as_table(world)
    yield "as a table", why
    yield "speed", f"{seen.steps_per_second:,.0f} steps/s of random play, {_SIDE} side by side"
    if countable:
        yield "next, a table", command("table:", _COMPLETE)
    yield from _usual(world, command)


def _with_seed(name: str) -> str:
    return f"{name}{',' if '=' in name else ':'}seed=0"


def _arrays(world: JaxWorld | HostWorld) -> Iterator[Fact]:
    """What worlds say whose observations are arrays."""
    spec, obs = world.about.spec, world.obs
    shape = " x ".join(map(str, obs.shape))
    kind = "an image" if len(obs.shape) == 3 else "a vector"
    dropped = spec.get("observation", {}).get("dropped", ()) if "id" in spec else ()
    without = f"; left out: {', '.join(dropped)}" if dropped else ""
    yield "observations", f"{kind}, {shape} {obs.dtype}{without}"
    yield "actions", _actions(world)
    places = world.places
    if not places.counted:
        yield "places", f"none known, so skills cannot be counted: {evidence(world)}"
    else:
        n = "" if places.n is None else f" {places.n:,}"
        by = spec["places"] if isinstance(spec.get("places"), str) else f"{places.noun}s"
        yield "places", f"by{n} {by}; skills are counted: {evidence(world)}"
    lives, horizon = lifetime(world), world.about.horizon
    ends = f"; random play ends them after some {lives} steps" if lives < horizon else ""
    yield "episodes", f"T = {horizon}{ends}"


def _actions(world: JaxWorld | HostWorld) -> str:
    known = world.about.spec.get("actions")
    if world.about.spec.get("kind") == hosts.KIND and isinstance(known, dict):
        return hosts.acts_in(world.about.spec).words()
    return f"{world.about.n_actions}"


def _chance(repeats: bool, by_chance: bool | None) -> str:
    if not repeats or by_chance is None:
        return "unknown"
    return "random" if by_chance else "deterministic, as far as was seen"


def _as_table(world: HostWorld) -> tuple[bool, str]:
    """Whether a short search lists all its states."""
    from apart.worlds import search

    spec = world.about.spec
    if spec.get("kind") != hosts.KIND:
        return False, "not tried"
    if "wrap" in spec:
        return False, "not tried with wrap=, which a table does not take; check it without"
    try:
        env = hosts.single(spec)
        try:
            seed, seconds = int(spec.get("seed", 0)), _SEARCH_SECONDS
            found = search.table_of(env, world.name, seed=seed, max_seconds=seconds)
        finally:
            env.close()
    except search.Unfinished as error:
        real = world.obs.dtype.startswith("float")
        way = "real numbers seldom repeat" if real else "table:gym:ID searches longer"
        return False, f"no: {error.far}; {way}"
    except UserError as error:
        return False, f"no: {str(error).removeprefix(f'{world.name}: ')}"
    own = {"see", "bins", "timeout"} & {*spec} or isinstance(spec["places"], str)
    return not own and written(spec) is not None, f"yes, {found.n_states:,} states"


def _usual(world: JaxWorld | HostWorld, command: Command) -> Iterator[Fact]:
    """How training goes there with nothing but a method."""
    options: Mapping[str, Any] = {"method": "apart_spread"}
    config, _ = resolve(world, "apart_spread", {})
    held = (
        f"each action held for {config.hold} steps" if config.hold > 1 else "actions are not held"
    )
    yield (
        "defaults",
        f"{config.skills} skills, {config.steps:,} steps, {held}, an update in "
        f"{config.collection / config.updates_per_episode:.3g} steps",
    )
    yield "next", command("", options)


def _checked(world: World, options: Mapping[str, Any], command: Command) -> str:
    """How to train so; `UserError` where that would not work."""
    given = dict(options)
    resolve(world, given.pop("method"), given)
    return command("", options)
