"""What all tables share: where results are, how rows are written, and which tables there are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from apart.methods import OURS
from apart.paper import _records, experiment
from apart.paper._spec import Results

ROOT = Path(__file__).parents[2]
TABLES: dict[str, Callable[[], str]] = {}
NUMBERS: dict[str, Callable[[], Sequence[str]]] = {}


def table(made: Callable[[], str]) -> Callable[[], str]:
    """``made`` stands in the docs between marks of its name."""
    assert made.__name__ not in TABLES
    TABLES[made.__name__] = made
    return made


def numbers(made: Callable[[], Sequence[str]]) -> Callable[[], Sequence[str]]:
    """``made`` gives numbers for sentences: ``<!--NAME.0-->85<!--/-->`` is the first of them."""
    assert made.__name__ not in NUMBERS
    NUMBERS[made.__name__] = made
    return made


def stored(name: str) -> Any:
    return json.loads((ROOT / "results" / f"{name}.json").read_text(encoding="utf-8"))


def markdown(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    names = list(head)
    lines = [f"| {' | '.join(names)} |", "|" + "---|" * len(names)]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)])


def thousands(value: float | None) -> str:
    return "-" if value is None else f"{value / 1000:,.0f}k"


def reproduced(name: str, reading: str = OURS) -> Results:
    path = _records.place(ROOT / "results" / "reproduce", reading) / f"{name}.json"
    return _records.read(path, experiment(name)) if path.exists() else Results({}, 0, reading)
