"""Tests run on one CPU thread: the programs are tiny and the bits do not depend on it.

What one process compiled, the others need not compile again: all share a cache for this session.
Most of the time goes into machine code that runs for a moment. So it is made in the cheapest way
(`QUICK`), which takes a quarter of the time and changes no more than the last bits, as another CPU
would; what is about the bits of real programs (`as_users_run`) and all of `make nightly` is
compiled as it is for users.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("PJRT_NPROC", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")  # also where there is a GPU
os.environ.setdefault("PYTHONUTF8", "1")  # of commands, whatever the locale
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import pytest
from hypothesis import settings

NIGHTLY = bool(os.environ.get("APART_NIGHTLY"))  # `make nightly`: the same tests, more cases
FLAGS = os.environ.get("APART_USERS_XLA_FLAGS", os.environ.get("XLA_FLAGS", ""))
# LLVM optimises nothing; fusions are not lowered through MLIR, whose context costs more than they
# do; one object file per program instead of up to 32.
QUICK = "--xla_backend_optimization_level=0"
QUICK_IF_KNOWN = "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"


def knows(flags):
    """Whether this XLA has all of them: one that it does not know ends its process."""
    command = [sys.executable, "-c", "from jaxlib.xla_client import CompileOptions as c; c()"]
    around = {**os.environ, "XLA_FLAGS": flags}
    return not subprocess.run(command, env=around, capture_output=True, check=False).returncode


if "APART_USERS_XLA_FLAGS" not in os.environ:  # workers and commands inherit both
    os.environ["APART_USERS_XLA_FLAGS"] = FLAGS
    if not NIGHTLY:
        quick = f"{QUICK} {QUICK_IF_KNOWN}" if knows(QUICK_IF_KNOWN) else QUICK
        os.environ["XLA_FLAGS"] = f"{quick} {FLAGS}".strip()

settings.register_profile("apart", deadline=None, max_examples=60)
settings.load_profile("apart")


def pytest_configure(config):
    """The first process makes the cache; workers and commands inherit it."""
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        config.compiled = tempfile.mkdtemp(prefix="apart-compiled-")
        os.environ["JAX_COMPILATION_CACHE_DIR"] = config.compiled
        os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"


def pytest_unconfigure(config):
    """Who made it removes it."""
    if hasattr(config, "compiled"):
        shutil.rmtree(config.compiled, ignore_errors=True)


@pytest.fixture(scope="session", autouse=True)
def unplugged():
    """No disk is waited for in this process: nobody cuts its power, and a sync takes 4 ms."""
    with pytest.MonkeyPatch.context() as patch:
        if not NIGHTLY:
            patch.setattr(os, "fsync", os.fstat)  # as wrong with what is no open file
        yield


def as_users_run():
    """The environment of a process that compiles as it does for users, with threads of its own."""
    around = {k: v for k, v in os.environ.items() if k not in ("PJRT_NPROC", "XLA_FLAGS")}
    return {**around, "XLA_FLAGS": FLAGS} if FLAGS else around


def fitting(world, method, options):
    """``options`` without a batch where ``method`` draws none in ``world``, and would refuse it."""
    from apart._errors import UserError
    from apart.settings import resolve

    try:
        resolve(world, method, options)
    except UserError as error:
        if not str(error).startswith("--batch has no effect"):
            raise
        return {name: value for name, value in options.items() if name != "batch"}
    return options


def here(runs, watch, until):
    """An engine without processes: one run after the other."""
    import apart

    for folder, words in runs.items():
        steps = int(words[words.index("--steps") + 1]) if "--steps" in words else None
        apart.resume(folder, steps=steps, progress="none", warn=lambda line: None)
        watch(folder, None)
    return {}


@pytest.fixture
def in_this_process(monkeypatch):
    """Sets are trained here: for tests of what is made of them, not of their processes."""
    from apart.running import engines

    monkeypatch.setitem(engines.ENGINES, engines.LOCAL, here)


@pytest.fixture
def corridor(tmp_path):
    """A map file: three cells in a row, start on the left."""
    path = tmp_path / "corridor.txt"
    path.write_text("S..\n")
    return path
