"""An embedding phi of observations in which a step is at most 1 long, by dual ascent.

phi is kept as logits are: in a table, or in a network. It is moved along the gradient of whoever
uses it; the multiplier of the constraint rises where a step is longer than 1, in logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array, Key, Obs
from apart.learner import adam
from apart.learner.adam import Fitted
from apart.learner.approximators import Approximator, table
from apart.objective import metra
from apart.training.state import Hyper

_NUMBER = table(1, ())  # the form of the multiplier

Gradient = Callable[..., tuple[Array, ...]]
# (phi of several observations [B, D] each, multiplier) -> the gradients with respect to each


class Embedding(NamedTuple):
    """What is kept."""

    phi: Fitted  # rows [D]
    log_lambda: Fitted  # [1]


def init(form: Approximator, key: Key, hyper: Hyper) -> Embedding:
    """Before anything was learned."""
    phi = form.init(key, hyper.init_logits)
    log_lambda = jnp.full(1, math.log(metra.LAMBDA), jnp.float32)
    return Embedding(adam.fit(form, phi), adam.fit(_NUMBER, log_lambda))


def read(form: Approximator, kept: Embedding, obs: Obs | None) -> Array:
    """[n, D] of observations; None: of all states."""
    return form.read(kept.phi.params, obs)[0]


def fitted(
    form: Approximator,
    kept: Embedding,
    steps: tuple[Obs, Obs],
    gradient: Gradient,
    rate: Array,
    others: tuple[Obs, ...] = (),
) -> Embedding:
    """``kept`` after an Adam step of phi and of the multiplier.

    Args:
        form: of phi.
        kept: before it.
        steps: observations [B, ...] before and after steps, which are to be at most 1 long.
        gradient: of phi in these and in ``others``, in this order.
        rate: of both.
        others: more observations that it asks for.
    """
    found, pulls = zip(*(form.read(kept.phi.params, o) for o in (*steps, *others)), strict=True)
    gradients = gradient(*found, jnp.exp(kept.log_lambda.params[0]))
    downs = [pull(each) for pull, each in zip(pulls, gradients, strict=True)]
    down = jax.tree.map(lambda *parts: reduce(jnp.add, parts), *downs)
    held = jax.vmap(metra.held)(*found[:2]).mean()
    return Embedding(
        adam.step(form, kept.phi, down, rate),
        adam.step(_NUMBER, kept.log_lambda, held[None], rate),
    )
