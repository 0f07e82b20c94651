"""Every experiment: what it trains exists, its picture draws, its claims are judged."""

from __future__ import annotations

import dataclasses
import json
import operator
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from apart import paper as experiments
from apart._errors import RunInterrupted, UserError
from apart.cli import main
from apart.paper import _draw, _spec, accuracy_per_step, readings, reward_table
from apart.paper import _reproduce as reproduce
from apart.paper._board import Board
from apart.paper._spec import Claim, Condition, Experiment, Finding, Record, Results
from apart.running import pool
from apart.settings import resolve

NAMES = experiments.names()
STORED = Path(__file__).parents[2] / "results" / "reproduce"


COLUMNS = {
    "mean_last_reward": [0.0, 0.5, 0.7],
    "information_count": [1.0, 2.0, 2.0],
    "discriminator_accuracy": [0.0, 0.2, 0.3],
}


def fake(condition, seed, n_effective=40, keeps=()):
    """A record such as a run of this condition could leave, with what is kept and no more."""
    config, world = resolve(condition.world, condition.method, dict(condition.options))
    horizon, n = config.horizon, world.n_available(config.horizon)
    detail = {
        "env_steps": 0,
        "accuracy_per_step": [0.4] * horizon,
        "most_at_once": [(world.start, 100), (3, 5)],
    }
    found = min(n_effective + seed, n)
    curve = {
        "env_steps": [0.0, 1e6, 5e6],
        "n_effective": [1.0, float(found), float(found)],
        **{name: column for name, column in COLUMNS.items() if name in keeps},
    }
    skills = [[world.start] * horizon + [k % n] for k in range(config.skills)]
    details = [detail] * 3 if "details" in keeps else ()
    episodes = skills if "skills" in keeps and seed == 0 else ()
    return Record(seed, found, n, 20.0, 5_000_000, 9.0, curve, details, episodes)


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_draws_and_judges(name, tmp_path):
    spec = experiments.experiment(name)
    assert len({c.label for c in spec.conditions}) == len(spec.conditions)
    assert set(spec.keeps) <= {*COLUMNS, _spec.DETAILS, _spec.SKILLS}
    runs = {c.label: [fake(c, s, keeps=spec.keeps) for s in (0, 1)] for c in spec.conditions}
    results = Results(runs, spec.steps)
    path = tmp_path / "stored.json"
    reproduce.write_results(path, results, spec)
    again = reproduce.read_results(path, spec)
    assert json.loads(path.read_text())["steps"] == spec.steps
    picture = reproduce.draw(name, again, tmp_path / "picture.png")
    assert picture.stat().st_size > 5_000
    for row in reproduce.judge(spec, again):
        known = (_spec.REPRODUCED, _spec.BETTER, _spec.MISSED)
        answers = (*known, "yes", "no") if row.own else known
        assert row.verdict in answers or row.verdict.startswith("not judged")
        assert row.why or row.verdict == _spec.OPEN
        assert "|" not in row.claim + row.paper + row.ours + row.why
    assert spec.title in reproduce.table(name, again)
    assert spec.title in reproduce.ledger([(name, again)])


def results_of(**scores):
    runs = {}
    for label, values in scores.items():
        base = fake(Condition(label, "diayn"), 0)
        runs[label] = [dataclasses.replace(base, n_effective=v) for v in values]
    return Results(runs, 5_000_000)


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (_spec.value("a", 50.0, 1.0), "reproduced"),
        (_spec.value("a", 30.0, 1.0), "not reproduced"),
        (_spec.value("a", 30.0, 1.0, own=True), "better"),
        (_spec.value("a", 70.0, 1.0, own=True), "not reproduced"),
        (_spec.more("a", "b"), "reproduced"),
        (_spec.more("b", "a"), "not reproduced"),
        (_spec.more("a", "a"), "not reproduced"),
        (_spec.alike(["a", "b"], 12), "reproduced"),
        (_spec.alike(["a", "b"], 10.5), "not reproduced"),  # by the interval, not by the means
        (_spec.alike(["a", "a"], 2), "reproduced"),
        (_spec.alike(["a", "b"], 9), "not reproduced"),
        (_spec.mean_is("b", operator.lt, 45), "reproduced"),
        (_spec.mean_is("a", operator.lt, 45), "not reproduced"),
        (_spec.highest("a", ["b"]), "reproduced"),
        (_spec.highest("b", ["a"]), "not reproduced"),
        (_spec.highest("a", ["b", "a"]), "not reproduced"),
        (_spec.value("a", 48.0, 0.0), "reproduced"),
        (_spec.value("a", 47.5, 0.0), "not reproduced"),
        (_spec.value("a", 47.5, 1.5), "reproduced"),
        (_spec.mean_is("a", operator.lt, 50), "not reproduced"),
        (_spec.sooner("a", "b"), "not judged: neither got there"),
        (_spec.mean_is("a", operator.ge, 50), "reproduced"),
        (_spec.mean_is("b", operator.ge, 50), "not reproduced"),
    ],
)
def test_verdicts_follow_the_numbers(check, verdict):
    assert check(results_of(a=[49, 50, 51, 50], b=[39, 40, 41, 40])).verdict == verdict


@pytest.mark.parametrize(
    ("check", "why"),
    [
        (_spec.more("a", "b"), "holds: the interval of the difference is above 0"),
        (_spec.more("b", "a"), "does not hold: the interval of the difference is above 0"),
        (
            _spec.alike(["a", "b"], 9),
            "does not hold: the interval is within 9 skills",
        ),
        (_spec.value("a", 48.0, 0.0), "holds: within 2 skills (+2.0)"),
        (_spec.value("a", 30.0, 1.5, own=True), "does not hold: within 3 skills (+20.0)"),
        (_spec.mean_is("b", operator.lt, 45), "holds: the mean is below 45"),
        (_spec.mean_is("b", operator.gt, 45), "does not hold: the mean is above 45"),
    ],
)
def test_a_finding_says_what_decided_it(check, why):
    assert check(results_of(a=[49, 50, 51, 50], b=[39, 40, 41, 40])).why == why


def test_a_method_keeps_its_colour_and_variations_get_others():
    """The paper's own setting of a sweep, and what stands alone, look as in every other figure."""
    conditions = [
        Condition("small", "apart", options={"batch": 16}),
        Condition("the paper's", "apart", options={"batch": 640}),
        Condition("large", "apart", options={"batch": 1280}),
        Condition("alone", "diayn", options={"batch": 16}),
    ]
    styles = _draw.styles_of(conditions)
    assert styles["the paper's"] == _draw.STYLES["apart"]
    assert styles["alone"] == _draw.STYLES["diayn"]
    assert (styles["small"], styles["large"]) == _draw.SERIES[:2]


@pytest.mark.parametrize(
    ("verdict", "early", "judged", "why"),
    [
        ("reproduced", "reproduced", "reproduced", "so, after 5M steps already"),
        ("not reproduced", "reproduced", "not judged below 20M steps", "ours end at 5M"),
        ("reproduced", "", "not judged below 20M steps", "ours end at 5M"),
    ],
)
def test_short_runs_give_only_verdicts_that_will_stand(verdict, early, judged, why):
    claim = Claim("long", "85", lambda _: Finding("1", verdict, "so"), at=20_000_000, early=early)
    spec = Experiment("t", "s", [Condition("a", "diayn")], [claim])
    (row,) = reproduce.judge(spec, results_of(a=[1, 1]))
    assert (row.verdict, row.why) == (judged, why)


def test_questions_of_ours_are_answered():
    claims = [
        Claim(v, "silent", lambda _, v=v: Finding("1", v, "so"), ours=True, why={v: f"why {v}"})
        for v in ("reproduced", "not reproduced")
    ]
    spec = Experiment("t", "s", [Condition("a", "diayn")], claims)
    rows = reproduce.judge(spec, results_of(a=[1, 1]))
    assert [(row.verdict, row.why) for row in rows] == [
        ("yes", "why reproduced"),
        ("no", "why not reproduced"),
    ]


def over_steps(*curves):
    """Records of these skills at 1M, 2M, ... steps."""
    base = fake(Condition("a", "apart"), 0)
    return [
        dataclasses.replace(
            base,
            curve={"env_steps": [1e6 * (i + 1) for i in range(len(c))], "n_effective": list(c)},
            n_effective=c[-1],
        )
        for c in curves
    ]


def test_who_is_sooner():
    slow, fast = over_steps([1, 2, 50], [1, 50, 50]), over_steps([60, 60, 60], [1, 60, 20])
    runs = Results({"slow": slow, "fast": fast, "never": over_steps([1, 1, 1])}, 3_000_000)
    assert _spec.sooner("fast", "slow")(runs).verdict == "reproduced"
    assert _spec.sooner("slow", "fast")(runs).verdict == "not reproduced"
    assert (
        _spec.sooner("slow", "never")(runs).ours
        == "43 skills after 2.50M against more than 3M steps"
    )
    assert _spec.sooner("never", "never")(runs).verdict == _spec.OPEN


def test_learned_skills_over_time():
    from apart.paper.learned_skills import indicates, steady

    def runs(*curves):
        return Results({"apart four_rooms": over_steps(*curves)}, 6_000_000)

    assert steady(runs([50, 0, 60, 70, 70, 66])).verdict == "reproduced"
    assert steady(runs([50, 0, 60, 70, 64, 70])).verdict == "not reproduced"
    steps = [60, 60, 60, 60, 60, 70], [9, 9, 9, 9, 9, 20], [8, 8, 8, 8, 8, 7]
    order = {
        f"{method} {world}": over_steps(skills)
        for world in _spec.WORLDS
        for method, skills in zip(("apart", "diayn", "vic"), steps, strict=True)
    }
    assert indicates(Results(order, 6_000_000)).verdict == "reproduced"
    order["vic empty"] = over_steps([8, 8, 8, 8, 8, 30])
    found = indicates(Results(order, 6_000_000))
    assert found.verdict == "not reproduced"
    assert "empty APART > VIC > DIAYN (at 5M APART > DIAYN > VIC)" in found.ours


def test_the_size_of_rewards():
    from apart.paper import reward_comparison as compared

    def compare(**last):
        names = ("APART", "AP average", *(f"tuned VIC, beta {b:g}" for b in (10, 1, 0.1)), "VIC")
        base = fake(Condition("a", "apart"), 0)
        runs = {}
        for label, value in zip(names, last.values(), strict=True):
            curve = {"mean_last_reward": [9.0, 9.0, 9.0, value, value]}
            runs[label] = [dataclasses.replace(base, curve=curve)]
        return Results(runs, 5_000_000)

    checks = (compared.vic_is_larger, compared.beta_matches, compared.concentrates)
    good = compare(apart=0.8, average=-0.2, ten=0.9, one=0.5, tenth=0.1, vic=4.0)
    assert compared.scales(good)["AP average"] == pytest.approx(0.2)
    assert [check(good).verdict for check in checks] == ["reproduced"] * 3
    bad = compare(apart=0.5, average=0.2, ten=0.16, one=0.16, tenth=0.1, vic=0.6)
    assert [check(bad).verdict for check in checks] == ["not reproduced"] * 3
    near = compare(apart=0.5, average=0.2, ten=0.6, one=0.5, tenth=0.1, vic=0.6)
    assert compared.beta_matches(near).verdict == "not reproduced"


def test_detours_and_overlaps():
    from apart.paper.every_skill import detours, overlaps

    condition = Condition("a", "apart")
    base = fake(condition, 0, keeps=["skills"])
    _, world = resolve("four_rooms", "apart", {})
    there = int(world.next_state[world.start].max())
    assert world.distance[there] == 1
    straight = dataclasses.replace(base, skills=[[world.start, there, there]])
    late = dataclasses.replace(base, skills=[[world.start, world.start, there]])
    for record, verdict in ((straight, "not reproduced"), (late, "reproduced")):
        assert detours(Results({"apart four_rooms": [record]}, 1)).verdict == verdict
    for n, verdict in ((100, "not reproduced"), (85, "reproduced")):
        record = dataclasses.replace(base, n_effective=n)
        assert overlaps(Results({"apart four_rooms": [record]}, 1)).verdict == verdict


def test_long_runs_are_judged_where_the_claim_is():
    record = fake(Condition("a", "diayn"), 0)
    curve = {"env_steps": [0.0, 5e6, 20e6], "n_effective": [1.0, 10.0, 60.0]}
    long = dataclasses.replace(record, curve=curve, n_effective=60)
    results = Results({"a": [long, long]}, 20_000_000)
    spec = Experiment("t", "s", [], [Claim("c", "10 ± 1", _spec.value("a", 10.0, 1.0))])
    assert reproduce.judge(spec, results)[0].verdict == "reproduced"
    assert results.final("a") == [60.0, 60.0]
    assert results.first("a", 10) == [5e6, 5e6]
    assert results.first("a", 61) == [float("inf")] * 2


def test_experiments_share_the_runs_of_equal_settings(tmp_path):
    table = reproduce.plan("reward_table", tmp_path, None, None)
    other = reproduce.plan("weight_functions", tmp_path, None, None)
    assert table["AP min, both (APART)"][0].folder == other["square"][0].folder
    folders = {run.folder for group in table.values() for run in group}
    assert len(folders) == 40
    assert all(str(run.folder).endswith("seed-1") for run in (g[1] for g in table.values()))


def test_a_reproduction_trains_what_is_missing_and_only_that(tmp_path, capsys, monkeypatch):
    spec = Experiment("tiny", "nowhere", [Condition("a", "diayn"), Condition("b", "vic")])
    monkeypatch.setattr(reproduce, "experiment", lambda name: spec)
    options = {"seeds": 1, "steps": 80}
    reproduce.reproduce(["tiny"], tmp_path, **options)
    printed = capsys.readouterr().out
    assert "tiny: 2 runs, 0 done, 2 to do" in printed
    assert "[2 of 2 done" in printed
    first = (tmp_path / "tiny.json").read_bytes()

    def refuses(commands, watch):
        raise AssertionError(commands)

    pictures = reproduce.reproduce(["tiny"], tmp_path, engine=refuses, **options)
    assert (tmp_path / "tiny.json").read_bytes() == first
    assert pictures["tiny"].exists()
    # What an experiment keeps is stored, and nothing else.
    run = reproduce.plan("tiny", tmp_path, 1, 80)["a"][0]
    (bare,) = reproduce.read_results(tmp_path / "tiny.json", spec).runs["a"]
    assert (*bare.curve, *bare.details, *bare.skills) == ("env_steps", "n_effective")
    full = reproduce.record_of(run, ["information_count", "details", "skills"])
    assert full.curve["env_steps"] == [0, 80]
    assert full.curve["information_count"][0] >= 1.0
    assert [detail["env_steps"] for detail in full.details] == [0, 0, 80]
    assert dict(full.details[-1]["most_at_once"])[run.world.start] == 100
    assert [states[0] for states in full.skills] == [run.world.start] * 100
    # An unfinished run is made again, a finished one is not.
    broken = reproduce.plan("tiny", tmp_path, 1, 80)["b"][0]
    (broken.folder / "summary.json").unlink()
    asked = []

    def notes(commands, watch):
        asked.extend(commands)
        return {broken.folder: pool.Failure(2, "apart: no luck")}

    with pytest.raises(UserError, match="no luck"):
        reproduce.reproduce(["tiny"], tmp_path, engine=notes, **options)
    assert asked == [broken.folder]


def test_a_stopped_reproduction_says_how_to_go_on(tmp_path, monkeypatch):
    spec = Experiment("tiny", "nowhere", [Condition("a", "diayn")])
    monkeypatch.setattr(reproduce, "experiment", lambda name: spec)

    def stops(commands, watch):
        raise RunInterrupted("stopped", 15)

    with pytest.raises(RunInterrupted, match="stopped; the same command goes on") as stop:
        reproduce.reproduce(["tiny"], tmp_path, seeds=1, steps=80, engine=stops)
    assert stop.value.signal_number == 15


def test_an_experiment_is_shown_when_its_last_run_ends(tmp_path, monkeypatch):
    """Not when all others are done too; and one that needs nothing at once."""
    specs = {n: Experiment(n, "nowhere", [Condition(n, n)]) for n in ("diayn", "vic", "tuned_vic")}
    monkeypatch.setattr(reproduce, "experiment", specs.__getitem__)
    options = {"seeds": 1, "steps": 80}
    reproduce.reproduce(["vic"], tmp_path, **options)
    said, shown = [], []

    def one_by_one(commands, watch):
        shown.append([n for n in specs for text in said if text.startswith(f"\n{n}:")])
        for folder, command in commands.items():
            assert pool.run({folder: command}, watch) == {}
            shown.append([n for n in specs for text in said if text.startswith(f"\n{n}:")])
        return {}

    reproduce.reproduce(list(specs), tmp_path, engine=one_by_one, say=said.append, **options)
    assert shown == [["vic"], ["diayn", "vic"], ["diayn", "vic", "tuned_vic"]]
    assert len([text for text in said if text.startswith("\n")]) == 3


def test_results_of_other_settings_are_refused(tmp_path):
    """What is stored was trained with what the experiment says."""
    spec = experiments.experiment("learning_rates")
    runs = {c.label: [fake(c, s) for s in (0, 1)] for c in spec.conditions}
    path = tmp_path / "learning_rates.json"
    reproduce.write_results(path, Results(runs, spec.steps), spec)
    changed = [dataclasses.replace(c, method="diayn") for c in spec.conditions]
    for conditions in (changed, spec.conditions[1:]):
        with pytest.raises(UserError, match="make it again: apart reproduce learning_rates"):
            reproduce.read_results(path, dataclasses.replace(spec, conditions=conditions))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_stored_has_the_budget_of_its_experiment(name):
    spec, path = experiments.experiment(name), STORED / f"{name}.json"
    results = reproduce.read_results(path, spec)
    assert results.steps == spec.steps
    for records in results.runs.values():
        assert [record.seed for record in records] == list(range(spec.seeds))
        assert all(record.env_steps >= spec.steps for record in records)


def test_the_readings_that_are_said_to_be_near_are():
    """The whys of the reward table, which are words, against the stored sweep."""
    results = reproduce.read_results(STORED / "readings.json", experiments.experiment("readings"))
    for label, named in reward_table.NEAR.items():
        _, paper, std = reward_table.ROWS[label]
        near = [
            reading
            for reading in readings.READINGS
            if _spec.value(f"{reading}: {label}", paper, std)(results).verdict == "reproduced"
        ]
        assert near == list(named), label


@pytest.mark.parametrize("steps", [80, 5_000_000, 20_000_000])
def test_few_rows_are_kept_and_those_that_claims_are_about(steps):
    every = min(25_000, steps)
    rows = [{"env_steps": float(at)} for at in range(0, steps + 1, every)]
    kept = [row["env_steps"] for row in reproduce.thinned(rows)]
    assert len(kept) <= 83
    assert kept == sorted(set(kept))
    assert {0.0, float(steps)} <= set(kept)
    assert {at for at in (1e6, 5e6) if at <= steps} <= set(kept)


def test_accuracy_at_5m_is_that_of_5m_however_long_the_run():
    """Kept are start, middle and end: of 5M steps the end is meant, of 20M the middle."""

    def record(*moments):
        base = fake(Condition("apart", "apart"), 0)
        details = [{"env_steps": at, "accuracy_per_step": [at / 1e8]} for at in moments]
        return dataclasses.replace(base, details=details)

    for moments, expected in (((0, 1.25e6, 5e6), (5, 5)), ((0, 5e6, 20e6), (5, 20))):
        results = Results({"apart": [record(*moments)]}, int(moments[-1]))
        found = accuracy_per_step.accuracies(results, "apart")
        assert found[0, :, 0].tolist() == pytest.approx(expected)


def test_one_seed_decides_nothing():
    claim = Claim("c", "1", _spec.more("a", "b"))
    spec = Experiment("t", "s", [], [claim])
    (row,) = reproduce.judge(spec, results_of(a=[9], b=[1]))
    assert row.verdict == "not judged by one seed"


def test_who_got_there_got_there():
    """Skills that come and go count when every seed had them, and not after the claim's steps."""
    runs = {"a": over_steps([1, 85, 84], [1, 2, 85])}
    found = _spec.reaches("a", 85)(Results(runs, 3_000_000))
    assert found.verdict == "reproduced"
    assert "first 85 after 2.0M to 3.0M steps" in found.ours
    assert _spec.reaches("a", 85)(Results(runs, 3_000_000, 2e6)).verdict == "not reproduced"


def test_the_time_left_is_that_of_what_is_trained_now(monkeypatch):
    """A run that goes on at nine tenths was not trained in this second."""

    class Job(NamedTuple):
        seconds: float

    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    a = Path("a")
    board = Board({a: Job(1000.0)}, {"one": {a}}, lambda text: None)
    board.under_way(a, 0.9)
    clock[0] = 2.0
    board.under_way(a, 0.902)
    assert board._left() == "1:38"


def test_the_board_counts_shared_and_earlier_runs():
    class Job(NamedTuple):
        seconds: float

    a, b, c, before = (Path(name) for name in ("a", "b", "c", "before"))
    said = []
    todo = {a: Job(10.0), b: Job(10.0), c: Job(20.0)}
    board = Board(todo, {"one": {a, b, before}, "two": {b, c}}, said.append)
    board.done(a, "a: 3 of 5")
    board.under_way(b, 0.5)
    rows = {
        tuple(row) for row in zip(*(column.cells for column in board.table().columns), strict=True)
    }
    assert rows == {("one", "2", "1", "0", "3"), ("two", "0", "1", "1", "2")}
    assert len(said) == 1
    assert said[0].startswith("[1 of 3 done, 0 under way")
    assert said[0].endswith("left] a: 3 of 5")
    assert "last: a: 3 of 5" in board.table().caption


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["reproduce"], "name an experiment or --all"),
        (["reproduce", "reward_tabel"], "did you mean 'reward_table'"),
        (["reproduce", "latents", "--all"], "--all or ids (latents), not both"),
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


def test_the_same_runs_on_a_local_ray(tmp_path):
    """In a process of its own: Ray leaves sockets and threads behind."""
    pytest.importorskip("ray")
    found = {}
    for engine in ("local", "ray"):
        words = ["reproduce", "dont_cares", "--steps", "80", "--seeds", "1", "--engine", engine]
        command = [sys.executable, "-m", "apart", *words, "--out", str(tmp_path / engine)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "[2 of 2 done" in done.stdout
        path = tmp_path / engine / "dont_cares.json"
        results = reproduce.read_results(path, experiments.experiment("dont_cares"))
        found[engine] = {
            label: [dataclasses.replace(record, wall_seconds=0) for record in records]
            for label, records in results.runs.items()
        }
    assert found["local"] == found["ray"]
