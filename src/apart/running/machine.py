"""What this machine is: ratios of speed and machine code depend on it. No JAX."""

from __future__ import annotations

import contextlib
import os
import platform
import resource
import sys

_VECTORS = {"avx512f": "AVX-512", "avx2": "AVX2", "asimd": "NEON"}


def facts() -> dict[str, str]:
    """What the system says of its first processor; empty where it says nothing."""
    found: dict[str, str] = {}
    with contextlib.suppress(OSError), open("/proc/cpuinfo", errors="replace") as file:
        for line in file:
            key, colon, value = line.partition(":")
            if colon:
                found.setdefault(key.strip(), value.strip())
    return found


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def flags() -> str:
    """The instructions that the processor has, as far as the system tells."""
    known = facts()
    return known.get("flags", known.get("Features", ""))


def words() -> str:
    """For people: ``AMD EPYC, AVX-512, 2 cores``."""
    name = facts().get("model name", platform.machine())
    wide = next((word for flag, word in _VECTORS.items() if flag in flags().split()), "")
    many = "1 core" if cores() == 1 else f"{cores()} cores"
    return ", ".join(filter(None, (name, wide, many)))


def peak_rss_mb() -> float:
    """The most memory that this process has held so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1e6 if sys.platform == "darwin" else 1e3), 1)
