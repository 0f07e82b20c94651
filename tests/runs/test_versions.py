"""Runs outlive versions: folders of 0.1 load, report and resume; new options orphan none."""

from __future__ import annotations

import dataclasses
import json
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest
from torture import ending

import apart
from apart import _config
from apart._config import Config, OptionSpec
from apart._errors import RunInterrupted, UserError
from apart.cli import main
from apart.report.figures import skills_picture, terminal_map
from apart.running import run as host
from apart.runs import files, plan
from apart.runs import folder as run_folder

OLD = Path(__file__).parents[1] / "fixtures" / "runs-0.1"
CASES = sorted(path.name for path in (OLD / "finished").iterdir())


@pytest.fixture
def old(tmp_path):
    shutil.copytree(OLD, tmp_path / "old")
    return tmp_path / "old"


@pytest.mark.parametrize("case", CASES)
def test_a_finished_run_of_0_1_loads_and_reports(case, old):
    run = apart.load(old / "finished" / case)
    run.check()
    assert run.history == []
    assert run.config["skills"] == 4
    assert len(run.skills) == 4
    assert run.n_available == 8
    assert run.spread is None  # it was not measured then
    assert len({skill.last_state for skill in run.skills}) == run.n_effective
    assert run.world.n_states == 8
    assert skills_picture(run).exists()
    assert terminal_map(run).count("██") == 1


@pytest.mark.parametrize("case", CASES)
def test_a_stopped_run_of_0_1_goes_on(case, old):
    """It ends where the run of 0.1 that was never stopped did, as far as floats allow."""
    said = []
    done = apart.resume(old / "stopped" / case, warn=said.append)
    assert any("apart 0.1.0" in line for line in said)
    assert done.history[-1]["env_steps"] == done.summary["env_steps"]
    finished = apart.load(old / "finished" / case)
    assert done.config == finished.config
    assert done.summary["env_steps"] == finished.summary["env_steps"]
    for name in ("mean_reward", "discriminator_accuracy"):
        found, expected = ([row[name] for row in run.metrics] for run in (done, finished))
        np.testing.assert_allclose(found, expected, atol=0.05)


def test_a_finished_run_of_0_1_trains_longer(old):
    done = apart.resume(old / "finished" / "apart", steps=900, warn=lambda line: None)
    assert done.summary["env_steps"] == 900
    assert apart.resume(old / "finished" / "apart").summary["env_steps"] == 900


def test_a_set_of_0_1_goes_on(old, capsys, in_this_process):
    assert main(["resume", str(old / "set"), "--no-draw"]) == 0
    assert "mean of 2 seeds" in capsys.readouterr().out
    assert [run.summary["seed"] for run in apart.load(old / "set").runs] == [0, 1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"evaluation_epsilon": 0.2}, "made with evaluation_epsilon 0.2"),
        ({"reward_state": "current", "discriminator_states": "last"}, "made with reward_state"),
    ],
)
def test_what_cannot_be_done_any_more_is_said_in_one_line(change, message, old, capsys):
    path = old / "stopped" / "tuned_vic" / run_folder.CONFIG
    stored = files.read_sealed(path)
    config = {**stored["config"], **change}
    from apart.runs import versions

    sha256 = versions._identity(config, stored["map"])
    files.write_sealed(path, {**stored, "config": config, "config_sha256": sha256})
    assert main(["resume", str(path.parent)]) == 2
    assert message in capsys.readouterr().err


def test_damage_and_later_versions_are_said(old):
    path = old / "stopped" / "apart" / run_folder.CONFIG
    stored = files.read_sealed(path)
    files.write_sealed(path, {**stored, "config": {**stored["config"], "skills": 5}})
    with pytest.raises(UserError, match="config_sha256 does not match"):
        apart.resume(path.parent)
    files.write_sealed(path, {**stored, "format": 99})
    with pytest.raises(UserError, match="written by a later version of apart"):
        apart.resume(path.parent)


WORLD = apart.parse_map("S..\n.#.\n...", "ring")
OPTIONS = {"steps": 600, "skills": 4, "horizon": 6, "batch": 16, "evaluate_every": 96}
OPTIONS |= {"buffer": 120, "method": "diayn"}


def test_a_new_option_orphans_nothing(tmp_path, monkeypatch):
    """As if the next version had one more: a run of this one goes on to the same bits."""
    whole = apart.train(WORLD, out=tmp_path / "whole", **OPTIONS)
    monkeypatch.setattr(host, "_SLICE_SECONDS", 0.0)
    slices = []

    def listen(progress):
        slices.append(progress)
        if len(slices) == 20:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(RunInterrupted):
        apart.train(WORLD, out=tmp_path / "run", listener=listen, **OPTIONS)
    spec = OptionSpec("something new", "learning")
    field = dataclasses.field(default=3, metadata={"spec": spec})
    later = dataclasses.make_dataclass(
        "Later", [("novelty", int, field)], bases=(Config,), frozen=True
    )
    monkeypatch.setitem(_config.SPECS, "novelty", spec)
    monkeypatch.setitem(_config.TYPES, "novelty", int)
    monkeypatch.setattr(plan, "Config", later)
    resumed = apart.resume(tmp_path / "run")
    assert plan.read(tmp_path / "run", None).config.novelty == 3
    assert ending(resumed.path) == ending(whole.path)
    assert resumed.sha256 == whole.sha256


def test_a_run_says_its_format(tmp_path):
    run = apart.train(WORLD, out=tmp_path / "run", **OPTIONS)
    stored = json.loads((run.path / run_folder.CONFIG).read_text())
    assert stored["format"] == 3
    assert stored["world"] == {"kind": "grid", "name": "ring", "map": ["S..", ".#.", "..."]}


def test_a_method_of_ones_own_has_to_be_registered_before(tmp_path, capsys):
    world = apart.parse_map("S..", "corridor")
    plan.write(tmp_path, Config(method="mine_alone", horizon=4), world)
    assert main(["resume", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "unknown method 'mine_alone': not registered in this process" in said
    assert "docs/guide/methods.md" in said
