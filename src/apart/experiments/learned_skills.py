"""Skills over steps in the three worlds: APART, DIAYN, VIC, and lines for what bounds them."""

from __future__ import annotations

from apart.experiments import _draw
from apart.experiments._spec import (
    WORLDS,
    Claim,
    Condition,
    Experiment,
    Results,
    at_least,
    fewer_than,
)

METHODS = {"apart": "APART", "diayn": "DIAYN", "vic": "VIC"}
# The paper's words: below so many skills after 100M to 150M steps.
BASELINES = {"four_rooms": 30, "empty": 60, "u_maze": 20}
APART = {"four_rooms": (85, "85 of 85"), "empty": (100, "100 of 100"), "u_maze": (50, "over 50")}
# DISDAIN's own report (86 % of 104 cells, T = 20, 600M steps, best seed), as a share of 85.
DISDAIN = 0.86


def draw(results: Results) -> _draw.Figure:
    """A panel per world."""
    made = _draw.by_world(results, WORLDS, METHODS, walk=True)
    rooms = made.axes[0]
    _draw.level(rooms, DISDAIN * 85, "DISDAIN, best seed, 600M", "-.")
    return made


EXPERIMENT = Experiment(
    title="Skills learned in grid worlds",
    source="figure of section 4, 150M steps",
    conditions=[Condition(f"{m} {w}", m, w) for w in WORLDS for m in METHODS],
    draw=draw,
    claims=[
        *(
            Claim(
                f"APART finds {words} skills in {world} (after 50M to 150M steps)",
                words,
                at_least(f"apart {world}", bound),
                {
                    "reproduced": "with fewer steps than the paper's",
                    "not reproduced": "close, at a fraction of the paper's 150M steps",
                },
                needs_steps=20_000_000,
            )
            for world, (bound, words) in APART.items()
        ),
        *(
            Claim(
                f"{METHODS[method]} stays under {bound} skills in {world}",
                f"under {bound} (at 150M)",
                fewer_than(f"{method} {world}", bound),
                needs_steps=5_000_000,
            )
            for method in ("diayn", "vic")
            for world, bound in BASELINES.items()
        ),
    ],
    steps=20_000_000,
)
