"""How much of the paper fits into a given time: whole experiments rather than a little of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from apart.paper._spec import Experiment


class Scale(NamedTuple):
    """Seeds of every condition, and steps of every run."""

    seeds: int
    steps: int


Cost = Callable[[str, Scale], Mapping[Path, float]]  # seconds of every run of an experiment

_M: Final = 1_000_000
# From what settles anything to the whole. Verdicts need two seeds, most claims are about 5M steps.
_LEVELS: Final = (
    *(Scale(seeds, 5 * _M) for seeds in (2, 4)),
    *(Scale(4, steps * _M) for steps in (20, 50, 100, 150)),
)
_LESS: Final = tuple(Scale(2, steps) for steps in (_M, 200_000, 50_000))


def fit(
    specs: Mapping[str, Experiment], reading: str, seconds: float, cost: Cost
) -> dict[str, Scale]:
    """The experiments that fit into ``seconds``, and at what size.

    Those that settle most claims for their time come first; what is left makes them larger. Runs
    that several share are counted once.
    """
    wanted = {name: Scale(s.seeds, s.steps_in(reading)) for name, s in specs.items()}
    for levels in (_LEVELS, *((level,) for level in _LESS)):
        chosen: dict[str, Scale] = {}
        runs: dict[str, Mapping[Path, float]] = {}
        for level in levels:
            sizes = {name: Scale(*map(min, full, level)) for name, full in wanted.items()}
            order = sorted(sizes, key=lambda name: _price(specs[name], cost(name, sizes[name])))
            for name in order:
                made = {**runs, name: cost(name, sizes[name])}
                if sum(dict(r for one in made.values() for r in one.items()).values()) <= seconds:
                    chosen[name], runs = sizes[name], made
        if chosen:
            return {name: chosen[name] for name in specs if name in chosen}
    return {}


def _price(spec: Experiment, runs: Mapping[Path, float]) -> float:
    """Seconds for each claim of the paper; questions of ours count a tenth."""
    worth = sum(0.1 if claim.ours else 1.0 for claim in spec.claims)
    return sum(runs.values()) / max(worth, 0.1)


def words(specs: Mapping[str, Experiment], reading: str, chosen: Mapping[str, Scale]) -> list[str]:
    """What is made and what is left out."""
    made: list[str] = []
    less: list[str] = []
    for name, size in chosen.items():
        full = Scale(specs[name].seeds, specs[name].steps_in(reading))
        seeds = f"{size.seeds} of {full.seeds}" if size.seeds < full.seeds else f"{full.seeds}"
        steps = f"{size.steps / _M:g}M"
        steps += f" of {full.steps / _M:g}M" if size.steps < full.steps else ""
        (made if size == full else less).append(f"{name} ({seeds} seeds, {steps} steps)")
    out = [name for name in specs if name not in chosen]
    lines = [("in full", made), ("in part", less), ("left out", out)]
    return [f"{title}: {', '.join(found)}" for title, found in lines if found]
