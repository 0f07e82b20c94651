"""Learning from pixels with the paper's CNN, at the budget of docs/guide/networks.md."""

from __future__ import annotations

import operator

from apart.paper import _judge as rule
from apart.paper._spec import Claim, Condition, Experiment

STEPS = 104_000
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
    source="figure in the appendix, four rooms; our setting (networks.md), not the paper's",
    conditions=[
        Condition("apart", "apart", options=IMAGES),
        Condition("diayn", "diayn", options=IMAGES),
        Condition("apart_pixels", "apart_pixels"),
    ],
    claims=[
        Claim(
            "APART learns well from pixels (our rates and batch; at least 40 skills, our bound)",
            "good learning (no steps given)",
            rule.mean_is("apart", operator.ge, 40),
            {rule.NOT_JUDGED: "our budget of minutes ends at 0.104M, while APART is still falling"},
            early=rule.REPRODUCED,
        ),
        Claim(
            "apart_pixels finds more than APART in as many steps",
            "has no such method",
            rule.more("apart_pixels", "apart"),
            at=STEPS,
            ours=True,
        ),
    ],
    steps=STEPS,
    seeds=2,
    only_ours=True,
)
EXPERIMENTS = {"pixels": EXPERIMENT}
