"""What was measured, as JSON: a row for each method on each world, its numbers per seed. No JAX."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from apart._errors import UserError
from apart._version import __version__
from apart.comparison.metrics import METRICS
from apart.comparison.rows import Row
from apart.report import statistics
from apart.runs import files
from apart.runs import folder as run_folder


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


def measured(rows: Iterable[Row]) -> list[Result]:
    """The finished runs of ``rows``; a row of which no seed ended well is left out."""
    found = []
    for row in rows:
        runs = [run_folder.load(task.folder) for task in row.tasks if task.done]
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
                *(row.world, row.label, row.method, row.steps),
                *(config.skills, config.horizon, seeds, cells),
            )
        )
    return found


def write(path: Path, results: Sequence[Result], machine: str) -> None:
    """The stored form, read back by `read`."""
    files.make_folder(path.parent)
    names = [name for name in METRICS if any(name in result.cells for result in results)]
    files.write_json(
        path,
        {
            "apart": __version__,
            "machine": machine,
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
    try:
        return [_result(row) for row in stored["rows"]]
    except (LookupError, TypeError, ValueError) as error:
        raise UserError(f"{path}: no comparison ({error!r})") from None


def _result(row: Mapping[str, Any]) -> Result:
    cells = {
        name: Cell(
            [math.inf if value is None else float(value) for value in cell["values"]],
            bool(cell["exact"]),
            cell["most"],
        )
        for name, cell in row["cells"].items()
    }
    return Result(**{**row, "cells": cells})


def words(name: str, cell: Cell) -> str:
    """``71.5 ± 2.1`` with the 95 % interval of the mean; ``125,000 (3 of 4)`` where some never do.

    One seed has no interval.
    """
    metric = METRICS[name]
    if metric.never:
        reached = sum(not math.isinf(value) for value in cell.values)
        middle = statistics.median(cell.values)
        shown = "-" if math.isinf(middle) else f"{middle:,.0f}"
        return f"{shown} ({reached} of {len(cell.values)})"
    found = statistics.mean(cell.values)
    mean = f"{found.estimate:,.{metric.digits}f}"
    if len(cell.values) < 2:
        return mean
    return f"{mean} ± {found.high - found.estimate:,.{metric.digits}f}"
