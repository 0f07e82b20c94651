"""Gymnasium environments: a table as one, and one whose actions are skills. Needs Gymnasium."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from gymnasium import Env
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Discrete

from apart._errors import UserError
from apart.runs.skills import Place, Skills
from apart.skills import places
from apart.worlds import hosts, spaces
from apart.worlds.registered import check_environment
from apart.worlds.spaces import Acts
from apart.worlds.world import HostWorld, TableWorld, World

Step: TypeAlias = "tuple[Any, float, bool, bool, dict[str, Any]]"


class TableEnv(Env[np.int64, np.int64]):
    """A table: an observation is the state's number, actions are the world's.

    With a ``goal`` an episode ends there with a reward of 1; every other reward is 0. After
    ``steps`` it is truncated. ``reset(options={"start": place})`` begins elsewhere.
    """

    def __init__(self, world: TableWorld, goal: Place = None, steps: int | None = None) -> None:
        self.world, self.steps = world, steps
        self.observation_space = Discrete(world.n_states)
        self.action_space = Discrete(world.about.n_actions)
        self._goal = None if goal is None else places.states_at(world, goal)
        self._state: int | None = None
        self._made = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.int64, dict[str, Any]]:
        """Begin an episode."""
        super().reset(seed=seed)
        start = (options or {}).get("start")
        self._state = self.world.start if start is None else places.state_of(self.world, start)
        self._made = 0
        return np.int64(self._state), {"place": self._place()}

    def step(self, action: np.int64) -> Step:
        """One step of the world."""
        if self._state is None:
            raise ResetNeeded("call reset before step")
        taken = places.numbered("action", action, self.world.about.n_actions)
        onward, chance = (
            table[self._state, taken] for table in (self.world.next_state, self.world.probability)
        )
        nth = 0 if len(onward) == 1 else int(self.np_random.choice(len(onward), p=chance))
        self._state = int(onward[nth])
        self._made += 1
        there = self._goal is not None and bool(self._goal[self._state])
        late = self.steps is not None and self._made >= self.steps
        return np.int64(self._state), float(there), there, late, {"place": self._place()}

    def _place(self) -> Place:
        return places.labels(self.world, np.array([self._state], np.int32))[0]


def _as_it_is(observation: Any) -> Any:
    return observation


def _seen_through(env: Any, world: World) -> Callable[[Any], Any]:
    """What ``env`` gives -> what skills of ``world`` see.

    Raises:
        UserError: they cannot see it, as far as is known.
    """
    space, bare = env.observation_space, env.unwrapped
    if isinstance(world, TableWorld):
        if not isinstance(bare, TableEnv) and world.observed is not None:
            world.check_seen()
            return world.state_seen
        numbers = isinstance(space, Discrete)
        fits = not numbers or (int(space.n), int(space.start)) == (world.n_states, 0)
        if space.shape is None:  # a dictionary, a tuple, a text
            world.check_seen()
        if numbers and isinstance(bare, TableEnv):
            fits = fits and _states(bare.world) == _states(world)
        takes = f"{world.n_states} states"
    else:
        fits = getattr(space, "shape", None) == world.obs.shape
        takes = f"arrays of shape {world.obs.shape}"
    if not fits:
        gives = bare.world.name if isinstance(bare, TableEnv) else space
        raise UserError(
            f"skills of {world.name} see {takes}, the environment gives {gives}; take an "
            "environment of the same world, or give observe=, a function of its observations"
        )
    return _as_it_is


def _states(world: TableWorld) -> list[Place]:
    """What the numbers of its states mean."""
    return places.labels(world, np.arange(world.n_states, dtype=np.int32))


def _actor(env: Any, skills: Skills) -> Callable[[Any], Any]:
    """What ``skills.act`` gives -> an action of ``env``; `UserError` where it has others."""
    space, n_actions, world = env.action_space, skills.acting.n_actions, skills.acting.world
    whole = isinstance(space, Discrete) and (space.n, space.start) == (n_actions, 0)
    if whole and world.about.heads == 1:
        return np.int64
    if isinstance(world, TableWorld) and isinstance(space, Discrete) and space.n == n_actions:
        return spaces.actor(Acts(n_actions, start=int(space.start)), space)  # as in the search
    if not isinstance(world, HostWorld) or world.about.spec["kind"] != hosts.KIND:
        raise UserError(f"skills have {n_actions} actions, the environment has {space}")
    found = hosts.actor_in(world.about.spec, space)
    if found is None:
        words = hosts.acts_in(world.about.spec).words()
        raise UserError(
            f"skills of {world.name} have other actions ({words}) than the environment ({space}); "
            "take one as they were trained in"
        )
    return found


class SkillEnv(Env[Any, np.int64]):
    """An environment whose actions are skills, each of several steps.

    Action z < K follows skill z for ``steps`` steps, or to its end: until an action of it changes
    nothing that it sees, or a chain of skills is over; T steps at most. Then come the actions of
    the environment itself, if wanted (those that skills choose from, where they act in bins). The
    reward is the sum over these steps; ``info["steps"]`` says how many they were.
    """

    def __init__(
        self,
        env: Any,
        skills: Skills,
        steps: int | None = None,
        primitive: bool = False,
        observe: Callable[[Any], Any] | None = None,
    ) -> None:
        check_environment(env)
        self._act = _actor(env, skills)
        if steps is not None and (type(steps) is not int or steps < 1):
            raise UserError(f"steps={steps!r}: give a number from 1 on, or None: to their end")
        heads, n_actions = skills.acting.world.about.heads, skills.acting.n_actions
        if primitive and heads > 1:
            raise UserError(f"primitive=True: an action is {heads} numbers here, not one")
        self.env, self.skills = env, skills
        self.observe = observe or _seen_through(env, skills.acting.world)
        self.metadata, self.render_mode = env.metadata, env.render_mode
        self.observation_space = env.observation_space
        self._n_actions = len(skills) + (n_actions if primitive else 0)
        self.action_space = Discrete(self._n_actions)
        self._most, self._to_end = steps or skills.acting.horizon, steps is None
        self._hold = skills.acting.hold
        self._seen: Any = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode of the environment."""
        super().reset(seed=seed)
        observation, info = self.env.reset(seed=seed, options=options)
        self._seen = self.observe(observation)
        return observation, info

    def step(self, action: np.int64) -> Step:
        """Follow one skill, or take one action of the environment."""
        if self._seen is None:
            raise ResetNeeded("call reset before step")
        number = places.numbered("action", action, self._n_actions)
        if number >= len(self.skills):
            return self._one(number - len(self.skills), 0)
        total, steps = 0.0, self.skills.acting.steps(number)
        chained = steps < self.skills.acting.horizon  # it may wait on its way, and is over then
        for made in range(max(min(self._most, steps), 1) if chained else self._most):
            if made % self._hold == 0:
                before = self._seen
                chosen = self.skills.act(number, before, made)
            observation, reward, terminated, truncated, info = self._one(chosen, made)
            total += reward
            decided = (made + 1) % self._hold == 0
            stopped = decided and np.array_equal(before, self._seen)
            still = self._to_end and stopped and not chained
            if terminated or truncated or still:
                break
        return observation, total, terminated, truncated, info

    def _one(self, action: Any, made: int) -> Step:
        """A step of the environment; ``made`` were made before."""
        observation, reward, terminated, truncated, info = self.env.step(self._act(action))
        if not (terminated or truncated):  # after its end nothing is done
            self._seen = self.observe(observation)
        steps = {**info, "steps": made + 1}
        return observation, float(reward), bool(terminated), bool(truncated), steps

    def render(self) -> Any:
        """What the environment renders."""
        return self.env.render()

    def close(self) -> None:
        """Close the environment."""
        self.env.close()
