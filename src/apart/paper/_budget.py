"""How much of the paper fits into a given time: fewer steps first, then fewer seeds, then less."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from apart.paper._spec import Experiment
from apart.settings import OURS


class Scale(NamedTuple):
    """The most that an experiment gets; it may need less."""

    seeds: int
    steps: int


class Fit(NamedTuple):
    """What fits."""

    sizes: Mapping[str, Scale]  # by experiment, those that are made
    words: list[str]  # what is left out


_M: Final = 1_000_000
# From the whole down. Verdicts need two seeds, and most claims are about 5M steps.
_SCALES: Final = (
    *(Scale(4, steps * _M) for steps in (150, 100, 50, 20, 10, 5)),
    *(Scale(seeds, 5 * _M) for seeds in (3, 2)),
    *(Scale(2, steps) for steps in (2 * _M, _M, 500_000, 200_000, 100_000, 50_000)),
)


def fit(
    specs: Mapping[str, Experiment],
    reading: str,
    seconds: float,
    cost: Callable[[Mapping[str, Scale]], Mapping[str, float]],
) -> Fit:
    """The largest scale at which all experiments fit into ``seconds``, or most of them.

    Args:
        specs: what is wanted.
        reading: of the paper.
        seconds: what there is.
        cost: sizes by experiment -> seconds by experiment; runs that several share count once.
    """
    wanted = {name: Scale(s.seeds, s.steps_in(reading)) for name, s in specs.items()}
    for scale in _SCALES:
        sizes = {name: Scale(*map(min, full, scale)) for name, full in wanted.items()}
        if sum(cost(sizes).values()) <= seconds:
            break
    words = []
    while sizes and sum(cost(sizes).values()) > seconds:
        costs = cost(sizes)
        most = max(costs, key=costs.__getitem__)
        del sizes[most]
        words.append(f"{most}: does not fit at any length")
    command = "" if reading == OURS else f" --reading {reading}"
    for name, size in sizes.items():
        full = wanted[name]
        less = []
        if size.seeds < full.seeds:
            less.append(f"{size.seeds} of {full.seeds} seeds")
        if size.steps < full.steps:
            less.append(f"{size.steps / _M:g}M of {full.steps / _M:g}M steps")
        if less:
            words.append(f"{name}: {', '.join(less)} (whole: apart reproduce {name}{command})")
    return Fit(sizes, words)
