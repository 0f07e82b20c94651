"""What episodes are to do: a skill each, epsilon-greedy on Q. The agent's side of a collection.

All chance of the agent is drawn first (`draw`), in the same order for every kind of world, so that
equal values give equal episodes whichever way they are collected (`collect`, `host`).
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array, Key
from apart.learner import draws


class Drawn(NamedTuple):
    """All chance of the agent in E episodes."""

    skill: Array  # [E]
    choice: Array  # [E, T] or, with M heads, [E, T, M]: a random action, or A for the greedy one
    deciding: Array | None = None
    # [E, T] the skill whose greedy action that is, where it is not ``skill`` throughout; a choice
    # of A + 1 then means that the episode is over: it stays where it is

    def part(self, first: int, n: int) -> Drawn:
        """Of n episodes from the ``first`` on."""
        of = slice(first, first + n)
        deciding = None if self.deciding is None else self.deciding[of]
        return Drawn(self.skill[of], self.choice[of], deciding)


def draw(
    n_episodes: int,
    horizon: int,
    n_skills: int,
    n_actions: int,
    epsilon: Array,
    key: Key,
    one_skill: bool = False,
    heads: int = 1,
) -> Drawn:
    """From random words per episode: [0] the skill, then T to explore or not, T actions.

    With ``one_skill`` all episodes have that of the first. An action of several ``heads`` is random
    in all of them or in none.
    """
    bits = jax.random.bits(key, (n_episodes, 1 + (1 + heads) * horizon), jnp.uint32)
    if one_skill:
        bits = bits.at[:, 0].set(bits[0, 0])
    explores = draws.uniform(bits[:, 1 : 1 + horizon]) < epsilon
    random_action = draws.integer(bits[:, 1 + horizon :], n_actions)
    if heads > 1:
        explores = explores[:, :, None]
        random_action = random_action.reshape(n_episodes, horizon, heads)
    return Drawn(draws.integer(bits[:, 0], n_skills), jnp.where(explores, random_action, n_actions))


def follow(drawn: Drawn, acts: Array | None, n_actions: int, key_walk: Key | None = None) -> Drawn:
    """``drawn`` where skills are chains: ``acts`` [K, T] as in `Objective.acts`, or None.

    The parts that others decide are not explored. Once a skill is over it walks at random with
    ``key_walk``; without, it stays where it is.
    """
    if acts is None:
        return drawn
    deciding = acts[drawn.skill]
    over, own = deciding < 0, deciding == drawn.skill[:, None]
    after = jnp.full_like(drawn.choice, n_actions + 1)
    if key_walk is not None:
        bits = jax.random.bits(jax.random.fold_in(key_walk, 5), drawn.choice.shape, jnp.uint32)
        after = draws.integer(bits, n_actions).astype(drawn.choice.dtype)
    if drawn.choice.ndim == 3:
        over, own = over[:, :, None], own[:, :, None]
    choice = jnp.where(over, after, jnp.where(own, drawn.choice, n_actions))
    return Drawn(drawn.skill, choice, jnp.where(deciding < 0, drawn.skill[:, None], deciding))


def deciding(drawn: Drawn) -> Array:
    """[T, E] whose greedy action is meant."""
    if drawn.deciding is not None:
        return drawn.deciding.T
    return jnp.broadcast_to(drawn.skill, (drawn.choice.shape[1], *drawn.skill.shape))


def is_over(drawn_t: Array, n_actions: int) -> Array:
    """[n] bool: choices [n] or [n, M] that mean that an episode is over."""
    stays = drawn_t == n_actions + 1
    return stays if stays.ndim == 1 else stays.all(axis=1)


def among(active: Array, key: Key, skill: Array, one_skill: bool = False) -> Array:
    """[E] skills drawn uniformly from those that are ``active`` [K] bool; at least one is.

    Instead of ``skill``, which was drawn from all.
    """
    bits = jax.random.bits(jax.random.fold_in(key, 4), skill.shape, jnp.uint32)
    if one_skill:
        bits = jnp.full_like(bits, bits[0])
    nth = draws.integer(bits, active.sum())
    return jnp.searchsorted(jnp.cumsum(active), nth + 1).astype(skill.dtype)


def actions(values: Array, skill: Array, choice: Array) -> Array:
    """The actions that ``choice`` [n] or [n, M] stands for: itself, or the skill's greedy one.

    Args:
        values: [n, A, K], or [n, M, A, K] of M heads, each of which takes its own best.
        skill: [n].
        choice: an action, or A for the greedy one (A + 1, where nothing moves: the first).
    """
    choice = jnp.where(choice > values.shape[-2], 0, choice)
    return jnp.where(choice == values.shape[-2], greedy(values, skill), choice)


def greedy(values: Array, skill: Array) -> Array:
    """[n] or [n, M] int32 the best action of each skill [n]; arguments as in `actions`."""
    own = values[jnp.arange(skill.shape[0]), ..., skill]
    return jnp.argmax(own, axis=-1).astype(jnp.int32)


def every_skill(
    n_skills: int,
    horizon: int,
    n_actions: int,
    epsilon: Array | None,
    key: Key,
    heads: int = 1,
) -> Drawn:
    """An episode of every skill, in order; greedy without ``epsilon``."""
    shape = (n_skills, horizon, heads) if heads > 1 else (n_skills, horizon)
    choice = jnp.full(shape, n_actions, jnp.int32)
    if epsilon is not None:
        choice = draw(n_skills, horizon, n_skills, n_actions, epsilon, key, heads=heads).choice
    return Drawn(jnp.arange(n_skills), choice)
