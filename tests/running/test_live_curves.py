"""The script of the guide that sends a run's curves to a logger while it is trained."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path
from types import ModuleType

import apart

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "sweeps.md"


def test_rows_are_sent_once_each_while_they_are_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = {"steps": 400, "skills": 3, "horizon": 4, "batch": 8, "evaluate_every": 100}
    run = apart.train(apart.parse_map("S..", "corridor"), out="runs/demo", **options)
    metrics, summary = run.path / "metrics.csv", run.path / "summary.json"
    head, *rows = metrics.read_bytes().splitlines(keepends=True)
    ended = summary.read_bytes()
    summary.unlink()
    metrics.write_bytes(head + rows[0])  # as it is after the first evaluation
    sent, paused = [], []

    class Writer:
        def __init__(self, folder):
            assert not (tmp_path / folder).is_relative_to(run.path.resolve())

        def add_scalar(self, name, value, step):
            sent.append((name, value, step))

    def later(seconds):
        paused.append(seconds)
        metrics.write_bytes(head + b"".join(rows[: 1 + len(paused)]))
        if 1 + len(paused) == len(rows):
            summary.write_bytes(ended)

    tensorboard = ModuleType("torch.utils.tensorboard")
    tensorboard.SummaryWriter = Writer
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    monkeypatch.setitem(sys.modules, "torch.utils", ModuleType("torch.utils"))
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", tensorboard)
    monkeypatch.setattr(time, "sleep", later)
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)
    exec(code, {})
    assert len(rows) == 5
    assert sent == [
        (name, float(row[name]), row["env_steps"])
        for row in run.metrics
        for name in ("n_effective", "mean_reward", "discriminator_accuracy")
    ]
    assert paused[-1] == 0
