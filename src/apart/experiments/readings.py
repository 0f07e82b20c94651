"""The open readings of the paper, swept on its reward table: which comes closest?"""

from __future__ import annotations

import numpy as np

from apart.experiments import _draw
from apart.experiments._spec import Claim, Condition, Experiment, Finding, Results
from apart.experiments.reward_table import ROWS

READINGS: dict[str, dict[str, object]] = {
    "as we read it": {},
    "8 episodes per update": {"episodes_per_update": 8},
    "16 episodes per update": {"episodes_per_update": 16},
    "initial Q ±1": {"init_q": 1.0},
    "bootstrap past the end": {"bootstrap_last": True},
    "state before the action": {"reward_state": "current"},
    "target network, 500 updates": {"target_period": 500},
}
SWEPT = {
    label: ROWS[label]
    for label in ("AP min", "AP min, ascending", "AP min, both (APART)", "OvA (DIAYN)", "OvA, both")
}
TUNED = {f"tuned VIC, initial Q ±{q:g}": q for q in (0.01, 0.2, 1.0)}


def distance(results: Results, reading: str) -> float:
    """Mean absolute distance to the paper's rows, in skills."""
    gaps = [
        abs(np.mean(results.final(f"{reading}: {label}")) - mean)
        for label, (_, mean, _) in SWEPT.items()
    ]
    return float(np.mean(gaps))


def draw(results: Results) -> _draw.Figure:
    """Rows of the table across, a mark per reading."""
    made, (axis, bars) = _draw.figure(2, height=4.2)
    made.set_size_inches(12, 4.6)
    for number, reading in enumerate(READINGS):
        colour, _ = _draw.SERIES[number % len(_draw.SERIES)]
        means = [np.mean(results.final(f"{reading}: {label}")) for label in SWEPT]
        at = np.arange(len(SWEPT)) + 0.09 * (number - 3)
        marker = "os^vPX*"[number]
        axis.plot(at, means, marker, color=colour, markersize=5, label=reading)
    paper = [mean for _, mean, _ in SWEPT.values()]
    axis.plot(range(len(SWEPT)), paper, "D", color="black", markersize=6, label="the paper")
    axis.set_xticks(range(len(SWEPT)), list(SWEPT), fontsize=8, rotation=25, ha="right")
    axis.set_ylabel("skills at the end")
    axis.legend(fontsize=7, frameon=False, loc="upper right")
    gaps = {reading: distance(results, reading) for reading in READINGS}
    bars.barh(list(gaps), list(gaps.values()), color="#0072b2", alpha=0.5)
    bars.tick_params(axis="y", labelsize=8)
    bars.invert_yaxis()
    bars.set_xlabel("mean distance to the paper's rows, skills")
    made.tight_layout()
    return made


def closest(results: Results) -> Finding:
    """The reading with the least distance."""
    gaps = {reading: distance(results, reading) for reading in READINGS}
    best = min(gaps, key=lambda reading: gaps[reading])
    ours = "; ".join(f"{reading} {gap:.1f}" for reading, gap in gaps.items())
    return Finding(
        f"{best} is closest ({ours})", "reproduced" if gaps[best] < 5 else "not reproduced"
    )


def optimism(results: Results) -> Finding:
    """Does tuned VIC rest on the initial Q?"""
    means = {q: float(np.mean(results.final(label))) for label, q in TUNED.items()}
    ours = ", ".join(f"±{q:g}: {mean:.1f}" for q, mean in means.items())
    rises = means[0.01] < means[0.2] < means[1.0]
    return Finding(ours, "reproduced" if rises else "not reproduced")


EXPERIMENT = Experiment(
    title="Which reading of the open points comes closest to the paper?",
    source="ours, on the paper's reward table",
    conditions=[
        *(
            Condition(f"{reading}: {label}", method, options=options)
            for reading, options in READINGS.items()
            for label, (method, *_) in SWEPT.items()
        ),
        *(Condition(label, "tuned_vic", options={"init_q": q}) for label, q in TUNED.items()),
    ],
    draw=draw,
    claims=[
        Claim(
            "some reading gives the paper's reward table (within 5 skills)", "the table", closest
        ),
        Claim(
            "tuned VIC finds more the larger the initial Q (a guess of ours)",
            "does not say how Q starts",
            optimism,
            {"reproduced": "its success may rest on how Q starts, which the paper does not say"},
        ),
    ],
)
