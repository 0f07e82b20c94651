"""Few seeds, honest intervals: interquartile mean and stratified bootstrap. NumPy only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from apart._types import FloatArray as Floats

Strata = Sequence[Sequence[float]]  # scores of the seeds, per task
DRAWS = 2_000


class Interval(NamedTuple):
    """An estimate and its 95 % interval."""

    estimate: float
    low: float
    high: float


def interquartile_mean(scores: Sequence[float]) -> float:
    """The mean of the middle half; a score at the edge counts with the part that is inside.

    >>> interquartile_mean([1, 2, 3, 100])
    2.5
    """
    return float(_interquartile_means(np.asarray([scores], np.float64))[0])


def _interquartile_means(draws: Floats) -> Floats:
    """[n] of each row of [n, seeds]."""
    ordered = np.sort(draws, axis=1)
    edges = np.arange(ordered.shape[1] + 1) / ordered.shape[1]
    inside = np.clip(edges[1:], 0.25, 0.75) - np.clip(edges[:-1], 0.25, 0.75)
    means: Floats = ordered @ inside / np.sum(inside)
    return means


def interval(strata: Strata, seed: int = 0) -> Interval:
    """Interquartile mean over all scores; seeds are drawn anew within each task.

    Args:
        strata: scores per task; one task is one list.
        seed: of the bootstrap, so that pages can be made again.
    """
    scores = [np.asarray(task, np.float64) for task in strata]
    rng = np.random.default_rng(seed)
    drawn = np.concatenate(
        [task[rng.integers(0, len(task), (DRAWS, len(task)))] for task in scores], 1
    )
    low, high = np.quantile(_interquartile_means(drawn), [0.025, 0.975])
    return Interval(interquartile_mean(np.concatenate(scores).tolist()), float(low), float(high))


def difference(one: Sequence[float], other: Sequence[float], seed: int = 0) -> Interval:
    """Mean of ``one`` minus mean of ``other``, both drawn anew."""
    return _bootstrap(lambda a, b: a.mean(1) - b.mean(1), one, other, seed)


def mean(scores: Sequence[float], seed: int = 0) -> Interval:
    """The plain mean."""
    return _bootstrap(lambda a, _: a.mean(1), scores, [0.0], seed)


def _bootstrap(
    statistic: Callable[[Floats, Floats], Floats],
    one: Sequence[float],
    other: Sequence[float],
    seed: int,
) -> Interval:
    a, b = np.asarray(one, np.float64), np.asarray(other, np.float64)
    rng = np.random.default_rng(seed)
    drawn = statistic(
        a[rng.integers(0, len(a), (DRAWS, len(a)))], b[rng.integers(0, len(b), (DRAWS, len(b)))]
    )
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(float(statistic(a[None], b[None])[0]), float(low), float(high))


def median(scores: Sequence[float]) -> float:
    """Of scores that may be infinite."""
    return float(np.median(np.asarray(scores, np.float64))) if len(scores) else float("nan")
