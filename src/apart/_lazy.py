"""JAX, imported when it is first used.

The tables of names (rewards, discriminators, time weights) hold functions that need JAX, but the
command line needs only the names: `apart --help` and every user error answer without it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jax
    import jax.numpy as jnp
else:

    class _Module:
        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, attribute: str) -> Any:
            return getattr(importlib.import_module(self._name), attribute)

    jax = _Module("jax")
    jnp = _Module("jax.numpy")

__all__ = ["jax", "jnp"]
