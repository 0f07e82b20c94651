"""Discriminators: how the logits of one state are shaped, scored and trained.

All functions see ONE state. ``loss`` is the loss of one sample (this skill was seen here);
``gradient`` is the gradient of the sum of that loss over everything seen here, given only how
often each skill was: in a finite world a batch is such a histogram. ``counts``, ``ends`` and
``bins`` have neither: there the "logits" are what is kept (`learner.counts`, `learner.ends`). A
discriminator knows no reward. To add one, write the functions and one line in ``DISCRIMINATORS``;
the conformance tests pick it up.

Besides the logits, scores and rewards get one number, the ``sharpness``: the inverse temperature
beta of logits, or the prior of what is counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from apart._lazy import jax, jnp
from apart._registry import Registry
from apart._types import Array
from apart.objective import ensemble, pairs


@dataclass(frozen=True)
class Learned:
    """How logits are trained.

    Attributes:
        loss: (logits, skill, inverse temperature) -> loss of one sample.
        gradient: (logits, counts [K], inverse temperature) -> sum over skills of
            counts[z] * d loss(logits, z) / d logits.
    """

    loss: Callable[[Array, Array, Array], Array]
    gradient: Callable[[Array, Array, Array], Array]


@dataclass(frozen=True)
class Discriminator:
    """The logits of one state and what is done with them.

    Attributes:
        summary: one line for people.
        shape: K -> shape of the logits of one state.
        scores: (logits, sharpness) -> [K]; their softmax is q(z | s), their argmax the prediction.
        gives: what its numbers are, as rewards ask for them (`Reward.reads`).
        learned: its loss and gradient; None for a discriminator that is only kept.
        over_known: whether it looks at all that is known of a world: in a table at all known
            transitions, which a sweep keeps; elsewhere at a memory of observations.
        reads_beta: whether the inverse temperature has a part in its loss or in the rewards of
            its logits.
        beta_in_loss: whether the loss is that of softmax(beta o), or of softmax(o).
        pairwise: whether there is a logit for each pair of skills.
        embeds: the most numbers of an observation between which it learns distances, which a table
            need not; 0: it learns none.
        by_place: whether it sees the places that a world counts (cells of a plane, bins), not
            observations.
        heading: what its numbers are, above pictures of them.
    """

    summary: str
    shape: Callable[[int], tuple[int, ...]]
    scores: Callable[[Array, Array], Array]
    gives: str
    learned: Learned | None
    over_known: bool = False
    reads_beta: bool = False
    beta_in_loss: bool = False
    pairwise: bool = False
    embeds: int = 0
    by_place: bool = False
    heading: str = "What the discriminator says"


def one_vs_all_loss(logits: Array, skill: Array, inverse_temperature: Array) -> Array:
    """Cross-entropy of softmax(beta o), J^ova in section 2.2; logits [K]."""
    return -jax.nn.log_softmax(inverse_temperature * logits)[skill]


def one_vs_all_gradient(logits: Array, counts: Array, inverse_temperature: Array) -> Array:
    """[K] beta (n softmax(beta o) - counts) with n the sum of counts."""
    posterior = jax.nn.softmax(inverse_temperature * logits)
    return inverse_temperature * (counts.sum() * posterior - counts)


def all_pairs_loss(logits: Array, skill: Array, inverse_temperature: Array) -> Array:
    """Mean binary cross-entropy over the K - 1 pairs of ``skill`` (equation 4, don't-cares masked).

    (1 + tanh o) / 2 = sigmoid(2 o), so a pair costs softplus(-2 o) or softplus(2 o).
    Logits [R, C]; the inverse temperature has no part in it.
    """
    del inverse_temperature
    first, second = pairs.members(pairs.n_skills_of(logits))
    cost = jnp.where(first == skill, jax.nn.softplus(-2.0 * logits), 0.0)
    cost += jnp.where(second == skill, jax.nn.softplus(2.0 * logits), 0.0)
    return cost.sum() / (pairs.n_skills_of(logits) - 1)


def all_pairs_gradient(logits: Array, counts: Array, inverse_temperature: Array) -> Array:
    """[R, C] ((n_i + n_j) y - (n_i - n_j)) / (K - 1) with y = tanh(o)."""
    del inverse_temperature
    return _pair_gradient(logits, *pairs.spread(counts / (counts.shape[0] - 1)))


def _pair_gradient(logits: Array, first: Array, second: Array) -> Array:
    """Of ``first`` softplus(-2 o) + ``second`` softplus(2 o): what says either skill of a pair.

    The division comes last, so that XLA keeps the gradient; behind a product it would compute it
    twice, for each of Adam's moments.
    """
    e = pairs.odds(logits)
    return (second * e - first) / (0.5 * e + 0.5)


def dont_cares_loss(logits: Array, skill: Array, inverse_temperature: Array) -> Array:
    """Equation 4 unmasked: the mean over all L pairs, those without ``skill`` pulled to 0."""
    del inverse_temperature
    first, second = pairs.members(pairs.n_skills_of(logits))
    target = jnp.where(first == skill, 1.0, jnp.where(second == skill, 0.0, 0.5))
    cost = target * jax.nn.softplus(-2.0 * logits) + (1 - target) * jax.nn.softplus(2.0 * logits)
    return cost.mean()


def dont_cares_gradient(logits: Array, counts: Array, inverse_temperature: Array) -> Array:
    """[R, C] (n y - (n_i - n_j)) / L with n the sum of counts."""
    del inverse_temperature
    share = counts / logits.size
    first, second = pairs.spread(share)
    neither = 0.5 * (share.sum() - first - second)
    return _pair_gradient(logits, first + neither, second + neither)


def _logits_as_scores(logits: Array, inverse_temperature: Array) -> Array:
    return inverse_temperature * logits


def _counts_as_scores(counts: Array, prior: Array) -> Array:
    """[K] log (n_z + prior / K): the share of z among the counts and ``prior`` pseudo-counts."""
    return jnp.log(counts + prior / counts.shape[0])


def _votes(logits: Array, inverse_temperature: Array) -> Array:
    """[K] the sum of y_zj over j: the code matrix times the outputs (section 3)."""
    del inverse_temperature
    return pairs.total(pairs.votes(logits))


_GOALS: Final = "How a place is claimed (distance to goals)"

DISCRIMINATORS: Final = Registry(
    "discriminator",
    {
        "one_vs_all": Discriminator(
            "K logits, softmax cross-entropy",
            lambda n_skills: (n_skills,),
            _logits_as_scores,
            "logits",
            Learned(one_vs_all_loss, one_vs_all_gradient),
            reads_beta=True,
            beta_in_loss=True,
        ),
        "one_vs_all_sharpened": Discriminator(
            "one_vs_all trained with beta = 1; beta sharpens the reward only",
            lambda n_skills: (n_skills,),
            _logits_as_scores,
            "logits",
            Learned(one_vs_all_loss, one_vs_all_gradient),
            reads_beta=True,
        ),
        "all_pairs": Discriminator(
            "a logit for each of the K (K - 1) / 2 pairs; pairs with the true skill are trained",
            pairs.shape,
            _votes,
            "pairs",
            Learned(all_pairs_loss, all_pairs_gradient),
            pairwise=True,
        ),
        "all_pairs_dont_cares": Discriminator(
            "all_pairs with pairs without the true skill trained towards 0",
            pairs.shape,
            _votes,
            "pairs",
            Learned(dont_cares_loss, dont_cares_gradient),
            pairwise=True,
        ),
        "ensemble": Discriminator(
            f"{ensemble.MEMBERS} x K logits that differ in their initial values only (DISDAIN)",
            ensemble.shape,
            ensemble.scores,
            "ensemble",
            Learned(ensemble.loss, ensemble.gradient),
        ),
        "counts": Discriminator(
            "how often each skill recently ended in a state; not trained",
            lambda n_skills: (n_skills,),
            _counts_as_scores,
            "counts",
            None,
            heading="How a place is claimed (counts)",
        ),
        "ends": Discriminator(
            "how near the state is in which each skill should end; not trained",
            lambda n_skills: (n_skills,),
            _counts_as_scores,
            "ends",
            None,
            over_known=True,
            heading=_GOALS,
        ),
        "bins": Discriminator(
            "ends on the graph of visited bins (privileged), in worlds that have bins",
            lambda n_skills: (n_skills,),
            _counts_as_scores,
            "ends",
            None,
            over_known=True,
            by_place=True,
            heading=_GOALS,
        ),
        "learned_ends": Discriminator(
            "ends with a distance learned from transitions, in worlds that are not tables",
            lambda n_skills: (n_skills,),
            _counts_as_scores,
            "ends",
            None,
            over_known=True,
            embeds=128,
            heading=_GOALS,
        ),
    },
)
