"""Parameters of any kind and the Adam step that moves them."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import optax

from apart._types import Array
from apart.learner.approximators import Approximator, Params

_ADAM = optax.scale_by_adam()


class Fitted(NamedTuple):
    """Parameters and the state of what moves them: Adam's moments, counts' fade, or nothing."""

    params: Params
    optimiser: Any


def fit(form: Approximator, params: Params) -> Fitted:
    """``params`` with a fresh Adam (dense: every element moves at every step)."""
    return Fitted(params, _ADAM.init(form.slots(params)))


def step(form: Approximator, fitted: Fitted, gradient: Params, learning_rate: Array) -> Fitted:
    """One Adam step against ``gradient``."""
    change, adam = _ADAM.update(gradient, fitted.optimiser)
    change = jax.tree.map(lambda c: learning_rate * c, change)
    return Fitted(form.moved(fitted.params, change), adam)
