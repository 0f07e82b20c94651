"""What every registered discriminator and reward must satisfy."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from apart.objective.discriminators import DISCRIMINATORS
from apart.objective.rewards import REWARDS

LEARNED = [name for name, d in DISCRIMINATORS.items() if d.learned]
ONLY_3 = jnp.array([0.0, 0, 0, 1, 0])


def some_logits(name, k, seed=0):
    shape = DISCRIMINATORS[name].shape(k)
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape), jnp.float32)


@pytest.mark.parametrize("k", [2, 5, 6])
@pytest.mark.parametrize("beta", [1.0, 3.0])
@pytest.mark.parametrize("name", LEARNED)
def test_histogram_gradient_is_the_sum_of_sample_gradients(name, beta, k):
    d, logits = DISCRIMINATORS[name], some_logits(name, k)
    counts = jnp.asarray(np.random.default_rng(1).integers(0, 4, k), jnp.float32)
    each = jax.vmap(jax.grad(d.learned.loss), (None, 0, None))(logits, jnp.arange(k), beta)
    expected = jnp.tensordot(counts, each, 1)
    got = d.learned.gradient(logits, counts, jnp.float32(beta))
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", LEARNED)
def test_learning_one_skill_in_one_state_makes_it_the_prediction(name):
    d, logits = DISCRIMINATORS[name], some_logits(name, 5)
    for _ in range(200):
        logits -= 0.5 * d.learned.gradient(logits, ONLY_3, jnp.float32(1))
    scores = d.scores(logits, jnp.float32(1))
    assert scores.shape == (5,)
    assert int(scores.argmax()) == 3


@pytest.mark.parametrize("name", REWARDS)
def test_reward_of_a_recognised_skill_beats_all_others(name):
    reward = REWARDS[name]
    for discriminator in (n for n, d in DISCRIMINATORS.items() if d.gives == reward.reads):
        d, logits = DISCRIMINATORS[discriminator], 9.0 * ONLY_3
        if d.learned:
            logits = some_logits(discriminator, 5)
            for _ in range(200):
                logits -= 0.5 * d.learned.gradient(logits, ONLY_3, jnp.float32(1))
        got = reward.rewards(logits, jnp.float32(1))
        assert got.shape == (5,)
        assert int(got.argmax()) == 3


@pytest.mark.parametrize("name", [n for n, r in REWARDS.items() if r.of_skill])
def test_reward_of_one_skill_equals_the_reward_of_every_skill(name):
    reward = REWARDS[name]
    for discriminator in (n for n, d in DISCRIMINATORS.items() if d.gives == reward.reads):
        table = jnp.stack([some_logits(discriminator, 6, seed) for seed in range(4)])
        for state in range(4):
            every = reward.rewards(table[state], jnp.float32(1))
            one = [reward.of_skill(table, state, jnp.int32(z)) for z in range(6)]
            np.testing.assert_allclose(one, every, rtol=1e-6)
