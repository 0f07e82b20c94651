"""Episodes that try what was never tried: steps by loops, nothing foreseen, nothing left out."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from apart.settings import resolve
from apart.training import exploring
from apart.training.choices import Drawn
from apart.training.collect import Dynamics, by_table, trying
from apart.training.exploring import UNTRIED
from apart.training.learners import learner_of
from apart.training.program import program
from apart.training.state import hyper_of
from apart.worlds import load
from apart.worlds.grid import parse

ROOMS = load("four_rooms")
NEXT = np.asarray(ROOMS.next_state)
GREEDY = 5  # of five actions: whatever is best
KEY = jax.random.key(0)


def visits_of(tried):
    return jnp.asarray(tried[:, :, None], jnp.float32)


def drawn(n_episodes=1, steps=40):
    shape = (n_episodes, steps)
    return Drawn(jnp.zeros(n_episodes, jnp.int32), jnp.full(shape, GREEDY, jnp.int32))


def steps_by_loops(leads):
    far = np.where((leads == UNTRIED).any(1), 0, exploring.NEVER)
    for _ in leads:
        for s, row in enumerate(leads):
            far[s] = min([far[s], *(1 + far[to] for to in row if to != UNTRIED)])
    return far


@pytest.mark.parametrize("share", [0.0, 0.6, 0.97, 1.0])
def test_steps_are_those_of_loops(share):
    tried = np.random.default_rng(3).random(NEXT.shape[:2]) < share
    leads = exploring.leads_to(ROOMS.next_state, visits_of(tried))
    assert (np.asarray(leads) == np.where(tried, NEXT[:, :, 0], UNTRIED)).all()
    found = exploring.steps_to_untried(leads)
    np.testing.assert_array_equal(
        found, np.minimum(steps_by_loops(np.asarray(leads)), exploring.NEVER)
    )


def test_of_several_successors_the_one_seen_most_counts():
    next_state = jnp.array([[[0, 1]], [[1, 0]], [[0, 1]]])
    visits = jnp.array([[[1.0, 4.0]], [[0.0, 0.0]], [[1.0, 3.0]]])  # four times are too few
    assert exploring.leads_to(next_state, visits).tolist() == [[1], [UNTRIED], [UNTRIED]]


def test_an_action_that_often_fails_leads_to_where_it_comes_to_otherwise():
    """State 0: moves with 0.4; state 1: stays but for an accident; state 2: never moves."""
    next_state = jnp.array([[[0, 1]], [[1, 2]], [[2, 0]]])
    visits = jnp.array([[[6.0, 4.0]], [[9.0, 1.0]], [[8.0, 0.0]]])
    assert exploring.leads_to(next_state, visits).tolist() == [[1], [1], [2]]


@pytest.mark.parametrize(("steps", "goes"), [(10, True), (9, False)])
def test_nothing_is_done_by_chance_on_the_way_to_what_can_be_tried(steps, goes):
    """The last cell of a corridor, nine steps away, is untried; every choice is a random one."""
    world, stay = parse("S.........", "corridor"), 0
    known = np.ones((10, 5), bool)
    known[9] = False
    asked = Drawn(jnp.zeros(1, jnp.int32), jnp.full((1, steps), stay, jnp.int32))
    got = trying(Dynamics.of(world), jnp.zeros((10, 5, 1)), visits_of(known), asked, KEY)
    assert got.obs[0].tolist() == ([*range(10), 9] if goes else [0] * 10)


def test_places_as_far_away_as_an_episode_is_long_are_found():
    """Random actions on the way would always come too late."""
    world = parse("S" + 30 * ".", "corridor")
    config, world = resolve(world, "apart_spread", {"skills": 4, "horizon": 30, "steps": 20_000})
    run, hyper = program(world, config), hyper_of(config)
    state = run.chunk(run.init(0, hyper), hyper, config.iterations)
    last = np.asarray(run.evaluate(state, hyper).trajectories)[:, -1]
    assert abs(np.arange(31)[:, None] - last).min(axis=1).max() == 4  # 31 cells: 4 is the least


def test_an_episode_in_an_unknown_world_tries_all_there_is():
    """A corridor ends in walls: each is tried once, not for the rest of the episode."""
    world = parse("S....", "corridor")
    q = jnp.zeros((5, 5, 1)).at[:, 0].set(1.0)  # the skill itself would stay where it is
    got = trying(Dynamics.of(world), q, jnp.zeros((5, 5, 1)), drawn(steps=40), jax.random.key(0))
    states, actions = np.asarray(got.obs[0]), np.asarray(got.action[0])
    assert (states[1:] == world.next_state[states[:-1], actions, 0]).all()
    cells = list(zip(states[:-1].tolist(), actions.tolist(), strict=True))
    assert len(set(cells)) == 25  # all there is
    assert len(set(cells[:25])) >= 16  # not one wall again and again


def test_nothing_that_was_never_tried_is_foreseen():
    """Where untried actions lead elsewhere, the episode is the same until it takes one of them."""
    tried = np.random.default_rng(0).random(NEXT.shape[:2]) < 0.7
    other = np.where(tried[:, :, None], NEXT, (NEXT + 7) % len(NEXT)).astype(NEXT.dtype)
    q = jnp.asarray(np.random.default_rng(1).random((*NEXT.shape[:2], 1)), jnp.float32)
    one, two = (
        trying(Dynamics.of(ROOMS)._replace(next_state=jnp.asarray(moves)), q, visits, drawn(), key)
        for moves, visits, key in (
            (NEXT, visits_of(tried), jax.random.key(0)),
            (other, visits_of(tried), jax.random.key(0)),
        )
    )
    cells = zip(np.asarray(one.obs[0]).tolist(), np.asarray(one.action[0]).tolist(), strict=False)
    first = next(t for t, cell in enumerate(cells) if not tried[cell])
    np.testing.assert_array_equal(one.obs[0, : first + 1], two.obs[0, : first + 1])
    np.testing.assert_array_equal(one.action[0, : first + 1], two.action[0, : first + 1])
    assert one.obs[0, first + 1] != two.obs[0, first + 1]


@pytest.mark.parametrize(
    ("n", "first", "goes"), [(40, 40, False), (40, 20, False), (40, 19, True), (5, 5, False)]
)
def test_skills_act_where_nothing_can_be_tried_in_time(n, first, goes):
    """A corridor in which what lies from one cell on is untried, and episodes of 20 steps."""
    world, horizon = parse("S" + (n - 1) * ".", "corridor"), 20
    known = np.arange(n)[:, None] < np.full(5, first)
    q = jnp.asarray(np.random.default_rng(2).random((n, 5, 3)), jnp.float32)
    some = Drawn(jnp.arange(3, dtype=jnp.int32), jnp.full((3, horizon), GREEDY, jnp.int32))
    dynamics = Dynamics.of(world)
    got = trying(dynamics, q, visits_of(known), some, KEY)
    if goes:
        assert got.obs[:, -2].tolist() == [first] * 3  # the last step tries something there
    else:
        np.testing.assert_array_equal(got.obs, by_table(dynamics, q, some, KEY).obs)


@pytest.mark.parametrize("slip", [0.0, 0.3])
def test_a_maze_is_known_after_few_episodes(slip):
    """127 cells with walls all over: those halfway to the farthest that can be reached in time."""
    options = {"skills": 4, "horizon": 80, "epsilon": 0.0}
    config, world = resolve("perfect_maze", "apart_spread", options, slip=slip)
    run, hyper = program(world, config), hyper_of(config)
    state = run.chunk(run.init(0, hyper), hyper, 60 if slip == 0 else 300)
    visits = np.asarray(state.learnt.model.visits).reshape(world.n_states, 5, -1).sum(2)
    near = world.distance < config.horizon / 2
    assert near.sum() == 40
    assert (visits[near] > 0).all()


def test_only_planned_places_are_explored_for():
    """Methods of others explore as their papers say."""
    for method in ("apart_plus", "apart_logits", "edl", "diayn"):
        config, world = resolve("u_maze", method, {"skills": 4})
        assert not learner_of(world, config).objective.tries


def test_a_state_that_an_episode_came_to_with_its_last_step_is_explored():
    """All other actions are known: nothing but the way there says that there is more."""
    world = parse("S...", "corridor")
    known = np.ones((4, 5), bool)
    known[3] = False
    got = trying(Dynamics.of(world), jnp.zeros((4, 5, 1)), visits_of(known), drawn(steps=9), KEY)
    cells = zip(got.obs[0].tolist(), got.action[0].tolist(), strict=False)
    assert {action for state, action in cells if state == 3} == set(range(5))
