"""The learned rewards of APART, AP average, VIC and tuned VIC at three temperatures, smoothed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from apart._types import FloatArray
from apart.paper import _judge as rule
from apart.paper._spec import Claim, Condition, Experiment, Results
from apart.report import draw, statistics

BETAS = (10.0, 1.0, 0.1)
NEAR = 0.3  # rewards of APART and tuned VIC are in [-1, 1]
STYLES = {
    "APART": draw.STYLES["apart"],
    "AP average": draw.STYLES["ap_average"],
    "tuned VIC, beta 10": draw.STYLES["tuned_vic"],
    "tuned VIC, beta 1": ("#d55e00", "--"),
    "tuned VIC, beta 0.1": ("#d55e00", ":"),
    "VIC": draw.STYLES["vic"],
}


def smooth(x: FloatArray, values: FloatArray, sigma: float = 5.0) -> FloatArray:
    """A Gaussian mean over neighbours, its weights renewed at the edges; sigma in usual gaps."""
    at = x / np.median(np.diff(x))
    weight = np.exp(-0.5 * ((at[:, None] - at) / sigma) ** 2)
    found: FloatArray = weight @ values / weight.sum(1)
    return found


def picture(results: Results) -> draw.Figure:
    """Left without VIC, as in section 5; right with it, as in the appendix."""
    made, axes = draw.figure(2)
    for axis, with_vic in zip(axes, (False, True), strict=True):
        points = {}
        for label in (label for label in STYLES if with_vic or label != "VIC"):
            records = results.runs[label]
            x = np.array(records[0].curve["env_steps"]) / 1e6
            seeds = [smooth(x, np.array(r.curve["mean_last_reward"])) for r in records]
            points[label] = x, [statistics.mean(found) for found in np.transpose(seeds).tolist()]
        draw.lines(axis, points, STYLES)
        axis.set_xlabel("environment steps, millions")
    axes[0].set_ylabel("mean last reward, smoothed")
    return made


def levels(results: Results) -> dict[str, FloatArray]:
    """[seeds] of what is drawn: the last reward, mean over the last quarter."""
    found = {}
    for label in STYLES:
        curves = [np.array(r.curve["mean_last_reward"]) for r in results.runs[label]]
        found[label] = np.array([c[-(len(c) // 4 + 1) :].mean() for c in curves])
    return found


def vic_is_larger(results: Results) -> rule.Finding:
    """The size of VIC's level beside that of every other."""
    size = {label: np.abs(value) for label, value in levels(results).items()}
    ours = ", ".join(f"{label} {value.mean():.2f}" for label, value in size.items())
    others = [value for label, value in size.items() if label != "VIC"]
    larger = all(statistics.difference(size["VIC"], 1.5 * other).low > 0 for other in others)
    return rule.judged(ours, larger, "the interval is above 1.5 times every other")


def beta_matches(results: Results) -> rule.Finding:
    """Which beta of tuned VIC is nearest to APART's level, and how near."""
    level = levels(results)
    labels = [f"tuned VIC, beta {b:g}" for b in BETAS]
    gaps = {label: statistics.difference(level[label], level["APART"]) for label in labels}
    nearest = min(labels, key=lambda label: abs(gaps[label].estimate))
    ours = ", ".join(f"{label} {level[label].mean():+.2f}" for label in ("APART", *labels))
    ten = gaps[labels[0]]
    close = max(ten.high, -ten.low) <= NEAR
    rule_ = f"the nearest, and the interval of the difference within {NEAR:g}"
    return rule.judged(ours, nearest == labels[0] and close, rule_)


def concentrates(results: Results) -> rule.Finding:
    """Whether each beta gives the right skill a higher reward than the next lower one."""
    last = {}
    for b in BETAS:
        curves = [r.curve["mean_last_reward"] for r in results.runs[f"tuned VIC, beta {b:g}"]]
        last[b] = [c[-1] for c in curves]
    ours = ", ".join(f"beta {b:g} {np.mean(found):.2f}" for b, found in last.items())
    gaps = [statistics.difference(last[a], last[b]) for a, b in pairwise(BETAS)]
    holds = all(gap.low > 0 for gap in gaps)
    return rule.judged(ours, holds, "the intervals of the differences are above 0")


EXPERIMENT = Experiment(
    title="Learned rewards compared",
    source="figures of section 5 and of the appendix, sigma = 5, no world and no steps given",
    conditions=[
        Condition("APART", "apart"),
        Condition("AP average", "ap_average"),
        *(
            Condition(f"tuned VIC, beta {b:g}", "tuned_vic", options={"inverse_temperature": b})
            for b in BETAS
        ),
        Condition("VIC", "vic"),
    ],
    draw=picture,
    claims=[
        Claim(
            "VIC's reward has a larger scale than all others (1.5 times, our bound)",
            "significantly larger",
            vic_is_larger,
        ),
        Claim(
            "beta 10 matches APART's reward best (and within 0.3, our bound; both are in [-1, 1])",
            "matches",
            beta_matches,
        ),
        Claim(
            "the larger beta, the higher the reward at the last step (our measure of how "
            "concentrated the posterior is)",
            "more concentrated for 10",
            concentrates,
        ),
    ],
    keeps=["mean_last_reward"],
)
EXPERIMENTS = {"reward_comparison": EXPERIMENT}
