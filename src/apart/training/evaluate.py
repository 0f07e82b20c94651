"""What the skills do now: an episode of each, and what the discriminator makes of it."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array, Key
from apart.learner import draws

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)


class Evaluation(NamedTuple):
    """Metrics of one moment. Rewards are raw: before time weight and dropout."""

    n_effective: Array  # [] distinct last states of the K episodes
    discriminator_accuracy: Array  # [] share of (skill, step) that the discriminator names right
    mean_reward: Array  # [] over all skills and steps
    mean_last_reward: Array  # [] over all skills, at the last step
    reward_quantiles: Array  # [5] least, quartiles, greatest over skills and steps
    information_count: Array  # [] 2^E[log2 q(z|s_T) - log2 p(z)] (DISDAIN)
    mutual_information: Array  # [] bits, exact, between skill and last state
    accuracy_per_step: Array  # [T]
    trajectories: Array  # [K, T + 1] states
    last_probability: Array  # [K] q(z | s_T)


def evaluate(
    *,
    q: Array,
    scores: Array,
    rewards: Array,
    next_state: Array,
    start: int,
    horizon: int,
    epsilon: float,
    key: Key,
) -> Evaluation:
    """Play every skill once and measure; ties between actions go to the lowest index.

    Args:
        q: [S, A, K].
        scores: [S, K] discriminator scores; softmax is the posterior, argmax the prediction.
        rewards: [S, K].
        next_state: [S, A].
        start: first state of every episode.
        horizon: T.
        epsilon: probability of a random action (0: greedy).
        key: used only when ``epsilon`` is not 0.
    """
    n_states, _, n_skills = q.shape
    skills = jnp.arange(n_skills)
    greedy = jnp.argmax(q, axis=1)  # [S, K]
    trajectories = play(greedy, next_state, start, horizon, epsilon, key)
    after = trajectories[:, 1:]  # [K, T]
    last = after[:, -1]
    reward = rewards[after, skills[:, None]]
    correct = jnp.argmax(scores, axis=1)[after] == skills[:, None]
    log_posterior = jax.nn.log_softmax(scores, axis=1)[last, skills]
    return Evaluation(
        n_effective=(jnp.zeros(n_states).at[last].add(1.0) > 0).sum(),
        discriminator_accuracy=correct.mean(),
        mean_reward=reward.mean(),
        mean_last_reward=reward[:, -1].mean(),
        reward_quantiles=jnp.quantile(reward, jnp.asarray(QUANTILES)),
        information_count=n_skills * jnp.exp(log_posterior.mean()),
        mutual_information=mutual_information(
            last_states(greedy, next_state, start, horizon, epsilon)
            if epsilon
            else jax.nn.one_hot(last, n_states, axis=0)
        ),
        accuracy_per_step=correct.mean(axis=0),
        trajectories=trajectories,
        last_probability=jnp.exp(log_posterior),
    )


def play(
    greedy: Array, next_state: Array, start: int, horizon: int, epsilon: float, key: Key
) -> Array:
    """[K, T + 1] the states of one episode of every skill; ``greedy`` [S, K] actions."""
    n_skills, n_actions = greedy.shape[1], next_state.shape[1]
    skills = jnp.arange(n_skills)
    bits = jax.random.bits(key, (horizon, 2, n_skills)) if epsilon else None

    def step(state: Array, drawn: Array | None) -> tuple[Array, Array]:
        action = greedy[state, skills]
        if drawn is not None:
            explores = draws.uniform(drawn[0]) < epsilon
            action = jnp.where(explores, draws.integer(drawn[1], n_actions), action)
        after = next_state[state, action]
        return after, after

    first = jnp.full(n_skills, start, jnp.int32)
    _, states = jax.lax.scan(step, first, bits, length=horizon)
    return jnp.concatenate([first[None], states]).T


def last_states(
    greedy: Array, next_state: Array, start: int, horizon: int, epsilon: float
) -> Array:
    """[S, K] p(s_T | z) of the epsilon-greedy policy, exact."""
    n_states, n_skills = greedy.shape
    n_actions = next_state.shape[1]
    onward = jnp.take_along_axis(next_state, greedy, 1)  # [S, K]
    skills = jnp.arange(n_skills)

    def step(_: int, p: Array) -> Array:
        spread = jnp.zeros_like(p).at[onward, skills].add((1.0 - epsilon) * p)
        for action in range(n_actions):
            spread = spread.at[next_state[:, action]].add(epsilon / n_actions * p)
        return spread

    first = jnp.zeros((n_states, n_skills)).at[start].set(1.0)
    last: Array = jax.lax.fori_loop(0, horizon, step, first)
    return last


def mutual_information(p: Array) -> Array:
    """Bits between a uniform skill and its last state, from p(s_T | z) [S, K]."""
    n_skills = p.shape[1]
    marginal = p.mean(axis=1, keepdims=True)
    ratio = jnp.where(p > 0, p / jnp.where(marginal > 0, marginal, 1.0), 1.0)
    return (p * jnp.log2(ratio)).sum() / n_skills
