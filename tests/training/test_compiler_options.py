"""How wide vectors training is compiled for: who says no, and that it reaches the program."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

from apart import _machine as machine
from apart.settings import resolve
from apart.training import program, vectors
from apart.training.learners import learner_of
from apart.training.state import hyper_of

NEW = "fma avx2 avx512f"


@pytest.fixture
def asked(monkeypatch):
    """Asks anew, on a processor of which the system tells so much."""

    def ask(flags, xla_flags="", option=vectors._OPTION):
        monkeypatch.setattr(machine, "flags", lambda: flags)
        monkeypatch.setenv("XLA_FLAGS", xla_flags)
        monkeypatch.setattr(vectors, "_OPTION", option)
        return vectors.compiler_options.__wrapped__()

    return ask


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="of processors")
def test_processors_with_them_get_whole_vectors(asked):
    assert asked(NEW) == {"xla_cpu_prefer_vector_width": "512"}


@pytest.mark.parametrize("flags", ["", "fma avx2"])
def test_others_get_what_xla_takes(asked, flags):
    assert asked(flags) == {}


def test_the_users_own_flag_stands(asked):
    assert asked(NEW, "--xla_cpu_prefer_vector_width=128") == {}


def test_an_xla_that_does_not_know_the_option_is_not_asked_for_it(asked):
    assert asked(NEW, option="xla_cpu_no_such_option") == {}


def test_the_loop_is_compiled_with_them(monkeypatch):
    """XLA refuses what it does not know: so they came to it."""
    monkeypatch.setattr(program, "compiler_options", lambda: {"xla_cpu_no_such_option": "1"})
    config, world = resolve("ring", "diayn", {"skills": 3, "horizon": 7})
    run, hyper = program.compiled(world, config, learner_of(world, config)), hyper_of(config)
    state = run.init(jnp.uint32(0), hyper)
    with pytest.raises(jax.errors.JaxRuntimeError, match="xla_cpu_no_such_option"):
        run.chunk(state, hyper, jnp.int32(1))
