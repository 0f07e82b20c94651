"""The ring: what goes in comes out, the oldest is forgotten first, sampling is uniform."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from apart.learner import draws, replay
from apart.learner.episodes import Episodes
from apart.worlds.grid import parse

CERTAIN, CHANCE = parse("S....", "corridor"), parse("S....", "corridor", slip=0.3)
HORIZON, N_EPISODES, SLOTS = 3, 2, 3


def collection(i):
    """Two episodes of three steps whose numbers tell where they came from."""
    states = jnp.array([[0, 1, 2, 1], [0, 0, 1, 2]])
    actions = jnp.array([[2, 2, 1], [0, 2, 2]])
    return Episodes(states, actions, jnp.array([2 * i, 2 * i + 1]))


def as_arrays(episodes):
    """The same as another world would give it, ended after the second step of the first."""
    alive = jnp.array([[True, True, False], [True, True, True]])
    ended = jnp.array([[False, True, False], [False, False, False]])
    obs = jax.nn.one_hot(episodes.obs, 5)
    return episodes._replace(obs=obs, alive=alive, terminated=ended)


FORMS = {
    "packed": (replay.packed(SLOTS, 2, jnp.asarray(CERTAIN.next_state), HORIZON), lambda e: e),
    "chance": (replay.packed(SLOTS, 2, jnp.asarray(CHANCE.next_state), HORIZON), lambda e: e),
    "plain": (replay.plain(SLOTS, 2, lambda: as_arrays(collection(0)), HORIZON), as_arrays),
}


def sampled(form, n_collections):
    memory, seen = FORMS[form]
    ring = memory.init()
    for i in range(n_collections):
        ring = memory.insert(ring, seen(collection(i)), jnp.int32(i))
    bits = jax.random.bits(jax.random.key(0), (3000,))
    return memory.sample(ring, bits, jnp.int32(n_collections))


@pytest.mark.parametrize("form", FORMS)
def test_what_goes_in_comes_out_evenly_and_the_oldest_is_forgotten(form):
    skills, counts = np.unique(sampled(form, 2).skill, return_counts=True)
    assert skills.tolist() == [0, 1, 2, 3]
    taken = np.array([2, 3, 2, 3] if form == "plain" else [3, 3, 3, 3])  # steps of each
    assert np.abs(counts - 3000 * taken / taken.sum()).max() < 100
    assert np.unique(sampled(form, 5).skill).tolist() == [4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize("form", FORMS)
def test_a_sample_is_a_transition_that_was_made(form):
    batch = sampled(form, 2)
    number = (lambda x: x.argmax(-1)) if form == "plain" else (lambda x: x)
    made = set()
    for i in range(2):
        new = collection(i)
        for e in range(N_EPISODES):
            for t in range(2 if form == "plain" and e == 0 else HORIZON):
                s, a, after = (int(x) for x in (new.obs[e, t], new.action[e, t], new.obs[e, t + 1]))
                made.add((s, a, after, int(new.skill[e]), t))
    times = np.rint(np.asarray(batch.time) * HORIZON).astype(int) - 1
    if form == "plain":  # the second step of the first episode was its last
        ended = np.asarray(batch.terminated)
        np.testing.assert_allclose(np.asarray(batch.time)[ended], 1.0)
        assert np.asarray(batch.last)[ended].all()
        assert not np.asarray(batch.cut).any()
        times = np.where(ended, 1, times)
    columns = (number(batch.obs), batch.action, number(batch.next_obs), batch.skill, times)
    assert set(zip(*(np.asarray(x).tolist() for x in columns), strict=True)) == made
    if form != "plain":
        np.testing.assert_array_equal(batch.last, times == HORIZON - 1)


def test_an_episode_that_the_worlds_own_clock_cuts_off_is_its_last_step_and_no_end():
    episodes = as_arrays(collection(0))
    episodes = episodes._replace(terminated=jnp.zeros_like(episodes.terminated))
    memory = replay.plain(SLOTS, 2, lambda: episodes, HORIZON)
    ring = memory.insert(memory.init(), episodes, jnp.int32(0))
    batch = memory.sample(ring, jax.random.bits(jax.random.key(0), (200,)), jnp.int32(1))
    cut = np.asarray(batch.cut)
    assert set(np.asarray(batch.skill)[cut].tolist()) == {0}
    assert set(np.asarray(batch.action)[cut].tolist()) == {2}
    assert np.asarray(batch.last)[cut].all()
    at_the_horizon = np.asarray(batch.last) & ~cut
    assert set(np.asarray(batch.skill)[at_the_horizon].tolist()) == {1}


def test_places_come_with_their_observations_where_they_are_asked_for():
    episodes = as_arrays(collection(0))
    every = jnp.arange(14).reshape(2, 7)  # decisions are held for two steps
    episodes = episodes._replace(place=every, position=jnp.zeros((2, 7, 2)))
    for places in (False, True):
        memory = replay.plain(SLOTS, 2, lambda: episodes, HORIZON, places=places)
        ring = memory.insert(memory.init(), episodes, jnp.int32(0))
        assert ring.position is None
        batch = memory.sample(ring, jax.random.bits(jax.random.key(0), (200,)), jnp.int32(1))
        if not places:
            assert batch.place is None
            continue
        t = np.where(batch.last & (batch.skill == 0), 1, np.rint(3 * batch.time) - 1).astype(int)
        first = 7 * np.asarray(batch.skill) + 2 * t
        np.testing.assert_array_equal(batch.place, np.stack([first, first + 2], 1))


def test_bytes_stay_bytes():
    images = as_arrays(collection(0))._replace(obs=jnp.zeros((2, 4, 8, 8, 3), jnp.uint8))
    memory = replay.plain(SLOTS, 2, lambda: images, HORIZON)
    assert memory.init().obs.dtype == jnp.uint8
    ring = memory.insert(memory.init(), images, jnp.int32(0))
    assert memory.sample(ring, jnp.zeros(4, jnp.uint32), jnp.int32(1)).obs.shape == (4, 8, 8, 3)


def test_draws_cover_their_range():
    bits = jax.random.bits(jax.random.key(1), (20_000,))
    u = draws.uniform(bits)
    assert 0 <= u.min() < 0.001
    assert 0.999 < u.max() < 1
    counts = np.bincount(draws.integer(bits, 7))
    assert len(counts) == 7
    assert counts.min() > 2600
    assert draws.uniform(jnp.array([0, 2**32 - 1], jnp.uint32)).tolist() == [0.0, 1 - 2**-24]
