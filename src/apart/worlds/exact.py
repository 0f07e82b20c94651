"""What can be computed exactly in a table, without learning anything. NumPy only."""

from __future__ import annotations

import numpy as np

from apart._types import FloatArray
from apart.worlds.world import TableWorld


def random_walk_skills(world: TableWorld, horizon: int, n_skills: int) -> float:
    """Expected number of distinct last states of ``n_skills`` uniformly random episodes."""
    probability: FloatArray = np.zeros(world.n_states)
    starts = list(world.starts or (world.start,))
    probability[starts] = 1.0 / len(starts)
    for _ in range(horizon):
        flow = probability[:, None, None] * world.probability / world.about.n_actions
        probability = np.zeros_like(probability)
        np.add.at(probability, world.next_state, flow)
    return float(np.sum(1.0 - (1.0 - probability) ** n_skills))
