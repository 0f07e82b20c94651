"""The learner for any world: every sample of a batch is a row. States are never listed."""

from __future__ import annotations

from typing import Final, NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array, Key
from apart.learner import adam, groups, q_learning
from apart.learner.adam import Fitted
from apart.learner.episodes import Batch, Sampled
from apart.learner.replay import Replay
from apart.training import edges, objectives
from apart.training import learner as common
from apart.training.learner import Learner
from apart.training.objectives.contract import Given, Objective, for_ever, rewards_of
from apart.training.pieces import Pieces, draw
from apart.training.state import Hyper, Learnt

MOST_SLICES = 32  # actions: behind a network their maximum is faster so (benchmarks/mazes.py)
_LEAST: Final = 8  # skills: with fewer, all numbers are as fast as those of one skill


def sampled(given: Given, replay: Replay) -> Learner:
    """A learner that sees the samples of its batches, nothing else.

    Args:
        given: the method; its rule sweeps not, and is plain only with tables of states.
        replay: where samples come from.
    """
    p, counted = given.p, given.counted
    objective = objectives.build(given)
    way = _way(p) if counted is None else Way()  # in tables the bits of earlier versions stay

    edge = edges.looked_beyond(given, objective)

    def update(learnt: Learnt, hyper: Hyper, key: Key, rounds: Array) -> Learnt:
        drawn = draw(p, replay, learnt.replay, hyper, key, rounds)
        target = _targets(p, objective, learnt, drawn, hyper, way, edge)
        q = _q_step(p, learnt, drawn, hyper, way, _bounded(objective, target, hyper))
        return common.fitted(objective, learnt, drawn, hyper, q)

    return common.assemble(p, objective, replay=replay, update=update)


class Way(NamedTuple):
    """How the last layer of Q is computed for a batch, where that need not be all of it."""

    picks: bool = False  # only the numbers of each sample's own skill
    groups: bool = False  # samples in groups of equal actions


def _way(p: Pieces) -> Way:
    """The one with the least work (benchmarks: mazes.py for groups, by_turns.py for picks)."""
    plain = p.q.read_own is not None  # one head: rows are [A, K]
    picks = plain and p.q.read_at is not None and not p.rule.shares and p.config.skills >= _LEAST
    return Way(picks, plain and not picks and groups.pays(p.n_actions, p.config.batch))


def _q_step(
    p: Pieces, learnt: Learnt, drawn: Sampled, hyper: Hyper, way: Way, target: Array
) -> Fitted:
    batch, size = drawn.batch, p.config.batch
    if p.q.read_at is not None and way.picks:
        own = batch.action * p.config.skills + batch.skill
        q, pull = p.q.read_at(learnt.q.params, batch.obs, own[:, None])
        gradient = q_learning.gradient(q, jnp.ones(()), target, size)
        return adam.step(p.q, learnt.q, pull(gradient), hyper.learning_rate)
    teaches = jnp.ones((1, 1))
    if not p.rule.shares:
        teaches = jax.nn.one_hot(batch.skill, p.config.skills)
    if p.q.read_own is not None and way.groups:
        q, pull = p.q.read_own(learnt.q.params, batch.obs, batch.action)
        gradient = q_learning.gradient(q, teaches, teaches * target, size)
    else:
        q, pull = p.q.read(learnt.q.params, batch.obs)
        gradient = q_learning.sampled_gradient(q, batch.action, teaches, target, size)
    return adam.step(p.q, learnt.q, pull(gradient), hyper.learning_rate)


def _targets(
    p: Pieces,
    objective: Objective,
    learnt: Learnt,
    drawn: Sampled,
    hyper: Hyper,
    way: Way,
    edge: tuple[int, ...],
) -> Array:
    """[B, K] of every skill where transitions are shared, else [B, 1] of the one that acted."""
    batch, kept, params = drawn.batch, learnt.discriminator, common.target_params(learnt)
    if p.q.read_at is not None and way.picks:
        at = jnp.arange(p.n_actions) * p.config.skills + batch.skill[:, None]
        value = p.q.read_at(params, batch.next_obs, at)[0].max(axis=1)  # [B]
    else:
        following = p.q.read(params, batch.next_obs)[0]
        value = q_learning.best(following, way.groups and p.n_actions <= MOST_SLICES)  # [B, K]
        if not p.rule.shares:
            each = jnp.arange(p.config.batch, dtype=batch.skill.dtype)
            value = value[each, batch.skill]
    if edge:
        there, at_edge = batch.next_obs, edges.among(edge, batch.next_obs)
        if p.rule.shares:
            stay = edges.staying(objective, learnt, there, hyper)
            value = jnp.where(at_edge[:, None], stay, value)
        else:
            stay = edges.staying_of(objective, learnt, there, batch.skill, hyper)
            value = jnp.where(at_edge, stay, value)
    weight = drawn.weight * _times(p, objective, learnt, batch, hyper)
    if p.rule.shares:
        reward = weight[:, None] * objective.rewards(kept, common.moves(drawn), hyper)
        return reward + hyper.discount * drawn.proceeds[:, None] * value
    own = rewards_of(objective, kept, common.moves(drawn), batch.skill, hyper)
    return (weight * own + hyper.discount * drawn.proceeds * value)[:, None]


def _times(p: Pieces, objective: Objective, learnt: Learnt, batch: Batch, hyper: Hyper) -> Array:
    """How many times each reward of ``batch`` counts: once, unless an ended episode stays there.

    [] or [B]. Tables that are made of environments stay there step by step (`worlds.search`).
    """
    if objective.stays is None or batch.terminated is None or not p.config.bootstrap_last:
        return jnp.ones(())
    stays = batch.terminated & objective.stays(learnt.discriminator)
    return jnp.where(stays, for_ever(hyper), 1.0)


def _bounded(objective: Objective, target: Array, hyper: Hyper) -> Array:
    """``target`` within what rewards can add up to.

    A maximum over noisy values feeds on itself, the more so the shorter a decision is: in the mazes
    Q grows to many times what there is to gain (docs/paper/apart_spread.md).
    """
    if objective.bounds is None:
        return target
    low, high = objective.bounds
    return jnp.clip(target, low * for_ever(hyper), high * for_ever(hyper))
