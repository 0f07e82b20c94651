"""A discriminator's reward, and a bonus for last states that are seldom: beta / sqrt(n(s)).

DISDAIN's *count* baseline. n(s) is how many episodes ended in s, whatever their skill; where none
did, the bonus is that of one.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from apart._types import Array, Obs
from apart.training.objectives import told_apart
from apart.training.objectives.contract import Given, Kept, Met, Objective, of_one_state
from apart.training.state import Hyper


class Counted(NamedTuple):
    """What told_apart keeps, and the count of last states."""

    inner: Kept
    ended: Array  # [S] episodes that ended there


def build(given: Given) -> Objective:
    """The objective over the discriminator that the configuration names."""
    inner, n_states = told_apart.build(given), given.counted
    assert n_states is not None
    assert inner.of_states is not None
    of_inner, fit_inner, rivals = inner.of_states, inner.fit, inner.rivals

    def of_states(kept: Counted, obs: Obs | None, hyper: Hyper) -> Array:
        ended = kept.ended if obs is None else kept.ended[obs]
        bonus = hyper.bonus / jnp.sqrt(jnp.maximum(ended, 1.0))
        return of_inner(kept.inner, obs, hyper) + bonus[:, None]

    def meet(kept: Counted, met: Met, hyper: Hyper) -> Counted:
        ended = kept.ended.at[met.episodes.obs[:, -1]].add(1.0)
        return Counted(inner.meet(kept.inner, met, hyper), ended)

    return Objective(
        init=lambda key, hyper: Counted(inner.init(key, hyper), jnp.zeros(n_states)),
        rewards=of_one_state(of_states, inner.after),
        scores=lambda kept, obs, hyper: inner.scores(kept.inner, obs, hyper),
        of_states=of_states,
        after=inner.after,
        meet=meet,
        fit=fit_inner and (lambda kept, *batch: kept._replace(inner=fit_inner(kept.inner, *batch))),
        rivals=rivals and (lambda kept, *of: rivals(kept.inner, *of)),
    )
