"""Names of types; the letters in comments and docstrings are shapes. Does not import JAX.

S states · A actions · N successors of a transition · K skills · T steps of an episode ·
E episodes · B samples of a batch · [R, C] the folded pairs of `objective.pairs`
(R * C = K (K - 1) / 2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import jax
    import numpy as np

Array: TypeAlias = "jax.Array"
Key: TypeAlias = "jax.Array"
Obs: TypeAlias = Any  # observations: the numbers of states, or a pytree of arrays
IntArray: TypeAlias = "np.ndarray[Any, np.dtype[np.int32]]"
BoolArray: TypeAlias = "np.ndarray[Any, np.dtype[np.bool_]]"
FloatArray: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
Image: TypeAlias = tuple[int, int, int]  # height, width, channels of what a network sees


class Sight(NamedTuple):
    """How networks see observations: [n, ...] of them, or None for all states in order."""

    n_states: int | None  # S, where observations are the numbers of states
    image: Image  # of one observation; a vector is an image of one pixel
    images: Callable[[Obs | None], Array]  # observations -> [n, height, width, channels]
    product: Callable[[Obs | None, Array], Array]
    # (observations, weight [height * width * channels, units]) -> [n, units], images times weight


class Vectors(NamedTuple):
    """Observations as vectors, without what networks add to them."""

    n: int  # numbers of one
    of: Callable[[Obs], Array]  # observations [n, ...] -> [n, numbers]
    shape: tuple[int, ...]  # of one observation
