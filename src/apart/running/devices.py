"""Which device JAX is to use: checked before anything is written."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from apart._errors import UserError
from apart.running.pool import last_words


def find(name: str | None) -> Any:
    """The JAX device of that kind; None leaves the choice to JAX."""
    if name is None:
        return None
    import jax

    try:
        return jax.devices(name)[0]
    except RuntimeError:
        seen = ", ".join(sorted({d.platform for d in jax.devices()}))
        raise UserError(f"--device {name}: JAX sees no such device here, only {seen}") from None


def check(name: str | None) -> None:
    """`UserError` where `find` has one; JAX starts in a process of its own."""
    if name is None:
        return
    command = [sys.executable, "-m", "apart.running.devices", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(last_words(done.stderr))


if __name__ == "__main__":
    try:
        find(sys.argv[1])
    except UserError as error:
        sys.exit(str(error))
