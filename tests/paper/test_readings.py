"""The search for the published reading: its words, its numbers, and what they say of the preset."""

from __future__ import annotations

import json

import pytest
import readings
from readings import PUBLISHED, STORED, gap, name_of, options, reading_of

from apart.methods import READINGS
from apart.paper import _records, experiment
from apart.paper.reward_table import ROWS
from apart.settings import resolve

FOUND = json.loads(STORED.read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", ROWS)
def test_the_preset_is_what_was_found(row):
    method = ROWS[row][0]
    searched, _ = resolve("four_rooms", method, options(PUBLISHED, row))
    preset, _ = resolve("four_rooms", method, {}, reading="published")
    assert searched == preset


def test_it_is_as_close_as_it_is_said_to_be():
    rows = FOUND[name_of(PUBLISHED)]
    assert gap(rows, range(4)) <= 5
    assert max(gap(rows, [seed]) for seed in range(4)) <= 6
    whole = [name for name, r in FOUND.items() if all(len(r.get(row, {})) >= 4 for row in ROWS)]
    assert min(whole, key=lambda name: gap(FOUND[name], range(4))) == name_of(PUBLISHED)


def test_search_and_reproduction_agree():
    folder = STORED.parent / "reproduce" / "published"
    table = _records.read(folder / "reward_table.json", experiment("reward_table"))
    for row in ROWS:
        assert table.final(row) == [FOUND[name_of(PUBLISHED)][row][str(s)] for s in range(4)]


def test_names_of_readings_say_what_they_change():
    assert name_of({}) == "ours"
    for name in FOUND:
        assert name_of(reading_of(name)) == name
        for row, (method, *_) in ROWS.items():
            resolve("four_rooms", method, options(reading_of(name), row))


def test_the_gap_by_hand():
    rows = {row: {"0": int(mean), "1": int(mean) + 4} for row, (_, mean, _) in ROWS.items()}
    exact = sum(mean - int(mean) for _, mean, _ in ROWS.values()) / 10
    assert gap(rows, [0]) == pytest.approx(exact)
    assert gap(rows, [1]) == pytest.approx(4 - exact)
    del rows["AP min"]
    assert gap(rows, [1]) == pytest.approx((40 - 10 * exact - 4) / 10)  # at least this


def test_combinations_are_of_choices_that_exist():
    found = list(readings.crossed(["target network: none, 20", "initial Q: 0.01, 0.0"]))
    assert len({name_of(reading) for reading in found}) == 4
    with pytest.raises(KeyError):
        list(readings.crossed(["target network: 7"]))


def test_a_reading_of_the_paper_says_what_it_sets():
    assert not READINGS["ours"].options
    assert set(READINGS["published"].options) == {
        *("episodes_per_update", "one_skill", "context", "network", "init_q")
    }
