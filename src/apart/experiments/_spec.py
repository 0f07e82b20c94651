"""What an experiment is: conditions to train, claims of the paper to check, a picture to draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from apart.experiments import _statistics as statistics

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORLDS: Final = ("four_rooms", "empty", "u_maze")
REPRODUCED, BETTER, MISSED = "reproduced", "better", "not reproduced"


@dataclass(frozen=True)
class Condition:
    """One setting, trained with several seeds; experiments share the runs of equal settings."""

    label: str
    method: str
    world: str = "four_rooms"
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Record:
    """What is kept of one run."""

    seed: int
    n_effective: int
    n_available: int
    n_random_walk: float
    env_steps: int
    wall_seconds: float
    curve: Mapping[str, Sequence[float]]  # columns of metrics.csv, at most 80 rows
    details: Sequence[Mapping[str, Any]]  # at the start, near 5M steps or a quarter, at the end


class Results(NamedTuple):
    """Everything that an experiment draws and judges from."""

    runs: Mapping[str, Sequence[Record]]  # by the condition's label
    steps: int

    def final(self, label: str) -> list[float]:
        """Skills at the end, per seed."""
        return [float(record.n_effective) for record in self.runs[label]]

    def at(self, label: str, steps: float) -> list[float]:
        """Skills at the last evaluation up to ``steps``, per seed."""
        found = []
        for record in self.runs[label]:
            pairs = zip(record.curve["env_steps"], record.curve["n_effective"], strict=True)
            found.append([n for at, n in pairs if at <= steps][-1])
        return found


class Finding(NamedTuple):
    """A claim beside what was measured."""

    ours: str
    verdict: str


@dataclass(frozen=True)
class Claim:
    """Something that the paper says, and how to check it.

    Attributes:
        text: the claim in our words.
        paper: the paper's value.
        check: results -> what we found.
        why: one sentence per verdict, as far as there is something to say.
        needs_steps: the claim is about runs at least so long; shorter ones are not judged.
    """

    text: str
    paper: str
    check: Callable[[Results], Finding]
    why: Mapping[str, str] = field(default_factory=dict)
    needs_steps: int = 0


@dataclass(frozen=True)
class Experiment:
    """A table or figure of the paper.

    Attributes:
        title: one line.
        source: where in the paper.
        conditions: what is trained.
        claims: what the paper says about it.
        steps: environment steps of the stored runs.
        seeds: how many of them.
        draw: results -> figure; unless said, skills over steps and at the end, a line a condition.
    """

    title: str
    source: str
    conditions: Sequence[Condition]
    claims: Sequence[Claim] = ()
    draw: Callable[[Results], Figure] | None = None
    steps: int = 5_000_000
    seeds: int = 4


def spread(scores: Sequence[float]) -> str:
    """``83.5 [82.8, 84.2] (4 seeds)``: the mean and its 95 % bootstrap interval."""
    mean = statistics.mean(scores)
    seeds = f"{len(scores)} seed{'s' if len(scores) > 1 else ''}"
    return f"{mean.estimate:.1f} [{mean.low:.1f}, {mean.high:.1f}] ({seeds})"


def value(label: str, paper: float, std: float, own: bool = False) -> Callable[[Results], Finding]:
    """Ours is the paper's value when it is within two of its deviations, and at least 2 skills.

    Where it is higher, that is better if the method is the paper's ``own``; an ablation or a
    baseline that does not fall behind as it should is not reproduced.
    """

    def check(results: Results) -> Finding:
        scores = results.final(label)
        found = statistics.mean(scores)
        room = max(2.0 * std, 2.0)
        verdict = MISSED
        if found.low - room <= paper <= found.high + room:
            verdict = REPRODUCED
        elif own and found.estimate > paper:
            verdict = BETTER
        return Finding(spread(scores), verdict)

    return check


def more(one: str, other: str) -> Callable[[Results], Finding]:
    """``one`` finds more skills than ``other``: the 95 % interval of the difference is above 0."""

    def check(results: Results) -> Finding:
        gap = statistics.difference(results.final(one), results.final(other))
        ours = (
            f"{spread(results.final(one))} against {spread(results.final(other))}: "
            f"{gap.estimate:+.1f} [{gap.low:+.1f}, {gap.high:+.1f}]"
        )
        return Finding(ours, REPRODUCED if gap.low > 0 else MISSED)

    return check


def alike(labels: Sequence[str], within: float) -> Callable[[Results], Finding]:
    """All means lie within so many skills of each other."""

    def check(results: Results) -> Finding:
        means = {label: statistics.mean(results.final(label)).estimate for label in labels}
        ours = ", ".join(f"{label} {mean:.1f}" for label, mean in means.items())
        apart = max(means.values()) - min(means.values())
        return Finding(ours, REPRODUCED if apart <= within else MISSED)

    return check


def fewer_than(label: str, bound: float) -> Callable[[Results], Finding]:
    """The mean stays under ``bound``."""
    return lambda results: Finding(
        spread(results.final(label)),
        REPRODUCED if statistics.mean(results.final(label)).high < bound else MISSED,
    )


def at_least(label: str, bound: float) -> Callable[[Results], Finding]:
    """The mean reaches ``bound``."""
    return lambda results: Finding(
        spread(results.final(label)),
        REPRODUCED if statistics.mean(results.final(label)).estimate >= bound else MISSED,
    )
