"""Ascending weights: t, t^2, t^4 and e^(5t - 5), over 5M steps."""

from __future__ import annotations

from apart.paper._spec import Claim, Condition, Experiment, alike

WEIGHTS = ("linear", "fourth", "exponential", "square")


EXPERIMENT = Experiment(
    title="Weight functions",
    source="figure in the appendix, four rooms, 5M steps",
    conditions=[Condition(w, "apart", options={"time_weight": w}) for w in WEIGHTS],
    claims=[
        Claim(
            "the exact choice hardly matters (within 5 skills)",
            "similar performance",
            alike(WEIGHTS, 5),
        )
    ],
)
