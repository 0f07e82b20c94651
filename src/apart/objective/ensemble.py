"""An ensemble of discriminators that differ by their initial logits alone (DISDAIN).

Where a state was seen often its members agree; where it was not they still differ, and by how much
is the bonus for going there. All functions see the logits [N, K] of ONE state.
"""

from __future__ import annotations

from typing import Final

from apart._lazy import jax, jnp
from apart._types import Array

MEMBERS: Final = 2  # N of the paper's four rooms and of its notebook


def shape(n_skills: int) -> tuple[int, ...]:
    """[N, K] of the logits of one state."""
    return (MEMBERS, n_skills)


def log_mean(logits: Array) -> Array:
    """[K] log of the mean over members of softmax(o): the log posterior of the ensemble."""
    each = jax.nn.log_softmax(logits, axis=1)
    return jax.nn.logsumexp(each, axis=0) - jnp.log(float(logits.shape[0]))


def disagreement(logits: Array) -> Array:
    """[] H[mean of q_i] - mean of H[q_i] in nats: 0 where all members agree."""
    return _entropy(log_mean(logits)) - _entropy(jax.nn.log_softmax(logits, axis=1)).mean()


def _entropy(log_probability: Array) -> Array:
    return -(jnp.exp(log_probability) * log_probability).sum(axis=-1)


def loss(logits: Array, skill: Array, inverse_temperature: Array) -> Array:
    """Mean over members of their cross-entropies; the inverse temperature has no part in it."""
    del inverse_temperature
    return -jax.nn.log_softmax(logits, axis=1)[:, skill].mean()


def gradient(logits: Array, counts: Array, inverse_temperature: Array) -> Array:
    """[N, K] (n softmax(o_i) - counts) / N with n the sum of counts."""
    del inverse_temperature
    posterior = jax.nn.softmax(logits, axis=1)
    return (counts.sum() * posterior - counts) / logits.shape[0]


def scores(logits: Array, inverse_temperature: Array) -> Array:
    """[K] the log posterior of the ensemble."""
    del inverse_temperature
    return log_mean(logits)
