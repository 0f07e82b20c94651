"""An update of every method beside DIAYN: what is measured, what is stored, what the docs say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from apart.running import turns

ROOT = Path(__file__).parents[2]
MUCH = 5.0  # times DIAYN: more needs a reason in the docs


def test_a_method_is_measured_beside_diayn_and_one_that_learns_nothing_has_its_row(capsys):
    rows = turns.beside(0.001, 1, ["random_walk", "diayn"])
    assert [row["method"] for row in rows] == ["random_walk", "diayn"]
    assert rows[0]["over_diayn"] is None
    assert rows[1]["over_diayn"] == 1.0
    assert rows[1]["updates_per_second"] > 0
    turns.printed(rows)
    assert "makes none" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("work", "name", "table"),
    [(turns.IN_TABLE, "table", "family_speed"), (turns.IN_MAZE, "maze", "network_speed")],
)
def test_every_method_has_its_row_and_slow_ones_a_reason(work, name, table):
    rows = json.loads((ROOT / "results" / "family_speed.json").read_text())[name]["rows"]
    assert {row["method"] for row in rows} == set(work.names())
    page = (ROOT / "docs" / "internals" / "performance.md").read_text(encoding="utf-8")
    reasons = page.split(f"<!-- /{table} -->")[1].split("\n## ")[0]
    for row in rows:
        if (row["over_diayn"] or 0.0) > MUCH:
            assert f"`{row['method']}`" in reasons, row["method"]
