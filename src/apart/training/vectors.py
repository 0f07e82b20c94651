"""How wide the vectors are that a training loop is compiled for; measured in performance.md.

XLA takes half of AVX-512 unless it is told otherwise. Elements keep their bits; sums over them may
be added up in another order.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Final

import jax

from apart import _machine as machine

_OPTION: Final = "xla_cpu_prefer_vector_width"
_WHOLE: Final = "avx512f"


@lru_cache
def compiler_options() -> dict[str, str]:
    """Options of `jax.jit`; none where processor, backend, user or this version of XLA says no."""
    if _WHOLE not in machine.flags().split() or jax.default_backend() != "cpu":
        return {}
    if _OPTION in os.environ.get("XLA_FLAGS", ""):
        return {}
    wide = {_OPTION: "512"}
    return wide if _known(wide) else {}


def _known(options: dict[str, str]) -> bool:
    """Whether this version of XLA has ``options``: it refuses what it does not know."""
    try:
        jax.jit(lambda: 0, compiler_options=options).lower().compile()
    except jax.errors.JaxRuntimeError:
        return False
    return True
