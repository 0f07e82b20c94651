"""Episodes: a random skill each, epsilon-greedy on Q, packed as the replay keeps them."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp

from apart._types import Array, Key
from apart.learner import draws


def collect(
    q: Array,
    next_state: Array,
    start: int,
    horizon: int,
    episodes: int,
    epsilon: Array,
    key: Key,
) -> tuple[Array, Array]:
    """[E * T] state * A + action and skill * T + t - 1 of E episodes of T steps.

    Args:
        q: [S, A, K].
        next_state: [S, A].
        start: first state of every episode.
        horizon: T.
        episodes: E.
        epsilon: probability of a random action.
        key: used once.
    """
    bits = jax.random.bits(key, (episodes, 1 + 2 * horizon))
    state_action, skill_time = jax.vmap(partial(_rollout, q, next_state, start, epsilon))(bits)
    return state_action.reshape(-1), skill_time.reshape(-1)


def _rollout(
    q: Array, next_state: Array, start: int, epsilon: Array, bits: Array
) -> tuple[Array, Array]:
    """One episode from its random words: [0] the skill, then T to explore or not, T actions.

    A step either takes a random action or "the greedy one", a sixth column of the transition table
    of that skill: the loop over time is then a chain of single look-ups.
    """
    n_actions, n_skills = q.shape[1:]
    horizon = (len(bits) - 1) // 2
    skill = draws.integer(bits[0], n_skills)
    explores = draws.uniform(bits[1 : 1 + horizon]) < epsilon
    random_action = draws.integer(bits[1 + horizon :], n_actions)
    choice = jnp.where(explores, random_action, n_actions)
    greedy = jnp.argmax(q[:, :, skill], axis=1)
    onward = jnp.take_along_axis(next_state, greedy[:, None], 1)
    moves = jnp.concatenate([next_state, onward], 1)

    def step(state: Array, column: Array) -> tuple[Array, Array]:
        return moves[state, column], state

    _, visited = jax.lax.scan(step, jnp.int32(start), choice)
    action = jnp.where(explores, random_action, greedy[visited])
    return visited * n_actions + action, skill * horizon + jnp.arange(horizon)
