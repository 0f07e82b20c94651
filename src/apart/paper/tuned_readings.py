"""Tuned VIC: which reading of "rescaling, and changing the temperature" finds all skills?

The default is the reward 2 softmax(beta o) - 1 with beta 10 in the reward alone; everything else
changes one thing of it.
"""

from __future__ import annotations

from apart.paper import _judge as rule
from apart.paper import _panels
from apart.paper._spec import Claim, Condition, Experiment, Results
from apart.report import draw

STEPS = 2_000_000
DEFAULT = "the default"
BETAS = (1.0, 3.0, 30.0, 100.0)
BOTH: dict[str, object] = {"discriminator": "one_vs_all"}
VARIATIONS: dict[str, dict[str, object]] = {
    DEFAULT: {},
    "beta in the loss too": BOTH,
    "the posterior itself": {"reward": "posterior"},
    "both": {"reward": "posterior", **BOTH},
    "both, initial Q ±1": {"reward": "posterior", **BOTH, "init_q": 1.0},
    **{f"beta {beta:g}": {"inverse_temperature": beta} for beta in BETAS},
    "learns from last states": {"context": "last"},
    "state before the action": {"context": "current"},
    "bias in Q": {"network": "table+bias/table"},
    "bias in the logits": {"network": "table/table+bias"},
    "initial Q ±0.2": {"init_q": 0.2},
    "initial Q ±1": {"init_q": 1.0},
    "initial logits ±1": {"init_logits": 1.0},
}


def picture(results: Results) -> draw.Figure:
    """Bars: as lines sixteen of them lie on each other."""
    made, (axis,) = draw.figure(size=(7.6, 4.6))
    styles = dict.fromkeys(results.runs, draw.SERIES[2]) | {DEFAULT: draw.STYLES["tuned_vic"]}
    _panels.ends(axis, results, styles)
    draw.title(axis, f"tuned VIC in four rooms, {results.steps / 1e6:g}M steps, one thing changed")
    return made


def ask(text: str, check: rule.Check) -> Claim:
    """A question of ours."""
    return Claim(text, "names rescaling and temperature", check, at=STEPS, ours=True)


EXPERIMENT = Experiment(
    title="Which reading of tuned VIC finds all skills?",
    source="ours, on the epilogue (section 5), four rooms",
    conditions=[
        Condition(label, "tuned_vic", options=options) for label, options in VARIATIONS.items()
    ],
    claims=[
        ask("rescaled to APART's range it finds more", rule.more(DEFAULT, "the posterior itself")),
        ask(
            "with beta in the reward alone it finds more",
            rule.more(DEFAULT, "beta in the loss too"),
        ),
        ask("beta 10 finds the most", rule.highest(DEFAULT, [f"beta {b:g}" for b in BETAS])),
        ask(
            "a discriminator that learns from all states finds more",
            rule.more(DEFAULT, "learns from last states"),
        ),
        ask(
            "how Q starts matters little (within 5 skills)",
            rule.alike([DEFAULT, "initial Q ±0.2", "initial Q ±1"], 5),
        ),
        ask(
            "never negative, it finds more the larger the initial Q",
            rule.more("both, initial Q ±1", "both"),
        ),
        ask(
            "without a bias it finds more",
            rule.highest(DEFAULT, ["bias in Q", "bias in the logits"]),
        ),
    ],
    draw=picture,
    steps=STEPS,
    only_ours=True,
)
EXPERIMENTS = {"tuned_readings": EXPERIMENT}
