"""The benchmark of the pay-off, on worlds whose numbers can be worked out by hand."""

from __future__ import annotations

import jax
import numpy as np
import payoff
import pytest

from apart.skills.library import TablePolicies
from apart.worlds.grid import parse

STAY, LEFT, RIGHT = 0, 1, 2


def policies(world, *actions, horizon):
    return TablePolicies(world, np.tile(np.array(actions, np.int32), (world.n_states, 1)), horizon)


def test_shares_of_goals_by_hand():
    got = payoff.goals(policies(parse("S..", "corridor"), STAY, RIGHT, horizon=2))
    # Goals 0, 1, 2 are for "stay", "right", "right": they come from 1, 2 and 3 of the 3 states.
    assert got["start"] == 1.0
    assert got["comes"] == pytest.approx((1 / 3 + 2 / 3 + 1) / 3)
    assert got["ends"] == pytest.approx((1 / 3 + 0 + 1) / 3)
    assert got["chosen_there"] == pytest.approx((1 / 3 + 2 / 3 + 1) / 3)


def test_a_goal_without_a_skill_counts_for_nothing():
    got = payoff.goals(policies(parse("S..", "corridor"), STAY, LEFT, horizon=2))
    assert got["start"] == pytest.approx(1 / 3)
    assert got["comes"] == pytest.approx(1 / 3 / 3)  # "stay", from the start itself


def test_goals_of_random_actions_by_hand():
    got = payoff.random_goals(parse("S..", "corridor"), 1)
    assert got["start"] == pytest.approx((1 + 0.2 + 0) / 3)
    assert got["comes"] == pytest.approx((3 + 4 * 0.2) / 9)
    assert got["ends"] == pytest.approx(1 / 3)


def test_chains_by_hand():
    found = policies(parse("S......", "corridor"), STAY, RIGHT, horizon=2)
    assert payoff.chain(found)[:5] == [1, 2, 3, 4, 4]


def test_a_key_opens_the_doors():
    world = parse("S....", "corridor")
    task = payoff.staged(world, [0, 4], 50, shut=(2,))
    assert task.next_state[1, RIGHT] == 1  # shut
    assert task.next_state[1, LEFT] == 5 + 0  # the key: now in the second half
    assert task.next_state[5 + 1, RIGHT] == 5 + 2
    assert np.flatnonzero(task.done).tolist() == [5 + 4]
    assert task.cell.tolist() == [0, 1, 2, 3, 4] * 2


def test_a_goal_that_moves_is_seen():
    task = payoff.moving(parse("S..", "corridor"), [1, 2], 50)
    assert task.starts.tolist() == [0, 3]
    assert np.flatnonzero(task.done).tolist() == [1, 3 + 2]


def test_an_agent_with_the_right_skill_is_quick(monkeypatch):
    monkeypatch.setattr(payoff, "BUDGET", 3000)
    monkeypatch.setattr(payoff, "CHUNK", 500)
    world = parse("S" + "." * 9, "corridor")
    task = payoff.staged(world, [9], 60)
    actions = policies(world, LEFT, RIGHT, horizon=10).action[None]
    lanes = [payoff.Lane(0, 2, 7, 0.0), payoff.Lane(0, 0, 2, 0.0), payoff.Lane(0, 0, 1, 0.0)]
    primitive, skills, useless = payoff.solve(task, actions, lanes, 10)
    assert 20 * 9 <= skills < 400  # twenty episodes of nine steps, and a few mistakes
    assert primitive is None or primitive > skills
    assert useless is None


def test_a_step_teaches_every_skill_that_would_have_made_it(monkeypatch):
    """Two skills that both go right: one is followed, and with it the other becomes known."""
    monkeypatch.setattr(payoff, "BUDGET", 500)
    monkeypatch.setattr(payoff, "CHUNK", 500)
    world = parse("S" + "." * 4, "corridor")
    task = payoff.staged(world, [4], 20)
    actions = policies(world, RIGHT, RIGHT, LEFT, horizon=10).action[None]
    init, chunk = payoff.learner(task, actions, 10)
    key = jax.random.split(jax.random.key(0), 2)
    lane = payoff.Lane(*(np.array([x, x]) for x in (0, 0, 3, 0.0, False)))
    lanes = lane._replace(inside=np.array([False, True]))
    q = np.asarray(chunk(init(key, lanes), key, lanes).q)
    np.testing.assert_allclose(q[1, :4, 0], q[1, :4, 1], rtol=1e-3)  # one learns as the other
    np.testing.assert_allclose(q[1, 3, :2], 1.0, rtol=1e-3)
    np.testing.assert_allclose(q[1, 1, :2], payoff.DISCOUNT**2, rtol=0.1)
    assert q[0, 3, 0] == 0.0  # else only where it was begun, and that was not there
