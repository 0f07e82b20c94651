"""Tests run on one CPU thread: the programs are tiny and the bits do not depend on it.

What one process compiled, the others need not compile again: all share a cache for this session.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("PJRT_NPROC", "1")
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import pytest
from hypothesis import settings

NIGHTLY = bool(os.environ.get("APART_NIGHTLY"))  # `make nightly`: the same tests, more cases

settings.register_profile("apart", deadline=None, max_examples=60)
settings.load_profile("apart")


def pytest_configure(config):
    """The first process makes the cache; workers and commands inherit it."""
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        config.compiled = tempfile.mkdtemp(prefix="apart-compiled-")
        os.environ["JAX_COMPILATION_CACHE_DIR"] = config.compiled
        os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0.2"


def pytest_unconfigure(config):
    """Who made it removes it."""
    if hasattr(config, "compiled"):
        shutil.rmtree(config.compiled, ignore_errors=True)


@pytest.fixture
def corridor(tmp_path):
    """A map file: three cells in a row, start on the left."""
    path = tmp_path / "corridor.txt"
    path.write_text("S..\n")
    return path
