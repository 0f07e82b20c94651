"""Skills as options: a Gymnasium environment like any other."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import apart
from apart._errors import UserError
from apart.runs.skills import Skills
from apart.skills.library import TablePolicies
from apart.worlds.grid import parse
from apart.worlds.places import locator
from apart.worlds.spaces import actor, acts_of
from apart.worlds.world import About, HostWorld, ObsSpec, Places

gymnasium = pytest.importorskip("gymnasium", reason="the extra gym is not installed")
from gymnasium.utils.env_checker import check_env  # noqa: E402

CORRIDOR = parse("S....", "corridor")
STAY, LEFT, RIGHT = 0, 1, 2


def skills_of(world, *actions, horizon=6):
    """Skill z always does actions[z]."""
    table = np.tile(np.array(actions, np.int32), (world.n_states, 1))
    stored = [apart.Skill(z, [], (0, 0), 1.0) for z in range(len(actions))]
    return Skills(stored, lambda: TablePolicies(world, table, horizon))


def test_a_table_is_an_environment():
    env = apart.make_env("four_rooms", goal=(0, 9), steps=50)
    check_env(env, skip_render_check=True)
    check_env(apart.make_env("four_rooms", slip=0.2), skip_render_check=True)
    observation, info = env.reset(options={"start": (0, 8)})
    assert info["place"] == (0, 8)
    assert env.world.cell(observation) == (0, 8)
    observation, reward, terminated, truncated, info = env.step(RIGHT)
    assert (reward, terminated, truncated, info["place"]) == (1.0, True, False, (0, 9))


def test_without_a_goal_an_episode_ends_by_its_limit_alone():
    env = apart.make_env(CORRIDOR, steps=2)
    env.reset()
    assert env.step(RIGHT)[1:4] == (0.0, False, False)
    assert env.step(RIGHT)[1:4] == (0.0, False, True)


def test_chance_is_that_of_the_table():
    env = apart.make_env("four_rooms", slip=0.5)
    env.reset(seed=0)
    ends = []
    for _ in range(600):
        env.reset()
        ends.append(env.step(STAY)[0])
    assert np.mean(np.array(ends) == env.world.start) == pytest.approx(0.6, abs=0.07)


@pytest.mark.parametrize(("steps", "primitive"), [(None, False), (2, True)])
def test_an_environment_of_skills_passes_the_checker(steps, primitive):
    env = apart.make_env(CORRIDOR, goal=(0, 4), steps=30)
    skills = skills_of(CORRIDOR, LEFT, RIGHT)
    check_env(
        apart.skill_env(env, skills, steps=steps, primitive=primitive), skip_render_check=True
    )


def test_a_skill_goes_to_its_end_or_so_many_steps():
    skills = skills_of(CORRIDOR, STAY, RIGHT)
    env = apart.skill_env(apart.make_env(CORRIDOR), skills)
    env.reset()
    assert env.action_space.n == 2
    assert env.step(0)[4]["steps"] == 1  # nothing changes
    observation, *_, info = env.step(1)
    assert (observation, info["steps"]) == (4, 5)  # four steps, and one into the wall
    short = apart.skill_env(apart.make_env(CORRIDOR), skills_of(CORRIDOR, RIGHT, horizon=3))
    short.reset()
    assert short.step(0)[4]["steps"] == 3
    two = apart.skill_env(apart.make_env(CORRIDOR), skills, steps=2)
    two.reset()
    assert two.step(0)[4]["steps"] == 2
    assert two.step(1)[0] == 2


def test_rewards_are_summed_and_an_end_is_an_end():
    skills = skills_of(CORRIDOR, RIGHT)
    env = apart.skill_env(apart.make_env(CORRIDOR, goal=(0, 2)), skills)
    env.reset()
    observation, reward, terminated, _, info = env.step(0)
    assert (observation, reward, terminated, info["steps"]) == (2, 1.0, True, 2)
    limited = apart.skill_env(apart.make_env(CORRIDOR, steps=3), skills)
    limited.reset()
    assert limited.step(0)[3] is True


def test_primitive_actions_come_after_the_skills():
    env = apart.skill_env(apart.make_env(CORRIDOR), skills_of(CORRIDOR, STAY), primitive=True)
    env.reset()
    assert env.action_space.n == 1 + 5
    observation, *_, info = env.step(1 + RIGHT)
    assert (observation, info["steps"]) == (1, 1)


def test_an_environment_of_others_is_seen_through_a_function(tmp_path):
    lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    world = apart.table_of(lake, "lake")
    run = apart.train(
        world, method="apart_plus", skills="auto", horizon=8, steps=4000, out=tmp_path / "run"
    )
    env = apart.skill_env(lake, run.skills, observe=lambda seen: divmod(int(seen), 4))
    env.reset(seed=0)
    goal, probability = run.skills.reach((3, 3))
    assert probability == 1.0
    assert env.step(goal)[1:3] == (1.0, True)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: apart.make_env("four_rooms", goal=(5, 5)), r"cell \(5, 5\) is a wall"),
        (lambda: apart.make_env("four_rooms", steps=0), "steps=0"),
        (lambda: apart.make_env("for_rooms"), "did you mean 'four_rooms'"),
        (
            lambda: apart.skill_env(gymnasium.make("FrozenLake-v1"), skills_of(CORRIDOR, STAY)),
            "skills have 5 actions, the environment has Discrete",
        ),
        (
            lambda: apart.skill_env(apart.make_env(CORRIDOR), skills_of(CORRIDOR, STAY), steps=0),
            "steps=0",
        ),
        (lambda: apart.skill_env(None, skills_of(CORRIDOR, STAY)), "not a Gymnasium environ"),
        (lambda: apart.skill_env(apart.make_env(CORRIDOR), None), r"give run\.skills"),
        (lambda: apart.make_env(None), "None is not a world"),
        (lambda: apart.make_env(gymnasium.make("CartPole-v1")), "apart.table_of"),
        (lambda: begun(apart.make_env(CORRIDOR)).step(5), "action 5: there are actions 0 to 4"),
        (lambda: begun(apart.make_env(CORRIDOR)).step(-1), "action -1: there are actions 0 to 4"),
        (lambda: begun(skilled(CORRIDOR)).step(1), "action 1: there are actions 0 to 0"),
        (lambda: begun(skilled(CORRIDOR)).step("a"), "action 'a': there are actions 0 to 0"),
        (
            lambda: skilled(parse("S...")),
            "of corridor see 5 states, the environment gives map",
        ),
        (lambda: skilled(parse("S..\n..#")), "skills of corridor see 5 states"),
        (
            lambda: apart.skill_env(Positions((3,)), sampled(2)),
            r"skills of plane see arrays of shape \(2,\), the environment gives Box",
        ),
    ],
)
def test_mistakes_are_one_line(call, message):
    with pytest.raises(UserError, match=message):
        call()


OF_A_HOST = {"method": "diayn", "network": "mlp:8", "skills": 2, "horizon": 5, "batch": 16}
OF_A_HOST |= {"steps": 40, "buffer": 200, "evaluate_every": 40}


def test_skills_of_a_host_world_act_as_they_were_trained(tmp_path):
    """Pendulum's torque is in bins; a skill's steps are those of its stored episode."""
    run = apart.train("gym:Pendulum-v1:seed=3", out=tmp_path / "run", **OF_A_HOST)
    plain = gymnasium.make("Pendulum-v1")
    env = apart.skill_env(plain, run, steps=5, primitive=True)
    locate = locator(run.world.about.spec["places"])
    for skill in run.skills:
        env.reset(seed=3)
        observation, reward, *_ = env.step(skill.index)
        ended = run.world.places.label(np.array([locate(plain.unwrapped, observation)]))
        assert tuple(ended[0]) == skill.last_state
        assert reward < 0
    for number, torque in enumerate((-2.0, 0.0, 2.0)):
        env.reset(seed=3)
        env.step(2 + number)
        assert plain.unwrapped.last_u == torque
    check_env(env, skip_render_check=True)
    with pytest.raises(
        UserError, match=r"Pendulum-v1,seed=3 have other actions .* \(Discrete\(2\)"
    ):
        apart.skill_env(gymnasium.make("CartPole-v1"), run)


class Odd(gymnasium.Env):
    """Actions of any space; remembers them."""

    observation_space = gymnasium.spaces.Box(-1, 1, (2,))

    def __init__(self, space):
        self.action_space, self.taken = space, []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(2, np.float32), {}

    def step(self, action):
        assert self.action_space.contains(action)
        self.taken.append(action)
        return self.observation_space.sample(), 0.0, False, False, {}


@pytest.mark.parametrize(
    "space",
    [
        gymnasium.spaces.Discrete(3, start=1),
        gymnasium.spaces.MultiDiscrete([2, 3]),
        gymnasium.spaces.Box(-1, 1, (3,)),
    ],
    ids=["begins with 1", "combinations", "several heads"],
)
def test_any_action_that_is_trained_with_is_taken(space):
    acts = acts_of(space, "odd", 3)
    spec = {"kind": "gym", "name": "odd", "actions": {**acts._asdict(), "values": [*acts.values]}}
    about = About("odd", spec, 4, acts.n_actions, acts.heads)
    world = HostWorld(about, Places(None), ObsSpec((2,)), make=None, place=None)
    best = [acts.n_actions - 1] * acts.heads if acts.heads > 1 else acts.n_actions - 1
    acting = SimpleNamespace(
        world=world, n_actions=acts.n_actions, horizon=4, hold=1, steps=lambda z: 4
    )
    acting.act = lambda skill, observation, t: best
    skills = Skills([apart.Skill(0, [], 0, 1.0)], lambda: acting)
    env = Odd(space)
    assert begun(apart.skill_env(env, skills)).step(0)[4]["steps"] == 4
    np.testing.assert_array_equal(env.taken[0], actor(acts, space)(best))
    if acts.heads > 1:
        with pytest.raises(UserError, match="primitive=True: an action is 3 numbers"):
            apart.skill_env(env, skills, primitive=True)


def begun(env):
    env.reset(seed=0)
    return env


def skilled(world):
    """An environment of ``world`` with skills of the corridor."""
    return apart.skill_env(apart.make_env(world), skills_of(CORRIDOR, RIGHT))


class Positions(gymnasium.Env):
    def __init__(self, shape):
        self.action_space = gymnasium.spaces.Discrete(5)
        self.observation_space = gymnasium.spaces.Box(0, 1, shape)


def sampled(numbers):
    """A skill of a world whose observations are so many numbers."""
    world = SimpleNamespace(name="plane", obs=ObsSpec((numbers,)), about=About("plane", {}, 3, 5))
    acting = SimpleNamespace(world=world, n_actions=5, horizon=3, hold=1)
    return Skills([apart.Skill(0, [], (0, 0), 1.0)], lambda: acting)


def test_skills_fit_an_environment_that_gives_what_they_see():
    apart.skill_env(Positions((2,)), sampled(2))
    apart.skill_env(Positions((3,)), sampled(2), observe=lambda seen: seen[:2])
    assert begun(skilled(parse("S....", slip=0.5))).step(np.array(0))[4]["steps"] > 0
    places = Positions((2,))  # (row, column)
    apart.skill_env(places, skills_of(CORRIDOR, RIGHT))


def test_step_comes_after_reset():
    with pytest.raises(gymnasium.error.ResetNeeded):
        apart.make_env(CORRIDOR).step(0)
    with pytest.raises(gymnasium.error.ResetNeeded):
        apart.skill_env(apart.make_env(CORRIDOR), skills_of(CORRIDOR, STAY)).step(0)


def test_an_agent_of_stable_baselines3_learns_on_skills():
    sb3 = pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed")
    world = parse("S......", "corridor")
    env = apart.skill_env(
        apart.make_env(world, goal=(0, 6), steps=40), skills_of(world, LEFT, RIGHT)
    )
    agent = sb3.DQN("MlpPolicy", env, learning_starts=20, seed=0).learn(200)
    action, _ = agent.predict(env.reset()[0])
    assert 0 <= int(action) < 2
