"""Counts that fade and the model of known transitions, against eager loops."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from apart.learner import counts, model


def test_lazy_fading_equals_fading_everything():
    rng = np.random.default_rng(0)
    table, fade, eager = jnp.zeros((4, 3)), counts.init(4), np.zeros((4, 3))
    for step in range(200):
        state, skill, rate = rng.integers(4), rng.integers(3), 0.05 if step < 100 else 0.01
        table, fade = counts.add(table, fade, state, skill, jnp.float32(rate))
        eager *= 1 - rate
        eager[state, skill] += 1
    got = np.asarray(table) * np.asarray(counts.factor(fade))[:, None]
    np.testing.assert_allclose(got, eager, rtol=1e-4)


def test_an_abandoned_cell_fades_to_neutral():
    table, fade = counts.add(jnp.zeros((2, 2)), counts.init(2), 0, 1, jnp.float32(0.1))
    for _ in range(200):
        table, fade = counts.add(table, fade, 1, 0, jnp.float32(0.1))
    assert table[0, 1] * counts.factor(fade)[0] == pytest.approx(0.0, abs=1e-6)


def test_the_model_knows_what_was_taken_and_means_follow_recent_visits():
    known = model.init(3)
    for _ in range(50):
        known = model.add(known, jnp.array([0, 0]), jnp.array([0.2, 0.4]), jnp.array([True, False]))
    means = model.means(known)
    np.testing.assert_allclose(means.times, [1, 0, 0])
    assert means.factor[0] == pytest.approx(0.3, rel=1e-5)
    assert means.proceeds[0] == pytest.approx(0.5, rel=1e-5)
    for _ in range(1000):
        known = model.add(known, jnp.array([0, 2]), jnp.array([1.0, 0.5]), jnp.array([True, True]))
    means = model.means(known)
    np.testing.assert_allclose(means.times, [1, 0, 1])
    assert means.factor[0] == pytest.approx(1.0, abs=1e-3)
    assert means.factor[1] == 0.0
