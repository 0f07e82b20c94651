"""What an experiment is: conditions to train, claims of the paper to check, a picture to draw."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from apart.report import statistics

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORLDS: Final = ("four_rooms", "empty", "u_maze")
NAMES: Final = {"apart": "APART", "diayn": "DIAYN", "vic": "VIC", "tuned_vic": "tuned VIC"}
LONG: Final = 150_000_000  # environment steps of the paper's longest runs
CURVES: Final = 20_000_000  # of the stored runs that stand for them
DETAILS, SKILLS = "details", "skills"
REPRODUCED, BETTER, MISSED = "reproduced", "better", "not reproduced"
OPEN = "not judged: neither got there"
NOT_JUDGED = "not judged"  # in `Claim.why`: why the runs are too short


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
    # Where the experiment keeps them: details at the start, near 5M steps (or a quarter) and at the
    # end; the states of every skill's episode.
    details: Sequence[Mapping[str, Any]] = ()
    skills: Sequence[Sequence[int]] = ()


class Results(NamedTuple):
    """Everything that an experiment draws and judges from."""

    runs: Mapping[str, Sequence[Record]]  # by the condition's label
    steps: int
    until: float = math.inf  # a claim about 5M steps is judged there, however long the runs are

    @property
    def seeds(self) -> int:
        """Of the condition that has fewest."""
        return min(len(records) for records in self.runs.values())

    def final(self, label: str) -> list[float]:
        """Skills at the end (or at ``until``), per seed."""
        if self.until < self.steps:
            return self.at(label, self.until)
        return [float(record.n_effective) for record in self.runs[label]]

    def first(self, label: str, n: float) -> list[float]:
        """Steps at the first evaluation with ``n`` skills, per seed; infinite if there is none."""
        found = []
        for record in self.runs[label]:
            pairs = zip(record.curve["env_steps"], record.curve["n_effective"], strict=True)
            found.append(min((at for at, skills in pairs if skills >= n), default=math.inf))
        return found

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
    why: str  # what decided it, for claims that have no better sentence


def judged(ours: str, holds: object, rule: str) -> Finding:
    """What was measured, reproduced if the ``rule`` holds."""
    if holds:
        return Finding(ours, REPRODUCED, f"holds: {rule}")
    return Finding(ours, MISSED, f"does not hold: {rule}")


@dataclass(frozen=True)
class Claim:
    """Something that the paper says, and how to check it.

    Attributes:
        text: the claim in our words.
        paper: the paper's value.
        check: results -> what we found.
        why: one sentence per verdict, as far as more can be said than the rule that decided it.
        at: environment steps that the claim is about.
        early: the verdict that shorter runs can give already (a bound that was reached stays
            reached); any other is not judged before.
        ours: a question of ours; the paper gives no answer in words or numbers.
    """

    text: str
    paper: str
    check: Callable[[Results], Finding]
    why: Mapping[str, str] = field(default_factory=dict)
    at: int = 5_000_000
    early: str = ""
    ours: bool = False


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
        keeps: what is stored of a run beside the number of skills over steps: other columns of
            metrics.csv, `DETAILS`, `SKILLS` (of the first seed).
        draw: results -> figure; unless said, skills over steps and at the end, a line a condition.
    """

    title: str
    source: str
    conditions: Sequence[Condition]
    claims: Sequence[Claim] = ()
    draw: Callable[[Results], Figure] | None = None
    steps: int = 5_000_000
    seeds: int = 4
    keeps: Collection[str] = ()


def spread(scores: Sequence[float]) -> str:
    """``83.5 [82.8, 84.2] (4 seeds)``: the mean and its 95 % bootstrap interval."""
    mean = statistics.mean(scores)
    seeds = f"{len(scores)} seed{'s' if len(scores) > 1 else ''}"
    return f"{mean.estimate:.1f} [{mean.low:.1f}, {mean.high:.1f}] ({seeds})"


def value(label: str, paper: float, std: float, own: bool = False) -> Callable[[Results], Finding]:
    """Our mean is the paper's when it is within two of its deviations, or within 2 skills.

    Where it is higher, that is better if the method is the paper's ``own``; an ablation or a
    baseline that does not fall behind as it should is not reproduced.
    """

    def check(results: Results) -> Finding:
        scores = results.final(label)
        gap = statistics.mean(scores).estimate - paper
        near = max(2.0 * std, 2.0)
        found = judged(spread(scores), abs(gap) <= near, f"within {near:g} skills ({gap:+.1f})")
        return found._replace(verdict=BETTER) if own and gap > near else found

    return check


def more(one: str, other: str) -> Callable[[Results], Finding]:
    """``one`` finds more skills than ``other``: the 95 % interval of the difference is above 0."""

    def check(results: Results) -> Finding:
        gap = statistics.difference(results.final(one), results.final(other))
        ours = (
            f"{spread(results.final(one))} against {spread(results.final(other))}: "
            f"{gap.estimate:+.1f} [{gap.low:+.1f}, {gap.high:+.1f}]"
        )
        return judged(ours, gap.low > 0, "the interval of the difference is above 0")

    return check


def alike(labels: Sequence[str], within: float) -> Callable[[Results], Finding]:
    """No two differ by more than so many skills, by the 95 % interval of their difference."""

    def check(results: Results) -> Finding:
        scores = {label: results.final(label) for label in labels}
        means = {label: statistics.mean(found).estimate for label, found in scores.items()}
        top, bottom = (pick(means, key=means.__getitem__) for pick in (max, min))
        gap = statistics.difference(scores[top], scores[bottom])
        ours = ", ".join(f"{label} {mean:.1f}" for label, mean in means.items())
        ours += f": {gap.estimate:.1f} [{gap.low:.1f}, {gap.high:.1f}] apart"
        rule = f"the interval is within {within:g} skills"
        return judged(ours, max(gap.high, -gap.low) <= within, rule)

    return check


_WORDS: Final[Mapping[Callable[[float, float], bool], str]] = {
    operator.lt: "below",
    operator.le: "at most",
    operator.ge: "at least",
    operator.gt: "above",
}


def mean_is(
    label: str, compares: Callable[[float, float], bool], bound: float
) -> Callable[[Results], Finding]:
    """The mean beside ``bound``: ``mean_is("diayn", operator.lt, 60)``."""

    def check(results: Results) -> Finding:
        scores = results.final(label)
        holds = compares(statistics.mean(scores).estimate, bound)
        return judged(spread(scores), holds, f"the mean is {_WORDS[compares]} {bound:g}")

    return check


def reaches(label: str, n: int) -> Callable[[Results], Finding]:
    """Every seed has ``n`` skills at some evaluation; a shorter run that has them settles it."""

    def check(results: Results) -> Finding:
        first = results.first(label, n)
        ours = spread(results.final(label))
        if max(first) <= results.until:
            ours += f", first {n} after {min(first) / 1e6:.1f}M to {max(first) / 1e6:.1f}M steps"
        return judged(ours, max(first) <= results.until, f"every seed has {n} at some evaluation")

    return check


def highest(label: str, others: Sequence[str]) -> Callable[[Results], Finding]:
    """``label`` finds `more` than the best of ``others``."""

    def check(results: Results) -> Finding:
        best = max(others, key=lambda name: statistics.mean(results.final(name)).estimate)
        found = more(label, best)(results)
        return found._replace(ours=f"{found.ours} (the next best is {best})")

    return check


def sooner(one: str, other: str, share: float = 0.5) -> Callable[[Results], Finding]:
    """``one`` has ``share`` of all skills in fewer steps, by medians over seeds.

    Final as soon as one of them got there, however long the runs are.
    """

    def check(results: Results) -> Finding:
        n = share * results.runs[one][0].n_available
        a, b = (statistics.median(results.first(label, n)) for label in (one, other))
        most = f"more than {results.steps / 1e6:g}M"
        words = [f"{x / 1e6:.2f}M" if math.isfinite(x) else most for x in (a, b)]
        ours = f"{math.ceil(n)} skills after {words[0]} against {words[1]} steps"
        if math.isinf(min(a, b)):
            return Finding(ours, OPEN, "the runs are too short")
        return judged(ours, a < b, "fewer steps by the medians over seeds")

    return check
