"""Every method is data: a record of options on top of the defaults of `_config.Config`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from apart import references
from apart._registry import Registry
from apart.references import Paper

Option = str | int | float | bool


@dataclass(frozen=True)
class Method:
    """A named method.

    Attributes:
        summary: one line for people.
        options: those in which it differs from the defaults.
        steps_per_update: environment steps for each update, whatever T is and however many episodes
            are made together; 0 leaves it to ``updates_per_episode``.
        settled: it is not the paper's, so that there is nothing of the paper to read in it.
        decisions: of an episode, unless the user says for how many steps one is held: about so
            many, as T can be divided; 0 decides at every step.
        sees: how its networks see observations, the first that fits a world; else as the world
            gives them.
        beyond: the same idea where states cannot be listed, if it differs there.
        paper: where it comes from, if not from APART's paper or this package.
        unranked: why comparisons show it without a rank, a clause after "since"; usually nothing.
        caveat: what comparisons say of its numbers, a clause; usually nothing.
    """

    summary: str
    options: Mapping[str, Option] = field(default_factory=dict)
    steps_per_update: int = 0
    settled: bool = False
    decisions: int = 0
    sees: tuple[str, ...] = ()
    beyond: Method | None = None
    paper: Paper | None = None
    unranked: str = ""
    caveat: str = ""

    @property
    def elsewhere(self) -> Method:
        """The method where states cannot be listed.

        Without settings of its own there: an update in 50 steps, some 50 decisions an episode, and
        a budget that the world gives.
        """
        if self.beyond is not None:
            return self.beyond
        of_tables = ("steps", "evaluate_every")
        options = {name: value for name, value in self.options.items() if name not in of_tables}
        return dataclasses.replace(self, options=options, steps_per_update=50, decisions=50)

    @property
    def learns(self) -> bool:
        """Whether it makes updates, unless the user says otherwise."""
        return self.options.get("updates_per_episode") != 0


@dataclass(frozen=True)
class Reading:
    """How the open points of the paper are read.

    Attributes:
        summary: one line for people.
        options: what it sets, on top of the method's.
    """

    summary: str
    options: Mapping[str, Option] = field(default_factory=dict)


OURS, PUBLISHED = "ours", "published"
READINGS: Final[Mapping[str, Reading]] = MappingProxyType(
    {
        OURS: Reading("finds more skills in fewer steps with most methods"),
        PUBLISHED: Reading(
            "comes closest to the paper's table: its algorithms taken literally, the rest searched",
            {
                "episodes_per_update": 16,
                "one_skill": True,
                "context": "current",
                "network": "table+bias",
                "init_q": 0.0,
            },
        ),
    }
)

_AP_MIN: Final = {"discriminator": "all_pairs", "reward": "min_pairs"}
_AP_AVERAGE: Final = {"discriminator": "all_pairs", "reward": "average_pairs"}
_OVA: Final = {"discriminator": "one_vs_all", "reward": "log_posterior"}

_PLUS: Final[Mapping[str, Option]] = {
    "steps": 200_000,
    "time_weight": "square",
    "q_rule": "sweep_plain",
    "learning_rate": 0.5,
    "anneal": True,
    "average_rate": 2e-3,
    "discount": 0.95,
    "epsilon": 0.01,
    "init_q": 0.1,
}

_LOGITS: Final[Mapping[str, Option]] = {
    **_PLUS,
    "discriminator": "one_vs_all",
    "reward": "min_margin",
    "discriminator_learning_rate": 1e-2,
    "context": "last",
    "fading": 3e-3,
}

# Partly chosen in UPSIDE's bottleneck itself; docs/paper/apart_spread.md says what.
_SPREAD_BEYOND: Final = Method(
    "goal observations placed by k-center; networks learn to reach them",
    {
        "discriminator": "ends",
        "reward": "near_end",
        "time_weight": "all",
        "bootstrap_last": True,
        "q_rule": "shared_adam",
        "learning_rate": 2.5e-4,
        "target_period": 20,
        "average_rate": 0.04,
        "discount": 0.95,
        "epsilon": 0.2,
        "batch": 256,
        "buffer": 300_000,
        "network": "mlp",
    },
    steps_per_update=50,
    settled=True,
    decisions=50,
    sees=("rbf", "fourier"),
)

# Plain steps: then one Q is the same as one for each part of a reward. Q starts as spread as a
# bonus is at first, or all skills stay where the first of them went.
_STEPS: Final[Mapping[str, Option]] = {"q_rule": "plain", "learning_rate": 0.1}
_TOWARDS: Final[Mapping[str, Option]] = {**_STEPS, "init_q": 5.0}
_DISDAIN: Final[Mapping[str, Option]] = {
    "discriminator": "ensemble",
    "reward": "clipped_posterior",
    "bonus": 10.0,
    "time_weight": "last",
    "context": "last",
    "init_logits": 0.5,
    **_TOWARDS,
}

# Methods of others whose rewards are known for all skills at once: planned in tables.
_PLANNED: Final[Mapping[str, Option]] = {
    "steps": 200_000,
    "time_weight": "all",
    "bootstrap_last": True,
    "q_rule": "sweep_plain",
    "learning_rate": 0.5,
    "epsilon": 0.2,
    "init_q": 0.1,
}


def _beyond(summary: str, **options: Option) -> Method:
    """A method where states cannot be listed: networks that learn as those of `apart_spread` do."""
    told = {"discriminator", "reward"}
    usual = {name: value for name, value in _SPREAD_BEYOND.options.items() if name not in told}
    return dataclasses.replace(_SPREAD_BEYOND, summary=summary, options={**usual, **options})


def _at_the_end(summary: str, objective: str, **options: Option) -> Method:
    """The same for an objective that is trained and pays in the last step."""
    paid: dict[str, Option] = {"objective": objective, "time_weight": "last"}
    paid |= {"bootstrap_last": False, "discriminator_learning_rate": 1e-3}
    return _beyond(summary, **{**paid, **options})


def _of_others(
    summary: str,
    objective: str,
    beyond: Mapping[str, Option] | None = None,
    *,
    paper: Paper,
    unranked: str = "",
    caveat: str = "",
    **options: Option,
) -> Method:
    """A method of others that plans in tables; ``beyond``: its options with networks elsewhere."""
    return Method(
        summary,
        {**_PLANNED, "objective": objective, **options},
        steps_per_update=20,
        settled=True,
        beyond=None if beyond is None else _beyond(summary, objective=objective, **beyond),
        paper=paper,
        unranked=unranked,
        caveat=caveat,
    )


_NO_SKILLS: Final = "all skills get the same reward by construction (a reference for exploration)"
_IDENTIFIED: Final = (
    "keeps only skills that random walks identify, and does not maximise distinct last states"
)
_UPSIDE: Final = "a tree of short skills, each followed by a random walk of its own (UPSIDE)"

METHODS: Final = Registry(
    "method",
    {
        "apart": Method(
            "lowest pairwise vote, kept with probability (t/T)^2 (the paper's method)",
            {**_AP_MIN, "time_weight": "square", "dropout": True},
        ),
        "ap_min": Method("lowest pairwise vote, every step", {**_AP_MIN, "time_weight": "all"}),
        "ap_min_ascending": Method(
            "lowest pairwise vote, times (t/T)^2", {**_AP_MIN, "time_weight": "square"}
        ),
        "ap_min_dropout": Method(
            "lowest pairwise vote, kept with probability 1/2",
            {**_AP_MIN, "time_weight": "all", "dropout": True},
        ),
        "ap_average": Method(
            "softmax of summed pairwise votes, every step", {**_AP_AVERAGE, "time_weight": "all"}
        ),
        "ap_average_art": Method(
            "softmax of summed pairwise votes, kept with probability (t/T)^2",
            {**_AP_AVERAGE, "time_weight": "square", "dropout": True},
        ),
        "diayn": Method(
            "log posterior of one K-way classifier, every step (DIAYN)",
            {**_OVA, "time_weight": "all"},
        ),
        "ova_ascending": Method(
            "DIAYN's log posterior, times (t/T)^2", {**_OVA, "time_weight": "square"}
        ),
        "ova_dropout": Method(
            "DIAYN's log posterior, kept with probability 1/2",
            {**_OVA, "time_weight": "all", "dropout": True},
        ),
        "ova_art": Method(
            "DIAYN's log posterior, kept with probability (t/T)^2",
            {**_OVA, "time_weight": "square", "dropout": True},
        ),
        "vic": Method(
            "log posterior of one K-way classifier, last step only (VIC)",
            {**_OVA, "time_weight": "last"},
        ),
        "tuned_vic": Method(
            "VIC with reward 2 softmax(10 o) - 1, which has the range of APART's",
            {
                "discriminator": "one_vs_all_sharpened",
                "reward": "signed_posterior",
                "time_weight": "last",
                "inverse_temperature": 10.0,
            },
        ),
        "apart_logits": Method(
            "margin over the strongest rival of K logits; a transition teaches all skills",
            _LOGITS,
            steps_per_update=20,
            settled=True,
        ),
        "apart_pixels": Method(
            "apart_logits with a CNN on images, tuned to learn in minutes",
            {
                **_LOGITS,
                "steps": 336_000,
                "observation": "normalized_pixels",
                "network": "cnn",
                "q_rule": "sweep_adam",
                "learning_rate": 1e-4,
                "discriminator_learning_rate": 3e-4,
                "episodes_per_update": 8,
                "batch": 20_000,
                "anneal": False,
                "average_rate": 0.02,
                "evaluate_every": 8_000,
            },
            settled=True,
        ),
        "apart_plus": Method(
            "visit counts instead of a trained discriminator: a skill for every state, fast",
            {**_PLUS, "discriminator": "counts", "reward": "min_counts", "fading": 0.3},
            steps_per_update=20,
            settled=True,
        ),
        "apart_spread": Method(
            "goal states placed by k-center, reached by planning: few skills cover the world",
            {
                "steps": 200_000,
                "discriminator": "ends",
                "reward": "own_end",
                "time_weight": "all",
                "bootstrap_last": True,
                "q_rule": "sweep_plain",
                "learning_rate": 1.0,
                "discount": 0.99,
                "epsilon": 0.2,
                "init_q": 0.0,
            },
            steps_per_update=20,
            settled=True,
            beyond=_SPREAD_BEYOND,
        ),
        "dgpo": Method(
            "DGPO's diversity reward in DIAYN's loop: no task, no constraint on return, no PPO",
            {**_OVA, "reward": "min_log_odds", "time_weight": "all"},
            settled=True,
            paper=references.DGPO,
        ),
        "disdain": Method(
            "VIC with an ensemble of discriminators and a bonus for their disagreement",
            _DISDAIN,
            settled=True,
            paper=references.DISDAIN,
        ),
        "count_bonus": Method(
            "VIC with a bonus of 10 / sqrt(visits) for rare last states",
            {
                **_OVA,
                "reward": "clipped_log_posterior",
                "objective": "count_bonus",
                "time_weight": "last",
                "context": "last",
                "bonus": 10.0,
                **_TOWARDS,
            },
            settled=True,
            paper=references.DISDAIN,
        ),
        "relative_vic": Method(
            "log q(z | first, last state) - log q(z | last state): displacements, not places",
            {"objective": "relative_vic", "time_weight": "last", **_STEPS},
            settled=True,
            paper=references.RELATIVE_VIC,
            unranked="with one fixed start its reward is noise around 0",
            beyond=_at_the_end(
                "the same with networks that see the first and the last observation",
                "relative_vic",
            ),
        ),
        "valor": Method(
            "a decoder of whole trajectories; skills are added as it learns (VALOR)",
            {"objective": "valor", "time_weight": "last", "fading": 0.3, **_STEPS},
            settled=True,
            paper=references.VALOR,
            beyond=_at_the_end(
                "a network decodes whole trajectories; skills are added as it learns (VALOR)",
                "valor_differences",
                # A decoder names what skills do now, and a random decision is not theirs.
                epsilon=0.05,
                buffer=50_000,
            ),
        ),
        "vic_counts": Method(
            "VIC with counts of last states instead of a trained posterior",
            {
                "discriminator": "counts",
                "reward": "log_counts",
                "time_weight": "last",
                "fading": 0.03,
                **_STEPS,
            },
            settled=True,
            paper=references.VIC_COUNTS,
        ),
        "dads": Method(
            "how much better a skill predicts its next state than all skills do (DADS)",
            {"objective": "dads", "time_weight": "all", "fading": 0.3, **_STEPS},
            settled=True,
            paper=references.DADS,
            beyond=_beyond(
                "the same with dynamics from a network, as mixtures of Gaussians (DADS)",
                objective="dads_mixture",
                discriminator_learning_rate=1e-3,
            ),
        ),
        "eddict": Method(
            "one step in a plane of learned codes; leaves out EDDICT's sequence of options",
            {"objective": "eddict", "time_weight": "last", **_STEPS},
            settled=True,
            paper=references.EDDICT,
            beyond=_at_the_end("the same with codes that a network learns", "eddict"),
        ),
        "metra": _of_others(
            "each skill moves far along its own direction of a learned embedding (METRA)",
            "metra",
            {"discriminator_learning_rate": 1e-4},
            discriminator_learning_rate=1e-2,
            epsilon=0.8,
            paper=references.METRA,
        ),
        "edl": _of_others(
            "explores, places a code for each skill, learns to approach it (EDL)",
            "edl",
            {},
            paper=references.EDL,
        ),
        "eigenoptions": _of_others(
            "skills climb the eigenvectors of the graph of seen transitions",
            "eigen",
            paper=references.EIGENOPTIONS,
        ),
        "count_exploration": _of_others(
            "rewards rarely visited states, for all skills alike (a reference)",
            "counted",
            {},
            paper=references.COUNT_EXPLORATION,
            unranked=_NO_SKILLS,
        ),
        "rnd": _of_others(
            "rewards states that predict a random network badly, all skills alike (a reference)",
            "rnd",
            {"discriminator_learning_rate": 1e-4},
            discriminator_learning_rate=1e-3,
            paper=references.RND,
            unranked=_NO_SKILLS,
        ),
        "visr": _of_others(
            "features point along a skill's own direction; leaves out VISR's successor features",
            "visr",
            {"discriminator_learning_rate": 1e-3},
            discriminator_learning_rate=1e-2,
            discount=0.95,
            paper=references.VISR,
        ),
        "discern": _of_others(
            "each skill learns to end in a state like its goal, one seen before (DISCERN)",
            "discern",
            {"discriminator_learning_rate": 1e-3},
            discriminator_learning_rate=1e-2,
            paper=references.DISCERN,
        ),
        "smerl": _of_others(
            "solves the task of a map in distinguishable ways (SMERL)",
            "smerl",
            discriminator="one_vs_all",
            reward="log_posterior",
            bonus=0.5,
            optimality=0.75,
            discriminator_learning_rate=1e-2,
            epsilon=0.1,  # random actions cost points, and a gate asks what a skill earned
            paper=references.SMERL,
        ),
        "domino": _of_others(
            "solves the task of a map nearly optimally, skills in different states (DOMiNO)",
            "domino",
            init_q=1000.0,
            paper=references.DOMINO,
        ),
        "upside": dataclasses.replace(
            _of_others(
                _UPSIDE,
                "upside_tree",
                paper=references.UPSIDE,
                caveat=_IDENTIFIED,
                epsilon=0.0,
            ),
            # One layer has parameters of each skill, so that kept skills stay as they are. Parts
            # are short enough to be decided at every step, and walks of single steps stay near.
            beyond=dataclasses.replace(
                _beyond(
                    _UPSIDE,
                    objective="upside_walks",
                    network="linear/mlp:128,128",
                    learning_rate=1e-2,
                    discriminator_learning_rate=1e-3,
                    buffer=50_000,
                    epsilon=0.0,
                ),
                steps_per_update=25,
                decisions=0,
            ),
        ),
        "upside_flat": _of_others(
            "UPSIDE without its tree: skills as long as an episode, all from the start",
            "upside",
            paper=references.UPSIDE_FLAT,
            caveat=_IDENTIFIED,
        ),
        "random_walk": Method(
            "uniformly random actions, no learning (a reference)",
            {"epsilon": 1.0, "updates_per_episode": 0},
            settled=True,
        ),
    },
)
