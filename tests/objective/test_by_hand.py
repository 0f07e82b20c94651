"""Rewards, losses and weights against numbers computed by hand, with and without jit."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from apart.objective import discriminators, ensemble, mixtures, near_optimal, pairs, rewards
from apart.objective.time_weights import TIME_WEIGHTS, reward_factor

both = pytest.mark.parametrize("maybe_jit", [lambda f: f, jax.jit], ids=["plain", "jit"])


def folded(o01, o02, o12):
    """Cells for K = 3 from the logits of the pairs (0,1), (0,2), (1,2)."""
    first, second = pairs.members(3)
    values = {(0, 1): o01, (0, 2): o02, (1, 2): o12}
    cells = [values[i, j] for i, j in zip(first.ravel(), second.ravel(), strict=True)]
    return jnp.asarray(cells).reshape(first.shape)


@both
def test_log_posterior(maybe_jit):
    # softmax(log 1, log 3) = (1/4, 3/4); minus log p = log 2.
    got = maybe_jit(rewards.log_posterior)(jnp.log(jnp.array([1.0, 3.0])), 1.0)
    np.testing.assert_allclose(got, [math.log(0.5), math.log(1.5)], rtol=1e-6)


@both
def test_posterior_with_inverse_temperature(maybe_jit):
    # beta 2 squares the odds: 1 : 9.
    got = maybe_jit(rewards.posterior)(jnp.log(jnp.array([1.0, 3.0])), 2.0)
    np.testing.assert_allclose(got, [0.1, 0.9], rtol=1e-6)


@both
def test_min_pairs(maybe_jit):
    got = maybe_jit(rewards.min_pairs)(folded(0.5, -1.0, 0.2), 1.0)
    # skill 0: min(.5, -1); skill 1: min(-.5, .2); skill 2: min(1, -.2)
    np.testing.assert_allclose(got, np.tanh([-1.0, -0.5, -0.2]), rtol=1e-6)


@both
def test_min_pairs_can_be_positive_and_literal_cannot(maybe_jit):
    cells = folded(0.5, 1.0, 0.2)
    assert maybe_jit(rewards.min_pairs)(cells, 1.0)[0] == pytest.approx(math.tanh(0.5))
    assert maybe_jit(rewards.min_pairs_literal)(cells, 1.0)[0] == 0.0


@both
def test_average_pairs(maybe_jit):
    y = [math.tanh(0.5), math.tanh(-1.0), math.tanh(0.2)]
    votes = np.array([y[0] + y[1], -y[0] + y[2], -y[1] - y[2]])
    expected = np.exp(votes) / np.exp(votes).sum()
    got = maybe_jit(rewards.average_pairs)(folded(0.5, -1.0, 0.2), 1.0)
    np.testing.assert_allclose(got, expected, rtol=1e-5)


@both
def test_min_margin(maybe_jit):
    got = maybe_jit(rewards.min_margin)(jnp.array([1.0, 3.0, 0.0]), 2.0)
    np.testing.assert_allclose(got, np.tanh([-2.0, 2.0, -3.0]), rtol=1e-6)


def test_min_log_odds_is_the_margin_squashed_otherwise():
    # DGPO: log q_z / (q_z + q_j) with the strongest rival; q = .5, .3, .2
    o = jnp.log(jnp.array([0.5, 0.3, 0.2]))
    got = rewards.min_log_odds(o, 1.0)
    np.testing.assert_allclose(got, np.log([5 / 8, 3 / 8, 2 / 7]), rtol=1e-5)
    np.testing.assert_allclose(got, np.log((1 + rewards.min_margin(o, 1.0)) / 2), rtol=1e-5)


@both
def test_an_ensemble(maybe_jit):
    # q_0 = (.9, .1), q_1 = (.3, .7): the mean is (.6, .4)
    o = jnp.log(jnp.array([[0.9, 0.1], [0.3, 0.7]]))
    got = maybe_jit(rewards.clipped_posterior)(o, 1.0)
    np.testing.assert_allclose(got, [math.log(1.2), 0.0], rtol=1e-5)  # log 0.8 < 0
    bits = [-sum(p * math.log(p) for p in q) for q in ((0.6, 0.4), (0.9, 0.1), (0.3, 0.7))]
    bonus = maybe_jit(ensemble.disagreement)(o)
    np.testing.assert_allclose(bonus, bits[0] - (bits[1] + bits[2]) / 2, rtol=1e-4)
    np.testing.assert_allclose(ensemble.disagreement(o[:1]), 0.0, atol=1e-6)
    alone = maybe_jit(rewards.clipped_log_posterior)(o[1], 1.0)
    np.testing.assert_allclose(alone, [0.0, math.log(1.4)], rtol=1e-5)  # log 0.6 < 0


@both
def test_min_counts(maybe_jit):
    # prior 1/2: (4 - 1) / (4 + 1 + .5), and the others against 4
    got = maybe_jit(rewards.min_counts)(jnp.array([4.0, 1.0, 0.0]), 0.5)
    np.testing.assert_allclose(got, [3 / 5.5, -3 / 5.5, -4 / 4.5], rtol=1e-6)
    tie = maybe_jit(rewards.min_counts)(jnp.array([3.0, 3.0, 0.0]), 1.0)
    np.testing.assert_allclose(tie, [0.0, 0.0, -3 / 4], atol=1e-7)


def test_min_margin_is_min_pairs_of_logit_differences():
    o = np.array([0.3, -0.2, 0.9, 0.1, -1.0], np.float32)
    first, second = pairs.members(5)
    cells = jnp.asarray((o[first] - o[second]) / 2)
    expected = rewards.min_pairs(cells, 1.0)
    np.testing.assert_allclose(rewards.min_margin(jnp.asarray(o), 1.0), expected, rtol=1e-5)


def test_counts_are_the_optimum_of_the_all_pairs_loss():
    n = jnp.array([5.0, 2.0, 1.0])
    first, second = pairs.members(3)
    optimum = jnp.arctanh((n[first] - n[second]) / (n[first] + n[second]))
    gradient = discriminators.all_pairs_gradient(optimum, n, 1.0)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-6)


@both
def test_one_vs_all_loss(maybe_jit):
    got = maybe_jit(discriminators.one_vs_all_loss)(jnp.log(jnp.array([1.0, 3.0])), 1, 1.0)
    assert got == pytest.approx(-math.log(0.75), rel=1e-6)


@both
def test_all_pairs_loss_is_the_mean_over_the_pairs_of_the_skill(maybe_jit):
    # skill 1: pair (0,1) must say "not 0": -log (1 - y)/2; pair (1,2) "1": -log (1 + y)/2.
    expected = -0.5 * (math.log((1 - math.tanh(0.5)) / 2) + math.log((1 + math.tanh(0.2)) / 2))
    got = maybe_jit(discriminators.all_pairs_loss)(folded(0.5, -1.0, 0.2), 1, 1.0)
    assert got == pytest.approx(expected, rel=1e-5)


@both
def test_dont_cares_pull_other_pairs_to_zero(maybe_jit):
    y = math.tanh(-1.0)
    other = -0.5 * (math.log((1 + y) / 2) + math.log((1 - y) / 2))
    mine = -(math.log((1 - math.tanh(0.5)) / 2) + math.log((1 + math.tanh(0.2)) / 2))
    got = maybe_jit(discriminators.dont_cares_loss)(folded(0.5, -1.0, 0.2), 1, 1.0)
    assert got == pytest.approx((mine + other) / 3, rel=1e-5)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("all", [1, 1, 1, 1]),
        ("last", [0, 0, 0, 1]),
        ("linear", [0.25, 0.5, 0.75, 1]),
        ("square", [0.0625, 0.25, 0.5625, 1]),
        ("fourth", [0.00390625, 0.0625, 0.31640625, 1]),
        ("exponential", [math.exp(-3.75), math.exp(-2.5), math.exp(-1.25), 1]),
    ],
)
def test_time_weights(name, expected):
    t = jnp.arange(1, 5)
    got = reward_factor(TIME_WEIGHTS[name], False, t / 4, jnp.zeros(4), 0.5)
    np.testing.assert_allclose(got, expected, rtol=1e-6)


@pytest.mark.parametrize("name", TIME_WEIGHTS)
def test_dropout_keeps_with_the_weight_as_probability(name):
    u = (jnp.arange(1000) + 0.5) / 1000
    for t in (1, 2, 3, 4):
        kept = reward_factor(TIME_WEIGHTS[name], True, jnp.full(1000, t / 4), u, 0.3)
        assert set(np.unique(kept)) <= {0.0, 1.0}
        weight = TIME_WEIGHTS[name].weight(jnp.float32(t / 4))
        assert kept.mean() == pytest.approx(0.3 if name == "all" else float(weight), abs=2e-3)


@both
def test_near_end(maybe_jit):
    got = maybe_jit(rewards.near_end)(jnp.array([1.0, 0.5, 0.0]), 1.0)
    np.testing.assert_allclose(got, [0.05, 0.025, 0.0], atol=1e-7)


@both
def test_dads_is_paid_as_in_qdax(maybe_jit):
    """There it is log K - log of the sum over skills of p_j / p_z, each ratio held to exp(+-50)."""
    row = jax.random.normal(jax.random.key(0), (mixtures.COMPONENTS, 3, 5))
    change = jnp.array([0.3, -1.2])
    density = maybe_jit(mixtures.log_densities)(row, change)
    ratios = np.clip(np.asarray(density)[:, None] - np.asarray(density), -50, 50)
    wanted = math.log(5) - np.log(np.exp(ratios).sum(axis=0))
    np.testing.assert_allclose(maybe_jit(mixtures.rewards)(row, change), wanted, atol=1e-5)


@both
def test_the_gate_of_smerl_opens_as_in_qdax(maybe_jit):
    """There where a return is at least a target less a margin: here the best, and a share of it."""
    earned, best, share = jnp.array([0.0, 7.4, 7.5, 10.0, 12.0]), 10.0, 0.75
    got = maybe_jit(near_optimal.gate)(earned, jnp.float32(best), jnp.float32(share))
    np.testing.assert_array_equal(got, np.asarray(earned) >= best - (1 - share) * best)
