"""The compiled program: the one place where world, objective and learner meet.

``chunk(state, hyper, n)`` makes n rounds of (collect episodes, insert, update) without touching
the host. n is an argument, so that all chunks of a run share one compilation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._config import Config
from apart._types import Array, Key
from apart.learner import draws, q_learning, replay, tables
from apart.learner.q_learning import Tally
from apart.objective.discriminators import DISCRIMINATORS
from apart.objective.rewards import REWARDS
from apart.objective.time_weights import TIME_WEIGHTS, reward_factor
from apart.training.evaluate import Evaluation, evaluate
from apart.training.state import Hyper, TrainState
from apart.worlds.grid import World


class Program(NamedTuple):
    """Compiled functions for one world and one static configuration."""

    init: Callable[[Array, Hyper], TrainState]
    chunk: Callable[[TrainState, Hyper, Array], TrainState]
    evaluate: Callable[[TrainState, Hyper], Evaluation]


class Batch(NamedTuple):
    """A sampled batch as histograms."""

    tally: Tally  # for Q: [S, A, K] each
    seen: Array  # for the discriminator: [S, K] how often each skill was seen in each state


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

    def init(self, seed: Array, hyper: Hyper) -> TrainState:
        """The state before the first step."""
        key = jax.random.key(seed)
        key_logits, key_q, key_run = jax.random.split(key, 3)
        q = self.q.init(key_q, hyper.init_q)
        return TrainState(
            discriminator=tables.fit(self.logits.init(key_logits, hyper.init_logits)),
            q=tables.fit(q),
            target_q=jax.tree.map(jnp.copy, q) if self.config.target_period else None,
            replay=replay.init(self.config.buffer, self.config.collection),
            iteration=jnp.int32(0),
            updates=jnp.int32(0),
            key=key_run,
        )

    def iterate(self, state: TrainState, hyper: Hyper) -> TrainState:
        """Collect ``episodes_per_update`` episodes, insert them, update."""
        key_collect, key_update = jax.random.split(jax.random.fold_in(state.key, state.iteration))
        q_table, _ = self.q.read(state.q.params)
        state_action, skill_time = self.collect(q_table, hyper.epsilon, key_collect)
        ring = replay.insert(state.replay, state_action, skill_time, state.iteration)
        state = state._replace(replay=ring, iteration=state.iteration + 1)
        n = self.config.updates_per_episode
        if n <= 1:
            return self.update(state, hyper, key_update) if n else state
        last: TrainState = jax.lax.fori_loop(
            0, n, lambda i, s: self.update(s, hyper, jax.random.fold_in(key_update, i)), state
        )
        return last

    def collect(self, q: Array, epsilon: Array, key: Key) -> tuple[Array, Array]:
        """[E * T] packed transitions of E epsilon-greedy episodes, each with a random skill.

        A step either takes a random action or "the greedy one", a sixth column of the transition
        table of that skill: the loop over time is then a chain of single look-ups.
        """
        c = self.config
        bits = jax.random.bits(key, (c.episodes_per_update, 1 + 2 * c.horizon))
        rollout = jax.vmap(partial(self._rollout, q, epsilon))
        state_action, skill_time = rollout(bits)
        return state_action.reshape(-1), skill_time.reshape(-1)

    def _rollout(self, q: Array, epsilon: Array, bits: Array) -> tuple[Array, Array]:
        horizon, greedy_column = self.config.horizon, self.n_actions
        skill = draws.integer(bits[0], self.config.skills)
        explores = draws.uniform(bits[1 : 1 + horizon]) < epsilon
        random_action = draws.integer(bits[1 + horizon :], self.n_actions)
        choice = jnp.where(explores, random_action, greedy_column)
        greedy = jnp.argmax(q[:, :, skill], axis=1)
        onward = jnp.take_along_axis(self.next_state, greedy[:, None], 1)
        moves = jnp.concatenate([self.next_state, onward], 1)

        def step(state: Array, column: Array) -> tuple[Array, Array]:
            return moves[state, column], state

        _, visited = jax.lax.scan(step, jnp.int32(self.start), choice)
        action = jnp.where(explores, random_action, greedy[visited])
        return visited * self.n_actions + action, skill * horizon + jnp.arange(horizon)

    def update(self, state: TrainState, hyper: Hyper, key: Key) -> TrainState:
        """One Adam step for Q and one for the discriminator, both from the same batch.

        The reward is that of the discriminator before its step (Algorithm 1).
        """
        bits = jax.random.bits(key, (2, self.config.batch))
        sampled = replay.sample(state.replay, bits[0], state.iteration)
        logits, pull_logits = self.logits.read(state.discriminator.params)
        q, pull_q = self.q.read(state.q.params)
        batch = self.histogram(*sampled, logits, hyper, draws.uniform(bits[1]))
        value = self._target(state, q).max(axis=1)[self.next_state]
        q_gradient = q_learning.table_gradient(
            q, batch.tally, value, hyper.discount, self.config.batch
        )
        logits_gradient = self.logits_gradient(logits, batch.seen, hyper)
        updated = state._replace(
            q=tables.step(state.q, pull_q(q_gradient), hyper.learning_rate),
            discriminator=tables.step(
                state.discriminator,
                pull_logits(logits_gradient),
                hyper.discriminator_learning_rate,
            ),
            updates=state.updates + 1,
        )
        return self._refresh_target(updated)

    def histogram(
        self, state_action: Array, skill_time: Array, logits: Array, hyper: Hyper, u: Array
    ) -> Batch:
        """The batch as counts; ``u`` [B] uniform in [0, 1) decides dropout."""
        c = self.config
        skill, t = skill_time // c.horizon, skill_time % c.horizon + 1
        last = t == c.horizon
        next_state = self.next_state.reshape(-1)[state_action]
        seen_in = next_state if c.reward_state == "next" else state_action // self.n_actions
        teaches = last if c.discriminator_states == "last" else jnp.ones_like(last)
        factor = reward_factor(self.weight, c.dropout, t, c.horizon, u)
        reward = factor * self.rewards_of(logits, seen_in, skill, hyper)
        cell = state_action * c.skills + skill
        shape = (self.n_states, self.n_actions, c.skills)
        times = _histogram(cell, jnp.ones_like(u), shape)
        tally = Tally(
            times=times,
            reward=_histogram(cell, reward, shape),
            proceeds=times if c.bootstrap_last else _histogram(cell, ~last, shape),
        )
        return Batch(tally, _histogram(seen_in * c.skills + skill, teaches, (shape[0], shape[2])))

    def rewards_of(self, logits: Array, state: Array, skill: Array, hyper: Hyper) -> Array:
        """[B] the reward of each sample's skill in its state."""
        of_skill = self.reward.of_skill
        if of_skill is None:
            return self.rewards(logits, hyper)[state, skill]
        return jax.vmap(of_skill, (None, 0, 0))(logits, state, skill)

    def rewards(self, logits: Array, hyper: Hyper) -> Array:
        """[S, K] the reward of every skill in every state."""
        return jax.vmap(self.reward.rewards, (0, None))(logits, hyper.inverse_temperature)

    def logits_gradient(self, logits: Array, seen: Array, hyper: Hyper) -> Array:
        """[S, ...] gradient of the mean discriminator loss over the samples that teach it."""
        beta = hyper.inverse_temperature if self.config.temperature_in_loss else jnp.float32(1.0)
        weights = seen / jnp.maximum(seen.sum(), 1.0)
        return jax.vmap(self.disc.gradient, (0, 0, None))(logits, weights, beta)

    def evaluate(self, state: TrainState, hyper: Hyper) -> Evaluation:
        """Metrics of the skills as they are now."""
        logits, _ = self.logits.read(state.discriminator.params)
        q, _ = self.q.read(state.q.params)
        scores = jax.vmap(self.disc.scores, (0, None))(logits, hyper.inverse_temperature)
        return evaluate(
            q=q,
            scores=scores,
            rewards=self.rewards(logits, hyper),
            next_state=self.next_state,
            start=self.start,
            horizon=self.config.horizon,
            epsilon=self.config.evaluation_epsilon,
            key=jax.random.fold_in(state.key, -1 - state.iteration),
            finite=jnp.isfinite(logits).all() & jnp.isfinite(q).all(),
        )

    def _target(self, state: TrainState, q: Array) -> Array:
        return q if state.target_q is None else self.q.read(state.target_q)[0]

    def _refresh_target(self, state: TrainState) -> TrainState:
        if state.target_q is None:
            return state
        due = state.updates % self.config.target_period == 0
        target = jax.lax.cond(due, lambda s: s.q.params, lambda s: s.target_q, state)
        return state._replace(target_q=target)


def _histogram(cell: Array, weight: Array, shape: tuple[int, ...]) -> Array:
    size = 1
    for n in shape:
        size *= n
    return jnp.zeros(size).at[cell].add(weight.astype(jnp.float32)).reshape(shape)
