"""An environment with our observations, actions and places. Imports Gymnasium."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete, MultiDiscrete
from gymnasium.vector import SyncVectorEnv

from apart.worlds import guards
from apart.worlds.places import Locate
from apart.worlds.spaces import Acts, Seen, actor, reader

PLACE = "place"  # the only info that is passed on: a vector environment gathers each for all


class Parts(NamedTuple):
    """How an environment is adapted."""

    name: str
    seen: Seen
    acts: Acts
    locate: Locate
    seed: int | None  # of every reset; None: as it comes


class Adapted(gymnasium.Wrapper[Any, Any, Any, Any]):
    """The environment as `HostWorld` needs it; rewards are dropped."""

    def __init__(self, env: gymnasium.Env[Any, Any], parts: Parts) -> None:
        super().__init__(env)
        self._name, seen, acts = parts.name, parts.seen, parts.acts
        bytes_ = seen.dtype == "uint8"
        low, high = (0, 255) if bytes_ else (-np.inf, np.inf)
        self.observation_space = Box(low, high, seen.shape, np.uint8 if bytes_ else np.float32)
        several = acts.heads > 1
        self.action_space = (
            MultiDiscrete([acts.n_actions] * acts.heads) if several else Discrete(acts.n_actions)
        )
        self._read, self._act = reader(seen, parts.name), actor(acts, env.action_space)
        self._locate, self._bare, self._seed = parts.locate, env.unwrapped, parts.seed

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """A start; always the same where the seed is said once and for all."""
        seed = seed if self._seed is None else self._seed
        obs = guards.of_reset(self._name, self.env.reset(seed=seed, options=options))
        return self._read(obs), {PLACE: self._locate(self._bare, obs)}

    def step(self, action: Any) -> Any:
        """One step."""
        stepped = self.env.step(self._act(action))
        obs, terminated, truncated = guards.of_step(self._name, stepped)
        place = self._locate(self._bare, obs)
        return self._read(obs), 0.0, terminated, truncated, {PLACE: place}


def vector(make: Callable[[], Any], n: int) -> SyncVectorEnv:
    """N of them, stepped one after the other in this process."""
    return SyncVectorEnv([make] * n)
