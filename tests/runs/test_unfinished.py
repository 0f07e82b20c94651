"""Unfinished runs can be read, drawn and reported, also while another process trains them."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal

import pytest
import twins
from mutate import Mutator

import apart
from apart._errors import RunInterrupted, UserError
from apart.cli import main
from apart.running import loading, snapshot
from apart.running import run as host
from apart.running.study import Task
from apart.runs import checkpoint
from apart.runs import folder as run_folder
from apart.runs.lock import Lock
from apart.worlds.grid import parse

MAP = "S..\n.#.\n...\n"
WORLD = parse(MAP, "ring")
SMALL = {"steps": 1200, "skills": 5, "horizon": 6, "batch": 16, "buffer": 200}
SMALL |= {"evaluate_every": 96}
SQUARE = parse("S.\n..", "square")
SAMPLED = {**SMALL, "steps": 300, "network": "mlp:8", "method": "diayn"}
CASES = {
    "table": (WORLD, {**SMALL, "method": "apart"}),
    "chance": (parse(MAP, "slippery", slip=0.2), {**SMALL, "method": "diayn"}),
    "task": (parse("S.\n.9", "task"), {"method": "smerl", "steps": 600, "skills": 4}),
    "jax": (twins.jax_grid(SQUARE), SAMPLED),
    "host": (twins.host_grid(SQUARE), SAMPLED),
}


@pytest.fixture(autouse=True)
def known_kinds():
    twins.register()


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """The folder of a run that was stopped after 42 of 1,200 steps, before its second row."""
    folder = tmp_path_factory.mktemp("stopped") / "run"

    def stop(progress):
        if progress.env_steps == 42:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host, "_SLICE_SECONDS", 0.0)  # one round a slice
        with pytest.raises(RunInterrupted):
            apart.train(WORLD, method="apart", out=folder, listener=stop, **SMALL)
    assert not (folder / run_folder.SUMMARY).exists()
    return folder


@pytest.fixture
def begun(stopped, tmp_path):
    """A copy of it, to be changed."""
    return shutil.copytree(stopped, tmp_path / "begun")


def content(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("case", CASES)
def test_the_last_checkpoint_evaluated_is_the_finished_run(case, tmp_path):
    """A run that was killed just before it wrote its result shows the same result."""
    world, options = CASES[case]
    whole = apart.train(world, out=tmp_path / "run", **options)
    skills, summary = list(whole.skills), whole.summary
    for name in (run_folder.SUMMARY, run_folder.SKILLS):
        (tmp_path / "run" / name).unlink()
    again = apart.load(tmp_path / "run")
    assert not again.finished
    assert list(again.skills) == skills
    shown = again.snapshot.summary
    for name in ("n_effective", "n_available", "n_random_walk", "spread", "evidence", "env_steps"):
        assert shown[name] == summary[name], name
    assert shown.get("task") == summary["task"]
    assert str(again.metrics) == str(whole.metrics)  # some are not numbers
    assert again.summary["env_steps"] == whole.metrics[-1]["env_steps"]
    assert again.summary["first_full_at"] == summary["first_full_at"]


def test_it_loads_with_what_is_known_so_far(stopped):
    before = content(stopped)
    run = apart.load(stopped)
    assert not run.finished
    assert run.summary["env_steps"] == run.metrics[-1]["env_steps"] == 0
    assert run.summary["n_effective"] == run.metrics[-1]["n_effective"]
    assert run.summary["updates"] == 0
    assert run.n_available == 8
    assert "unfinished: 0 of 1,200 steps" in repr(run)
    assert run.snapshot.summary["env_steps"] == 42
    assert run.snapshot.skills == run.skills
    assert len(run.skills) == 5
    assert all(skill.trajectory[0] == (0, 0) for skill in run.skills)
    # Policies are those of the checkpoint that was evaluated.
    assert [run.skills.rollout(z) for z in range(5)] == [s.trajectory for s in run.skills]
    assert content(stopped) == before


def test_a_run_that_another_process_trains_can_be_read(begun, monkeypatch):
    with Lock(begun):
        run = apart.load(begun)
        # Meanwhile the other one goes on: it writes half a row, and removes old checkpoints.
        with (begun / run_folder.METRICS).open("ab") as file:
            file.write(b"96,16,3")
        newest = checkpoint.manifests(begun / run_folder.CHECKPOINTS)[-1]
        really = snapshot.last_state

        def read(folder, planned):
            newer = newest.with_name("iteration-000000000999.json")
            if not newer.exists():
                newer.write_text("{}")
                raise UserError("cannot be read")
            newer.unlink()
            return really(folder, planned)

        monkeypatch.setattr(snapshot, "last_state", read)
        skills = run.skills
        assert len(skills) == 5
        shutil.rmtree(begun / run_folder.CHECKPOINTS)
        assert skills.rollout(2) == skills[2].trajectory
        assert len(run.metrics) == 1
        again = apart.load(begun)
        assert len(again.metrics) == 1  # without the half row


def test_every_command_shows_it_and_says_so(begun, tmp_path, capsys):
    said = "unfinished: 42 of 1,200 steps"
    for words in (
        ["draw"],
        ["play", "--skill", "1"],
        ["play", "--skill", "1", "--gif", str(tmp_path / "walk.gif")],
        ["reach", "--goal", "0,0"],
        ["report"],
        ["export", "--out", str(tmp_path / "out")],
    ):
        assert main([words[0], str(begun), *words[1:]]) == 0, words
        assert said in capsys.readouterr().out, words
    page = (begun / run_folder.REPORT).read_text()
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL).group(1))
    assert data["runs"][0]["progress"] == said
    assert data["runs"][0]["policy"] is not None
    assert said in (tmp_path / "out" / "README.md").read_text()
    assert (begun / run_folder.PICTURE).exists()
    done = apart.resume(begun)  # pages and pictures do not stand in the way
    assert done.finished
    assert done.progress == ""


def test_python_draws_and_exports_it(begun, tmp_path):
    run = apart.load(begun)
    assert apart.draw(run) == [begun / run_folder.PICTURE]
    assert apart.write_page(run, out=tmp_path / "page.html").exists()
    assert (apart.export(run, tmp_path / "out") / "model.safetensors").exists()


def test_before_the_first_checkpoint_a_line_says_how_to_go_on(begun, capsys):
    shutil.rmtree(begun / run_folder.CHECKPOINTS)
    for command in ("draw", "report"):
        assert main([command, str(begun)]) == 2
        error = capsys.readouterr().err
        assert f"'apart resume {begun}'" in error
        assert error.count("\n") == 1
    run = apart.load(begun)  # its curves are there
    assert len(run.metrics) == 1
    with pytest.raises(UserError, match="apart resume"):
        _ = run.skills
    (begun / run_folder.METRICS).unlink()
    with pytest.raises(UserError, match="apart resume"):
        apart.load(begun)


def test_a_set_shows_the_seeds_that_there_are(stopped, tmp_path, capsys):
    folder = tmp_path / "set"
    apart.train(WORLD, method="apart", out=folder / "seed-0", **SMALL)
    for name in ("seed-1", "seed-2"):
        shutil.copytree(stopped, folder / name)
    shutil.rmtree(folder / "seed-2" / run_folder.CHECKPOINTS)
    runs = apart.load(folder)
    assert [run.finished for run in runs.runs] == [True, False, False]
    assert not runs.finished
    assert "unfinished: 1 of 3 seeds done" in repr(runs)
    assert main(["draw", str(folder)]) == 0
    said = capsys.readouterr().out
    assert f"{folder}: unfinished: 1 of 3 seeds done" in said
    assert f"{folder / 'seed-1'}: unfinished: 42 of 1,200 steps" in said
    assert [path.parent.name for path in folder.glob("*/skills.png")] == ["seed-0", "seed-1"]
    shutil.rmtree(folder / "seed-0")
    shutil.rmtree(folder / "seed-1")
    assert main(["draw", str(folder)]) == 2
    assert f"'apart resume {folder}'" in capsys.readouterr().err


def test_what_trains_many_runs_still_finishes_them(stopped):
    """Only a summary makes a run finished: of a comparison, a sweep, an experiment."""
    run = apart.load(stopped)
    assert not Task(stopped, "", None, None).done
    with pytest.raises(UserError, match="no finished run"):
        run_folder.load(stopped)
    assert loading.shown_run(stopped).skills == run.skills


def test_damage_is_noticed_all_the_same(begun):
    for path in (begun / run_folder.CHECKPOINTS).glob("*.safetensors"):
        path.write_bytes(path.read_bytes()[:-4] + b"\1\2\3\4")
    with pytest.raises(UserError, match="no usable checkpoint"):
        _ = apart.load(begun).skills
    (begun / run_folder.METRICS).write_text("env_steps,updates\nx,y\n")
    with pytest.raises(UserError, match=r"metrics\.csv: not written by this version"):
        apart.load(begun)


def test_random_damage_is_an_error_or_harmless(stopped, tmp_path):
    seen = {"read": 0, "refused": 0}
    for number in range(150):
        folder = shutil.copytree(stopped, tmp_path / str(number))
        Mutator(random.Random(f"unfinished {number}"), stopped).mutate(folder)
        try:
            run = run_folder.read(folder)
            _ = run.metrics, run.details, run.history, repr(run)
        except UserError as error:
            assert "\n" not in str(error)
            seen["refused"] += 1
        else:
            seen["read"] += 1
        shutil.rmtree(folder)
    assert min(seen.values()) > 10


def test_the_count_of_a_snapshot_is_that_of_its_skills(stopped):
    run = apart.load(stopped).snapshot
    assert run.n_effective == len({skill.last_state for skill in run.skills})
    assert run.summary["updates"] == 7
