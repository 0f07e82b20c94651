"""Goals in continuous mazes: 16 regions, three goals in each, scored by discount^time.

Regions, goals and score as UPSIDE has them (Kamienny et al., ICLR 2022); how near is near enough
and the discount are ours. The paper then fine-tunes on each goal, which is not done here: a skill
is chosen and followed, nothing is learnt.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

import apart
from apart.worlds.world import JaxWorld, Plane

REGIONS, GOALS = 4, 3  # regions along each side; goals in each region
RADIUS, DISCOUNT = 0.5, 0.99  # in cells of the maze, 5 of UPSIDE's units each
WALKS = 500  # episodes of random actions


def goals_in(plane: Plane, seed: int = 0) -> np.ndarray:
    """[G, 2] goals, uniform in each region where it is free; none in regions that are solid."""
    luck = np.random.default_rng(seed)
    low, high, bottom, top = plane.extent
    sides = np.array([high - low, top - bottom]) / REGIONS
    found: list[np.ndarray] = []
    for region in np.ndindex(REGIONS, REGIONS):
        drawn = [low, bottom] + sides * (region + luck.random((1000, 2)))
        free = drawn[~_inside(plane.solid, drawn)]
        found.extend(free[:GOALS])
    return np.array(found)


def _inside(solid: Any, points: Any) -> Any:
    """[n] whether each point is in one of the rectangles (x, y, width, height)."""
    away = points[:, None] - solid[None, :, :2]
    return ((away >= 0) & (away <= solid[None, :, 2:])).all(2).any(1)


def scores(paths: Any, goals: Any) -> Any:
    """[n, G] discount^time of the first step at which each path [n, T + 1, 2] is at each goal."""
    near = np.linalg.norm(paths[:, :, None] - goals, axis=-1) <= RADIUS  # [n, T + 1, G]
    return np.where(near.any(1), DISCOUNT ** near.argmax(1), 0.0)


def measured(run: apart.Run) -> dict[str, float]:
    """Goals that skills come to, and their mean score.

    ``reached``, ``score``: the skill whose episode ends nearest to the goal is followed once.
    ``tried``, ``tried_score``: every skill is followed, and the best one counts.
    """
    plane = run.world.places.plane
    assert plane is not None
    paths = np.array([skill.positions for skill in run.skills])
    goals = goals_in(plane)
    every = scores(paths, goals)
    away = np.linalg.norm(paths[:, None, -1] - goals, axis=-1)
    chosen = every[away.argmin(0), np.arange(len(goals))]
    return {
        "reached": float((chosen > 0).mean()),
        "score": float(chosen.mean()),
        "tried": float((every.max(0) > 0).mean()),
        "tried_score": float(every.max(0).mean()),
    }


def walked(world: JaxWorld, hold: int, seed: int) -> dict[str, float]:
    """The same of random actions, each held for ``hold`` steps: the mean of many episodes."""
    assert world.places.plane is not None
    assert world.position is not None
    position, horizon = world.position, world.about.horizon

    def episode(key: Any) -> Any:
        first, act = jax.random.split(key)
        actions = jax.random.randint(act, (horizon // hold,), 0, world.about.n_actions)

        def step(state: Any, action: Any) -> Any:
            after, _ = world.step(key, state, action)  # a maze leaves nothing to chance
            return after, position(after)

        start = world.reset(first)
        _, passed = jax.lax.scan(step, start, actions.repeat(hold))
        return position(start), passed

    starts, passed = jax.jit(jax.vmap(episode))(jax.random.split(jax.random.key(seed), WALKS))
    paths = np.concatenate([np.asarray(starts)[:, None], np.asarray(passed)], 1)
    every = scores(paths, goals_in(world.places.plane))
    return {"reached": float((every > 0).mean()), "score": float(every.mean())}
