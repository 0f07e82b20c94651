"""What docs/guide/compare.md says without numbers holds for the stored comparisons.

Where one of these fails after new runs, read the page again.
"""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import pytest
from tabled.base import stored

from apart.comparison import rows as rows_of_methods


def means(study):
    """Distinct last states by label and world."""
    table = {}
    for row in stored(study)["rows"]:
        values = row["cells"]["distinct"]["values"]
        assert len(values) == 8, (study, row["label"], row["world"])
        table.setdefault(row["label"], {})[row["world"]] = fmean(values)
    return table


def test_who_finds_more_in_five_times_as_many_steps():
    before, after = means("compare"), means("compare-long")
    more = {m: {w: after[m][w] - before[m][w] for w in worlds} for m, worlds in after.items()}

    def few(name, of):
        return [world for world, gain in more[name].items() if gain < of]

    assert [few(name, 1) for name in ("apart", "tuned_vic", "vic")] == [[], [], []]
    assert few("dgpo", 1) == ["classic_rooms"]
    assert few("valor", 1) == ["empty"]
    assert len(few("dads", 0)) == 4
    assert len(few("metra", 0)) == 3
    settled = ("diayn", "ova_ascending", "ova_dropout", "ova_art", "upside", "upside_flat")
    for name in (*settled, "eigenoptions", "apart_plus"):
        assert max(map(abs, more[name].values())) < 0.2, name
    for name in ("disdain", "count_bonus", "ap_average", "ap_average_art"):
        assert all(0 < gain < 10 for gain in more[name].values()), name
    for name in ("ap_min", "ap_min_dropout"):
        assert all(more[name][world] > more["apart"][world] for world in more["apart"])
        assert after[name]["empty"] > after["apart"]["empty"]
    level = (after["ap_min_ascending"][world] - mean for world, mean in after["apart"].items())
    assert max(map(abs, level)) < 2.5


def test_whom_sharing_helps():
    usual, gains = means("compare"), {}
    for label, worlds in means("compare-sharing").items():
        method, _, change = label.partition(" ")
        for world, mean in worlds.items():
            gain = mean / usual[method][world]
            gains.setdefault(method, {})[world] = gain if change == "+ sharing" else 1 / gain
    harmed = {name for name, gain in gains.items() if max(gain.values()) < 1}
    ova = {"ova_ascending", "ova_dropout", "ova_art"}
    assert harmed == {"diayn", "valor", "eddict", "count_exploration", "rnd", *ova}
    worse = {name: [world for world, gain in gains[name].items() if gain < 1] for name in gains}
    assert worse["ap_min"] == ["classic_rooms"]
    assert len(worse["tuned_vic"]) == 1
    least = ["apart", "ap_min_ascending", "ap_min_dropout", "apart_plus", "apart_logits"]
    for name in (*least, "ap_average", "ap_average_art", "disdain", "count_bonus", "discern"):
        assert worse[name] == [], name
    for name in ("disdain", "count_bonus", "discern"):
        assert min(gains[name], key=gains[name].get) == "empty"


@pytest.mark.parametrize("name", ["compare", "compare-few", "compare-long", "compare-sharing"])
def test_stored_rows_are_of_the_options_that_methods_have_today(name):
    """Or they would have to be made again; `apart compare --with` refuses them, too."""
    today = {}
    for row in stored(name)["rows"]:
        asked = row["world"], row["method"], row["steps"], row["skills"]
        if asked not in today:
            where, method, steps, skills = asked
            said = {"seeds": [0], "sharing": name == "compare-sharing", "folder": Path("x")}
            made = rows_of_methods.rows(
                [where], [method], steps=[steps], skills=skills, say=print, **said
            )
            today[asked] = {one.label: (one.identity, one.world_identity) for one in made}
        assert (row["identity"], row["world_identity"]) == today[asked][row["label"]], row["label"]
