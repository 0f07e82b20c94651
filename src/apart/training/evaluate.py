"""What the skills do now: an episode of each, and what the discriminator makes of it.

In a table everything is exact; elsewhere one episode of each skill is what is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from apart._types import Array
from apart.learner.episodes import Episodes
from apart.objective.contexts import Moved
from apart.training.collect import Dynamics

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)


class Evaluation(NamedTuple):
    """Metrics of one moment. Rewards are raw: before time weight and dropout."""

    n_effective: Array  # [] distinct last places of the K episodes; by chance, their expectation
    discriminator_accuracy: Array  # [] share of (skill, step) that the discriminator names right
    mean_reward: Array  # [] over all skills in use and steps
    mean_last_reward: Array  # [] the same at the last step
    reward_quantiles: Array  # [5] least, quartiles, greatest over skills and steps
    information_count: Array  # [] 2^E[log2 q(z|s_T) - log2 p(z)] of the skills in use
    mutual_information: Array | None  # [] bits, exact, of such a skill and its last state; tables
    accuracy_per_step: Array  # [T]
    trajectories: Array  # [K, N T + 1] places, one a step where decisions are held for N steps
    last_probability: Array  # [K] q(z | s_T), by chance expected; 0 for skills that are not in use
    last_states: Array | None  # [S, K] p(s_T | z), where chance has a part in it
    positions: Array | None  # [K, N T + 1, 2] the same on the plane of a world that has one
    last_observations: Array | None = None  # [K, ...] where episodes end, of worlds without a table


def evaluate_table(
    greedy: Array,
    scores: Array,
    rewards: Array,
    dynamics: Dynamics,
    episodes: Episodes,
    epsilon: Array | None,
    acts: Array | None = None,
    used: Array | None = None,
) -> Evaluation:
    """Measure one episode of every skill in a table.

    Args:
        greedy: [S, K] the action of each skill in each state.
        scores: [S, K] discriminator scores; softmax is the posterior, argmax the prediction.
        rewards: [K, T] of the episodes' steps.
        dynamics: of the world, a decision at a time.
        episodes: one of every skill, in order.
        epsilon: probability of a random action (None: greedy).
        acts: [K, T] who decides, where skills are chains; see `Objective.acts`.
        used: [K] bool the skills that there are, where not all are in use; see `skills_used`.
    """
    n_skills, states = greedy.shape[1], episodes.obs
    horizon, skills = states.shape[1] - 1, jnp.arange(n_skills)
    scores = in_use(scores, used)
    correct = jnp.argmax(scores, axis=1)[states[:, 1:]] == skills[:, None]
    last = states[:, -1]
    chancy, several = dynamics.next_state.shape[2] > 1, dynamics.starts is not None
    places = states if episodes.place is None else episodes.place
    ends = None  # [S, K] from the first start, as the episodes are
    if chancy or (epsilon is not None and not several):
        ends = last_states(greedy, dynamics._replace(starts=None), horizon, epsilon, acts)
    if chancy:
        assert ends is not None
        expected = jnp.where(ends > 0.0, ends * jax.nn.log_softmax(scores, axis=1), 0.0)
        measured = _measure(places, rewards, correct, expected.sum(axis=0), used)
        likely = (ends * jax.nn.softmax(scores, axis=1)).sum(axis=0)
        measured = measured._replace(
            n_effective=expected_distinct(ends), last_states=ends, last_probability=likely
        )
    else:
        log_posterior = jax.nn.log_softmax(scores[last], axis=1)[skills, skills]
        measured = _measure(places, rewards, correct, log_posterior, used)
    if acts is not None:
        measured = _of_taken(measured, rewards, correct, acts >= 0, used)
    if several:
        ends = last_states(greedy, dynamics, horizon, epsilon, acts)
    bits = information_of_ends(last, used) if ends is None else mutual_information(ends, used)
    return measured._replace(mutual_information=bits)


def evaluate_episodes(
    judge: Callable[[Moved], tuple[Array, Array]],
    episodes: Episodes,
    paths: bool = False,
    by_place: bool = False,
    used: Array | None = None,
) -> Evaluation:
    """Measure one episode of every skill in any world; ``judge`` gives scores and rewards [T, K].

    With ``paths`` it is shown the whole episode with every step, and ``by_place`` the places of
    observations instead of them; ``used`` [K] are those in use, where not all skills are.

    Skills are judged one after the other: all observations at once may not fit the memory.
    """

    def of_skill(one: tuple[Array, Moved]) -> tuple[Array, Array, Array]:
        skill, moved = one
        moved = moved._replace(path=along(moved.path) if paths else None)
        scores, rewards = judge(moved)
        scores = in_use(scores, used)
        right = jnp.argmax(scores, axis=1) == skill
        return rewards[:, skill], right, jax.nn.log_softmax(scores[-1])[skill]

    seen = episodes.with_places().place if by_place else episodes.obs
    before = jax.tree.map(lambda leaf: leaf[:, :-1], seen)
    after = jax.tree.map(lambda leaf: leaf[:, 1:], seen)
    moved = Moved(before, after, seen)
    reward, correct, log_posterior = jax.lax.map(of_skill, (episodes.skill, moved))
    places = episodes.obs if episodes.place is None else episodes.place
    measured = _measure(places, reward, correct, log_posterior, used)
    last = jax.tree.map(lambda leaf: leaf[:, -1], episodes.obs)
    measured = measured._replace(positions=episodes.position, last_observations=last)
    if episodes.alive is None:
        return measured
    return _of_taken(measured, reward, correct, episodes.alive, used)


def along(path: Any) -> Any:
    """[T, T + 1, ...] the whole of one episode [T + 1, ...] beside each of its T steps."""
    return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (leaf.shape[0] - 1, *leaf.shape)), path)


def _measure(
    places: Array, reward: Array, correct: Array, log_posterior: Array, used: Array | None
) -> Evaluation:
    """From places [K, N T + 1], rewards and hits [K, T] and log q(z | s_T) [K]."""
    last = jnp.sort(places[:, -1])
    quantiles, counts = jnp.asarray(QUANTILES), None if used is None else used[:, None]
    return Evaluation(
        n_effective=1 + (last[1:] != last[:-1]).sum(),
        discriminator_accuracy=jnp.mean(correct, where=counts),
        mean_reward=jnp.mean(reward, where=counts),
        mean_last_reward=jnp.mean(reward[:, -1], where=used),
        reward_quantiles=jnp.quantile(reward, quantiles)
        if counts is None
        else jnp.nanquantile(jnp.where(counts, reward, jnp.nan), quantiles),
        information_count=information_count(log_posterior, used),
        mutual_information=None,
        accuracy_per_step=jnp.mean(correct, axis=0, where=counts),
        trajectories=places,
        last_probability=jnp.exp(log_posterior),
        last_states=None,
        positions=None,
    )


def _of_taken(
    measured: Evaluation, reward: Array, correct: Array, alive: Array, used: Array | None
) -> Evaluation:
    """``measured`` over the steps that were taken, where episodes or chains may end before T."""
    last = jnp.maximum(alive.sum(axis=1) - 1, 0)
    if used is not None:
        alive = alive & used[:, None]
    n = jnp.maximum(alive.sum(), 1)
    taken = jnp.where(alive, reward, jnp.nan)
    return measured._replace(
        discriminator_accuracy=(correct & alive).sum() / n,
        mean_reward=jnp.where(alive, reward, 0.0).sum() / n,
        mean_last_reward=jnp.mean(jnp.take_along_axis(reward, last[:, None], 1)[:, 0], where=used),
        reward_quantiles=jnp.nanquantile(taken, jnp.asarray(QUANTILES)),
        accuracy_per_step=(correct & alive).sum(axis=0) / jnp.maximum(alive.sum(axis=0), 1),
    )


def last_states(
    greedy: Array,
    dynamics: Dynamics,
    horizon: int,
    epsilon: Array | float | None,
    acts: Array | None = None,
) -> Array:
    """[S, K] p(s_T | z) of the epsilon-greedy policy, exact; of the chains ``acts`` [K, T]."""
    n_states, n_skills = greedy.shape
    _, n_actions, n_successors = dynamics.next_state.shape
    skills = jnp.arange(n_skills)
    kept = 1.0 if epsilon is None else 1.0 - epsilon
    share = jnp.diff(dynamics.cumulative, axis=2, prepend=0.0)

    def moves(action: Array) -> tuple[Array, Array]:
        """[S, K, N] where actions [S, K] lead, and how likely."""
        onward = jnp.take_along_axis(dynamics.next_state, action[:, :, None], 1)
        return onward, jnp.take_along_axis(share, action[:, :, None], 1)

    own = moves(greedy)

    def step(t: int | Array, now: Array) -> Array:
        onward, chance = own if acts is None else moves(greedy[:, jnp.maximum(acts[:, t], 0)])
        p = now if acts is None else jnp.where(acts[:, t] < 0, 0.0, now)
        spread = now - p  # of those that are over
        for n in range(n_successors):
            flow = kept * chance[:, :, n] * p
            spread = spread.at[onward[:, :, n], skills].add(flow)
            if epsilon is None:
                continue
            for action in range(n_actions):
                flow = epsilon / n_actions * share[:, action, n, None] * p
                spread = spread.at[dynamics.next_state[:, action, n]].add(flow)
        return spread

    first = jnp.zeros((n_states, n_skills)).at[dynamics.start].set(1.0)
    if dynamics.starts is not None:
        share_of_start = 1.0 / dynamics.starts.shape[0]
        first = jnp.zeros_like(first).at[dynamics.starts].add(share_of_start)
    last: Array = jax.lax.fori_loop(0, horizon, step, first)
    return last


def expected_distinct(p: Array) -> Array:
    """Expected number of distinct last states of one episode of each skill, from p(s_T | z)."""
    return (1.0 - jnp.prod(1.0 - p, axis=1)).sum()


def in_use(scores: Array, used: Array | None) -> Array:
    """[n, K] in which skills that are not in use have no share."""
    return scores if used is None else jnp.where(used, scores, -jnp.inf)


def information_of_ends(last: Array, used: Array | None = None) -> Array:
    """`mutual_information` where skill z always ends in ``last`` [K] z: no [S, K] numbers."""
    drawn = jnp.ones(last.shape, bool) if used is None else used
    ends = jnp.sort(jnp.where(drawn, last, np.iinfo(last.dtype).max))
    alike = jnp.searchsorted(ends, last, side="right") - jnp.searchsorted(ends, last)
    share = jnp.maximum(alike, 1) / drawn.sum()
    return -jnp.mean(jnp.log2(share), where=drawn)


def information_count(log_posterior: Array, used: Array | None = None) -> Array:
    """2^E[log2 q(z|s_T) - log2 p(z)] (DISDAIN), from log q(z | s_T) [K].

    p(z) is uniform over all skills, or over those that are ``used`` [K].
    """
    n_skills = log_posterior.shape[0] if used is None else used.sum()
    return n_skills * jnp.exp(jnp.mean(log_posterior, where=used))


def mutual_information(p: Array, used: Array | None = None) -> Array:
    """Bits between a skill and its last state, from p(s_T | z) [S, K].

    p(z) as for `information_count`.
    """
    marginal = jnp.mean(p, axis=1, keepdims=True, where=None if used is None else used[None, :])
    ratio = jnp.where(p > 0, p / jnp.where(marginal > 0, marginal, 1.0), 1.0)
    return jnp.mean((p * jnp.log2(ratio)).sum(axis=0), where=used)
