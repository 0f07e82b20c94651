"""Skills as a library: what they do equals what was evaluated, from anywhere, in every world."""

from __future__ import annotations

import itertools
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
import twins

import apart
from apart import worlds
from apart._errors import UserError
from apart.cli import main
from apart.skills.library import TablePolicies
from apart.worlds.grid import parse
from apart.worlds.world import Places

OLD = Path(__file__).parents[1] / "fixtures" / "runs-0.1" / "finished"
RING = parse("S..\n.#.\n...", "ring")
SMALL = {"steps": 600, "skills": 5, "horizon": 6, "batch": 16, "evaluate_every": 96, "buffer": 200}
STAY, RIGHT = 0, 2
TWINS = {"jax-grid": twins.jax_grid, "host-grid": twins.host_grid}


def policies(world, *actions, horizon=4):
    """Skill z always does actions[z]."""
    return TablePolicies(world, np.tile(np.array(actions, np.int32), (world.n_states, 1)), horizon)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    out = tmp_path_factory.mktemp("ring") / "run"
    apart.train(RING, method="diayn", average_rate=0.1, out=out, **SMALL)
    return out


@pytest.mark.parametrize("kind", TWINS)
def test_in_every_world_a_rollout_is_the_evaluated_trajectory(kind, tmp_path):
    twins.register()
    world = TWINS[kind](RING)
    run = apart.train(world, method="diayn", network="linear", out=tmp_path / "run", **SMALL)
    table = parse("S..\n.#.\n...", "ring")
    for skill in run.skills:
        assert run.skills.rollout(skill.index) == skill.trajectory
        states = [table.state(cell) for cell in skill.trajectory]
        for before, after in itertools.pairwise(states):
            action = run.skills.act(skill.index, np.eye(8)[before])
            assert table.next_state[before, action, 0] == after
    end = run.skills[2].last_state
    skill, probability = run.skills.reach(end)
    assert run.skills[skill].last_state == end
    assert probability == 1.0
    with pytest.raises(UserError, match=r"cell \(1, 1\)"):
        run.skills.reach((1, 1))
    with pytest.raises(UserError, match="an array of shape"):
        run.skills.act(0, 3)


def test_a_jax_world_starts_where_it_is_told_and_a_host_world_cannot(tmp_path):
    twins.register()
    options = {**SMALL, "method": "diayn", "network": "linear"}
    run = apart.train(twins.jax_grid(RING), out=tmp_path / "jax", **options)
    path = run.skills.rollout(1, start=jnp.int32(7))
    assert path[0] == (2, 2)
    moves = [run.skills.act(1, np.eye(8)[RING.state(cell)]) for cell in path[:-1]]
    assert [RING.state(cell) for cell in path[1:]] == [
        RING.next_state[RING.state(cell), move, 0] for cell, move in zip(path, moves, strict=False)
    ]
    skill, probability = run.skills.reach(path[-1], start=jnp.int32(7))
    assert run.skills.rollout(skill, start=7)[-1] == path[-1]
    assert probability == 1.0
    with pytest.raises(UserError, match="no state as its reset gives it"):
        run.skills.rollout(1, start=(1, 2))
    run = apart.train(twins.host_grid(RING), out=tmp_path / "host", **options)
    with pytest.raises(UserError, match="choose by seed="):
        run.skills.rollout(1, start=3)
    assert run.skills.rollout(1, seed=5)[0] == (0, 0)


def uncounted_ring(places, kind):
    """The ring in JAX; a run of it can be read again in this process."""
    world = twins.jax_grid(RING)
    about = world.about._replace(spec={**world.about.spec, "kind": kind})
    world = replace(world, about=about, places=places)
    worlds.register(kind, lambda spec, horizon: world)
    return world


@pytest.fixture(scope="module")
def uncounted(tmp_path_factory):
    """Of a world where nobody knows how many cells there are, as in ``xminigrid:``."""
    world = uncounted_ring(RING.places._replace(n=None), "uncounted-cells")
    out = tmp_path_factory.mktemp("uncounted") / "run"
    return apart.train(world, method="diayn", network="linear", out=out, **SMALL)


def test_where_nobody_counts_places_they_are_named_as_they_are_written(uncounted):
    for skill in uncounted.skills:
        found = uncounted.skills.reach(np.array(skill.last_state))
        assert uncounted.skills[found.skill].last_state == skill.last_state
        assert found.probability == 1.0
    assert uncounted.skills.reach((99999999999, 0)) == (0, 0.0)


@pytest.mark.parametrize("place", [7, 99999999999, (0, 0, 0), "corner", (), True])
def test_where_nobody_counts_places_what_is_written_otherwise_is_none(place, uncounted):
    with pytest.raises(UserError, match=r"ring: no cell .*; places are such as \(\d, \d\)"):
        uncounted.skills.reach(place)


def test_a_number_that_no_place_has_is_reached_by_nobody(tmp_path, capsys):
    world = uncounted_ring(Places(None), "uncounted-numbers")
    run = apart.train(world, method="diayn", network="linear", out=tmp_path / "run", **SMALL)
    assert run.skills.reach(run.skills[1].last_state).probability == 1.0
    assert main(["reach", str(run.path), "--goal", "99999999999"]) == 1
    assert "no skill reaches 99999999999 from 0" in capsys.readouterr().out
    assert main(["reach", str(run.path), "--goal", "0,1"]) == 2
    assert "no cell (0, 1); places are such as" in capsys.readouterr().err


def test_skills_stay_a_sequence_and_act_from_any_state(trained):
    run = apart.load(trained)
    assert len(run.skills) == 5
    assert run.skills[-1].index == 4
    assert [skill.index for skill in run.skills[1:3]] == [1, 2]
    assert [skill.index for skill in run.skills] == [*range(5)]
    for number in (5, -6):
        with pytest.raises(IndexError, match=f"{number}: there are skills 0 to 4"):
            run.skills[number]
    assert run.skills == apart.load(trained).skills
    for state in range(RING.n_states):
        path = run.skills.rollout(3, start=state)
        assert path[0] == RING.cell(state)
        after = RING.next_state[state, run.skills.act(3, RING.cell(state)), 0]
        assert path[1] == RING.cell(after)
        assert run.skills.act(3, np.int64(state)) == run.skills.act(3, state)


@pytest.mark.parametrize("old", sorted(path.name for path in OLD.iterdir()))
def test_skills_of_earlier_versions_act(old):
    run = apart.load(OLD / old)
    assert [run.skills.rollout(skill.index) for skill in run.skills] == [
        skill.trajectory for skill in run.skills
    ]


def test_loading_reads_no_checkpoint_and_starts_no_jax(trained):
    code = f"""
import sys, apart
skills = apart.load({str(trained)!r}).skills
assert skills[0].index == 0
sys.exit('jax' in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_reach_is_exact_by_hand():
    found = policies(parse("S..", "corridor"), STAY, RIGHT, horizon=2)
    assert found.reach((0, 0), None) == (0, 1.0)  # both are there; the first one also ends there
    assert found.reach((0, 2), None) == (1, 1.0)
    assert found.reach((0, 0), (0, 1)) == (0, 0.0)  # nobody goes left
    short = policies(parse("S..", "corridor"), STAY, RIGHT, horizon=1)
    assert short.reach((0, 2), None) == (0, 0.0)
    assert short.reach((0, 2), 1) == (1, 1.0)


def test_reach_is_exact_by_chance():
    """With a slip of 1/2 "right" goes right with 0.6 and back with 0.1."""
    found = policies(parse("S..", "corridor", slip=0.5), STAY, RIGHT, horizon=2)
    assert found.reach((0, 2), None).probability == pytest.approx(0.36)
    # within 2 steps to the middle: at once, or after a step in place (stay, left, up, down)
    assert found.reach((0, 1), None).probability == pytest.approx(0.6 + 0.4 * 0.6)
    comes, ends = found.arrivals(np.array([False, True, False]))
    assert ends[0, 1] == pytest.approx(0.4 * 0.6 + 0.6 * 0.3)
    many = [found.rollout(1, None, seed)[-1] == (0, 1) for seed in range(800)]
    assert np.mean(many) == pytest.approx(ends[0, 1], abs=0.06)
    assert comes.max() <= 1.0


def test_a_cell_with_several_states_is_any_of_them():
    world = apart.TableWorld(**{**vars(RING), "cells": np.zeros((8, 2), np.int32)})
    label = world.places._replace(
        label=lambda at: np.stack([0 * at, 0 * at, at], 1).tolist(), noun="state"
    )
    world = apart.TableWorld(**{**vars(world), "places": label})
    found = policies(world, STAY, RIGHT)
    assert found.reach((0, 0), None).probability == 1.0
    assert found.reach((0, 0, 2), None) == (1, 1.0)
    with pytest.raises(UserError, match="8 states share the cell"):
        found.act(0, (0, 0))
    assert found.act(1, (0, 0, 5)) == RIGHT


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.act(5, 0), "skill 5: there are skills 0 to 4"),
        (lambda s: s.act(True, 0), "there are skills 0 to 4"),
        (lambda s: s.act(0, 8), "state 8 is outside 0 to 7"),
        (lambda s: s.act(0, (5, 5)), r"no cell \(5, 5\); places are such as \(0, 0\)"),
        (lambda s: s.act(0, "left"), "no cell 'left'"),
        (lambda s: s.act(0, 1.5), "no cell 1.5"),
        (lambda s: s.act(0, None), "no cell None"),
        (lambda s: s.rollout(0, (9, 9)), "no cell"),
        (lambda s: s.reach("corner"), "no cell 'corner'"),
    ],
)
def test_mistakes_are_one_line(call, message, trained):
    with pytest.raises(UserError, match=message) as error:
        call(apart.load(trained).skills)
    assert "\n" not in str(error.value)


def test_what_learns_nothing_has_no_policies(tmp_path):
    options = {name: SMALL[name] for name in ("steps", "skills", "horizon")}
    run = apart.train(RING, method="random_walk", out=tmp_path / "run", **options)
    with pytest.raises(UserError, match="random_walk learns nothing"):
        run.skills.act(0, 0)


@pytest.mark.parametrize("kind", ["table", *TWINS])
def test_held_actions_are_held_in_rollouts_too(kind, tmp_path):
    twins.register()
    world = RING if kind == "table" else TWINS[kind](RING)
    options = {**SMALL, "method": "diayn", "network": "linear", "hold": 2, "seed": 3}
    run = apart.train(world, out=tmp_path / "run", **options)
    assert run.skills.acting.hold == 2
    for skill in run.skills:
        assert run.skills.rollout(skill.index) == skill.trajectory
        skill_of, probability = run.skills.reach(skill.last_state)
        assert skill.last_state in run.skills[skill_of].trajectory
        assert probability == 1.0


def test_arrivals_with_held_actions_equal_playing_them():
    world = parse("S...\n.#..\n....", "room", slip=0.3)
    rng = np.random.default_rng(0)
    action = rng.integers(0, 5, (world.n_states, 3)).astype(np.int32)
    acting = TablePolicies(world, action, horizon=4, hold=2)
    goal = np.arange(world.n_states) == 6
    comes, ends = acting.arrivals(goal)

    def play(state, skill, held, left, passed):
        """(P(comes), P(ends there)) by walking all that can happen."""
        passed = passed or state == 6
        if left == 0:
            return float(passed), float(state == 6)
        chosen = action[state, skill] if left % 2 == 0 else held
        both = np.zeros(2)
        for after, chance in zip(
            world.next_state[state, chosen], world.probability[state, chosen], strict=True
        ):
            both += chance * np.array(play(int(after), skill, chosen, left - 1, passed))
        return both

    for state in range(world.n_states):
        for skill in range(3):
            expected = play(state, skill, None, 4, False)
            np.testing.assert_allclose([comes[state, skill], ends[state, skill]], expected)
