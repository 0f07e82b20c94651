"""What a comparison trains: every method on every world, with and without sharing. No JAX."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from apart._config import Config, check_value
from apart._errors import UserError
from apart._registry import load_plugins
from apart.facts import over_known
from apart.learner.q_learning import Q_RULES
from apart.methods import METHODS
from apart.running import study
from apart.running.board import Say
from apart.running.study import Task
from apart.settings import AUTO, resolve
from apart.worlds import load
from apart.worlds.world import World

AS_IS, SHARING, ALONE = "", "+ sharing", "- sharing"
TURNED = "sharing turned around"

What = tuple[str, str, int, int]  # world, label, steps and K: what a row of the table is


class Row(NamedTuple):
    """A method on a world for so many steps, with its seeds."""

    world: str
    method: str
    label: str  # the method, or more: ``vic + sharing``, ``vic, epsilon 0.1``
    steps: int
    tasks: list[Task]

    @property
    def what(self) -> What:
        """Equal for rows that are one."""
        return self.world, self.label, self.steps, self.tasks[0].config.skills

    @property
    def identity(self) -> str:
        """What all its runs share: their options and their world."""
        return study.same(self.tasks[0].config, self.tasks[0].world)

    @property
    def world_identity(self) -> str:
        """Of its world alone."""
        return study.same_world(self.tasks[0].world)

    @property
    def plans(self) -> bool:
        """Whether Q plans over all transitions seen: its steps do not compare with others'."""
        return Q_RULES[self.tasks[0].config.q_rule].sweeps


def usual() -> list[str]:
    """Every method that is registered and brings no network of its own."""
    load_plugins()
    return [name for name, method in METHODS.items() if "network" not in method.options]


def one_k(skills: Any) -> int:
    """K of a comparison, which is that of all its worlds."""
    if skills == AUTO:
        raise UserError("--skills auto: a comparison uses one K for all worlds; give a number")
    return int(check_value("skills", skills))


def check_methods(names: Iterable[str]) -> list[str]:
    """``names`` without repetitions; `UserError` with the nearest name for an unknown one."""
    found = list(dict.fromkeys(map(str, names)))
    for name in found:
        METHODS.named(name)
    return found


def rows(
    worlds: Sequence[str | World],
    methods: Sequence[str] | None,
    *,
    steps: Sequence[int],
    seeds: Sequence[int],
    skills: int,
    sharing: bool,
    folder: Path,
    say: Say,
) -> list[Row]:
    """The rows of the table, and where their runs are; without ``methods`` of `usual` ones.

    A method that cannot be trained in a world has no row there, which is said; that none can is an
    error.
    """
    if methods is not None and not methods:
        raise UserError("--methods: name at least one method")
    loaded = _loaded(worlds)
    named, names = list(loaded), usual() if methods is None else check_methods(methods)
    study.check_runs(len(named) * len(names) * len(steps) * len(seeds) * (1 + sharing))
    found: list[Row] = []
    lines: list[str] = []
    for method in names:
        found += _of_method(loaded, method, steps, skills, seeds, sharing, folder, lines.append)
    if not found:
        raise UserError(f"nothing to compare in {', '.join(named)}: {lines[0]}")
    for line in lines:
        say(line)
    return sorted(found, key=lambda row: (named.index(row.world), steps.index(row.steps)))


def rows_of(tasks: Iterable[Task]) -> list[Row]:
    """Rows of runs that were described one by one (a sweep), in their order: a setting each."""
    settings: dict[tuple[str, str, str], dict[Path, Task]] = {}
    for task in tasks:
        setting = task.label, task.world.name, task.folder.parent.name  # named after its options
        settings.setdefault(setting, {}).setdefault(task.folder, task)
    found = []
    for (label, world, _), seeds in settings.items():
        same = list(seeds.values())
        config = same[0].config
        found.append(Row(world, config.method, label, config.steps, same))
    return found


def _loaded(worlds: Iterable[str | World]) -> dict[str, World]:
    """By name, each once: a table may be the result of a search."""
    found: dict[str, World] = {}
    for world in worlds:
        name = world if isinstance(world, str) else load(world).name
        if name not in found:
            found[name] = load(world)
        elif found[name] is not world and world != name:
            raise UserError(f"{name}: several worlds have that name; give each its own name")
    return found


def _of_method(
    worlds: Mapping[str, World],
    method: str,
    steps: Sequence[int],
    skills: int,
    seeds: Sequence[int],
    sharing: bool,
    folder: Path,
    say: Say,
) -> Iterator[Row]:
    refused: dict[str, None] = {}
    for world, length in itertools.product(worlds, steps):
        options = {"steps": length, "skills": skills}
        for change in (AS_IS, TURNED) if sharing else (AS_IS,):
            try:
                config, loaded = resolve(worlds[world], method, options)
                if change == TURNED:
                    change, rule = _turned(config)
                    if not rule:
                        continue
                    config, _ = resolve(loaded, method, {**options, "q_rule": rule})
            except UserError as error:
                refused[f"no row for {method} {change}".rstrip() + f": {error}"] = None
                break
            row = Row(world, method, f"{method} {change}".rstrip(), length, [])
            for seed in seeds:
                one = dataclasses.replace(config, seed=seed)
                row.tasks.append(study.task(folder, row.label, one, loaded))
            yield row
    for line in refused:
        say(line)


def _turned(config: Config) -> tuple[str, str]:
    """The other answer to who learns from a transition, and the rule of Q that gives it.

    From batches on both sides: a sweep over all that is known has no form for one skill alone.
    Nothing where nothing is learnt, and where rewards live by what is known.
    """
    rule = Q_RULES[config.q_rule]
    if over_known(config):
        return ALONE, ""
    change = ALONE if rule.shares else SHARING
    for name, other in Q_RULES.items():
        if other.adam == rule.adam and other.shares != rule.shares and not other.sweeps:
            return change, name if config.updates_per_episode else ""
    return change, ""
