"""DOMiNO (Zahavy et al. 2022): skills solve the task nearly best, each where others are not.

States are the features: the successor features of a skill are the visits of each state in an
episode, kept as running means. A Lagrange multiplier for each skill weighs the task against the
force between it and the nearest other skill. The first skill is for the task alone: what it earns
is the best that the others are held to.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array, Key, Obs
from apart.objective import near_optimal
from apart.training.objectives.contract import Given, Met, Objective, of_one_state
from apart.training.state import Hyper

_RATE = 0.1  # of the multipliers


class Occupied(NamedTuple):
    """What is kept."""

    visits: Array  # [K, S] of each state in an episode, running means
    earned: Array  # [K] running mean of the points of an episode
    multiplier: Array  # [K]


def build(given: Given) -> Objective:
    """DOMiNO in a table with a task."""
    n_states, n_skills = given.counted, given.p.config.skills
    assert n_states is not None
    assert given.p.states is not None
    task = given.p.states.task
    only_task = jnp.arange(n_skills) == 0

    def init(key: Key, hyper: Hyper) -> Occupied:
        visits = jnp.zeros((n_skills, n_states))
        return Occupied(visits, jnp.zeros(n_skills), jnp.zeros(n_skills))

    def of_states(kept: Occupied, obs: Obs | None, hyper: Hyper) -> Array:
        far = hyper.distance * given.p.config.decisions
        away = near_optimal.force(kept.visits, far).T
        points, differs = (task, away) if obs is None else (task[obs], away[obs])
        wanted = near_optimal.mixed(points[:, None], differs, kept.multiplier)
        return jnp.where(only_task, points[:, None], wanted)

    def meet(kept: Occupied, met: Met, hyper: Hyper) -> Occupied:
        states, skill = met.episodes.obs[:, 1:], met.episodes.skill
        spent = jax.nn.one_hot(states, n_states).sum(axis=1)
        earned = near_optimal.remembered(kept.earned, skill, task[states].sum(axis=1))
        visits = near_optimal.remembered(kept.visits, skill, spent)
        made = jnp.zeros(n_skills).at[skill].set(1.0)
        rate = _RATE * made  # of those who made an episode
        multiplier = near_optimal.raised(kept.multiplier, earned, earned[0], hyper.optimality, rate)
        return Occupied(visits, earned, multiplier)

    def scores(kept: Occupied, obs: Obs | None, hyper: Hyper) -> Array:
        """Logarithms of how likely a each skill is there; softmax is q(z | s) by visits."""
        found = jnp.log(kept.visits.T + 1e-6)
        return found if obs is None else found[obs]

    return Objective(init, of_one_state(of_states, after=True), scores, of_states, meet=meet)
