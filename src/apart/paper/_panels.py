"""The figures that several experiments share, drawn with `report`."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from apart.paper._spec import Condition, Experiment, Record, Results
from apart.report import draw, statistics
from apart.report.draw import STYLES, Figure, Style
from apart.settings import resolve

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def over_steps(
    axis: Axes,
    title: str,
    runs: Mapping[str, Sequence[Record]],
    styles: Mapping[str, Style] = STYLES,
    names: Mapping[str, str] | None = None,
    walk: bool = False,
) -> None:
    """Skills over steps: the mean over seeds and its 95 % interval, a line a label.

    Args:
        axis: where.
        title: above it.
        runs: records by label.
        styles: of the labels.
        names: words for labels.
        walk: whether to show what a random walk finds.
    """
    one = max((record for records in runs.values() for record in records), key=_available)
    axis.set_ylim(0, 1.08 * one.n_available)
    draw.level(axis, one.n_available, f"all {one.n_available} that can be found")
    if walk:
        draw.level(axis, one.n_random_walk, "random walk", ":")
    points = {}
    for label, records in runs.items():
        shortest = min(len(record.curve["env_steps"]) for record in records)
        x = np.asarray(records[0].curve["env_steps"][:shortest]) / 1e6
        columns = np.array([record.curve["n_effective"][:shortest] for record in records])
        points[label] = x, [statistics.mean(scores) for scores in columns.T]
    draw.lines(axis, points, styles, names)
    axis.set_xlabel("environment steps, millions")
    axis.set_ylabel("skills found")
    draw.title(axis, title)


def _available(record: Record) -> int:
    return record.n_available


def styles_of(conditions: Sequence[Condition]) -> dict[str, Style]:
    """By label: the method's own style where a condition stands for it, else one of `SERIES`.

    It does when it is the only one with that method or changes no option of it.
    """
    methods = [c.method for c in conditions]
    others = itertools.cycle(draw.SERIES)
    return {
        c.label: STYLES[c.method] if methods.count(c.method) == 1 or _as_it_is(c) else next(others)
        for c in conditions
    }


def _as_it_is(condition: Condition) -> bool:
    config, _ = resolve(condition.world, condition.method, condition.options)
    return config == resolve(condition.world, condition.method, {})[0]


def variations(results: Results, spec: Experiment) -> Figure:
    """Every condition a line, and a bar of the ends beside it."""
    made, (axis, beside) = draw.figure(2)
    styles = styles_of(spec.conditions)
    over_steps(axis, spec.title, results.runs, styles)
    ends(beside, results, styles)
    return made


def ends(axis: Axes, results: Results, styles: Mapping[str, Style]) -> None:
    """Skills at the end of every run."""
    most = max(record.n_available for records in results.runs.values() for record in records)
    draw.bars(axis, {label: results.final(label) for label in results.runs}, styles, most)
    axis.set_xlabel("skills at the end (dots: seeds, lines: 95 %)")


def by_world(
    results: Results,
    worlds: Sequence[str],
    names: Mapping[str, str],
    walk: bool = False,
    styles: Mapping[str, Style] = STYLES,
) -> Figure:
    """A panel per world; ``names`` method -> words. Conditions are those of `each`."""
    made, axes = draw.figure(len(worlds))
    for axis, world in zip(axes, worlds, strict=True):
        over_steps(axis, world, results.in_world(world, names), styles, names, walk)
    return made
