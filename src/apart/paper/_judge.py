"""Judging: rules that compare a claim of the paper with what was measured, and their verdicts."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from apart.methods import OURS, PUBLISHED
from apart.paper._spec import Claim, Experiment, Results
from apart.paper._spec import Finding as Finding
from apart.report import statistics

Check: TypeAlias = Callable[[Results], Finding]
REPRODUCED, BETTER, MISSED = "reproduced", "better", "not reproduced"
OPEN = "not judged: neither got there"
WIDE = "not judged: too few seeds"
NOT_JUDGED = "not judged"  # in `Claim.why`: why the runs are too short
_WIDEST = 5.0  # an interval that is wider meets anything


def under(reading: str, verdict: str) -> str:
    """A key of `Claim.why` for one reading alone."""
    return f"{verdict} ({reading})"


# Keys of `Claim.why` that explain one reading alone.
OURS_REPRODUCED, OURS_BETTER, OURS_MISSED = (
    under(OURS, verdict) for verdict in (REPRODUCED, BETTER, MISSED)
)
PUBLISHED_MISSED = under(PUBLISHED, MISSED)


def judged(ours: str, holds: object, rule: str) -> Finding:
    """What was measured, reproduced if the ``rule`` holds."""
    if holds:
        return Finding(ours, REPRODUCED, f"holds: {rule}")
    return Finding(ours, MISSED, f"does not hold: {rule}")


def spread(scores: Sequence[float]) -> str:
    """``83.5 [82.0, 85.0]``: the mean and its 95 % interval, which one seed does not have."""
    mean = statistics.mean(scores)
    if len(scores) == 1:
        return f"{mean.estimate:.1f} (1 seed)"
    return f"{mean.estimate:.1f} [{mean.low:.1f}, {mean.high:.1f}]"


def value(label: str, paper: float, std: float, own: bool = False) -> Check:
    """Our mean is the paper's: its interval meets two of the paper's deviations, or 2 skills.

    Where it is higher, that is better if the method is the paper's ``own``; an ablation or a
    baseline that does not fall behind as it should is not reproduced.
    """

    def check(results: Results) -> Finding:
        scores = results.final(label)
        gap = statistics.difference(scores, [paper])
        near = max(2.0 * std, 2.0)
        if gap.high - gap.estimate > near + _WIDEST:
            return Finding(spread(scores), WIDE, "the seeds differ too much")
        meets = gap.low <= near and gap.high >= -near
        rule = f"the interval comes within {near:g} skills ({gap.estimate:+.1f})"
        found = judged(spread(scores), meets, rule)
        return found._replace(verdict=BETTER) if own and gap.low > near else found

    return check


def more(one: str, other: str) -> Check:
    """``one`` finds more skills than ``other``: the 95 % interval of the difference is above 0."""

    def check(results: Results) -> Finding:
        gap = statistics.difference(results.final(one), results.final(other))
        ours = (
            f"{spread(results.final(one))} against {spread(results.final(other))}: "
            f"{gap.estimate:+.1f} [{gap.low:+.1f}, {gap.high:+.1f}]"
        )
        return judged(ours, gap.low > 0, "the interval of the difference is above 0")

    return check


def alike(labels: Sequence[str], within: float) -> Check:
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


def mean_is(label: str, compares: Callable[[float, float], bool], bound: float) -> Check:
    """The mean with its interval beside ``bound``: ``mean_is("diayn", operator.lt, 60)``."""

    def check(results: Results) -> Finding:
        return beside(results.final(label), compares, bound)

    return check


def beside(
    scores: Sequence[float], compares: Callable[[float, float], bool], bound: float, unit: str = ""
) -> Finding:
    """The whole interval of the mean is on the claimed side of ``bound``."""
    found = statistics.mean(scores)
    holds = compares(found.low, bound) and compares(found.high, bound)
    rule = f"the interval is {_WORDS[compares]} {bound:g}{unit}"
    return judged(f"{spread(scores)}{unit}", holds, rule)


def reaches(label: str, n: int) -> Check:
    """Every seed has ``n`` skills at some evaluation; a shorter run that has them settles it."""

    def check(results: Results) -> Finding:
        first = results.first(label, n)
        ours = spread(results.final(label))
        if max(first) <= results.until:
            ours += f", first {n} after {min(first) / 1e6:.1f}M to {max(first) / 1e6:.1f}M steps"
        return judged(ours, max(first) <= results.until, f"every seed has {n} at some evaluation")

    return check


def highest(label: str, others: Sequence[str]) -> Check:
    """``label`` finds `more` than the best of ``others``."""

    def check(results: Results) -> Finding:
        best = max(others, key=lambda name: statistics.mean(results.final(name)).estimate)
        found = more(label, best)(results)
        return found._replace(ours=f"{found.ours} (the next best is {best})")

    return check


def sooner(one: str, other: str, share: float = 0.5) -> Check:
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


class Row(NamedTuple):
    """A claim of the paper beside ours."""

    claim: str
    paper: str
    ours: str
    verdict: str
    why: str  # the reason, or the rule that decided
    own: bool  # a question of ours
    reason: str = ""  # what the claim says of such a verdict, if anything


_ANSWERS = {REPRODUCED: "yes", MISSED: "no"}  # to questions of ours


def _reason(claim: Claim, verdict: str, reading: str) -> str:
    return claim.why.get(under(reading, verdict), claim.why.get(verdict, ""))


def judge(spec: Experiment, results: Results) -> list[Row]:
    """Every claim with its verdict; not judged where the runs are too short for it."""
    rows = []
    for claim in spec.claims:
        found = claim.check(results._replace(until=claim.at))
        reason = _reason(claim, found.verdict, results.reading)
        verdict, why = found.verdict, reason or found.why
        enough = min(claim.at, claim.least or claim.at)
        if results.steps < enough and verdict == claim.early:
            why += f", after {results.steps / 1e6:g}M steps already"
        elif results.steps < enough:
            verdict = f"not judged below {claim.at / 1e6:g}M steps"
            reason = _reason(claim, NOT_JUDGED, results.reading)
            why = reason or f"ours end at {results.steps / 1e6:g}M"
        if results.seeds < 2:
            verdict, why, reason = "not judged by one seed", "it has no interval", ""
        if claim.ours:
            verdict = _ANSWERS.get(verdict, verdict)
        rows.append(Row(claim.text, claim.paper, found.ours, verdict, why, claim.ours, reason))
    return rows
