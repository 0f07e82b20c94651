"""Number of latents: 10, 50, 100 and 200 skills."""

from __future__ import annotations

from apart.paper._spec import (
    REPRODUCED,
    Claim,
    Condition,
    Experiment,
    judged,
    more,
    spread,
)

LATENTS = (10, 50, 100, 200)


EXPERIMENT = Experiment(
    title="Number of latents",
    source="figure in the appendix, four rooms; 5M is our budget",
    conditions=[Condition(f"K = {k}", "apart", options={"skills": k}) for k in LATENTS],
    claims=[
        Claim("100 latents find more than 50", "a figure", more("K = 100", "K = 50"), ours=True),
        Claim(
            "200 latents find more than 100",
            "a figure",
            more("K = 200", "K = 100"),
            why={REPRODUCED: "slower for 3M steps, then spare skills find the last cells"},
            ours=True,
        ),
        Claim("50 latents find more than 10", "a figure", more("K = 50", "K = 10"), ours=True),
        Claim(
            "10 latents find 10 skills (within one)",
            "a figure",
            lambda results: judged(
                spread(results.final("K = 10")),
                min(results.final("K = 10")) >= 9,
                "at least 9 in every seed",
            ),
            ours=True,
        ),
    ],
)
