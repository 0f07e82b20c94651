"""The sweeps of the appendix: one thing changed at a time, in four rooms.

The paper shows them as figures; where it says nothing in words or numbers, the question is ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from apart.methods import PUBLISHED
from apart.paper import _judge as rule
from apart.paper._spec import Claim, Condition, Experiment, Results

SOURCE = "figure in the appendix, four rooms; 5M is our budget"


def sweep(words: str, option: str, values: Sequence[Any]) -> list[Condition]:
    """APART with one option at each of ``values``, labelled by ``words``."""
    return [Condition(words.format(v), "apart", options={option: v}) for v in values]


def ask(text: str, check: rule.Check, why: Mapping[str, str] | None = None) -> Claim:
    """A question of ours to a figure."""
    return Claim(text, "a figure", check, why or {}, ours=True)


def half_sooner(text: str, one: str, other: str) -> Claim:
    """Who has half of the skills first: a question of ours, answered by runs of any length."""
    return Claim(text, "does not say", rule.sooner(one, other), at=0, ours=True)


BATCH_SIZE = Experiment(
    "Batch size",
    SOURCE,
    sweep("batch {}", "batch", (16, 320, 640, 1280)),
    [
        ask("640 beats DISDAIN's 16", rule.more("batch 640", "batch 16")),
        ask(
            "320, 640 and 1280 are alike (within 5 skills)",
            rule.alike(["batch 320", "batch 640", "batch 1280"], 5),
        ),
    ],
)

BUFFER_SIZE = Experiment(
    "Replay buffer size",
    SOURCE,
    [Condition(f"{n}K", "apart", options={"buffer": 1000 * n}) for n in (10, 50, 100)],
    [
        Claim(
            "10K and 50K differ little (within 5 skills)",
            "small gap",
            rule.alike(["10K", "50K"], 5),
        ),
        Claim("50K beats 100K", "significant gap", rule.more("50K", "100K")),
        half_sooner("50K has half of the skills sooner than 100K", "50K", "100K"),
        Claim(
            "50K is the best",
            "best results",
            rule.highest("50K", ["10K", "100K"]),
            {rule.MISSED: "the next best is as good within what four seeds can tell"},
        ),
    ],
)

MASKED, PULLED = "masked (APART)", "don't-cares at 0"
DONT_CARES = Experiment(
    "Don't-cares in the discriminator",
    SOURCE,
    [
        Condition(MASKED, "apart"),
        Condition(PULLED, "apart", options={"discriminator": "all_pairs_dont_cares"}),
    ],
    [
        Claim(
            "masking is better",
            "better",
            rule.more(MASKED, PULLED),
            {rule.OURS_MISSED: "both are near the maximum by then; masking gets there sooner"},
        ),
        half_sooner("with masking half of the skills are there sooner", MASKED, PULLED),
    ],
)


def reachable(results: Results) -> rule.Finding:
    """Whether 20 steps lead to every cell."""
    n = results.runs["T = 20"][0].n_available
    return rule.judged(f"{n} of 85", n == 85, "every free cell is 20 steps or less away")


UPDATES = {
    rule.OURS_MISSED: "probably the updates: with one per episode, shorter episodes make more of "
    "them in as many steps"
}
EPISODE_LENGTH = Experiment(
    "Steps per episode",
    SOURCE,
    sweep("T = {}", "horizon", (20, 40, 50)),
    [
        Claim("20 steps are enough to reach all states", "enough", reachable, at=0),
        Claim("20 steps are worse than 40", "worse", rule.more("T = 40", "T = 20"), UPDATES),
        Claim(
            "50 steps are better than 40",
            "better in hindsight",
            rule.more("T = 50", "T = 40"),
            UPDATES,
        ),
        half_sooner("50 steps have half of the skills sooner than 40", "T = 50", "T = 40"),
    ],
)


def nearly_ten(results: Results) -> rule.Finding:
    """Whether ten latents find ten skills, but for one."""
    found = results.final("K = 10")
    return rule.judged(rule.spread(found), min(found) >= 9, "at least 9 in every seed")


LATENTS = Experiment(
    "Number of latents",
    SOURCE,
    sweep("K = {}", "skills", (10, 50, 100, 200)),
    [
        ask("100 latents find more than 50", rule.more("K = 100", "K = 50")),
        ask(
            "200 latents find more than 100",
            rule.more("K = 200", "K = 100"),
            {rule.OURS_REPRODUCED: "slower for 3M steps, then spare skills find the last cells"},
        ),
        ask("50 latents find more than 10", rule.more("K = 50", "K = 10")),
        ask("10 latents find 10 skills (within one)", nearly_ten),
    ],
)

CHOSEN = "both 2e-3"
RATES: Mapping[str, Mapping[str, float]] = {
    "both 2e-4": {"learning_rate": 2e-4, "discriminator_learning_rate": 2e-4},
    "Q 2e-4": {"learning_rate": 2e-4},
    CHOSEN: {},
    "discriminator 2e-4": {"discriminator_learning_rate": 2e-4},
    "both 1e-2": {"learning_rate": 1e-2, "discriminator_learning_rate": 1e-2},
}
LEARNING_RATES = Experiment(
    "Learning rates",
    "figure in the appendix, four rooms; 5M and all rates but 2e-3 are ours",
    [Condition(label, "apart", options=options) for label, options in RATES.items()],
    [
        Claim(
            f"2e-3 for both finds more than {label}",
            "2e-3 is the choice",
            rule.more(CHOSEN, label),
            ours=True,
        )
        for label in RATES
        if label != CHOSEN
    ],
)

LAYER = {"network": "table/mlp:2300"}
WITH_BIAS = {PUBLISHED: {"network": "table+bias/mlp:2300+bias"}}
SECOND_LAYER = Experiment(
    "One-vs-all with a second layer of 2,300",
    SOURCE,
    [
        Condition(f"{name}, {n} layer{'s' * (n == 'two')}", method, "four_rooms", *options)
        for name, method in (("OvA", "diayn"), ("OvA + ART", "ova_art"))
        for n, options in (("one", ({}, {})), ("two", (LAYER, WITH_BIAS)))
    ],
    [
        Claim(
            f"a second layer changes little ({name}; within 4 skills)",
            "no significant change",
            rule.alike([f"{name}, one layer", f"{name}, two layers"], 4),
            {
                rule.OURS_REPRODUCED: "small beside the 60 to 70 that all pairs find more",
                rule.MISSED: "a few fewer, by more than chance: more weights do not help, as it "
                "says",
            },
        )
        for name in ("OvA", "OvA + ART")
    ],
)

WEIGHTS = ("linear", "fourth", "exponential", "square")
WEIGHT_FUNCTIONS = Experiment(
    "Weight functions",
    "figure in the appendix, four rooms, 5M steps",
    sweep("{}", "time_weight", WEIGHTS),
    [
        Claim(
            "the exact choice hardly matters (within 5 skills)",
            "similar performance",
            rule.alike(WEIGHTS, 5),
        )
    ],
)

EXPERIMENTS = {
    "batch_size": BATCH_SIZE,
    "buffer_size": BUFFER_SIZE,
    "dont_cares": DONT_CARES,
    "episode_length": EPISODE_LENGTH,
    "latents": LATENTS,
    "learning_rates": LEARNING_RATES,
    "second_layer": SECOND_LAYER,
    "weight_functions": WEIGHT_FUNCTIONS,
}
