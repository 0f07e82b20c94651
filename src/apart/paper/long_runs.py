"""The one-vs-all methods for as long as the paper trains them: do they catch up?"""

from __future__ import annotations

from operator import le

import numpy as np

from apart.paper import _judge as rule
from apart.paper import _panels
from apart.paper._spec import DETAILS, LONG, NAMES, Claim, Condition, Experiment, Results, each
from apart.paper.accuracy_per_step import accuracies
from apart.paper.states_reached import reached
from apart.report import draw
from apart.worlds import grid

BASELINES = {m: NAMES[m] for m in ("diayn", "vic")}
# Tuned VIC as a posterior, never negative: `tuned_readings` says why it is not the default.
POSTERIOR = {"reward": "posterior", "discriminator": "one_vs_all"}
OLD = ("four_rooms",)
ALL = {"four_rooms": (85, ""), "empty": (100, ""), "u_maze": (72, ", but more than 50 for APART")}


def picture(results: Results) -> draw.Figure:
    """A panel per world: tuned VIC in both forms, the baselines where they were trained so long."""
    made, axes = draw.figure(len(ALL))
    styles = {**draw.STYLES, "posterior": draw.SERIES[0]}
    names = {**BASELINES, "tuned_vic": NAMES["tuned_vic"], "posterior": "tuned VIC, posterior"}
    for axis, world in zip(axes, ALL, strict=True):
        runs = {m: results.runs[f"{m} {world}"] for m in names if f"{m} {world}" in results.runs}
        _panels.over_steps(axis, world, runs, styles, names, walk=True)
    return made


def never_above(label: str, bound: float) -> rule.Check:
    """At no step of either moment is the mean over seeds above ``bound`` percent."""

    def check(results: Results) -> rule.Finding:
        most = float(accuracies(results, label).mean(0).max())
        holds = most <= bound
        return rule.judged(f"{most:.1f} % at most", holds, f"at most {bound:g} % at every step")

    return check


def stays_home(label: str) -> rule.Check:
    """How many of the states outside the first room the skills visit at the end, per seed."""

    def check(results: Results) -> rule.Finding:
        outside = np.array([r < 5 or c > 5 for r, c in grid.load("four_rooms").cells])
        counts = reached(results, label, outside)
        ours = f"{', '.join(map(str, counts))} of {int(outside.sum())}"
        return rule.judged(ours, max(counts) <= 10, "at most 10 in every seed")

    return check


EXPERIMENT = Experiment(
    title="One-vs-all over 150M steps",
    source="figures of sections 4 and 5",
    conditions=[
        *each(BASELINES),
        *each(["tuned_vic"], ALL),
        *(Condition(f"posterior {w}", "tuned_vic", w, POSTERIOR) for w in OLD),
    ],
    draw=picture,
    claims=[
        *(
            Claim(
                f"skills that {BASELINES[m]} finds in four_rooms",
                "30 at most (over 100M)",
                rule.mean_is(f"{m} four_rooms", le, 30),
                at=100_000_000,
                early=rule.MISSED,
            )
            for m in BASELINES
        ),
        *(
            Claim(
                f"{BASELINES[m]}'s discriminator is never right in more than 25 %",
                "not above 25 % (no steps given)",
                never_above(f"{m} four_rooms", 25),
                at=LONG,
                early=rule.MISSED,
            )
            for m in BASELINES
        ),
        *(
            Claim(
                f"{BASELINES[m]} barely leaves the first of the four rooms (10 states, our bound)",
                "barely (150M)",
                stays_home(f"{m} four_rooms"),
                {rule.MISSED: "its skills go some way into the next rooms"},
                at=LONG,
                early=rule.MISSED,
            )
            for m in BASELINES
        ),
        *(
            Claim(
                f"tuned VIC finds all skills in {w}",
                f"all (150M){words}",
                rule.reaches(f"tuned_vic {w}", n),
                at=LONG,
                early=rule.REPRODUCED,
            )
            for w, (n, words) in ALL.items()
        ),
        *(
            Claim(
                f"tuned VIC finds more with a reward in APART's range than with the posterior "
                f"itself, in {w}",
                "names both changes",
                rule.more(f"tuned_vic {w}", f"posterior {w}"),
                at=LONG,
                ours=True,
            )
            for w in OLD
        ),
    ],
    steps=LONG,
    keeps=[DETAILS],
)
EXPERIMENTS = {"long_runs": EXPERIMENT}
