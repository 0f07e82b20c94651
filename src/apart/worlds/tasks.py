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


def best_return(world: TableWorld, horizon: int) -> float:
    """The most points that ``horizon`` steps from the start can earn in expectation, exact."""
    assert world.task is not None
    value: FloatArray = np.zeros(world.n_states)
    for _ in range(horizon):
        later = (world.task + value)[world.next_state]
        value = (world.probability * later).sum(axis=2).max(axis=1)
    return float(value[world.start])
