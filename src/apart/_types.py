"""Array aliases; the letters in comments and docstrings are shapes. Does not import JAX.

S states · A actions · K skills · T steps of an episode · B samples of a batch ·
[R, C] the folded pairs of `objective.pairs` (R * C = K (K - 1) / 2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import jax
    import numpy as np

Array: TypeAlias = "jax.Array"
Key: TypeAlias = "jax.Array"
IntArray: TypeAlias = "np.ndarray[Any, np.dtype[np.int32]]"
BoolArray: TypeAlias = "np.ndarray[Any, np.dtype[np.bool_]]"
FloatArray: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
