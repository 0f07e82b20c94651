"""Tuned VIC for longer than APART needs: does it find all skills?"""

from __future__ import annotations

from apart.paper import _judge as rule
from apart.paper import _panels
from apart.paper._spec import LONG, NAMES, WORLDS, Claim, Condition, Experiment, Results, each
from apart.paper.long_runs import OLD, POSTERIOR
from apart.report import draw

ALL = {"four_rooms": (85, ""), "empty": (100, ""), "u_maze": (72, ", but more than 50 for APART")}


def picture(results: Results) -> draw.Figure:
    """A panel per world."""
    names = {"tuned_vic": NAMES["tuned_vic"], OLD: OLD}
    styles = {**draw.STYLES, OLD: draw.SERIES[0]}
    return _panels.by_world(results, WORLDS, names, True, styles)


EXPERIMENT = Experiment(
    title="Tuned VIC over long runs",
    source="figure of section 5, 150M steps",
    conditions=[
        *each(["tuned_vic"], WORLDS),
        *(Condition(f"{OLD} {w}", "tuned_vic", w, POSTERIOR) for w in WORLDS),
    ],
    draw=picture,
    claims=[
        Claim(
            f"tuned VIC finds all skills in {w}",
            f"all (150M){words}",
            rule.reaches(f"tuned_vic {w}", n),
            at=LONG,
            early=rule.REPRODUCED,
        )
        for w, (n, words) in ALL.items()
    ],
    steps=40_000_000,
    paper_steps=LONG,
)
EXPERIMENTS = {"tuned_long": EXPERIMENT}
