"""Sweeps: what a file says is what is trained; what it says wrong is named with its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import here

import apart
from apart import worlds
from apart._errors import UserError
from apart.cli import main
from apart.comparison import compare as compared
from apart.comparison import results
from apart.running import engines, sweep
from apart.running.queue import Failure
from apart.runs import claims, plan
from apart.runs import folder as run_folder

FILE = """
seeds = 2
[options]
world = "corridor"
steps = 160
skills = 6
[grid]
method = ["vic", "diayn"]
learning_rate = [1e-3, 2e-3]
[[run]]
method = "random_walk"
seed = 7
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text=FILE):
        path = tmp_path / "trial.toml"
        path.write_text(text)
        return path

    return write


def said(path, folder="x"):
    return [
        (t.config.method, t.config.learning_rate, t.config.seed)
        for t in sweep.read(path, path.parent / folder)
    ]


def test_a_grid_and_a_list_with_seeds(file):
    assert said(file()) == [
        *(("vic", rate, seed) for rate in (1e-3, 2e-3) for seed in (0, 1)),
        *(("diayn", rate, seed) for rate in (1e-3, 2e-3) for seed in (0, 1)),
        *(("random_walk", 2e-3, seed) for seed in (7, 8)),
    ]


def test_options_alone_are_one_run_and_equal_runs_are_one(file):
    assert said(file('[options]\nworld = "empty"')) == [("apart", 2e-3, 0)]
    twice = '[options]\nworld = "empty"\n[[run]]\nseed = 1\n[[run]]\nseed = 1\n[[run]]\nslip = 0.1'
    assert len(said(file(twice))) == 2


def test_a_world_is_loaded_once_for_each_slip(file, monkeypatch):
    loaded, load = [], worlds.load

    def counting(world, slip=0.0):
        loaded.extend([(world, slip)] if isinstance(world, str) else [])
        return load(world, slip)

    monkeypatch.setattr(worlds, "load", counting)
    path = file('[options]\nworld = "empty"\n[grid]\nslip = [0, 0.1]\nskills = [2, 3, 4]')
    tasks = sweep.read(path, path.parent)
    assert loaded == [("empty", 0.0), ("empty", 0.1)]
    assert [task.world.about.spec.get("slip", 0) for task in tasks] == [0] * 3 + [0.1] * 3


def test_auto_is_left_to_the_world_and_the_networks(file):
    words = ["skills", "horizon", "observation", "network"]
    lines = "\n".join(f'{word} = "auto"' for word in words)
    path = file(f'[options]\nworld = "corridor"\n{lines}')
    (task,) = sweep.read(path, path.parent)
    assert task.config.skills == task.world.n_available(task.config.horizon)


def test_what_differs_has_folders_of_its_own(file):
    """Also where only the world does: the chance of a random action, a map of the same name."""
    path = file('[options]\nworld = "empty"\n[grid]\nslip = [0.0, 0.1]\nsteps = ["1k", 2000]')
    tasks = sweep.read(path, path.parent)
    assert len({task.folder for task in tasks}) == 4
    again = sweep.read(path, path.parent)
    assert [task.folder for task in tasks] == [task.folder for task in again]
    assert tasks[0].label == "apart, slip 0.0, steps 1k"


def test_a_byte_order_mark_is_no_part_of_the_file(file):
    path = file('\ufeff[options]\nworld = "corridor"\n')
    assert len(sweep.read(path, path.parent / "x")) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seeds = 2\n[grid\n", "not valid TOML: .*line 2"),
        ("[option]\n", "unknown table 'option'; did you mean 'options'"),
        ('world = "empty"', r"'world' is in no table; put it under \[options\]"),
        ("seeds = 0", "seeds = 0: give a whole number"),
        (
            '[options]\nworld = "empty"\nseed = "auto"',
            r"\[options\]: .*'auto' is not a whole number",
        ),
        ("options = 3", "'options' is not a table"),
        ("run = 3", r"'run' is not a list of tables; write \[\[run\]\]"),
        (
            '[options]\nskils = 3\nworld = "empty"',
            r"\[options\]: unknown key 'skils'; did you mean",
        ),
        ("[options]\nhidden = 3", r"\[options\]: option 'hidden' .*--network mlp"),
        ('[options]\nout = "x"', r"'out' does not belong .*--out"),
        ('out = "x"', r"'out' does not belong .*--out"),
        ("[grid]\nskills = 3", r"\[grid\]: skills = 3: give a list"),
        ("[[run]]\nseeds = 3", r"\[\[run\]\] 1: 'seeds'"),
        ("[[run]]\nskills = 3", r"\[\[run\]\] 1: world is missing"),
        ("[options]\nworld = 5", r"\[options\]: world = 5: give a name or a map"),
        (
            '[options]\nworld = "empty"\nmethod = ["vic"]',
            r"\[options\]: method = \['vic'\]: .* go under \[grid\]",
        ),
        (
            '[options]\nworld = "empty"\n[grid]\nskills = [5, 1]',
            r"\[grid\] \(skills = 1\): --skills: 1 is outside",
        ),
        ('[options]\nworld = "empti"', r"\[options\]: unknown world 'empti'; did you mean 'empty'"),
        (
            '[[run]]\nworld = "empty"\n[[run]]\nworld = "empty"\nmethod = "vik"',
            r"\[\[run\]\] 2: unknown method 'vik'; did you mean 'vic'",
        ),
        ('[options]\nworld = "empty"\nslip = "x"', r"\[options\]: slip: 'x' is not a number"),
        ('seeds = 9\n[options]\nworld = "empty"\nseed = 2147483640', "--seed: .* is outside"),
        ('[options]\nworld = "empty"\nslip = 2', r"\[options\]: slip: 2 is outside 0 to 1"),
        (f'[options]\nworld = "empty"\nslip = 1{"0" * 400}', "more than 40 digits is outside 0"),
        ('seeds = 1000000\n[options]\nworld = "empty"', "1,000,000 runs .*100,000"),
        (f"seeds = {'9' * 5000}", "not valid TOML"),
        (f"seeds = 0x{'f' * 6000}", "seeds = a number of more than 40 digits: give"),
        (f"x = {'[' * 3000}", "not valid TOML"),
        (f'[options]\nworld = "empty"\nseed = 0x{"f" * 6000}', "more than 40 digits is outside"),
        (
            "[grid]\n"
            + "\n".join(
                f"{key} = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"
                for key in (
                    "skills",
                    "horizon",
                    "seed",
                    "batch",
                    "buffer",
                    "hold",
                    "steps",
                    "bonus",
                )
            ),
            "100,000,000 runs .*100,000",
        ),
    ],
)
def test_what_is_wrong_is_named_with_file_and_key(text, message, file, capsys):
    path = file(text)
    with pytest.raises(UserError, match=rf"trial\.toml: .*{message}"):
        sweep.read(path, path.parent / "x")
    assert main(["sweep", "trial.toml"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert [p.name for p in path.parent.iterdir()] == ["trial.toml"]


def test_one_of_the_list_and_then_the_rest(file, capsys, monkeypatch):
    """As an array of a batch system does; what is done is not trained again."""
    options = '[options]\nworld = "corridor"\nsteps = 160\nskills = 6\nmethod = "vic"\n'
    file(f"{options}[grid]\nseed = [0, 1]")
    monkeypatch.setitem(engines.ENGINES, "local", here)
    assert main(["sweep", "trial.toml", "--index", "1"]) == 0
    assert main(["sweep", "trial.toml", "--list"]) == 0
    shown = capsys.readouterr().out
    assert [line.split()[1] for line in shown.split("\n")[-3:-1]] == ["to", "done"]
    trained = []
    monkeypatch.setitem(engines.ENGINES, "local", lambda *words: trained.append(words[0]) or {})
    assert main(["sweep", "trial.toml"]) == 0
    assert [path.name for path in trained[0]] == ["seed-0"]
    assert main(["sweep", "trial.toml", "--index", "2"]) == 2
    assert "--index: 2 is outside 0 to 1" in capsys.readouterr().err
    assert main(["sweep", "trial.toml", "--index", "1"]) == 0  # done: nothing to train
    assert "trial.toml: 1 run, 1 done, 0 to do" in capsys.readouterr().out
    assert len(trained) == 1


def test_several_of_the_list_are_one_task(file, capsys, monkeypatch):
    file('[options]\nworld = "corridor"\nsteps = 160\nskills = 6\n[grid]\nseed = [5, 6, 7, 8, 9]')
    trained = []
    monkeypatch.setitem(engines.ENGINES, "local", lambda *words: trained.append(words[0]) or {})
    for text, seeds in (("1-3", [6, 7, 8]), ("3,0-1", [8, 5, 6]), ("4-4, 4", [9])):
        assert main(["sweep", "trial.toml", "--index", text]) == 0
        assert [path.name for path in trained.pop()] == [f"seed-{seed}" for seed in seeds]
    capsys.readouterr()
    assert main(["sweep", "trial.toml", "--list", "--index", "1,3-4"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["1", "3", "4"]
    for text, wrong in (
        ("2-5", "5 is outside 0 to 4"),
        ("0-999999999", "999999999 is outside 0 to 4"),
        ("3-1", "write 1-3"),
        ("x", "'x' is not"),
        ("1-", "'1-' is not"),
        ("1,,2", "'' is not"),
        ("-1", "'-1' is not"),
    ):
        assert main(["sweep", "trial.toml", "--index", text]) == 2
        assert wrong in capsys.readouterr().err
    assert trained == []


def test_settings_are_summed_up_over_their_seeds(file, capsys, monkeypatch):
    options = '[options]\nworld = "corridor"\nsteps = 160\nskills = 6\nmethod = "vic"\n'
    path = file(f"seeds = 2\n{options}[grid]\nepsilon = [0.1, 0.2]")
    monkeypatch.setitem(engines.ENGINES, "local", here)
    assert main(["sweep", "trial.toml"]) == 0
    shown = capsys.readouterr().out
    runs = [apart.load(task.folder) for task in sweep.read(path, path.parent / "runs" / "trial")]
    for first, epsilon in ((0, 0.1), (2, 0.2)):
        mean = (runs[first].n_effective + runs[first + 1].n_effective) / 2
        assert f"  vic, epsilon {epsilon}, corridor: {mean:g} of 6 possible, 2 seeds\n" in shown


def test_every_measure_of_each_setting_is_written_as_a_comparison_has_it(file, capsys, monkeypatch):
    options = '[options]\nworld = "corridor"\nsteps = 160\nskills = 6\nmethod = "vic"\n'
    path = file(f'seeds = 2\n{options}[grid]\nepsilon = [0.1, 0.2]\n[[run]]\nmethod = "diayn"')
    monkeypatch.setitem(engines.ENGINES, "local", here)
    assert main(["sweep", "trial.toml"]) == 0
    folder = path.parent / "runs" / "trial"
    assert "all measures: runs/trial/sweep.md, sweep.json, sweep.png\n" in capsys.readouterr().out
    rows = results.read(folder / "sweep.json")
    assert [row.label for row in rows] == ["vic, epsilon 0.1", "vic, epsilon 0.2", "diayn"]
    runs = [apart.load(task.folder) for task in sweep.read(path, folder)]
    for n, row in enumerate(rows):
        assert list(row.seeds) == [0, 1]
        found = [run.n_effective for run in runs[2 * n : 2 * n + 2]]
        assert list(row.cells["distinct"].values) == found
    assert (folder / "sweep.png").exists()
    words = ["--methods", "random_walk", "--steps", "160", "--skills", "6", "--seeds", "1"]
    known = ["--with", "runs/trial/sweep.json", "--out", "runs/both"]
    assert main(["compare", "corridor", *words, *known]) == 0
    both = {row.label for row in results.read(path.parent / "runs" / "both" / "compare.json")}
    assert both == {*(row.label for row in rows), "random_walk"}
    monkeypatch.setattr(compared, "_MOST_DRAWN", 2)
    assert main(["sweep", "trial.toml"]) == 0
    assert "sweep.json (no picture of 3 rows)\n" in capsys.readouterr().out
    assert not (folder / "sweep.png").exists()


def test_a_slippery_world_is_a_setting_and_no_other_map(file, monkeypatch):
    options = '[options]\nworld = "corridor"\nsteps = 160\nskills = 6\nmethod = "vic"\n'
    path = file(f"{options}[grid]\nslip = [0.0, 0.2]")
    monkeypatch.setitem(engines.ENGINES, "local", here)
    assert main(["sweep", "trial.toml"]) == 0
    words = ["--methods", "random_walk", "--steps", "160", "--skills", "6", "--seeds", "1"]
    known = ["--with", "runs/trial/sweep.json", "--out", "runs/both"]
    assert main(["compare", "corridor", *words, *known]) == 0
    both = [row.label for row in results.read(path.parent / "runs" / "both" / "compare.json")]
    assert both == ["vic, slip 0.0", "vic, slip 0.2", "random_walk"]


def test_a_setting_that_is_there_twice_counts_its_seeds_once(file, capsys, monkeypatch):
    options = '[options]\nworld = "corridor"\nsteps = 160\nskills = 6\nmethod = "vic"\n'
    file(f"seeds = 2\n{options}[grid]\nepsilon = [0.1]\n[[run]]\nepsilon = 0.1")
    monkeypatch.setitem(engines.ENGINES, "local", here)
    assert main(["sweep", "trial.toml"]) == 0
    assert " of 6 possible, 2 seeds\n" in capsys.readouterr().out


def test_a_run_that_was_trained_for_longer_is_left_out_of_its_mean(file, capsys, monkeypatch):
    options = '[options]\nworld = "corridor"\nsteps = 160\nskills = 6\nmethod = "vic"\n'
    path = file(f"seeds = 2\n{options}")
    monkeypatch.setitem(engines.ENGINES, "local", here)
    assert main(["sweep", "trial.toml"]) == 0
    first, second = sweep.read(path, path.parent / "runs" / "trial")
    apart.resume(first.folder, steps=320)
    capsys.readouterr()
    assert main(["sweep", "trial.toml"]) == 0
    shown = capsys.readouterr().out
    assert f"not counted: {first.folder.relative_to(path.parent)}: has " in shown
    found = apart.load(second.folder).n_effective
    assert f"  vic, corridor: {found:g} of 6 possible, 1 of 2 seeds\n" in shown


def test_a_run_that_two_settings_have_counts_for_both(file, capsys, monkeypatch):
    options = '[options]\nworld = "corridor"\nsteps = 160\nskills = 6\nmethod = "vic"\n'
    path = file(f"seeds = 2\n{options}[grid]\nseed = [0, 1]")
    monkeypatch.setitem(engines.ENGINES, "local", here)
    assert main(["sweep", "trial.toml"]) == 0
    shown = capsys.readouterr().out
    assert "trial.toml: 3 runs" in shown
    runs = [apart.load(task.folder) for task in sweep.read(path, path.parent / "runs" / "trial")]
    assert len(runs) == 3
    for seed in (0, 1):
        mean = (runs[seed].n_effective + runs[seed + 1].n_effective) / 2
        assert f"  vic, seed {seed}, corridor: {mean:g} of 6 possible, 2 seeds\n" in shown


def test_what_failed_is_said_at_the_end_and_the_others_are_summed_up(file, capsys, monkeypatch):
    file()

    def fails(runs, watch, until):
        first, second, *others = runs
        here({run: runs[run] for run in others}, watch, until)
        return {first: Failure(3, "apart: numbers"), second: Failure(2, "apart: no luck")}

    monkeypatch.setitem(engines.ENGINES, "local", fails)
    assert main(["sweep", "trial.toml"]) == 2
    said = capsys.readouterr()
    line = said.err.strip()
    assert "2 of 10 runs failed" in line
    assert "seed-0: numbers" in line
    assert "seed-1: no luck" in line
    assert said.out.count(" of 6 possible, 2 seeds\n") == 4  # of five settings
    lacks = "vic, learning_rate 0.001"
    assert f"  {lacks}, corridor: not finished, 0 of 2 seeds\n" in said.out
    assert f"- not finished: {lacks} in corridor: 0 of 2 seeds\n" in (
        Path("runs/trial/sweep.md").read_text()
    )


def test_a_study_goes_on_where_another_writes_the_same_run_just_then(file, monkeypatch):
    path = file('[options]\nworld = "corridor"\nsteps = 160\nskills = 6')
    plain, tries = claims.claim, []

    def taken(folder, overwrite, wait):
        """It was waited for, and has written what was to be written."""
        tries.append(wait)
        with plain(folder, overwrite=False):
            (task,) = sweep.read(path, path.parent / "runs" / "trial")
            plan.write(folder, task.config, task.world)
        raise UserError("holds an unfinished run")

    monkeypatch.setattr(claims, "claim", taken)
    monkeypatch.setitem(engines.ENGINES, "local", here)
    assert main(["sweep", "trial.toml"]) == 0
    assert tries == [True]


def test_a_run_that_is_trained_for_longer_is_named(file, capsys, monkeypatch):
    path = file('[options]\nworld = "corridor"\nsteps = 160\nskills = 6')
    monkeypatch.setitem(engines.ENGINES, "local", here)
    assert main(["sweep", "trial.toml"]) == 0
    (task,) = sweep.read(path, path.parent / "runs" / "trial")
    apart.resume(task.folder, steps=320)
    (task.folder / run_folder.SUMMARY).unlink()  # it was stopped
    assert main(["sweep", "trial.toml"]) == 2
    assert "'apart resume runs" in capsys.readouterr().err


def test_a_run_of_another_configuration_in_its_place_is_refused(file, monkeypatch):
    path = file('[options]\nworld = "corridor"\nsteps = 160\nskills = 6')
    (task,) = sweep.read(path, path.parent / "runs" / "trial")
    other = file('[options]\nworld = "corridor"\nsteps = 320\nskills = 6')
    (longer,) = sweep.read(other, path.parent / "elsewhere")
    monkeypatch.setitem(engines.ENGINES, "local", lambda *words: {})
    assert main(["sweep", "trial.toml", "--out", "elsewhere"]) == 0
    task.folder.mkdir(parents=True)
    (task.folder / run_folder.CONFIG).write_bytes((longer.folder / run_folder.CONFIG).read_bytes())
    file('[options]\nworld = "corridor"\nsteps = 160\nskills = 6')
    assert main(["sweep", "trial.toml"]) == 2
