"""The task of a table: points for steps that end in some states. NumPy only, no JAX.

Skills are found without it, except by methods that look for several solutions of a task.
"""

from __future__ import annotations

import numpy as np

from apart._types import FloatArray, IntArray
from apart.worlds.world import TableWorld


def returns(task: FloatArray, trajectories: IntArray) -> FloatArray:
    """[n] points of whole episodes: states [n, T + 1], the first of which earns nothing."""
    return np.asarray(task[trajectories[:, 1:]].sum(axis=1))


def best_return(world: TableWorld, horizon: int, hold: int = 1) -> float:
    """The most points that ``horizon`` steps from the start can earn in expectation, exact.

    Actions are held for ``hold`` steps, all of which earn.
    """
    assert world.task is not None
    value: FloatArray = np.zeros(world.n_states)
    for _ in range(horizon // hold):
        later = np.repeat(value[:, None], world.next_state.shape[1], axis=1)  # [S, A]
        for _ in range(hold):
            actions = np.arange(later.shape[1])[:, None]
            after = world.task[world.next_state] + later[world.next_state, actions]
            later = (world.probability * after).sum(axis=2)
        value = later.max(axis=1)
    return float(value[world.start])
