"""Tuned VIC (the posterior in APART's range, beta 10) against APART and VIC in three worlds."""

from __future__ import annotations

from apart.paper import _judge as rule
from apart.paper import _panels
from apart.paper._spec import CURVES, LONG, NAMES, WORLDS, Claim, Experiment, Results, each
from apart.report import draw

METHODS = {m: NAMES[m] for m in ("apart", "tuned_vic", "vic")}
METHOD_OF = {words: method for method, words in METHODS.items()}


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
                least=CURVES,
            )
            for w in WORLDS
        ),
        *(
            Claim(
                f"{one} has a slight advantage in {w}",
                "slight advantage (150M)",
                rule.more(f"{METHOD_OF[one]} {w}", f"{METHOD_OF[other]} {w}"),
                at=LONG,
                least=CURVES,
            )
            for w, one, other in (("u_maze", "tuned VIC", "APART"), ("empty", "APART", "tuned VIC"))
        ),
        *(
            Claim(
                f"tuned VIC beats VIC in {w}",
                "yes (150M)",
                rule.more(f"tuned_vic {w}", f"vic {w}"),
                at=LONG,
                least=CURVES,
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
    paper_steps=LONG,
)
EXPERIMENTS = {"tuned_vic": EXPERIMENT}
