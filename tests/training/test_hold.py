"""Held decisions: in every kind of world, an action is taken several times."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import twins

import apart
from apart._config import Config
from apart._errors import UserError
from apart.settings import resolve
from apart.training.choices import Drawn
from apart.training.collect import Dynamics, by_steps, by_table, steps_of
from apart.training.host import Host
from apart.worlds import tasks
from apart.worlds.grid import parse
from apart.worlds.holding import held

ROOMS = parse("S..#...\n...#...\n.......", "rooms")
SLIPPERY = parse("S..\n.#.", "slippery", slip=0.3)
OPTIONS = {"steps": 240, "skills": 3, "batch": 8, "buffer": 200, "network": "linear"}


def test_a_held_table_leads_where_its_action_leads_several_times():
    table = held(ROOMS, 3)
    for s in range(ROOMS.n_states):
        for a in range(5):
            at = s
            for _ in range(3):
                at = ROOMS.next_state[at, a, 0]
            assert table.next_state[s, a, 0] == at
    assert held(ROOMS, 1) is ROOMS
    assert table.distance[ROOMS.start] == 0
    assert table.n_available(2) < ROOMS.n_available(6)


def test_by_chance_it_is_the_power_of_the_transition_matrix():
    table = held(SLIPPERY, 3)
    states = range(SLIPPERY.n_states)

    def matrix(world, action):
        found = np.zeros((len(states), len(states)))
        for s in states:
            np.add.at(found[s], world.next_state[s, action], world.probability[s, action])
        return found

    for a in range(5):
        expected = np.linalg.matrix_power(matrix(SLIPPERY, a), 3)
        np.testing.assert_allclose(matrix(table, a), expected, atol=1e-12)


@pytest.mark.parametrize(("text", "best"), [("S.9\n...", 63), ("S.9.\n....", 18)])
def test_the_best_return_earns_on_every_held_step(text, best):
    """The most of all sequences of decisions, walked step by step."""
    world = parse(text, "task")
    walked = []
    for decisions in itertools.product(range(5), repeat=2):
        at, earned = world.start, 0.0
        for action in np.repeat(decisions, 4):
            at = world.next_state[at, action, 0]
            earned += world.task[at]
        walked.append(earned)
    assert tasks.best_return(world, 8, hold=4) == max(walked) == best


def test_by_chance_the_best_of_held_decisions_is_an_expectation():
    """One decision: the mean points of an action that is held, by powers of its matrix."""
    world = parse("S.9\n.#.", "slippery task", slip=0.3)
    expected = []
    for a in range(5):
        matrix = np.zeros((world.n_states, world.n_states))
        for s in range(world.n_states):
            np.add.at(matrix[s], world.next_state[s, a], world.probability[s, a])
        powers = [np.linalg.matrix_power(matrix, n)[world.start] for n in (1, 2, 3)]
        expected.append(sum(power @ world.task for power in powers))
    assert tasks.best_return(world, 3, hold=3) == pytest.approx(max(expected))


def drawn_for(n, decisions, n_skills):
    rng = np.random.default_rng(4)
    return Drawn(
        jnp.asarray(rng.integers(n_skills, size=n), jnp.int32),
        jnp.asarray(rng.integers(6, size=(n, decisions)), jnp.int32),  # 5: the greedy one
    )


def test_all_kinds_of_world_hold_alike():
    drawn, key = drawn_for(7, 4, 9), jax.random.key(0)
    q = jax.random.normal(jax.random.key(1), (ROOMS.n_states, 5, 9))
    held_table = by_table(Dynamics.of(held(ROOMS, 3)), q, drawn, key)
    table = by_table(Dynamics.of(ROOMS), q, drawn, key, hold=3)
    seen = by_steps(
        steps_of(twins.jax_grid(ROOMS)), lambda x: jnp.tensordot(x, q, 1), drawn, key, hold=3
    )

    def act(obs, skill, choice):
        values = jnp.tensordot(jnp.asarray(obs), q, 1)
        greedy = values[jnp.arange(7), :, skill].argmax(1)
        return jnp.where(choice == 5, greedy, choice)

    hosted = Host(twins.host_grid(ROOMS)).by_host(act, drawn, [0] * 7, hold=3)
    for other in (seen, hosted):
        np.testing.assert_array_equal(table.place, other.place)
        np.testing.assert_array_equal(table.action, other.action)
        np.testing.assert_array_equal(np.asarray(other.obs).argmax(-1), table.obs)
    assert table.place.shape == (7, 13)
    np.testing.assert_array_equal(table.place[:, ::3], held_table.obs)
    np.testing.assert_array_equal(table.obs, held_table.obs)
    for places, actions in zip(np.asarray(table.place), np.asarray(table.action), strict=True):
        for t in range(12):
            assert places[t + 1] == ROOMS.next_state[places[t], actions[t // 3], 0]


@pytest.mark.parametrize("kind", ["jax", "host"])
def test_an_episode_that_ends_while_an_action_is_held_stays_where_it_ended(kind):
    corridor, drawn = parse("S....", "corridor"), Drawn(jnp.zeros(1, int), jnp.full((1, 3), 2))
    values = jnp.zeros((1, 5, 2))
    if kind == "jax":
        world = steps_of(twins.jax_grid(corridor, end=3))
        got = by_steps(world, lambda _: values, drawn, jax.random.key(0), hold=2)
    else:
        host = Host(twins.host_grid(corridor, end=3))
        got = host.by_host(lambda obs, skill, choice: choice, drawn, [0], hold=2)
    assert got.place.tolist() == [[0, 1, 2, 3, 3, 3, 3]]
    assert np.asarray(got.obs).argmax(-1).tolist() == [[0, 2, 3, 3]]
    assert got.alive.tolist() == [[True, True, False]]
    assert got.terminated.tolist() == [[False, True, False]]


@pytest.mark.parametrize("kind", ["table", "jax", "host"])
def test_steps_horizon_and_trajectories_are_those_of_the_environment(kind, tmp_path):
    twins.register()
    world = {"table": ROOMS, "jax": twins.jax_grid(ROOMS), "host": twins.host_grid(ROOMS)}[kind]
    options = {"horizon": 12, "hold": 4, "evaluate_every": 60, "episodes_per_update": 1, **OPTIONS}
    run = apart.train(world, method="diayn", out=tmp_path, **options)
    assert run.summary["env_steps"] == 240
    assert run.summary["updates"] == 20
    assert [row["env_steps"] for row in run.metrics] == [0, 60, 120, 180, 240]
    for skill in run.skills:
        assert len(skill.trajectory) == 13
        assert skill.trajectory[-1] == skill.last_state
        moves = np.diff(np.array(skill.trajectory), axis=0)
        assert np.abs(moves).sum(axis=1).max() <= 1
        for first in range(0, 12, 4):  # it turns only where it decides, or meets a wall
            some = {tuple(move) for move in moves[first : first + 4].tolist()}
            assert len(some - {(0, 0)}) <= 1
    assert len(run.details[-1]["visits_per_step"]) == 13
    assert len(run.details[-1]["accuracy_per_step"]) == 3


def test_by_chance_last_states_are_those_of_held_decisions(tmp_path):
    """Every episode of one decision that is held for four steps: the distribution is exact."""
    run = apart.train(
        SLIPPERY, method="vic", horizon=4, hold=4, out=tmp_path, **{**OPTIONS, "network": "table"}
    )
    chances = [matrix for skill in run.skills for _, matrix in skill.ends]
    assert all(0 < p <= 1 for p in chances)
    table = held(SLIPPERY, 4)
    possible = {
        tuple(table.cells[s]): {
            round(float(p), 4)
            for a in range(5)
            for to, p in zip(table.next_state[0, a], table.probability[0, a], strict=True)
            if to == s
        }
        for s in range(table.n_states)
    }
    for skill in run.skills:
        for place, p in skill.ends:
            assert min(abs(p - q) for q in possible[place]) < 2e-4


def test_a_hold_that_does_not_divide_an_episode_is_refused():
    with pytest.raises(
        UserError, match=r"--hold 3 does not divide the 40 steps.*--horizon 39 or 42"
    ):
        resolve("four_rooms", "apart", {"hold": 3})
    with pytest.raises(UserError, match=r"--hold 50 does not divide.*--horizon 50$"):
        resolve("four_rooms", "apart", {"hold": 50})
    with pytest.raises(UserError, match="--hold: 0 is outside 1"):
        resolve("four_rooms", "apart", {"hold": 0})


def test_auto_asks_the_world_of_decisions():
    config, world = resolve(
        "four_rooms", "apart_plus", {"hold": 5, "horizon": "auto", "skills": "auto"}
    )
    assert config.horizon % 5 == 0
    assert config.horizon >= 2 * world.distance.max()
    assert config.skills == held(world, 5).n_available(config.decisions) < world.n_states


def test_without_it_nothing_is_held_and_old_runs_have_none():
    assert Config().hold == 1
    assert "hold" not in resolve("four_rooms", "apart", {})[0].differing()


def test_the_memory_holds_decisions():
    config, _ = resolve("four_rooms", "apart", {"hold": 4, "buffer": 10})
    assert (config.decisions, config.transitions, config.collection) == (10, 10, 40)
    with pytest.raises(UserError, match="smaller than the 10 transitions"):
        resolve("four_rooms", "apart", {"hold": 4, "buffer": 9})
