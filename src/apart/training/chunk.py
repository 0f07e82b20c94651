"""The compiled program: the one place where world, objective and learner meet.

``chunk(state, hyper, n)`` makes n rounds of (collect episodes, insert, update) without touching
the host. n is an argument, so that all chunks of a run share one compilation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._config import Config
from apart._types import Array, Key
from apart.learner import counts, model, replay
from apart.learner.adam import Fitted
from apart.learner.approximators import Params
from apart.training.collect import Episodes, collect, collect_by_steps
from apart.training.evaluate import Evaluation, evaluate
from apart.training.state import Hyper, TrainState
from apart.training.update import Learner
from apart.worlds.grid import World


class Program(NamedTuple):
    """Compiled functions for one world and one static configuration."""

    init: Callable[[Array, Hyper], TrainState]
    chunk: Callable[[TrainState, Hyper, Array], TrainState]
    evaluate: Callable[[TrainState, Hyper], Evaluation]
    finite: Callable[[TrainState], Array]  # [] bool: all parameters are


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
        finite=jax.jit(_finite),
    )


def _finite(state: TrainState) -> Array:
    leaves = jax.tree.leaves((state.q, state.discriminator))
    floats = [leaf for leaf in leaves if jnp.issubdtype(leaf.dtype, jnp.floating)]
    return jnp.stack([jnp.isfinite(leaf).all() for leaf in floats]).all()


class Parts:
    """The pieces of the program as plain functions of arrays (tests and benchmarks use them)."""

    def __init__(self, world: World, config: Config) -> None:
        self.config, self.start = config, world.start
        self.learner = Learner(world, config)
        self.next_state = self.learner.next_state

    def init(self, seed: Array, hyper: Hyper) -> TrainState:
        """The state before the first step."""
        c, learner = self.config, self.learner
        key_logits, key_q, key_run = jax.random.split(jax.random.key(seed), 3)
        discriminator, q = learner.init(key_logits, key_q, hyper)
        return TrainState(
            discriminator=discriminator,
            q=q,
            target_q=jax.tree.map(jnp.copy, q.params) if c.target_period else None,
            average_q=jax.tree.map(jnp.copy, q.params) if c.average_rate else None,
            replay=replay.init(c.buffer, c.collection) if learner.samples else None,
            model=model.init(self.next_state.size) if c.sweep else None,
            iteration=jnp.int32(0),
            updates=jnp.int32(0),
            key=key_run,
        )

    def iterate(self, state: TrainState, hyper: Hyper) -> TrainState:
        """Collect ``episodes_per_update`` episodes, insert them, update."""
        key_collect, key_update = jax.random.split(jax.random.fold_in(state.key, state.iteration))
        hyper = self._annealed(hyper, state.iteration)
        state_action, skill_time = self.collect(state.q.params, hyper.epsilon, key_collect)
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
            factor = self.learner.weight.weight(t / c.horizon)
            goes_on = jnp.ones_like(t) if c.bootstrap_last else t < c.horizon
            state = state._replace(model=model.add(state.model, state_action, factor, goes_on))
        if not self.learner.disc.learned:
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

    def collect(self, q: Params, epsilon: Array, key: Key) -> tuple[Array, Array]:
        """[E * T] packed transitions of the episodes between two rounds of updates."""
        c, store = self.config, self.learner.q
        shape = Episodes(self.start, c.horizon, c.episodes_per_update, c.skills)
        if c.network_rows == "samples":
            return collect_by_steps(
                lambda states: store.read(q, states)[0], self.next_state, shape, epsilon, key
            )
        return collect(store.read(q, None)[0], self.next_state, shape, epsilon, key)

    def update(self, state: TrainState, hyper: Hyper, key: Key) -> TrainState:
        """One update, and what follows it."""
        return self._follow(self.learner.update(state, hyper, key))

    def evaluate(self, state: TrainState, hyper: Hyper) -> Evaluation:
        """Metrics of the skills as they are now."""
        learner = self.learner
        params = state.q.params if state.average_q is None else state.average_q
        q = learner.all_rows(learner.q, params)
        logits = learner.all_rows(learner.logits, state.discriminator.params)
        beta = learner.beta(state.discriminator, None, hyper)
        return evaluate(
            q=q,
            scores=jax.vmap(learner.disc.scores)(logits, beta),
            rewards=jax.vmap(learner.reward.rewards)(logits, beta),
            next_state=self.next_state,
            start=self.start,
            horizon=self.config.horizon,
            epsilon=self.config.evaluation_epsilon,
            key=jax.random.fold_in(state.key, -1 - state.iteration),
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
