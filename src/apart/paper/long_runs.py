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
OLD = "tuned VIC, posterior"


def picture(results: Results) -> draw.Figure:
    """One panel."""
    made, (axis,) = draw.figure()
    styles = {**draw.STYLES, OLD: draw.SERIES[0]}
    runs = {label.removesuffix(" four_rooms"): records for label, records in results.runs.items()}
    _panels.over_steps(axis, "four_rooms", runs, styles, {**BASELINES, OLD: OLD}, walk=True)
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
    source="figures of sections 4 and 5, four rooms",
    conditions=[
        *each(BASELINES),
        Condition(OLD, "tuned_vic", options=POSTERIOR),
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
    ],
    steps=LONG,
    keeps=[DETAILS],
)
EXPERIMENTS = {"long_runs": EXPERIMENT}
