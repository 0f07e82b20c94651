"""Compiled programs are kept in the user's own cache folder: the next run starts in a third of the
time. Told not to by ``--no-cache`` or ``APART_CACHE=off``; ``JAX_COMPILATION_CACHE_DIR`` wins.

What is in there is machine code, so that it is used only where nobody else can write, and only on
the kind of processor and with the version of XLA that it was compiled for. It can be deleted at
any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import stat
from pathlib import Path
from typing import Any, Final

from apart.running import machine, threads

VARIABLE: Final = "APART_CACHE"
_OFF: Final = ("off", "0", "no", "false")


def folder() -> Path | None:
    """Where programs are kept; None where the user said no or has no such folder."""
    if os.environ.get(VARIABLE, "").lower() in _OFF or not hasattr(os, "getuid"):
        return None
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "apart" if os.path.isabs(base) else None


def use() -> None:
    """Let JAX keep and find programs there, unless the user set a folder of their own."""
    import jax
    import jaxlib

    settings: Any = jax.config
    if settings.jax_compilation_cache_dir is not None:
        return
    root = folder()
    if root is None:
        return
    # XLA divides the work among threads when it compiles.
    name = f"jaxlib-{jaxlib.version.__version__}-{_processor()}-{threads.in_use()}"
    path = root / name
    with contextlib.suppress(OSError):  # a home that cannot be written to: compile every time
        os.makedirs(root, mode=0o700, exist_ok=True)
        os.makedirs(path, mode=0o700, exist_ok=True)
        if _private(root) and _private(path):
            settings.update("jax_compilation_cache_dir", str(path))
            settings.update("jax_persistent_cache_min_compile_time_secs", 0.2)


def _private(path: Path) -> bool:
    """Whether ``path`` is a folder of this user that nobody else can write to."""
    found = os.lstat(path)
    mine = found.st_uid == os.getuid() and stat.S_ISDIR(found.st_mode)
    return mine and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _processor() -> str:
    """A word for what machine code runs here: a home may be shared by several machines."""
    return hashlib.sha256(f"{platform.machine()} {machine.flags()}".encode()).hexdigest()[:12]
