"""Compiled programs are kept where only the user can write, and only if the user likes."""

from __future__ import annotations

import os
import subprocess
import sys

import jax
import pytest

from apart.running import cache

CODE = """
import sys, jax
from apart.running import cache
cache.use()
print(jax.config.jax_compilation_cache_dir)
"""


def of_a_process(home, **around):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("JAX_COMPILATION")}
    environment |= {"HOME": str(home), "XDG_CACHE_HOME": "", **around}
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def used(monkeypatch):
    """The folder that is used with a home and variables, found in this process."""
    names = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")
    before = {name: getattr(jax.config, name) for name in names}

    def with_home(home, **around):
        jax.config.update("jax_compilation_cache_dir", None)
        with monkeypatch.context() as patch:
            for name, value in {"HOME": str(home), "XDG_CACHE_HOME": "", **around}.items():
                patch.setenv(name, value)
            cache.use()
        return str(jax.config.jax_compilation_cache_dir)

    yield with_home
    for name, value in before.items():
        jax.config.update(name, value)


def test_programs_are_kept_in_a_folder_of_the_user_alone(tmp_path, used):
    found = of_a_process(tmp_path)
    assert found == used(tmp_path)
    assert found.startswith(str(tmp_path / ".cache" / "apart" / "jaxlib-"))
    assert os.stat(found).st_mode & 0o077 == 0
    assert used(tmp_path, XDG_CACHE_HOME=str(tmp_path / "x")).startswith(str(tmp_path / "x"))
    assert used(tmp_path, APART_CACHE="off") == "None"
    own = str(tmp_path / "own")
    assert of_a_process(tmp_path, JAX_COMPILATION_CACHE_DIR=own) == own


def test_programs_for_other_numbers_of_threads_are_others(tmp_path, used):
    assert used(tmp_path, PJRT_NPROC="1") != used(tmp_path, PJRT_NPROC="2")


def test_a_folder_that_others_can_write_to_is_not_used(tmp_path, used):
    os.chmod(used(tmp_path), 0o777)
    assert used(tmp_path) == "None"


@pytest.mark.parametrize("word", ["off", "0", "No"])
def test_there_are_several_words_for_no(word, monkeypatch):
    monkeypatch.setenv(cache.VARIABLE, word)
    assert cache.folder() is None


def test_a_home_that_cannot_be_written_to_is_no_error(tmp_path, used):
    (tmp_path / ".cache").write_text("a file")
    assert used(tmp_path) == "None"
