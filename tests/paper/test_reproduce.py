"""A reproduction trains what is missing, keeps it and says what it found."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from apart import paper
from apart._errors import RunInterrupted, UserError
from apart.cli import main
from apart.methods import READINGS
from apart.paper import _budget, _records, _reproduce, _runs
from apart.paper._spec import Claim, Condition, Experiment
from apart.running import engines, machine, queue, study
from apart.running.board import Board
from apart.running.progress import duration
from apart.running.study import Task
from apart.runs import folder as run_folder

TINY = Experiment("tiny", "nowhere", [Condition("a", "diayn"), Condition("b", "vic")])
SMALL = {"seeds": 1, "steps": 80}
STORED = Path(__file__).parents[2] / "results" / "reproduce"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder of a reproduction of `TINY` by real processes, and what it said."""
    folder, said = tmp_path_factory.mktemp("reproduce"), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_reproduce, "experiment", lambda name: TINY)
        _reproduce.reproduce(["tiny"], folder, say=said.append, **SMALL)
    return folder, said


@pytest.fixture
def tiny(trained, tmp_path, monkeypatch):
    """A copy of that folder, with `TINY` as the only experiment."""
    monkeypatch.setattr(_reproduce, "experiment", lambda name: TINY)
    shutil.copytree(trained[0], tmp_path / "copy")
    return tmp_path / "copy"


def job_of(label, folder):
    (job,) = _runs.planned(TINY, folder, **SMALL)[label]
    return job


def test_experiments_share_the_runs_of_equal_settings(tmp_path):
    table, other = (
        _runs.planned(paper.experiment(name), tmp_path, 4, 5_000_000)
        for name in ("reward_table", "weight_functions")
    )
    assert table["AP min, both (APART)"][0].folder == other["square"][0].folder
    folders = {job.folder for group in table.values() for job in group}
    assert len(folders) == 40
    assert all(str(job.folder).endswith("seed-1") for job in (g[1] for g in table.values()))


def test_what_is_missing_is_trained(trained):
    folder, said = trained
    assert said[0].startswith("tiny: 2 runs, 0 done, 2 to do")
    assert any(text.startswith("[2 of 2 done") for text in said)
    assert (folder / "tiny.png").exists()
    assert not list((job_of("a", folder).folder / run_folder.CHECKPOINTS).iterdir())


def test_what_is_done_is_not_trained_again(tiny):
    first = (tiny / "tiny.json").read_bytes()

    def refuses(commands, watch, until):
        raise AssertionError(commands)

    pictures = _reproduce.reproduce(["tiny"], tiny, engine=refuses, **SMALL)
    assert (tiny / "tiny.json").read_bytes() == first
    assert pictures["tiny"].exists()


def test_what_an_experiment_keeps_is_stored_and_nothing_else(trained):
    folder, _ = trained
    (bare,) = _records.read(folder / "tiny.json", TINY).runs["a"]
    assert (*bare.curve, *bare.details, *bare.skills) == ("env_steps", "n_effective")
    assert bare.rises[0][0] == 0
    job = job_of("a", folder)
    keeps = ["information_count", "details", "skills"]
    full = _records.record_of(run_folder.load(job.folder), job.world, keeps)
    assert full.curve["env_steps"] == [0, 80]
    assert full.curve["information_count"][0] >= 1.0
    assert [detail["env_steps"] for detail in full.details] == [0, 0, 80]
    assert dict(full.details[-1]["most_at_once"])[job.world.start] == 100
    assert [states[0] for states in full.skills] == [job.world.start] * 100


def test_an_unfinished_run_is_made_again(tiny):
    broken = job_of("b", tiny).folder
    (broken / run_folder.SUMMARY).unlink()
    asked = []

    def notes(commands, watch, until):
        asked.extend(commands)
        return {broken: queue.Failure(2, "apart: no luck")}

    with pytest.raises(UserError, match="no luck"):
        _reproduce.reproduce(["tiny"], tiny, engine=notes, **SMALL)
    assert asked == [broken]


def test_a_damaged_run_is_named_with_what_to_do_and_the_others_are_made(tiny, monkeypatch):
    specs = {n: Experiment(n, "nowhere", [Condition(n, n)]) for n in ("diayn", "vic")}
    monkeypatch.setattr(_reproduce, "experiment", specs.__getitem__)
    damaged = job_of("a", tiny).folder
    (damaged / run_folder.SKILLS).write_text("half of i")
    said = []
    with pytest.raises(
        UserError, match=f"not made: diayn: .*; to train it again, remove {damaged}"
    ):
        _reproduce.reproduce(list(specs), tiny, say=said.append, **SMALL)
    assert [text for text in said if text.startswith("\nvic:")]


def test_a_stopped_reproduction_says_how_to_go_on(tmp_path, monkeypatch):
    monkeypatch.setattr(_reproduce, "experiment", lambda name: TINY)

    def stops(commands, watch, until):
        raise RunInterrupted("stopped", 15)

    with pytest.raises(RunInterrupted, match="stopped; repeat the command") as stop:
        _reproduce.reproduce(["tiny"], tmp_path, engine=stops, **SMALL)
    assert stop.value.signal_number == 15


def test_an_experiment_is_shown_when_its_last_run_ends(tiny, tmp_path, monkeypatch):
    """Not when all others are done too; and one that needs nothing at once."""
    specs = {n: Experiment(n, "nowhere", [Condition(n, n)]) for n in ("diayn", "vic", "tuned_vic")}
    monkeypatch.setattr(_reproduce, "experiment", specs.__getitem__)
    shutil.rmtree(job_of("a", tiny).folder)
    finished = job_of("b", tiny).folder
    said, shown = [], []

    def one_by_one(commands, watch, until):
        shown.append([n for n in specs for text in said if text.startswith(f"\n{n}:")])
        for folder in commands:  # any finished run will do
            shutil.copytree(finished, folder, dirs_exist_ok=True)
            watch(folder, None)
            shown.append([n for n in specs for text in said if text.startswith(f"\n{n}:")])
        return {}

    _reproduce.reproduce(list(specs), tiny, engine=one_by_one, say=said.append, **SMALL)
    assert shown == [["vic"], ["diayn", "vic"], ["diayn", "vic", "tuned_vic"]]
    assert len([text for text in said if text.startswith("\n")]) == 3


def test_a_study_gets_its_runs_in_the_order_it_asked(tiny):
    """As the benchmarks do; nothing is left to train."""
    jobs = [job_of("b", tiny), job_of("a", tiny)]
    assert [run.summary["method"] for run in _runs.finished(jobs)] == ["vic", "diayn"]


@pytest.mark.parametrize("name", paper.names())
def test_what_runs_cost_is_guessed_within_a_factor(name):
    """Against the fastest stored seed of every condition: these machines were shared."""
    spec = paper.experiment(name)
    if not (STORED / f"{name}.json").exists():
        pytest.skip("not made yet, as the ledger says")
    stored = _records.read(STORED / f"{name}.json", spec)
    for label, (job, *_) in _runs.planned(spec, Path("x"), 1, spec.steps).items():
        seconds = min(record.wall_seconds for record in stored.runs[label])
        assert 0.2 < job.seconds / seconds < 5 or seconds < 20, label


def test_a_guess_of_time_is_for_the_cores_of_this_machine_or_for_one_of_a_cluster(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(machine, "cores", lambda: 4)
    jobs = [job_of(label, tmp_path) for label in "ab"]
    seconds = sum(job.seconds for job in jobs)
    told = study.words("all", jobs, engines.on_this_machine)
    assert told == f"all: 2 runs, 0 done, 2 to do, about {duration(seconds / 4)} on 4 cores"
    assert study.words("all", jobs, engines.on_ray).endswith(f" {duration(seconds)} on 1 core")


def test_the_time_left_is_that_of_what_is_trained_now(monkeypatch):
    """A run that goes on at nine tenths was not trained in this second."""

    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    a = Path("a")
    board = Board({a: 1000.0}, {"one": {a}}, lambda text: None)
    board.under_way(a, 0.9)
    clock[0] = 2.0
    board.under_way(a, 0.902)
    assert board._left() == "1:38"


def test_the_board_has_a_column_for_what_failed_and_no_time_for_it(monkeypatch):
    clock, said = [0.0], []
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    a, b, c = (Path(name) for name in "abc")
    board = Board({a: 10.0, b: 10.0, c: 10.0}, {"one": {a, b, c}}, said.append)
    board.under_way(b, 0.0)
    clock[0] = 10.0
    board.done(a, "a")
    board.failed(b)
    headers = [str(column.header) for column in board.table().columns]
    assert headers == ["experiment", "done", "running", "waiting", "failed", "of"]
    assert [next(iter(column.cells)) for column in board.table().columns][1:] == list("10113")
    assert said == ["[1 of 3 done, 0:20 left] a", "[1 of 3 done, 1 failed, 0:10 left]"]


def test_the_board_counts_shared_and_earlier_runs():
    a, b, c, before = (Path(name) for name in ("a", "b", "c", "before"))
    said = []
    todo = {a: 10.0, b: 10.0, c: 20.0}
    board = Board(todo, {"one": {a, b, before}, "two": {b, c}}, said.append)
    board.done(a, "a: 3 of 5")
    board.under_way(b, 0.5)
    rows = {
        tuple(row) for row in zip(*(column.cells for column in board.table().columns), strict=True)
    }
    assert rows == {("one", "2", "1", "0", "3"), ("two", "0", "1", "1", "2")}
    assert len(said) == 1
    assert said[0].startswith("[1 of 3 done, ")
    assert said[0].endswith("left] a: 3 of 5")
    assert "last: a: 3 of 5" in board.table().caption


def test_another_reading_shares_runs_and_has_results_of_its_own(tiny):
    said = []
    _reproduce.reproduce(["tiny"], tiny, reading="published", say=said.append, **SMALL)
    here, there = (_records.read(_records.place(tiny, r) / "tiny.json", TINY) for r in READINGS)
    assert (here.reading, there.reading) == ("ours", "published")
    assert "published reading" in "\n".join(said)
    config = _runs.planned(TINY, tiny, **SMALL, reading="published")["a"][0].config
    assert (config.one_skill, config.context) == (True, "current")
    with pytest.raises(UserError, match="make it again: apart reproduce tiny --reading published"):
        _records.read(tiny / "published" / "tiny.json", dataclasses.replace(TINY, conditions=[]))


def test_a_budget_makes_the_cheapest_claims_first_and_then_larger():
    claim = Claim("c", "1", lambda results: None)
    dear = Experiment("d", "nowhere", [Condition("a", "apart")], [claim])
    cheap = Experiment("c", "nowhere", [Condition("a", "diayn")], [claim], paper_steps=150_000_000)
    ours = Experiment("o", "nowhere", [Condition("a", "diayn")], [])
    specs = {"dear": dear, "cheap": cheap, "ours": ours}
    per_million = {"dear": 10.0, "cheap": 1.0, "ours": 0.5}

    def cost(name, size):
        seconds = per_million[name] * size.steps / 1e6
        return {Path(f"{name}-{size.steps}/{seed}"): seconds for seed in range(size.seeds)}

    def fit(seconds, reading="ours"):
        return _budget.fit(specs, reading, seconds, cost)

    everything = {"dear": (4, 5_000_000), "cheap": (4, 5_000_000), "ours": (4, 5_000_000)}
    assert fit(1000) == everything
    assert fit(12) == {"cheap": (2, 5_000_000)}
    assert fit(25) == {"cheap": (4, 5_000_000), "ours": (2, 5_000_000)}
    assert fit(3) == {"cheap": (2, 1_000_000), "ours": (2, 1_000_000)}
    assert fit(1e-3) == {}
    assert fit(1000, "published")["cheap"] == (4, 150_000_000)
    words = _budget.words(specs, "ours", fit(25))
    assert words == [
        "in full: cheap (4 seeds, 5M steps)",
        "in part: ours (2 of 4 seeds, 5M steps)",
        "left out: dear",
    ]


def test_runs_that_experiments_share_are_paid_once():
    specs = {name: Experiment(name, "nowhere", [Condition("a", "diayn")]) for name in "ab"}
    shared = {Path("same"): 10.0}
    assert len(_budget.fit(specs, "ours", 11.0, lambda name, size: shared)) == 2


def test_what_was_not_made_in_time_is_said(tiny, monkeypatch):
    monkeypatch.setattr(Task, "seconds", 0.0)
    said, untils = [], []

    def late(commands, watch, until):
        untils.append(until - time.monotonic())
        return {}

    pictures = _reproduce.reproduce(["tiny"], tiny, budget=7.0, engine=late, say=said.append)
    assert not pictures
    assert 0 < untils[0] <= 7
    assert said[0] == "in full: tiny (4 seeds, 5M steps)"
    assert said[-1] == "not made in time: tiny (0 of 8 runs); repeat the command to continue"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["reproduce", "latents", "--budget", "30"], "--budget: '30' has no unit"),
        (["reproduce", "latents", "--budget", "xh"], "--budget: 'x' is not a number"),
        (["reproduce", "latents", "--budget", "1h", "--seeds", "2"], "--budget chooses --seeds"),
        (["reproduce", "latents", "--reading", "publishd"], "did you mean 'published'"),
        (["reproduce", "pixels", "--reading", "published"], "--reading ours only: pixels"),
        (["reproduce"], "name an experiment or --all"),
        (["reproduce", "reward_tabel"], "did you mean 'reward_table'"),
        (["reproduce", "latents", "--all"], "--all or names (latents)"),
        (["reproduce", "latents", "--engine", "rya"], "unknown engine 'rya'; did you mean 'ray'"),
        (["reproduce", "latents", "--steps", "0"], "--steps: 0 is outside"),
        (["reproduce", "latents", "--seeds", "x"], "--seeds: 'x' is not a whole number"),
    ],
)
def test_wrong_words_get_one_line_and_train_nothing(words, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


RAY = """
import sys
from apart.cli import main
from apart.paper import _reproduce
from apart.paper._spec import Claim, Condition, Experiment
tiny = Experiment("tiny", "nowhere", [Condition("a", "diayn"), Condition("b", "vic")])
_reproduce.experiment = lambda name: tiny
words = ["reproduce", "tiny", "--steps", "80", "--seeds", "1", "--engine", "ray", "--out"]
sys.exit(main([*words, sys.argv[1]]))
"""


def test_the_same_runs_on_a_local_ray(trained, tmp_path):
    """In a process of its own: Ray leaves sockets and threads behind."""
    pytest.importorskip("ray")
    command = [sys.executable, "-c", RAY, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "[2 of 2 done" in done.stdout
    local, ray = (
        {
            label: [dataclasses.replace(record, wall_seconds=0) for record in records]
            for label, records in _records.read(folder / "tiny.json", TINY).runs.items()
        }
        for folder in (trained[0], tmp_path)
    )
    assert local == ray
