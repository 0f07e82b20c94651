"""What was measured, as JSON: a row for each method on each world, its numbers per seed. No JAX."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from apart._errors import UserError
from apart._version import __version__
from apart.comparison.metrics import METRICS
from apart.comparison.rows import Row, What
from apart.report import statistics
from apart.running import machine
from apart.runs import files
from apart.runs import folder as run_folder

LEAVE_OUT: Final = "leave that file out of --with"
_AND: Final = "; "  # between machines
_MOST: Final = 1e15  # of any number in a row: more than anybody measured


class Cell(NamedTuple):
    """One measure of one row."""

    values: Sequence[float]  # per seed; infinite where it was never reached
    exact: bool
    most: float | None  # the largest value there can be


class Result(NamedTuple):
    """A row of the table, measured."""

    world: str
    label: str
    method: str
    steps: int
    skills: int
    horizon: int
    seeds: Sequence[int]  # those that ended well
    cells: Mapping[str, Cell]  # by metric
    identity: str = ""  # of options and world; older files do not say
    plans: bool = False  # over all transitions seen, not from batches; older files do not say
    world_identity: str = ""  # older files do not say
    machine: str = ""  # or several; of older files who wrote last

    @property
    def what(self) -> What:
        """Equal for rows that are one."""
        return self.world, self.label, self.steps, self.skills


def measured(rows: Iterable[Row], say: Callable[[str], None]) -> list[Result]:
    """The finished runs of ``rows``; a row of which no seed ended well is left out.

    A run that was damaged since is left out, too, and named.
    """
    found = []
    for row in rows:
        runs = list(_loaded(row, say))
        if not runs:
            continue
        cells = {}
        for name, metric in METRICS.items():
            values = [metric.of(run) for run in runs]
            known = [value for value in values if value is not None]
            if len(known) == len(runs):
                exact = all(value.exact for value in known)
                cells[name] = Cell([value.value for value in known], exact, metric.most(runs[0]))
        config = row.tasks[0].config
        seeds = [int(run.summary["seed"]) for run in runs]
        found.append(
            Result(
                *(row.world, row.label, row.method, row.steps, config.skills, config.horizon),
                seeds=seeds,
                cells=cells,
                identity=row.identity,
                plans=row.plans,
                world_identity=row.world_identity,
                machine=_named(_machine_of(run) for run in runs),
            )
        )
    return found


def _loaded(row: Row, say: Callable[[str], None]) -> Iterator[run_folder.Run]:
    for task in row.tasks:
        if task.done:
            try:
                run = task.load()
            except UserError as error:
                say(f"not counted: {error}")
            else:
                yield run


def joined(results: Iterable[Result]) -> list[Result]:
    """Equal rows as one, with the seeds of all; of a seed that several have, the first.

    A measure that one of them lacks is left out. `UserError` where they do not fit together.
    """
    results = list(results)
    check_worlds(results, results, LEAVE_OUT)
    found: dict[What, Result] = {}
    identities: dict[What, str] = {}  # a row is of none where one of its parts does not say
    for result in results:
        known = found.get(result.what)
        check_same(result, identities.get(result.what, ""))
        identities[result.what] = result.identity or identities.get(result.what, "")
        found[result.what] = result if known is None else _both(known, result)
    return list(found.values())


def fits(one: Result, other: Result | None) -> bool:
    """Whether both may be one row: equal options, as far as they say, and episodes as long."""
    if other is None:
        return True
    same = one.identity == other.identity or not (one.identity and other.identity)
    return same and one.horizon == other.horizon


def check_worlds(results: Iterable[Result], others: Iterable[Result | Row], advice: str) -> None:
    """`UserError` where ``results`` are of another world of the same name than ``others`` are."""
    for result in of_other_worlds(results, others):
        raise UserError(
            f"{result.world}: rows belong to two different worlds of that name (an edited map?); "
            f"{advice}"
        )


def of_other_worlds(results: Iterable[Result], others: Iterable[Result | Row]) -> list[Result]:
    """Those of ``results`` whose world has the name of one of ``others`` and is not that one."""
    known = {other.world: other.world_identity for other in others if other.world_identity}
    return [
        result
        for result in results
        if result.world_identity and known.get(result.world, "") not in ("", result.world_identity)
    ]


def check_same(result: Result, identity: str) -> None:
    """`UserError` where ``result`` is of other options, or of another world of the same name."""
    if result.identity and identity and result.identity != identity:
        raise UserError(
            f"{result.label} in {result.world} was measured with other options, or in another "
            f"world of that name; {LEAVE_OUT}"
        )


def _both(one: Result, other: Result) -> Result:
    if one.horizon != other.horizon:
        raise UserError(
            f"{one.label} in {one.world} was measured with episodes of {one.horizon} and of "
            f"{other.horizon} steps; {LEAVE_OUT}"
        )
    new = [at for at, seed in enumerate(other.seeds) if seed not in one.seeds]
    if not new:
        return one
    seeds = [*one.seeds, *(other.seeds[at] for at in new)]
    order = sorted(range(len(seeds)), key=seeds.__getitem__)
    cells = {}
    for name, cell in one.cells.items():
        more = other.cells.get(name)
        if more is not None:
            values = [*cell.values, *(more.values[at] for at in new)]
            exact = cell.exact and more.exact
            cells[name] = Cell([values[at] for at in order], exact, cell.most)
    return one._replace(
        seeds=[seeds[at] for at in order],
        cells=cells,
        identity=one.identity if other.identity else "",  # of all seeds, or of none
        plans=one.plans or other.plans,
        world_identity=one.world_identity or other.world_identity,
        machine=machines([one, other]),
    )


def machines(found: Iterable[Result]) -> str:
    """Where ``found`` was measured: ``AMD EPYC, 1 core; AMD EPYC, 2 cores``."""
    return _named(name for result in found for name in result.machine.split(_AND))


def _named(machines: Iterable[str]) -> str:
    """Each once."""
    return _AND.join(dict.fromkeys(filter(None, machines)))


def _machine_of(run: run_folder.Run) -> str:
    """Where it ended; runs of earlier versions do not say, and are taken as made here."""
    return str(run.summary.get("machine") or machine.words())


def write(path: Path, results: Sequence[Result]) -> None:
    """The stored form, read back by `read`."""
    files.make_folder(path.parent)
    names = [name for name in METRICS if any(name in result.cells for result in results)]
    files.write_json(
        path,
        {
            "apart": __version__,
            "machine": machines(results),
            "metrics": {
                name: {"summary": METRICS[name].summary, "unit": METRICS[name].unit}
                for name in names
            },
            "rows": [_stored(result) for result in results],
        },
    )


def _stored(result: Result) -> dict[str, Any]:
    cells = {
        name: {
            "values": [None if math.isinf(value) else round(value, 6) for value in cell.values],
            "exact": cell.exact,
            "most": None if cell.most is None else round(cell.most, 6),
        }
        for name, cell in result.cells.items()
    }
    return {**result._asdict(), "seeds": list(result.seeds), "cells": cells}


def read(path: Path) -> list[Result]:
    """Results as they were stored; `UserError` where the file is something else."""
    stored = files.read_json(path)
    rows, where = stored.get("rows"), stored.get("machine", "")
    if not isinstance(rows, list):
        raise UserError(f"{path}: not a comparison: it has no rows")
    found = []
    for n, row in enumerate(rows, 1):
        try:
            found.append(_result({"machine": where, **row}))
        except (AttributeError, LookupError, TypeError, ValueError, OverflowError):
            raise UserError(
                f"{path}: not a comparison: row {n} was not written by 'apart compare'"
            ) from None
    return found


def _list(value: Any) -> list[Any]:
    if type(value) is not list:
        raise TypeError("not a list")
    return value


def _result(row: Mapping[str, Any]) -> Result:
    cells = {
        name: Cell(
            [math.inf if value is None else float(value) for value in _list(cell["values"])],
            bool(cell["exact"]),
            cell["most"],
        )
        for name, cell in row["cells"].items()
    }
    found = Result(**{**row, "cells": cells})
    _check(found)
    return found


def _check(found: Result) -> None:
    """`ValueError` where something in a row that was read is not what `measured` gives."""
    named = (found.world, found.label, found.method)
    texts = (*named, found.identity, found.world_identity, found.machine)
    whole = (found.steps, found.skills, found.horizon)
    if not all(isinstance(text, str) for text in texts) or not all(named):
        raise ValueError("a name is missing or not text")
    if type(found.plans) is not bool:
        raise ValueError("plans is neither true nor false")
    if not all(type(n) is int and 0 < n < _MOST for n in whole):
        raise ValueError("steps, skills or horizon is not a number")
    seeds = found.seeds
    if type(seeds) is not list or not seeds or not all(type(n) is int for n in seeds):
        raise ValueError("seeds is not a list of numbers")
    if len(set(seeds)) != len(seeds):
        raise ValueError("a seed is there twice")
    if not found.cells:
        raise ValueError("nothing was measured")
    for name, cell in found.cells.items():
        never = name in METRICS and METRICS[name].never
        finite = [abs(x) < _MOST or (never and x == math.inf) for x in cell.values]
        if len(finite) != len(seeds) or not all(finite):
            raise ValueError("not one number for each seed")
        if cell.most is not None and not (
            type(cell.most) in (int, float) and abs(cell.most) < _MOST
        ):
            raise ValueError("a bound is not a number")


def words(name: str, cell: Cell) -> str:
    """``71.5 ± 2.1`` with the 95 % interval of the mean; ``125,000 (3 of 4)`` where some never do.

    ``7 (6 to 40)``, median and range, where single seeds may be far off. One seed has no interval.
    """
    metric = METRICS[name]
    if metric.uneven:
        shown, low, high = (
            f"{of(cell.values):,.{metric.digits}f}" for of in (statistics.median, min, max)
        )
        return shown if low == high else f"{shown} ({low} to {high})"
    if metric.never:
        reached = sum(not math.isinf(value) for value in cell.values)
        middle = statistics.median(cell.values)
        shown = "-" if math.isinf(middle) else f"{middle:,.0f}"
        return f"{shown} ({reached} of {len(cell.values)})"
    found = statistics.mean(cell.values)
    mean = f"{round(found.estimate, metric.digits) + 0.0:,.{metric.digits}f}"  # no -0.00
    if len(cell.values) < 2:
        return mean
    return f"{mean} ± {found.high - found.estimate:,.{metric.digits}f}"
