"""Batch sizes 16, 320, 640 and 1280."""

from __future__ import annotations

from apart.paper._spec import Claim, Condition, Experiment, alike, more

SIZES = (16, 320, 640, 1280)


EXPERIMENT = Experiment(
    title="Batch size",
    source="figure in the appendix, four rooms; 5M is our budget",
    conditions=[Condition(f"batch {n}", "apart", options={"batch": n}) for n in SIZES],
    claims=[
        Claim("640 beats DISDAIN's 16", "a figure", more("batch 640", "batch 16"), ours=True),
        Claim(
            "320, 640 and 1280 are alike (within 5 skills)",
            "a figure",
            alike(["batch 320", "batch 640", "batch 1280"], 5),
            ours=True,
        ),
    ],
)
