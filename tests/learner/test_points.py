"""Ends among points: against loops, by hand, and what must never happen."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference.points import Places

from apart.learner import points

ADD, LOOKED, LOOK = jax.jit(points.add), jax.jit(points.looked), jax.jit(points.look)


@pytest.mark.parametrize("n_skills", [2, 5])
def test_every_look_is_what_loops_over_points_find(n_skills):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        fast, slow = points.init(n_skills, 3, size=20), Places(n_skills, 20)
        for _ in range(4):
            new = rng.normal(size=(9, 3)).astype(np.float32)
            fast = LOOKED(ADD(fast, jnp.asarray(new)))
            for point in new:
                slow.add(point)
            slow.look()
            n = int(fast.n)
            assert n == len(slow.memory)
            np.testing.assert_allclose(fast.memory[:n], slow.memory, atol=1e-6)
            np.testing.assert_allclose(fast.gap[:n], slow.gap, atol=1e-5)
            np.testing.assert_allclose(fast.place, slow.place, atol=1e-5)
            np.testing.assert_allclose(fast.width, slow.width, atol=1e-5)
        near = np.asarray(points.read(fast, jnp.asarray(new)))
        expected = [[slow.near(p, z) for z in range(n_skills)] for p in new]
        np.testing.assert_allclose(near, expected, atol=1e-5)


def test_by_hand():
    line = jnp.arange(9.0)[:, None]
    now = ADD(points.init(3, 1, size=16), line)
    assert int(now.n) == 9
    for _ in range(4):
        now = LOOKED(now)
    assert sorted(now.place[:, 0].tolist()) == [1, 4, 7]
    assert float(now.width) == 1
    middle = now.place[:, 0].tolist().index(4)
    near = np.asarray(points.read(now, jnp.array([[4.0], [5.0], [3.5]])))[:, middle]
    np.testing.assert_allclose(near, np.exp([0, -2, -0.5]), atol=1e-6)


def test_a_full_memory_stays_spread_over_all_that_was_seen():
    rng = np.random.default_rng(0)
    crowd = rng.uniform(0.0, 1.0, (300, 2))
    few = np.array([[5.0, 5.0], [9.0, 0.0]])
    now = points.init(2, 2, size=16)
    for part in (crowd[:150], few, crowd[150:]):
        now = LOOKED(ADD(now, jnp.asarray(part, jnp.float32)))
    kept = np.asarray(now.memory)
    for point in few:
        assert np.abs(kept - point).sum(1).min() < 1e-6
    far = np.linalg.norm(crowd[:, None] - kept, axis=2).min(1)
    assert far.max() < 0.45  # 14 points in a unit square, no corner forgotten


def test_a_look_never_makes_the_covering_radius_larger():
    for seed in range(10):
        seen = jnp.asarray(np.random.default_rng(seed).normal(size=(40, 2)), jnp.float32)
        now, radius = LOOKED(ADD(points.init(5, 2, size=64), seen)), np.inf
        for _ in range(6):
            now = LOOKED(now)
            assert float(now.width) <= radius + 1e-6
            radius = float(now.width)


def test_looks_are_made_when_they_are_due():
    now = ADD(points.init(2, 1, size=8), jnp.arange(4.0)[:, None])
    assert float(LOOK(now, jnp.int32(points.EVERY + 1)).width) == 0
    assert float(LOOK(now, jnp.int32(points.EVERY)).width) > 0
    assert float(LOOK(now, jnp.int32(1)).width) > 0


def test_long_observations_keep_their_distances():
    rng = np.random.default_rng(0)
    short, long = (jnp.asarray(rng.normal(size=(20, n)), jnp.float32) for n in (8, 3000))
    assert points.seen_as(8) == 8
    np.testing.assert_array_equal(points.projected(short), short)
    seen = points.projected(long)
    assert seen.shape == (20, points.seen_as(3000))
    apart = np.triu_indices(20, 1)
    ratio = points.distances(seen, seen)[apart] / points.distances(long, long)[apart]
    assert 0.75 < float(ratio.min()) <= float(ratio.max()) < 1.25


def test_the_memory_grows_with_the_number_of_skills():
    assert points.init(10, 2).memory.shape == (1024, 2)
    assert points.init(1000, 2).memory.shape[0] >= 4000


def test_with_a_place_for_every_point_nothing_moves_any_more():
    now = LOOKED(ADD(points.init(6, 1, size=16), jnp.arange(5.0)[:, None]))
    for _ in range(4):
        now = LOOKED(now)
    assert float(now.width) == 0.5  # half a gap
    assert sorted(set(now.place[:, 0].tolist())) == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(LOOKED(now).place, now.place)


@pytest.mark.parametrize("seen", [np.eye(16), np.random.default_rng(0).normal(size=(16, 4))])
def test_more_skills_than_points_leave_a_place_on_every_point(seen):
    """Look after look; a bump is 1 in its place and next to nothing in all others."""
    kept = points.add(points.init(20, seen.shape[1]), jnp.asarray(seen, jnp.float32))
    distinct = []
    for _ in range(10):
        kept = points.looked(kept)
        distinct.append(len(np.unique(np.asarray(kept.place), axis=0)))
    assert distinct == sorted(distinct)
    assert distinct[-1] == 16
    near = np.array(points.read(kept, jnp.asarray(seen, jnp.float32)))
    own = np.asarray(points.distances(jnp.asarray(seen, jnp.float32), kept.place)).argmin(axis=0)
    assert (near[own, np.arange(20)] > 0.9).all()
    near[own, np.arange(20)] = 0.0
    assert near.max() < 1e-3


def test_places_in_another_space_are_those_of_what_points_are_there():
    def turned(points_):  # stretched and turned: other neighbours, no point lost
        return points_ @ jnp.array([[3.0, 1.0, 0.0], [-0.2, 0.5, 0.1]])

    space = points.Space(lambda seen: seen, turned)
    look = jax.jit(lambda now: points.looked(now, space))
    seen = jnp.asarray(np.random.default_rng(3).normal(size=(30, 2)), jnp.float32)
    here = ADD(points.init(4, 2, size=64), seen)
    there = ADD(points.init(4, 3, size=64), turned(seen))
    plain = here
    for _ in range(4):
        here, there, plain = look(here), LOOKED(there), LOOKED(plain)
        np.testing.assert_allclose(turned(here.place), there.place, atol=1e-4)
        np.testing.assert_allclose(here.width, there.width, rtol=1e-4)
        np.testing.assert_allclose(here.gap, plain.gap)
    assert np.abs(here.place - plain.place).max() > 0.1
    near = points.read(here, seen, turned)
    np.testing.assert_allclose(near, points.read(there, turned(seen)), atol=1e-4)


def test_the_memory_is_spread_over_scaled_points():
    seen = jnp.array([[0.0, 0.0], [0.0, 1.0], [10.0, 0.5]])

    def scaled(flat):
        return flat / jnp.array([100.0, 1.0])

    kept = jax.jit(lambda now: points.add(now, seen, scaled))(points.init(2, 2, size=2))
    np.testing.assert_array_equal(kept.memory, seen[:2])
    np.testing.assert_array_equal(ADD(points.init(2, 2, size=2), seen).memory[0], seen[2])
