"""What networks see, put together: several observations side by side, and vectors as they are.

Does not import JAX until used.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from apart._lazy import jnp
from apart._types import Array, Image, Obs, Sight

Images = Callable[[Obs | None], Array]


def of_images(n_states: int | None, image: Image, images: Images) -> Sight:
    """Seen as ``images`` [n, height, width, channels]."""

    def product(obs: Obs | None, weight: Array) -> Array:
        seen = images(obs)
        return seen.reshape(seen.shape[0], -1) @ weight

    return Sight(n_states, image, images, product)


def side_by_side(sight: Sight, n: int) -> Sight:
    """``n`` observations at once, [m, n, ...]: one image with the channels of all.

    Divided by the root of n, so that the sum of squares is that of one of them.
    """
    height, width, channels = sight.image

    def images(obs: Obs | None) -> Array:
        assert obs is not None  # nobody lists all groups of observations
        each = sight.images(obs.reshape(-1, *obs.shape[2:])).reshape(-1, n, *sight.image)
        together: Array = jnp.moveaxis(each, 1, 3).reshape(-1, height, width, n * channels)
        return together / math.sqrt(n)

    return of_images(None, (height, width, n * channels), images)


def plain(n_numbers: int) -> Sight:
    """Vectors [m, numbers] whose sum of squares is about 1, as they are."""

    def images(obs: Obs | None) -> Array:
        assert obs is not None
        seen: Array = obs.reshape(-1, 1, 1, n_numbers)
        return seen

    return of_images(None, (1, 1, n_numbers), images)
