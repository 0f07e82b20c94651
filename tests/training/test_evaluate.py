"""Metrics of policies whose numbers can be worked out by hand."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from apart.training.evaluate import evaluate, last_states, mutual_information, play
from apart.worlds.grid import parse

WORLD = parse("S..", "corridor")
STAY, RIGHT = 0, 2


def actions(*greedy):
    """Q [S, A, K] whose greedy action of skill z is greedy[z] everywhere."""
    q = np.zeros((3, 5, len(greedy)), np.float32)
    for z, a in enumerate(greedy):
        q[:, a, z] = 1.0
    return jnp.asarray(q)


def measured(q, scores, rewards, horizon=2, epsilon=0.0):
    return evaluate(
        q=q,
        scores=jnp.asarray(scores, jnp.float32),
        rewards=jnp.asarray(rewards, jnp.float32),
        next_state=jnp.asarray(WORLD.next_state),
        start=WORLD.start,
        horizon=horizon,
        epsilon=epsilon,
        key=jax.random.key(0),
    )


def test_two_skills_that_part():
    scores = np.log([[0.5, 0.5], [0.1, 0.9], [0.2, 0.8]])
    rewards = [[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]
    got = measured(actions(STAY, RIGHT), scores, rewards)
    assert got.trajectories.tolist() == [[0, 0, 0], [0, 1, 2]]
    assert int(got.n_effective) == 2
    # skill 0 stands in state 0 twice (tie -> predicted 0, right), skill 1 in 1 and 2 (right)
    assert got.accuracy_per_step.tolist() == [1.0, 1.0]
    assert got.mean_reward == pytest.approx((1 + 1 + 20 + 30) / 4)
    assert got.mean_last_reward == pytest.approx((1 + 30) / 2)
    np.testing.assert_allclose(got.reward_quantiles, [1, 1, 10.5, 22.5, 30], rtol=1e-6)
    np.testing.assert_allclose(got.last_probability, [0.5, 0.8], rtol=1e-6)
    assert got.information_count == pytest.approx(2 * (0.5 * 0.8) ** 0.5, rel=1e-5)
    assert got.mutual_information == pytest.approx(1.0)


def test_skills_that_do_not_part_carry_no_information():
    got = measured(actions(RIGHT, RIGHT), np.zeros((3, 2)), np.zeros((3, 2)))
    assert int(got.n_effective) == 1
    assert got.mutual_information == pytest.approx(0.0, abs=1e-6)
    assert got.discriminator_accuracy == pytest.approx(0.5)


def test_ties_between_actions_go_to_the_lowest_index():
    got = measured(jnp.zeros((3, 5, 2)), np.zeros((3, 2)), np.zeros((3, 2)))
    assert got.trajectories.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_mutual_information_by_hand():
    # two skills over two states: H(S) - H(S|Z) with p = (1, 0) and (1/2, 1/2)
    p = jnp.array([[1.0, 0.5], [0.0, 0.5]])
    expected = -(0.75 * np.log2(0.75) + 0.25 * np.log2(0.25)) - 0.5
    assert mutual_information(p) == pytest.approx(expected, rel=1e-5)


def test_last_states_are_the_frequencies_of_many_episodes():
    greedy = jnp.full((3, 2000), RIGHT)
    next_state = jnp.asarray(WORLD.next_state)
    exact = last_states(greedy[:, :1], next_state, 0, 3, 0.4)[:, 0]
    played = play(greedy, next_state, 0, 3, 0.4, jax.random.key(1))[:, -1]
    np.testing.assert_allclose(np.bincount(played, minlength=3) / 2000, exact, atol=0.04)
    assert exact.sum() == pytest.approx(1.0)
