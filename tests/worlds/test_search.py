"""Environments as tables: equal to our own maps, and one line for all that cannot be one."""

from __future__ import annotations

import copy
import json
import random
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
import twins
from gymnasium.spaces import Box, Discrete
from gymnasium.utils import EzPickle
from gymnasium.wrappers import TimeLimit
from hypothesis import given, settings
from hypothesis import strategies as st

import apart
from apart import worlds
from apart._errors import UserError
from apart.cli import main
from apart.report.figures import has_map, terminal_map
from apart.worlds import environments, exact, from_spec, grid, tables
from apart.worlds.search import table_of

CORRIDOR = grid.parse("S....", "corridor")
ROOMS = grid.parse("S.#..\n..#..\n.....\n", "rooms")


class Walker(gymnasium.Env):
    """A map as people write environments: position, counters, a picture, a generator."""

    def __init__(self, table=ROOMS, ends=()):
        self.table, self.ends = table, ends
        self.action_space = Discrete(table.about.n_actions)
        self.observation_space = Box(0, 9, (2,), np.int64)
        self.position = np.array([0, 0])
        self.frame = None

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.episodes = getattr(self, "episodes", 0) + 1
        self.position = self.table.cell(self.table.start)  # a tuple; later an array
        self.inner = {"steps": 0, "noise": np.random.default_rng(seed)}
        return np.array(self.position), {}

    def step(self, action):
        self.position = np.array(self.table.cell(self._next(action)))
        self.inner["steps"] += 1
        return self.position, 0.0, tuple(self.position) in self.ends, False, {}

    def _next(self, action):
        return int(self.table.next_state[self.table.state(tuple(self.position)), action, 0])

    def cell(self):
        return self.position


def test_an_environment_as_gymnasium_makes_it_has_no_states_more():
    """Its checker notes that a first step was made."""
    gymnasium.register("Rooms-v0", Walker)
    made, bare = gymnasium.make("Rooms-v0"), Walker()
    assert type(made) is not Walker
    assert table_of(made).n_states == table_of(bare).n_states == ROOMS.n_states
    gymnasium.registry.pop("Rooms-v0")


def same_up_to_names(found, table):
    """Walks both tables from their starts at once."""
    name = {found.start: table.start}
    todo = [found.start]
    while todo:
        state = todo.pop()
        pairs = zip(found.next_state[state, :, 0], table.next_state[name[state], :, 0], strict=True)
        for mine, theirs in pairs:
            if mine not in name:
                name[mine] = theirs
                todo.append(mine)
            assert name[mine] == theirs
    assert sorted(name.values()) == list(range(table.n_states)), "a bijection"
    assert len(name) == found.n_states
    return np.array([name[state] for state in range(found.n_states)])


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("env", [Walker, twins.GridEnv])
def test_a_map_as_an_environment_is_the_map(env, wrapped):
    made = TimeLimit(env(ROOMS), 7) if wrapped else env(ROOMS)
    found = table_of(made, "rooms")
    order = same_up_to_names(found, ROOMS)
    np.testing.assert_array_equal(found.distance, ROOMS.distance[order])
    assert found.deterministic
    for horizon in (1, 3, 9):
        assert found.n_available(horizon) == ROOMS.n_available(horizon)
        walk = exact.random_walk_skills(found, horizon, 5)
        assert walk == pytest.approx(exact.random_walk_skills(ROOMS, horizon, 5))
    assert found.about.horizon == 2 * found.distance.max()
    if env is Walker:
        np.testing.assert_array_equal(found.cells, ROOMS.cells[order])
        assert found.places.backdrop == ROOMS.places.backdrop
        assert found.places.label(np.array([0])) == [[0, 0]]


maps = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.text("#.", min_size=width, max_size=width), min_size=1, max_size=4)
)


@settings(max_examples=15)
@given(maps)
def test_any_map(rows):
    rows[0] = "S" + rows[0][1:]
    try:
        table = grid.parse("\n".join(rows))
    except UserError:
        return
    same_up_to_names(table_of(Walker(table)), table)


def test_states_in_which_an_episode_ends_absorb():
    found = table_of(Walker(CORRIDOR, ends=((0, 2),)))
    assert found.n_states == 3  # nobody comes behind the end
    end = found.state((0, 2))
    assert found.next_state[end].ravel().tolist() == [end] * 5
    assert found.n_available(9) == 3


class Facing(Walker):
    """Turns left and right, or walks: states share a cell."""

    def __init__(self):
        super().__init__(ROOMS)
        self.action_space = Discrete(3, start=5)

    def reset(self, *, seed=None, options=None):
        self.facing = 1
        return super().reset(seed=seed)

    def step(self, action):
        turn = int(action) - 5
        self.facing = (self.facing + {0: 3, 1: 1, 2: 0}[turn]) % 4
        return super().step((1, 4, 2, 3)[self.facing] if turn == 2 else 0)


def test_states_may_share_a_cell():
    found = table_of(Facing())
    assert found.n_states == 4 * ROOMS.n_states
    assert found.about.n_actions == 3
    assert not found.one_state_a_cell
    labels = [tuple(label) for label in found.places.label(np.arange(found.n_states))]
    assert len(set(labels)) == found.n_states
    assert len({label[:2] for label in labels}) == ROOMS.n_states
    assert found.places.noun == "state"
    with pytest.raises(UserError, match="use one_hot"):
        apart.train(found, method="apart_pixels")


class Ring(gymnasium.Env):
    """No action stays: after t steps only every other place can be had."""

    def __init__(self):
        self.action_space, self.observation_space = Discrete(2), Discrete(6)

    def reset(self, *, seed=None, options=None):
        self.at = 0
        return 0, {}

    def step(self, action):
        self.at = (self.at + 2 * int(action) - 1) % 6
        return self.at, 0.0, False, False, {}


def test_where_nobody_can_stay_the_count_is_of_last_states():
    found = table_of(Ring())
    assert [found.n_available(t) for t in (0, 1, 2, 3, 4)] == [1, 2, 3, 3, 3]
    assert not has_cells(found)
    staying = table_of(Ring(), stay=True)
    assert [staying.n_available(t) for t in (0, 1, 2, 3)] == [1, 3, 5, 6]
    assert staying.next_state[:, 2, 0].tolist() == list(range(6))


def has_cells(world):
    return len(world.cells) > 0


class Countdown(Ring):
    """The number of steps decides what happens: it is a part of the state."""

    def reset(self, *, seed=None, options=None):
        self.left = 5
        return super().reset(seed=seed)

    def step(self, action):
        self.left -= 1
        obs, reward, _, cut, info = super().step(action)
        return obs, reward, self.left == 0, cut, info


def test_a_counter_of_steps_that_matters_is_a_part_of_the_state():
    found = table_of(Countdown())
    assert found.distance.max() == 5
    assert found.n_states == 1 + 2 + 3 + 3 + 3 + 3


class Draws(Ring):
    """Draws without consequence: still deterministic."""

    def step(self, action):
        self.np_random.random()
        np.random.rand()  # noqa: NPY002
        random.random()
        return super().step(action)


def test_random_numbers_without_consequence_are_fine_and_ours_stay():
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002
    before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    assert table_of(Draws()).n_states == 6
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # noqa: NPY002


class Slips(Ring):
    def step(self, action):
        return super().step(action if self.np_random.random() < 0.9 else 1 - action)


class SlipsOutside(Ring):
    def step(self, action):
        return super().step(action if np.random.rand() < 0.9 else 1 - action)  # noqa: NPY002


class SlipsUnseen(Ring):
    def step(self, action):
        return super().step(int(np.random.default_rng().integers(2)))


class Raises(Ring):
    def step(self, action):
        if self.at == 2:
            raise RuntimeError("no\nway")
        return super().step(action)


class NoReset(Ring):
    def reset(self, *, seed=None, options=None):
        raise SystemExit("no video device\navailable")


class Shared(Ring):
    """Copies change the original."""

    at_ = [0]  # noqa: RUF012

    @property
    def at(self):
        return self.at_[0]

    @at.setter
    def at(self, value):
        self.at_[0] = value


class Itself(Ring):
    def __deepcopy__(self, memo):
        return self


class NoCopy(Ring):
    def __init__(self):
        super().__init__()
        self.stream = (n for n in range(3))


class Inner:
    def __init__(self):
        self.at = 0

    def __deepcopy__(self, memo):
        return self


class InnerShared(Ring):
    def reset(self, *, seed=None, options=None):
        self.inner = Inner()
        return super().reset(seed=seed)

    def step(self, action):
        self.inner.at = (self.inner.at + 1 + int(action)) % 4
        return super().step(action)


class Endless(Ring):
    def step(self, action):
        self.at += 2 * int(action) - 1
        return self.at, 0.0, False, False, {}


class Continuous(Ring):
    def __init__(self):
        super().__init__()
        self.action_space = Box(-1, 1, (2,))


class Still(Ring):
    def step(self, action):
        return 0, 0.0, False, False, {}


class Anew(EzPickle, Ring):
    """As environments whose state is in C: a copy knows the arguments, not the state."""

    def __init__(self):
        EzPickle.__init__(self)
        Ring.__init__(self)


class AnyStart(Ring):
    def reset(self, *, seed=None, options=None):
        self.at = int(np.random.default_rng().integers(10**9))
        return self.at, {}


@pytest.mark.parametrize(
    ("env", "message"),
    [
        (Slips, "Slips: is stochastic: action . in one state leads to different states"),
        (SlipsOutside, "SlipsOutside: is stochastic"),
        (SlipsUnseen, "is not deterministic, or hides"),
        (Raises, r"Raises: step\(.\) fails: RuntimeError: no way"),
        (NoReset, r"NoReset: reset fails: SystemExit: no video device.*it needs a display"),
        (Shared, "Shared: (is not deterministic|cannot be copied|one state only)"),
        (Itself, "Itself: cannot be copied"),
        (NoCopy, "NoCopy: copy.deepcopy fails: TypeError"),
        (InnerShared, "InnerShared: cannot be copied: a step of the copy changes the original"),
        (Endless, r"Endless: more than 50 states, the farthest \d+ steps.*max_states=500\)"),
        (Continuous, "Continuous: its actions are Box.*needs Discrete"),
        (Still, "Still: one state only"),
        (Anew, "Anew: cannot be copied: a copy of it begins anew"),
        (AnyStart, r"AnyStart: reset\(seed=0\) does not give the same start twice"),
    ],
)
def test_what_cannot_be_a_table_is_said_in_one_line(env, message):
    with pytest.raises(UserError, match=message) as error:
        table_of(env(), max_states=50)
    assert "\n" not in str(error.value)


def test_a_bound_on_the_time():
    with pytest.raises(UserError, match=r"states after 1e-06 seconds.*max_seconds=1e-05\)"):
        table_of(Endless(), max_seconds=1e-6)


class Prints(Ring):
    def step(self, action):
        print("hello")
        return super().step(action)


def test_what_an_environment_prints_is_not_ours(capsys):
    assert table_of(Prints()).n_states == 6
    assert capsys.readouterr().out == ""


# Gymnasium's own: what is known about them


def newest(name):
    return max(id_ for id_ in gymnasium.registry if id_.startswith(f"{name}-"))


def load(text):
    return worlds.load(f"table:gym:{text}")


@pytest.mark.parametrize(
    ("text", "states", "actions", "successors", "horizon"),
    [
        ("FrozenLake-v1:is_slippery=false", 16, 4, 1, 100),
        ("FrozenLake-v1", 16, 4, 3, 100),
        ("FrozenLake8x8-v1:is_slippery=False", 64, 4, 1, 200),
        ("FrozenLake-v1:map_name=8x8,is_slippery=true", 64, 4, 3, 100),
        (newest("CliffWalking"), 38, 4, 1, 28),
        (newest("Taxi"), 101, 6, 1, 200),
        (f"{newest('Taxi')}:seed=3,max_episode_steps=30", 101, 6, 1, 30),
    ],
)
def test_toy_worlds(text, states, actions, successors, horizon):
    world = load(text)
    assert world.next_state.shape == (states, actions, successors)
    assert world.about.horizon == horizon
    assert world.n_available(2 * world.distance.max()) == states
    assert has_cells(world)


def test_a_lake_is_what_its_map_says():
    world = load("FrozenLake-v1:is_slippery=false")
    desc = gymnasium.make("FrozenLake-v1").unwrapped.desc
    for state, (row, column) in enumerate(world.cells):
        absorbs = (world.next_state[state] == state).all()
        assert absorbs == (desc[row, column] in (b"H", b"G"))
    slippery = load("FrozenLake-v1")
    np.testing.assert_allclose(slippery.probability.sum(2), 1.0)
    right = slippery.next_state[0, 2], slippery.probability[0, 2]
    chance = {}
    for state, p in zip(*right, strict=True):
        cell = slippery.cell(int(state))
        chance[cell] = chance.get(cell, 0) + p
    assert {c: p for c, p in chance.items() if p} == pytest.approx(
        {(0, 0): 1 / 3, (0, 1): 1 / 3, (1, 0): 1 / 3}
    )


def test_a_world_that_does_not_follow_its_model_is_found():
    with pytest.raises(UserError, match="does not follow its own table P"):
        load(f"{newest('Taxi')}:fickle_passenger=true")


def test_the_seed_chooses_the_layout():
    tables_ = [load(f"{newest('Taxi')}:seed={seed}").about.spec for seed in (0, 0, 1)]
    assert tables_[0] == tables_[1]
    assert tables_[0]["next_state"] != tables_[2]["next_state"]


@pytest.mark.parametrize(
    ("world", "message"),
    [
        ("table:gym:FrozenLke-v1", "unknown Gymnasium environment.*did you mean 'FrozenLake-v1'"),
        ("table:gym:FrozenLake-v99", "unknown Gymnasium environment"),
        ("table:gym:", r"no id; write table:gym:ID\[:key=value,...\]"),
        ("table:gym", "no id"),
        ("table:", "unknown source of a table ''"),
        ("tabel:gym:Taxi-v3", "did you mean 'table'"),
        ("table:gmy:Taxi-v3", "did you mean 'gym'"),
        ("table:gym:FrozenLake-v1:slippery=1", "gymnasium.make fails: .*'slippery'"),
        ("table:gym:FrozenLake-v1:=3", "'=3' is not key=value"),
        ("table:gym:FrozenLake-v1:a=3,", "'' is not key=value"),
        ("table:gym:FrozenLake-v1:seed=0,seed=1", "'seed' is given twice"),
        ("table:gym:FrozenLake-v1:seed=-1", "seed=-1: give a number from 0"),
        ("table:gym:FrozenLake-v1:seed=x", "seed=x: give a number"),
        ("table:gym:FrozenLake-v1:seed=true", "seed=true: give a number"),
        ("table:gym:FrozenLake-v1:stay=1", "stay=1: give true or false"),
        ("table:gym:FrozenLake-v1:max_states=1", "give a number from 2"),
        ("table:gym:FrozenLake-v1:max_states=5", "more than 5 states"),
        ("table:gym:FrozenLake-v1:max_episode_steps=foo", "max_episode_steps=foo: give a number"),
        ("table:gym:FrozenLake-v1:max_episode_steps=-5", "give a number from 1 to 100000"),
        ("table:gym:FrozenLake-v1:max_episode_steps=0", "max_episode_steps=0: give a number"),
        ("table:gym:Pendulum-v1", "needs Discrete"),
        ("table:gym:CartPole-v1:max_states=100", "more than 100 states"),
        ("table:gym:Blackjack-v1", "is stochastic"),
        ("table:gym:no_such_module:World-v0", "import no_such_module fails: ModuleNotFound"),
    ],
)
def test_wrong_words_give_one_line_and_write_nothing(world, message, tmp_path, capsys):
    out = tmp_path / "run"
    assert main(["train", world, "--method", "apart_plus", "--out", str(out)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    with pytest.raises(UserError, match=message):
        worlds.load(world)
    assert not out.exists()


def test_an_environment_of_one_s_own_by_its_module(tmp_path, monkeypatch):
    (tmp_path / "my_worlds.py").write_text(
        "import gymnasium\n"
        "from worlds.test_search import Ring\n"
        "gymnasium.register('my/Ring-v0', entry_point=Ring, max_episode_steps=9)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(gymnasium.envs.registration, "registry", dict(gymnasium.registry))
    world = load("my_worlds:my/Ring-v0:stay=true")
    assert world.about.name == "my_worlds:my/Ring-v0,stay=true"
    assert world.about.horizon == 9
    assert world.next_state.shape == (6, 3, 1)


def test_maps_alone_can_slip(capsys):
    assert main(["train", "table:gym:FrozenLake-v1", "--slip", "0.1"]) == 2
    assert "--slip is for maps" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("missing", "world", "message"),
    [
        ("gymnasium", "FrozenLake-v1", r"needs Gymnasium: pip install gymnasium"),
        ("minigrid", "MiniGrid-Empty-5x5-v0", r"needs minigrid: pip install minigrid"),
        ("ale_py", "ALE/Pong-v5", "needs ale_py: pip install ale-py"),
    ],
)
def test_a_missing_package_is_named(missing, world, message, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(UserError, match=message):
        load(world)


def test_the_list_of_worlds_names_them(capsys):
    assert main(["list", "worlds"]) == 0
    assert environments.SYNTAX in capsys.readouterr().out


# Specs


@pytest.mark.parametrize("text", ["FrozenLake-v1", newest("Taxi")])
def test_a_table_can_be_built_from_its_spec(text, monkeypatch):
    world = load(text)
    stored = json.loads(json.dumps(world.about.spec))
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    again = from_spec(stored, 7)
    assert again.about.spec == world.about.spec
    assert again.about.horizon == 7
    for name in ("next_state", "probability", "distance", "cells"):
        np.testing.assert_array_equal(getattr(again, name), getattr(world, name))
    assert again.places.backdrop == world.places.backdrop


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"next_state": None}, "not lines of numbers"),
        ({"next_state": []}, "not lines of numbers"),
        ({"next_state": ["0 1", "1"]}, "not lines of numbers"),
        ({"next_state": ["0 x", "1 0"]}, "not lines of numbers"),
        ({"next_state": ["0 99999999999", "1 0"]}, "not lines of numbers"),
        ({"next_state": ["0 2", "1 0"]}, "a state outside 0 to 1"),
        ({"next_state": ["0 -1", "1 0"]}, "a state outside 0 to 1"),
        ({"next_state": ["0 0", "1 0"]}, "1 states cannot be reached"),
        ({"next_state": ["0 0"]}, "one state only"),
        ({"start": 2}, "a state outside 0 to 1"),
        ({"start": "0"}, "no name, no start"),
        ({"successors": 0}, "no number of successors"),
        ({"successors": 3}, "not a multiple of 3"),
        ({"successors": 2}, "not lines of numbers"),
        ({"successors": 2, "probability": ["1", "1"]}, "not a probability for each"),
        ({"successors": 2, "probability": ["1 1", "1 0"]}, "do not sum to 1"),
        ({"successors": 2, "probability": ["nan 1", "1 0"]}, "not lines|do not sum to 1"),
        ({"successors": 2, "probability": ["2 -1", "1 0"]}, "do not sum to 1"),
        ({"cells": ["0 0"]}, "not a row and a column for each state"),
        ({"cells": ["0 0", "0 -1"]}, "not a row and a column for each state"),
        ({"cells": ["0 0", "0 5000"]}, "not a row and a column for each state"),
    ],
)
def test_damaged_specs_are_one_line(change, message):
    spec = {"kind": "table", "name": "two", "start": 0, "successors": 1}
    spec |= {"next_state": ["0 1", "1 0"], "cells": ["0 0", "0 1"]}
    assert from_spec(spec, 3).n_states == 2
    with pytest.raises(UserError, match=message) as error:
        from_spec({**spec, **change}, 3)
    assert "\n" not in str(error.value)


def test_tables_of_one_s_own():
    world = tables.build("pair", [[0, 1], [1, 0]])
    assert world.n_states == world.about.n_actions == world.about.horizon == 2
    with pytest.raises(UserError, match="a table of shape"):
        tables.build("none", np.zeros((2, 0)))


# Runs


OPTIONS = {"skills": "auto", "horizon": "auto", "steps": 4000, "evaluate_every": 2000}


@pytest.fixture
def run(tmp_path):
    return apart.train(
        table_of(Facing(), "facing"), method="apart_plus", out=tmp_path / "run", **OPTIONS
    )


def test_a_run_needs_no_gymnasium_once_it_was_begun(run, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    loaded = apart.load(run.path)
    assert loaded.world.about.spec == run.world.about.spec
    assert loaded.n_available == 4 * ROOMS.n_states
    assert has_map(loaded)
    counts = [char for char in terminal_map(loaded) if char.isdigit() or char == "+"]
    assert 0 < len(counts) <= ROOMS.n_states
    (picture,) = apart.draw(loaded)
    assert picture.stat().st_size > 1000
    assert main(["draw", str(run.path)]) == 0
    assert "skills that end in each cell" in capsys.readouterr().out
    ends = {skill.last_state for skill in loaded.skills}
    assert len(ends) == run.n_effective
    assert all(len(end) == 3 for end in ends)


def test_a_run_goes_on_without_gymnasium(tmp_path):
    """In a process of its own, which trains in itself: nobody there can import it."""
    out = tmp_path / "run"
    code = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "import apart\n"
        f"run = apart.resume({str(out)!r}, steps=6000)\n"
        "print(run.summary['env_steps'] >= 6000, run.n_available)"
    )
    world = load("FrozenLake-v1:is_slippery=false")
    apart.train(world, method="diayn", out=out, **OPTIONS)
    command = [sys.executable, "-c", code]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.stdout.strip() == "True 16", told.stderr


def test_several_seeds_are_searched_for_once(tmp_path):
    """Their processes read the table that the set stored."""
    words = "table:gym:FrozenLake-v1:is_slippery=false"
    found = apart.train(words, method="diayn", seeds=2, out=tmp_path / "set", **OPTIONS)
    assert [run.world.about.spec for run in found.runs] == [load(words[10:]).about.spec] * 2


def test_a_world_without_cells_is_trained_and_not_drawn(tmp_path, capsys):
    run = apart.train(table_of(Ring()), method="apart_plus", out=tmp_path / "run", **OPTIONS)
    assert {type(skill.last_state) for skill in run.skills} == {int}
    assert main(["draw", str(run.path)]) == 0
    assert "Ring has no map" in capsys.readouterr().out
    with pytest.raises(UserError, match="Ring has no map"):
        apart.draw(run)


def test_skills_end_by_chance_in_a_slippery_lake(tmp_path, capsys):
    words = ["train", "table:gym:FrozenLake-v1", "--method", "apart_plus", "--steps", "4k"]
    words += ["--skills", "auto", "--horizon", "auto", "--progress", "lines"]
    assert main([*words, "--out", str(tmp_path / "run")]) == 0
    assert "16 of 16 cells can be reached" in capsys.readouterr().err
    run = apart.load(tmp_path / "run")
    assert run.n_available == 16
    assert all(0 < skill.certainty <= 1 for skill in run.skills)


# MiniGrid


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("MiniGrid-Empty-5x5-v0", 8 * 4 + 2),  # the goal is entered from two sides
        ("MiniGrid-LavaGapS5-v0", 20),
    ],
)
def test_minigrid(text, states):
    pytest.importorskip("minigrid")
    world = load(text)
    assert world.n_states == states
    assert world.about.n_actions == 7
    absorbing = (world.next_state[:, :, 0] == np.arange(states)[:, None]).all(1)
    assert absorbing.any()
    assert world.places.backdrop[0] == "#" * len(world.places.backdrop[0])
    assert from_spec(copy.deepcopy(world.about.spec), 5).n_states == states


def test_minigrid_that_is_stochastic():
    pytest.importorskip("minigrid")
    with pytest.raises(UserError, match="is stochastic"):
        load("MiniGrid-Dynamic-Obstacles-5x5-v0")
