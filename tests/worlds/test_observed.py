"""Observations as they are kept: bounded JSON, a line of words."""

from __future__ import annotations

import json
from collections import OrderedDict

import hostile
import numpy as np
import pytest

import apart
from apart import worlds
from apart.cli import main
from apart.report.page_data import page_data
from apart.worlds import observed

CRAFT = OrderedDict(
    inventory={"wood": np.int64(2), "pick": True}, at=np.array([1, 2]), mission="get a diamond"
)


@pytest.mark.parametrize(
    ("given", "kept", "said"),
    [
        (3, 3, "3"),
        (np.float32(0.1), 0.1, "0.1"),
        (np.array([1, 2], np.uint8), [1, 2], "(1, 2)"),
        (np.full(4, 1 / 3), [0.333333] * 4, "(0.3333, 0.3333, 0.3333, 0.3333)"),
        (np.array([np.nan, np.inf]), ["nan", "inf"], "(nan, inf)"),
        (np.zeros((84, 84, 3), np.uint8), "84 x 84 x 3 uint8", "84 x 84 x 3 uint8"),
        (np.zeros((2, 3), bool), [[False] * 3] * 2, "2 x 3 numbers"),
        (np.arange(9), [*range(9)], "(0, 1, 2, 3, 4, 5, ... 9 numbers)"),
        ((1, np.array([2])), [1, [2]], "2 numbers"),
        ("open", "open", "open"),
        (
            CRAFT,
            {"inventory": {"wood": 2, "pick": True}, "at": [1, 2], "mission": "get a diamond"},
            "wood=2, pick=1, at=(1, 2), mission=get a diamond",
        ),
    ],
)
def test_an_observation_is_kept_as_json_and_said_in_a_line(given, kept, said):
    found = observed.plain(given)
    assert found == kept
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert observed.words(found) == said
    assert len(said) <= 60


def test_only_parts_that_differ_are_said():
    assert observed.words(observed.plain(CRAFT), {"inventory.wood", "at"}) == ("wood=2, at=(1, 2)")


def test_without_places_a_run_keeps_the_last_observation_of_each_skill(tmp_path, capsys):
    hostile.healed()
    options = {"method": "diayn", "network": "mlp:8", "steps": 200, "evaluate_every": 200}
    options |= {"skills": 3, "horizon": 4, "batch": 8, "buffer": 100, "hold": 1}
    run = apart.train("gym:hostile:Walk-v0", out=tmp_path / "run", **options)
    assert not run.world.places.counted
    for skill in run.skills:
        at = np.zeros(2, np.float32)
        for t in range(4):
            action = run.skills.act(skill.index, at, t)
            at = np.clip(at + hostile.MOVES[action % 5], 0, hostile.SIDE - 1).astype(np.float32)
        assert skill.last_observation == at.tolist()
    assert main(["play", str(run.path), "--skill", "2"]) == 0
    said = capsys.readouterr().out
    assert f"last observation: {observed.words(run.skills[2].last_observation)}" in said
    assert "--gif" not in said  # it renders nothing
    (entry,) = page_data([run], lambda run: None)["runs"]
    assert entry["observed"] == [observed.words(one.last_observation) for one in run.skills]
    assert "draw --frames" not in entry["frames_note"]


def test_what_a_world_renders_is_known_without_making_it():
    for name, renders in (
        ("gym:hostile:Walk-v0", False),
        ("gym:hostile:Drawn-v0", True),
        ("gym:CartPole-v1", True),
        ("maze:u", False),
        ("four_rooms", False),
    ):
        assert worlds.renders(worlds.load(name)) == renders, name
