"""Tests run on one CPU thread: the programs are tiny and the bits do not depend on it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("PJRT_NPROC", "1")
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import pytest
from hypothesis import settings

NIGHTLY = bool(os.environ.get("APART_NIGHTLY"))  # `make nightly`: the same tests, more cases

settings.register_profile("apart", deadline=None, max_examples=60)
settings.load_profile("apart")


@pytest.fixture
def corridor(tmp_path):
    """A map file: three cells in a row, start on the left."""
    path = tmp_path / "corridor.txt"
    path.write_text("S..\n")
    return path
