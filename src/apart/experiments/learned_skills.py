"""Skills over steps in the three worlds: APART, DIAYN, VIC, and lines for what bounds them."""

from __future__ import annotations

import numpy as np

from apart.experiments import _draw
from apart.experiments import _statistics as statistics
from apart.experiments._spec import (
    LONG,
    MISSED,
    REPRODUCED,
    WORLDS,
    Claim,
    Condition,
    Experiment,
    Finding,
    Results,
    at_least,
    fewer_than,
    judged,
)

METHODS = {"apart": "APART", "diayn": "DIAYN", "vic": "VIC"}
# The paper's words: below so many skills after 100M to 150M steps.
BASELINES = {"four_rooms": 30, "empty": 60, "u_maze": 20}
APART = {
    "four_rooms": (85, "85 of 85", 100_000_000),
    "empty": (100, "100 of 100", 50_000_000),
    "u_maze": (51, "over 50", LONG),
}
# DISDAIN's own report (86 % of 104 cells, T = 20, 600M steps, best seed), as a share of 85.
DISDAIN = 0.86


def draw(results: Results) -> _draw.Figure:
    """A panel per world."""
    made = _draw.by_world(results, WORLDS, METHODS, walk=True)
    rooms = made.axes[0]
    _draw.level(rooms, DISDAIN * 85, "DISDAIN, best seed, 600M", "-.")
    return made


def mostly_early(results: Results) -> Finding:
    """The share of the skills of 5M steps that APART has at 1M."""
    early = np.mean(results.at("apart four_rooms", 1e6))
    late = np.mean(results.at("apart four_rooms", 5e6))
    return judged(f"{early:.1f} of {late:.1f}", early > 0.5 * late)


def quick(results: Results) -> Finding:
    """Hours of 5M steps of APART on one core."""
    hours = [r.wall_seconds * 5e6 / r.env_steps / 3600 for r in results.runs["apart four_rooms"]]
    return judged(f"{60 * np.mean(hours):.0f} minutes", max(hours) < 24)


def before_disdain(results: Results) -> Finding:
    """When APART has as many skills as DISDAIN's best seed reports."""
    when = statistics.median(results.first("apart four_rooms", DISDAIN * 85))
    return judged(f"after {when / 1e6:.1f}M", when < 600e6)


EXPERIMENT = Experiment(
    title="Skills learned in grid worlds",
    source="figure of section 4, 150M steps",
    conditions=[Condition(f"{m} {w}", m, w) for w in WORLDS for m in METHODS],
    draw=draw,
    claims=[
        *(
            Claim(
                f"APART finds {words} skills in {world}",
                f"{words} (by {at / 1e6:g}M)",
                at_least(f"apart {world}", bound),
                {"reproduced": "with fewer steps than the paper's"},
                at=at,
                early=REPRODUCED,
            )
            for world, (bound, words, at) in APART.items()
        ),
        *(
            Claim(
                f"{METHODS[method]} has {bound} skills at most in {world}",
                f"{bound} at most (after convergence, over 100M)",
                fewer_than(f"{method} {world}", bound + 0.01),
                at=100_000_000,
                early=MISSED,
            )
            for method in ("diayn", "vic")
            for world, bound in BASELINES.items()
        ),
        Claim("most of APART's convergence is in the first million steps", "yes", mostly_early),
        Claim("5M steps of APART take less than a day on a regular computer", "yes", quick),
        Claim(
            "APART needs fewer steps than DISDAIN's best seed for 86 % of the rooms",
            "DISDAIN: 600M",
            before_disdain,
        ),
    ],
    steps=20_000_000,
)
