"""What a method is, compiled: the contract of a learner, and what both learners share.

A learner knows observations, never worlds. `tabular` (every state is a row) and `sampled` (every
sample is a row) give the same numbers where both apply; the tests hold them to one oracle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from apart._config import Config
from apart._errors import UserError
from apart._types import Array, Key, Obs, Sight
from apart.learner import adam, approximators, counts, draws, ends, q_learning
from apart.learner.adam import Fitted
from apart.learner.approximators import NETWORKS, Approximator, Form, Params, Shape
from apart.learner.counts import Counts
from apart.learner.ends import Ends, Graph
from apart.learner.episodes import Batch, Episodes
from apart.learner.model import Model
from apart.learner.q_learning import Q_RULES, QRule
from apart.learner.replay import Replay
from apart.objective.contexts import CONTEXTS, Context, Moved
from apart.objective.discriminators import DISCRIMINATORS, Discriminator
from apart.objective.rewards import REWARDS, Reward
from apart.objective.time_weights import TIME_WEIGHTS, TimeWeight, reward_factor
from apart.training.state import Hyper, Learnt


class Learner(NamedTuple):
    """Pure functions; all that a program needs to know of a method."""

    init: Callable[[Key, Key, Hyper], Learnt]  # (key of the logits, key of Q, numbers)
    values: Callable[[Params, Obs | None], Array]
    # (parameters of Q, observations [n, ...] or None for all states) -> [n, A, K], of several
    # heads [n, M, A, K]
    learn: Callable[[Learnt, Episodes, Hyper, Key, Array], Learnt]
    # (what is known, new episodes, numbers, key, rounds made with this one)
    judge: Callable[[Learnt, Obs | None, Hyper], tuple[Array, Array]]
    # -> [n, K] scores of the discriminator and rewards of every skill


class Pieces(NamedTuple):
    """A configuration looked up: the records that it names, and its approximators."""

    config: Config
    n_actions: int
    discriminator: Discriminator
    reward: Reward
    weight: TimeWeight
    context: Context
    rule: QRule
    logits: Approximator
    q: Approximator
    heads: int = 1


def pieces(config: Config, n_actions: int, sight: Sight, heads: int = 1) -> Pieces:
    """What ``config`` names, for observations that are seen as ``sight`` says."""
    of_q, of_logits = approximators.parse(config.network)
    discriminator = DISCRIMINATORS[config.discriminator]

    shape = discriminator.shape(config.skills)
    given = jax.eval_shape(REWARDS[config.reward].rewards, jnp.zeros(shape), jnp.float32(1.0))
    if getattr(given, "shape", None) != (config.skills,):
        raise UserError(f"--reward {config.reward} must give a reward for each of the K skills")

    def built(form: Form, shape: Shape) -> Approximator:
        return NETWORKS[form.kind].build(form, sight, shape)

    return Pieces(
        config,
        n_actions,
        discriminator,
        REWARDS[config.reward],
        TIME_WEIGHTS[config.time_weight],
        CONTEXTS[config.context],
        Q_RULES[config.q_rule],
        logits=built(of_logits, shape),
        q=built(of_q, q_learning.shape(n_actions, config.skills, heads)),
        heads=heads,
    )


class Sampled(NamedTuple):
    """A batch, and what decides of its rewards and targets."""

    batch: Batch
    weight: Array  # [B] on the reward: time weight, or 0 and 1 by dropout
    proceeds: Array  # [B] 1 where Q of the next state counts, else 0


def draw(
    p: Pieces, replay: Replay, learnt: Learnt, hyper: Hyper, key: Key, rounds: Array
) -> Sampled:
    """A batch from the replay."""
    bits = jax.random.bits(key, (2, p.config.batch), jnp.uint32)
    batch = replay.sample(learnt.replay, bits[0], rounds)
    weight = reward_factor(
        p.weight, p.config.dropout, batch.time, draws.uniform(bits[1]), hyper.keep
    )
    proceeds = jnp.where(p.config.bootstrap_last | ~batch.last, 1.0, 0.0)
    if batch.cut is not None:
        proceeds = jnp.where(batch.cut, 1.0, proceeds)
    if batch.terminated is not None:
        proceeds = jnp.where(batch.terminated, 0.0, proceeds)
    return Sampled(batch, weight, proceeds)


def seen(p: Pieces, batch: Batch) -> Obs:
    """What the discriminator sees of each sample."""
    return p.context.see(Moved(batch.obs, batch.next_obs))


def logits_of(p: Pieces, learnt: Learnt, obs: Obs | None) -> Array:
    """[n, ...] logits (or what is kept instead) of observations; None: of all states."""
    if isinstance(learnt.discriminator, Counts):
        return counts.read(learnt.discriminator, obs)
    if isinstance(learnt.discriminator, Ends):
        return ends.read(learnt.discriminator, obs)
    return p.logits.read(learnt.discriminator.params, obs)[0]


def sharpness(p: Pieces, hyper: Hyper) -> Array:
    """The number beside logits that scores and rewards are computed from."""
    return hyper.inverse_temperature if p.discriminator.learned else hyper.prior


def rewards(p: Pieces, logits: Array, hyper: Hyper) -> Array:
    """[n, K] the reward of every skill in every row of logits [n, ...]."""
    return jax.vmap(p.reward.rewards, (0, None))(logits, sharpness(p, hyper))


def rewards_of(p: Pieces, logits: Array, row: Array, skill: Array, hyper: Hyper) -> Array:
    """[B] the reward of each sample's own skill in its row of logits [n, ...]."""
    if p.reward.of_skill is None:
        return rewards(p, logits, hyper)[row, skill]
    return jax.vmap(p.reward.of_skill, (None, 0, 0))(logits, row, skill)


def discriminator_step(
    p: Pieces,
    fitted: Fitted,
    obs: Obs | None,
    weights: Array,
    hyper: Hyper,
    rate: Array,
) -> Fitted:
    """The discriminator after one Adam step.

    Args:
        p: the method.
        fitted: the discriminator.
        obs: the observations of the rows; None: all states.
        weights: [n, K] how often each skill was seen in each row, in shares of the batch.
        hyper: the numbers.
        rate: of Adam.
    """
    learned = p.discriminator.learned
    assert learned is not None
    logits, pull = p.logits.read(fitted.params, obs)
    beta = hyper.inverse_temperature if p.discriminator.beta_in_loss else jnp.float32(1.0)
    gradient = jax.vmap(learned.gradient, (0, 0, None))(logits, weights, beta)
    moved = adam.step(p.logits, fitted, pull(gradient), rate)
    return moved._replace(params=p.logits.scaled(moved.params, 1.0 - hyper.fading))


def teaching(p: Pieces, sampled: Sampled) -> Array:
    """[B] 1 for samples that the discriminator learns from, else 0."""
    ones = jnp.ones_like(sampled.weight)
    return ones * sampled.batch.last if p.context.only_last else ones


def after(first: Params, number: Array) -> Array:
    """``number``, in a way that needs ``first`` (finite) to be there."""
    part: Array = jax.tree.leaves(first)[0].ravel()[0]
    return number + 0.0 * part


def target_params(learnt: Learnt) -> Params:
    """The parameters that targets are computed with."""
    return learnt.q.params if learnt.target_q is None else learnt.target_q


def evaluated(learnt: Learnt) -> Params:
    """The parameters of Q that are evaluated."""
    return learnt.q.params if learnt.average_q is None else learnt.average_q


class Known(NamedTuple):
    """How known transitions are kept."""

    empty: Callable[[], Model]
    add: Callable[[Any, Episodes], Model]  # (model, new episodes)
    graph: Callable[[Any], Graph]  # those that were seen, as edges
    start: int


def assemble(
    p: Pieces,
    *,
    counted: int | None,
    replay: Replay | None,
    update: Callable[[Learnt, Hyper, Key, Array], Learnt],
    known: Known | None = None,
) -> Learner:
    """A learner from its own update and what all learners do alike.

    Args:
        p: the method.
        counted: number of states, for discriminators that count in them.
        replay: where sampled transitions come from; None where nothing is sampled.
        update: one update, without what follows it.
        known: the known transitions; None where nothing sweeps over them.
    """
    c = p.config

    def remember(learnt: Learnt, new: Episodes, hyper: Hyper, rounds: Array) -> Learnt:
        """Put new episodes where updates will look for them."""
        if replay is not None:
            learnt = learnt._replace(replay=replay.insert(learnt.replay, new, rounds - 1))
        if known is not None:
            learnt = learnt._replace(model=known.add(learnt.model, new))
        if isinstance(learnt.discriminator, Counts):
            kept = counts.add_all(learnt.discriminator, new.obs[:, -1], new.skill, hyper.fading)
            learnt = learnt._replace(discriminator=kept)
        if isinstance(learnt.discriminator, Ends):
            assert known is not None
            seen = ends.look(learnt.discriminator, known.graph(learnt.model), rounds)
            learnt = learnt._replace(discriminator=seen)
        return learnt

    def init(key_logits: Key, key_q: Key, hyper: Hyper) -> Learnt:
        q = p.q.init(key_q, hyper.init_q)
        discriminator: Fitted | Counts | Ends
        if p.discriminator.learned:
            discriminator = adam.fit(p.logits, p.logits.init(key_logits, hyper.init_logits))
        elif p.discriminator.over_known:
            assert counted is not None
            assert known is not None
            discriminator = ends.init(counted, c.skills, known.start)
        else:
            assert counted is not None
            discriminator = counts.init(counted, c.skills)
        return Learnt(
            discriminator=discriminator,
            q=adam.fit(p.q, q) if p.rule.adam else Fitted(q, None),
            target_q=jax.tree.map(jnp.copy, q) if c.target_period else None,
            average_q=jax.tree.map(jnp.copy, q) if c.average_rate else None,
            replay=replay.init() if replay else None,
            model=known.empty() if known else None,
            updates=jnp.int32(0),
        )

    def one_update(learnt: Learnt, hyper: Hyper, key: Key, rounds: Array) -> Learnt:
        learnt = update(learnt, hyper, key, rounds)
        learnt = learnt._replace(updates=learnt.updates + 1)
        if learnt.target_q is None:
            return learnt
        due = learnt.updates % c.target_period == 0
        copied = jax.lax.cond(due, lambda now: now.q.params, lambda now: now.target_q, learnt)
        return learnt._replace(target_q=copied)

    def learn(learnt: Learnt, episodes: Episodes, hyper: Hyper, key: Key, rounds: Array) -> Learnt:
        learnt = remember(learnt, episodes, hyper, rounds)
        if c.updates_per_episode == 1:
            learnt = one_update(learnt, hyper, key, rounds)
        elif c.updates_per_episode > 1:
            learnt = jax.lax.fori_loop(
                0,
                c.updates_per_episode,
                lambda i, now: one_update(now, hyper, jax.random.fold_in(key, i), rounds),
                learnt,
            )
        if learnt.average_q is None:
            return learnt
        # Early on the average is the mean of all rounds so far.
        rate = jnp.maximum(c.average_rate, 1.0 / rounds)
        average = jax.tree.map(lambda a, q: a + rate * (q - a), learnt.average_q, learnt.q.params)
        return learnt._replace(average_q=average)

    def judge(learnt: Learnt, obs: Obs | None, hyper: Hyper) -> tuple[Array, Array]:
        logits = logits_of(p, learnt, obs)
        scores = jax.vmap(p.discriminator.scores, (0, None))(logits, sharpness(p, hyper))
        return scores, rewards(p, logits, hyper)

    return Learner(init, lambda params, obs: p.q.read(params, obs)[0], learn, judge)
