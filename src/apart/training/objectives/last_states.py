"""Who ends where, named by a classifier: what measures objectives whose rewards do not say it.

Outside tables; `moves.scores` has the counts of tables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp

from apart._types import Array, Key, Obs
from apart.learner import adam
from apart.learner.adam import Fitted
from apart.learner.episodes import Batch
from apart.training.objectives import moves
from apart.training.objectives.contract import Given
from apart.training.state import Hyper


class Names(NamedTuple):
    """How it is kept, read and trained."""

    init: Callable[[Key, Hyper], Fitted]
    scores: Callable[[Fitted, Obs | None], Array]  # [n, K]; their softmax is q(z | s)
    fit: Callable[[Fitted, Batch, Array], Fitted]  # from the last steps of a batch, with a rate


def names(given: Given) -> Names:
    """Of the skills of a configuration, as a network of the kind that logits have."""
    form = given.p.network((1, given.p.config.skills))

    def init(key: Key, hyper: Hyper) -> Fitted:
        return adam.fit(form, form.init(key, hyper.init_logits))

    def scores(kept: Fitted, obs: Obs | None) -> Array:
        return form.read(kept.params, obs)[0][:, 0]

    def fit(kept: Fitted, batch: Batch, rate: Array) -> Fitted:
        obs, weights = moves.last_seen(given, batch, jnp.zeros_like(batch.skill), 1)
        return moves.named_better(form, kept, obs, weights, rate)

    return Names(init, scores, fit)
