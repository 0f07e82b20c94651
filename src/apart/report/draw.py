"""Lines, bars and labels: the same colour and dash for the same method in every figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from apart._types import FloatArray
from apart.report import statistics
from apart.report.statistics import Interval

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

Figure: TypeAlias = "matplotlib.figure.Figure"
Style: TypeAlias = tuple[str, object]  # colour, dash

# Okabe and Ito: safe for colour-blind readers; dashes keep them apart in grey.
STYLES: Final[Mapping[str, Style]] = {
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
SERIES: Final[Sequence[Style]] = (
    ("#882255", "--"),
    ("#999933", "-."),
    ("#332288", ":"),
    ("#555555", (0, (5, 1, 1, 1))),
    ("#aa4499", (0, (1, 1))),
)
GREY: Final = "#777777"


def figure(
    columns: int = 1, rows: int = 1, height: float = 3.2, size: tuple[float, float] | None = None
) -> tuple[Figure, list[Axes]]:
    """A figure with ``rows`` x ``columns`` axes in reading order; ``size`` in inches, if given."""
    import matplotlib.figure
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    # Pages are some 8 inches wide: more than two columns get narrower, so that labels stay legible.
    size = size or (min(4.2, 9.0 / columns) * columns + 0.8, height * rows)
    made = matplotlib.figure.Figure(figsize=size, dpi=110, layout="tight")
    FigureCanvasAgg(made)
    axes = np.atleast_1d(made.subplots(rows, columns)).reshape(-1)
    for axis in axes:
        axis.grid(color="#ececec")
        axis.set_axisbelow(True)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    return made, list(axes)


def lines(
    axis: Axes,
    points: Mapping[str, tuple[FloatArray, Sequence[Interval]]],
    styles: Mapping[str, Style],
    names: Mapping[str, str] | None = None,
) -> None:
    """A line with its intervals per label, x and y, named at its right end.

    Draw reference lines and set the range of y before: the labels are placed in it.
    """
    ends = []
    for label, (x, y) in points.items():
        colour, dash = styles[label]
        axis.plot(x, [m.estimate for m in y], color=colour, linestyle=dash, linewidth=1.6)
        low, high = [m.low for m in y], [m.high for m in y]
        axis.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)
        ends.append((y[-1].estimate, (names or {}).get(label, label), colour))
    every = np.concatenate([x for x, _ in points.values()])
    axis.set_xlim(every.min(), every.max())
    _label_ends(axis, ends)


def _label_ends(axis: Axes, ends: list[tuple[float, str, str]]) -> None:
    """Labels beside the last points, pushed apart where they would overlap, tied to them."""
    low, high = axis.get_ylim()
    left, right = axis.get_xlim()
    ends = sorted(ends)
    places = spaced([y for y, _, _ in ends], 0.062 * (high - low))
    too_high = max(places[-1] - high, 0.0)
    for at, (y, text, colour) in zip(places, ends, strict=True):
        place = (right + 0.03 * (right - left), at - too_high)
        axis.plot((right, place[0]), (y, place[1]), color=colour, linewidth=0.6, clip_on=False)
        _note(axis, text, place, "data", (2, 0), color=colour, fontsize=8, va="center")
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
    _note(axis, text, (at, y), ("axes fraction", "data"), (0, 2), color=GREY, fontsize=7.5)


def bars(
    axis: Axes, scores: Mapping[str, Sequence[float]], styles: Mapping[str, Style], most: float
) -> None:
    """Scores per label, up to ``most``: every seed a dot, the mean a bar, its interval a line."""
    for at, (label, seeds) in enumerate(scores.items()):
        colour, found = styles[label][0], statistics.mean(seeds)
        axis.barh(at, found.estimate, color=colour, alpha=0.35, height=0.7)
        below = 0.14 * (np.arange(len(seeds)) - (len(seeds) - 1) / 2)  # so that equal ones show
        axis.plot(seeds, at + below, "o", color=colour, markersize=4)
        axis.plot((found.low, found.high), (at, at), color="black", linewidth=1.2)
        where = ("axes fraction", "data")
        _note(axis, f"{found.estimate:.1f}", (1.0, at), where, (3, 0), fontsize=8, va="center")
    axis.set_yticks(range(len(scores)), list(scores), fontsize=8)
    axis.invert_yaxis()
    axis.set_xlim(0, 1.15 * most)


def title(axis: Axes, text: str, size: float = 10) -> None:
    """A heading above the left corner."""
    axis.set_title(text, fontsize=size, loc="left")


def _note(
    axis: Axes,
    text: str,
    place: tuple[float, float],
    unit: str | tuple[str, str],
    offset: tuple[float, float],
    **style: Any,
) -> None:
    """A text at ``place``, shifted by ``offset`` points; drawn outside of the axes too."""
    axis.annotate(
        text,
        place,
        xycoords=unit,
        xytext=offset,
        textcoords="offset points",
        annotation_clip=False,
        **style,
    )
