"""The Python door: the same folders as the command line, errors in Python's words."""

from __future__ import annotations

import subprocess
import sys

import pytest

import apart
from apart._errors import UserError
from apart.cli import main

TINY = {"steps": 200, "skills": 3, "horizon": 4, "batch": 8, "buffer": 40, "evaluate_every": 100}
WORLD = apart.parse_map("S..", "corridor")


def test_one_folder_rule_for_both_doors(corridor, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = apart.train(str(corridor), **TINY)
    assert str(run.path) == "runs/corridor-apart"
    words = [f"--{name.replace('_', '-')}={value}" for name, value in TINY.items()]
    assert main(["train", str(corridor), *words, "--no-draw"]) == 2  # the same folder
    assert main(["train", str(corridor), *words, "--no-draw", "--overwrite"]) == 0
    assert apart.load("runs/corridor-apart").n_available == 3


def test_a_second_run_in_a_notebook_has_a_clear_choice(tmp_path):
    out = tmp_path / "run"
    apart.train(WORLD, out=out, **TINY)
    with pytest.raises(
        UserError, match=r"choose another out= \(such as .*-2\) or pass overwrite=True"
    ):
        apart.train(WORLD, out=out, **TINY)
    assert apart.train(WORLD, out=out, overwrite=True, **TINY).path == out
    assert apart.train(WORLD, out=tmp_path / "other", **TINY).path == tmp_path / "other"


def test_a_set_of_seeds_is_trained_loaded_and_resumed_by_the_same_names(tmp_path):
    out = tmp_path / "set"
    trained = apart.train(WORLD, seeds=2, seed=3, out=out, **TINY)
    assert [run.summary["seed"] for run in trained.runs] == [3, 4]
    assert [run.path for run in apart.load(out).runs] == [out / "seed-3", out / "seed-4"]
    skills = trained.runs[1].skills
    longer = apart.resume(out, steps=400)
    assert [run.summary["env_steps"] for run in longer.runs] == [400, 400]
    assert "of 3 skills" in repr(longer)
    assert len(repr(longer.runs[0])) < 200
    single = apart.train(WORLD, seed=4, out=tmp_path / "one", **TINY)
    assert single.skills == skills


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"learning_rate": -1}, "learning_rate=: -1 is outside 0"),
        ({"seeds": 0}, "seeds=: 0 is outside 1"),
        ({"seeds": 1.5}, "seeds=: 1.5 is not a whole number"),
        ({"slip": 0.1}, "slip=: corridor is given as it is"),
        ({"skils": 3}, "unknown option 'skils'; did you mean 'skills'"),
        ({"hidden": (3,)}, "option 'hidden' is gone; now: network= mlp:256,256"),
        ({"method": "aprt"}, "did you mean 'apart'"),
    ],
)
def test_errors_name_arguments_and_nothing_is_written(arguments, message, tmp_path):
    with pytest.raises(UserError) as error:
        apart.train(WORLD, out=tmp_path / "run", **{**TINY, **arguments})
    assert message in str(error.value)
    assert not (tmp_path / "run").exists()


def test_public_names_stay_what_they_are():
    """A name that is also a module would turn into it after its first import."""
    code = """
import apart
for name in apart.__all__:
    first = getattr(apart, name)
    assert getattr(apart, name) is first, name
apart.load, apart.train
assert "four_rooms" in apart.WORLDS and "diayn" in apart.METHODS
assert sorted(apart.METHODS) == sorted(apart.METHODS)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
