"""Every kind of world: killed anywhere it ends with the same bits, and it finds the same skills."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import running_twin
import twins
from torture import ending

import apart
from apart._errors import UserError
from apart.worlds.grid import parse

SQUARE = parse("S.\n..", "square")
TESTS = Path(__file__).parents[1]
OPTIONS = {"skills": 4, "horizon": 4, "learning_rate": 0.02, "discriminator_learning_rate": 0.02}
OPTIONS |= {"batch": 64, "buffer": 2000, "steps": 6000, "evaluate_every": 2000}
TWINS = {"jax-grid": twins.jax_grid, "host-grid": twins.host_grid}


@pytest.fixture(autouse=True)
def known_kinds():
    twins.register()


@pytest.mark.parametrize("kind", TWINS)
def test_killed_and_resumed_it_ends_with_the_same_bits(kind, tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    running_twin.main(kind, str(whole))
    command = [sys.executable, str(TESTS / "running_twin.py"), kind, str(broken)]
    for steps in (300, 1000):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=TESTS) as process:
            for line in process.stdout:
                if line.strip().isdigit() and int(line) >= steps:
                    process.kill()
                    break
            assert process.wait() == -9
    subprocess.run(command, check=True, cwd=TESTS, stdout=subprocess.DEVNULL)
    assert ending(broken) == ending(whole)


def test_all_kinds_find_the_same_skills(tmp_path):
    found = {}
    for kind, world in {"table": SQUARE, **{k: f(SQUARE) for k, f in TWINS.items()}}.items():
        network = "table" if kind == "table" else "linear"
        run = apart.train(
            world, method="ap_min_ascending", network=network, out=tmp_path / kind, **OPTIONS
        )
        found[kind] = sorted(skill.last_state for skill in run.skills)
        assert run.n_available == run.n_effective == 4
        assert (run.path / "skills.json").exists()
        walk = run.summary["n_random_walk"]
        assert (walk is None) == (kind != "table")
    assert found["table"] == found["jax-grid"] == found["host-grid"]
    assert np.isnan(run.metrics[-1]["mutual_information"])  # nobody can know
    assert (run.path / "metrics.csv").read_text().count(",,") > 0


@pytest.mark.parametrize("kind", TWINS)
def test_an_episode_that_the_world_ends_is_learnt_from_until_there(kind, tmp_path):
    """The end of a corridor ends the episode: skills that go there stay there."""
    corridor = parse("S..", "corridor")
    world = TWINS[kind](corridor, end=2)
    options = {**OPTIONS, "skills": 3, "buffer": 400, "epsilon": 0.2, "network": "linear"}
    run = apart.train(world, method="ap_min_ascending", out=tmp_path / "run", **options)
    assert run.n_effective == 3
    ends = {skill.last_state: skill.trajectory for skill in run.skills}
    assert set(ends) == {(0, 0), (0, 1), (0, 2)}
    arrived = ends[0, 2].index((0, 2))
    assert ends[0, 2][arrived:] == [(0, 2)] * (5 - arrived)


class Breaks(twins.GridEnv):
    what = "nan"

    def step(self, action):
        obs, *rest = super().step(action)
        if self.what == "nan":
            obs = obs * np.nan
        elif self.what == "shape":
            obs = obs[:-1]
        return obs, *rest


def test_a_world_that_gives_no_numbers_is_said_in_one_line(tmp_path):
    world = twins.host_grid(SQUARE, env=Breaks)
    with pytest.raises(UserError, match=r"square: an observation that is not finite.*apart resume"):
        apart.train(world, method="diayn", out=tmp_path / "run", **OPTIONS)


def test_a_world_of_python_objects_says_how_to_read_it_again(tmp_path):
    from apart import worlds

    run = apart.train(twins.jax_grid(SQUARE), method="diayn", out=tmp_path / "r", **OPTIONS)
    path = run.path / "config.json"
    stored = json.loads(path.read_text())
    assert stored["world"]["kind"] == "jax-grid"
    worlds._BUILDERS.pop("jax-grid")
    with pytest.raises(UserError, match=r"unknown kind of world 'jax-grid'.*apart.worlds.register"):
        _ = apart.load(run.path).world
    with pytest.raises(UserError, match=r"seeds=: other processes cannot build square"):
        apart.train(twins.jax_grid(SQUARE), seeds=2, out=tmp_path / "set", **OPTIONS)
    assert not (tmp_path / "set").exists()
