"""Names of types; the letters in comments and docstrings are shapes. Does not import JAX.

S states · A actions · K skills · T steps of an episode · B samples of a batch ·
[R, C] the folded pairs of `objective.pairs` (R * C = K (K - 1) / 2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import jax
    import numpy as np

Array: TypeAlias = "jax.Array"
Key: TypeAlias = "jax.Array"
IntArray: TypeAlias = "np.ndarray[Any, np.dtype[np.int32]]"
BoolArray: TypeAlias = "np.ndarray[Any, np.dtype[np.bool_]]"
FloatArray: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
Image: TypeAlias = tuple[int, int, int]  # height, width, channels of an observation


class Sight(NamedTuple):
    """How networks see states; states are [n], or None for all in order."""

    images: Callable[[Array | None], Array]  # states -> [n, height, width, channels]
    times: Callable[[Array | None, Array], Array]
    # (states, weight [height * width * channels, units]) -> [n, units], the images times the weight
