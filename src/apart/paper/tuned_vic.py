"""Tuned VIC (the posterior itself, beta 10) against APART and VIC in the three worlds."""

from __future__ import annotations

from apart.paper import _draw
from apart.paper._spec import (
    CURVES,
    LONG,
    NAMES,
    REPRODUCED,
    WORLDS,
    Claim,
    Condition,
    Experiment,
    Results,
    alike,
    more,
    reaches,
    sooner,
)

# Of four_rooms at 150M: `long_runs`.
ALL = {
    "empty": (100, ""),
    "u_maze": (72, ", but more than 50 for APART"),
}
METHODS = {m: NAMES[m] for m in ("apart", "tuned_vic", "vic")}
METHOD_OF = {words: method for method, words in METHODS.items()}
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
            for w in ALL
        ),
        *(
            Claim(
                f"tuned VIC finds all skills in {w}",
                f"all (150M){words}",
                reaches(f"tuned_vic {w}", n),
                at=LONG,
                early=REPRODUCED,
            )
            for w, (n, words) in ALL.items()
        ),
        *(
            Claim(
                f"{one} has a slight advantage in {w}",
                "slight advantage (150M)",
                more(f"{METHOD_OF[one]} {w}", f"{METHOD_OF[other]} {w}"),
                at=LONG,
            )
            for w, one, other in (
                ("u_maze", "tuned VIC", "APART"),
                ("empty", "APART", "tuned VIC"),
            )
        ),
        *(
            Claim(
                f"tuned VIC beats VIC in {w}",
                "yes (150M; ours at 20M)",
                more(f"tuned_vic {w}", f"vic {w}"),
                {"not reproduced": OPTIMISM},
                at=CURVES,
            )
            for w in WORLDS
        ),
        *(
            Claim(
                f"APART converges faster in {w} (half of all skills)",
                "faster",
                sooner(f"apart {w}", f"tuned_vic {w}"),
                at=0,
            )
            for w in WORLDS
        ),
    ],
    steps=CURVES,
)
