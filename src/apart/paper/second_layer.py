"""One-vs-all with a hidden layer of 2,300 units: is it the number of weights?"""

from __future__ import annotations

from apart.paper._spec import MISSED, REPRODUCED, Claim, Condition, Experiment, alike

LAYER = {"discriminator_network": "mlp", "hidden": (2300,)}


EXPERIMENT = Experiment(
    title="One-vs-all with a second layer of 2,300",
    source="figure in the appendix, four rooms; 5M is our budget",
    conditions=[
        Condition("OvA, one layer", "diayn"),
        Condition("OvA, two layers", "diayn", options=LAYER),
        Condition("OvA + ART, one layer", "ova_art"),
        Condition("OvA + ART, two layers", "ova_art", options=LAYER),
    ],
    claims=[
        Claim(
            f"a second layer changes little ({name}; within 4 skills)",
            "no significant change",
            alike([f"{name}, one layer", f"{name}, two layers"], 4),
            {
                REPRODUCED: "small beside the 60 to 70 that all pairs find more",
                MISSED: "a few fewer, by more than chance: more weights do not help, as it says",
            },
        )
        for name in ("OvA", "OvA + ART")
    ],
)
