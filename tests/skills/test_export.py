"""What is exported acts like the package, with NumPy alone."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import hostile
import numpy as np
import pytest
import twins

import apart
from apart import worlds
from apart._errors import UserError
from apart.cli import main
from apart.runs import files
from apart.runs.skills import Reach
from apart.skills import apart_skills
from apart.skills.export import _scaled
from apart.skills.library import SampledPolicies, open_policies
from apart.skills.policies import learnt_of
from apart.training.learner import evaluated
from apart.worlds.grid import parse
from apart.worlds.world import ObsSpec

FILE = Path(apart_skills.__file__)
RING = parse("S..\n.#.\n...", "ring")
SMALL = {"steps": 600, "skills": 5, "horizon": 6, "batch": 16, "evaluate_every": 96, "buffer": 200}
CASES = {
    "table": {"method": "apart"},
    "averaged": {"method": "diayn", "average_rate": 0.1},
    "biased": {"method": "diayn", "network": "additive+bias/table"},
    "held": {"method": "diayn", "hold": 3},
    "linear": {"method": "diayn", "network": "linear"},
    "mlp": {"method": "diayn", "network": "mlp:8,6+bias"},
    "cnn": {"method": "diayn", "observation": "normalized_pixels:2", "network": "cnn:4,3:3"},
}


def exported(world, out, **options):
    run = apart.train(world, out=out / "run", **{**SMALL, **options})
    return run, apart_skills.Skills(apart.export(run, out / "exported"))


@pytest.mark.parametrize("case", CASES)
def test_all_actions_in_all_states_are_equal(case, tmp_path):
    run, skills = exported(RING, tmp_path, **CASES[case])
    clear = 0
    for state in range(RING.n_states):
        values = skills.values(state)
        assert np.array_equal(values, skills.values(RING.cell(state)))
        for skill in range(5):
            first, second = np.sort(values[:, skill])[[-1, -2]]
            if "q" in skills.arrays or first - second > 1e-4 * np.abs(values).max():
                clear += 1
                assert skills.act(skill, state) == run.skills.act(skill, state)
    assert clear >= 0.8 * 5 * RING.n_states
    if case in ("table", "held"):
        for skill in run.skills:
            assert skills.rollout(skill.index) == skill.trajectory
        again = run.skills.rollout(2, start=(2, 0))
        assert skills.rollout(2, start=(2, 0)) == skills.rollout(2, RING.state((2, 0))) == again


@pytest.mark.parametrize("kind", ["jax-grid", "host-grid"])
def test_networks_on_observations_act_alike(kind, tmp_path):
    twins.register()
    world = {"jax-grid": twins.jax_grid, "host-grid": twins.host_grid}[kind](RING)
    run, skills = exported(world, tmp_path, method="diayn", network="mlp:8")
    for seen in np.eye(8, dtype=np.float32):
        for skill in range(5):
            values = np.sort(skills.values(seen)[:, skill])
            if values[-1] - values[-2] > 1e-4 * np.abs(values).max():
                assert skills.act(skill, seen) == run.skills.act(skill, seen)


def test_several_heads_act_alike(tmp_path):
    """Continuous actions in bins: each of three heads takes its own best number."""
    hostile.healed()
    world = worlds.load("gym:hostile:Walk-v0:actions=box3")
    assert world.about.heads == 3
    run, skills = exported(world, tmp_path, method="diayn", network="mlp:8")
    clear, actions = 0, set()
    for seen in np.stack(np.meshgrid(*[np.arange(4.0)] * 2), -1).reshape(-1, 2):
        values = skills.values(seen)
        assert values.shape == (3, world.about.n_actions, 5)
        for skill in range(5):
            best = np.sort(values[..., skill], axis=1)
            if (best[:, -1] - best[:, -2]).min() > 1e-4 * np.abs(values).max():
                clear += 1
                actions.add(tuple(skills.act(skill, seen)))
                assert skills.act(skill, seen) == run.skills.act(skill, seen)
    assert clear >= 40
    assert len(actions) > 1


def test_bytes_are_seen_as_shares_of_one():
    """Unless the world says how they are scaled."""
    world = twins.jax_grid(RING)
    seen = {}
    for name, spec in (
        ("float", ObsSpec((8,))),
        ("bytes", ObsSpec((8,), "uint8")),
        ("said", ObsSpec((8,), "uint8", (2.0,), (0.5,))),
    ):
        found = _scaled(replace(world, obs=spec), (1, 1, 8))
        seen[name] = (found["offset"].tolist(), found["scale"].tolist())
    assert seen["float"] == ([0.0], [1.0])
    assert seen["bytes"] == ([0.0], [pytest.approx(1 / 255)])
    assert seen["said"] == ([2.0], [0.5])


@pytest.mark.parametrize("observation", ["rbf", "fourier", "arrays"])
def test_features_of_positions_are_seen_alike(observation, tmp_path):
    run, skills = exported(
        "maze:corridor", tmp_path, method="diayn", network="mlp:8", observation=observation
    )
    learnt = learnt_of(run)
    for seen in np.random.default_rng(0).uniform(-1, 1, (20, 2)).astype(np.float32):
        values = np.asarray(learnt.learner.values(evaluated(learnt.learnt), seen[None]))[0]
        np.testing.assert_allclose(skills.values(seen), values, rtol=1e-3, atol=1e-4)


def test_mistakes_are_named_as_the_package_names_them(tmp_path):
    _, skills = exported(RING, tmp_path, method="diayn")
    for call, said in (
        (lambda: skills.act(-1, 0), "skill -1: there are skills 0 to 4"),
        (lambda: skills.rollout(5), "skill 5: there are skills 0 to 4"),
        (lambda: skills.act(0, (1, 1)), r"no state \(1, 1\): states are 0 to 7 or free cells"),
        (lambda: skills.act(0, 8), "no state 8: states are 0 to 7"),
        (lambda: skills.rollout(0, -1), "no state -1: states are 0 to 7"),
    ):
        with pytest.raises(ValueError, match=said):
            call()
    skills.config["table"] = False
    with pytest.raises(ValueError, match="ring is no table"):
        skills.rollout(0)


def test_the_file_is_short_and_needs_numpy_alone(tmp_path):
    run, _ = exported(RING, tmp_path, **CASES["mlp"])
    assert len(FILE.read_text().splitlines()) <= 83
    names = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(FILE.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
        )
    }
    assert names == {"json", "numpy", "pathlib", "typing"}
    code = f"""
import sys
sys.modules.update(jax=None, apart=None, safetensors=None)
sys.path.insert(0, {str(FILE.parent)!r})
import apart_skills
print([apart_skills.Skills({str(tmp_path / "exported")!r}).act(2, s) for s in range(8)])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [run.skills.act(2, s) for s in range(8)]


def test_the_folder_is_ready_for_a_model_hub(tmp_path, capsys):
    apart.train(RING, out=tmp_path / "run", **SMALL)
    out = tmp_path / "exported"
    assert main(["export", str(tmp_path / "run"), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("5 skills: ")
    assert said.endswith("(README.md, config.json, model.safetensors, skills.png)\n")
    assert {p.name for p in out.iterdir()} == {
        "README.md",
        "config.json",
        "model.safetensors",
        "skills.png",
    }
    card, config = (out / "README.md").read_text(), json.loads((out / "config.json").read_text())
    assert card.startswith("---\nlibrary_name: apart\n")
    assert "| ring | `apart` | 0 | 600 |" in card
    assert (
        "Policies learnt by `apart`, a method of skill discovery, in episodes of 6 steps." in card
    )
    assert "of its own" not in card  # nor that each ends elsewhere: this table says how many do
    assert config["n_skills"] == len(config["skills"]) == 5
    assert config["n_available"] == 8
    assert main(["export", str(tmp_path / "run"), "--out", str(out)]) == 2  # not twice


def test_hostile_names_are_words_in_the_card(tmp_path):
    world = parse("S..\n...", "<script>`\n# x ![a](b)")
    run = apart.train(world, out=tmp_path / "run", **{**SMALL, "steps": 60})
    apart.export(run, tmp_path / "exported")
    card = (tmp_path / "exported" / "README.md").read_text()
    assert not set("<`!") & set(card.split("# 5 skills in ")[1].split("\n")[0])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["export", "{run}"], "--out: name the folder"),
        (["export", "{run}", "--out", "{run}"], "is not empty; choose another --out"),
        (["export", "{run}", "--out", "{run}/config.json"], "is not a folder"),
        (["export", "{run}/nowhere", "--out", "x"], "no such run folder"),
        (["reach", "{run}"], "--goal: name a place"),
        (["reach", "{run}", "--goal", "x,1"], "'x,1' is not a place"),
        (["reach", "{run}", "--goal", "1,1"], "cell (1, 1) is a wall"),
        (["reach", "{run}", "--goal", "0,0", "--start", "9,9"], "no cell (9, 9)"),
    ],
)
def test_wrong_words_are_one_line(words, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "run"
    apart.train(RING, out=run, **{**SMALL, "steps": 60})
    assert main([word.format(run=run) for word in words]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert {p.name for p in tmp_path.iterdir()} == {"run"}


@pytest.fixture(scope="module")
def ring_run(tmp_path_factory):
    out = tmp_path_factory.mktemp("ring") / "run"
    return apart.train(RING, out=out, **{**SMALL, "steps": 60})


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("nth", range(4))
def test_an_export_that_fails_leaves_nothing_in_the_way(nth, there, ring_run, tmp_path):
    out, left, plain = tmp_path / "exported", nth, files.write_bytes
    if there:
        out.mkdir()

    def full(path, data):
        nonlocal left
        if not left:
            raise UserError(f"{path}: cannot be written (no space)")
        left -= 1
        plain(path, data)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "write_bytes", full)
        with pytest.raises(UserError, match="no space"):
            apart.export(ring_run, out)
    assert out.exists() == there
    assert len([*apart.export(ring_run, out).iterdir()]) == 4


@pytest.mark.parametrize(
    "words",
    [
        "export {run} --out {run}",
        "reach {run} --goal 1,1",
        "reach {run} --goal 99999999999",
        "reach {run} --goal 0,0 --start 9,9",
    ],
)
def test_wrong_words_do_not_wait_for_jax(words, ring_run):
    said = [word.format(run=ring_run.path) for word in words.split()]
    code = "import sys, apart.cli; print(apart.cli.main(sys.argv[1:]), 'jax' in sys.modules)"
    command = [sys.executable, "-c", code, *said]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "2 False\n", done.stderr


def test_reach_walks_to_a_goal_or_says_that_it_does_not(tmp_path, capsys):
    run = apart.train(RING, out=tmp_path / "run", **SMALL)
    goal = run.skills[3].last_state
    assert main(["reach", str(run.path), "--goal", ",".join(map(str, goal))]) == 0
    assert "reached after" in capsys.readouterr().out
    policies = open_policies(run)
    pairs = [(a, b) for a in RING.cells.tolist() for b in RING.cells.tolist()]
    start, goal = next(p for p in pairs if not policies.reach(p[1], p[0]).probability)
    words = ["--start", f"{start[0]},{start[1]}", "--goal", f"{goal[0]},{goal[1]}"]
    assert main(["reach", str(run.path), *words]) == 1
    assert "no skill reaches" in capsys.readouterr().out


def test_a_goal_may_be_the_number_of_a_state(tmp_path, capsys):
    run = apart.train(RING, out=tmp_path / "run", **SMALL)
    goal = run.skills[3].last_state
    assert main(["reach", str(run.path), "--goal", str(RING.state(goal))]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert f"reaches {goal[0]},{goal[1]} from 0,0 with probability 1" in first
    assert second.endswith(f" {goal[0]},{goal[1]}")


def test_a_goal_in_one_step_and_a_goal_by_sampled_episodes(tmp_path, capsys):
    twins.register()
    run = apart.train(twins.jax_grid(RING), out=tmp_path / "jax", **SMALL, network="linear")
    at = next(s.trajectory[1] for s in run.skills if s.trajectory[1] != s.trajectory[0])
    assert main(["reach", str(run.path), "--goal", ",".join(map(str, at))]) == 0
    out = capsys.readouterr().out
    assert " in 20 of 20 sampled episodes\n" in out
    assert "reached after 1 step: " in out


def test_a_goal_that_the_stored_episode_alone_comes_to(tmp_path, capsys, monkeypatch):
    """As by chance, or from a random start: no sampled episode is the stored one."""
    twins.register()
    run = apart.train(twins.jax_grid(RING), out=tmp_path / "jax", **SMALL, network="linear")
    monkeypatch.setattr(SampledPolicies, "reach", lambda self, place, start: Reach(3, 0.0))
    goal = run.skills[3].last_state
    assert main(["reach", str(run.path), "--goal", ",".join(map(str, goal))]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("skill 3 of 5 reaches ")
    assert first.endswith(" in 0 of 20 sampled episodes")
    assert second.startswith("reached after ")


@pytest.mark.parametrize("twin", [twins.jax_grid, twins.host_grid])
def test_a_start_is_for_tables(twin, tmp_path, capsys):
    twins.register()
    run = apart.train(twin(RING), out=tmp_path / "run", **SMALL, network="linear")
    assert main(["reach", str(run.path), "--goal", "0,0", "--start", "0,1"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("apart: --start is for tables only")


def test_a_goal_that_the_map_has_but_no_episode(tmp_path, capsys):
    world = parse("S.#.\n..#.", "two")
    run = apart.train(world, out=tmp_path / "run", **{**SMALL, "steps": 60})
    for goal, why in (
        ("1,3", "cell (1, 3) cannot be reached from the start"),
        ("0,2", "cell (0, 2) is a wall"),
        ("-1,0", "no cell (-1, 0); places are such as (0, 0)"),
    ):
        assert main(["reach", str(run.path), "--goal", goal]) == 2
        assert why in capsys.readouterr().err


def test_a_set_of_runs_is_not_exported(tmp_path, in_this_process):
    made = apart.train(RING, seeds=1, out=tmp_path / "set", **{**SMALL, "steps": 60})
    with pytest.raises(UserError, match=r"several runs; name one, such as .*seed-0"):
        apart.export(made, tmp_path / "exported")
