"""Where numbers per state are kept: the seam between tables and networks.

A `Store` has parameters of its own kind. ``read`` gives the table over all states and a pullback
that turns a gradient with respect to that table into one with respect to the parameters; all
losses are written in terms of tables, so that nothing else knows how the numbers are kept. A
table is its own parameters and its pullback is the identity.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import optax

from apart._types import Array, Key

Params = Any  # a pytree of arrays
_ADAM = optax.scale_by_adam()


class Store(NamedTuple):
    """How a table [S, ...] is parametrised."""

    init: Callable[[Key, Array], Params]  # (key, scale) -> parameters
    read: Callable[[Params], tuple[Array, Callable[[Array], Params]]]  # -> table, pullback


class Fitted(NamedTuple):
    """Parameters and the state of what moves them: Adam's moments, counts' fade, or nothing."""

    params: Params
    optimiser: Any


def table(shape: tuple[int, ...]) -> Store:
    """A plain table, uniform in +- scale at the start."""

    def init(key: Key, scale: Array) -> Array:
        return jax.random.uniform(key, shape, minval=-scale, maxval=scale)

    def read(params: Array) -> tuple[Array, Callable[[Array], Array]]:
        return params, lambda gradient: gradient

    return Store(init, read)


def fit(params: Params) -> Fitted:
    """``params`` with a fresh Adam (dense: every element moves at every step)."""
    return Fitted(params, _ADAM.init(params))


def step(fitted: Fitted, gradient: Params, learning_rate: Array) -> Fitted:
    """One Adam step against ``gradient``."""
    change, adam = _ADAM.update(gradient, fitted.optimiser)
    params = jax.tree.map(lambda p, c: p - learning_rate * c, fitted.params, change)
    return Fitted(params, adam)
