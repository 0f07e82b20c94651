"""``apart compare``: train what is missing, measure it, show it. No JAX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from apart._errors import RunInterrupted, UserError
from apart.comparison import results, show
from apart.comparison.rows import Row, What, rows, rows_of
from apart.methods import METHODS
from apart.running import study
from apart.running.board import Say
from apart.running.engines import Engine
from apart.running.progress import several
from apart.running.queue import Failure, raise_failures
from apart.running.study import Task
from apart.runs import files
from apart.runs.lock import Lock
from apart.worlds.world import World

STORED: Final = "compare.json"
_OF_SWEEP: Final = "sweep.json"  # beside that of a comparison in the same folder
_MOST_DRAWN, _MOST_PANELS = 100, 20  # rows of a figure, and tables beside each other
FOLDER = Path("runs") / "compare"


def compare(
    worlds: Sequence[str | World],
    folder: Path,
    *,
    methods: Sequence[str] | None,
    steps: Sequence[int],
    seeds: Sequence[int],
    skills: int,
    sharing: bool,
    engine: Engine,
    say: Say,
    known: Sequence[results.Result] = (),
) -> list[results.Result]:
    """Every method on every world; runs that are in ``folder`` already are not made again.

    Writes compare.json, compare.md and compare.png there, of all that ended well, also where
    some runs failed or the whole was stopped.

    Args:
        worlds: names, maps, or worlds.
        folder: where runs and results are.
        methods: names; None: all that bring no network of their own.
        steps: environment steps; each makes rows of its own.
        seeds: of every row.
        skills: K.
        sharing: also with the other answer to whether a transition teaches all skills.
        engine: where runs are trained.
        say: gets every line.
        known: results of other comparisons: they stand in the table too, and what they have is not
            trained.

    Raises:
        UserError: wrong input (nothing was trained), or what failed (all else is written).
        RunInterrupted: a signal; calling again goes on.
    """
    study.check_folder(folder, "comparison", STORED)
    table = rows(
        worlds,
        methods,
        steps=list(dict.fromkeys(steps)),
        seeds=seeds,
        skills=skills,
        sharing=sharing,
        folder=folder,
        say=say,
    )
    results.check_worlds(known, table, results.LEAVE_OUT)
    known = results.joined(known)
    there = {result.what: result for result in known}
    stored, advice = _stored(folder), f"choose another --out, or move {folder / STORED} away"
    results.check_worlds(stored, [*known, *table], advice)
    lacking = [row._replace(tasks=_missing(row, there)) for row in table]
    tasks = {task.folder: task for row in lacking for task in row.tasks}
    say(study.words("compare", tasks.values(), engine))
    n_todo = sum(not task.done for task in tasks.values())
    try:
        failures = _trained(lacking, tasks.values(), engine, say)
    except RunInterrupted:
        _show(table, known, folder, say)
        raise
    found = _show(table, known, folder, say)
    raise_failures(failures, n_todo)
    return found


def _trained(
    table: Sequence[Row], tasks: Iterable[Task], engine: Engine, say: Say
) -> Mapping[Path, Failure]:
    """Why the runs failed that did, of those of ``tasks`` that were not done."""
    todo = [task for task in tasks if not task.done]
    if not todo:
        return {}
    groups: dict[str, set[Path]] = {}
    for row in table:
        groups.setdefault(row.world, set()).update(task.folder for task in row.tasks)
    # All rows get their first seed before any gets its second: what is there soon is even.
    todo.sort(key=lambda task: (task.config.seed, task.seconds))
    return study.train(todo, groups, engine, say)


def _missing(row: Row, known: Mapping[What, results.Result]) -> list[Task]:
    """The tasks of ``row`` whose seeds are not ``known``."""
    found = known.get(row.what)
    if found is None:
        return row.tasks
    results.check_same(found, row.identity)
    return [task for task in row.tasks if task.config.seed not in found.seeds]


def _in_order(found: Sequence[results.Result], table: Sequence[Row]) -> list[results.Result]:
    """By world and steps as in ``table``, by method as in `apart list`."""

    def places(asked: Iterable[Any], there: Iterable[Any]) -> dict[Any, int]:
        return {name: at for at, name in enumerate(dict.fromkeys([*asked, *there]))}

    worlds = places((row.world for row in table), (result.world for result in found))
    steps = places((row.steps for row in table), (result.steps for result in found))
    methods = places(METHODS, (result.method for result in found))

    def place(result: results.Result) -> tuple[int, int, int, int, str]:
        world, step, method = worlds[result.world], steps[result.steps], methods[result.method]
        return world, step, result.skills, method, result.label

    return sorted(found, key=place)


def _stored(folder: Path) -> list[results.Result]:
    """The rows that ``folder`` has already."""
    path = folder / STORED
    if not path.exists():
        return []
    try:
        return results.read(path)
    except UserError as error:
        raise UserError(f"{error}; it would be overwritten; move it away first") from None


def _show(
    table: Sequence[Row],
    known: Sequence[results.Result],
    folder: Path,
    say: Say,
) -> list[results.Result]:
    """What was measured of the runs that are there, and what is ``known``, written and said.

    Rows that are stored stay, and their seeds, unless they are of other options: also those that
    another comparison wrote into the folder while this one trained.
    """
    now = results.joined([*results.measured(table, say), *known])
    there = {result.what: result for result in now}
    files.make_folder(folder)
    with Lock(folder, wait=True):  # nobody writes between what is read and what is written here
        stay = [old for old in _stored(folder) if results.fits(old, there.get(old.what))]
        other = results.of_other_worlds(stay, now)
        if other:  # written meanwhile
            say(f"left out: {several(len(other), 'row')} of another world of the same name")
            stay = [old for old in stay if old not in other]
        found = _in_order(results.joined([*now, *stay]), table)
        if found:
            written = _written(found, table, folder / STORED)
            say(f"\n{show.text(found)}\n\n{written}")
    return found


def summed_up(tasks: Iterable[Task], folder: Path) -> str:
    """Every measure of the finished runs of a sweep in ``folder``, a row for each setting, written.

    Returns the files, for people; nothing where no run is finished. A run that was damaged, or
    trained for longer since, is left out.
    """
    table = rows_of(tasks)
    found = results.measured(table, lambda line: None)
    return _written(found, table, folder / _OF_SWEEP) if found else ""


def _written(found: Sequence[results.Result], table: Iterable[Row], path: Path) -> str:
    """``compare.md, compare.json, compare.png``; many rows have no picture that can be read.

    What ``table`` has and they have not is named below the page.
    """
    results.write(path, found)
    text = "\n".join([show.page(found), *_lacking(found, table), ""])
    page, picture = path.with_suffix(".md"), path.with_suffix(".png")
    files.write_bytes(page, text.encode("utf-8", "replace"))
    most, panels = len({row.label for row in found}), len(show.groups(found))
    if most > _MOST_DRAWN or panels > _MOST_PANELS:
        files.remove(picture)
        many = f"{most} rows" if most > _MOST_DRAWN else f"{panels} tables"
        return f"{page}, {path.name} (no picture of {many})"
    files.write_picture(picture, show.figure(found))
    return f"{page}, {path.name}, {picture.name}"


def _lacking(found: Iterable[results.Result], table: Iterable[Row]) -> Iterator[str]:
    there = {result.what: {*result.seeds} for result in found}
    for row in table:
        seeds = {task.config.seed for task in row.tasks}
        n = len(seeds & there.get(row.what, set()))
        if n < len(seeds):
            many = several(len(seeds), "seed")
            yield f"- not finished: {row.label} in {row.world}: {n} of {many}"
