"""What an observation looks like to a network: an image [height, width, channels].

The sum of squares of an image is about its number of pixels: networks rely on it when they are
initialised. In ``one_hot`` (one pixel, a channel per state) and in ``pixels`` (agent red, floor
green, walls blue, as a person would see the game) exactly one channel is on at each pixel.

The images of a world are nearly equal: only the agent moves. ``normalized_pixels`` shows what
differs, which is what a network has to tell apart (docs/guide/networks.md has what that buys).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import numpy as np

from apart._errors import UserError
from apart._lazy import jax, jnp
from apart._types import Array, Image, Obs, Sight, Vectors
from apart.worlds.sights import of_images
from apart.worlds.world import HostWorld, JaxWorld, TableWorld, World

Pixels: TypeAlias = "np.ndarray[Any, np.dtype[np.float32]]"
MAX_PIXELS: Final = 64


@dataclass(frozen=True)
class Observation:
    """How observations are seen.

    Attributes:
        summary: one line for people.
        sight: (world, pixels per cell) -> `Sight`.
        fits: whether a world can be seen so.
        images: whether neighbouring pixels mean something, so that convolutions do.
        sized: whether ``NAME:4`` (pixels per cell) is a form of it.
        features: world -> the arrays from which features of a vector are computed, for those who
            compute them elsewhere (`skills.export`).
    """

    summary: str
    sight: Callable[[Any, int], Sight]
    fits: Callable[[World], bool]
    images: bool = False
    sized: bool = False
    features: Callable[[Any], Mapping[str, Any]] | None = None


def _is_table(world: World) -> bool:
    return isinstance(world, TableWorld)


def _has_map(world: World) -> bool:
    return isinstance(world, TableWorld) and world.one_state_a_cell


def _has_arrays(world: World) -> bool:
    return isinstance(world, JaxWorld | HostWorld)


def _is_vector(world: World) -> bool:
    return isinstance(world, JaxWorld | HostWorld) and len(world.obs.shape) == 1


def _is_position(world: World) -> bool:
    """Whether the world says so, or its plane is the one that bumps cover."""
    if not isinstance(world, JaxWorld | HostWorld) or world.obs.shape != (2,):
        return False
    plane = world.places.plane
    return world.obs.position or (plane is not None and max(map(abs, plane.extent)) <= 1.0)


def _one_hot(world: TableWorld, _: int) -> Sight:
    """The product of such an image with a weight is a row of the weight: nothing is multiplied."""
    n = world.n_states

    def images(states: Obs | None) -> Array:
        return jax.nn.one_hot(_numbers(n, states), n)[:, None, None]

    def product(states: Obs | None, weight: Array) -> Array:
        return weight if states is None else weight[states]

    return Sight(n, (1, 1, n), images, product)


def _numbers(n_states: int, states: Obs | None) -> Array:
    return jnp.arange(n_states) if states is None else states


def _arrays(world: JaxWorld | HostWorld, _: int) -> Sight:
    """Observations that are arrays already; bytes count from 0 to 1, unless the world says how."""
    shape, known = world.obs.shape, world.obs.scaling
    image: Image = (shape[0], shape[1], shape[2]) if len(shape) == 3 else (1, 1, math.prod(shape))

    def images(obs: Obs | None) -> Array:
        assert obs is not None  # nobody can list all of them
        seen: Array = obs.reshape(-1, *image).astype(jnp.float32)
        if not world.obs.scale:
            return known.scale[0] * seen
        offset, times = (_per_number(numbers, image) for numbers in (known.offset, known.scale))
        return jnp.clip((seen - offset) * times, -known.far, known.far)

    return of_images(None, image, images)


def _per_number(numbers: tuple[float, ...], image: Image) -> Array:
    """One for all, or one each."""
    given = jnp.asarray(numbers, jnp.float32)
    return given.reshape(image) if len(numbers) > 1 else given


_CENTRES: Final = 11  # in each direction, with a centre on each side of the plane


def _rbf(world: JaxWorld | HostWorld, _: int) -> Sight:
    """Bumps over the plane: each feature is near 1 around its own centre, near 0 elsewhere.

    A network of (x, y) itself has to build corners out of planes; from bumps it adds places up. The
    width is the distance of the centres, and the sum of squares of the features is about 1.
    """
    positions, (centres, gap) = _arrays(world, 1).images, _centres()

    def images(obs: Obs | None) -> Array:
        at = positions(obs).reshape(-1, 2, 1)
        near = jnp.exp(-0.5 * jnp.square((at - centres) / gap))  # [n, 2, centres]
        bumps: Array = near[:, 0, :, None] * near[:, 1, None, :] / math.sqrt(math.pi)
        return bumps.reshape(-1, 1, 1, _CENTRES**2)

    return of_images(None, (1, 1, _CENTRES**2), images)


def _centres() -> tuple[Any, float]:
    """Along one direction, and their distance."""
    centres = np.linspace(-1.0, 1.0, _CENTRES, dtype=np.float32)
    return centres, float(centres[1] - centres[0])


def _rbf_arrays(world: JaxWorld | HostWorld) -> dict[str, Any]:
    """Amplitude * exp(-|(x - centre) / width|^2 / 2) for each centre."""
    centres, gap = _centres()
    both = np.stack(np.meshgrid(centres, centres, indexing="ij"), -1).reshape(-1, 2)
    return {"centres": both, "width": np.array([gap], np.float32), "amplitude": _amplitude(math.pi)}


def _amplitude(square: float) -> Any:
    return np.array([1.0 / math.sqrt(square)], np.float32)


_WAVES: Final = 128
_WAVELENGTH: Final = 0.2  # of two numbers; grows with distances, as the root of how many there are


def _waves(n_numbers: int) -> tuple[Any, Any]:
    """[numbers, waves] directions and [waves] phases, the same for all vectors of so many."""
    length = _WAVELENGTH * math.sqrt(n_numbers / 2)
    drawn = np.random.default_rng(0)
    direction = drawn.normal(size=(n_numbers, _WAVES)).astype(np.float32) / np.float32(length)
    return direction, drawn.uniform(0.0, 2.0 * math.pi, _WAVES).astype(np.float32)


def _fourier_arrays(world: JaxWorld | HostWorld) -> dict[str, Any]:
    """Amplitude * cos(x direction + phase)."""
    direction, phase = _waves(math.prod(world.obs.shape))
    return {"direction": direction, "phase": phase, "amplitude": _amplitude(_WAVES / 2)}


def _fourier(world: JaxWorld | HostWorld, _: int) -> Sight:
    """Cosines along random directions (Rahimi and Recht 2007): bumps for any number of dimensions.

    The product of two such vectors is about exp(-d^2 / 2 l^2), with d their distance; l is short
    enough to tell neighbouring places apart. The sum of squares of the features is about 1.
    """
    vectors, (direction, phase) = _arrays(world, 1).images, _waves(math.prod(world.obs.shape))

    def images(obs: Obs | None) -> Array:
        seen = vectors(obs)
        waves = jnp.cos(seen.reshape(seen.shape[0], -1) @ direction + phase)
        return math.sqrt(2.0 / _WAVES) * waves.reshape(-1, 1, 1, _WAVES)

    return of_images(None, (1, 1, _WAVES), images)


_AGENT_ON_FLOOR: Final = np.array([1.0, -1.0, 0.0], np.float32)  # what the agent changes


def _pixels(world: TableWorld, pixels_per_cell: int) -> Sight:
    walls = np.array([[char == "#" for char in row] for row in world.places.backdrop])
    empty: Pixels = np.stack([np.zeros_like(walls), ~walls, walls], -1).astype(np.float32)
    return _drawn(world, pixels_per_cell, empty, 1.0)


def _normalized(world: TableWorld, pixels_per_cell: int) -> Sight:
    """The image minus its mean over all states, times one number."""
    n, (rows, columns) = world.n_states, _shape(world)
    mean_agent: Pixels = np.zeros((rows, columns, 3), np.float32)
    mean_agent[tuple(world.cells.T)] = _AGENT_ON_FLOOR / n
    square = 2.0 * (1.0 - 1.0 / n)  # of an image minus the mean image, in cells
    return _drawn(world, pixels_per_cell, -mean_agent, math.sqrt(rows * columns / square))


def _shape(world: TableWorld) -> tuple[int, int]:
    return len(world.places.backdrop), len(world.places.backdrop[0])


def _drawn(world: TableWorld, pixels_per_cell: int, still: Pixels, scale: float) -> Sight:
    """States as ``scale`` times (still picture + agent)."""
    rows, columns = _shape(world)

    def images(states: Obs | None) -> Array:
        at = jnp.asarray(world.cells)[_numbers(world.n_states, states)]
        there = (at[:, 0, None, None] == jnp.arange(rows)[:, None]) & (
            at[:, 1, None, None] == jnp.arange(columns)
        )
        cells = scale * (jnp.asarray(still) + there[..., None] * jnp.asarray(_AGENT_ON_FLOOR))
        return cells.repeat(pixels_per_cell, axis=1).repeat(pixels_per_cell, axis=2)

    image = (rows * pixels_per_cell, columns * pixels_per_cell, 3)
    return of_images(world.n_states, image, images)


OBSERVATIONS: Final[Mapping[str, Observation]] = MappingProxyType(
    {
        "one_hot": Observation("one-hot vector of the state", _one_hot, _is_table),
        "arrays": Observation("the world's own observations", _arrays, _has_arrays, images=True),
        "rbf": Observation(
            f"{_CENTRES} x {_CENTRES} radial basis functions, for observations that are positions",
            _rbf,
            _is_position,
            images=True,
            features=_rbf_arrays,
        ),
        "fourier": Observation(
            f"{_WAVES} random Fourier features, for observations that are vectors",
            _fourier,
            _is_vector,
            images=True,
            features=_fourier_arrays,
        ),
        "pixels": Observation(
            "an image: agent red, floor green, walls blue; pixels:4 draws 4 x 4 per cell",
            _pixels,
            _has_map,
            images=True,
            sized=True,
        ),
        "normalized_pixels": Observation(
            "pixels minus their mean over all states, scaled to unit mean square",
            _normalized,
            _has_map,
            images=True,
            sized=True,
        ),
    }
)


def vectors_of(world: World) -> Vectors | None:
    """The observations of ``world`` as vectors, scaled; None for states of a table."""
    if isinstance(world, TableWorld):
        return None
    images = _arrays(world, 1).images

    def vectors(obs: Obs) -> Array:
        seen = images(obs)
        return seen.reshape(seen.shape[0], -1)

    return Vectors(math.prod(world.obs.shape), vectors, tuple(world.obs.shape))


def sight_of(world: World, text: str) -> Sight:
    """How ``world`` is seen as ``text`` (a checked name, or ``NAME:pixels``) says."""
    name, pixels = parse(text)
    return OBSERVATIONS[name].sight(world, pixels)


def parse(text: str) -> tuple[str, int]:
    """Name and pixels per cell of ``one_hot``, ``pixels:4``; the name may be unknown."""
    name, colon, size = text.partition(":")
    if not colon:
        return name, 1
    known = OBSERVATIONS.get(name)
    if known is not None and not known.sized:
        raise UserError(f"--observation {name} has no size; write {name}, not '{text}'")
    if not size.isdecimal() or not 1 <= int(size) <= MAX_PIXELS:
        raise UserError(f"--observation {text}: give 1 to {MAX_PIXELS} pixels per cell (pixels:4)")
    return name, int(size)
