"""The compiled program: the one place where world, objective and learner meet.

``chunk(state, hyper, n)`` makes n rounds of (collect episodes, insert, update) without touching
the host. n is an argument, so that all chunks of a run share one compilation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, reduce
from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._config import Config
from apart._types import Array, Key
from apart.learner import counts, draws, model, q_learning, replay, tables
from apart.learner.model import Model
from apart.learner.q_learning import Tally
from apart.learner.tables import Fitted
from apart.objective.discriminators import DISCRIMINATORS
from apart.objective.rewards import REWARDS
from apart.objective.time_weights import TIME_WEIGHTS, reward_factor
from apart.training.collect import collect
from apart.training.evaluate import Evaluation, evaluate
from apart.training.state import Hyper, TrainState
from apart.worlds.grid import World


class Program(NamedTuple):
    """Compiled functions for one world and one static configuration."""

    init: Callable[[Array, Hyper], TrainState]
    chunk: Callable[[TrainState, Hyper, Array], TrainState]
    evaluate: Callable[[TrainState, Hyper], Evaluation]


class Batch(NamedTuple):
    """Sampled transitions; every field is [B]."""

    state_action: Array  # state * A + action
    seen_in: Array  # the state that discriminator and reward see
    skill: Array
    last: Array  # bool: the episode ended with it
    proceeds: Array  # 1 where Q of the next state counts, else 0
    factor: Array  # on the reward: time weight, or 0 and 1 by dropout


# In a large world an update that teaches all skills touches part of [S * A, K] only: sampled rows,
# or the next block of a sweep. Scattered rows cost some fifteen times as much as the same number in
# one dense expression, so that they pay late; blocks are as dense as the whole.
ROWS_ABOVE, BLOCKS_ABOVE = 15, 8


def program(world: World, config: Config) -> Program:
    """The program for ``config`` in ``world``; equal static parts share one compilation."""
    return _program(_Key((world.text, config.static()), world, config))


class _Key:
    """Hashes like the static parts; carries the objects that they were taken from."""

    def __init__(self, static: object, world: World, config: Config) -> None:
        self.static, self.world, self.config = static, world, config

    def __hash__(self) -> int:
        return hash(self.static)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.static == other.static


@lru_cache(maxsize=64)
def _program(key: _Key) -> Program:
    parts = Parts(key.world, key.config)

    def chunk(state: TrainState, hyper: Hyper, n: Array) -> TrainState:
        last: TrainState = jax.lax.fori_loop(0, n, lambda _, s: parts.iterate(s, hyper), state)
        return last

    return Program(
        init=jax.jit(parts.init),
        chunk=jax.jit(chunk, donate_argnums=0),
        evaluate=jax.jit(parts.evaluate),
    )


class Parts:
    """The pieces of the program as plain functions of arrays (tests and benchmarks use them)."""

    def __init__(self, world: World, config: Config) -> None:
        self.config = config
        self.n_states, self.n_actions = world.next_state.shape
        self.start = world.start
        self.next_state = jnp.asarray(world.next_state)
        self.disc = DISCRIMINATORS[config.discriminator]
        self.reward = REWARDS[config.reward]
        self.weight = TIME_WEIGHTS[config.time_weight]
        k = config.skills
        self.logits = tables.table((self.n_states, *self.disc.shape(k)))
        self.q = tables.table((self.n_states, self.n_actions, k))
        self.sweeps = config.q_rule == "sweep"
        per_sample = self.n_states * self.n_actions / config.batch
        self.by_blocks = self.sweeps and per_sample > BLOCKS_ABOVE
        self.by_rows = (
            config.share_transitions and config.q_rule == "plain" and per_sample > ROWS_ABOVE
        )
        # A learned discriminator and every rule but the sweep learn from sampled transitions.
        self.samples = self.disc.learned is not None or not self.sweeps

    def init(self, seed: Array, hyper: Hyper) -> TrainState:
        """The state before the first step."""
        key_logits, key_q, key_run = jax.random.split(jax.random.key(seed), 3)
        q = self.q.init(key_q, hyper.init_q)
        if self.disc.learned:
            discriminator = tables.fit(self.logits.init(key_logits, hyper.init_logits))
        else:
            nothing = self.logits.init(key_logits, jnp.float32(0.0))
            discriminator = tables.Fitted(nothing, counts.init(self.n_states))
        return TrainState(
            discriminator=discriminator,
            q=tables.fit(q) if self.config.q_rule == "adam" else tables.Fitted(q, None),
            target_q=jax.tree.map(jnp.copy, q) if self.config.target_period else None,
            average_q=jax.tree.map(jnp.copy, q) if self.config.average_rate else None,
            replay=replay.init(self.config.buffer, self.config.collection)
            if self.samples
            else None,
            model=model.init(self.n_states * self.n_actions) if self.sweeps else None,
            iteration=jnp.int32(0),
            updates=jnp.int32(0),
            key=key_run,
        )

    def iterate(self, state: TrainState, hyper: Hyper) -> TrainState:
        """Collect ``episodes_per_update`` episodes, insert them, update."""
        key_collect, key_update = jax.random.split(jax.random.fold_in(state.key, state.iteration))
        hyper = self._annealed(hyper, state.iteration)
        q_table, _ = self.q.read(state.q.params)
        state_action, skill_time = self.collect(q_table, hyper.epsilon, key_collect)
        state = self._remember(state, state_action, skill_time, hyper)
        n = self.config.updates_per_episode
        if n == 1:
            state = self.update(state, hyper, key_update)
        elif n > 1:
            state = jax.lax.fori_loop(
                0, n, lambda i, s: self.update(s, hyper, jax.random.fold_in(key_update, i)), state
            )
        return self._average(state)

    def _annealed(self, hyper: Hyper, iteration: Array) -> Hyper:
        if not self.config.anneal:
            return hyper
        left = 1.0 - iteration / hyper.rounds
        return hyper._replace(
            learning_rate=hyper.learning_rate * left,
            discriminator_learning_rate=hyper.discriminator_learning_rate * left,
            logit_decay=hyper.logit_decay * left,
        )

    def _remember(
        self, state: TrainState, state_action: Array, skill_time: Array, hyper: Hyper
    ) -> TrainState:
        """Put the new episodes where later updates will look for them."""
        c = self.config
        if state.replay is not None:
            ring = replay.insert(state.replay, state_action, skill_time, state.iteration)
            state = state._replace(replay=ring)
        if state.model is not None:
            t = skill_time % c.horizon + 1
            factor = self.weight.weight(t / c.horizon)
            goes_on = jnp.ones_like(t) if c.bootstrap_last else t < c.horizon
            state = state._replace(model=model.add(state.model, state_action, factor, goes_on))
        if not self.disc.learned:
            ends = self.next_state.reshape(-1)[state_action[c.horizon - 1 :: c.horizon]]
            skills = skill_time[:: c.horizon] // c.horizon
            fitted = self._count(state.discriminator, ends, skills, hyper)
            state = state._replace(discriminator=fitted)
        return state._replace(iteration=state.iteration + 1)

    def _count(self, fitted: Fitted, ends: Array, skills: Array, hyper: Hyper) -> Fitted:
        """Tell a counting discriminator where the new episodes ended.

        Its rate is per K episodes, one of each skill on average: a count lasts equally long in the
        life of its skill however many skills there are.
        """
        rate = hyper.discriminator_learning_rate / self.config.skills

        def add(i: int, now: Fitted) -> Fitted:
            return Fitted(*counts.add(*now, ends[i], skills[i], rate))

        after: Fitted = jax.lax.fori_loop(0, self.config.episodes_per_update, add, fitted)
        return after

    def collect(self, q: Array, epsilon: Array, key: Key) -> tuple[Array, Array]:
        """[E * T] packed transitions of the episodes between two rounds of updates."""
        c = self.config
        return collect(
            q, self.next_state, self.start, c.horizon, c.episodes_per_update, epsilon, key
        )

    def update(self, state: TrainState, hyper: Hyper, key: Key) -> TrainState:
        """One step for Q and, where it is trained, one for the discriminator, from one batch.

        The reward is that of the discriminator before its step (Algorithm 1).
        """
        batch = None
        if state.replay is not None:
            bits = jax.random.bits(key, (2, self.config.batch))
            packed = replay.sample(state.replay, bits[0], state.iteration)
            batch = self.unpack(*packed, draws.uniform(bits[1]))
        updated = state._replace(
            q=self._q_step(state, batch, hyper),
            discriminator=self._discriminator_step(state.discriminator, batch, hyper),
            updates=state.updates + 1,
        )
        return self._follow(updated)

    def unpack(self, state_action: Array, skill_time: Array, u: Array) -> Batch:
        """The samples of a batch; ``u`` [B] uniform in [0, 1) decides dropout."""
        c = self.config
        t = skill_time % c.horizon + 1
        next_state = self.next_state.reshape(-1)[state_action]
        return Batch(
            state_action=state_action,
            seen_in=next_state if c.reward_state == "next" else state_action // self.n_actions,
            skill=skill_time // c.horizon,
            last=t == c.horizon,
            proceeds=jnp.where(c.bootstrap_last | (t < c.horizon), 1.0, 0.0),
            factor=reward_factor(self.weight, c.dropout, t, c.horizon, u),
        )

    def _q_step(self, state: TrainState, batch: Batch | None, hyper: Hyper) -> Fitted:
        c = self.config
        q, pull = self.q.read(state.q.params)
        target_q = q if state.target_q is None else self.q.read(state.target_q)[0]
        if self.by_rows and batch is not None:
            target = self._targets(
                state.discriminator,
                target_q,
                batch.state_action,
                batch.factor,
                batch.proceeds,
                hyper,
            )
            moved = q_learning.rows_step(q, batch.state_action, target, hyper.learning_rate)
            return Fitted(moved, None)
        if self.by_blocks and state.model is not None:
            return Fitted(self._sweep_block(state, state.model, q, target_q, hyper), None)
        tally = self._tally_of(state, batch, hyper)
        value = target_q.max(axis=1)[self.next_state]
        if c.q_rule == "adam":
            gradient = q_learning.table_gradient(q, tally, value, hyper.discount, c.batch)
            return tables.step(state.q, pull(gradient), hyper.learning_rate)
        moved = q_learning.plain_step(q, tally, value, hyper.discount, hyper.learning_rate)
        return Fitted(moved, None)

    def _tally_of(self, state: TrainState, batch: Batch | None, hyper: Hyper) -> Tally:
        if state.model is not None:
            known = model.means(state.model)
            return self._broadcast(state.discriminator, *known, hyper)
        assert batch is not None
        if self.config.share_transitions:
            cells = self.n_states * self.n_actions
            times, factor, proceeds = (
                _histogram(batch.state_action, weight, (cells,))
                for weight in (jnp.ones_like(batch.factor), batch.factor, batch.proceeds)
            )
            return self._broadcast(state.discriminator, times, factor, proceeds, hyper)
        return self._own_tally(state.discriminator, batch, hyper)

    def _own_tally(self, discriminator: Fitted, batch: Batch, hyper: Hyper) -> Tally:
        """Each sample counts for its own skill: [S, A, K]."""
        k = self.config.skills
        cell = batch.state_action * k + batch.skill
        shape = (self.n_states, self.n_actions, k)
        reward = batch.factor * self.rewards_of(discriminator, batch, hyper)
        return Tally(
            times=_histogram(cell, jnp.ones_like(reward), shape),
            reward=_histogram(cell, reward, shape),
            proceeds=_histogram(cell, batch.proceeds, shape),
        )

    def _broadcast(
        self, discriminator: Fitted, times: Array, factor: Array, proceeds: Array, hyper: Hyper
    ) -> Tally:
        """Each transition counts for every skill: three numbers per (state, action)."""
        shape = (self.n_states, self.n_actions, 1)
        reward = self.rewards(discriminator, hyper)
        of_move = reward[self.next_state] if self.config.reward_state == "next" else reward[:, None]
        return Tally(
            times=times.reshape(shape),
            reward=factor.reshape(shape) * of_move,
            proceeds=proceeds.reshape(shape),
        )

    def _sweep_block(
        self, state: TrainState, memory: Model, q: Array, target_q: Array, hyper: Hyper
    ) -> Array:
        """Q after a sweep over the next ``batch`` transitions, block after block in turn."""
        size = min(max(self.config.batch // self.n_actions, 1), self.n_states)
        n_blocks = -(-self.n_states // size)
        first = jnp.minimum(state.updates % n_blocks * size, self.n_states - size)
        cell = first * self.n_actions + jnp.arange(size * self.n_actions)
        known, factor, proceeds = (field[cell] for field in model.means(memory))
        target = self._targets(state.discriminator, target_q, cell, factor, proceeds, hyper)
        block = jax.lax.dynamic_slice(q, (first, 0, 0), (size, *q.shape[1:]))
        rows = block.reshape(target.shape)
        moved = rows + (hyper.learning_rate * known)[:, None] * (target - rows)
        return jax.lax.dynamic_update_slice(q, moved.reshape(block.shape), (first, 0, 0))

    def _targets(
        self,
        discriminator: Fitted,
        target_q: Array,
        cell: Array,
        factor: Array,
        proceeds: Array,
        hyper: Hyper,
    ) -> Array:
        """[n, K] the target of every skill for the transitions ``cell`` [n], reading their rows."""
        logits, _ = self.logits.read(discriminator.params)
        next_state = self.next_state.reshape(-1)[cell]
        seen_in = next_state if self.config.reward_state == "next" else cell // self.n_actions
        beta = self._beta(discriminator, hyper)[seen_in]
        reward = jax.vmap(self.reward.rewards)(logits[seen_in], beta)
        value = reduce(jnp.maximum, [target_q[next_state, a] for a in range(self.n_actions)])
        return factor[:, None] * reward + (hyper.discount * proceeds)[:, None] * value

    def rewards_of(self, discriminator: Fitted, batch: Batch, hyper: Hyper) -> Array:
        """[B] the reward of each sample's skill in its state."""
        of_skill = self.reward.of_skill
        if of_skill is None:
            return self.rewards(discriminator, hyper)[batch.seen_in, batch.skill]
        logits, _ = self.logits.read(discriminator.params)
        return jax.vmap(of_skill, (None, 0, 0))(logits, batch.seen_in, batch.skill)

    def rewards(self, discriminator: Fitted, hyper: Hyper) -> Array:
        """[S, K] the reward of every skill in every state."""
        logits, _ = self.logits.read(discriminator.params)
        return jax.vmap(self.reward.rewards)(logits, self._beta(discriminator, hyper))

    def _beta(self, discriminator: Fitted, hyper: Hyper) -> Array:
        """[S] the inverse temperature; of counts times what has faded since a row was touched."""
        beta = jnp.broadcast_to(hyper.inverse_temperature, self.n_states)
        return beta if self.disc.learned else beta * counts.factor(discriminator.optimiser)

    def _discriminator_step(self, fitted: Fitted, batch: Batch | None, hyper: Hyper) -> Fitted:
        c, learned = self.config, self.disc.learned
        if learned is None or batch is None:
            return fitted
        logits, pull = self.logits.read(fitted.params)
        teaches = batch.last if c.discriminator_states == "last" else jnp.ones_like(batch.last)
        cell = batch.seen_in * c.skills + batch.skill
        seen = _histogram(cell, teaches, (self.n_states, c.skills))
        weights = seen / jnp.maximum(seen.sum(), 1.0)
        beta = hyper.inverse_temperature if c.temperature_in_loss else jnp.float32(1.0)
        gradient = jax.vmap(learned.gradient, (0, 0, None))(logits, weights, beta)
        moved = tables.step(fitted, pull(gradient), hyper.discriminator_learning_rate)
        kept = 1.0 - hyper.logit_decay
        return moved._replace(params=jax.tree.map(lambda p: kept * p, moved.params))

    def evaluate(self, state: TrainState, hyper: Hyper) -> Evaluation:
        """Metrics of the skills as they are now."""
        logits, _ = self.logits.read(state.discriminator.params)
        q, _ = self.q.read(state.q.params if state.average_q is None else state.average_q)
        return evaluate(
            q=q,
            scores=jax.vmap(self.disc.scores)(logits, self._beta(state.discriminator, hyper)),
            rewards=self.rewards(state.discriminator, hyper),
            next_state=self.next_state,
            start=self.start,
            horizon=self.config.horizon,
            epsilon=self.config.evaluation_epsilon,
            key=jax.random.fold_in(state.key, -1 - state.iteration),
            finite=jnp.isfinite(logits).all() & jnp.isfinite(q).all(),
        )

    def _follow(self, state: TrainState) -> TrainState:
        """Copy Q to the target network when that is due."""
        if state.target_q is None:
            return state
        due = state.updates % self.config.target_period == 0
        copied = jax.lax.cond(due, lambda s: s.q.params, lambda s: s.target_q, state)
        return state._replace(target_q=copied)

    def _average(self, state: TrainState) -> TrainState:
        """Move the average that is evaluated; early on it is the mean of all rounds so far."""
        if state.average_q is None:
            return state
        rate = jnp.maximum(self.config.average_rate, 1.0 / state.iteration)
        average = jax.tree.map(lambda a, q: a + rate * (q - a), state.average_q, state.q.params)
        return state._replace(average_q=average)


def _histogram(cell: Array, weight: Array, shape: tuple[int, ...]) -> Array:
    size = math.prod(shape)
    return jnp.zeros(size).at[cell].add(weight.astype(jnp.float32)).reshape(shape)
