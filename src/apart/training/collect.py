"""Episodes: a random skill each, epsilon-greedy on Q, packed as the replay keeps them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array, Key
from apart.learner import draws


class Episodes(NamedTuple):
    """What is collected at once."""

    start: int  # first state of every episode
    horizon: int  # T
    episodes: int  # E
    n_skills: int


def collect(
    q: Array, next_state: Array, shape: Episodes, epsilon: Array, key: Key
) -> tuple[Array, Array]:
    """[E * T] state * A + action and skill * T + t - 1 of E episodes of T steps.

    Args:
        q: [S, A, K].
        next_state: [S, A].
        shape: how many episodes, from where.
        epsilon: probability of a random action.
        key: used once.
    """
    rollout = partial(_rollout, q, next_state, shape, epsilon)
    state_action, skill_time = jax.vmap(rollout)(_draw(shape, next_state.shape[1], epsilon, key))
    return state_action.reshape(-1), skill_time.reshape(-1)


def collect_by_steps(
    q_at: Callable[[Array], Array],
    next_state: Array,
    shape: Episodes,
    epsilon: Array,
    key: Key,
) -> tuple[Array, Array]:
    """The same episodes as `collect`, asking for Q [E, A, K] in the states of each step alone."""
    n_actions = next_state.shape[1]
    drawn = _draw(shape, n_actions, epsilon, key)
    episode = jnp.arange(shape.episodes)

    def step(state: Array, choice: Array) -> tuple[Array, Array]:
        greedy = jnp.argmax(q_at(state)[episode, :, drawn.skill], axis=1)
        action = jnp.where(choice == n_actions, greedy, choice)
        return next_state[state, action], state * n_actions + action

    first = jnp.full(shape.episodes, shape.start, jnp.int32)
    _, state_action = jax.lax.scan(step, first, drawn.choice.T)
    skill_time = drawn.skill[:, None] * shape.horizon + jnp.arange(shape.horizon)
    return state_action.T.reshape(-1), skill_time.reshape(-1)


class _Drawn(NamedTuple):
    """All chance of an episode: [E, ...]."""

    skill: Array
    choice: Array  # [T] a random action, or A for the greedy one


def _draw(shape: Episodes, n_actions: int, epsilon: Array, key: Key) -> _Drawn:
    """From random words: [0] the skill, then T to explore or not, T actions."""
    horizon = shape.horizon
    bits = jax.random.bits(key, (shape.episodes, 1 + 2 * horizon))
    explores = draws.uniform(bits[:, 1 : 1 + horizon]) < epsilon
    random_action = draws.integer(bits[:, 1 + horizon :], n_actions)
    return _Drawn(
        draws.integer(bits[:, 0], shape.n_skills), jnp.where(explores, random_action, n_actions)
    )


def _rollout(
    q: Array, next_state: Array, shape: Episodes, epsilon: Array, drawn: _Drawn
) -> tuple[Array, Array]:
    """One episode.

    A step either takes a random action or "the greedy one", a sixth column of the transition table
    of that skill: the loop over time is then a chain of single look-ups.
    """
    n_actions, (skill, choice) = q.shape[1], drawn
    greedy = jnp.argmax(q[:, :, skill], axis=1)
    onward = jnp.take_along_axis(next_state, greedy[:, None], 1)
    moves = jnp.concatenate([next_state, onward], 1)

    def step(state: Array, column: Array) -> tuple[Array, Array]:
        return moves[state, column], state

    _, visited = jax.lax.scan(step, jnp.int32(shape.start), choice)
    action = jnp.where(choice == n_actions, greedy[visited], choice)
    return visited * n_actions + action, skill * shape.horizon + jnp.arange(shape.horizon)
