"""Goals in mazes: where they are, and what coming there is worth."""

from __future__ import annotations

from types import SimpleNamespace

import maze_goals
import numpy as np
import pytest

from apart import worlds
from apart.worlds.world import Plane

SQUARE = Plane((0.0, 4.0, 0.0, 4.0), np.zeros((0, 2, 2)), np.array([[0.0, 0.0, 1.0, 1.0]]))


def test_three_goals_in_each_region_that_is_free():
    goals = maze_goals.goals_in(SQUARE)
    regions = [tuple(at) for at in np.floor(goals).astype(int)]
    assert (0, 0) not in regions  # solid
    assert sorted(set(regions)) == [(x, y) for x in range(4) for y in range(4) if x or y]
    assert all(regions.count(region) == 3 for region in regions)
    np.testing.assert_array_equal(goals, maze_goals.goals_in(SQUARE))


def test_mazes_have_their_goals_where_one_can_be():
    for name in ("bottleneck", "u"):
        plane = worlds.load(f"maze:{name}").places.plane
        goals = maze_goals.goals_in(plane)
        assert len(goals) == 48
        assert not maze_goals._inside(plane.solid, goals).any()


def test_the_score_is_the_discount_to_the_first_step_there():
    path = np.array([[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [1.0, 0.0]]])
    goals = np.array([[0.0, 0.4], [1.0, 0.5], [2.4, 0.2], [2.0, 0.6]])
    got = maze_goals.scores(path, goals)[0]
    np.testing.assert_allclose(got, [1.0, 0.99, 0.99**2, 0.0])


def test_a_skill_is_chosen_by_its_end(monkeypatch):
    """Skill 0 passes the goal and goes on; skill 1 ends nearest, short of it."""
    monkeypatch.setattr(maze_goals, "goals_in", lambda plane: np.array([[2.0, 0.0]]))
    ways = ([(0, 0), (2, 0), (4, 0)], [(0, 0), (1, 0), (1.2, 0)])
    run = SimpleNamespace(
        world=SimpleNamespace(places=SimpleNamespace(plane=SQUARE)),
        skills=[SimpleNamespace(positions=way) for way in ways],
    )
    got = maze_goals.measured(run)
    assert (got["reached"], got["score"]) == (0.0, 0.0)
    assert (got["tried"], got["tried_score"]) == (1.0, pytest.approx(0.99))


def test_random_actions_come_to_near_goals_only(monkeypatch):
    monkeypatch.setattr(maze_goals, "WALKS", 20)
    world = worlds.load("maze:u")
    start = np.asarray(world.position(world.reset(None)))
    far = np.array([9.5, 9.5])  # the other end of the U
    monkeypatch.setattr(maze_goals, "goals_in", lambda plane: np.stack([start, far]))
    assert maze_goals.walked(world, 5, 0) == {"reached": 0.5, "score": 0.5}
