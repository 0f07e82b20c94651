"""Counts that fade and the model of known transitions, against eager loops."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from apart.learner import counts, model


def test_lazy_fading_equals_fading_everything():
    rng = np.random.default_rng(0)
    kept, eager = counts.init(4, 3), np.zeros((4, 3))
    for step in range(200):
        state, skill, rate = rng.integers(4), rng.integers(3), 0.05 if step < 100 else 0.01
        kept = counts.add(kept, state, skill, jnp.float32(rate))
        eager *= 1 - rate
        eager[state, skill] += 1
    np.testing.assert_allclose(counts.read(kept, None), eager, rtol=1e-4)
    some = jnp.array([2, 0, 2])
    np.testing.assert_allclose(counts.read(kept, some), eager[some], rtol=1e-4)


def test_an_abandoned_cell_fades_to_neutral():
    kept = counts.add(counts.init(2, 2), 0, 1, jnp.float32(0.1))
    for _ in range(200):
        kept = counts.add(kept, 1, 0, jnp.float32(0.1))
    assert counts.read(kept, None)[0, 1] == pytest.approx(0.0, abs=1e-6)
    gone = counts.add(kept, 1, 0, jnp.float32(1.0))  # all of it at once
    np.testing.assert_allclose(counts.read(gone, None), [[0, 0], [1, 0]], atol=1e-6)


def test_counts_keep_their_precision_over_a_billion_steps():
    """25M episodes of 40 steps: the count of a skill that always ends here is 1 / rate."""

    @jax.jit
    def long(kept):
        return jax.lax.fori_loop(
            0, 25_000_000, lambda i, now: counts.add(now, i % 2, 0, jnp.float32(0.003)), kept
        )

    got = np.asarray(counts.read(long(counts.init(2, 2)), None))[:, 0]
    # the last was added to row 1; row 0 is one episode older
    expected = 1.0 / (1.0 - 0.997**2)
    np.testing.assert_allclose(got, [0.997 * expected, expected], rtol=1e-3)


def test_the_model_knows_what_was_taken_and_means_follow_recent_visits():
    known, one = model.init(3, 1), jnp.array([0, 0])
    for _ in range(50):
        known = model.add(known, one, one, jnp.array([0.2, 0.4]), jnp.array([True, False]))
    means = model.means(known)
    np.testing.assert_allclose(means.visits, [1, 0, 0])
    assert means.weight[0, 0] == pytest.approx(0.3, rel=1e-5)
    assert means.proceeds[0, 0] == pytest.approx(0.5, rel=1e-5)
    for _ in range(1000):
        cells, weights = jnp.array([0, 2]), jnp.array([1.0, 0.5])
        known = model.add(known, cells, one, weights, jnp.array([True, True]))
    means = model.means(known)
    np.testing.assert_allclose(means.visits, [1, 0, 1])
    assert means.weight[0, 0] == pytest.approx(1.0, abs=1e-3)
    assert means.weight[1, 0] == 0.0


def test_the_model_keeps_successors_in_proportion_to_how_often_they_were_seen():
    known, rng = model.init(1, 3), np.random.default_rng(0)
    for _ in range(40):
        successor = jnp.asarray(rng.choice(3, 100, p=[0.7, 0.3, 0.0]))
        nothing = jnp.zeros(100, int)
        known = model.add(known, nothing, successor, jnp.full(100, 0.5), jnp.ones(100, bool))
    means = model.means(known)
    np.testing.assert_allclose(means.weight[0], [0.35, 0.15, 0.0], atol=0.03)
    np.testing.assert_allclose(means.proceeds[0].sum(), 1.0, rtol=1e-5)
