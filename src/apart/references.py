"""The papers whose methods run here by name, and what each method leaves out of its paper."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Verdict(StrEnum):
    """How far a method follows its paper."""

    FAITHFUL = "faithful"
    SIMPLIFIED = "simplified"
    INCOMPLETE = "without its essential part"


@dataclass(frozen=True)
class Paper:
    """The paper that a method comes from.

    Attributes:
        title: of the paper.
        link: where to read it.
        verdict: how far the method follows it.
        leaves_out: what the method lacks or does otherwise, a clause.
    """

    title: str
    link: str
    verdict: Verdict
    leaves_out: str


_ARXIV: Final = "https://arxiv.org/abs"

# Faithful, or nearly

METRA: Final = Paper(
    "METRA: Scalable Unsupervised RL with Metric-Aware Abstraction",
    f"{_ARXIV}/2310.08887",
    Verdict.FAITHFUL,
    "soft actor-critic (Q-learning with random actions instead of its entropy); continuous skills",
)
EIGENOPTIONS: Final = Paper(
    "A Laplacian Framework for Option Discovery in Reinforcement Learning",
    f"{_ARXIV}/1703.00956",
    Verdict.FAITHFUL,
    "the action that ends an option (a skill acts for T steps)",
)
SMERL: Final = Paper(
    "One Solution is Not All You Need: Few-Shot Extrapolation via Structured MaxEnt RL",
    f"{_ARXIV}/2010.14484",
    Verdict.FAITHFUL,
    "the test of each trajectory's return (running means of each skill's return instead)",
)
DOMINO: Final = Paper(
    "Discovering Policies with DOMiNO: Diversity Optimization Maintaining Near Optimality",
    f"{_ARXIV}/2205.13521",
    Verdict.FAITHFUL,
    "features other than the states of a table",
)
UPSIDE: Final = Paper(
    "Direct then Diffuse: Incremental Unsupervised Skill Discovery for State Covering and Goal "
    "Reaching",
    f"{_ARXIV}/2110.14457",
    Verdict.FAITHFUL,
    "in tables, sampled walks and a trained classifier (both are computed); with networks, one "
    "for each skill",
)

# Simplified

DISDAIN: Final = Paper(
    "Learning more skills through optimistic exploration",
    "https://openreview.net/forum?id=cU8rknuhxc",
    Verdict.SIMPLIFIED,
    "Q(lambda) on fresh trajectories (one-step targets from a replay instead)",
)
RELATIVE_VIC: Final = Paper(
    "Relative Variational Intrinsic Control",
    f"{_ARXIV}/2012.07827",
    Verdict.SIMPLIFIED,
    "a policy that sees the first state; the formula was not checked against the paper's text",
)
VALOR: Final = Paper(
    "Variational Option Discovery Algorithms",
    f"{_ARXIV}/1807.10299",
    Verdict.SIMPLIFIED,
    "policy gradients; the recurrent decoder (log-linear in tables, elsewhere a network that "
    "reads ten differences)",
)
DADS: Final = Paper(
    "Dynamics-Aware Unsupervised Discovery of Skills",
    f"{_ARXIV}/1907.01657",
    Verdict.SIMPLIFIED,
    "the planner over skills; continuous skills; in tables, learned dynamics (counts instead)",
)
EDL: Final = Paper(
    "Explore, Discover and Learn: Unsupervised Discovery of State-Covering Skills",
    f"{_ARXIV}/2002.03647",
    Verdict.SIMPLIFIED,
    "state marginal matching (counts or RND explore); the VQ-VAE (k-means places the codes)",
)
DISCERN: Final = Paper(
    "Unsupervised Control Through Non-Parametric Discriminative Rewards",
    f"{_ARXIV}/1811.11359",
    Verdict.SIMPLIFIED,
    "a goal drawn for each episode (one goal for each skill instead); the reward at the end only",
)
COUNT_EXPLORATION: Final = Paper(
    "An analysis of model-based Interval Estimation for Markov Decision Processes",
    "https://doi.org/10.1016/j.jcss.2007.08.009",
    Verdict.SIMPLIFIED,
    "the task; counts of actions (visits of states instead). It has no skills",
)
RND: Final = Paper(
    "Exploration by Random Network Distillation",
    f"{_ARXIV}/1810.12894",
    Verdict.SIMPLIFIED,
    "the task; PPO; the normalisation of returns (errors are divided by their mean instead). It "
    "has no skills",
)

# Without what makes the method

DGPO: Final = Paper(
    "DGPO: Discovering Multiple Strategies with Diversity-Guided Policy Optimization",
    f"{_ARXIV}/2207.05631",
    Verdict.INCOMPLETE,
    "the task; the constraints between return and diversity; PPO (its diversity reward in DIAYN's "
    "loop)",
)
VIC_COUNTS: Final = Paper(
    "Variational Intrinsic Control Revisited",
    f"{_ARXIV}/2010.03281",
    Verdict.INCOMPLETE,
    "implicit options and the correction of their bias (explicit VIC, with counts)",
)
EDDICT: Final = Paper(
    "Entropic Desired Dynamics for Intrinsic Control",
    "https://openreview.net/forum?id=lBSSxTgXmiK",
    Verdict.INCOMPLETE,
    "options that follow each other (one option an episode, from the start)",
)
VISR: Final = Paper(
    "Fast Task Inference with Variational Intrinsic Successor Features",
    f"{_ARXIV}/1906.05030",
    Verdict.INCOMPLETE,
    "successor features; generalised policy improvement over them",
)
UPSIDE_FLAT: Final = dataclasses.replace(
    UPSIDE,
    verdict=Verdict.INCOMPLETE,
    leaves_out="the tree (all skills set out from the start: the paper's own ablation)",
)
