"""A small world to craft in, with observations of several kinds; registered by importing this."""

from __future__ import annotations

import gymnasium
import numpy as np
from gymnasium import spaces

SIDE = 3
MOVES = [(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)]
SEEN = {
    "parts": spaces.Dict(
        {
            "inventory": spaces.Dict({"wood": spaces.Discrete(3), "pick": spaces.Discrete(2)}),
            "at": spaces.Box(0, SIDE - 1, (2,), np.int64),
            "mission": spaces.Text(30),
        }
    ),
    "array": spaces.Box(0, 9, (4,), np.int64),
    "image": spaces.Box(0, 255, (40, 40, 3), np.uint8),
    "place": spaces.Box(0, SIDE - 1, (2,), np.int64),  # wood and pick are hidden
    "clock": spaces.Box(0, 99, (5,), np.int64),
    "noise": spaces.Box(0, 99, (5,), np.int64),
    "tuple": spaces.Tuple([spaces.Discrete(9)] * 4),
}


class Craft(gymnasium.Env):
    """Doing nothing takes wood in one corner, and makes a pick of two in another, for a reward."""

    def __init__(self, seen="parts", first=0):
        self.action_space, self.observation_space = spaces.Discrete(5, start=first), SEEN[seen]
        self.seen, self.first, self.written = seen, first, np.zeros(4, np.int64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.row = self.column = self.wood = self.pick = self.time = 0
        return self._shown(), {}

    def step(self, action):
        action = int(action) - self.first
        before = self.pick
        if action == 0 and (self.row, self.column) == (0, SIDE - 1):
            self.wood = min(self.wood + 1, 2)
        if action == 0 and (self.row, self.column) == (SIDE - 1, 0) and self.wood == 2:
            self.wood, self.pick = 0, 1
        down, right = MOVES[action]
        self.row = min(max(self.row + down, 0), SIDE - 1)
        self.column = min(max(self.column + right, 0), SIDE - 1)
        self.time += 1
        return self._shown(), float(self.pick - before), False, False, {}

    def _shown(self):
        numbers = [self.row, self.column, self.wood, self.pick]
        if self.seen == "parts":
            inventory = {"wood": self.wood, "pick": np.int64(self.pick)}
            return {"inventory": inventory, "at": np.array(numbers[:2]), "mission": "pickaxe"}
        if self.seen == "image":
            picture = np.zeros((40, 40, 3), np.uint8)
            picture[0, :4, 0] = numbers
            return picture
        if self.seen == "tuple":
            return tuple(numbers)
        more = {"clock": [self.time], "noise": [int(self.np_random.integers(99))]}
        if self.seen in more:
            return np.array(numbers + more[self.seen])
        self.written[:] = numbers  # the same array each time
        return self.written[:2] if self.seen == "place" else self.written


if "Craft-v0" not in gymnasium.registry:
    gymnasium.register("Craft-v0", Craft, max_episode_steps=60)
