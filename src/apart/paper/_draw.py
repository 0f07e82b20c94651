"""Drawing: the same colour and dash for the same method everywhere, labels at the lines."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from apart._types import FloatArray, IntArray
from apart.paper._spec import Condition, Experiment, Record, Results
from apart.report import statistics
from apart.report.statistics import Interval
from apart.settings import resolve

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

Figure: TypeAlias = "matplotlib.figure.Figure"

# Okabe and Ito: safe for colour-blind readers; dashes keep them apart in grey.
STYLES: Final[Mapping[str, tuple[str, str]]] = {
    "apart": ("#0072b2", "-"),
    "ap_min_ascending": ("#56b4e9", "--"),
    "ap_min": ("#56b4e9", ":"),
    "ap_min_dropout": ("#56b4e9", "-."),
    "ap_average": ("#cc79a7", "-"),
    "ap_average_art": ("#cc79a7", "--"),
    "diayn": ("#009e73", "--"),
    "ova_ascending": ("#009e73", "-."),
    "ova_dropout": ("#009e73", ":"),
    "ova_art": ("#009e73", "-"),
    "vic": ("#e69f00", ":"),
    "tuned_vic": ("#d55e00", "-."),
    "apart_pixels": ("#0072b2", "--"),
}
# For variations of a method, beside the method itself: no method has these (Tol, muted).
SERIES: Final = (
    ("#882255", "--"),
    ("#999933", "-."),
    ("#332288", ":"),
    ("#555555", (0, (5, 1, 1, 1))),
    ("#aa4499", (0, (1, 1))),
)
GREY: Final = "#777777"


def figure(columns: int, rows: int = 1, height: float = 3.2) -> tuple[Figure, list[Axes]]:
    """A figure with ``rows`` x ``columns`` axes, in reading order."""
    import matplotlib.figure
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    made = matplotlib.figure.Figure(figsize=(4.2 * columns + 0.8, height * rows), dpi=110)
    FigureCanvasAgg(made)
    axes = np.atleast_1d(made.subplots(rows, columns)).reshape(-1)
    for axis in axes:
        axis.grid(color="#ececec")
        axis.set_axisbelow(True)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    return made, list(axes)


def curves(
    axis: Axes,
    lines: Mapping[str, Sequence[Record]],
    styles: Mapping[str, tuple[str, object]],
    column: str = "n_effective",
    names: Mapping[str, str] | None = None,
) -> None:
    """Interquartile mean over seeds with its 95 % interval, labelled at the right end."""
    ends = []
    for label, records in lines.items():
        colour, dash = styles[label]
        shortest = min(len(record.curve["env_steps"]) for record in records)
        x = np.asarray(records[0].curve["env_steps"][:shortest]) / 1e6
        columns = np.array([record.curve[column][:shortest] for record in records])
        middle = [statistics.interval([list(scores)]) for scores in columns.T]
        band(axis, x, middle, colour, dash)
        ends.append((middle[-1].estimate, (names or {}).get(label, label), colour))
    axis.set_xlim(0, x[-1])
    axis.set_xlabel("environment steps, millions")
    label_ends(axis, ends)


def band(
    axis: Axes, x: FloatArray | IntArray, y: Sequence[Interval], colour: str, dash: object
) -> None:
    """A line with its intervals."""
    axis.plot(x, [m.estimate for m in y], color=colour, linestyle=dash, linewidth=1.6)
    low, high = [m.low for m in y], [m.high for m in y]
    axis.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)


def label_ends(axis: Axes, ends: list[tuple[float, str, str]]) -> None:
    """Labels beside the last points, pushed apart where they would overlap, tied to them."""
    low, high = axis.get_ylim()
    left, right = axis.get_xlim()
    ends = sorted(ends)
    places = spaced([y for y, _, _ in ends], 0.062 * (high - low))
    too_high = max(places[-1] - high, 0.0)
    for at, (y, text, colour) in zip(places, ends, strict=True):
        place = (right + 0.03 * (right - left), at - too_high)
        axis.plot((right, place[0]), (y, place[1]), color=colour, linewidth=0.6, clip_on=False)
        axis.annotate(
            text,
            place,
            xytext=(2, 0),
            textcoords="offset points",
            color=colour,
            fontsize=8,
            va="center",
            annotation_clip=False,
        )
    axis.set_xlim(left, right)
    axis.set_ylim(low, high)


def spaced(values: Sequence[float], gap: float) -> list[float]:
    """The places nearest to ascending ``values`` (least squares) that are ``gap`` apart."""
    blocks: list[tuple[float, int]] = []  # what neighbours share: mean of value - index * gap, size
    for index, value in enumerate(values):
        mean, size = value - index * gap, 1
        while blocks and blocks[-1][0] > mean:
            before, count = blocks.pop()
            mean, size = (before * count + mean * size) / (count + size), count + size
        blocks.append((mean, size))
    shared = [mean for mean, size in blocks for _ in range(size)]
    return [mean + index * gap for index, mean in enumerate(shared)]


def level(axis: Axes, y: float, text: str, dash: str = "--", at: float = 0.25) -> None:
    """A reference line with its name on it, ``at`` a share of the width: where no curve is."""
    axis.axhline(y, color=GREY, linewidth=0.9, linestyle=dash)
    axis.annotate(
        text,
        (at, y),
        xycoords=("axes fraction", "data"),
        xytext=(0, 2),
        textcoords="offset points",
        fontsize=7.5,
        color=GREY,
    )


def styles_of(conditions: Sequence[Condition]) -> dict[str, tuple[str, object]]:
    """By label: the method's own style where a condition stands for it, else one of `SERIES`.

    It does when it is the only one with that method or changes no option of it.
    """
    methods = [c.method for c in conditions]
    others = itertools.cycle(SERIES)
    return {
        c.label: STYLES[c.method] if methods.count(c.method) == 1 or _as_it_is(c) else next(others)
        for c in conditions
    }


def _as_it_is(condition: Condition) -> bool:
    config, _ = resolve(condition.world, condition.method, condition.options)
    return config == resolve(condition.world, condition.method, {})[0]


def variations(results: Results, spec: Experiment) -> Figure:
    """Every condition a line, and a bar of the ends beside it."""
    made, (axis, bars) = figure(2)
    styles = styles_of(spec.conditions)
    records = next(iter(results.runs.values()))
    axis.set_ylim(0, 1.08 * max(r.n_available for r in records))
    level(axis, max(r.n_available for r in records), "all that can be found")
    curves(axis, results.runs, styles)
    axis.set_ylabel("skills found")
    axis.set_title(spec.title, fontsize=10, loc="left")
    ends(bars, results, list(results.runs), styles)
    made.tight_layout()
    return made


def ends(
    axis: Axes, results: Results, labels: Sequence[str], styles: Mapping[str, tuple[str, object]]
) -> None:
    """Skills at the end per condition: every seed a dot, the mean a bar, its interval a line."""
    for at, label in enumerate(labels):
        scores = results.final(label)
        found = statistics.mean(scores)
        axis.barh(at, found.estimate, color=styles[label][0], alpha=0.35, height=0.7)
        below = 0.14 * (np.arange(len(scores)) - (len(scores) - 1) / 2)  # so that equal ones show
        axis.plot(scores, at + below, "o", color=styles[label][0], markersize=4)
        axis.plot((found.low, found.high), (at, at), color="black", linewidth=1.2)
        axis.annotate(
            f"{found.estimate:.1f}",
            (1.0, at),
            xycoords=("axes fraction", "data"),
            xytext=(3, 0),
            textcoords="offset points",
            fontsize=8,
            va="center",
            annotation_clip=False,
        )
    axis.set_yticks(range(len(labels)), labels, fontsize=8)
    axis.invert_yaxis()
    axis.set_xlabel("skills at the end (dots: seeds, lines: 95 %)")
    axis.set_xlim(0, 1.15 * max(r.n_available for label in labels for r in results.runs[label]))


def by_world(
    results: Results, worlds: Sequence[str], labels: Mapping[str, str], walk: bool = False
) -> Figure:
    """A panel per world; ``labels`` method -> words. Conditions are named ``method world``."""
    made, axes = figure(len(worlds))
    for axis, world in zip(axes, worlds, strict=True):
        lines = {m: results.runs[f"{m} {world}"] for m in labels if f"{m} {world}" in results.runs}
        one = next(iter(lines.values()))[0]
        axis.set_ylim(0, 1.08 * one.n_available)
        level(axis, one.n_available, f"all {one.n_available} that can be found")
        if walk:
            level(axis, one.n_random_walk, "random walk", ":")
        curves(axis, lines, STYLES, names=labels)
        axis.set_title(world, fontsize=10, loc="left")
    axes[0].set_ylabel("skills found")
    made.tight_layout()
    return made
