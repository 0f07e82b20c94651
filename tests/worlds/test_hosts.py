"""Gymnasium worlds as they are: spaces, places, and one line for all that goes wrong."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import subprocess
import sys
import time
import warnings
from pathlib import Path

import gymnasium
import hostile
import numpy as np
import pytest
from gymnasium import spaces as gym_spaces
from matplotlib.figure import Figure

import apart
from apart import worlds
from apart._errors import UserError
from apart.cli import main
from apart.cli.words import tell
from apart.report.page_data import page_data
from apart.running import jobs, progress
from apart.skills import frames
from apart.worlds import hosts, places, registered, spaces
from apart.worlds.world import HostWorld, evidence

TESTS = Path(__file__).parents[1]
WALK = "gym:hostile:Walk-v0"
OPTIONS = {"skills": 4, "horizon": 6, "steps": 200, "batch": 16, "buffer": 600}
OPTIONS |= {"network": "mlp:8", "evaluate_every": 100, "method": "diayn", "episodes_per_update": 1}


@pytest.fixture(autouse=True)
def sound():
    hostile.healed(False)


def load(text):
    hostile.healed(False)
    return worlds.load(text)


def test_a_world_is_built_again_from_json_and_nothing_else():
    world = load(f"{WALK}:actions=box3,seed=4,noise=0.5")
    assert isinstance(world, HostWorld)
    spec = json.loads(json.dumps(world.about.spec))
    again = worlds.from_spec(spec, 7)
    assert again.about == world.about._replace(horizon=7)
    assert again.obs == world.obs
    assert (world.about.horizon, world.about.n_actions, world.about.heads) == (30, 3, 3)
    assert worlds.known_everywhere(spec)
    assert repr(again).startswith("<HostWorld hostile:Walk-v0,actions=box3")


@pytest.mark.parametrize(
    ("actions", "n", "heads", "ours", "theirs"),
    [
        ("discrete", 5, 1, 4, 4),
        ("start", 5, 1, 4, 7),
        ("multi", 6, 1, 3, [1, 1]),
        ("binary", 8, 1, 5, [1, 0, 1]),
        ("box1", 3, 1, 0, [-1.0]),
        ("box2", 9, 1, 5, [0.0, 1.0]),
        ("box3", 3, 3, [0, 1, 2], [-1.0, 0.0, 4.0]),
    ],
)
def test_actions_are_whole_numbers(actions, n, heads, ours, theirs):
    world = load(f"{WALK}:actions={actions}")
    assert (world.about.n_actions, world.about.heads) == (n, heads)
    vector = world.make(2)
    vector.reset(seed=[0, 1])
    vector.step(np.array([ours, ours]))
    taken = vector.envs[1].unwrapped.taken
    np.testing.assert_array_equal(taken, theirs)
    assert np.asarray(taken).dtype == np.asarray(hostile.ACTIONS[actions].sample()).dtype


def test_every_combination_of_bins_is_an_action():
    acts = spaces.acts_of(hostile.ACTIONS["box2"], "x", 4)
    assert len({tuple(value) for value in acts.values}) == acts.n_actions == 16
    assert sorted({x for value in acts.values for x in value}) == pytest.approx(
        [-1, -1 / 3, 1 / 3, 1]
    )
    assert load(f"{WALK}:actions=box2,bins=11").about.heads == 2  # 121 combinations are too many


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gym:hostile:Wlak-v0", "unknown Gymnasium environment 'Wlak-v0'; did you mean 'Walk-v0'"),
        ("gym:", r"no id; write gym:ID\[:key=value,...\]"),
        ("gmy:Walk-v0", "did you mean 'gym'"),
        (f"{WALK}:actions=box9", "actions of 9 dimensions; at most 8"),
        (f"{WALK}:actions=free", "are unbounded"),
        (f"{WALK}:actions=many", "400 combinations of actions"),
        (f"{WALK}:actions=text", "neither Discrete nor a Box"),
        (f"{WALK}:bins=1", "bins=1: give a number from 2 to 100"),
        (f"{WALK}:see=image", "observations are not a Dict"),
        ("gym:hostile:Talks-v0:see=imag", "did you mean 'image'"),
        ("gym:hostile:Talks-v0:see=words", "is not an array of a fixed shape"),
        ("gym:hostile:Says-v0", "are not arrays of a fixed shape"),
        (f"{WALK}:places=hostile:corer", "hostile has no function corer; did you mean 'corner'"),
        (f"{WALK}:places=corner", "places=corner: write module:name"),
        (f"{WALK}:places=no_such:f", "import no_such fails: ModuleNotFoundError"),
        (f"{WALK}:wrap=hostile:Miror", "did you mean 'Mirror'"),
        (f"{WALK}:trouble=screen", "No available video device.*needs a display"),
        (f"{WALK}:wheels=4", "gymnasium.make fails: .*wheels"),
        (f"{WALK}:timeout=0", "timeout=0: give a number"),
        (f"{WALK}:max_episode_steps=foo", "max_episode_steps=foo: give a number from 1 to 100000"),
        (f"{WALK}:max_episode_steps=-5", "max_episode_steps=-5: give a number"),
        (f"{WALK}:max_episode_steps=0", "max_episode_steps=0: give a number"),
    ],
)
def test_wrong_words_give_one_line(text, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=message):
        load(text)
    for command in (["check", text], ["train", text]):
        hostile.healed(False)
        assert main(command) == 2
        err = capsys.readouterr().err
        assert err.startswith("apart: ")
        assert err.count("\n") == 1, err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["gym", "table:gym"])
def test_a_limit_of_steps_is_the_length_of_an_episode_and_stays_an_argument(kind):
    world = load(f"{kind}:FrozenLake-v1:max_episode_steps=7")
    assert world.about.horizon == 7
    assert world.name == "FrozenLake-v1,max_episode_steps=7"


def test_a_path_in_an_argument_is_a_part_of_it():
    parsed = registered.parsed("a:B-v0:wrap=m.n:C,places=p:q,x=1.5,y=true", hosts.SYNTAX)
    assert parsed == ("a:B-v0", {"wrap": "m.n:C", "places": "p:q", "x": 1.5, "y": True})


def test_an_image_stays_bytes_and_texts_are_dropped():
    world = load("gym:hostile:Talks-v0")
    assert (world.obs.shape, world.obs.dtype) == ((4, 4, 3), "uint8")
    assert world.about.spec["observation"]["dropped"] == ["pair", "words"]
    obs, _ = world.make(1).reset(seed=[0])
    assert obs.dtype == np.uint8
    assert obs.sum() == 600


def test_parts_are_flattened_as_gymnasium_does():
    world = load("gym:hostile:Talks-v0:see=pair")
    obs, _ = world.make(1).reset(seed=[0])
    pair = hostile.Talks().observation_space["pair"]
    expected = gym_spaces.flatten(pair, (1, np.array([2.0])))
    np.testing.assert_allclose(obs[0], expected)
    assert obs.dtype == np.float32
    # A one-hot of three and a number of range 8: two units, the number in halves of its range.
    np.testing.assert_allclose(world.obs.scale, [2**-0.5] * 3 + [0.25 * 2**-0.5], rtol=1e-2)
    np.testing.assert_allclose(world.obs.offset, [0, 0, 0, 2])


def test_goals_of_a_task_are_not_seen():
    parts = {
        "observation": gym_spaces.Box(-1, 1, (3,)),
        "desired_goal": gym_spaces.Box(-1, 1, (2,)),
    }
    seen = spaces.seen_of(gym_spaces.Dict(parts), "x", None)
    assert (seen.shape, seen.dropped) == ((3,), ("desired_goal",))


def test_what_networks_see_is_of_unit_size():
    rng = np.random.default_rng(0)
    box = gym_spaces.Box(np.array([-np.inf, 0], np.float32), np.array([np.inf, 10], np.float32))
    sample = np.stack([rng.normal(50, 4, 4000), rng.uniform(0, 10, 4000)], 1)
    offset, scale = spaces.standard(spaces.seen_of(box, "x", None), sample)
    seen = (sample - offset) * scale
    assert np.square(seen).mean(0) == pytest.approx([1 / 2, 1 / 6], rel=0.05)
    image = gym_spaces.Box(0, 255, (3, 3, 2), np.uint8)
    sample = rng.integers(0, 9, (500, 3, 3, 2)).astype(float)
    offset, scale = spaces.standard(spaces.seen_of(image, "x", None), sample)
    seen = (sample - np.reshape(offset, (3, 3, 2))) * scale
    assert np.square(seen).sum(-1).mean() == pytest.approx(1.0, rel=0.02)


@pytest.mark.parametrize("seconds", [1e-3, 2.0])
def test_what_is_measured_does_not_depend_on_the_clock(seconds, monkeypatch):
    known = load(f"{WALK}:noise=0.5").about.spec
    clock = itertools.count()
    monkeypatch.setattr(time, "monotonic", lambda: seconds * next(clock))
    assert load(f"{WALK}:noise=0.5").about.spec == known


def test_networks_see_it_so():
    from apart.worlds.observations import sight_of

    world = load(WALK)
    images = sight_of(world, "arrays").images(np.array([[3.0, 0.0], [1e9, 0.0]], np.float32))
    offset, scale = (np.array(x) for x in (world.obs.offset, world.obs.scale))
    expected = (np.array([[3.0, 0.0], [1e9, 0.0]]) - offset) * scale
    np.testing.assert_allclose(images[:, 0, 0], np.clip(expected, -10, 10), rtol=1e-5)


def test_wrappers_by_import_path_and_one_seed_for_all_episodes():
    world = load(f"{WALK}:wrap=hostile:Mirror")
    obs, _ = world.make(1).reset(seed=[0])
    assert obs.tolist() == [[3.0, 3.0]]
    noisy = load(f"{WALK}:noise=0.5,seed=3").make(2)
    noisy.reset(seed=[1, 2])
    walks = np.array([noisy.step(np.array([1, 1]))[0] for _ in range(12)])
    np.testing.assert_array_equal(walks[:, 0], walks[:, 1])


def test_bins_by_hand():
    spec = places._json(places.Known("x", (1.0, -2.0), (-1.0, 2.0), (4, 8)))
    locate = places.locator({**spec, "feature": "torso_xy"})

    class Env:
        class data:
            qpos = np.zeros(5)

    def at(x, y):
        Env.data.qpos[:2] = x, y
        return places.places_of(spec).label(np.array([locate(Env, None)]))[0]

    assert at(-2.0, 1.0) == [0, 0]
    assert at(0.1, -0.1) == [2, 4]
    assert at(1.9, -0.9) == [3, 7]
    assert at(99, 99) == [0, 7]


def test_places_of_known_worlds():
    lake = load("gym:FrozenLake-v1")
    assert (lake.places.n, lake.places.noun) == (16, "cell")
    assert lake.places.label(np.array([7])) == [[1, 3]]
    assert len(lake.places.backdrop) == 4
    car = load("gym:MountainCar-v0")
    vector = car.make(1)
    obs, info = vector.reset(seed=[0])
    column = int((obs[0, 0] + 1.2) / 1.8 * 18)
    assert car.places.label(car.place(obs, info)) == [[5 if obs[0, 1] <= 0 else 4, column]]
    assert car.places.n is None


def test_goals_are_written_as_places_are():
    from apart.skills.places import labels, numbers_at

    world = load("gym:CartPole-v1")
    assert numbers_at(world, (4, 7)).tolist() == [47]
    assert labels(world, np.array([47])) == [(4, 7)]
    with pytest.raises(UserError, match="no bin"):
        numbers_at(world, (10, 0))


def test_known_records_are_whole():
    for begin, known in places.KNOWN.items():
        assert known.feature in places.FEATURES, begin
        assert len(known.low) == len(known.high) == len(known.bins)
        assert all(a != b for a, b in zip(known.low, known.high, strict=True))


def test_bins_have_names_units_and_ranges():
    for begin, known in places.KNOWN.items():
        axes = places.places_of(places._json(known)).axes
        assert [axis.bins for axis in axes] == list(known.bins), begin
        assert all(axis.name for axis in axes)
    angle, position = load("gym:CartPole-v1").places.axes
    assert angle == ("pole angle", "rad", 0.2095, -0.2095, 10)
    assert position[:4] == ("cart position", "", -2.4, 2.4)
    ram = places.places_of(places._bytes((3, 43, 42)))
    assert [axis.high for axis in ram.axes] == [256.0] * 3
    assert load("gym:FrozenLake-v1").places.axes == ()


def test_a_layout_that_changes_with_the_seed_is_not_drawn():
    pytest.importorskip("minigrid")
    rooms, empty = load("gym:MiniGrid-FourRooms-v0").places, load("gym:MiniGrid-Empty-5x5-v0")
    assert rooms.note
    assert rooms.backdrop == ("#" * 19, *["#" + "." * 17 + "#"] * 17, "#" * 19)
    assert not empty.places.note
    fixed = load("gym:MiniGrid-FourRooms-v0:seed=0").places
    assert not fixed.note
    assert "#" in fixed.backdrop[9][1:-1]


def test_a_function_of_the_user_counts(tmp_path):
    world = load(f"{WALK}:places=hostile:corner")
    run = apart.train(world, out=tmp_path / "run", **{**OPTIONS, "epsilon": 0.5})
    assert all(0 <= skill.last_state < 4 for skill in run.skills)
    assert run.summary["evidence"] == evidence(world) == "sampled, one episode of each skill"
    assert json.loads((run.path / "skills.json").read_text())["evidence"] == evidence(world)
    assert run.n_available is None
    with pytest.raises(UserError, match=r"places=hostile:half: returned 0\.5, not a whole number"):
        apart.train(load(f"{WALK}:places=hostile:half"), out=tmp_path / "half", **OPTIONS)


def test_without_places_nothing_is_counted_and_that_is_said(tmp_path, capsys):
    world = load(WALK)
    assert not world.places.counted
    told = []
    run = apart.train(world, out=tmp_path / "run", listener=told.append, **OPTIONS)
    assert run.n_effective == 0
    assert run.summary["evidence"].startswith("not at all")
    assert main(["draw", str(run.path)]) == 0
    tell(apart.RunSet(tmp_path, [run, run]), ())
    out = capsys.readouterr().out
    assert "skills counted: not at all" in out
    assert "mean of 2 seeds" not in out
    assert "skills" not in progress.words(told[-1])
    assert "4 skills" in progress.words(told[-1]._replace(counted=True, n_effective=4))
    page = page_data([run], lambda run: None)
    assert page["runs"][0]["found"] is None
    assert page["runs"][0]["evidence"] == run.summary["evidence"]
    assert page["groups"][0]["found"] == [None] * 3
    assert "n_effective" not in page["groups"][0]["curves"]


def test_without_places_nothing_is_said_of_where_skills_go(tmp_path, capsys, monkeypatch):
    run = apart.train(load(WALK), out=tmp_path / "run", **OPTIONS)
    assert main(["reach", str(run.path), "--goal", "0"]) == 2
    assert "the world has no places (" in capsys.readouterr().err
    assert main(["play", str(run.path), "--skill", "1"]) == 0
    out = capsys.readouterr().out
    assert "skill 1: an episode of at most 6 steps\n" in out
    assert "\nthe world has no places" in out
    assert "from 0 to 0" not in out
    asked = []

    def film(run, skills, times):
        asked.append(times)
        shade = [np.full((4, 6, 3), 20 * t, np.uint8) for t in times]
        return frames.Film(np.zeros((4, 6, 3), np.uint8), [shade], [None])

    monkeypatch.setattr(frames, "film", film)
    assert main(["play", str(run.path), "--skill", "1", "--gif", str(tmp_path / "a.gif")]) == 0
    assert asked == [[1, 2, 3, 4, 5, 6]]


def test_a_run_is_read_and_drawn_without_gymnasium(tmp_path, monkeypatch, capsys):
    run = apart.train(load("gym:FrozenLake-v1"), out=tmp_path / "run", **OPTIONS)
    for name in [name for name in sys.modules if name.split(".")[0] == "gymnasium"]:
        monkeypatch.setitem(sys.modules, name, None)
    again = apart.load(run.path)
    assert again.world.places.n == 16
    assert main(["draw", str(run.path)]) == 0
    assert "skills counted: sampled" in capsys.readouterr().out


def test_what_follows_a_dot_is_no_ending_of_a_name(tmp_path, monkeypatch):
    """But of a map file it is: tests/test_door.py."""
    texts = [f"gym:FrozenLake-v1:timeout={seconds}" for seconds in (2.5, 2.7)]
    found = [jobs.prepare(text, method="diayn", options={}).folder.name for text in texts]
    assert found == ["FrozenLake-v1,timeout=2.5-diayn", "FrozenLake-v1,timeout=2.7-diayn"]
    run = apart.train(texts[0], out=tmp_path / "run", **OPTIONS)
    written, write = [], Figure.text

    def noted(figure, x, y, text, **how):
        written.append(text)
        return write(figure, x, y, text, **how)

    monkeypatch.setattr(Figure, "text", noted)
    apart.draw(run)
    assert "FrozenLake-v1,timeout=2.5 · diayn · seed 0" in written


TROUBLES = {
    "raises": "step fails: ValueError: the wheel fell off; .* 'apart resume",
    "nan": "an observation that is not finite",
    "shape": r"an observation of shape \(1,\), not \(2,\)",
    "hangs": "step did not return within 0.5 seconds",
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_trouble_is_one_line_and_the_run_goes_on_when_it_is_over(trouble, tmp_path, capsys):
    options = ["--steps", "200", "--skills", "4", "--horizon", "6", "--method", "diayn"]
    options += ["--network", "mlp:8", "--batch", "16", "--episodes-per-update", "1"]
    options += ["--evaluate-every", "100"]
    folder = tmp_path / "run"
    world = f"{WALK}:trouble={trouble},timeout=0.5,when=100"
    command = ["train", world, *options, "--out", str(folder), "--progress", "none"]
    assert main(command) == 2
    err = capsys.readouterr().err.strip().split("\n")[-1]
    assert err.startswith("apart: ")
    assert (folder / "config.json").exists()
    assert re.search(TROUBLES[trouble], err), err
    hostile.healed()
    broken = apart.resume(folder, warn=lambda line: None)
    hostile.healed()
    whole = apart.train(broken.world, out=tmp_path / "whole", **{**OPTIONS, "buffer": 50_000})
    assert broken.metrics[-1]["mean_reward"] == whole.metrics[-1]["mean_reward"]


class Slanted(hostile.Walk):
    """What it returns is not what Gymnasium asks for, as its id says."""

    slant = ""

    def reset(self, **how):
        found = super().reset(**how)
        return found[0] if self.slant == "reset" else found

    def step(self, action):
        obs, reward, terminated, truncated, info = super().step(action)
        if self.slant == "step":
            return obs, reward, terminated, info
        return obs, reward, "no" if self.slant == "flag" else np.bool_(terminated), truncated, info

    def cell(self):
        given = {"text": "here", "half": (0.5, 1), "one": 3, "below": (0, -1), "far": (1000, 0)}
        return given.get(self.slant, self.at)


SLANTS = {
    "reset": r"reset must return \(observation, info\), not one value \(ndarray\)",
    "step": r"step must return \(observation, reward, terminated, truncated, info\), not 4 values",
    "flag": "step returns terminated = 'no', not True or False",
    "text": r"cell\(\).* 'here', not \(row, column\), two whole numbers",
    "half": r"cell\(\).* \(0\.5, 1\), not \(row, column\), two whole numbers",
    "one": r"cell\(\).* 3, not \(row, column\), two whole numbers",
    "": None,
}


@pytest.fixture
def slanted(monkeypatch):
    if "Slanted-v0" not in gymnasium.registry:
        gymnasium.register("Slanted-v0", Slanted)
    return lambda slant: monkeypatch.setattr(Slanted, "slant", slant)


@pytest.mark.parametrize("slant", SLANTS)
@pytest.mark.parametrize("kind", ["gym", "table:gym"])
def test_what_an_environment_returns_is_checked_when_it_is_looked_at(kind, slant, slanted):
    slanted(slant)
    if SLANTS[slant] is None:
        assert load(f"{kind}:Slanted-v0").places.noun in ("cell", "state")
        return
    with pytest.raises(UserError, match=SLANTS[slant]):
        load(f"{kind}:Slanted-v0")


@pytest.mark.parametrize(("slant", "cell"), [("below", r"\(0, -1\)"), ("far", r"\(1000, 0\)")])
def test_cells_that_would_be_counted_as_others_are_refused(slant, cell, slanted):
    message = rf"^Slanted\.cell\(\) returns {cell}: .* 0 to 999; shift cell\(\), or use places="
    slanted(slant)
    with pytest.raises(UserError, match=message):
        load("gym:Slanted-v0")


def test_an_agent_that_leaves_the_cells_that_are_counted_ends_a_run_in_one_line(
    tmp_path, slanted, monkeypatch
):
    slanted("")
    monkeypatch.setattr(Slanted, "cell", lambda env: env.at - 1 if env.age > 3 else env.at)
    with pytest.raises(UserError, match=r"\(.*-1.*\): .* 0 to 999") as error:
        apart.train("gym:Slanted-v0", out=tmp_path / "run", **OPTIONS)
    assert "\n" not in str(error.value)


def test_a_function_that_cannot_be_imported_is_refused_and_why_is_said():
    with pytest.raises(UserError, match=r"<lambda> cannot be imported.*top level of a module"):
        apart.gym_world("CartPole-v1", places=lambda env, obs: 0)
    with pytest.raises(UserError, match="places=3 is not a function"):
        apart.gym_world("CartPole-v1", places=3)


def test_trouble_before_the_first_round_leaves_nothing_behind(tmp_path):
    world = load(f"{WALK}:trouble=spaces,when=0")
    said = r"observations are float32 \(3,\); .* float32 \(2,\)$"
    with pytest.raises(UserError, match=said):
        apart.train(world, out=tmp_path / "run", **OPTIONS)
    assert list(tmp_path.iterdir()) == []
    hostile.healed()
    apart.train(world, out=tmp_path / "run", **OPTIONS)


def test_what_an_environment_prints_and_ignores_is_not_ours(tmp_path, capfd):
    folder = tmp_path / "run"
    hostile.healed(False)
    options = ["--steps", "60", "--skills", "4", "--horizon", "6", "--method", "diayn"]
    options += ["--network", "mlp:8", "--batch", "16", "--episodes-per-update", "1"]
    options += ["--out", str(folder), "--progress", "json"]
    assert main(["train", f"{WALK}:trouble=prints,when=0", *options]) == 0
    out, err = capfd.readouterr()
    assert "as C writes it" in err
    assert "nonsense" not in out
    assert all(json.loads(line)["total_steps"] == 60 for line in out.splitlines())


def test_an_environment_that_forgets_its_seed_is_named_in_a_line(tmp_path, capsys):
    options = ["--steps", "60", "--skills", "4", "--horizon", "6", "--method", "diayn"]
    options += ["--network", "mlp:8", "--batch", "16", "--episodes-per-update", "1"]
    options += ["--out", str(tmp_path / "run")]
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert main(["train", f"{WALK}:trouble=forgets", *options, "--progress", "none"]) == 0
    err = capsys.readouterr().err
    notes = [line for line in err.splitlines() if "does not repeat itself" in line]
    assert len(notes) == 1
    assert notes[0].startswith("apart: note: hostile:Walk-v0")


def test_who_draws_from_the_process_repeats_itself_too():
    from apart.worlds import guards

    with guards.undisturbed(3):
        first = np.random.random()  # noqa: NPY002
    with guards.undisturbed(3):
        assert np.random.random() == first  # noqa: NPY002


def test_a_hang_that_nothing_interrupts_ends_the_process_with_the_same_line(tmp_path):
    command = [sys.executable, "-m", "apart", "train", f"{WALK}:trouble=stuck,timeout=0.5"]
    command += ["--steps", "600", "--skills", "4", "--horizon", "6", "--method", "diayn"]
    command += ["--network", "mlp:8", "--batch", "16", "--out", str(tmp_path / "run")]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    last = done.stderr.strip().split("\n")[-1]
    assert "did not return within 0.5 seconds" in last
    assert (tmp_path / "run" / "config.json").exists()


def test_seeds_side_by_side_find_the_module_beside_them(tmp_path, monkeypatch):
    monkeypatch.chdir(TESTS)
    found = apart.train(WALK, seeds=2, out=tmp_path / "set", **OPTIONS)
    assert [run.summary["seed"] for run in found.runs] == [0, 1]
    alone = apart.train(WALK, out=tmp_path / "alone", seed=1, **OPTIONS)
    kept = [run.metrics[-1]["mean_reward"] for run in found.runs]
    assert kept[1] == alone.metrics[-1]["mean_reward"] != kept[0]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("four_rooms", ["a table of 85 cells", "next .*four_rooms --method apart_plus"]),
        (f"{WALK}:actions=box3", ["3 dimensions of 3 bins", "places +none known", "T = 30"]),
        (
            f"{WALK}:noise=0.5",
            ["transitions +random", "seeds +used", "as a table +no: is stoch"],
        ),
        (f"{WALK}:trouble=forgets", ["seeds +ignored"]),
        ("gym:FrozenLake-v1:is_slippery=false", ["as a table +yes, 16 states", "next, a table"]),
        ("gym:CartPole-v1", ["as a table +no: .*; real numbers seldom repeat\n"]),
        ("gym:hostile:Talks-v0", ["image, 4 x 4 x 3 uint8; left out: pair, words"]),
    ],
)
def test_check_says_how_a_world_will_work(text, lines, capsys):
    hostile.healed(False)
    assert main(["check", text]) == 0
    out = capsys.readouterr().out
    for line in lines:
        assert re.search(line, out), out
    words = shlex.split(out.strip().split("\n")[-1])[1:]
    assert words[:2] == ["apart", "train"]


def test_the_next_line_of_check_trains(tmp_path, capsys):
    assert main(["check", WALK]) == 0
    line = capsys.readouterr().out.strip().split("\n")[-1]
    words = shlex.split(line)[2:]
    small = ["--steps", "100", "--network", "mlp:8", "--updates-per-episode", "1"]
    hostile.healed(False)
    assert main([*words, *small, "--out", str(tmp_path / "run"), "--progress", "none"]) == 0


def test_gymnasium_is_not_imported_for_maps():
    code = "import sys, apart.cli; apart.cli.main(['check', 'four_rooms']); "
    code += "sys.exit('gymnasium' in sys.modules or 'jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_policies_that_are_loaded_and_exported_act_as_they_were_trained(tmp_path):
    """With the scales of its observations, and a number for each head."""
    from apart.skills import apart_skills

    run = apart.train(load(f"{WALK}:actions=box3"), out=tmp_path / "run", **OPTIONS)
    skills = apart_skills.Skills(apart.export(run, tmp_path / "exported"))
    assert skills.values([0.0, 0.0]).shape == (3, 3, 4)
    clear = 0
    for at in np.ndindex(4, 4):
        observation = np.array(at, np.float32)
        values = np.sort(skills.values(observation), axis=1)
        for skill in range(4):
            if (values[:, -1, skill] - values[:, -2, skill]).min() > 1e-4:
                clear += 1
                assert skills.act(skill, observation) == run.skills.act(skill, observation)
    assert clear > 20
    played = run.skills.rollout(1)
    assert played == run.skills[1].trajectory


def test_the_cost_of_the_adapter_is_measured_where_it_can_be(monkeypatch, capsys):
    from apart.running import bench

    monkeypatch.setattr(bench, "_has_host", lambda: False)
    assert bench._bench_host(0.01, 1) is None
    assert "not measured: needs minigrid" in capsys.readouterr().out
    pytest.importorskip("minigrid", reason="measures MiniGrid")
    monkeypatch.setattr(bench, "T", 2)
    found = bench.host_steps(0.01, 1)
    assert list(found) == ["bare", "ours", "with_policy"]
    assert all(row["cpu_us_per_step"] > 0 for row in found.values())


def test_a_function_of_python_is_kept_by_its_name():
    hostile.healed(False)
    world = apart.gym_world("hostile:Walk-v0", places=hostile.corner, noise=0.5)
    assert world.about.spec["places"] == "hostile:corner"
    assert worlds.known_everywhere(world.about.spec)
    vector = world.make(1)
    assert world.place(*vector.reset(seed=[0])).tolist() == [0]
    with pytest.raises(UserError, match="top level of a module"):
        apart.gym_world("hostile:Walk-v0", places=lambda env, obs: 0)
    with pytest.raises(UserError, match="arguments must be JSON"):
        apart.gym_world("hostile:Walk-v0", noise=np.ones(2))


def test_what_only_the_main_program_has_is_not_known_everywhere(tmp_path):
    code = """
import gymnasium, hostile, apart
gymnasium.register("Mine-v0", type("Mine", (hostile.Walk,), {"__module__": "__main__"}))
def where(env, obs): return 0
for world in (apart.gym_world("Mine-v0"), apart.gym_world("hostile:Walk-v0", places=where)):
    try:
        apart.train(world, seeds=2, out="set")
    except apart.UserError as error:
        print(error)
"""
    around = {**os.environ, "PYTHONPATH": str(TESTS)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=around)
    assert done.stdout.count("worker processes do not know the world") == 2, done.stderr
    assert not list(tmp_path.iterdir())
