"""What a method is, compiled: the contract of a learner, and what both learners share.

A learner knows observations, never worlds. `tabular` (every state is a row) and `sampled` (every
sample is a row) give the same numbers where both apply; the tests hold them to one oracle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array, Key, Obs
from apart.learner import adam
from apart.learner.adam import Fitted
from apart.learner.approximators import Params
from apart.learner.episodes import Episodes, Sampled
from apart.learner.replay import Replay
from apart.objective.contexts import Moved
from apart.training.objectives.contract import Met, Objective
from apart.training.pieces import Known, Pieces
from apart.training.state import Hyper, Learnt


class Pace(NamedTuple):
    """What a round amounts to where its episodes may have ended before their T steps."""

    updates: Array  # [] int32: that are due after it
    share: Array  # [] float32: of the steps of a full round, those that were made
    rounds: Array  # [] float32: full rounds that all steps so far amount to


class Learner(NamedTuple):
    """Pure functions; all that a program needs to know of a method."""

    init: Callable[[Key, Key, Hyper], Learnt]  # (key of the objective, key of Q, numbers)
    values: Callable[[Params, Obs | None], Array]
    # (parameters of Q, observations [n, ...] or None for all states) -> [n, A, K], of several
    # heads [n, M, A, K]
    learn: Callable[[Learnt, Episodes, Hyper, Key, Array, Pace | None], Learnt]
    # (what is known, new episodes, numbers, key, rounds made with this one, None: a full round)
    objective: Objective  # of `Learnt.discriminator`


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


def assemble(
    p: Pieces,
    objective: Objective,
    *,
    replay: Replay | None,
    update: Callable[[Learnt, Hyper, Key, Array], Learnt],
    known: Known | None = None,
    whole: bool = True,
) -> Learner:
    """A learner from its own update and what all learners do alike.

    Args:
        p: the method.
        objective: what gives the rewards.
        replay: where sampled transitions come from; None where nothing is sampled.
        update: one update, without what follows it.
        known: the known transitions; None where nothing sweeps over them.
        whole: whether updates are of all of Q, and leave it to this function to average it and to
            hold the skills that learn no more; else they do so for the part that they move.
    """
    c = p.config

    def init(key_objective: Key, key_q: Key, hyper: Hyper) -> Learnt:
        q = p.q.init(key_q, hyper.init_q)
        return Learnt(
            discriminator=objective.init(key_objective, hyper),
            q=adam.fit(p.q, q) if p.rule.adam else Fitted(q, None),
            target_q=jax.tree.map(jnp.copy, q) if c.target_period else None,
            average_q=jax.tree.map(jnp.copy, q) if c.average_rate else None,
            replay=replay.init() if replay else None,
            model=known.empty() if known else None,
            updates=jnp.int32(0),
        )

    def remember(
        learnt: Learnt, new: Episodes, hyper: Hyper, rounds: Array, pace: Pace | None
    ) -> Learnt:
        """Put new episodes where updates will look for them."""
        if replay is not None:
            learnt = learnt._replace(replay=replay.insert(learnt.replay, new, rounds - 1))
        graph = None
        if known is not None:
            model = known.add(learnt.model, new)
            learnt, graph = learnt._replace(model=model), lambda: known.graph(model)
        met = Met(new, rounds, graph, None if pace is None else pace.rounds)
        return learnt._replace(discriminator=objective.meet(learnt.discriminator, met, hyper))

    def one_update(learnt: Learnt, hyper: Hyper, key: Key, rounds: Array) -> Learnt:
        now = update(learnt, hyper, key, rounds)
        learnt = _held(p, objective, learnt, now) if whole else now
        learnt = learnt._replace(updates=learnt.updates + 1)
        if learnt.target_q is None:
            return learnt
        due = learnt.updates % c.target_period == 0
        copied = jax.lax.cond(due, lambda now: now.q.params, lambda now: now.target_q, learnt)
        return learnt._replace(target_q=copied)

    def learn(
        learnt: Learnt,
        episodes: Episodes,
        hyper: Hyper,
        key: Key,
        rounds: Array,
        pace: Pace | None = None,
    ) -> Learnt:
        learnt = remember(learnt, episodes, hyper, rounds, pace)
        if c.updates_per_episode == 1 and pace is None:
            learnt = one_update(learnt, hyper, key, rounds)
        elif c.updates_per_episode == 1 and pace is not None:
            learnt = jax.lax.cond(
                pace.updates > 0, lambda now: one_update(now, hyper, key, rounds), _same, learnt
            )
        elif c.updates_per_episode > 1:
            learnt = jax.lax.fori_loop(
                0,
                c.updates_per_episode if pace is None else pace.updates,
                lambda i, now: one_update(now, hyper, jax.random.fold_in(key, i), rounds),
                learnt,
            )
        if learnt.average_q is None or not whole:
            return learnt
        # Early on the average is the mean of all rounds so far.
        if pace is None:
            rate = jnp.maximum(c.average_rate, 1.0 / rounds)
        else:
            rate = pace.share * jnp.maximum(c.average_rate, 1.0 / pace.rounds)
        average = jax.tree.map(lambda a, q: a + rate * (q - a), learnt.average_q, learnt.q.params)
        return learnt._replace(average_q=average)

    return Learner(init, lambda params, obs: p.q.read(params, obs)[0], learn, objective)


def _same(learnt: Learnt) -> Learnt:
    return learnt


def _held(p: Pieces, objective: Objective, before: Learnt, now: Learnt) -> Learnt:
    """``now``, in which Q of the skills that learn no more is as ``before``, where it can be."""
    if objective.learns is None or p.q.of_skills is None:
        return now
    learns = objective.learns(before.discriminator)
    params = p.q.of_skills(learns, now.q.params, before.q.params)
    return now._replace(q=now.q._replace(params=params))


def fitted(
    objective: Objective, learnt: Learnt, drawn: Sampled | None, hyper: Hyper, q: Fitted
) -> Learnt:
    """``learnt`` with Q as it is after an update, and the objective after the same batch.

    The reward is that of the objective before its step (Algorithm 1). The logits that rewards were
    read from are overwritten: XLA copies all of them before (a tenth of the time of all pairs)
    unless it sees that Q comes first.
    """
    if objective.fit is None:
        return learnt._replace(q=q)
    assert drawn is not None
    rate = after(q.params, hyper.discriminator_learning_rate)
    kept = objective.fit(learnt.discriminator, drawn, hyper, rate)
    return learnt._replace(q=q, discriminator=kept)


def moves(drawn: Sampled) -> Moved:
    """The transitions of a batch as the objective sees them."""
    batch = drawn.batch
    if batch.place is not None:
        return Moved(batch.place[:, 0], batch.place[:, 1])
    return Moved(batch.obs, batch.next_obs, batch.path)


def judged(objective: Objective, learnt: Learnt, moved: Moved, hyper: Hyper) -> tuple[Array, Array]:
    """[n, K] scores in the states after transitions, and the rewards of these for every skill."""
    kept = learnt.discriminator
    scores = objective.scores(kept, moved.after, hyper)
    if objective.of_states is not None:
        paid = moved.after if objective.after else moved.before
        return scores, objective.of_states(kept, paid, hyper)
    return scores, objective.rewards(kept, moved, hyper)
