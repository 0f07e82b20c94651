"""The learner for any world: every sample of a batch is a row. States are never listed."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from apart._types import Array, Key
from apart.learner import adam, groups, q_learning
from apart.learner.adam import Fitted
from apart.learner.episodes import Sampled
from apart.learner.replay import Replay
from apart.training import learner as common
from apart.training import objectives
from apart.training.learner import Learner
from apart.training.objectives.contract import Given, Objective, rewards_of
from apart.training.pieces import Pieces, draw
from apart.training.state import Hyper, Learnt

MOST_SLICES = 32  # actions: behind a network their maximum is faster so (benchmarks/mazes.py)


def sampled(given: Given, replay: Replay) -> Learner:
    """A learner that sees the samples of its batches, nothing else.

    Args:
        given: the method; its rule sweeps not, and is plain only with tables of states.
        replay: where samples come from.
    """
    p, counted = given.p, given.counted
    objective = objectives.build(given)
    # In tables the bits of earlier versions stay.
    grouped = counted is None and groups.pays(p.n_actions, p.config.batch)
    grouped = grouped and p.q.read_own is not None

    def update(learnt: Learnt, hyper: Hyper, key: Key, rounds: Array) -> Learnt:
        drawn = draw(p, replay, learnt.replay, hyper, key, rounds)
        q = _q_step(p, objective, learnt, drawn, hyper, grouped)
        return common.fitted(objective, learnt, drawn, hyper, q)

    return common.assemble(p, objective, replay=replay, update=update)


def _q_step(
    p: Pieces, objective: Objective, learnt: Learnt, drawn: Sampled, hyper: Hyper, grouped: bool
) -> Fitted:
    batch, kept = drawn.batch, learnt.discriminator
    each = jnp.arange(p.config.batch, dtype=batch.skill.dtype)
    following = p.q.read(common.target_params(learnt), batch.next_obs)[0]
    by_slices = grouped and p.n_actions <= MOST_SLICES
    value = q_learning.best(following, by_slices)  # [B, K]
    if p.rule.shares:
        reward = drawn.weight[:, None] * objective.rewards(kept, common.moves(drawn), hyper)
        target = reward + hyper.discount * drawn.proceeds[:, None] * value
        teaches = jnp.ones((1, 1))
    else:
        own = rewards_of(objective, kept, common.moves(drawn), batch.skill, hyper)
        onward = drawn.proceeds * value[each, batch.skill]
        target = (drawn.weight * own + hyper.discount * onward)[:, None]
        teaches = jax.nn.one_hot(batch.skill, p.config.skills)
    if objective.bounds is not None:
        # A maximum over noisy values feeds on itself, the more so the shorter a decision is: in the
        # mazes Q grows to many times what there is to gain (docs/paper/apart_spread.md).
        longest = 1.0 / jnp.maximum(1.0 - hyper.discount, 1e-6)
        low, high = objective.bounds
        target = jnp.clip(target, low * longest, high * longest)
    if grouped and p.q.read_own is not None:
        q, pull = p.q.read_own(learnt.q.params, batch.obs, batch.action)
        gradient = q_learning.gradient(q, teaches, teaches * target, p.config.batch)
    else:
        q, pull = p.q.read(learnt.q.params, batch.obs)
        gradient = q_learning.sampled_gradient(q, batch.action, teaches, target, p.config.batch)
    return adam.step(p.q, learnt.q, pull(gradient), hyper.learning_rate)
