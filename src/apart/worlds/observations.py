"""What a state looks like to a network: an image [height, width, channels].

The sum of squares of an image is its number of pixels: in ``one_hot`` (one pixel, a channel per
state) and in ``pixels`` (agent red, floor green, walls blue, as a person would see the game)
because exactly one channel is on at each pixel. Networks rely on it when they are initialised.

The images of a world are nearly equal: only the agent moves. ``normalized_pixels`` shows what
differs, which is what a network has to tell apart (docs/networks.md has what that buys).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import numpy as np

from apart._lazy import jax, jnp
from apart._types import Array, Image, Sight
from apart.worlds.grid import World

Pixels: TypeAlias = "np.ndarray[Any, np.dtype[np.float32]]"


@dataclass(frozen=True)
class Observation:
    """How states are seen.

    Attributes:
        summary: one line for people.
        image: (world, pixels per cell) -> height, width, channels.
        sight: (world, pixels per cell) -> `Sight`.
    """

    summary: str
    image: Callable[[World, int], Image]
    sight: Callable[[World, int], Sight]


def _one_hot(world: World, pixels_per_cell: int) -> Sight:
    """The product of such an image with a weight is a row of the weight: nothing is multiplied."""

    def images(states: Array | None) -> Array:
        return jax.nn.one_hot(_numbers(world, states), world.n_states)[:, None, None]

    def times(states: Array | None, weight: Array) -> Array:
        return weight if states is None else weight[states]

    return Sight(images, times)


def _numbers(world: World, states: Array | None) -> Array:
    return jnp.arange(world.n_states) if states is None else states


def _picture(world: World, pixels_per_cell: int) -> Image:
    return world.shape[0] * pixels_per_cell, world.shape[1] * pixels_per_cell, 3


_AGENT_ON_FLOOR: Final = np.array([1.0, -1.0, 0.0], np.float32)  # what the agent changes


def _empty(world: World) -> Pixels:
    """[rows, columns, 3] the world without its agent."""
    walls = np.array([[char == "#" for char in row] for row in world.text.split("\n")])
    picture: Pixels = np.stack([np.zeros_like(walls), ~walls, walls], -1).astype(np.float32)
    return picture


def _pixels(world: World, pixels_per_cell: int) -> Sight:
    return _draw(world, pixels_per_cell, _empty(world), 1.0)


def _normalized(world: World, pixels_per_cell: int) -> Sight:
    """The image minus its mean over all states, times one number."""
    n = world.n_states
    mean_agent: Pixels = np.zeros((*world.shape, 3), np.float32)
    mean_agent[tuple(world.cells.T)] = _AGENT_ON_FLOOR / n
    square = 2.0 * (1.0 - 1.0 / n)  # of an image minus the mean image, in cells
    scale = math.sqrt(world.shape[0] * world.shape[1] / square)
    return _draw(world, pixels_per_cell, -mean_agent, scale)


def _draw(world: World, pixels_per_cell: int, still: Pixels, scale: float) -> Sight:
    """States as ``scale`` times (still picture + agent)."""
    rows, columns = world.shape

    def images(states: Array | None) -> Array:
        at = jnp.asarray(world.cells)[_numbers(world, states)]
        there = (at[:, 0, None, None] == jnp.arange(rows)[:, None]) & (
            at[:, 1, None, None] == jnp.arange(columns)
        )
        cells = scale * (jnp.asarray(still) + there[..., None] * jnp.asarray(_AGENT_ON_FLOOR))
        return cells.repeat(pixels_per_cell, axis=1).repeat(pixels_per_cell, axis=2)

    def times(states: Array | None, weight: Array) -> Array:
        seen = images(states)
        return seen.reshape(seen.shape[0], -1) @ weight

    return Sight(images, times)


OBSERVATIONS: Final[Mapping[str, Observation]] = MappingProxyType(
    {
        "one_hot": Observation(
            "the state's number, one-hot", lambda world, _: (1, 1, world.n_states), _one_hot
        ),
        "pixels": Observation(
            "an image: agent red, floor green, walls blue",
            _picture,
            _pixels,
        ),
        "normalized_pixels": Observation(
            "the same minus the mean image of all states, at unit mean square",
            _picture,
            _normalized,
        ),
    }
)
