"""Learning rates of Q and of the discriminator around the chosen 2e-3."""

from __future__ import annotations

from apart.paper._spec import Claim, Condition, Experiment, more

RATES: dict[str, dict[str, float]] = {
    "both 2e-4": {"learning_rate": 2e-4, "discriminator_learning_rate": 2e-4},
    "Q 2e-4": {"learning_rate": 2e-4},
    "both 2e-3": {},
    "discriminator 2e-4": {"discriminator_learning_rate": 2e-4},
    "both 1e-2": {"learning_rate": 1e-2, "discriminator_learning_rate": 1e-2},
}


EXPERIMENT = Experiment(
    title="Learning rates",
    source="figure in the appendix, four rooms; 5M and all rates but 2e-3 are ours",
    conditions=[Condition(label, "apart", options=options) for label, options in RATES.items()],
    claims=[
        Claim(
            f"2e-3 for both finds more than {label}",
            "2e-3 is the choice",
            more("both 2e-3", label),
            ours=True,
        )
        for label in RATES
        if label != "both 2e-3"
    ],
)
