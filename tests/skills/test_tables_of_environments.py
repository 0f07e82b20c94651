"""Skills of a table that was made of an environment: in that environment, and with names."""

from __future__ import annotations

import json
import pickle

import crafting
import numpy as np
import pytest

import apart
from apart import worlds
from apart._errors import UserError
from apart.cli import main
from apart.report.page_data import page_data
from apart.runs import files
from apart.worlds import observed

gymnasium = pytest.importorskip("gymnasium", reason="the extra gym is not installed")

CRAFT = "table:gym:crafting:Craft-v0"
LEARNS = {"method": "apart_plus", "skills": 36, "horizon": 20, "steps": 12_000}
TINY = {"method": "diayn", "skills": 3, "horizon": 4, "steps": 200, "batch": 8, "buffer": 100}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return apart.train(CRAFT, out=tmp_path_factory.mktemp("craft") / "run", **LEARNS)


@pytest.fixture
def env():
    return gymnasium.make("Craft-v0")


def tiny(seen, out, **more):
    world = apart.table_of(crafting.Craft(seen), f"craft {seen}")
    return apart.train(world, out=out, **{**TINY, **more})


def test_every_skill_ends_in_the_environment_as_in_the_table(run, env):
    options = pickle.loads(pickle.dumps(apart.skill_env(env, run.skills)))
    assert run.world.n_states == 54
    for skill in run.skills:
        options.reset(seed=skill.index)
        seen, *_ = options.step(skill.index)
        assert observed.plain(seen) == skill.last_observation
        assert run.world.observed.shown[skill.last_state] == skill.last_observation
    chosen, probability = run.skills.reach(run.skills[3].last_state)
    assert probability == 1.0
    options.reset()
    assert observed.plain(options.step(chosen)[0]) == run.skills[3].last_observation


def test_a_real_observation_is_a_state(run, env):
    seen, _ = env.reset()
    for action in (4, 4, 0, 0):
        seen, *_ = env.step(action)
    state = run.world.observed.shown.index(observed.plain(seen))
    assert run.world.label(state) == f"state {state}: wood=2, pick=0, at=(0, 2)"
    for skill in range(36):
        assert run.skills.act(skill, seen) == run.skills.act(skill, state)
    assert run.skills.rollout(5, start=seen) == run.skills.rollout(5, start=state)
    with pytest.raises(UserError, match=r"no state looks like the observation wood=9, at=\(0, 2\)"):
        run.skills.act(0, {**seen, "inventory": {"wood": 9}})


def test_states_have_names_wherever_they_are_shown(run, capsys):
    last = run.skills[7].last_state
    name = run.world.observed.words(run.skills[7].last_observation)
    assert run.world.label(last) == f"state {last}: {name}"
    with pytest.raises(UserError, match=r"has no map, so no cells; label\(17\)"):
        run.world.cell(17)
    with pytest.raises(UserError, match="state 54 is outside 0 to 53"):
        run.world.label(54)
    assert main(["play", str(run.path), "--skill", "7"]) == 0
    assert name in capsys.readouterr().out
    assert main(["reach", str(run.path), "--goal", str(last)]) == 0
    assert run.world.label(last) in capsys.readouterr().out
    (world,) = page_data([run], lambda run: None)["worlds"]
    assert world["names"][last] == name


@pytest.mark.parametrize("seen", ["array", "image", "tuple"])
def test_observations_of_every_kind_lead_to_states(seen, tmp_path):
    run = tiny(seen, tmp_path / "run")
    env = apart.skill_env(crafting.Craft(seen), run.skills)
    for skill in run.skills:
        env.reset()
        shown, *_ = env.step(skill.index)
        assert observed.plain(shown) == skill.last_observation
        assert run.world.observed.keys[skill.last_state] == observed.key(shown)
    if seen == "image":
        assert run.skills[0].last_observation == "40 x 40 x 3 uint8"
        assert run.world.label(0) == "state 0"  # nothing that words could say differs


def test_actions_that_begin_with_another_number_are_taken(tmp_path):
    world = apart.table_of(crafting.Craft(first=3), "craft")
    run = apart.train(world, out=tmp_path / "run", **TINY)
    env = apart.skill_env(crafting.Craft(first=3), run.skills)
    env.reset()
    assert observed.plain(env.step(1)[0]) == run.skills[1].last_observation


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        ("place", r"54 of 54 states look like another, such as \d+ and \d+"),
        ("clock", r"\d+ of 54 states do not always look alike"),
        ("noise", r"\d+ of 54 states do not always look alike"),
    ],
)
def test_where_the_observation_does_not_tell_the_state_that_is_said_at_once(seen, why, tmp_path):
    run, env = tiny(seen, tmp_path / "run"), crafting.Craft(seen)
    for ask in (
        lambda: apart.skill_env(env, run.skills),
        lambda: run.skills.act(0, env.reset()[0]),
    ):
        with pytest.raises(UserError, match=why) as error:
            ask()
        assert "observe=" in str(error.value)
        assert "\n" not in str(error.value)
    assert run.skills.act(0, 5) in range(5)
    apart.skill_env(env, run.skills, observe=lambda seen: 0)


def test_a_world_with_a_table_of_its_own_gives_numbers_of_states_of_its_own(tmp_path):
    """FrozenLake's observation 4 is the cell below the start, the table's state 4 is not."""
    lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    options = {"method": "apart_plus", "skills": "auto", "horizon": 8, "steps": 4000}
    run = apart.train(apart.table_of(lake, "lake"), out=tmp_path / "run", **options)
    env = apart.skill_env(lake, run.skills)
    env.reset(seed=0)
    goal, _ = run.skills.reach((3, 3))
    assert run.skills[goal].last_observation == 15
    assert run.world.label((3, 3)) == "cell (3, 3): 15"
    assert run.world.label((3, 3)) == run.world.label(run.world.state_seen(np.int64(15)))
    with pytest.raises(UserError, match=r"no cell \(9, 9\)"):
        run.world.label((9, 9))
    assert env.step(goal)[1:3] == (1.0, True)


def test_what_states_look_like_goes_along_to_every_seed_and_through_a_stop(
    tmp_path, in_this_process
):
    both = apart.train(CRAFT, seeds=2, out=tmp_path / "set", **TINY)
    one = apart.train(CRAFT, seed=1, out=tmp_path / "one", **TINY)
    assert both.runs[1].skills == one.skills
    assert one.skills[0].last_observation["mission"] == "pickaxe"
    file = one.path / "skills.json"
    before = file.read_bytes()
    file.unlink()
    apart.resume(one.path, warn=lambda line: None)
    assert file.read_bytes() == before


def test_a_run_without_them_still_works(tmp_path):
    path = apart.train(CRAFT, out=tmp_path / "run", **TINY).path
    stored = files.read_sealed(path / "config.json")
    lines = stored.pop("observations")
    files.write_sealed(path / "config.json", stored)
    run = apart.load(path)
    assert run.world.label(3) == "state 3"
    assert run.skills.act(0, 3) in range(5)
    seen, _ = crafting.Craft().reset()
    for ask in (
        lambda: run.skills.act(0, seen),
        lambda: apart.skill_env(crafting.Craft(), run.skills),
    ):
        with pytest.raises(UserError, match="what its states look like was not kept"):
            ask()
    assert apart.resume(path).skills == run.skills
    for wrong in (lines[1:], [3] * 54, ["x"] * 54, "x", ["x {"] * 54):
        files.write_sealed(path / "config.json", {**stored, "observations": wrong})
        for read in (apart.resume, lambda path: apart.load(path).world):
            with pytest.raises(UserError, match=r"config.json: the observations are not"):
                read(path)


def test_they_are_no_part_of_what_a_run_is_called_and_stay_small():
    world = worlds.load(CRAFT)
    assert "observations" not in world.about.spec
    again = observed.from_lines(json.loads(json.dumps(world.observed.lines())), 54)
    assert (again.keys, again.shown) == (world.observed.keys, world.observed.shown)
    varies = observed.Observed(["a", "b"], [1, 2], frozenset({1}))
    assert observed.from_lines(varies.lines(), 2).varies == {1}
    many = 300_000 // 20
    large = observed.Observed(["k"] * many, observed.bounded([{"x": [0] * 20, "y": 1}] * many))
    assert large.lines()[0] == 'k {"x": "20 numbers", "y": 1}'
    assert observed.from_lines(large.lines(), many).shown == large.shown
