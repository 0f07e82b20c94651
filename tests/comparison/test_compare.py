"""A comparison trains what is missing, measures it by hand-checked numbers, and shows it."""

from __future__ import annotations

import json
import math
import shutil
import threading
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import here

import apart
from apart._errors import RunInterrupted, UserError
from apart.cli import main
from apart.comparison import results, show
from apart.comparison.compare import compare
from apart.comparison.metrics import METRICS, Measured, Metric
from apart.comparison.results import Cell, Result
from apart.comparison.rows import rows, usual
from apart.methods import METHODS
from apart.report import figures
from apart.running import engines, machine
from apart.running.queue import Failure
from apart.runs import files
from apart.runs import folder as run_folder
from apart.runs.lock import Lock
from apart.worlds import search, tasks
from apart.worlds.grid import parse

SMALL = {"steps": [160], "seeds": [0, 1], "skills": 6, "sharing": True, "say": lambda text: None}
WORDS = ["--steps", "160", "--seeds", "2", "--skills", "6", "--no-sharing"]
METHODS_HERE = ["vic", "random_walk"]


def refuses(runs, watch, until):
    raise AssertionError(list(runs))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small comparison: its folder and its results."""
    folder = tmp_path_factory.mktemp("compare")
    found = compare(["corridor"], folder, methods=METHODS_HERE, engine=here, **SMALL)
    return folder, found


def runs_of(made, label):
    folder, _ = made
    table = rows(["corridor"], METHODS_HERE, folder=folder, **SMALL)
    (row,) = (row for row in table if row.label == label)
    return [run_folder.load(task.folder) for task in row.tasks]


def test_every_method_has_a_row_and_those_that_learn_one_more(made):
    labels = [result.label for result in made[1]]
    assert labels == ["vic", "vic + sharing", "random_walk"]
    with_and_without = [run.config["q_rule"] for run in runs_of(made, "vic + sharing")]
    assert with_and_without == ["shared_adam"] * 2
    assert all(result.seeds == [0, 1] for result in made[1])


def test_rows_turn_sharing_around_in_either_direction(tmp_path):
    table = rows(["empty"], ["apart_plus", "apart_logits"], folder=tmp_path, **SMALL)
    assert [(r.label, r.tasks[0].config.q_rule) for r in table] == [
        ("apart_plus", "sweep_plain"),
        ("apart_plus - sharing", "plain"),
        ("apart_logits", "sweep_plain"),
        ("apart_logits - sharing", "plain"),
    ]


def test_every_registered_method_that_brings_no_network_is_compared(tmp_path):
    """A new record needs no list here."""
    assert set(usual()) == {m for m in METHODS if "network" not in METHODS[m].options}
    said = []
    quiet = {**SMALL, "folder": tmp_path, "say": said.append}
    (tmp_path / "task.txt").write_text("S..\n..9")
    table = rows([str(tmp_path / "task.txt")], usual(), **quiet)
    assert {row.method for row in table} == set(usual())
    assert said == []
    rows(["empty"], None, **quiet)
    assert all("needs a task, and empty has none" in line for line in said)


def test_a_world_is_searched_once_for_all_rows(tmp_path, monkeypatch):
    pytest.importorskip("gymnasium", reason="the extra gym is not installed")
    searched = []
    found = search.table_of
    monkeypatch.setattr(search, "table_of", lambda *a, **k: searched.append(a) or found(*a, **k))
    world = "table:gym:FrozenLake-v1:is_slippery=false"
    table = rows([world, "empty"], ["vic", "apart_plus"], folder=tmp_path, **SMALL)
    assert len(table) == 8
    assert len(searched) == 1
    assert {row.tasks[0].world.name for row in table} == {
        "FrozenLake-v1,is_slippery=false",
        "empty",
    }


def test_a_method_that_cannot_be_trained_somewhere_is_named(tmp_path):
    """The counts of `apart_plus` need a table: said by default, an error where it was named."""
    said = []
    quiet = {**SMALL, "folder": tmp_path, "say": said.append}
    table = rows(["maze:u", "empty"], ["apart_plus"], **quiet)
    assert {row.world for row in table} == {"empty"}
    assert len(said) == 1
    assert said[0].startswith("no row for apart_plus: ")
    assert "apart_plus" not in {row.method for row in rows(["maze:u"], None, **quiet)}
    with pytest.raises(UserError, match="cannot be listed"):
        rows(["maze:u"], ["apart_plus"], **quiet)


def test_the_numbers_are_those_of_the_skills(made):
    """By hand from skills.json: distinct ends, their entropy, the discriminator's posterior."""
    for label in ("vic", "vic + sharing"):
        (found,) = (result for result in made[1] if result.label == label)
        for seed, run in enumerate(runs_of(made, label)):
            k = len(run.skills)
            ends = Counter(skill.last_state for skill in run.skills)
            entropy = -sum(n / k * math.log2(n / k) for n in ends.values())
            posterior = np.mean([math.log2(skill.probability * k) for skill in run.skills])
            values = {name: cell.values[seed] for name, cell in found.cells.items()}
            farthest = max(column for skill in run.skills for _, column in skill.trajectory)
            assert values["goals_reached"] == pytest.approx(100 * (farthest + 1) / 60)
            away = [min(abs(column - end) for _, end in ends) for column in range(60)]
            assert values["covering_radius"] == max(away)
            assert values["distinct"] == len(ends)
            assert values["mutual_information"] == pytest.approx(entropy, abs=1e-4)
            assert values["information_count"] == pytest.approx(2**posterior, rel=1e-3)
            assert values["information_count"] <= 2**entropy + 1e-3
        assert all(found.cells[name].exact for name in ("distinct", "mutual_information"))


def test_a_random_walk_tells_nothing_and_its_count_is_a_sample(made):
    (walk,) = (result for result in made[1] if result.method == "random_walk")
    assert walk.cells["mutual_information"].values == pytest.approx([0.0, 0.0], abs=1e-5)
    assert walk.cells["mutual_information"].exact
    assert not walk.cells["distinct"].exact


def test_what_is_there_is_not_trained_again_and_files_do_not_change(made):
    folder, found = made

    def again():
        return compare(["corridor"], folder, methods=METHODS_HERE, engine=refuses, **SMALL)

    again()  # another test may have written the files with a measure of its own
    before = {name: (folder / name).read_bytes() for name in ("compare.json", "compare.md")}
    assert again() == found
    assert {name: (folder / name).read_bytes() for name in before} == before
    assert results.read(folder / "compare.json") == [
        result._replace(
            cells={
                name: cell._replace(
                    values=[round(value, 6) for value in cell.values],
                    most=cell.most if cell.most is None else round(cell.most, 6),
                )
                for name, cell in result.cells.items()
            }
        )
        for result in found
    ]
    assert (folder / "compare.png").stat().st_size > 1000


def test_a_failed_run_leaves_its_row_with_the_others_and_is_named(made, tmp_path):
    shutil.copytree(made[0], tmp_path / "copy")
    gone = runs_of((tmp_path / "copy", None), "vic")[1].path
    (gone / run_folder.SUMMARY).unlink()
    (tmp_path / "copy" / "compare.json").unlink()

    def fails(runs, watch, until):
        if not runs:  # only asked whether it is there
            return {}
        assert list(runs) == [gone]
        return {gone: Failure(3, "apart: numbers")}

    with pytest.raises(apart.NonFinite, match="seed-1: numbers"):
        compare(["corridor"], tmp_path / "copy", methods=METHODS_HERE, engine=fails, **SMALL)
    stored = results.read(tmp_path / "copy" / "compare.json")
    assert [(result.label, result.seeds) for result in stored] == [
        ("vic", [0]),
        ("vic + sharing", [0, 1]),
        ("random_walk", [0, 1]),
    ]


def test_what_is_there_is_shown_where_the_whole_is_stopped(made, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(made[0], folder)
    (folder / "compare.json").unlink()
    (runs_of((folder, None), "vic")[1].path / run_folder.SUMMARY).unlink()

    def stops(runs, watch, until):
        if runs:
            raise RunInterrupted("stopped", 2)

    with pytest.raises(RunInterrupted):
        compare(["corridor"], folder, methods=METHODS_HERE, engine=stops, **SMALL)
    seeds = {row.label: list(row.seeds) for row in results.read(folder / "compare.json")}
    assert seeds == {"vic": [0], "vic + sharing": [0, 1], "random_walk": [0, 1]}


def test_what_another_comparison_has_is_shown_and_not_trained(made, tmp_path):
    """Seeds 0 and 1 from a file, as if from another machine; of seed 2 the file knows nothing."""
    _, found = made
    asked = {**SMALL, "seeds": [0, 1, 2]}
    todo = []

    def stops(runs, watch, until):
        todo.extend(path.name for path in runs)
        if runs:
            raise RunInterrupted("stopped", 2)

    with pytest.raises(RunInterrupted):
        compare(["corridor"], tmp_path, methods=["vic"], engine=stops, known=found, **asked)
    assert todo == ["seed-2", "seed-2"]  # with and without sharing
    stored = results.read(tmp_path / "compare.json")
    assert [(row.label, list(row.seeds)) for row in stored] == [
        ("vic", [0, 1]),
        ("vic + sharing", [0, 1]),
        ("random_walk", [0, 1]),  # not asked for, but there
    ]


def test_rows_that_are_stored_stay_where_fewer_are_asked_for(made, tmp_path):
    folder, found = made
    shutil.copytree(folder, tmp_path / "copy")
    asked = {**SMALL, "seeds": [1], "sharing": False}
    again = compare(["corridor"], tmp_path / "copy", methods=["vic"], engine=refuses, **asked)
    for rows_now in (again, results.read(tmp_path / "copy" / "compare.json")):
        assert [(row.label, list(row.seeds)) for row in rows_now] == [
            (row.label, list(row.seeds)) for row in found
        ]
    other = [row._replace(identity="other") for row in found]  # of other options: out of date
    results.write(tmp_path / "copy" / "compare.json", other)
    again = compare(["corridor"], tmp_path / "copy", methods=["vic"], engine=refuses, **asked)
    seeds = {row.label: list(row.seeds) for row in again}
    assert seeds == {"vic": [1], "vic + sharing": [0, 1], "random_walk": [0, 1]}


def test_a_run_that_was_damaged_is_named_and_the_others_are_shown(made, tmp_path):
    folder, said = tmp_path / "copy", []
    shutil.copytree(made[0], folder)
    (folder / "compare.json").unlink()
    damaged = runs_of((folder, None), "vic")[1].path
    (damaged / run_folder.SKILLS).write_text("half of i")
    asked = {**SMALL, "say": said.append}
    found = compare(["corridor"], folder, methods=METHODS_HERE, engine=refuses, **asked)
    assert [(row.label, row.seeds) for row in found] == [
        ("vic", [0]),
        ("vic + sharing", [0, 1]),
        ("random_walk", [0, 1]),
    ]
    (line,) = (line for line in said if line.startswith("not counted"))
    assert f"to train it again, remove {damaged}" in line


@pytest.mark.parametrize("harm", ["a digit", "longer"])
def test_a_run_whose_numbers_are_not_those_asked_for_is_left_out(harm, made, tmp_path):
    """Damaged in its log, which the skills do not show; or trained for longer since."""
    folder, said = tmp_path / "copy", []
    shutil.copytree(made[0], folder)
    (folder / "compare.json").unlink()
    one = runs_of((folder, None), "vic")[1].path
    if harm == "longer":
        apart.resume(one, steps=2 * SMALL["steps"][0])
    else:
        log = one / run_folder.METRICS
        log.write_bytes(log.read_bytes()[:-2] + b"7\n")
    asked = {**SMALL, "say": said.append}
    found = compare(["corridor"], folder, methods=METHODS_HERE, engine=refuses, **asked)
    assert [row.seeds for row in found] == [[0], [0, 1], [0, 1]]
    (line,) = (line for line in said if line.startswith("not counted"))
    assert str(one) in line


def test_two_comparisons_in_one_folder_keep_each_other_s_rows(made, tmp_path):
    """The second ends while the first trains."""
    shutil.copytree(made[0], tmp_path / "copy")
    asked = {**SMALL, "sharing": False}

    def meanwhile(runs, watch, until):
        other = [made[1][0]._replace(label="other", method="other")]
        results.write(tmp_path / "copy" / "compare.json", [*made[1], *other])
        return here(runs, watch, until)

    found = compare(["corridor"], tmp_path / "copy", methods=["diayn"], engine=meanwhile, **asked)
    assert {"diayn", "vic", "other"} <= {row.label for row in found}
    assert {row.label for row in results.read(tmp_path / "copy" / "compare.json")} == {
        row.label for row in found
    }


def test_a_comparison_that_ends_while_another_writes_waits_for_its_rows(made, tmp_path):
    folder, found = tmp_path / "copy", []
    shutil.copytree(made[0], folder)

    def ends():
        found.extend(compare(["corridor"], folder, methods=["vic"], engine=refuses, **SMALL))

    second = threading.Thread(target=ends)
    with Lock(folder):
        second.start()
        second.join(1.0)
        assert second.is_alive()
        other = [made[1][0]._replace(label="other", method="other")]
        results.write(folder / "compare.json", [*made[1], *other])
    second.join(60.0)
    assert "other" in {row.label for row in found}
    assert "other" in {row.label for row in results.read(folder / "compare.json")}


def test_rows_of_two_maps_of_one_name_are_never_in_one_table(tmp_path, monkeypatch, capsys):
    """A map that was edited keeps its name: in the folder, in a file, and for other methods."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.txt").write_text("S....\n.....")
    words = ["--steps", "160", "--seeds", "1", "--skills", "3", "--no-sharing", "--out"]
    for name, out in (("vic", "one"), ("diayn", "two")):
        asked = [*words, out, "--methods", name]
        monkeypatch.setitem(engines.ENGINES, "local", here)
        assert main(["compare", "mine.txt", *asked]) == 0
        (tmp_path / "mine.txt").write_text("S..")
    capsys.readouterr()
    monkeypatch.setitem(engines.ENGINES, "local", refuses)
    stored = (tmp_path / "one" / "compare.json").read_bytes()
    assert main(["compare", "mine.txt", "--methods", "edl", *words, "one"]) == 2
    said = capsys.readouterr().err
    assert "mine.txt: " in said
    assert "choose another --out, or move one/compare.json away" in said
    known = ["--with", "one/compare.json", "--methods", "edl"]
    assert main(["compare", "mine.txt", *known, *words, "new"]) == 2
    assert "leave that file out of --with" in capsys.readouterr().err
    known = ["--with", "one/compare.json,two/compare.json", "--methods", "edl"]
    assert main(["compare", "corridor", *known, *words, "new"]) == 2
    assert "leave that file out of --with" in capsys.readouterr().err
    assert (tmp_path / "one" / "compare.json").read_bytes() == stored


def test_rows_of_another_map_that_came_meanwhile_are_left_out_and_said(made, tmp_path):
    shutil.copytree(made[0], tmp_path / "copy")
    said = []
    asked = {**SMALL, "sharing": False, "say": said.append}

    def meanwhile(runs, watch, until):
        other = [made[1][0]._replace(label="other", method="other", world_identity="another")]
        results.write(tmp_path / "copy" / "compare.json", [*made[1], *other])
        return here(runs, watch, until)

    found = compare(["corridor"], tmp_path / "copy", methods=["diayn"], engine=meanwhile, **asked)
    assert {"diayn", "vic"} <= {row.label for row in found}
    assert "other" not in {row.label for row in found}
    assert "left out: 1 row of another world of the same name" in said


def test_what_is_known_is_not_called_unfinished(made, tmp_path):
    """Seed 0 is in a file, seed 1 fails."""
    half = [
        row._replace(
            seeds=[0],
            cells={name: cell._replace(values=cell.values[:1]) for name, cell in row.cells.items()},
        )
        for row in made[1]
    ]

    def fails(runs, watch, until):
        return {run: Failure(2, "no luck") for run in runs}

    with pytest.raises(UserError, match="no luck"):
        compare(["corridor"], tmp_path / "new", methods=["vic"], engine=fails, known=half, **SMALL)
    page = (tmp_path / "new" / "compare.md").read_text()
    assert "- not finished: vic in corridor: 1 of 2 seeds\n" in page


def test_a_row_says_its_seeds_where_they_differ():
    two = row()
    one = two._replace(label="other", seeds=[0], cells={"distinct": Cell([5.0], True, 9.0)})
    assert "| `other` | 5.0 | 1 |" in show.markdown([two, one])
    assert "| seeds |" not in show.markdown([two])


def test_seconds_are_medians_as_single_ones_may_be_far_off():
    uneven = Cell([6.0, 315.0, 7.0], False, None)
    assert results.words("seconds", uneven) == "7 (6 to 315)"
    assert results.words("seconds", uneven._replace(values=[7.0])) == "7"


def test_rows_say_where_they_were_measured(made, tmp_path):
    here = machine.words()
    assert {row.machine for row in made[1]} == {here}
    old = [row._replace(machine="", seeds=[2, 3]) for row in made[1]]
    results.write(tmp_path / "compare.json", old)
    stored = json.loads((tmp_path / "compare.json").read_text())
    for row in stored["rows"]:  # as files of earlier versions have it
        del row["machine"]
    (tmp_path / "compare.json").write_text(json.dumps({**stored, "machine": "a lent one"}))
    both = results.joined([*made[1], *results.read(tmp_path / "compare.json")])
    assert {row.machine for row in both} == {f"{here}; a lent one"}
    results.write(tmp_path / "compare.json", both)
    assert files.read_json(tmp_path / "compare.json")["machine"] == f"{here}; a lent one"


def test_places_of_several_starts_are_not_measured_by_episodes_of_the_first(tmp_path):
    rooms = parse("S.#.S", "two rooms")
    run = apart.train(rooms, method="apart_plus", skills=4, steps=800, out=tmp_path / "run")
    lacks = {name for name in METRICS if METRICS[name].of(run) is None}
    assert {"covering_radius", "goals_reached"} <= lacks


def test_no_methods_are_no_comparison(tmp_path):
    with pytest.raises(UserError, match="methods: name"):
        apart.compare("corridor", methods=[], out=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_an_unfinished_run_that_was_damaged_says_how_to_go_on(made, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(made[0], folder)
    damaged = runs_of((folder, None), "vic")[1].path
    (damaged / run_folder.SUMMARY).unlink()
    (damaged / run_folder.CONFIG).write_text('{"format":')
    with pytest.raises(UserError, match=f"not valid JSON.*to train it again, remove {damaged}"):
        compare(["corridor"], folder, methods=METHODS_HERE, engine=here, **SMALL)


def test_more_runs_than_fit_are_refused_at_once(tmp_path, capsys):
    words = ["compare", "corridor", "--seeds", "1000000", "--out", str(tmp_path / "new")]
    assert main(words) == 2
    assert "at most 100,000" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_table_that_cannot_be_read_is_not_written_over(made, tmp_path):
    shutil.copytree(made[0], tmp_path / "copy")
    (tmp_path / "copy" / "compare.json").write_text("{}")
    with pytest.raises(UserError, match=r"it has no rows.*; .*move it"):
        compare(["corridor"], tmp_path / "copy", methods=["vic"], engine=refuses, **SMALL)
    assert (tmp_path / "copy" / "compare.json").read_text() == "{}"


@pytest.mark.parametrize(
    "order", [("one", "", "other"), ("one", "other", ""), ("", "one", "other")]
)
def test_rows_of_two_settings_do_not_become_one_by_way_of_a_third(made, order):
    parts = [made[1][0]._replace(identity=name, seeds=[n, n + 10]) for n, name in enumerate(order)]
    with pytest.raises(UserError, match="was measured with other options"):
        results.joined(parts)
    (same,) = results.joined([part._replace(identity=part.identity and "one") for part in parts])
    assert (same.identity, len(same.seeds)) == ("", 6)


@pytest.mark.parametrize(
    "change",
    [
        {"seeds": [], "cells": {}},
        {"seeds": "01"},
        {"seeds": [0, 0]},
        {"label": 5},
        {"world": []},
        {"method": ""},
        {"steps": "1M"},
        {"skills": None},
        {"horizon": True},
        {"plans": "yes"},
        {"steps": 10**400},
        {"cells": {"distinct": {"values": [1, 1e308], "exact": True, "most": 6}}},
        {"cells": {"distinct": {"values": [1, 2], "exact": True, "most": -(10**400)}}},
        {"cells": {}},
        {"cells": {"distinct": {"values": [None, 1], "exact": True, "most": 6}}},
        {"cells": {"distinct": {"values": {"0": 1, "1": 2}, "exact": True, "most": 6}}},
        {"cells": {"distinct": {"values": [1, 10**400], "exact": True, "most": 6}}},
        {"cells": {"distinct": {"values": [1, 2], "exact": True, "most": "x"}}},
    ],
)
def test_a_row_that_nobody_measured_is_refused_in_one_line(made, tmp_path, change):
    stored = json.loads((made[0] / "compare.json").read_text())
    stored["rows"][1] |= change
    (tmp_path / "other.json").write_text(json.dumps(stored))
    with pytest.raises(UserError, match="row 2 "):
        results.read(tmp_path / "other.json")


def test_a_link_is_refused_before_anything_is_trained(tmp_path):
    (tmp_path / "there" / "runs").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "there")
    with pytest.raises(UserError, match="link is a link; give the folder itself as --out"):
        compare(["corridor"], tmp_path / "link", methods=["vic"], engine=refuses, **SMALL)


@pytest.mark.parametrize("name", ["a$_$b", "bad\udcff"])
def test_a_name_of_a_map_is_no_formula(name, tmp_path):
    """Neither in the table of a comparison nor in the picture of a run."""
    world = parse("S..", name)
    run = apart.train(world, method="vic", steps=160, skills=3, horizon=4, out=tmp_path / "run")
    assert figures.skills_picture(run).stat().st_size > 1000
    shown = show.figure([row()._replace(world=name)])
    files.write_picture(tmp_path / "compare.png", shown)
    assert (tmp_path / "compare.png").stat().st_size > 1000


def test_equal_rows_are_joined_seed_by_seed():
    both = results.joined(
        [
            row(values=(1.0, 3.0)),
            row(values=(7.0, 4.0, 5.0), exact=False, seconds=Cell([1, 1, 1], False, None))._replace(
                seeds=[3, 0, 2], identity="same"
            ),
            row("vic + sharing"),
        ]
    )
    assert [(one.label, one.seeds, one.identity) for one in both] == [
        ("vic", [0, 1, 2, 3], ""),  # of some of its seeds nobody knows
        ("vic + sharing", [0, 1], ""),
    ]
    (cell,) = both[0].cells.values()  # only one of them has seconds
    assert cell == Cell([1.0, 3.0, 5.0, 7.0], False, 9.0)


def test_a_row_without_a_new_seed_changes_nothing():
    one = row(seconds=Cell([1.0, 1.0], False, None))
    assert results.joined([one, row(exact=False)]) == [one]


def test_rows_of_other_sizes_are_other_tables():
    few = row()._replace(skills=8)
    shown = show.markdown([row(), few])
    assert "K = 100, T = 40, 2 seeds**" in shown
    assert "K = 8, T = 40, 2 seeds**" in shown
    assert len(show.figure([row(), few]).axes) == 2
    with pytest.raises(UserError, match="episodes of 40 and of 9 steps"):
        results.joined([row(), row()._replace(horizon=9)])


def test_all_may_be_known_and_the_same_command_goes_on(made, tmp_path):
    for _ in range(2):
        found = compare(
            ["corridor"], tmp_path, methods=["vic"], engine=refuses, known=made[1], **SMALL
        )
        assert [one.label for one in found] == [one.label for one in made[1]]


@pytest.mark.parametrize(
    "rows",
    [
        *("{}", "3", "[3]", '[{"world": 1}]', '[{"cells": []}]'),
        '[{"cells": {"distinct": {"values": [1]}}}]',
        '[{"world": "empty", "label": "vic", "method": "vic", "steps": 1, "skills": 2, "horizon": 3'
        ', "seeds": [0, 1], "cells": {"distinct": {"values": [1], "exact": true, "most": null}}}]',
    ],
)
def test_a_file_that_is_no_comparison_gets_one_line(rows, tmp_path):
    (tmp_path / "odd.json").write_text('{"rows": ' + rows + "}")
    with pytest.raises(UserError, match=r"odd.json: not a comparison: .*row") as error:
        results.read(tmp_path / "odd.json")
    assert "\n" not in str(error.value)


def test_rows_of_other_options_do_not_fit_together(made, tmp_path):
    other = [result._replace(identity="another") for result in made[1]]
    with pytest.raises(UserError, match="vic in corridor was measured with other options"):
        compare(["corridor"], tmp_path, methods=["vic"], engine=refuses, known=other, **SMALL)
    with pytest.raises(UserError, match="leave that file out of --with"):
        results.joined([*made[1], *other])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("method", ["diayn", "random_walk"])
def test_where_no_places_are_told_apart_nothing_is_counted(method, tmp_path):
    pytest.importorskip("gymnasium", reason="the extra gym is not installed")
    world, said = "gym:CartPole-v1:places=none,max_episode_steps=8", []
    quiet = {**SMALL, "seeds": [0], "sharing": False, "say": said.append}
    (row,) = compare([world], tmp_path, methods=[method], engine=here, **quiet)
    assert "distinct" not in row.cells
    assert "seconds" in row.cells
    text = "\n".join(said)
    assert "seed 0: not counted" in text
    assert "distinct last states" not in text
    assert (tmp_path / "compare.png").exists()


@pytest.mark.parametrize(
    ("method", "world", "lacks"),
    [
        ("metra", "empty", ["information_count"]),  # rewards stay the same if phi is shifted
        ("eigenoptions", "empty", ["information_count"]),
        ("visr", "empty", ["information_count"]),  # at most 2.4 where skills are told apart fully
        ("eddict", "empty", ["information_count"]),
        ("edl", "empty", ["information_count"]),  # by the unit of coordinates
        ("rnd", "empty", ["information_count"]),
        ("apart_plus", "empty:slip=0.2", ["steps_to_full"]),  # expected numbers are never all
        ("random_walk", "empty", ["information_count", "steps_to_full"]),  # nothing is learnt
        ("discern", "empty", []),
        ("apart_plus", "empty", []),
    ],
)
def test_what_means_nothing_is_not_measured(method, world, lacks, tmp_path):
    name, _, slip = world.partition(":slip=")
    options = {"skills": 100, "steps": 800, "horizon": 20, "slip": float(slip or 0.0)}
    run = apart.train(name, method=method, **options, out=tmp_path / "run")
    found = [metric for metric in METRICS if METRICS[metric].of(run) is None]
    assert found == sorted([*lacks, "task"], key=[*METRICS].index)


def test_a_task_is_measured_by_what_skills_earn_of_it(tmp_path):
    world = parse("S..\n9#3", "task")
    found = apart.compare(
        [world], methods="smerl, vic", steps=800, seeds=2, sharing=False, skills=3, out=tmp_path
    )
    for row in found.rows:
        runs = [apart.load(path) for path in sorted(tmp_path.glob(f"runs/*-{row.method}-*/*"))]
        assert row.cells["task"].values == [run.summary["task"]["mean"] for run in runs]
        assert row.cells["task"].most == tasks.best_return(world, 40)
    smerl, vic = sorted(found.rows, key=lambda row: row.method)
    assert min(smerl.cells["task"].values) > max(vic.cells["task"].values)
    assert "points of the task" in str(found)


def test_a_measure_is_one_record(made, monkeypatch):
    monkeypatch.setitem(
        METRICS._records,
        "answer",
        Metric("the answer", "answer", "", lambda run: Measured(42.0)),
    )
    monkeypatch.setitem(
        METRICS._records, "nobody", Metric("has it", "nobody", "", lambda run: None)
    )
    found = compare(["corridor"], made[0], methods=METHODS_HERE, engine=refuses, **SMALL)
    assert "42.0 ± 0.0" in show.markdown(found)
    assert "nobody" not in show.text(found)


def row(label="vic", values=(1.0, 3.0), exact=True, most=9.0, **more):
    cells = {"distinct": Cell(list(values), exact, most), **more}
    return Result("empty", label, "vic", 1_000_000, 100, 40, [0, 1], cells)


def test_words_carry_intervals_marks_and_bounds():
    steps = Cell([50_000.0, math.inf], True, None)
    shown = show.markdown([row(), row("vic + sharing", exact=False, steps_to_full=steps)])
    assert "**empty, 1,000,000 steps, K = 100, T = 40, 2 seeds**" in shown
    assert "| `vic` | 2.0 ± 12.7 |  |" in shown  # Student's t with one degree of freedom
    assert "| `vic + sharing` | 2.0 ± 12.7* | - (1 of 2) |" in shown
    assert "| *at most* | 9.0 |  |" in shown
    one = Result("empty", "a", "a", 1, 2, 3, [0], {"distinct": Cell([5.0], True, None)})
    assert "| `a` | 5.0 |" in show.markdown([one])
    assert "at most" not in show.markdown([one])
    assert [*show.legend([one])][-1] == "all numbers are exact, except seconds"


def test_methods_that_plan_are_marked_in_tables_and_in_the_figure(tmp_path):
    """As Q's rule says; the mark, the colour and what they mean come with them."""
    table = rows(["empty"], ["vic", "apart_plus", "random_walk"], folder=tmp_path, **SMALL)
    assert [r.label for r in table if r.plans] == ["apart_plus"]  # not where batches are sampled
    learned, planned = row(), row("apart_plus")._replace(method="apart_plus", plans=True)
    walk = row("random_walk")._replace(method="random_walk")
    assert "| `apart_plus` † | 2.0" in show.markdown([learned, planned])
    assert "| `vic` | 2.0" in show.markdown([learned, planned])
    assert "apart_plus †" in show.text([planned])
    assert any("† plans over" in line for line in show.legend([learned, planned]))
    assert not any("†" in line for line in show.legend([learned]))
    assert len({show.colour(one) for one in (learned, planned, walk)}) == 3
    axis = show.figure([learned, planned]).axes[0]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["vic", "apart_plus †"]
    both = results.joined([planned, planned._replace(seeds=[2, 3])])
    assert [one.plans for one in both] == [True]


def test_methods_without_a_rank_are_shown_with_the_reason():
    """Their reward finds no skills there; and whatever a number says less of has a note, too."""
    found = [row(name)._replace(method=name) for name in ("vic", "rnd", "relative_vic", "upside")]
    assert [one.label for one in show.ranked(found)] == ["vic", "upside"]
    assert show.label_marks(found) == {
        "vic": "",
        "rnd": show.NOTED,
        "relative_vic": show.NOTED,
        "upside": show.NOTED,
    }
    lines = show.text(found).splitlines()
    for name in ("rnd", "relative_vic"):
        (line,) = (line for line in lines if line.startswith(f"‡ {name}: "))
        assert METHODS[name].unranked in line
    assert any(METHODS["upside"].caveat in line for line in lines)
    assert "| `rnd` ‡ | 2.0" in show.page(found)
    assert "‡" not in show.text(found[:1])
    assert show.label_marks([found[1]._replace(plans=True), found[1]]) == {"rnd": " † ‡"}


def test_a_line_of_the_figure_is_one_method_in_every_world():
    def row(world, label, value):
        cells = {"distinct": Cell([value], True, 9)}
        return Result(world, label, label.split()[0], 100, 4, 5, [0], cells)

    made = [row("one", "apart", 1), row("one", "vic", 2), row("one", "diayn", 3)]
    made += [row("two", "diayn", 7), row("two", "vic", 6), row("two", "vic + sharing", 5)]
    first, second = show.figure(made).axes[:2]
    labels = [tick.get_text() for tick in first.get_yticklabels()]
    assert labels == ["apart", "vic", "vic + sharing", "diayn"]
    bars = {round(bar.get_y() + 0.35): bar.get_width() for bar in second.patches}
    assert {labels[at]: width for at, width in bars.items()} == {
        "diayn": 7,
        "vic": 6,
        "vic + sharing": 5,
    }


def test_the_bounds_are_those_of_even_dealing(made):
    """100 skills in the paper's worlds: 81.2, 100 and 67.8 (and 6 in a corridor of 60)."""

    metric = METRICS["information_count"]
    for n, most in ((85, 81.2), (100, 100.0), (72, 67.8), (200, 100.0)):
        run = SimpleNamespace(config={"skills": 100}, n_available=n)
        assert metric.most(run) == pytest.approx(most, abs=0.05)
    assert made[1][0].cells["distinct"].most == 6


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name at least one world"),
        (["corridor", "--methods", "vik"], "unknown method 'vik'; did you mean 'vic'"),
        (["corridor", "--methods", "vic,"], "--methods: 'vic,' has an empty part"),
        (["corridr"], "unknown world 'corridr'; did you mean 'corridor'"),
        (["corridor", "--steps", "1M,x"], "--steps: 'x' is not a whole number"),
        (["corridor", "--seeds", "0"], "--seeds: 0 is outside"),
        (["corridor", "--skills", "1"], "--skills: 1 is outside"),
        (["corridor", "--seed", "-1"], "--seed"),
        (["corridor", "--seed", "2147483647", "--seeds", "2"], "--seed"),
        (["corridor", "--with", ""], "--with: '' has an empty part"),
        (["corridor", "--with", "no.json"], "no.json"),
        (["corridor", "--engine", "rya"], "unknown engine 'rya'; did you mean 'ray'"),
    ],
)
def test_wrong_words_get_one_line_and_train_nothing(words, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["compare", *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(UserError, match="holds no comparison"):
        compare(["corridor"], tmp_path, methods=METHODS_HERE, engine=refuses, **SMALL)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_few_skills_are_drawn_by_what_they_leave_uncovered():
    def one(skills, most):
        cells = {"distinct": Cell([3.0], True, most)}
        cells |= {"information_count": Cell([2.0], True, None)}
        cells |= {"covering_radius": Cell([5.0], True, None)}
        return Result("ring", "vic", "vic", 1000, skills, 6, [0], cells)

    def drawn(*rows, measures=()):
        made = show.figure(rows, measures)
        return [axis.get_xlabel() for axis in made.axes], made.get_supxlabel()

    heads, words = drawn(one(4, 4.0))
    assert heads == ["distinct last states", "covering radius"]
    assert "dashed" in words
    assert drawn(one(100, 8.0))[0] == ["distinct last states", "information count"]
    heads, words = drawn(one(4, 4.0), measures=["covering_radius"])
    assert heads == ["covering radius"]
    assert "dashed" not in words  # nothing is
