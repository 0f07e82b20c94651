"""Tuned VIC (the posterior itself, beta 10) against APART and VIC in the three worlds."""

from __future__ import annotations

from apart.paper import _judge as rule
from apart.paper import _panels
from apart.paper._spec import CURVES, LONG, NAMES, WORLDS, Claim, Experiment, Results, each
from apart.report import draw

# Of four_rooms at 150M: `long_runs`.
ALL = {"empty": (100, ""), "u_maze": (72, ", but more than 50 for APART")}
METHODS = {m: NAMES[m] for m in ("apart", "tuned_vic", "vic")}
METHOD_OF = {words: method for method, words in METHODS.items()}
OPTIMISM = (
    "a posterior is never negative: known cells look better than unknown ones unless Q starts high "
    "(see the sweep of readings)"
)


def picture(results: Results) -> draw.Figure:
    """A panel per world."""
    return _panels.by_world(results, WORLDS, METHODS)


EXPERIMENT = Experiment(
    title="Tuned VIC against APART and VIC",
    source="figure of section 5, 150M steps",
    conditions=each(METHODS, WORLDS),
    draw=picture,
    claims=[
        *(
            Claim(
                f"tuned VIC ends like APART in {w} (within 10 skills)",
                "comparable (150M)",
                rule.alike([f"apart {w}", f"tuned_vic {w}"], 10),
                at=LONG,
            )
            for w in ALL
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
                f"{one} has a slight advantage in {w}",
                "slight advantage (150M)",
                rule.more(f"{METHOD_OF[one]} {w}", f"{METHOD_OF[other]} {w}"),
                at=LONG,
            )
            for w, one, other in (("u_maze", "tuned VIC", "APART"), ("empty", "APART", "tuned VIC"))
        ),
        *(
            Claim(
                f"tuned VIC beats VIC in {w}",
                "yes (150M; ours at 20M)",
                rule.more(f"tuned_vic {w}", f"vic {w}"),
                {rule.MISSED: OPTIMISM},
                at=CURVES,
            )
            for w in WORLDS
        ),
        *(
            Claim(
                f"APART converges faster in {w} (half of all skills)",
                "faster",
                rule.sooner(f"apart {w}", f"tuned_vic {w}"),
                at=0,
            )
            for w in WORLDS
        ),
    ],
    steps=CURVES,
)
EXPERIMENTS = {"tuned_vic": EXPERIMENT}
