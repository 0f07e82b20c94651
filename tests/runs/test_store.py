"""Run folders and checkpoints: what is written comes back, and nothing else is touched."""

from __future__ import annotations

import os

import numpy as np
import pytest

import apart
from apart._errors import UserError
from apart.running import records
from apart.running import run as host
from apart.runs import checkpoint, claims, files

SMALL = {"steps": 400, "skills": 4, "horizon": 4, "batch": 16, "buffer": 100, "evaluate_every": 100}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    world = apart.parse_map("S.\n..", "square")
    return apart.train(world, method="apart", out=tmp_path_factory.mktemp("run") / "r", **SMALL)


def test_the_folder_has_what_the_contract_names(run):
    names = {path.name for path in run.path.iterdir()}
    assert names == {
        "config.json",
        "metrics.csv",
        "summary.json",
        "skills.json",
        "checkpoints",
        "details.jsonl",
        "history.jsonl",
        ".lock",
    }
    assert set(run.summary) >= {
        "world",
        "method",
        "seed",
        "n_effective",
        "n_available",
        "first_full_at",
        "env_steps",
        "updates",
        "wall_seconds",
        "env_steps_per_second",
        "compile_seconds",
        "peak_rss_mb",
        "version",
    }
    assert run.summary["env_steps"] == 400
    assert run.summary["updates"] == 100
    assert run.n_available == 4


def test_metrics_have_a_row_per_evaluation(run):
    assert [row["env_steps"] for row in run.metrics] == [0, 100, 200, 300, 400]
    assert [row["updates"] for row in run.metrics] == [0, 25, 50, 75, 100]
    assert run.metrics[-1]["n_effective"] == run.n_effective
    for column in ("n_available", "wall_seconds", "mean_reward", "discriminator_accuracy"):
        assert column in run.metrics[0]


def test_the_history_says_where_skills_ended(run):
    assert [moment["env_steps"] for moment in run.history] == [0, 100, 200, 300, 400]
    for moment, row in zip(run.history, run.metrics, strict=True):
        assert len(set(moment["last_states"])) == row["n_effective"]
    last = run.world.places.label(np.array(run.history[-1]["last_states"]))
    assert [tuple(cell) for cell in last] == [skill.last_state for skill in run.skills]


def test_the_history_is_a_function_of_the_evaluations_number():
    """Every one to 16, then eight for each doubling: a longer run keeps the same ones."""
    kept = [n for n in range(4001) if records.has_history(n)]
    assert kept[:20] == [*range(17), 18, 20, 22]
    assert sum(n <= 200 for n in kept) == 45
    assert len(kept) == 80


def test_skills_walk_legal_steps_from_the_start(run):
    assert len(run.skills) == 4
    for skill in run.skills:
        assert len(skill.trajectory) == 5
        assert skill.trajectory[0] == (0, 0)
        assert skill.trajectory[-1] == skill.last_state
        assert 0 <= skill.probability <= 1
        for (r, c), (r2, c2) in zip(skill.trajectory, skill.trajectory[1:], strict=False):
            assert abs(r - r2) + abs(c - c2) <= 1
    assert len({skill.last_state for skill in run.skills}) == run.n_effective


def test_load_returns_the_same_run(run):
    again = apart.load(run.path)
    assert again.summary == run.summary
    assert again.skills == run.skills


def test_a_finished_run_is_not_overwritten_unless_asked(run):
    before = (run.path / "summary.json").read_bytes()
    world = apart.parse_map("S.\n..", "square")
    with pytest.raises(UserError, match="finished run"):
        apart.train(world, out=run.path, **SMALL)
    assert (run.path / "summary.json").read_bytes() == before


def test_overwriting_leaves_foreign_files_alone(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "notes.txt").write_text("mine")
    claims.claim(tmp_path, overwrite=True).close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "notes.txt"]


def test_folders_that_are_not_ours_are_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(UserError, match="holds no run"):
        claims.claim(tmp_path, overwrite=True)
    with pytest.raises(UserError, match="is a file"):
        claims.claim(tmp_path / "thesis.tex", overwrite=True)


def test_load_says_what_is_missing(tmp_path):
    with pytest.raises(UserError, match="no such run folder"):
        apart.load(tmp_path / "nowhere")
    with pytest.raises(UserError, match="no run here"):
        apart.load(tmp_path)


def test_checkpoints_come_back_and_notice_damage(tmp_path):
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": np.array(3, np.int32)}
    assert checkpoint.load(tmp_path, arrays, "x") is None
    manifest_path = checkpoint.save(tmp_path, 7, arrays, {"config_sha256": "x"})
    saved = checkpoint.load(tmp_path, arrays, "x")
    assert saved.iteration == 7
    for name, value in arrays.items():
        np.testing.assert_array_equal(saved.arrays[name], value)
        assert saved.arrays[name].dtype == value.dtype
        assert saved.arrays[name].shape == value.shape
    with pytest.raises(UserError, match="another configuration"):
        checkpoint.load(tmp_path, arrays, "y")
    with pytest.raises(UserError, match="array b is missing or"):
        checkpoint.load(tmp_path, {"b": np.zeros(3, np.int32)}, "x")
    data = manifest_path.with_suffix(".safetensors")
    damaged = bytearray(data.read_bytes())
    damaged[-1] ^= 1
    data.write_bytes(damaged)
    with pytest.raises(UserError, match="checksums"):
        checkpoint.load(tmp_path, arrays, "x")
    data.write_bytes(b"")
    with pytest.raises(UserError, match="not a readable checkpoint"):
        checkpoint.load(tmp_path, arrays, "x")


def test_the_last_two_checkpoints_are_kept(tmp_path):
    arrays = {"a": np.zeros(3)}
    for iteration in (1, 5, 30, 200):
        checkpoint.save(tmp_path, iteration, arrays, {})
    names = sorted(path.name for path in tmp_path.iterdir())
    assert [name for name in names if name.endswith(".json")] == [
        "iteration-000000000030.json",
        "iteration-000000000200.json",
    ]
    assert len(names) == 4


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "x.json"
    files.write_json(path, {"old": 1})

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(UserError, match="No space left"):
        files.write_json(path, {"new": 2})
    assert files.read_json(path) == {"old": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["x.json"]


def test_two_processes_may_write_one_file(tmp_path, monkeypatch):
    """The other one begins and ends while the first is about to rename what it wrote."""
    path, replace = tmp_path / "x.json", os.replace

    def late(source, target):
        with monkeypatch.context() as other:
            other.setattr(os, "replace", replace)
            other.setattr(os, "getpid", lambda: 7)
            files.write_json(path, {"by": "the other"})
        replace(source, target)

    monkeypatch.setattr(os, "replace", late)
    files.write_json(path, {"by": "the first"})
    assert files.read_json(path) == {"by": "the first"}
    assert [p.name for p in tmp_path.iterdir()] == ["x.json"]


@pytest.mark.parametrize("number", ["", ".31415"])
def test_what_a_killed_writer_left_is_in_nobodys_way(number, tmp_path):
    """With the number of its process, or as earlier versions named it."""
    (tmp_path / f".config.json{number}.tmp").write_text("{")
    claims.claim(tmp_path, overwrite=False).close()  # nothing was begun there
    (tmp_path / "config.json").write_text("{}")
    for name in ("summary.json", "skills.png", "notes.txt"):
        (tmp_path / f".{name}{number}.tmp").write_text("")
    claims.claim(tmp_path, overwrite=True).close()
    assert {p.name for p in tmp_path.iterdir()} == {".lock", f".notes.txt{number}.tmp"}


def test_non_finite_training_stops_with_its_own_error(tmp_path, monkeypatch):
    # Adam's steps are bounded, so no option gets there soon: poison the rate instead.
    real = host.hyper_of
    poisoned = lambda config: real(config)._replace(learning_rate=np.float32("nan"))  # noqa: E731
    monkeypatch.setattr("apart.running.run.hyper_of", poisoned)
    world = apart.parse_map("S.\n..", "square")
    with pytest.raises(apart.NonFinite, match="non-finite before step"):
        apart.train(world, out=tmp_path / "r", **SMALL)
    assert not (tmp_path / "r" / "summary.json").exists()
