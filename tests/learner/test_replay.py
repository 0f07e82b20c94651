"""The ring: what goes in comes out, the oldest is forgotten first, sampling is uniform."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from apart.learner import draws, replay


def filled(n_collections, capacity=10, collection=3):
    ring = replay.init(capacity, collection)
    for i in range(n_collections):
        rows = jnp.arange(collection) + 100 * i
        ring = replay.insert(ring, rows, -rows, jnp.int32(i))
    return ring


def seen(ring, n):
    bits = jax.random.bits(jax.random.key(0), (3000,))
    first, second = replay.sample(ring, bits, jnp.int32(n))
    np.testing.assert_array_equal(first, -second)
    return np.unique(first, return_counts=True)


def test_samples_only_what_was_inserted_and_all_of_it_evenly():
    values, counts = seen(filled(2), 2)
    assert values.tolist() == [0, 1, 2, 100, 101, 102]
    assert counts.min() > 400
    assert counts.max() < 600


def test_the_oldest_collection_is_overwritten():
    # capacity 10 holds three collections of 3; the fifth pushes out the first two
    values, _ = seen(filled(5), 5)
    assert values.tolist() == [200, 201, 202, 300, 301, 302, 400, 401, 402]


def test_draws_cover_their_range():
    bits = jax.random.bits(jax.random.key(1), (20_000,))
    u = draws.uniform(bits)
    assert 0 <= u.min() < 0.001
    assert 0.999 < u.max() < 1
    counts = np.bincount(draws.integer(bits, 7))
    assert len(counts) == 7
    assert counts.min() > 2600
    assert draws.uniform(jnp.array([0, 2**32 - 1], jnp.uint32)).tolist() == [0.0, 1 - 2**-24]
