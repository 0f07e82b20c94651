"""Environments as people write them, and what goes wrong with them; registered by importing this.

The first environment of a process is well behaved: it is the one that is looked at before a run.
"""

from __future__ import annotations

import itertools
import signal
import time

import gymnasium
import numpy as np
from gymnasium import spaces

SIDE = 4
MOVES = np.array([[0, 0], [0, 1], [1, 0], [0, -1], [-1, 0]])
ACTIONS = {
    "discrete": spaces.Discrete(5),
    "start": spaces.Discrete(5, start=3),
    "multi": spaces.MultiDiscrete([3, 2]),
    "binary": spaces.MultiBinary(3),
    "box1": spaces.Box(-1, 1, (1,), np.float32),
    "box2": spaces.Box(-1, 1, (2,), np.float32),
    "box3": spaces.Box(np.array([-1, -2, 0], np.float32), np.array([1, 2, 4], np.float32)),
    "box9": spaces.Box(-1, 1, (9,), np.float32),
    "free": spaces.Box(-np.inf, np.inf, (2,), np.float32),
    "many": spaces.MultiDiscrete([20, 20]),
    "text": spaces.Text(3),
}
HEALED = False
_made = 0
_starts = itertools.count()


def healed(yes=True):
    global HEALED, _made
    HEALED, _made = yes, 0


class Walk(gymnasium.Env):
    """A walk on a square; `trouble` begins after `when` steps of any but the first environment."""

    def __init__(self, actions="discrete", trouble="", when=10, noise=0.0, limit=0):
        global _made
        _made += 1
        self.action_space = ACTIONS[actions]
        self.observation_space = spaces.Box(0, SIDE - 1, (2,), np.float32)
        self.trouble, self.when, self.noise, self.limit = trouble, when, noise, limit
        self.first, self.steps, self.taken = _made == 1, 0, None
        if trouble == "screen":
            raise OSError("No available video device")
        if trouble == "spaces" and not self.first and not HEALED:
            self.observation_space = spaces.Box(0, SIDE, (3,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.age = np.zeros(2, int), 0
        if self.trouble == "forgets" and not HEALED:
            self.at[0] = next(_starts) % SIDE
        return self._seen(), {}

    def step(self, action):
        assert self.action_space.contains(action), action
        self.taken, self.steps, self.age = action, self.steps + 1, self.age + 1
        move = MOVES[int(np.sum(action)) % 5]
        if self.noise and self.np_random.random() < self.noise:
            move = -move
        self.at = np.clip(self.at + move, 0, SIDE - 1)
        if self.trouble and self.steps > self.when and not self.first and not HEALED:
            self._misbehave()
        return self._seen(), 1.0, False, bool(self.limit and self.age >= self.limit), {"x": 1}

    def _misbehave(self):
        if self.trouble == "raises":
            raise ValueError("the wheel\nfell off")
        if self.trouble == "hangs":
            try:
                time.sleep(1000)
            except Exception:
                time.sleep(1000)
        if self.trouble == "stuck":  # as in C: nobody looks at signals
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
            time.sleep(1000)
        if self.trouble == "prints":
            print('{"env_steps": "nonsense"}')

    def _seen(self):
        late = self.steps > self.when and not self.first and not HEALED
        if self.trouble == "nan" and late:
            return np.array([np.nan, 0], np.float32)
        if self.trouble == "shape" and late:
            return np.zeros(1, np.float32)
        return self.at.astype(np.float32)


class Drawn(Walk):
    """It renders: red is the row, green the column, blue the number of steps. Row 3 is an end."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(self, render_mode=None, paints=True, **arguments):
        super().__init__(**arguments)
        self.render_mode, self.paints = render_mode, paints

    def step(self, action):
        obs, reward, _, truncated, info = super().step(action)
        return obs, reward, bool(self.at[0] == SIDE - 1), truncated, info

    def render(self):
        if not self.paints:
            raise RuntimeError("GLX: no display")
        return np.full((6, 9, 3), (*self.at, self.age), np.uint8)


class Talks(Walk):
    """Observations in parts: a picture, a direction, a text."""

    def __init__(self, **arguments):
        super().__init__(**arguments)
        self.observation_space = spaces.Dict(
            {
                "image": spaces.Box(0, 255, (SIDE, SIDE, 3), np.uint8),
                "pair": spaces.Tuple((spaces.Discrete(3), spaces.Box(-2, 6, (1,), np.float64))),
                "words": spaces.Text(9),
            }
        )

    def _seen(self):
        image = np.zeros((SIDE, SIDE, 3), np.uint8)
        image[tuple(self.at)] = 200
        return {"image": image, "pair": (1, np.array([2.0])), "words": "go"}


class Says(Walk):
    """Nothing but words."""

    def __init__(self, **arguments):
        super().__init__(**arguments)
        self.observation_space = spaces.Text(9)


class Mirror(gymnasium.ObservationWrapper):
    """A wrapper by import path."""

    def observation(self, observation):
        return SIDE - 1 - observation


def corner(env, obs):
    """Places of one's own: which of the four quarters the agent is in."""
    return int(2 * (env.at[0] >= SIDE // 2) + (env.at[1] >= SIDE // 2))


def where(env, obs):
    return int(SIDE * env.at[0] + env.at[1])


def half(env, obs):
    return 0.5


for made in (Walk, Drawn, Talks, Says):
    gymnasium.register(f"{made.__name__}-v0", made, max_episode_steps=30)
