"""What a few seconds of random play say of an environment. NumPy only."""

from __future__ import annotations

import time
from typing import Any, Final, NamedTuple

import numpy as np

from apart.worlds import guards, snapshots
from apart.worlds.world import HostWorld

_STEPS: Final = 60  # of the episodes that are compared
_SIDE: Final = 8  # environments whose speed is measured


class Probed(NamedTuple):
    """What was seen.

    Attributes:
        repeats: the same seed and actions give the same episode.
        start_varies: another seed gives another start.
        by_chance: the same start and actions lead elsewhere with other random numbers; None where
            that cannot be seen.
        steps_per_second: of random play, several environments side by side, in this process.
    """

    repeats: bool
    start_varies: bool
    by_chance: bool | None
    steps_per_second: float


def probe(world: HostWorld, seconds: float = 0.5) -> Probed:
    """Play ``world`` for a moment.

    Raises:
        UserError: it raises or hangs.
    """
    watch = guards.Watch(world.name, world.timeout)
    with guards.undisturbed(0), watch, guards.saying(world.name, "random play"):
        watch.on("random play")
        one, side = world.make(1), world.make(_SIDE)
        try:
            first, again, other = (_episode(world, one, seed) for seed in (1, 1, 2))
            reseeded = _episode(world, one, 1, reseed=True)
            watch.on("random play")
            speed = _speed(world, side, seconds)
        finally:
            one.close()
            side.close()
            watch.off()
            watch.close()
    repeats = np.array_equal(first, again)
    by_chance = None
    if repeats and reseeded is not None:
        by_chance = not np.array_equal(first, reseeded)
    return Probed(repeats, not np.array_equal(first[0], other[0]), by_chance, speed)


def _actions(world: HostWorld, rng: np.random.Generator, n: int) -> Any:
    heads = world.about.heads
    return rng.integers(world.about.n_actions, size=(n, heads) if heads > 1 else n)


def _episode(world: HostWorld, environments: Any, seed: int, reseed: bool = False) -> Any:
    """[T, ...] observations of one episode; None where generators cannot be seen."""
    rng = np.random.default_rng(0)
    seen = [np.array(environments.reset(seed=[seed])[0][0])]
    if reseed:
        inner = getattr(environments, "envs", None)
        if not inner:
            return None
        _ = inner[0].unwrapped.np_random  # made at its first use
        snapshots.reseed(snapshots.generators_in(inner[0]), seed + 1)
    for _ in range(_STEPS):
        obs, _, terminated, truncated, _ = environments.step(_actions(world, rng, 1))
        seen.append(np.array(obs[0]))
        if terminated[0] or truncated[0]:
            break
    return np.array(seen)


def _speed(world: HostWorld, environments: Any, seconds: float) -> float:
    rng, n = np.random.default_rng(0), 0
    environments.reset(seed=list(range(_SIDE)))
    began = time.perf_counter()
    while (took := time.perf_counter() - began) < seconds:
        environments.step(_actions(world, rng, _SIDE))
        n += _SIDE
    return n / took
