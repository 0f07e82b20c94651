"""A sweep: many runs described by one TOML file. No JAX.

``[options]`` are those of all runs, ``[grid]`` has a list of values for each key and makes every
combination, each ``[[run]]`` is one more; ``seeds``, above them, is how many each of these gets.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Final, NamedTuple

from apart._config import ELSEWHERE, MOVED, SPECS, Config, check_value, shown, unknown_option
from apart._errors import UserError, unknown
from apart.methods import OURS
from apart.running import study
from apart.running.board import Say
from apart.running.engines import Engine
from apart.running.progress import several
from apart.running.queue import raise_failures
from apart.running.study import Task
from apart.runs import files
from apart.runs import folder as run_folder
from apart.runs.plan import MAX_SEEDS
from apart.settings import ASKED, AUTO, resolve
from apart.worlds.world import World

_TABLES: Final = ("seeds", "options", "grid", "run")
_ASIDE: Final = ("world", "slip", "reading")  # of a run, beside the options of `Config`
_SAID: Final = ("out", "engine")  # on the command line
_TOLD: Final = ("world", "method")  # by every label anyway
_MOST_BYTES: Final = 1_000_000

# What is loaded already, by its text and slip: a table may be the result of a search of minutes.
_Worlds = dict[tuple[str, float], World]


class _Said(NamedTuple):
    """One run as the file says it: where, and what."""

    where: str
    options: Mapping[str, Any]


def read(path: Path, folder: Path) -> list[Task]:
    """The runs of the sweep in the file ``path``, in its order; equal ones once.

    Raises:
        UserError: the file, the table and the key in which something is wrong.
    """
    return _once(_read(path, folder))


def _once(tasks: Iterable[Task]) -> list[Task]:
    """Without those that are the same run as one before, of whatever setting."""
    found: dict[Path, Task] = {}
    for task in tasks:
        found.setdefault(task.folder, task)
    return list(found.values())


def _read(path: Path, folder: Path) -> list[Task]:
    """What `read` gives, with a run that several settings have for each of them."""
    try:
        found = tomllib.loads(files.read_bytes(path, _MOST_BYTES).decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise UserError(f"{path}: not a text file") from None
    except (ValueError, RecursionError) as error:  # also numbers and lists beyond all measure
        raise UserError(f"{path}: not valid TOML: {str(error).splitlines()[0]}") from None
    for name in found:
        if name not in _TABLES:
            raise _at(path, "", _misplaced(name))
    shared, seeds = _table(path, found, "options"), _seeds(path, found.get("seeds", 1))
    _check_keys(path, "[options]", shared)
    grid, listed = _checked_grid(path, found), [*_list(path, found)]
    n = (math.prod(map(len, grid.values())) if grid else 0) + len(listed) or 1  # [options] alone
    try:
        study.check_runs(n * seeds)
    except UserError as error:
        raise _at(path, "", error) from None
    said = [*_combined(grid), *listed] or [_Said("[options]", {})]
    worlds: _Worlds = {}
    return [
        task
        for one in said
        for task in _seeded(path, one, {**shared, **one.options}, seeds, folder, worlds)
    ]


def train(
    path: Path,
    folder: Path,
    engine: Engine,
    say: Say,
    index: Sequence[range] | None = None,
    summed_up: Callable[[Sequence[Task], Path], str] = lambda tasks, folder: "",
) -> list[Task]:
    """Train the runs of the file, or only those of ``index``, where they are missing.

    A run that several settings of the file have is there for each of them. Means are said also
    where some failed; what is ``summed_up`` of all runs is said after them.

    Raises:
        UserError: wrong input (nothing was trained), or what failed (all else is done).
        RunInterrupted: a signal; calling again goes on.
    """
    every = _checked(path, folder)
    tasks = list(_numbered(_once(every), index).values())
    todo = [task for task in tasks if not task.done]
    say(study.words(path.name, tasks, engine))
    groups = {path.stem: {task.folder for task in tasks}}
    failures = study.train(todo, groups, engine, say) if todo else {}
    tasks = every if index is None else tasks
    say("\nskills, mean over seeds:")
    for line in _means(tasks):
        say(f"  {line}")
    if index is None and (written := summed_up(tasks, folder)):
        say(f"all measures: {written}")
    say(f"runs: {folder / run_folder.RUNS}")
    raise_failures(failures, len(todo))
    return tasks


def _means(tasks: Iterable[Task]) -> Iterator[str]:
    """A line for each setting of the file: skills found and points, on average over its seeds."""
    settings: dict[tuple[str, str], dict[Path, Task]] = {}
    for task in tasks:
        settings.setdefault((task.label, task.world.name), {})[task.folder] = task
    for (label, world), seeds in settings.items():
        runs = []
        for task in seeds.values():
            try:
                runs += [task.load()] if task.done else []
            except UserError as error:  # of one run: the others have their line
                yield f"not counted: {error}"
        many = several(len(seeds), "seed")
        if len(runs) < len(seeds):
            many = f"{len(runs)} of {many}"
        if not runs:
            yield f"{label}, {world}: not finished, {many}"
            continue
        if not runs[0].world.places.counted:
            yield f"{label}, {world}: not counted, {many}"
            continue
        mean = fmean(float(run.n_effective) for run in runs)
        told = run_folder.found(round(mean, 1), runs[0].n_available, len(runs[0].skills))
        yield f"{label}, {world}: {told}{_earned(runs)}, {many}"


def _earned(runs: Sequence[run_folder.Run]) -> str:
    """What skills earn of the map's task, on average; nothing without one."""
    tasks = [run.summary.get("task") for run in runs]
    if not all(tasks):
        return ""
    mean = fmean(float(task["mean"]) for task in tasks if task)
    return f", {mean:.1f} of {tasks[0]['best']:g} points of the task" if tasks[0] else ""


def chosen(path: Path, folder: Path, index: Sequence[range] | None) -> dict[int, Task]:
    """The runs of the sweep in ``path``, or only those of ``index``, by their number."""
    return _numbered(_once(_checked(path, folder)), index)


def _checked(path: Path, folder: Path) -> list[Task]:
    if path.is_dir():
        raise UserError(f"{path}: a folder; name the file of a sweep (TOML)")
    if not path.is_file():
        raise UserError(f"{path}: no such file")
    study.check_folder(folder, "sweep")
    return _read(path, folder)


def _numbered(tasks: Sequence[Task], index: Sequence[range] | None) -> dict[int, Task]:
    """``tasks`` by their number; only those of ``index``, in its order, if one is given."""
    for numbers in index or ():
        if numbers[-1] >= len(tasks):
            raise UserError(
                f"--index: {numbers[-1]} is outside 0 to {len(tasks) - 1}, the runs of the file"
            )
    chosen = range(len(tasks)) if index is None else itertools.chain(*index)
    return {n: tasks[n] for n in chosen}


def _at(path: Path, where: str, error: UserError) -> UserError:
    return UserError(": ".join(filter(None, (str(path), where, str(error)))))


def _misplaced(name: str) -> UserError:
    if name in _SAID:
        return UserError(f"'{name}' does not belong in the file; give --{name} to the command")
    if name in SPECS or name in _ASIDE:
        return UserError(f"'{name}' is in no table; put it under [options], [grid] or [[run]]")
    return unknown("table", name, _TABLES)


def _table(path: Path, found: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = found.get(name, {})
    if not isinstance(value, dict):
        raise UserError(f"{path}: '{name}' is not a table; write [{name}] above its lines")
    return value


def _seeds(path: Path, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_SEEDS:
        raise UserError(f"{path}: seeds = {shown(value)}: give a whole number, 1 to {MAX_SEEDS:,}")
    return value


def _check_keys(path: Path, where: str, keys: Iterable[str]) -> None:
    for key in keys:
        if key == "seeds":
            why = "'seeds' applies to all runs; put it at the top of the file"
            raise UserError(f"{path}: {where}: {why}")
        if key in _SAID:
            raise _at(path, where, _misplaced(key))
        if key not in SPECS and key not in _ASIDE:
            names = [*SPECS, *_ASIDE]
            told = key in MOVED or key in ELSEWHERE
            error = (
                unknown_option(key, key)
                if told
                else unknown("key", key, names, see="apart train --help")
            )
            raise _at(path, where, error)


def _checked_grid(path: Path, found: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The values of each key."""
    grid = _table(path, found, "grid")
    _check_keys(path, "[grid]", grid)
    for key, values in grid.items():
        if not isinstance(values, list) or not values:
            raise UserError(f"{path}: [grid]: {key} = {values!r}: give a list, such as [1, 2]")
    return grid


def _combined(grid: Mapping[str, Sequence[Any]]) -> Iterator[_Said]:
    """Every combination, the last key changing first."""
    for values in itertools.product(*grid.values()) if grid else ():
        chosen = dict(zip(grid, values, strict=True))
        words = ", ".join(f"{key} = {value!r}" for key, value in chosen.items())
        yield _Said(f"[grid] ({words})", chosen)


def _list(path: Path, found: Mapping[str, Any]) -> Iterator[_Said]:
    runs = found.get("run", [])
    if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
        raise UserError(f"{path}: 'run' is not a list of tables; write [[run]] above each")
    for n, run in enumerate(runs, 1):
        where = f"[[run]] {n}"
        _check_keys(path, where, run)
        yield _Said(where, run)


def _seeded(
    path: Path,
    said: _Said,
    options: dict[str, Any],
    seeds: int,
    folder: Path,
    worlds: _Worlds,
) -> Iterator[Task]:
    """A task for each seed of one run; its world is one of ``worlds`` from then on."""
    own = {key: value for key, value in options.items() if key in SPECS}
    try:
        world, slip = options.get("world"), options.get("slip", 0.0)
        for key, value in options.items():
            if isinstance(value, list | dict):
                raise UserError(f"{key} = {shown(value)}: give one value; lists go under [grid]")
        if world is None:
            raise UserError('world is missing; write, for example, world = "four_rooms"')
        if not isinstance(world, str):
            raise UserError(f'world = {shown(world)}: give a name or a map, such as "four_rooms"')
        if isinstance(slip, bool) or not isinstance(slip, int | float):
            raise UserError(f"slip: {slip!r} is not a number")
        if not 0 <= slip <= 1:
            raise UserError(f"slip: {shown(slip)} is outside 0 to 1")
        method = own.pop("method", Config.method)
        for key, value in own.items():
            if key not in ASKED or value != AUTO:
                own[key] = check_value(key, value)
        first = own.pop("seed", 0)
        check_value("seed", first + seeds - 1)
        reading = options.get("reading", OURS)
        own["seed"], known = first, worlds.get((world, float(slip)))
        if known is None:
            config, known = resolve(world, method, own, float(slip), reading)
        else:
            config, _ = resolve(known, method, own, reading=reading)  # it has its slip
        worlds[world, float(slip)] = known
    except UserError as error:
        raise _at(path, said.where, error) from None
    chosen = [f"{key} {said.options[key]}" for key in said.options if key not in _TOLD]
    label = ", ".join([config.method, *chosen])
    for seed in range(first, first + seeds):
        yield study.task(folder, label, dataclasses.replace(config, seed=seed), known)
