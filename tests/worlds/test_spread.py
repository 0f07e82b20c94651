"""The covering radius and its ideal, against loops over all pairs."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apart.running import records
from apart.worlds import grid, load, spread, tables
from apart.worlds.holding import held


def pairs_of(world):
    """[S][S] steps from each state to each, by Floyd and Warshall; S where no way leads."""
    n = world.n_states
    away = [[0 if i == j else n for j in range(n)] for i in range(n)]
    for s, a, k in np.ndindex(world.next_state.shape):
        if world.probability[s, a, k] > 0 and world.next_state[s, a, k] != s:
            away[s][world.next_state[s, a, k]] = 1
    for k, i, j in np.ndindex(n, n, n):
        away[i][j] = min(away[i][j], away[i][k] + away[k][j])
    return np.minimum(away, n)


def slowly(world, ends, cells):
    """Radius, mean distance and gap, word by word."""
    away = pairs_of(world)
    nearest = [min(int(away[e][s]) for e in ends) for s in cells]
    distinct = sorted(set(ends))
    gaps = [min(int(away[e][f]) for f in distinct if f != e) for e in distinct if distinct[1:]]
    return max(nearest), sum(nearest) / len(nearest), sum(gaps) / len(gaps) if gaps else None


def slow_ideal(world, horizon, k):
    away, may = pairs_of(world), np.flatnonzero(world.last_states(horizon)).tolist()
    radii = []
    for first in may:
        ends = [first]
        while len(ends) < min(k, len(may)):
            ends.append(max(may, key=lambda s: (min(away[e][s] for e in ends), -s)))
        radii.append(
            max(min(away[e][s] for e in ends) for s in np.flatnonzero(world.distance <= horizon))
        )
    return min(radii)


@st.composite
def worlds(draw):
    """Maps, and tables whose steps cannot always be undone, with and without chance."""
    if draw(st.booleans()):
        rows = [["S", ".", *draw(st.lists(st.sampled_from("..#"), min_size=2, max_size=2))]]
        rows += draw(st.lists(st.lists(st.sampled_from("..#"), min_size=4, max_size=4), max_size=3))
        text = "\n".join("".join(row) for row in rows)
        slip = draw(st.sampled_from([0.0, 0.2]))
        return grid.parse(text, "drawn", slip=slip)
    n = draw(st.integers(2, 7))
    state = st.integers(0, n - 1)
    # The first action goes round, so that all states can be reached.
    moved = [[(s + 1) % n if s + 1 < n else draw(state), draw(state)] for s in range(n)]
    return tables.build("drawn", np.array(moved))


@given(worlds(), st.data())
def test_it_is_what_loops_over_all_pairs_find(world, data):
    ends = data.draw(st.lists(st.integers(0, world.n_states - 1), min_size=1, max_size=5))
    horizon = data.draw(st.integers(max(1, int(world.distance.max()) - 1), 9))
    cells = np.flatnonzero(world.distance <= horizon)
    found = spread.spread(world, horizon, np.array(ends), len(ends))
    radius, mean, gap = slowly(world, ends, cells)
    assert (found.radius, found.gap) == (radius, None if gap is None else pytest.approx(gap, 1e-3))
    assert found.mean_distance == pytest.approx(mean, abs=1e-4)
    assert found.ideal_radius == slow_ideal(world, horizon, len(ends))
    assert found.score == (found.ideal_radius / radius if radius else 1.0)
    np.testing.assert_array_equal(spread.distances(world), pairs_of(world))


@given(worlds(), st.integers(1, 3))
def test_the_ideal_is_at_most_twice_the_smallest_radius(world, k):
    horizon = 2 * world.n_states
    may = np.flatnonzero(world.last_states(horizon)).tolist()
    if not (np.asarray(pairs_of(world)) == np.asarray(pairs_of(world)).T).all():
        return  # what Gonzalez proved is about distances that are symmetric
    best = min(
        slowly(world, ends, range(world.n_states))[0]
        for ends in combinations(may, min(k, len(may)))
    )
    assert best <= spread.ideal_radius(world, horizon, k) <= 2 * best


def test_by_hand():
    line = grid.parse("S........", "line")  # nine cells
    found = spread.spread(line, 16, np.array([0, 1, 1]), 3)
    assert found == spread.Spread(7, round(28 / 9, 4), 1.0, 2)
    assert found.score == 2 / 7
    assert spread.spread(line, 16, np.array([4]), 1) == (4, round(20 / 9, 4), None, 4)
    assert [spread.ideal_radius(line, 16, k) for k in (1, 2, 3, 8, 9, 50)] == [4, 3, 2, 1, 0, 0]


def test_steps_count_from_the_end_where_they_cannot_be_undone():
    down = tables.build("down", np.array([[1], [2], [2]]))  # 0 -> 1 -> 2, which absorbs
    assert spread.spread(down, 2, np.array([0]), 1).radius == 2
    assert spread.spread(down, 2, np.array([2]), 1).radius == 3  # nothing leads back: S steps
    assert spread.spread(down, 2, np.array([1, 2]), 2).gap == 2.0  # 1, and S for the other


def test_a_world_of_many_states_is_tried_from_some_first_places(monkeypatch):
    world = grid.load("four_rooms")
    all_first = {k: spread.ideal_radius(world, 40, k) for k in (5, 10, 20, 40)}
    assert all_first == {5: 5, 10: 3, 20: 2, 40: 1}
    monkeypatch.setattr(spread, "_ALL_FIRST", 10)
    spread._greedy.cache_clear()
    some = {k: spread.ideal_radius(world, 40, k) for k in all_first}
    spread._greedy.cache_clear()
    assert all(all_first[k] <= some[k] <= 2 * all_first[k] for k in some)


@pytest.mark.parametrize("ends", [[0], [0, 5], [3, 3, 16]])
def test_in_a_maze_the_measure_is_that_of_its_buckets(ends):
    """Of the last places of episodes, with walls between them."""
    world = load("maze:a")
    episodes = np.array([[0, end] for end in ends])
    evaluation = SimpleNamespace(last_states=None, trajectories=episodes)
    found = records.spread_of(world, SimpleNamespace(horizon=50, skills=len(ends)), evaluation)
    radius, mean, gap = slowly(world.cells, ends, range(world.cells.n_states))
    assert found["radius"] == radius
    assert found["mean_distance"] == pytest.approx(mean, abs=1e-3)
    assert found["gap"] == (None if gap is None else pytest.approx(gap))
    assert found["ideal_radius"] == slow_ideal(world.cells, world.cells.n_states, len(ends))


def test_ideal_places_of_held_decisions_are_where_these_can_end():
    """A line of 13 cells, each decision three steps: every third cell, however many skills."""
    line = grid.parse("S............", "line")
    may_end = held(line, 3).last_states(4)
    assert np.flatnonzero(may_end).tolist() == [0, 3, 6, 9, 12]
    assert (
        spread.ideal_radius(line, 12, 5, may_end) == spread.ideal_radius(line, 12, 9, may_end) == 1
    )
    assert spread.ideal_radius(line, 12, 13) == 0
    assert spread.spread(line, 12, np.array([0, 3, 6, 9, 12]), 13, may_end).score == 1.0
