"""Sets of seeds: whole, however they were stopped."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from torture import endings

import apart
from apart._errors import RunInterrupted, UserError
from apart.cli import main
from apart.running import engines
from apart.running.queue import Failure
from apart.runs import claims, files
from apart.runs import folder as run_folder
from apart.runs import plan as setup
from apart.runs.lock import Lock

OPTIONS = {"steps": 150, "skills": 4, "horizon": 6, "batch": 16, "evaluate_every": 36}
OPTIONS |= {"buffer": 60, "method": "diayn"}


@pytest.fixture(scope="module")
def map_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("maps") / "ring.txt"
    path.write_text("S..\n.#.\n...\n")
    return str(path)


@pytest.fixture(scope="module")
def whole(map_file, tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "set"
    apart.train(map_file, seeds=2, seed=4, out=path, **OPTIONS)
    return path


@pytest.fixture
def begun(map_file, tmp_path, monkeypatch):
    """A set of two seeds that was killed before anything but set.json was written."""
    path = tmp_path / "set"

    def dies(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(setup, "read_set", dies)
        with pytest.raises(KeyboardInterrupt):
            apart.train(map_file, seeds=2, seed=4, out=path, **OPTIONS)
    assert sorted(p.name for p in path.iterdir()) == [".lock", run_folder.SET]
    return path


@pytest.fixture
def done(whole, tmp_path):
    """A copy of a finished set, to be changed."""
    return shutil.copytree(whole, tmp_path / "done")


def test_a_set_that_was_hardly_begun_is_resumed_whole(begun, whole, capsys):
    assert main(["resume", str(begun), "--progress", "none", "--no-draw"]) == 0
    assert "mean of 2 seeds" in capsys.readouterr().out
    assert [p.name for p in run_folder.seed_folders(begun)] == ["seed-4", "seed-5"]
    assert endings(begun) == endings(whole)


def test_a_set_without_its_summary_gets_one(done, capsys):
    (done / run_folder.SUMMARY).unlink()
    assert main(["train", "empty", "--out", str(done)]) == 2
    assert "unfinished" in capsys.readouterr().err
    assert main(["resume", str(done), "--progress", "none", "--no-draw"]) == 0
    assert files.read_sealed(done / run_folder.SUMMARY)["runs"]
    assert main(["resume", str(done)]) == 0
    assert "already finished" in capsys.readouterr().out


def test_a_seed_that_lost_its_skills_gets_them_again(done, capsys):
    file = done / "seed-4" / run_folder.SKILLS
    before = file.read_bytes()
    file.unlink()
    assert main(["resume", str(done), "--progress", "none", "--no-draw"]) == 0
    assert file.read_bytes() == before
    assert f"{file}: was missing" in capsys.readouterr().err


def test_a_longer_set_stays_longer_when_it_is_stopped_halfway(done, map_file, tmp_path):
    def stops(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        apart.resume(done, steps=300, listener=stops)
    runs = apart.resume(done).runs
    assert [run.summary["env_steps"] for run in runs] == [300, 300]
    long = tmp_path / "long"  # in this process
    for seed in (4, 5):
        options = {**OPTIONS, "steps": 300, "seed": seed}
        apart.train(map_file, out=long / f"seed-{seed}", **options)
    assert endings(done) == endings(long)


def test_a_set_is_overwritten_only_when_nobody_has_any_of_it(done, map_file):
    before = endings(done)
    with Lock(done / "seed-5"), pytest.raises(UserError, match="seed-5 is in use by process"):
        apart.train(map_file, seeds=2, seed=4, out=done, overwrite=True, **OPTIONS)
    assert endings(done) == before
    for seed in (4, 5):  # what is written anew is there again
        (done / f"seed-{seed}" / run_folder.SKILLS).unlink()
    apart.train(map_file, seeds=2, seed=4, out=done, overwrite=True, **OPTIONS)
    assert endings(done) == before


def test_a_linked_or_foreign_seed_is_refused(begun, whole, tmp_path):
    (begun / "seed-4").symlink_to(tmp_path)
    with pytest.raises(UserError, match=r"seed-4: a link"):
        apart.resume(begun)
    (begun / "seed-4").unlink()
    (begun / "seed-4").mkdir()
    (begun / "seed-4" / run_folder.CONFIG).write_bytes(
        (whole / "seed-5" / run_folder.CONFIG).read_bytes()
    )
    with pytest.raises(UserError, match=r"seed-4/config\.json: differs from"):
        apart.resume(begun)


def test_a_missing_device_is_said_before_anything_is_written(map_file, tmp_path, capsys):
    words = ["train", map_file, "--seeds", "2", "--device", "tpu", "--out", str(tmp_path / "set")]
    assert main(words) == 2
    assert "JAX sees no such device here" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_missing_engine_is_said_before_anything_is_written(done, map_file, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ray", None)
    before, new = endings(done), done.parent / "new"
    for out in (new, done):
        words = ["train", map_file, "--seeds", "2", "--engine", "ray", "--out", str(out)]
        assert main([*words, "--overwrite"]) == 2
        assert "needs Ray" in capsys.readouterr().err
    assert not new.exists()
    assert endings(done) == before


def test_a_set_that_fails_before_its_first_round_leaves_nothing(map_file, tmp_path, monkeypatch):
    def fails(runs, *_):
        return {run: Failure(2, "apart: no such thing") for run in runs}

    with monkeypatch.context() as patch:
        patch.setitem(engines.ENGINES, engines.LOCAL, fails)
        with pytest.raises(UserError, match="2 of 2 runs failed: seed-4: no such thing"):
            apart.train(map_file, seeds=2, seed=4, out=tmp_path / "set", **OPTIONS)
    assert not (tmp_path / "set").exists()


def test_a_set_that_is_stopped_before_its_first_round_can_go_on(map_file, tmp_path, monkeypatch):
    def stopped(runs, *_):
        if runs:
            raise RunInterrupted("stopped", 15)

    path = tmp_path / "set"
    with monkeypatch.context() as patch:
        patch.setitem(engines.ENGINES, engines.LOCAL, stopped)
        with pytest.raises(RunInterrupted, match="continue with 'apart resume"):
            apart.train(map_file, seeds=2, seed=4, out=path, **OPTIONS)
    assert [p.name for p in run_folder.seed_folders(path)] == ["seed-4", "seed-5"]


def test_what_a_seed_notes_is_passed_on_and_its_exit_code_too(done, capsys):
    state = sorted((done / "seed-4" / run_folder.CHECKPOINTS).glob("*.safetensors"))[-1]
    (done / "seed-4" / run_folder.SUMMARY).unlink()
    state.with_name("iteration-999999999999.json").write_text("{}")
    apart.resume(done)
    assert "apart: note: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("available", "skills"),
    [(85, "3, 4 of 4 possible skills"), (4, "3, 4 of 4 skills"), (None, "3, 4 skills")],
)
def test_a_set_shows_what_was_found_as_a_run_does(available, skills):
    def run(n):
        summary = {"n_effective": n, "n_available": available}
        return apart.Run(Path("set/seed-0"), {"skills": 4}, {}, summary, "")

    assert repr(apart.RunSet(Path("set"), [run(3), run(4)])) == f"<apart.RunSet set: {skills}>"


def test_folders_named_like_seeds_but_foreign_are_left_alone(tmp_path):
    (tmp_path / "seed-1").mkdir()
    (tmp_path / "seed-1" / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match="holds no run"):
        claims.claim(Path(tmp_path), overwrite=True)
    assert (tmp_path / "seed-1" / "notes.txt").read_text() == "mine"
