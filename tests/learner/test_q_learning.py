"""The histogram form of Q-learning against autodiff of the one-sample loss."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from apart.learner import q_learning


def test_td_loss_by_hand():
    # (0.5 + 0.9 * 2 - 0.3)^2 = 4
    q_t, q_tp1 = jnp.array([0.1, 0.3]), jnp.array([2.0, -1.0])
    assert q_learning.td_loss(q_t, 1, 0.5, 0.9, q_tp1) == pytest.approx(4.0)
    assert q_learning.td_loss(q_t, 1, 0.5, 0.0, q_tp1) == pytest.approx(0.04)


@pytest.mark.parametrize("shape", [(5, 9, 4), (5, 3, 2, 4)])
def test_the_best_action_by_slices_is_the_same(shape):
    q = jax.random.normal(jax.random.key(0), shape)
    at_once = q_learning.best(q)
    assert at_once.shape == (5, 4)
    assert (q_learning.best(q, by_slices=True) == at_once).all()
    by_hand = np.asarray(q).max(-2)
    np.testing.assert_allclose(at_once, by_hand if len(shape) == 3 else by_hand.mean(1), rtol=1e-6)


def test_a_plain_step_by_hand():
    # targets of one cell: 1 + 0.5 * 2 and 3 + 0; their mean is 2.5; half way from 0.5 is 1.5
    q = jnp.array([[[0.5], [7.0]]])
    taught, target = jnp.array([[[2.0], [0.0]]]), jnp.array([[[5.0], [0.0]]])
    got = q_learning.plain_step(q, taught, target, 0.5)
    np.testing.assert_allclose(got, [[[1.5], [7.0]]])


def test_rows_step_equals_plain_step():
    rng = np.random.default_rng(0)
    s, a, k, b = 6, 2, 3, 9
    q = jnp.asarray(rng.normal(size=(s, a, k)), jnp.float32)
    cell, target = rng.integers(0, s * a, b), rng.normal(size=(b, k)).astype(np.float32)
    times, sums = np.zeros((s * a, 1), np.float32), np.zeros((s * a, k), np.float32)
    np.add.at(times, cell, 1.0)
    np.add.at(sums, cell, target)
    dense = q_learning.plain_step(q, times.reshape(s, a, 1), sums.reshape(s, a, k), 0.3)
    rows = q_learning.rows_step(q, jnp.asarray(cell), target, 0.3)
    np.testing.assert_allclose(rows, dense, rtol=1e-5, atol=1e-6)


def test_the_gradient_equals_autodiff_of_the_batch():
    rng = np.random.default_rng(0)
    s, a, k, b, gamma = 4, 3, 5, 200, 0.9
    q = jnp.asarray(rng.normal(size=(s, a, k)), jnp.float32)
    next_state = rng.integers(0, s, (s, a))
    states, actions, skills = rng.integers(0, s, b), rng.integers(0, a, b), rng.integers(0, k, b)
    rewards, proceeds = rng.normal(size=b), rng.integers(0, 2, b)

    def loss(table):
        fixed = jax.lax.stop_gradient(table)

        def one(state, action, skill, reward, goes_on, after):
            return q_learning.td_loss(
                table[state, :, skill], action, reward, gamma * goes_on, fixed[after, :, skill]
            )

        after = next_state[states, actions]
        return jax.vmap(one)(states, actions, skills, rewards, proceeds, after).mean()

    value = np.asarray(q.max(axis=1))[next_state[states, actions], skills]
    taught, target = (np.zeros((s, a, k), np.float32) for _ in range(2))
    for field, values in ((taught, np.ones(b)), (target, rewards + gamma * proceeds * value)):
        np.add.at(field, (states, actions, skills), values)
    got = q_learning.gradient(q, taught, target, b)
    np.testing.assert_allclose(got, jax.grad(loss)(q), rtol=1e-4, atol=1e-6)
