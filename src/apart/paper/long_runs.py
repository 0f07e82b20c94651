"""The one-vs-all methods for as long as the paper trains them: do they catch up?"""

from __future__ import annotations

from collections.abc import Callable
from operator import ge, le

import numpy as np

from apart.paper import _draw
from apart.paper._spec import (
    DETAILS,
    LONG,
    MISSED,
    NAMES,
    REPRODUCED,
    Claim,
    Condition,
    Experiment,
    Finding,
    Results,
    judged,
    mean_is,
    reaches,
)
from apart.paper.accuracy_per_step import accuracies
from apart.paper.states_reached import reached
from apart.paper.tuned_vic import OPTIMISM
from apart.worlds import grid

METHODS = {m: NAMES[m] for m in ("diayn", "vic", "tuned_vic")}
BASELINES = ("diayn", "vic")


def draw(results: Results) -> _draw.Figure:
    """One panel."""
    made = _draw.by_world(results, ("four_rooms",), METHODS)
    walk = results.runs["vic four_rooms"][0].n_random_walk
    _draw.level(made.axes[0], walk, "random walk", ":", at=0.02)
    return made


def never_above(label: str, bound: float) -> Callable[[Results], Finding]:
    """At no step of either moment is the mean over seeds above ``bound`` percent."""

    def check(results: Results) -> Finding:
        most = float(accuracies(results, label).mean(0).max())
        return judged(f"{most:.1f} % at most", most <= bound, f"at most {bound:g} % at every step")

    return check


def stays_home(method: str) -> Callable[[Results], Finding]:
    """How many of the states outside the first room the skills visit at the end, per seed."""

    def check(results: Results) -> Finding:
        world = grid.load("four_rooms")
        outside = np.array([row < 5 or column > 5 for row, column in world.cells])
        label = f"{method} four_rooms"
        counts = [
            int((reached(results, label, 2, seed)[outside] > 0).sum())
            for seed in range(len(results.runs[label]))
        ]
        ours = f"{', '.join(map(str, counts))} of {int(outside.sum())}"
        return judged(ours, max(counts) <= 10, "at most 10 in every seed")

    return check


EXPERIMENT = Experiment(
    title="One-vs-all over 150M steps",
    source="figures of sections 4 and 5, four rooms",
    conditions=[Condition(f"{m} four_rooms", m) for m in METHODS],
    draw=draw,
    claims=[
        *(
            Claim(
                f"skills that {METHODS[m]} finds in four_rooms",
                "30 at most (over 100M)",
                mean_is(f"{m} four_rooms", le, 30),
                at=100_000_000,
                early=MISSED,
            )
            for m in BASELINES
        ),
        *(
            Claim(
                f"{METHODS[m]}'s discriminator is never right in more than 25 %",
                "not above 25 % (no steps given)",
                never_above(f"{m} four_rooms", 25),
                at=LONG,
                early=MISSED,
            )
            for m in BASELINES
        ),
        *(
            Claim(
                f"{METHODS[m]} barely leaves the first of the four rooms (10 states, our bound)",
                "barely (150M)",
                stays_home(m),
                {MISSED: "its skills go some way into the next rooms"},
                at=LONG,
                early=MISSED,
            )
            for m in BASELINES
        ),
        Claim(
            "tuned VIC finds all skills in four_rooms",
            "all (150M)",
            reaches("tuned_vic four_rooms", 85),
            {MISSED: OPTIMISM},
            at=LONG,
            early=REPRODUCED,
        ),
        Claim(
            "tuned VIC ends like APART in four_rooms (within 10 of the 85 that APART finds)",
            "comparable (150M)",
            mean_is("tuned_vic four_rooms", ge, 75),
            {MISSED: OPTIMISM},
            at=LONG,
            early=REPRODUCED,
        ),
    ],
    steps=LONG,
    keeps=[DETAILS],
)
