"""Every kind of world: killed anywhere it ends with the same bits, and it finds the same skills."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import running_twin
import twins
from torture import ending

import apart
from apart import worlds
from apart._errors import UserError
from apart.worlds.grid import parse
from apart.worlds.world import ObsSpec, Places

SQUARE = parse("S.\n..", "square")
TESTS = Path(__file__).parents[1]
OPTIONS = {"skills": 4, "horizon": 4, "learning_rate": 0.02, "discriminator_learning_rate": 0.02}
OPTIONS |= {"batch": 64, "buffer": 2000, "steps": 3200, "evaluate_every": 1600}
OPTIONS |= {"episodes_per_update": 1}
TWINS = {"jax-grid": twins.jax_grid, "host-grid": twins.host_grid}


@pytest.fixture(autouse=True)
def known_kinds():
    twins.register()


@pytest.mark.parametrize("kind", running_twin.KINDS)
def test_killed_and_resumed_it_ends_with_the_same_bits(kind, tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    running_twin.main(kind, str(whole))
    command = [sys.executable, str(TESTS / "running_twin.py"), kind, str(broken)]
    for steps in (200, 500):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=TESTS) as process:
            for line in process.stdout:
                if line.strip().isdigit() and int(line) >= steps:
                    process.kill()
                    break
            assert process.wait() == -9
    running_twin.main(kind, str(broken))  # here, where all is compiled
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
        assert 1 < run.summary["n_random_walk"] <= 4
        assert (run.spread is None) == (kind != "table")
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
    with pytest.raises(UserError, match=r"an observation that is not finite$"):
        apart.train(world, method="diayn", out=tmp_path / "run", **OPTIONS)
    assert not (tmp_path / "run").exists()  # nothing was trained: there is nothing to go on with


def test_a_world_of_python_objects_says_how_to_read_it_again(tmp_path):
    run = apart.train(twins.jax_grid(SQUARE), method="diayn", out=tmp_path / "r", **OPTIONS)
    path = run.path / "config.json"
    stored = json.loads(path.read_text())
    assert stored["world"]["kind"] == "jax-grid"
    worlds._BUILDERS.pop("jax-grid")
    with pytest.raises(UserError, match=r"unknown kind of world 'jax-grid'.*apart.register_world"):
        _ = apart.load(run.path).world
    with pytest.raises(UserError, match=r"seeds: worker processes do not know the world square"):
        apart.train(twins.jax_grid(SQUARE), seeds=2, out=tmp_path / "set", **OPTIONS)
    assert not (tmp_path / "set").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"observe": lambda s: jnp.zeros(3)}, r"observe gives \(3,\), obs says \(4,\)"),
        ({"place": lambda s: 0.5 * s}, "place must give one whole number"),
        ({"place": lambda s: s[0]}, "its functions fail"),
        ({"step": lambda key, s, a: s}, "step must return the next state and whether"),
        ({"step": lambda key, s, a: (s + 0.5, None)}, "step turns a state"),
        ({"step": lambda key, s, a: (s, s)}, "ended is no bool"),
        ({"place": lambda s: s + 7}, r"places 7 to \d+, where Places\(n=4\) allows 0 to 3"),
    ],
)
def test_functions_that_do_not_fit_together_are_said_in_one_line(change, message, tmp_path):
    world = dataclasses.replace(twins.jax_grid(SQUARE), **change)
    with pytest.raises(UserError, match=message) as error:
        apart.train(world, method="diayn", out=tmp_path / "run", **OPTIONS)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"make": lambda n: twins.GridEnv(SQUARE)}, "must give a Gymnasium vector environment"),
        ({"place": lambda obs, info: 3}, "place must give a whole number for each of"),
        ({"about": twins.about_of(SQUARE, "host-grid")._replace(n_actions=9)}, "says 9 actions"),
        ({"obs": ObsSpec((5,))}, r"an observation of shape \(4,\), not \(5,\)"),
    ],
)
def test_environments_that_are_not_what_the_world_says(change, message, tmp_path):
    world = dataclasses.replace(twins.host_grid(SQUARE), **change)
    with pytest.raises(UserError, match=message):
        apart.train(world, method="diayn", out=tmp_path / "run", **OPTIONS)


def test_worlds_without_a_map_are_not_drawn_and_have_short_names(tmp_path):
    world = twins.jax_grid(SQUARE)
    bare = dataclasses.replace(world, places=Places(4))
    worlds.register("jax-grid", lambda spec, horizon: bare)
    run = apart.train(bare, method="diayn", out=tmp_path / "run", **OPTIONS)
    with pytest.raises(UserError, match="square has no map"):
        apart.draw(run)
    cells = Places(4, lambda places: np.stack([places // 2, places % 2], -1).tolist())
    worlds.register("jax-grid", lambda spec, horizon: dataclasses.replace(world, places=cells))
    run = apart.train(dataclasses.replace(world, places=cells), out=tmp_path / "cells", **OPTIONS)
    (picture,) = apart.draw(run)  # on a bare floor
    assert picture.exists()
    assert repr(run.world) == "<JaxWorld square: 5 actions, 4 places>"
    assert len(repr(run.skills[0])) < 120


def test_skills_are_evaluated_from_one_start(tmp_path):
    """A world in which nothing can be done has one skill, however random its start is."""
    still = dataclasses.replace(
        twins.jax_grid(SQUARE),
        reset=lambda key: jax.random.randint(key, (), 0, 4),
        step=lambda key, s, a: (s, None),
    )
    run = apart.train(still, method="diayn", out=tmp_path / "run", **OPTIONS)
    assert run.n_effective == 1


class Forgets(twins.GridEnv):
    starts = iter(range(10**9))

    def reset(self, *, seed=None, options=None):
        _, info = super().reset(seed=seed)
        self.state = next(self.starts) % 4
        return self._seen(), info


def test_an_environment_that_ignores_its_seed_is_found(tmp_path):
    world = twins.host_grid(SQUARE, env=Forgets)
    with pytest.warns(UserWarning, match="square does not repeat itself with the same seeds"):
        apart.train(world, method="diayn", out=tmp_path / "run", **{**OPTIONS, "steps": 40})
