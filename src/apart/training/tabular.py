"""The learner for worlds whose states are listed: every state is a row, a batch is a histogram.

The loss of a batch is a sum over cells of count times loss, so that each table gets one dense,
fused gradient expression. With a sweep the whole memory is such a histogram (`learner.model`).
Large tables are touched in part: sampled rows, or the next block of a sweep.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array, Key
from apart.learner import adam, model, q_learning
from apart.learner.adam import Fitted
from apart.learner.counts import Counts
from apart.learner.ends import Ends, Graph
from apart.learner.episodes import Episodes
from apart.learner.model import Model
from apart.learner.replay import Replay
from apart.training import learner as common
from apart.training.learner import Known, Learner, Pieces, Sampled
from apart.training.state import Hyper, Learnt

# In a large world an update that teaches all skills touches part of [S * A, K] only: sampled rows,
# or the next block of a sweep. Scattered rows cost some fifteen times as much as the same number in
# one dense expression, so that they pay late; blocks are as dense as the whole.
ROWS_ABOVE, BLOCKS_ABOVE = 15, 8


class Table(NamedTuple):
    """The method and the world that it learns in."""

    p: Pieces
    next_state: Array  # [S, A, N]
    start: int

    @property
    def n_states(self) -> int:
        """S."""
        return int(self.next_state.shape[0])

    @property
    def cells_per_sample(self) -> float:
        """How many cells of Q there are for each sample of a batch."""
        return self.n_states * self.p.n_actions / self.p.config.batch


Update = Callable[[Learnt, Hyper, Key, Array], Learnt]  # (..., rounds made with this one)


def tabular(
    p: Pieces, next_state: Array, start: int, replay: Replay, instead: Update | None = None
) -> Learner:
    """A learner over all states.

    Args:
        p: the method.
        next_state: [S, A, N].
        start: the state in which every episode starts.
        replay: where samples come from, if anything is learnt from them.
        instead: of a whole update, to measure a part of it.
    """
    t = Table(p, next_state, start)
    # A learned discriminator and every Q but that of a sweep learn from sampled transitions.
    samples = p.discriminator.learned is not None or not p.rule.sweeps

    def update(learnt: Learnt, hyper: Hyper, key: Key, rounds: Array) -> Learnt:
        drawn = common.draw(p, replay, learnt, hyper, key, rounds) if samples else None
        q = _q_step(t, learnt, drawn, hyper)
        # The logits that rewards were read from are overwritten. XLA copies all of them before
        # (a tenth of the time of all pairs) unless it sees that Q comes first.
        rate = common.after(q.params, hyper.discriminator_learning_rate)
        return learnt._replace(q=q, discriminator=_discriminator(t, learnt, drawn, hyper, rate))

    known = Known(
        empty=lambda: model.init(*_cells(t).shape),
        add=lambda now, new: _known(t, now, new),
        graph=lambda now: _graph(t, now),
        start=start,
    )
    return common.assemble(
        p,
        counted=t.n_states,
        replay=replay if samples else None,
        update=instead or update,
        known=known if p.rule.sweeps else None,
    )


def _cells(t: Table) -> Array:
    """[S * A, N] the successors of each cell."""
    return t.next_state.reshape(-1, t.next_state.shape[2])


def _known(t: Table, known: Model, new: Episodes) -> Model:
    """The model after ``new`` episodes."""
    c = t.p.config
    before, next_state = new.obs[:, :-1].reshape(-1), new.obs[:, 1:].reshape(-1)
    cell = before * t.p.n_actions + new.action.reshape(-1)
    if known.visits.shape[1] == 1:
        successor = jnp.zeros_like(cell)
    else:  # equal successors share the first of their places
        successor = jnp.argmax(_cells(t)[cell] == next_state[:, None], axis=1)
    steps = jnp.arange(1, c.decisions + 1)
    weight = jnp.tile(t.p.weight.weight(steps / c.decisions), len(new.skill))
    goes_on = jnp.tile((steps < c.decisions) | c.bootstrap_last, len(new.skill))
    return model.add(known, cell, successor, weight, goes_on)


def _graph(t: Table, known: Model) -> Graph:
    """All transitions of the table as edges, and which of them were seen."""
    per_state = t.p.n_actions * t.next_state.shape[2]
    source = jnp.repeat(jnp.arange(t.n_states), per_state)
    return Graph(source, t.next_state.reshape(-1), known.visits.reshape(-1) > 0)


def _q_step(t: Table, learnt: Learnt, drawn: Sampled | None, hyper: Hyper) -> Fitted:
    """Q after what the batch, or all that is known, teaches it."""
    rule, p = t.p.rule, t.p
    if rule.sweeps and not rule.adam and t.cells_per_sample > BLOCKS_ABOVE:
        return Fitted(_block_step(t, learnt, hyper), None)
    chancy = t.next_state.shape[2] > 1
    large = not rule.adam and t.cells_per_sample > ROWS_ABOVE
    if not rule.sweeps and rule.shares and (chancy or large):
        assert drawn is not None
        return _rows_step(t, learnt, drawn, hyper)
    q, pull = p.q.read(learnt.q.params, None)
    value = p.q.read(common.target_params(learnt), None)[0].max(axis=1)  # [S, K]
    logits = common.logits_of(p, learnt, None)
    if rule.shares:
        taught, target, size = _for_all_skills(t, learnt, drawn, logits, value, hyper)
    else:
        assert drawn is not None
        taught, target, size = _for_own_skill(t, drawn, logits, value, hyper)
    if rule.adam:
        gradient = q_learning.gradient(q, taught, target, size)
        return adam.step(p.q, learnt.q, pull(gradient), hyper.learning_rate)
    return Fitted(q_learning.plain_step(q, taught, target, hyper.learning_rate), None)


def _for_own_skill(
    t: Table, drawn: Sampled, logits: Array, value: Array, hyper: Hyper
) -> tuple[Array, Array, Array]:
    """What each cell is taught how often, where a transition teaches the skill that made it."""
    p, batch = t.p, drawn.batch
    row = common.seen(p, batch)
    reward = drawn.weight * common.rewards_of(p, logits, row, batch.skill, hyper)
    goal = reward + hyper.discount * drawn.proceeds * value[batch.next_obs, batch.skill]
    shape = (t.n_states, p.n_actions, p.config.skills)
    cell = (batch.obs * p.n_actions + batch.action) * p.config.skills + batch.skill
    size = jnp.float32(p.config.batch)
    return _histogram(cell, jnp.ones_like(drawn.weight), shape), _histogram(cell, goal, shape), size


def _for_all_skills(
    t: Table, learnt: Learnt, drawn: Sampled | None, logits: Array, value: Array, hyper: Hyper
) -> tuple[Array, Array, Array]:
    """The same where it teaches every skill: a few numbers per (state, action)."""
    p, (n_states, n_actions, n_successors) = t.p, t.next_state.shape
    if learnt.model is not None:
        known = model.means(learnt.model)
        taught, weight, proceeds = known
        size = jnp.maximum(taught.sum(), 1.0)
    else:
        assert drawn is not None
        cell = drawn.batch.obs * n_actions + drawn.batch.action
        sums = (jnp.ones_like(drawn.weight), drawn.weight, drawn.proceeds)
        taught, weight, proceeds = (_histogram(cell, x, (n_states * n_actions,)) for x in sums)
        size = jnp.float32(p.config.batch)
    shape = (n_states, n_actions, n_successors, 1)
    reward = common.rewards(p, logits, hyper)
    judged = reward[t.next_state] if p.context.after else reward[:, None, None]
    gain = weight.reshape(shape) * judged
    gain += hyper.discount * proceeds.reshape(shape) * value[t.next_state]
    return taught.reshape(n_states, n_actions, 1), gain.sum(2), size


def _rows_step(t: Table, learnt: Learnt, drawn: Sampled, hyper: Hyper) -> Fitted:
    """Q after a batch whose samples teach all skills, each by its own successor."""
    p, batch = t.p, drawn.batch
    cell = batch.obs * p.n_actions + batch.action
    target_q, _ = p.q.read(common.target_params(learnt), None)
    goal = _goals(t, learnt, target_q, common.seen(p, batch), batch.next_obs, hyper)
    target = drawn.weight[:, None] * goal.reward + drawn.proceeds[:, None] * goal.value
    q, pull = p.q.read(learnt.q.params, None)
    if not p.rule.adam:
        return Fitted(q_learning.rows_step(q, cell, target, hyper.learning_rate), None)
    n_cells = t.n_states * p.n_actions
    taught = _histogram(cell, jnp.ones_like(drawn.weight), (n_cells,)).reshape(*q.shape[:2], 1)
    summed = jnp.zeros((n_cells, p.config.skills)).at[cell].add(target).reshape(q.shape)
    gradient = q_learning.gradient(q, taught, summed, jnp.float32(p.config.batch))
    return adam.step(p.q, learnt.q, pull(gradient), hyper.learning_rate)


def _block_step(t: Table, learnt: Learnt, hyper: Hyper) -> Array:
    """Q after a sweep over the next ``batch`` transitions, block after block in turn."""
    p, n_actions = t.p, t.p.n_actions
    assert learnt.model is not None
    q = learnt.q.params
    size = min(max(p.config.batch // n_actions, 1), t.n_states)
    n_blocks = -(-t.n_states // size)
    first = jnp.minimum(learnt.updates % n_blocks * size, t.n_states - size)
    cell = first * n_actions + jnp.arange(size * n_actions)
    known, weight, proceeds = model.means(Model(*(sums[cell] for sums in learnt.model)))
    target = jnp.float32(0.0)
    for n in range(t.next_state.shape[2]):
        next_state = _cells(t)[cell, n]
        judged = next_state if p.context.after else cell // n_actions
        goal = _goals(t, learnt, common.target_params(learnt), judged, next_state, hyper)
        target += weight[:, n, None] * goal.reward + proceeds[:, n, None] * goal.value
    block = jax.lax.dynamic_slice(q, (first, 0, 0), (size, *q.shape[1:]))
    rows = block.reshape(target.shape)
    moved = rows + (hyper.learning_rate * known)[:, None] * (target - rows)
    return jax.lax.dynamic_update_slice(q, moved.reshape(block.shape), (first, 0, 0))


class _Goals(NamedTuple):
    """[n, K] what transitions are worth to every skill, before their weights."""

    reward: Array
    value: Array  # discounted


def _goals(
    t: Table, learnt: Learnt, target_q: Array, judged: Array, next_state: Array, hyper: Hyper
) -> _Goals:
    """Of transitions to ``next_state`` [n] that are judged in ``judged``, reading their rows."""
    reward = common.rewards(t.p, common.logits_of(t.p, learnt, judged), hyper)
    actions = range(t.p.n_actions)
    value = reduce(jnp.maximum, [target_q[next_state, a] for a in actions])
    return _Goals(reward, hyper.discount * value)


def _discriminator(
    t: Table, learnt: Learnt, drawn: Sampled | None, hyper: Hyper, rate: Array
) -> Fitted | Counts | Ends:
    """The discriminator after what the batch teaches it; one that is only kept stays as it is."""
    if not isinstance(learnt.discriminator, Fitted):
        return learnt.discriminator
    assert drawn is not None
    n_skills = t.p.config.skills
    cell = common.seen(t.p, drawn.batch) * n_skills + drawn.batch.skill
    often = _histogram(cell, common.teaching(t.p, drawn), (t.n_states, n_skills))
    weights = often / jnp.maximum(often.sum(), 1.0)
    return common.discriminator_step(t.p, learnt.discriminator, None, weights, hyper, rate)


def _histogram(cell: Array, weight: Array, shape: tuple[int, ...]) -> Array:
    return jnp.zeros(math.prod(shape)).at[cell].add(weight.astype(jnp.float32)).reshape(shape)
