"""Skills and environments go to other processes, before and after they acted."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import apart
from apart import _lazy, worlds

gymnasium = pytest.importorskip("gymnasium", reason="the extra gym is not installed")
cloudpickle = pytest.importorskip("cloudpickle", reason="it comes with Gymnasium")

TINY = {"steps": 200, "skills": 3, "horizon": 4, "evaluate_every": 200}
LEARNS = {"method": "diayn", "batch": 8, "buffer": 100}
NET = {**LEARNS, "network": "mlp:8", "hold": 1}
LAKE = "table:gym:FrozenLake-v1:is_slippery=false"
WORLDS = {
    "map": (apart.parse_map("S..\n.#.", "ring"), LEARNS, 0),
    "slippery map": (apart.parse_map("S..\n.#.", "ring", slip=0.2), LEARNS, (0, 1)),
    "table of an environment": (LAKE, LEARNS, 0),
    "environment": ("gym:CartPole-v1", NET, np.zeros(4, np.float32)),
    "several heads": ("gym:hostile:Walk-v0:actions=box3", NET, np.zeros(2, np.float32)),
    "maze": ("maze:u", NET, np.zeros(2, np.float32)),
}
WAYS = {
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
    "cloudpickle": lambda value: cloudpickle.loads(cloudpickle.dumps(value)),
    "deepcopy": copy.deepcopy,
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The run of a world, trained once."""
    known = {}

    def of(name):
        if name not in known:
            world, options, _ = WORLDS[name]
            out = tmp_path_factory.mktemp("pickled") / "run"
            known[name] = apart.train(world, out=out, **{**TINY, **options}).path
        return apart.load(known[name])

    return of


@pytest.mark.parametrize("name", WORLDS)
def test_skills_act_alike_wherever_they_were_sent(name, trained):
    run, seen = trained(name), WORLDS[name][2]
    before = pickle.dumps(run.skills)
    expected = [run.skills.act(z, seen) for z in range(3)]
    for way in WAYS.values():
        sent = way(run.skills)
        assert list(sent) == list(run.skills)
        assert [sent.act(z, seen) for z in range(3)] == expected
        assert sent.rollout(1) == run.skills.rollout(1)
    assert [pickle.loads(before).act(z, seen) for z in range(3)] == expected
    again = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(run))))
    assert again.skills.act(2, seen) == expected[2]
    assert again.world.name == run.world.name


def test_skills_that_acted_need_neither_their_folder_nor_jax_in_a_table(trained, tmp_path):
    run = trained("map")
    expected = [run.skills.act(z, state) for z in range(3) for state in range(5)]
    (tmp_path / "skills").write_bytes(pickle.dumps(run.skills))
    code = """
import pickle, sys
skills = pickle.load(open("skills", "rb"))
print([skills.act(z, state) for z in range(3) for state in range(5)])
sys.exit("jax" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(expected)


def test_skills_that_did_not_act_find_their_folder_from_anywhere(trained, tmp_path, monkeypatch):
    path = trained("map").path
    monkeypatch.chdir(path.parent)
    data = pickle.dumps(apart.load(path.name).skills)
    monkeypatch.chdir(tmp_path)
    assert pickle.loads(data).act(0, 0) in range(5)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["map", "environment"])
def test_environments_of_skills_go_on_where_they_were(way, name, trained):
    run = trained(name)
    if name == "map":
        inner = apart.make_env(run.world, goal=(0, 2), steps=9)
    else:
        inner = gymnasium.make("CartPole-v1")
    env = WAYS[way](apart.skill_env(inner, run.skills, steps=2, primitive=True))
    env.reset(seed=1)
    env.step(1)
    moved = WAYS[way](env)
    for action in (0, 3, 2):
        one, other = env.step(action), moved.step(action)
        np.testing.assert_array_equal(one[0], other[0])
        assert one[1:] == other[1:]


def test_environments_run_in_processes_of_gymnasium(trained):
    """What SubprocVecEnv of stable-baselines3 does, without it."""
    world, skills = trained("map").world, trained("map").skills
    skills.act(0, 0)
    make = [lambda: apart.skill_env(apart.make_env(world), skills)] * 2
    alone, together = make[0](), gymnasium.vector.AsyncVectorEnv(make, context="spawn")
    try:
        together.reset(seed=3)
        alone.reset(seed=3)
        for action in (1, 2, 0):
            expected = alone.step(action)[0]
            assert together.step(np.array([action, action]))[0].tolist() == [expected, expected]
    finally:
        together.close()


def test_worlds_are_built_again_and_lazy_modules_stay_names():
    for name in ("maze:u", "gym:CartPole-v1", "four_rooms", LAKE):
        world = worlds.load(name)
        for way in WAYS.values():
            same = way(world)
            assert dict(same.about.spec) == dict(world.about.spec)
            numbers = np.array([1, 3], np.int32)
            assert same.places.label(numbers) == world.places.label(numbers)
            assert same.about.horizon == world.about.horizon
    for way in WAYS.values():
        assert way(_lazy.jnp) is _lazy.jnp
        assert way({"jax": _lazy.jax})["jax"] is _lazy.jax
