"""Where skills are to end: against loops, by hand, and what must never happen."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference.ends import Places

from apart.learner import ends
from apart.learner.ends import Ends, Graph
from apart.worlds import grid, spread

LOOKED = jax.jit(ends.looked)
MOVED = jax.jit(ends.moved)
LOOK = jax.jit(ends.look)


def edges(rng, n_states, n_edges, undone):
    """Random edges; ``undone``: each of them both ways."""
    pairs = rng.integers(0, n_states, (n_edges // 2, 2))
    more = pairs[:, ::-1] if undone else rng.integers(0, n_states, pairs.shape)
    return np.concatenate([pairs, more]).astype(np.int32)


def graph_of(world, seen=True):
    n, actions = world.next_state.shape[:2]
    source = np.repeat(np.arange(n, dtype=np.int32), actions)
    target = world.next_state.reshape(-1)
    return Graph(jnp.asarray(source), jnp.asarray(target), jnp.full(len(source), seen))


def finished(world, n_skills):
    """The ends after as many looks as change anything."""
    now, graph = ends.init(world.n_states, n_skills, world.start), graph_of(world)
    for _ in range(100):
        now = LOOKED(now, graph, world.start, 10**6)
        if int(now.n_trials) >= 4:
            return now
    raise AssertionError("never settled")


@pytest.mark.parametrize("undone", [True, False])
@pytest.mark.parametrize("n_skills", [2, 5])
def test_every_look_is_what_loops_over_seen_steps_find(n_skills, undone):
    n_states, n_edges = 12, 30
    for seed in range(12):
        rng = np.random.default_rng(seed)
        pairs, start = edges(rng, n_states, n_edges, undone), int(rng.integers(n_states))
        seen = np.zeros(n_edges, bool)
        horizon = int(rng.integers(1, 5))
        fast, slow = (
            ends.init(n_states, n_skills, start),
            Places(n_states, n_skills, start, horizon),
        )
        for _ in range(8):
            seen[rng.integers(0, n_edges, 6 if not seen.all() else 0)] = True
            fast = LOOKED(fast, Graph(*map(jnp.asarray, (*pairs.T, seen))), start, horizon)
            slow.look({tuple(map(int, pair)) for pair in pairs[seen]}, int(seen.sum()))
            expected = (slow.place, slow.owner, slow.steps, slow.width, slow.n_seen)
            for name, value in zip(
                Ends._fields, (*expected, slow.settled, slow.trial), strict=False
            ):
                np.testing.assert_array_equal(getattr(fast, name), value, err_msg=name)
            assert int(fast.n_trials) == slow.trials
            np.testing.assert_array_equal(fast.edge, slow.edge)


def test_a_step_never_makes_the_covering_radius_larger():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        pairs = edges(rng, 12, 30, undone=bool(seed % 2))
        graph = Graph(*map(jnp.asarray, (*pairs.T, np.ones(30, bool))))
        known = np.zeros(12, bool)
        known[pairs] = True
        place, radius = jnp.full(5, int(pairs[0, 0]), jnp.int32), 12
        for _ in range(5):
            place, _, steps = MOVED(place, graph, jnp.asarray(known))
            assert int(np.asarray(steps)[known].max()) <= radius
            radius = int(np.asarray(steps)[known].max())


def test_what_was_not_seen_has_no_part_in_it():
    rng = np.random.default_rng(0)
    pairs, seen = edges(rng, 12, 30, undone=True), np.arange(30) % 3 > 0
    others = np.where(seen[:, None], pairs, rng.integers(0, 12, pairs.shape)).astype(np.int32)
    first = ends.init(12, 5, int(pairs[1, 0]))
    found = [
        LOOKED(first, Graph(*map(jnp.asarray, (*p.T, seen))), int(pairs[1, 0]), 3)
        for p in (pairs, others)
    ]
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_by_hand():
    line = grid.parse("S........", "line")
    now = finished(line, 3)
    assert sorted(now.place.tolist()) == [1, 4, 7]
    assert int(now.width) == 1
    near = np.asarray(ends.read(now, None))
    assert near.shape == (9, 3)
    assert (near > 0).sum(1).tolist() == [1] * 9  # every cell belongs to one skill
    middle = now.place.tolist().index(4)
    np.testing.assert_allclose(near[:, middle], [0, 0, 0, 0.5, 1, 0.5, 0, 0, 0])
    np.testing.assert_array_equal(ends.read(now, jnp.array([4, 8])), near[[4, 8]])


@pytest.mark.parametrize(("name", "n_skills", "radius"), [("four_rooms", 10, 3), ("u_maze", 8, 3)])
def test_few_places_are_as_good_as_greedy_k_center(name, n_skills, radius):
    world = grid.load(name)
    now = finished(world, n_skills)
    assert int(now.width) <= spread.ideal_radius(world, 40, n_skills) == radius
    measured = spread.spread(world, 40, np.asarray(now.place), n_skills)
    assert measured.radius == int(now.width)


def test_with_as_many_skills_as_states_every_state_is_one_place():
    world = grid.load("u_maze")
    assert sorted(finished(world, 72).place.tolist()) == list(range(72))
    assert len(set(finished(world, 80).place.tolist())) == 72


def test_a_look_is_made_where_one_is_due_and_something_may_change():
    world = grid.parse("S...", "line")
    graph, first = graph_of(world), ends.init(4, 2, 0)
    assert LOOK(first, graph, jnp.int32(ends.EVERY + 1), 0, 9).width == 0
    now = LOOK(first, graph, jnp.int32(ends.EVERY), 0, 9)
    assert int(now.width) == 1
    for _ in range(30):
        now = LOOK(now, graph, jnp.int32(ends.EVERY), 0, 9)
    done = now._replace(width=jnp.int32(77))
    assert int(LOOK(done, graph, jnp.int32(ends.EVERY), 0, 9).width) == 77
    more = done._replace(n_seen=done.n_seen - 1)
    assert int(LOOK(more, graph, jnp.int32(ends.EVERY), 0, 9).width) == 1
    assert int(LOOK(more, graph, jnp.int32(ends.EVERY + 1), 0, 9).width) == 77
    moving = done._replace(settled=jnp.bool_(False))  # nothing new: in any round
    assert int(LOOK(moving, graph, jnp.int32(ends.EVERY + 1), 0, 9).width) == 1


def test_the_edge_is_what_no_start_leads_to_in_time():
    """Two starts at the ends of a corridor of 12, episodes of 4 steps: cells 4 to 7 are too far."""
    world = grid.parse("S...........", "line")
    graph, first = graph_of(world), ends.init(12, 2, 0)
    one = LOOK(first, graph, jnp.int32(ends.EVERY), jnp.array([0]), 4)
    both = LOOK(first, graph, jnp.int32(ends.EVERY), jnp.array([0, 11]), 4)
    assert np.flatnonzero(one.edge).tolist() == list(range(4, 12))
    assert np.flatnonzero(both.edge).tolist() == [4, 5, 6, 7]


@pytest.mark.parametrize(("large", "n_skills", "tried"), [(1024, 3, 32), (5, 3, 4), (1024, 12, 0)])
def test_other_beginnings_are_few_in_large_worlds_and_none_where_nothing_can_be_better(
    large, n_skills, tried, monkeypatch
):
    monkeypatch.setattr(ends, "_LARGE", large)
    there = jnp.arange(11)
    source, target = jnp.concatenate([there, there + 1]), jnp.concatenate([there + 1, there])
    graph = Graph(source, target, jnp.ones(22, bool))  # twelve states in a row
    found = ends.init(12, n_skills, 0)
    look = jax.jit(lambda now, rounds: ends.look(now, graph, rounds, 0, 20))
    for rounds in range(200):
        found = look(found, jnp.int32(rounds))
    assert int(found.n_trials) == tried
    assert int(found.width) == (0 if n_skills == 12 else 2)
