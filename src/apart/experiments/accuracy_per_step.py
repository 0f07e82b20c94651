"""Discriminator accuracy at each step of an episode, early and at the end of training."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from apart.experiments import _draw
from apart.experiments._spec import Claim, Condition, Experiment, Finding, Results

METHODS = {"apart": "APART", "diayn": "DIAYN", "vic": "VIC"}


def draw(results: Results) -> _draw.Figure:
    """Left: at 5M steps or what is nearest; right: at the end."""
    made, axes = _draw.figure(2)
    for axis, moment in zip(axes, (1, 2), strict=True):
        ends = []
        for method, words in METHODS.items():
            details = [record.details[moment] for record in results.runs[method]]
            lines = np.array([detail["accuracy_per_step"] for detail in details])
            colour, dash = _draw.STYLES[method]
            t = np.arange(1, lines.shape[1] + 1)
            axis.plot(t, 100 * lines.mean(0), color=colour, linestyle=dash, linewidth=1.6)
            axis.fill_between(
                t, 100 * lines.min(0), 100 * lines.max(0), color=colour, alpha=0.18, linewidth=0
            )
            ends.append((100 * float(lines[:, -1].mean()), words, colour))
        axis.set_ylim(0, 92)
        axis.set_xlim(1, lines.shape[1])
        _draw.label_ends(axis, ends)
        _draw.level(axis, 85, "85 %: 85 states for 100 skills")
        axis.set_xlabel("step of the episode")
        axis.set_title(f"after {details[0]['env_steps'] / 1e6:.1f}M steps", fontsize=10, loc="left")
    axes[0].set_ylabel("discriminator is right, %")
    made.tight_layout()
    return made


def ends_between(method: str, low: float, high: float) -> Callable[[Results], Finding]:
    """The accuracy at the last step, in percent, over seeds."""

    def check(results: Results) -> Finding:
        found = [100 * r.details[2]["accuracy_per_step"][-1] for r in results.runs[method]]
        mean = float(np.mean(found))
        ours = f"{mean:.1f} % ({min(found):.1f} to {max(found):.1f}, {len(found)} seeds)"
        return Finding(ours, "reproduced" if low <= mean <= high else "not reproduced")

    return check


EXPERIMENT = Experiment(
    title="Discriminator accuracy per environment step",
    source="figure of section 4, four rooms, 5M and 150M steps",
    conditions=[Condition(m, m) for m in METHODS],
    draw=draw,
    claims=[
        Claim(
            "APART's discriminator is right in 85 % at the last step, the most possible",
            "85 %",
            ends_between("apart", 80, 85.1),
            needs_steps=20_000_000,
        ),
        Claim("DIAYN's stays under 25 %", "under 25 %", ends_between("diayn", 0, 25)),
        Claim("VIC's stays under 25 %", "under 25 %", ends_between("vic", 0, 25)),
    ],
    steps=20_000_000,
)
