"""Discriminator accuracy at each step of an episode, early and at the end of training."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from apart._types import FloatArray
from apart.paper import _draw
from apart.paper._spec import (
    CURVES,
    DETAILS,
    LONG,
    REPRODUCED,
    Claim,
    Condition,
    Experiment,
    Finding,
    Results,
    judged,
)
from apart.paper.learned_skills import METHODS
from apart.report import statistics


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
            middle = [statistics.interval([100 * scores]) for scores in lines.T]
            _draw.band(axis, t, middle, colour, dash)
            ends.append((middle[-1].estimate, words, colour))
        axis.set_ylim(0, 92)
        axis.set_xlim(1, lines.shape[1])
        _draw.label_ends(axis, ends)
        _draw.level(axis, 85, "85 %: 85 states for 100 skills")
        axis.set_xlabel("step of the episode")
        axis.set_title(f"after {details[0]['env_steps'] / 1e6:.1f}M steps", fontsize=10, loc="left")
    axes[0].set_ylabel("discriminator is right, %")
    made.tight_layout()
    return made


def accuracies(results: Results, label: str) -> FloatArray:
    """[seed, moment, step] in percent: nearest to 5M steps, and at the end."""
    lines = []
    for record in results.runs[label]:
        early = min(record.details, key=lambda detail: abs(detail["env_steps"] - 5e6))
        lines.append([d["accuracy_per_step"] for d in (early, record.details[-1])])
    return 100 * np.array(lines)


def ends_at(method: str, low: float) -> Callable[[Results], Finding]:
    """At the last step, at the end of training."""

    def check(results: Results) -> Finding:
        found = accuracies(results, method)[:, -1, -1]
        ours = f"{found.mean():.1f} % ({found.min():.1f} to {found.max():.1f}, {len(found)} seeds)"
        return judged(ours, found.mean() >= low, f"at least {low:g} %")

    return check


def rises(method: str) -> Callable[[Results], Finding]:
    """Within an episode at 5M the accuracy goes up and then stays: no later step is far below."""

    def check(results: Results) -> Finding:
        line = accuracies(results, method)[:, 0].mean(0)
        fall = float((np.maximum.accumulate(line) - line).max())
        ours = (
            f"{line[0]:.1f} % at step 1, {line[-1]:.1f} % at the last; falls by {fall:.1f} at most"
        )
        return judged(ours, line[-1] > line[0] and fall < 5, "rises, and falls by less than 5")

    return check


def much_higher(results: Results) -> Finding:
    """APART's last accuracy at 5M against the better of the two baselines."""
    last = {m: float(accuracies(results, m)[:, 0, -1].mean()) for m in METHODS}
    ours = ", ".join(f"{METHODS[m]} {value:.1f} %" for m, value in last.items())
    higher = last["apart"] > 2 * max(last["diayn"], last["vic"])
    return judged(ours, higher, "more than twice the better baseline")


EXPERIMENT = Experiment(
    title="Discriminator accuracy per environment step",
    source="figure of section 4, four rooms, 5M and 150M steps",
    conditions=[Condition(m, m) for m in METHODS],
    draw=draw,
    claims=[
        Claim(
            "APART's discriminator ends at 85 %, the most possible (within 5)",
            "85 % (no steps given)",
            ends_at("apart", 80),
            at=LONG,
            early=REPRODUCED,
        ),
        Claim("APART's is much higher (over twice, at 5M)", "much higher", much_higher),
        *(
            Claim(
                f"{words}'s rises within an episode and then stays (falls by less than 5, at 5M)",
                "all methods do",
                rises(method),
            )
            for method, words in METHODS.items()
        ),
    ],
    steps=CURVES,
    keeps=[DETAILS],
)
