"""Discriminator accuracy at each step of an episode, early and at the end of training."""

from __future__ import annotations

from operator import ge

import numpy as np

from apart._types import FloatArray
from apart.paper import _judge as rule
from apart.paper._spec import CURVES, DETAILS, LONG, Claim, Condition, Experiment, Results
from apart.paper.learned_skills import METHODS
from apart.report import draw, statistics


def picture(results: Results) -> draw.Figure:
    """Left: at 5M steps or what is nearest; right: at the end."""
    made, axes = draw.figure(2)
    for axis, moment in zip(axes, (1, 2), strict=True):
        points = {}
        for method in METHODS:
            details = [record.details[moment] for record in results.runs[method]]
            found = 100 * np.array([detail["accuracy_per_step"] for detail in details])
            middle = [statistics.mean(scores) for scores in found.T]
            points[method] = np.arange(1.0, len(middle) + 1), middle
        axis.set_ylim(0, 92)
        draw.lines(axis, points, draw.STYLES, METHODS)
        draw.level(axis, 85, "85 %: 85 states for 100 skills")
        axis.set_xlabel("step of the episode")
        draw.title(axis, f"after {details[0]['env_steps'] / 1e6:.1f}M steps")
    axes[0].set_ylabel("discriminator is right, %")
    return made


def accuracies(results: Results, label: str) -> FloatArray:
    """[seed, moment, step] in percent: nearest to 5M steps, and at the end."""
    lines = []
    for record in results.runs[label]:
        early = min(record.details, key=lambda detail: abs(detail["env_steps"] - 5e6))
        lines.append([d["accuracy_per_step"] for d in (early, record.details[-1])])
    return 100 * np.array(lines)


def ends_at(method: str, low: float) -> rule.Check:
    """At the last step, at the end of training."""

    def check(results: Results) -> rule.Finding:
        return rule.beside(accuracies(results, method)[:, -1, -1].tolist(), ge, low, " %")

    return check


def rises(method: str) -> rule.Check:
    """Within an episode at 5M the accuracy goes up and then stays: no later step is far below."""

    def check(results: Results) -> rule.Finding:
        line = accuracies(results, method)[:, 0].mean(0)
        fall = float((np.maximum.accumulate(line) - line).max())
        ours = (
            f"{line[0]:.1f} % at step 1, {line[-1]:.1f} % at the last; falls by {fall:.1f} at most"
        )
        return rule.judged(ours, line[-1] > line[0] and fall < 5, "rises, and falls by less than 5")

    return check


def much_higher(results: Results) -> rule.Finding:
    """APART's last accuracy at 5M against twice that of each baseline."""
    last = {m: accuracies(results, m)[:, 0, -1] for m in METHODS}
    ours = ", ".join(f"{METHODS[m]} {found.mean():.1f} %" for m, found in last.items())
    gaps = [statistics.difference(last["apart"], 2 * last[m]) for m in ("diayn", "vic")]
    higher = min(gap.low for gap in gaps) > 0
    return rule.judged(ours, higher, "the interval is above twice either baseline")


EXPERIMENT = Experiment(
    title="Discriminator accuracy per environment step",
    source="figure of section 4, four rooms, 5M and 150M steps",
    conditions=[Condition(m, m) for m in METHODS],
    draw=picture,
    claims=[
        Claim(
            "APART's discriminator ends at 85 %, the most possible (within 5)",
            "85 % (no steps given)",
            ends_at("apart", 80),
            at=LONG,
            early=rule.REPRODUCED,
        ),
        Claim("APART's is much higher (over twice, at 5M)", "much higher", much_higher),
        *(
            Claim(
                f"{name}'s rises within an episode and then stays (falls by less than 5, at 5M)",
                "all methods do",
                rises(method),
            )
            for method, name in METHODS.items()
        ),
    ],
    steps=CURVES,
    paper_steps=LONG,
    keeps=[DETAILS],
)
EXPERIMENTS = {"accuracy_per_step": EXPERIMENT}
