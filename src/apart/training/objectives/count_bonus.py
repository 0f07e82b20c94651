"""A discriminator's reward, and a bonus for last states that are seldom: beta / sqrt(n(s)).

DISDAIN's *count* baseline. n(s) is how many episodes ended in s, whatever their skill; where none
did, the bonus is that of one.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from apart._types import Array, Obs
from apart.training.objectives import told_apart
from apart.training.objectives.contract import Given, Kept, Met, Objective, lifted
from apart.training.state import Hyper


class Counted(NamedTuple):
    """What told_apart keeps, and the count of last states."""

    inner: Kept
    ended: Array  # [S] episodes that ended there


def build(given: Given) -> Objective:
    """The objective over the discriminator that the configuration names."""
    inner, n_states = told_apart.build(given, whole=False), given.counted
    assert n_states is not None
    assert inner.of_states is not None
    of_inner = inner.of_states

    def of_states(kept: Counted, obs: Obs | None, hyper: Hyper) -> Array:
        ended = kept.ended if obs is None else kept.ended[obs]
        bonus = hyper.bonus / jnp.sqrt(jnp.maximum(ended, 1.0))
        return of_inner(kept.inner, obs, hyper) + bonus[:, None]

    whole = lifted(
        inner, lambda kept: kept.inner, lambda kept, now: kept._replace(inner=now), of_states
    )

    def meet(kept: Counted, met: Met, hyper: Hyper) -> Counted:
        ended = kept.ended.at[met.episodes.obs[:, -1]].add(1.0)
        return Counted(inner.meet(kept.inner, met, hyper), ended)

    return whole._replace(
        init=lambda key, hyper: Counted(inner.init(key, hyper), jnp.zeros(n_states)), meet=meet
    )
