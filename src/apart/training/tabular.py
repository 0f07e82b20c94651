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
from apart.learner.ends import Graph
from apart.learner.episodes import Episodes, Sampled
from apart.learner.model import Model
from apart.learner.replay import Replay
from apart.objective.contexts import Moved
from apart.objective.objectives import OBJECTIVES
from apart.training import edges, objectives
from apart.training import learner as common
from apart.training.learner import Learner
from apart.training.objectives.contract import Given, Objective, rewards_of
from apart.training.pieces import Known, Pieces, draw
from apart.training.state import Hyper, Learnt


class Table(NamedTuple):
    """The method, what gives its rewards, and the world that it learns in."""

    p: Pieces
    objective: Objective
    next_state: Array  # [S, A, N]
    edge: tuple[int, ...] = ()  # states that no episode ever leaves, where what follows counts

    @property
    def n_states(self) -> int:
        """S."""
        return int(self.next_state.shape[0])

    @property
    def cells_per_sample(self) -> float:
        """How many cells of Q there are for each sample of a batch."""
        return self.n_states * self.p.n_actions / self.p.config.batch


Update = Callable[[Learnt, Hyper, Key, Array], Learnt]  # (..., rounds made with this one)


def tabular(given: Given, replay: Replay, instead: Update | None = None) -> Learner:
    """A learner over all states.

    Args:
        given: the method and the table.
        replay: where samples come from, if anything is learnt from them.
        instead: of a whole update, to measure a part of it.
    """
    p, next_state = given.p, given.next_state
    assert next_state is not None
    cells = next_state.reshape(-1, next_state.shape[2])
    known = Known(
        empty=lambda: model.init(*cells.shape),
        add=lambda now, new: _known(p, cells, now, new),
        graph=lambda now: _graph(next_state, now),
    )
    kept = known if p.rule.sweeps else None
    objective = objectives.build(given._replace(known=kept, listed=True))
    t = Table(p, objective, next_state, edges.looked_beyond(given, objective))
    # What an objective learns, and every Q but that of a sweep, comes from sampled transitions.
    samples = objective.fit is not None or not p.rule.sweeps

    in_blocks = p.rule.sweeps and not p.rule.adam and t.cells_per_sample > q_learning.BLOCKS_ABOVE

    def update(learnt: Learnt, hyper: Hyper, key: Key, rounds: Array) -> Learnt:
        drawn = draw(p, replay, learnt.replay, hyper, key, rounds) if samples else None
        average = learnt.average_q
        if in_blocks:
            q, average = _block_step(t, learnt, hyper, rounds)
        else:
            q = _q_step(t, learnt, drawn, hyper)
        return common.fitted(objective, learnt, drawn, hyper, q)._replace(average_q=average)

    return common.assemble(
        p,
        objective,
        replay=replay if samples else None,
        update=instead or update,
        known=kept,
        whole=not in_blocks,
    )


def _cells(t: Table) -> Array:
    """[S * A, N] the successors of each cell."""
    return t.next_state.reshape(-1, t.next_state.shape[2])


def _known(p: Pieces, cells: Array, known: Model, new: Episodes) -> Model:
    """The model after ``new`` episodes; ``cells`` [S * A, N] are successors."""
    c = p.config
    before, next_state = new.obs[:, :-1].reshape(-1), new.obs[:, 1:].reshape(-1)
    cell = before * p.n_actions + new.action.reshape(-1)
    if known.visits.shape[1] == 1:
        successor = jnp.zeros_like(cell)
    else:  # equal successors share the first of their places
        successor = jnp.argmax(cells[cell] == next_state[:, None], axis=1)
    steps = jnp.arange(1, c.decisions + 1)
    weight = jnp.tile(p.weight.weight(steps / c.decisions), len(new.skill))
    goes_on = jnp.tile((steps < c.decisions) | c.bootstrap_last, len(new.skill))
    return model.add(known, cell, successor, weight, goes_on)


def _graph(next_state: Array, known: Model) -> Graph:
    """All transitions of the table as edges, and which of them were seen."""
    n_states, n_actions, n_successors = next_state.shape
    source = jnp.repeat(jnp.arange(n_states), n_actions * n_successors)
    return Graph(source, next_state.reshape(-1), known.visits.reshape(-1) > 0)


def _q_step(t: Table, learnt: Learnt, drawn: Sampled | None, hyper: Hyper) -> Fitted:
    """Q after what the batch, or all that is known, teaches it."""
    rule, p = t.p.rule, t.p
    chancy = t.next_state.shape[2] > 1
    large = not rule.adam and t.cells_per_sample > q_learning.ROWS_ABOVE
    by_sample = chancy or large or OBJECTIVES[p.config.objective].by_episode
    if not rule.sweeps and rule.shares and by_sample:
        assert drawn is not None
        return _rows_step(t, learnt, drawn, hyper)
    q, pull = p.q.read(learnt.q.params, None)
    value = p.q.read(common.target_params(learnt), None)[0].max(axis=1)  # [S, K]
    if t.edge:
        edge = jnp.asarray(t.edge)
        value = value.at[edge].set(edges.staying(t.objective, learnt, edge, hyper))
    if rule.shares:
        taught, target, size = _for_all_skills(t, learnt, drawn, value, hyper)
    else:
        assert drawn is not None
        taught, target, size = _for_own_skill(t, learnt, drawn, value, hyper)
    if rule.adam:
        gradient = q_learning.gradient(q, taught, target, size)
        return adam.step(p.q, learnt.q, pull(gradient), hyper.learning_rate)
    return Fitted(q_learning.plain_step(q, taught, target, hyper.learning_rate), None)


def _for_own_skill(
    t: Table, learnt: Learnt, drawn: Sampled, value: Array, hyper: Hyper
) -> tuple[Array, Array, Array]:
    """What each cell is taught how often, where a transition teaches the skill that made it."""
    p, batch = t.p, drawn.batch
    own = rewards_of(t.objective, learnt.discriminator, common.moves(drawn), batch.skill, hyper)
    reward = drawn.weight * own
    goal = reward + hyper.discount * drawn.proceeds * value[batch.next_obs, batch.skill]
    shape = (t.n_states, p.n_actions, p.config.skills)
    cell = (batch.obs * p.n_actions + batch.action) * p.config.skills + batch.skill
    size = jnp.float32(p.config.batch)
    return _histogram(cell, jnp.ones_like(drawn.weight), shape), _histogram(cell, goal, shape), size


def _for_all_skills(
    t: Table, learnt: Learnt, drawn: Sampled | None, value: Array, hyper: Hyper
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
    gain = weight.reshape(shape) * of_moves(t.objective, learnt, t.next_state, hyper)
    gain += hyper.discount * proceeds.reshape(shape) * value[t.next_state]
    return taught.reshape(n_states, n_actions, 1), gain.sum(2), size


def of_moves(objective: Objective, learnt: Learnt, next_state: Array, hyper: Hyper) -> Array:
    """[S, A, N, K] (or what broadcasts to it) the rewards of all moves of a table."""
    kept = learnt.discriminator
    if objective.of_states is not None:
        reward = objective.of_states(kept, None, hyper)
        return reward[next_state] if objective.after else reward[:, None, None]
    n_states, n_actions, n_successors = next_state.shape
    before = jnp.repeat(jnp.arange(n_states), n_actions * n_successors)
    rewards = objective.rewards(kept, Moved(before, next_state.reshape(-1)), hyper)
    return rewards.reshape(*next_state.shape, -1)


def _rows_step(t: Table, learnt: Learnt, drawn: Sampled, hyper: Hyper) -> Fitted:
    """Q after a batch whose samples teach all skills, each by its own successor."""
    p, batch = t.p, drawn.batch
    cell = batch.obs * p.n_actions + batch.action
    target_q, _ = p.q.read(common.target_params(learnt), None)
    goal = _goals(t, learnt, target_q, common.moves(drawn), hyper)
    target = drawn.weight[:, None] * goal.reward + drawn.proceeds[:, None] * goal.value
    q, pull = p.q.read(learnt.q.params, None)
    if not p.rule.adam:
        return Fitted(q_learning.rows_step(q, cell, target, hyper.learning_rate), None)
    n_cells = t.n_states * p.n_actions
    taught = _histogram(cell, jnp.ones_like(drawn.weight), (n_cells,)).reshape(*q.shape[:2], 1)
    summed = jnp.zeros((n_cells, p.config.skills)).at[cell].add(target).reshape(q.shape)
    gradient = q_learning.gradient(q, taught, summed, jnp.float32(p.config.batch))
    return adam.step(p.q, learnt.q, pull(gradient), hyper.learning_rate)


def _block_step(
    t: Table, learnt: Learnt, hyper: Hyper, rounds: Array
) -> tuple[Fitted, Array | None]:
    """Q after a sweep over the next ``batch`` transitions, block after block in turn; its average.

    What was swept stays as it is until its next turn: so many rounds are averaged now, at once.
    """
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
        moved = Moved(cell // n_actions, _cells(t)[cell, n])
        goal = _goals(t, learnt, common.target_params(learnt), moved, hyper)
        target += weight[:, n, None] * goal.reward + proceeds[:, n, None] * goal.value
    block = jax.lax.dynamic_slice(q, (first, 0, 0), (size, *q.shape[1:]))
    rows = block.reshape(target.shape)
    after = rows + (hyper.learning_rate * known)[:, None] * (target - rows)
    if t.objective.learns is not None:  # of the others nothing moves, nor is it averaged
        after = jnp.where(t.objective.learns(learnt.discriminator), after, rows)
    swept = jax.lax.dynamic_update_slice(q, after.reshape(block.shape), (first, 0, 0))
    if learnt.average_q is None:
        return Fitted(swept, None), None
    # Read from the new Q, or XLA keeps a copy of the old one to compute the block from it twice.
    at = (first + common.after(swept, jnp.float32(0.0)).astype(jnp.int32), 0, 0)
    now, before = (jax.lax.dynamic_slice(x, at, block.shape) for x in (swept, learnt.average_q))
    rate = _average_rate(p, rounds, n_blocks / p.config.updates_per_episode)
    average = before + rate * (now - before)
    return Fitted(swept, None), jax.lax.dynamic_update_slice(learnt.average_q, average, at)


def _average_rate(p: Pieces, rounds: Array, length: float) -> Array:
    """How far the average goes towards what stays as it is for ``length`` rounds from now on.

    That of `learner.assemble`, so many times: early on the average is the mean of all rounds.
    """
    lasting = 1.0 - (1.0 - p.config.average_rate) ** length
    return jnp.maximum(lasting, length / (rounds - 1.0 + length))


class _Goals(NamedTuple):
    """[n, K] what transitions are worth to every skill, before their weights."""

    reward: Array
    value: Array  # discounted


def _goals(t: Table, learnt: Learnt, target_q: Array, moved: Moved, hyper: Hyper) -> _Goals:
    """Of transitions ``moved`` [n], reading the rows of their states."""
    reward = t.objective.rewards(learnt.discriminator, moved, hyper)
    actions = range(t.p.n_actions)
    value = reduce(jnp.maximum, [target_q[moved.after, a] for a in actions])
    if t.edge:
        stay = edges.staying(t.objective, learnt, moved.after, hyper)
        value = jnp.where(edges.among(t.edge, moved.after)[:, None], stay, value)
    return _Goals(reward, hyper.discount * value)


def _histogram(cell: Array, weight: Array, shape: tuple[int, ...]) -> Array:
    return jnp.zeros(math.prod(shape)).at[cell].add(weight.astype(jnp.float32)).reshape(shape)
