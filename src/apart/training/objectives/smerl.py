"""SMERL (Kumar et al. 2020): solve the task; who solves it well may differ from the others.

The reward is that of the task plus, for skills that lately earned nearly as much as the best of
them, what a discriminator gives (`told_apart`).
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from apart._types import Array, Key, Obs
from apart.objective import near_optimal
from apart.training.objectives import told_apart
from apart.training.objectives.contract import Given, Kept, Met, Objective, lifted
from apart.training.state import Hyper


class Gated(NamedTuple):
    """What is kept."""

    told: Kept  # of the discriminator
    earned: Array  # [K] running mean of the points of an episode


def build(given: Given) -> Objective:
    """SMERL in a table with a task.

    What a transition is worth is known for all skills at once: the gate is that of a skill by its
    latest episodes, not that of the episode that a transition was in.
    """
    told, n_skills = told_apart.build(given, whole=False), given.p.config.skills
    assert told.of_states is not None
    assert given.p.states is not None
    judged, task = told.of_states, given.p.states.task

    def init(key: Key, hyper: Hyper) -> Gated:
        return Gated(told.init(key, hyper), jnp.zeros(n_skills))

    def of_states(kept: Gated, obs: Obs | None, hyper: Hyper) -> Array:
        points = task if obs is None else task[obs]
        open_ = near_optimal.gate(kept.earned, kept.earned.max(), hyper.optimality)
        differs = open_ * judged(kept.told, obs, hyper)
        return points[:, None] + hyper.bonus * differs

    def meet(kept: Gated, met: Met, hyper: Hyper) -> Gated:
        points = task[met.episodes.obs[:, 1:]].sum(axis=1)
        earned = near_optimal.remembered(kept.earned, met.episodes.skill, points)
        return Gated(told.meet(kept.told, met, hyper), earned)

    whole = lifted(
        told, lambda kept: kept.told, lambda kept, now: kept._replace(told=now), of_states
    )
    # A task must be found before it can be solved in several ways.
    return whole._replace(init=init, meet=meet, tries=given.known is not None)
