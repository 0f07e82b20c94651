"""The learner for any world: every sample of a batch is a row. States are never listed."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from apart._types import Array, Key
from apart.learner import adam, groups, q_learning
from apart.learner.adam import Fitted
from apart.learner.counts import Counts
from apart.learner.ends import Ends
from apart.learner.replay import Replay
from apart.training import learner as common
from apart.training.learner import Learner, Pieces, Sampled
from apart.training.state import Hyper, Learnt


def sampled(p: Pieces, replay: Replay, counted: int | None) -> Learner:
    """A learner that sees the samples of its batches, nothing else.

    Args:
        p: the method; its rule sweeps not, and is plain only with tables of states.
        replay: where samples come from.
        counted: number of states, where observations are their numbers.
    """
    # In tables the bits of earlier versions stay.
    grouped = counted is None and groups.pays(p.n_actions, p.config.batch)

    def update(learnt: Learnt, hyper: Hyper, key: Key, rounds: Array) -> Learnt:
        drawn = common.draw(p, replay, learnt, hyper, key, rounds)
        q = _q_step(p, learnt, drawn, hyper, grouped)
        # The reward is that of the discriminator before its step (Algorithm 1).
        rate = common.after(q.params, hyper.discriminator_learning_rate)
        return learnt._replace(q=q, discriminator=_discriminator(p, learnt, drawn, hyper, rate))

    return common.assemble(p, counted=counted, replay=replay, update=update)


def _q_step(p: Pieces, learnt: Learnt, drawn: Sampled, hyper: Hyper, grouped: bool) -> Fitted:
    batch = drawn.batch
    each = jnp.arange(p.config.batch, dtype=batch.skill.dtype)
    value = q_learning.best(p.q.read(common.target_params(learnt), batch.next_obs)[0])  # [B, K]
    logits = common.logits_of(p, learnt, common.seen(p, batch))
    if p.rule.shares:
        reward = drawn.weight[:, None] * common.rewards(p, logits, hyper)
        target = reward + hyper.discount * drawn.proceeds[:, None] * value
        teaches = jnp.ones((1, 1))
    else:
        reward = drawn.weight * common.rewards_of(p, logits, each, batch.skill, hyper)
        own = value[each, batch.skill]
        target = (reward + hyper.discount * drawn.proceeds * own)[:, None]
        teaches = jax.nn.one_hot(batch.skill, p.config.skills)
    if grouped and p.q.read_own is not None:
        q, pull = p.q.read_own(learnt.q.params, batch.obs, batch.action)
        gradient = q_learning.gradient(q, teaches, teaches * target, p.config.batch)
    else:
        q, pull = p.q.read(learnt.q.params, batch.obs)
        gradient = q_learning.sampled_gradient(q, batch.action, teaches, target, p.config.batch)
    return adam.step(p.q, learnt.q, pull(gradient), hyper.learning_rate)


def _discriminator(
    p: Pieces, learnt: Learnt, drawn: Sampled, hyper: Hyper, rate: Array
) -> Fitted | Counts | Ends:
    if not isinstance(learnt.discriminator, Fitted):
        return learnt.discriminator
    teaches = common.teaching(p, drawn)
    weights = jax.nn.one_hot(drawn.batch.skill, p.config.skills) * teaches[:, None]
    weights /= jnp.maximum(teaches.sum(), 1.0)
    obs = common.seen(p, drawn.batch)
    return common.discriminator_step(p, learnt.discriminator, obs, weights, hyper, rate)
