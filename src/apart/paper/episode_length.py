"""Steps of an episode: 20, 40 and 50.

One update per episode: shorter episodes make more updates in the same number of steps.
"""

from __future__ import annotations

from apart.paper._spec import Claim, Condition, Experiment, judged, more, sooner

LENGTHS = (20, 40, 50)
UPDATES = {
    "not reproduced": "probably the updates: with one per episode, shorter episodes make more of "
    "them in as many steps"
}


EXPERIMENT = Experiment(
    title="Steps per episode",
    source="figure in the appendix, four rooms; 5M is our budget",
    conditions=[Condition(f"T = {t}", "apart", options={"horizon": t}) for t in LENGTHS],
    claims=[
        Claim(
            "20 steps are enough to reach all states",
            "enough",
            lambda results: judged(
                f"{results.runs['T = 20'][0].n_available} of 85",
                results.runs["T = 20"][0].n_available == 85,
                "every free cell is 20 steps or less away",
            ),
            at=0,
        ),
        Claim("20 steps are worse than 40", "worse", more("T = 40", "T = 20"), UPDATES),
        Claim(
            "50 steps are better than 40",
            "better in hindsight",
            more("T = 50", "T = 40"),
            UPDATES,
        ),
        Claim(
            "50 steps have half of the skills sooner than 40",
            "does not say",
            sooner("T = 50", "T = 40"),
            at=0,
            ours=True,
        ),
    ],
)
