"""A distance that is learned from transitions: its gradient, and what it comes to."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from apart.learner.approximators import table
from apart.objective import metrics
from apart.training.objectives import embedding


def test_pairs_are_pushed_apart_and_long_steps_pulled_together():
    here, there = jnp.array([[0.0, 0.0]]), jnp.array([[2.0, 0.0]])
    before, after, first, second = metrics.gradient(here, there, here, there, jnp.float32(3.0))
    # Downhill the pair parts by 2 / (2 d), d = sqrt(2); the step shrinks by 3 times 2 (2 - 0) / 2.
    np.testing.assert_allclose(-second, [[2.0 / (2.0 * np.sqrt(2.0)), 0.0]], rtol=1e-5)
    np.testing.assert_allclose(-after, [[-6.0, 0.0]], rtol=1e-5)
    np.testing.assert_allclose(first, -second, rtol=1e-5)
    np.testing.assert_allclose(before, -after, rtol=1e-5)


def test_steps_that_are_short_enough_are_let_alone_and_equal_pairs_have_no_direction():
    same = jnp.ones((1, 3))
    found = metrics.gradient(same, same + 0.1, same, same, jnp.float32(3.0))
    assert all(np.abs(each).max() == 0 for each in found)


def test_a_corridor_is_unrolled_to_its_length():
    # Ten states in a row: neighbours 1 apart, the ends nine, whatever their numbers are.
    n = 10
    form = table(n, (4,))
    steps = (jnp.arange(n - 1), jnp.arange(1, n))
    key = jax.random.key(0)

    @jax.jit
    def learnt(kept):
        def one(i, now):
            first, second = jax.random.randint(jax.random.fold_in(key, i), (2, 64), 0, n)
            return embedding.fitted(
                form, now, steps, metrics.gradient, jnp.float32(0.01), (first, second)
            )

        return jax.lax.fori_loop(0, 4000, one, kept)

    class Numbers:
        init_logits = 0.1

    rows = embedding.read(form, learnt(embedding.init(form, key, Numbers)), None)
    far = np.sqrt(np.square(rows[:, None] - rows).mean(-1))
    apart = np.abs(np.arange(n)[:, None] - np.arange(n))
    np.testing.assert_allclose(far, apart, atol=0.6)
