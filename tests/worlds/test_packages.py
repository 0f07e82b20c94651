"""Worlds of other JAX packages: those that are installed train and resume; others are said."""

from __future__ import annotations

import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from conftest import NIGHTLY

import apart
from apart import worlds
from apart._errors import UserError
from apart.cli import main
from apart.training.choices import Drawn
from apart.training.collect import by_steps, steps_of
from apart.worlds import gymnax
from apart.worlds.world import evidence

OPTIONS = {"method": "diayn", "steps": 200, "horizon": 10, "skills": 3, "network": "mlp:8"}
OPTIONS |= {"batch": 8, "buffer": 100, "evaluate_every": 100}
INSTALLED = [
    *("xminigrid:MiniGrid-FourRooms:view=agent,seed=random", "gymnax:CartPole-v1"),
    *("gymnax:FourRooms-misc:seed=random", "gymnax:Breakout-MinAtar"),
    "gymnax:Catch-bsuite:places=tests.worlds.test_packages:paddle",
]
RESUMED = ["xminigrid:MiniGrid-Empty-5x5", "gymnax:Catch-bsuite"]
INSTALLED += ["gymnax:Acrobot-v1", *RESUMED] if NIGHTLY else []
pytestmark = pytest.mark.filterwarnings("ignore")  # of those packages


def paddle(state, obs):
    """Where the paddle of Catch is."""
    return state.paddle_x


def played(world, actions):
    """Places of one episode with these actions."""
    drawn = Drawn(jnp.zeros(1, jnp.int32), jnp.array([actions], jnp.int32))
    zeros = jnp.zeros((1, world.about.n_actions, 2))
    return by_steps(steps_of(world), lambda _: zeros, drawn, jax.random.key(0))


@pytest.mark.parametrize("name", INSTALLED)
def test_it_trains_and_is_built_again(name, tmp_path):
    pytest.importorskip(name.partition(":")[0])
    run = apart.train(name, out=tmp_path / "run", **OPTIONS)
    assert (run.n_effective >= 1) == run.world.places.counted == ("not" not in evidence(run.world))
    assert run.n_effective <= 3
    again = apart.load(run.path)
    assert again.world.name == name
    assert [skill.trajectory for skill in again.skills] == [s.trajectory for s in run.skills]
    assert worlds.known_everywhere(run.spec)
    longer = apart.resume(run.path, steps=300)
    assert longer.summary["env_steps"] == 300


@pytest.mark.parametrize("name", RESUMED)
def test_stopped_and_resumed_it_ends_with_the_same_bits(name, tmp_path):
    pytest.importorskip(name.partition(":")[0])
    whole = apart.train(name, out=tmp_path / "whole", **{**OPTIONS, "steps": 400})
    part = apart.train(name, out=tmp_path / "part", **OPTIONS)
    resumed = apart.resume(part.path, steps=400)
    for file in ("skills.json", "details.jsonl"):
        a, b = ((run.path / file).read_text().splitlines()[:-1] for run in (whole, resumed))
        assert a == b


def test_the_agent_of_xminigrid_walks_as_it_should():
    pytest.importorskip("xminigrid")
    world = worlds.load("xminigrid:MiniGrid-Empty-5x5")
    start = world.reset(jax.random.key(0))
    row, column = np.asarray(start.state.agent.position)
    assert world.places.label(np.array([int(world.place(start))])) == [[row, column]]
    image = np.asarray(world.observe(start))
    assert image.shape == world.obs.shape
    assert set(np.unique(image)) == {0, 255}
    tiles = image[..., :-4].sum(-1) // 255
    assert image[row, column, -4:].sum() == 255
    assert image[..., -4:].sum() == 255
    assert image[..., :-4].sum() == 2 * 255 * image.shape[0] * image.shape[1]
    assert tiles.max() <= 2
    turned, _ = world.step(None, start, jnp.int32(1))
    assert int(world.place(turned)) == int(world.place(start))
    assert not (np.asarray(world.observe(turned)) == image).all()


def test_goals_end_an_episode_and_running_out_of_time_does_not():
    pytest.importorskip("gymnax")
    world = worlds.load("gymnax:CartPole-v1")
    episode = played(world, [1] * 40)
    ended = np.asarray(episode.terminated)[0]
    assert ended.sum() == 1
    assert ended[:7].sum() == 0
    after = int(ended.argmax())
    assert (np.asarray(episode.obs)[0, after + 1 :] == episode.obs[0, -1]).all()
    still = played(worlds.load("gymnax:MountainCar-v0"), [1] * 250)  # its own limit is 200
    assert not np.asarray(still.terminated).any()
    assert np.asarray(still.alive).all()


def test_bins_of_classic_control():
    pytest.importorskip("gymnax")
    world = worlds.load("gymnax:CartPole-v1")
    start = world.reset(jax.random.key(0))
    for obs, cell in (
        ([-9.0, 0, -9, 0], [0, 0]),
        ([0.1, 0, 0.0, 0], [6, 3]),
        ([9, 0, 9, 0], [11, 5]),
    ):
        place = world.place(start._replace(obs=jnp.array(obs, jnp.float32)))
        assert world.places.label(np.array([place])) == [cell]
    assert world.places.n == 72


def test_elsewhere_nothing_is_made_up(capsys):
    pytest.importorskip("gymnax")
    for name in ("gymnax:Catch-bsuite", "gymnax:CartPole-v1:places=none"):
        world = worlds.load(name)
        assert not world.places.counted
        assert int(world.place(world.reset(jax.random.key(0)))) == 0
    assert main(["check", "gymnax:Catch-bsuite"]) == 0
    said = capsys.readouterr().out
    assert "none known; skills are counted: not at all" in said
    assert "places=module:function" in said


def test_places_by_a_function_of_the_users():
    pytest.importorskip("gymnax")
    world = worlds.load("gymnax:Catch-bsuite:places=tests.worlds.test_packages:paddle")
    start = world.reset(jax.random.key(0))
    moved, _ = world.step(jax.random.key(1), start, jnp.int32(2))
    assert int(world.place(moved)) == int(world.place(start)) + 1
    for path, message in (
        ("tests.worlds.test_packages:padle", "has no function padle; did you mean 'paddle'"),
        ("tests.worlds.test_packages:evidence", "places: the function fails: TypeError"),
        ("jax.numpy:add", "places: the function fails: TypeError"),
        ("builtins:max", "places: the function fails"),
    ):
        with pytest.raises(UserError, match=message):
            worlds.load(f"gymnax:Catch-bsuite:places={path}")


@pytest.mark.parametrize("kind", ["xminigrid", "gymnax"])
def test_where_the_package_is_missing_one_line_says_so(kind, monkeypatch):
    monkeypatch.setitem(sys.modules, kind, None)
    with pytest.raises(UserError, match=rf"needs the package {kind}: pip install '.\[{kind}\]'"):
        worlds.load(f"{kind}:Some-v0")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("xminigrid:MiniGrid-Emty-5x5", "no world 'MiniGrid-Emty-5x5'; did you mean"),
        ("gymnax:CartPol-v1", "no world 'CartPol-v1'; did you mean 'CartPole-v1'"),
        ("gymnax:zzzz", "no world 'zzzz'; it has"),
        ("gymnax:Pendulum-v1", "its actions are continuous"),
    ],
)
def test_wrong_ids_give_the_nearest(text, message):
    pytest.importorskip(text.partition(":")[0])
    with pytest.raises(UserError, match=message):
        worlds.load(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("xminigrid:X:view=partial", "unknown view 'partial'"),
        ("xminigrid:X:seed=some", "seed=some: give a number, or random"),
        ("xminigrid:X:seed=1,seed=2", "'seed' is given twice"),
        ("gymnax:X:seed=-1", "seed=-1: give a number, or random"),
        ("gymnax:X:sed=1", "unknown key 'sed'; did you mean 'seed'"),
    ],
)
def test_wrong_options_are_said_without_the_package(text, message):
    with pytest.raises(UserError, match=message):
        worlds.load(text)


def test_bins_of_gymnax_are_drawn_with_their_names():
    known, place = gymnax._places("CartPole-v1", None)
    assert [(axis.name, axis.bins) for axis in known.axes] == [
        ("cart position", 12),
        ("pole angle", 6),
    ]
    assert known.backdrop == ("......",) * 12
    state = gymnax.State(jnp.array([2.3, 0.0, -0.2, 0.0]), None)
    assert known.label(np.asarray(place(state))) == [11, 0]


@pytest.mark.parametrize("kind", ["xminigrid", "gymnax"])
def test_a_damaged_spec_is_said(kind):
    with pytest.raises(UserError, match="no name or no id"):
        worlds.from_spec({"kind": kind, "name": "x"}, 10)
    with pytest.raises(UserError, match="--slip is for maps"):
        worlds.load(f"{kind}:X", slip=0.5)
