"""Intrinsic rewards: from the logits of one state to the reward of EVERY skill there.

A reward gets logits, never a discriminator; callers pick the acting skill or use them all.
To add one, write a function and one line in ``REWARDS``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from apart._lazy import jax, jnp
from apart._registry import Registry
from apart._types import Array
from apart.objective import ensemble, pairs

_NEAR: Final = 0.05  # the reward in the own end, where a network learns to come there


@dataclass(frozen=True)
class Reward:
    """A reward and what it reads.

    Attributes:
        summary: one line for people.
        rewards: (logits of one state, sharpness) -> [K]; the sharpness is the inverse temperature
            of logits, the prior of counts.
        reads: what it is computed from, as discriminators give it (`Discriminator.gives`).
        of_skill: (table of logits [S, ...], state, skill) -> the reward of that skill there, for
            rewards that can tell it from less than the whole state. Without it callers compute
            ``rewards`` of every state and pick.
        bounds: the least and the greatest there is, where targets of networks are to stay within
            what such rewards can add up to.
        bonus: (logits of one state) -> what is added there for every skill, times ``--bonus``.
    """

    summary: str
    rewards: Callable[[Array, Array], Array]
    reads: str
    of_skill: Callable[[Array, Array, Array], Array] | None = None
    bounds: tuple[float, float] | None = None
    bonus: Callable[[Array], Array] | None = None


def log_posterior(logits: Array, inverse_temperature: Array) -> Array:
    """[K] log q(z | s) - log p(z), equation 2 (DIAYN, VIC); logits [K]; at most log K."""
    return jax.nn.log_softmax(inverse_temperature * logits) + jnp.log(float(logits.shape[0]))


def clipped_log_posterior(logits: Array, inverse_temperature: Array) -> Array:
    """[K] max(0, log q(z | s) + log K): a skill that is told worse than by chance pays nothing.

    As the agents of DISDAIN's paper are rewarded, with and without a bonus; logits [K].
    """
    return jnp.maximum(log_posterior(logits, inverse_temperature), 0.0)


def posterior(logits: Array, inverse_temperature: Array) -> Array:
    """[K] softmax(beta o), in [0, 1] (tuned VIC); logits [K]."""
    return jax.nn.softmax(inverse_temperature * logits)


def signed_posterior(logits: Array, inverse_temperature: Array) -> Array:
    """[K] 2 softmax(beta o) - 1: the posterior in APART's range [-1, 1] (tuned VIC); logits [K].

    Negative wherever another skill is likelier, so that unknown cells look better.
    """
    return 2.0 * posterior(logits, inverse_temperature) - 1.0


def average_pairs(logits: Array, inverse_temperature: Array) -> Array:
    """[K] softmax over z of the sum of y_zj over j, equation 5; logits [R, C]."""
    del inverse_temperature
    return jax.nn.softmax(pairs.total(pairs.votes(logits)))


def min_pairs(logits: Array, inverse_temperature: Array) -> Array:
    """[K] the least y_zj over j != z, equation 6, in [-1, 1]; logits [R, C].

    tanh ascends, so the minimum is taken before it: K evaluations instead of K^2 / 2.
    """
    del inverse_temperature
    return jnp.tanh(pairs.minimum(logits))


def min_pairs_literal(logits: Array, inverse_temperature: Array) -> Array:
    """[K] equation 6 with "all i" taken literally: the code matrix's zeros count, so r <= 0."""
    return jnp.minimum(min_pairs(logits, inverse_temperature), 0.0)


def strongest_rival(values: Array) -> Array:
    """[K] for every skill the greatest value among the others."""
    best = values.max()
    is_best = values == best
    second = jnp.where(is_best, -jnp.inf, values).max()
    # Two that are equally strong are each other's rivals. Sums and maxima only: an argmax over
    # skills costs several times as much.
    alone = is_best.sum() == 1
    return jnp.where(is_best & alone, second, best)


def min_margin(logits: Array, inverse_temperature: Array) -> Array:
    """[K] `min_pairs` when a pair's logit is half the difference of two of K logits.

    min over j of tanh((o_z - o_j) / 2) = tanh((o_z - max over j != z of o_j) / 2): only the
    strongest rival counts.
    """
    scaled = inverse_temperature * logits
    return jnp.tanh(0.5 * (scaled - strongest_rival(scaled)))


def min_log_odds(logits: Array, inverse_temperature: Array) -> Array:
    """[K] the least log(q_z / (q_z + q_j)) over j != z (DGPO), at most 0; logits [K].

    q_z / (q_z + q_j) = sigmoid(o_z - o_j), so that only the strongest rival counts: it is
    log((1 + `min_margin`) / 2).
    """
    scaled = inverse_temperature * logits
    return jax.nn.log_sigmoid(scaled - strongest_rival(scaled))


def clipped_posterior(logits: Array, inverse_temperature: Array) -> Array:
    """[K] max(0, log q(z | s) + log K) with q the mean of an ensemble (DISDAIN); logits [N, K]."""
    del inverse_temperature
    return jnp.maximum(ensemble.log_mean(logits) + jnp.log(float(logits.shape[1])), 0.0)


def min_counts(counts: Array, prior: Array) -> Array:
    """[K] the least of (n_z - n_j) / (n_z + n_j + prior) over j != z.

    The pair classifier that minimises the all-pairs loss on what was counted, shrunk towards 0 by
    the prior; falls in n_j, so only the strongest rival counts.
    """
    rival = strongest_rival(counts)
    return (counts - rival) / (counts + rival + prior)


def log_counts(counts: Array, prior: Array) -> Array:
    """[K] log q(z | s) + log K with q the share of z among counts and ``prior`` pseudo-counts.

    `log_posterior` without anything to train: the frequencies are what a classifier tends to.
    """
    n_skills = counts.shape[0]
    share = (counts + prior / n_skills) / (counts.sum() + prior)
    return jnp.log(share) + jnp.log(float(n_skills))


def own_end(near: Array, prior: Array) -> Array:
    """[K] n_z, how near the end of z is; 0 where a rival's is nearer.

    Greatest in the place where the skill is to end, least in the territories of others. What is
    unknown has no value: episodes go there by a search of their own (`training.exploring`).
    """
    del prior
    return near


def near_end(near: Array, prior: Array) -> Array:
    """[K] a twentieth (`_NEAR`) of n_z, how near the end of z is.

    Standing there is worth 1 in all at a discount of 0.95: networks learn numbers of that size
    soonest. What is unknown has no value of its own: a network would spread it over what is known.
    """
    del prior
    return _NEAR * near


def min_pairs_of_skill(table: Array, state: Array, skill: Array) -> Array:
    """`min_pairs` of one skill in one state, from the table of all states [S, R, C]."""
    return jnp.tanh(pairs.least(table, state, skill))


REWARDS: Final = Registry(
    "reward",
    {
        "log_posterior": Reward("log q(z|s) + log K (DIAYN, VIC)", log_posterior, "logits"),
        "clipped_log_posterior": Reward(
            "log q(z|s) + log K, at least 0 (DISDAIN's agents)", clipped_log_posterior, "logits"
        ),
        "posterior": Reward("softmax(beta o) of the skill", posterior, "logits"),
        "signed_posterior": Reward(
            "2 softmax(beta o) - 1 of the skill (tuned VIC)", signed_posterior, "logits"
        ),
        "average_pairs": Reward("softmax of the summed votes", average_pairs, "pairs"),
        "min_pairs": Reward(
            "the lowest vote against any rival (APART)", min_pairs, "pairs", min_pairs_of_skill
        ),
        "min_margin": Reward(
            "tanh of half the margin over the strongest rival", min_margin, "logits"
        ),
        "min_log_odds": Reward(
            "log q_z / (q_z + q_j), j the strongest rival (DGPO)", min_log_odds, "logits"
        ),
        "clipped_posterior": Reward(
            "log q(z|s) + log K of an ensemble, at least 0, plus disagreement (DISDAIN)",
            clipped_posterior,
            "ensemble",
            bonus=ensemble.disagreement,
        ),
        "min_counts": Reward(
            "(n_z - n_j) / (n_z + n_j + prior), j the strongest rival", min_counts, "counts"
        ),
        "log_counts": Reward("log q(z|s) + log K with frequencies as q", log_counts, "counts"),
        "own_end": Reward(
            "closeness to the skill's own end; 0 where a rival's end is closer",
            own_end,
            "ends",
        ),
        "near_end": Reward(
            "closeness to the skill's own end", near_end, "ends", bounds=(0.0, _NEAR)
        ),
        "min_pairs_literal": Reward(
            "min_pairs over all L pairs, zeros included", min_pairs_literal, "pairs"
        ),
    },
)
