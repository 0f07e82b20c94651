"""The same grid as a JAX world and as a host world: a state is seen as its one-hot vector."""

from __future__ import annotations

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.vector import SyncVectorEnv

from apart import worlds
from apart.worlds.grid import parse
from apart.worlds.world import About, HostWorld, JaxWorld, ObsSpec


def about_of(table, kind):
    return About(
        table.name, {**table.about.spec, "kind": kind}, table.about.horizon, table.about.n_actions
    )


def jax_grid(table, end=None):
    """``end``: a state in which episodes end."""
    next_state = jnp.asarray(table.next_state[:, :, 0])
    return JaxWorld(
        about_of(table, "jax-grid"),
        table.places,
        ObsSpec((table.n_states,)),
        reset=lambda key: jnp.int32(table.start),
        step=lambda key, s, a: (
            next_state[s, a],
            None if end is None else next_state[s, a] == end,
        ),
        observe=lambda s: jax.nn.one_hot(s, table.n_states),
        place=lambda s: s,
    )


class GridEnv(gymnasium.Env):
    def __init__(self, table, end=None):
        self.table, self.end = table, end
        self.action_space = gymnasium.spaces.Discrete(table.about.n_actions)
        self.observation_space = gymnasium.spaces.Box(0, 1, (table.n_states,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = self.table.start
        return self._seen(), {}

    def step(self, action):
        self.state = int(self.table.next_state[self.state, action, 0])
        return self._seen(), 0.0, self.state == self.end, False, {}

    def _seen(self):
        return np.eye(self.table.n_states, dtype=np.float32)[self.state]


def host_grid(table, end=None, env=GridEnv):
    return HostWorld(
        about_of(table, "host-grid"),
        table.places,
        ObsSpec((table.n_states,)),
        make=lambda n: SyncVectorEnv([lambda: env(table, end)] * n),
        place=lambda obs, info: obs.argmax(-1),
    )


def register():
    """Let run folders of twins be read again in this process."""
    for kind, twin in (("jax-grid", jax_grid), ("host-grid", host_grid)):
        worlds.register(
            kind, lambda spec, horizon, twin=twin: twin(parse("\n".join(spec["map"]), spec["name"]))
        )
