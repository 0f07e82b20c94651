"""Tuned VIC (the posterior itself, beta 10) against APART and VIC in the three worlds."""

from __future__ import annotations

from apart.experiments import _draw
from apart.experiments._spec import (
    LONG,
    REPRODUCED,
    WORLDS,
    Claim,
    Condition,
    Experiment,
    Results,
    alike,
    more,
    sooner,
)

METHODS = {"apart": "APART", "tuned_vic": "tuned VIC", "vic": "VIC"}
OPTIMISM = (
    "a posterior is never negative: known cells look better than unknown ones unless Q starts high "
    "(see the sweep of readings)"
)


def draw(results: Results) -> _draw.Figure:
    """A panel per world."""
    return _draw.by_world(results, WORLDS, METHODS)


EXPERIMENT = Experiment(
    title="Tuned VIC against APART and VIC",
    source="figure of section 5, 150M steps",
    conditions=[Condition(f"{m} {w}", m, w) for w in WORLDS for m in METHODS],
    draw=draw,
    claims=[
        *(
            Claim(
                f"tuned VIC ends like APART in {w} (within 10 skills)",
                "comparable (150M)",
                alike([f"apart {w}", f"tuned_vic {w}"], 10),
                at=LONG,
            )
            for w in WORLDS
        ),
        *(
            Claim(
                f"tuned VIC beats VIC in {w}",
                "yes",
                more(f"tuned_vic {w}", f"vic {w}"),
                {"not reproduced": OPTIMISM},
                at=LONG,
                early=REPRODUCED,
            )
            for w in WORLDS
        ),
        *(
            Claim(
                f"APART converges faster in {w} (half of all skills)",
                "yes",
                sooner(f"apart {w}", f"tuned_vic {w}"),
            )
            for w in WORLDS
        ),
    ],
    steps=20_000_000,
)
