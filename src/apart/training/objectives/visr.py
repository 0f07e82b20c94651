"""VISR (Hansen et al. 2020): skill z makes features phi(s') point along its own direction w_z.

Directions are K fixed draws from the sphere. phi is trained to point along the direction of the
skill that came to a state; the reward phi(s') . w_z is linear in both, so that a task that is
linear in phi too is solved by looking for its w (docs/family/visr.md).
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array, Key, Obs
from apart.learner import adam
from apart.learner.adam import Fitted
from apart.learner.episodes import Sampled
from apart.objective import spheres
from apart.training.objectives.contract import Given, Objective, of_one_state
from apart.training.state import Hyper


class Features(NamedTuple):
    """What is kept."""

    phi: Fitted  # rows [D], before they are brought to unit length
    tasks: Array  # [K, D]


def build(given: Given) -> Objective:
    """VISR for the skills of a configuration."""
    n_skills, dims = given.p.config.skills, spheres.VISR_NUMBERS
    form = given.p.network((dims,))

    def init(key: Key, hyper: Hyper) -> Features:
        key_phi, key_tasks = jax.random.split(key)
        phi = adam.fit(form, form.init(key_phi, hyper.init_logits))
        return Features(phi, spheres.directions(key_tasks, n_skills, dims))

    def of_states(kept: Features, obs: Obs | None, hyper: Hyper) -> Array:
        return spheres.unit(form.read(kept.phi.params, obs)[0]) @ kept.tasks.T

    def fit(kept: Features, drawn: Sampled, hyper: Hyper, rate: Array) -> Features:
        rows, pull = form.read(kept.phi.params, drawn.batch.next_obs)
        each = jax.vmap(jax.grad(spheres.towards))(rows, kept.tasks[drawn.batch.skill])
        return kept._replace(phi=adam.step(form, kept.phi, pull(each / rows.shape[0]), rate))

    def stays(kept: Features) -> Array:
        return jnp.ones((), bool)

    rewards = of_one_state(of_states, after=True)
    return Objective(init, rewards, of_states, of_states, fit=fit, stays=stays)
