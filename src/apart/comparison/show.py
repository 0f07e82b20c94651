"""A comparison in words and as a picture, from stored results alone. No JAX."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from apart.comparison.metrics import METRICS
from apart.comparison.results import Cell, Result, words
from apart.comparison.rows import ALONE, SHARING
from apart.methods import METHODS, Method
from apart.report import draw, statistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from apart.report.draw import Figure

PLANS: Final = " †"  # behind a label
NOTED: Final = " ‡"
_SAMPLED: Final = "*"  # behind a number
_PLANNED: Final = "plans over all transitions seen"
_MOST: Final = "at most"
_DRAWN: Final = ("distinct", "information_count", "task")
_DRAWN_OF_FEW: Final = ("distinct", "covering_radius", "task")  # with fewer skills than places


@dataclass(frozen=True, repr=False)
class Comparison:
    """Methods side by side; ``print`` shows the table."""

    path: Path  # compare.json, compare.md and compare.png are here
    rows: Sequence[Result]

    def __repr__(self) -> str:
        return f"<apart.Comparison {self.path}: {len(self.rows)} rows>"

    def __str__(self) -> str:
        return text(self.rows)


def groups(results: Iterable[Result]) -> list[list[Result]]:
    """Rows of one table: equal world, steps, K and T; in their order."""
    found: dict[tuple[str, int, int, int], list[Result]] = {}
    for result in results:
        same = result.world, result.steps, result.skills, result.horizon
        found.setdefault(same, []).append(result)
    return list(found.values())


def columns(results: Sequence[Result]) -> list[str]:
    """The metrics that some of the rows have."""
    return [name for name in METRICS if any(name in result.cells for result in results)]


def heading(results: Sequence[Result]) -> str:
    """``four_rooms, 1,000,000 steps, K = 100, T = 40, 4 seeds``."""
    counts = sorted({len(result.seeds) for result in results})
    seeds = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    noun = "seed" if counts == [1] else "seeds"
    first = results[0]
    of = f"{first.world}, {first.steps:,} steps, K = {first.skills}, T = {first.horizon}"
    return f"{of}, {seeds} {noun}"


def _cells(results: Sequence[Result]) -> tuple[list[str], list[list[str]]]:
    """Heads and rows. Numbers that are a sample are marked, and what the best could be is below."""
    names = columns(results)
    rows = []
    uneven = len({len(result.seeds) for result in results}) > 1
    for result in results:
        cells = [result.label + marks(result)]
        for name in names:
            cell = result.cells.get(name)
            shown = "" if cell is None else words(name, cell)
            cells.append(shown + _SAMPLED * bool(cell and _is_sample(name, cell)))
        rows.append([*cells, str(len(result.seeds))] if uneven else cells)
    most: list[str] = []
    for name in names:
        known = [c.most for r in results if (c := r.cells.get(name)) and c.most is not None]
        most.append(f"{max(known):,.{METRICS[name].digits}f}" if known else "")
    if any(most):
        rows.append([_MOST, *most, *([""] if uneven else [])])
    heads = [METRICS[name].head for name in names]
    return ["method", *heads, *(["seeds"] if uneven else [])], rows


def _is_sample(name: str, cell: Cell) -> bool:
    return not cell.exact and METRICS[name].unit != "s"


def text(results: Sequence[Result]) -> str:
    """For a terminal."""
    parts = []
    for some in groups(results):
        head, rows = _cells(some)
        table = [head, *rows]
        widths = [max(len(row[i]) for row in table) for i in range(len(head))]
        lines = [_aligned(row, widths) for row in table]
        parts.append("\n".join([heading(some), *lines]))
    return "\n\n".join([*parts, "\n".join(legend(results))])


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    numbers = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
    return "  ".join([row[0].ljust(widths[0]), *numbers])


def page(results: Sequence[Result]) -> str:
    """The tables and what they mean, as a page of their own."""
    return "\n\n".join([markdown(results), "\n".join(f"- {line}" for line in legend(results))])


def markdown(results: Sequence[Result]) -> str:
    """For a page: a table for each world and number of steps."""
    parts = []
    for some in groups(results):
        head, rows = _cells(some)
        lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
        lines += [f"| {_in_code(row[0])} | {' | '.join(row[1:])} |" for row in rows]
        parts.append("\n".join([f"**{heading(some)}**", "", *lines]))
    return "\n\n".join(parts)


def _in_code(label: str) -> str:
    """A label as code, its marks after it; the last line is about all."""
    if label == _MOST:
        return f"*{label}*"
    name = label.rstrip(PLANS + NOTED)
    return f"`{name}`{label[len(name) :]}"


def legend(results: Sequence[Result]) -> Iterator[str]:
    """What the columns are, what is exact and what is a sample."""
    for name in columns(results):
        yield f"{METRICS[name].head}: {METRICS[name].summary}"
    if any(result.plans for result in results):
        yield f"{PLANS.strip()} {_PLANNED}: its steps are not comparable with those of the others"
    yield from notes(results)
    yield "± half of the 95 % interval of the mean over seeds (Student's t)"
    yield "seconds exclude compilation: median (minimum to maximum)"
    sampled = any(_is_sample(name, cell) for row in results for name, cell in row.cells.items())
    others = f"{_SAMPLED} from one sampled episode of each skill; all other" if sampled else "all"
    yield f"{others} numbers are exact, except seconds"


def marks(result: Result) -> str:
    """What stands behind the label of a row: † where it plans, ‡ where `notes` has a line on it."""
    return PLANS * result.plans + NOTED * bool(_note(result))


def label_marks(results: Iterable[Result]) -> dict[str, str]:
    """The marks behind each label: all that its rows have, as a method may plan in one world."""
    by_label: dict[str, str] = {}
    for result in results:
        by_label[result.label] = max(by_label.get(result.label, ""), marks(result), key=len)
    return by_label


def notes(results: Iterable[Result]) -> list[str]:
    """A line for each reason why methods are not ranked, or why their numbers need a caveat."""
    methods: dict[str, dict[str, None]] = {}
    for result in results:
        methods.setdefault(_note(result), {})[result.method] = None
    return [
        f"{NOTED.strip()} {', '.join(named)}: {note}" for note, named in methods.items() if note
    ]


def ranked(results: Iterable[Result]) -> list[Result]:
    """Those of methods that a table may order by their numbers."""
    return [result for result in results if not _method(result).unranked]


def _note(result: Result) -> str:
    method = _method(result)
    return f"not ranked, since {method.unranked}" if method.unranked else method.caveat


def _method(result: Result) -> Method:
    """The record of its method; one without facts where it is not registered here, as most do."""
    return METHODS.get(result.method, Method(""))


_LEAST_HEIGHT: Final = 2.2  # inches: below, a single panel has no room for its words
_LEGEND: Final = "bar: mean · dot: a seed · line: 95 % interval of the mean"
COLOURS: Final = f"\norange, †: {_PLANNED} · blue: learns from samples · grey: learns nothing"
_SMALL: Final[Any] = {"fontsize": 6, "color": draw.GREY, "va": "center"}
_LIMIT: Final = "\ndashed: upper bound"
NOTE: Final = "\n‡: see the note below the table"


def figure(results: Sequence[Result], measures: Sequence[str] = ()) -> Figure:
    """A panel for each world and measure: every seed a dot, the mean a bar, its interval a line.

    The ``measures`` are usual ones unless said; where no row has any, the first that there is.
    """
    found, there = groups(results), columns(results)
    usual = _DRAWN_OF_FEW if all(map(_is_few, results)) else _DRAWN
    names = [name for name in measures or usual if name in there] or there[:1]
    labels = _labels(results)
    by_label = label_marks(results)
    marked = [label + by_label[label] for label in labels]
    height = len(names) * (0.24 * len(labels) + 1.0) + 0.3 * (len(found) == 1)
    size = (3.1 * len(found) + 1.6, max(height, _LEAST_HEIGHT))
    made, axes = draw.figure(len(found), len(names), size=size)
    for row, name in enumerate(names):
        for column, some in enumerate(found):
            axis = axes[row * len(found) + column]
            _panel(axis, name, some, labels)
            axis.set_yticks(range(len(labels)), marked if column == 0 else [], fontsize=7.5)
            draw.title(axis, _title(some[0]) if row == 0 else "")
            axis.set_xlabel(METRICS[name].head, fontsize=8)
            if METRICS[name].unit in ("states", "steps"):
                axis.locator_params(axis="x", integer=True)
    cells = (result.cells.get(name) for result in results for name in names)
    limited = any(cell is not None and cell.most for cell in cells)
    words = _LEGEND + COLOURS + _LIMIT * limited + NOTE * bool(notes(results))
    if len(found) == 1:  # narrow
        words = words.replace(" · line", "\nline").replace(" · blue", "\nblue")
    made.supxlabel(words, fontsize=8)
    return made


def _is_few(result: Result) -> bool:
    """Whether there are more places than skills, so that these can be no more than K."""
    cell = result.cells.get("distinct")
    return cell is not None and cell.most == result.skills


def _title(first: Result) -> str:
    steps = f"{first.steps / 1e6:g}M" if first.steps >= 1_000_000 else f"{first.steps / 1e3:g}k"
    return f"{first.world.rsplit('/', 1)[-1]}, {steps} steps, K = {first.skills}"


def _labels(results: Sequence[Result]) -> list[str]:
    """The rows of all panels, those of one method together: a line is one method in every world."""
    of = dict.fromkeys((result.method, result.label) for result in results)
    methods = list(dict.fromkeys(result.method for result in results))
    return [label for _, label in sorted(of, key=lambda pair: methods.index(pair[0]))]


def _panel(
    axis: Axes,
    name: str,
    some: Sequence[Result],
    labels: Sequence[str],
) -> None:
    most = 0.0
    for result in some:
        cell = result.cells.get(name)
        if cell is None:
            continue
        at, by_kind = labels.index(result.label), colour(result)
        interval = statistics.mean(cell.values)
        faint = result.label.endswith((SHARING, ALONE))
        axis.barh(at, interval.estimate, color=by_kind, alpha=0.2 if faint else 0.45, height=0.7)
        axis.plot(cell.values, [at] * len(cell.values), "o", color=by_kind, markersize=3)
        axis.plot((interval.low, interval.high), (at, at), color="black", linewidth=1.0)
        most = max(most, cell.most or 0.0, *cell.values)
    limit = max((c.most for r in some if (c := r.cells.get(name)) and c.most), default=math.nan)
    if not math.isnan(limit):
        axis.axvline(limit, color=draw.GREY, linewidth=0.9, linestyle="--")
    axis.set_ylim(len(labels) - 0.5, -0.5)
    axis.set_xlim(0, 1.08 * (most or 1.0))
    missing = [labels.index(r.label) for r in some if name not in r.cells]
    for at in missing:
        axis.text(0.01, at, "has none", transform=axis.get_yaxis_transform(), **_SMALL)


def colour(result: Result) -> str:
    """By how it learns; of a method that is not registered here, as most do."""
    if result.plans:
        return "#d55e00"
    return "#0072b2" if _method(result).learns else draw.GREY
