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
        def __init__(self, name: str, here: str) -> None:
            self._name, self._here = name, here

        def __getattr__(self, attribute: str) -> Any:
            return getattr(importlib.import_module(self._name), attribute)

        def __reduce__(self) -> str:
            """Pickled and copied as the name here that it is, without being imported."""
            return self._here

    jax = _Module("jax", "jax")
    jnp = _Module("jax.numpy", "jnp")

__all__ = ["jax", "jnp"]
