"""Learning from pixels with the paper's CNN, at the budget of docs/networks.md."""

from __future__ import annotations

from apart.experiments._spec import REPRODUCED, Claim, Condition, Experiment, at_least

IMAGES = {
    "observation": "normalized_pixels",
    "network": "cnn",
    "learning_rate": 1e-4,
    "episodes_per_update": 8,
    "batch": 20_000,
    "evaluate_every": 8_000,
}


EXPERIMENT = Experiment(
    title="Pixel observations",
    source="figure in the appendix, four rooms; our setting (docs/networks.md), not the paper's",
    conditions=[
        Condition("apart", "apart", options=IMAGES),
        Condition("diayn", "diayn", options=IMAGES),
        Condition("apart_pixels", "apart_pixels"),
    ],
    claims=[
        Claim(
            "APART learns well from pixels (our rates and batch; at least 40 skills, our bound)",
            "good learning (no steps given)",
            at_least("apart", 40),
            early=REPRODUCED,
        )
    ],
    steps=104_000,
    seeds=2,
)
