"""Replay buffers of 10,000, 50,000 and 100,000 transitions."""

from __future__ import annotations

from apart.paper._spec import Claim, Condition, Experiment, alike, highest, more, sooner

SIZES = (10_000, 50_000, 100_000)


EXPERIMENT = Experiment(
    title="Replay buffer size",
    source="figure in the appendix, four rooms; 5M is our budget",
    conditions=[Condition(f"{n // 1000}K", "apart", options={"buffer": n}) for n in SIZES],
    claims=[
        Claim("10K and 50K differ little (within 5 skills)", "small gap", alike(["10K", "50K"], 5)),
        Claim("50K beats 100K", "significant gap", more("50K", "100K")),
        Claim(
            "50K has half of the skills sooner than 100K",
            "does not say",
            sooner("50K", "100K"),
            at=0,
            ours=True,
        ),
        Claim(
            "50K is the best",
            "best results",
            highest("50K", ["10K", "100K"]),
            {"not reproduced": "the next best is as good within what four seeds can tell"},
        ),
    ],
)
