"""EDDICT: states have codes in the plane, and a skill is a step there.

A skill is a fixed code D_z in the unit disc. The reward, in the last step, is
-|D_z - (f(s_T) - f(s_0))|^2, and f learns to make it less negative.
"""

from __future__ import annotations

from functools import reduce
from typing import Final, NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array, Key, Obs
from apart.learner import adam
from apart.learner.adam import Fitted
from apart.learner.episodes import Sampled
from apart.objective.contexts import Moved
from apart.training.objectives.contract import Given, Met, Objective
from apart.training.state import Hyper

PLANE: Final = 2


class Eddict(NamedTuple):
    """f and the codes of the skills."""

    f: Fitted
    codes: Array  # [K, 2] never changed
    first: Array | None = None  # [1, 2] f of where an episode began lately; None in a table


def build(given: Given) -> Objective:
    """The objective for the skills of a configuration."""
    form, n_skills = given.p.network((PLANE,)), given.p.config.skills

    def init(key: Key, hyper: Hyper) -> Eddict:
        key_f, key_codes = jax.random.split(key)
        angle, radius = jax.random.uniform(key_codes, (2, n_skills))
        turned = 2.0 * jnp.pi * angle
        codes = jnp.sqrt(radius)[:, None] * jnp.stack([jnp.cos(turned), jnp.sin(turned)], axis=1)
        f = adam.fit(form, form.init(key_f, hyper.init_logits))
        return Eddict(f, codes, jnp.zeros((1, PLANE)) if given.counted is None else None)

    def of_steps(kept: Eddict, first: Array, last: Array) -> Array:
        """[n, K] of what lies between the codes of two states, [n, 2] each.

        Added number by number: XLA's sum over a last axis of two takes forty times as long.
        """
        step = last - first
        gaps = (kept.codes[:, i] - step[:, i, None] for i in range(PLANE))
        return -reduce(jnp.add, map(jnp.square, gaps))

    def rewards(kept: Eddict, moved: Moved, hyper: Hyper) -> Array:
        assert moved.path is not None
        first = form.read(kept.f.params, moved.path[:, 0])[0]
        return of_steps(kept, first, form.read(kept.f.params, moved.after)[0])

    def own_moves(kept: Eddict, moved: Moved, skill: Array, hyper: Hyper) -> Array:
        assert moved.path is not None
        first = form.read(kept.f.params, moved.path[:, 0])[0]
        step = form.read(kept.f.params, moved.after)[0] - first
        return -jnp.square(kept.codes[skill] - step).sum(axis=1)

    def scores(kept: Eddict, obs: Obs | None, hyper: Hyper) -> Array:
        first = kept.first
        if first is None:
            first = form.read(kept.f.params, jnp.asarray(given.starts[:1]))[0]
        return of_steps(kept, first, form.read(kept.f.params, obs)[0])

    def meet(kept: Eddict, met: Met, hyper: Hyper) -> Eddict:
        if kept.first is None:
            return kept
        return kept._replace(first=form.read(kept.f.params, met.episodes.obs[:1, 0])[0])

    def fit(kept: Eddict, drawn: Sampled, hyper: Hyper, rate: Array) -> Eddict:
        batch = drawn.batch
        assert batch.path is not None
        n = batch.skill.shape[0]
        both = jnp.concatenate([batch.path[:, 0], batch.next_obs])
        read, pull = form.read(kept.f.params, both)
        weight = batch.last[:, None] / jnp.maximum(batch.last.sum(), 1.0)
        error = 2.0 * weight * (read[n:] - read[:n] - kept.codes[batch.skill])
        gradient = pull(jnp.concatenate([-error, error]))
        return kept._replace(f=adam.step(form, kept.f, gradient, rate))

    return Objective(init, rewards, scores, own_moves=own_moves, meet=meet, fit=fit)
