"""Steps of an episode: 20, 40 and 50.

One update per episode: shorter episodes make more updates in the same number of steps.
"""

from __future__ import annotations

from apart.experiments._spec import Claim, Condition, Experiment, more

LENGTHS = (20, 40, 50)


EXPERIMENT = Experiment(
    title="Steps per episode",
    source="figure in the appendix, four rooms; 5M is our budget",
    conditions=[Condition(f"T = {t}", "apart", options={"horizon": t}) for t in LENGTHS],
    claims=[
        Claim("20 steps are worse than 40", "worse", more("T = 40", "T = 20")),
        Claim("50 steps are better than 40", "better in hindsight", more("T = 50", "T = 40")),
    ],
)
