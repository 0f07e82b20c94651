"""Every experiment: what it trains exists, its picture draws, its claims are judged."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from fakes import COLUMNS, fake, over_steps

from apart import paper
from apart._errors import UserError
from apart.methods import OURS, READINGS
from apart.paper import _judge as rule
from apart.paper import (
    _ledger,
    _panels,
    _records,
    accuracy_per_step,
    every_skill,
    learned_skills,
)
from apart.paper import reward_comparison as compared
from apart.paper._reproduce import draw
from apart.paper._spec import DETAILS, SKILLS, WORLDS, Condition, Results
from apart.report.draw import SERIES, STYLES
from apart.settings import resolve

NAMES = paper.names()
STORED = Path(__file__).parents[2] / "results" / "reproduce"


@pytest.mark.parametrize("reading", READINGS)
def test_every_result_that_is_stored_has_its_experiment(reading):
    """Ids are the names of files: they stay, whatever module an experiment is in."""
    stored = {path.stem for path in _records.place(STORED, reading).glob("*.json")}
    assert stored <= {n for n in NAMES if reading == OURS or not paper.experiment(n).only_ours}
    page = _ledger.short(_ledger.results_in(STORED))
    line = next((line for line in page.splitlines() if line.startswith("Not made yet")), "")
    assert all(f"`{n}`" in line for n in NAMES if reading == OURS and n not in stored)


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_draws_and_judges(name, tmp_path):
    spec = paper.experiment(name)
    assert len({c.label for c in spec.conditions}) == len(spec.conditions)
    assert set(spec.keeps) <= {*COLUMNS, DETAILS, SKILLS}
    runs = {c.label: [fake(c, s, keeps=spec.keeps) for s in (0, 1)] for c in spec.conditions}
    results = Results(runs, spec.steps)
    entry = _ledger.Entry(spec, {OURS: results})
    path = tmp_path / "stored.json"
    _records.write(path, results, spec)
    again = _records.read(path, spec)
    assert json.loads(path.read_text())["steps"] == spec.steps
    picture = draw(spec, again, tmp_path / "picture.png")
    assert picture.stat().st_size > 5_000
    for row in rule.judge(spec, again):
        known = (rule.REPRODUCED, rule.BETTER, rule.MISSED)
        answers = (*known, "yes", "no") if row.own else known
        assert row.verdict in answers or row.verdict.startswith("not judged")
        assert row.why or row.verdict == rule.OPEN
        assert not row.reason.endswith(".")
        assert "|" not in row.claim + row.paper + row.ours + row.why
    assert spec.title in _ledger.table(name, spec, again)
    reasons: dict[str, str] = {}
    assert spec.title in _ledger.section(name, entry, reasons)
    assert len(set(reasons.values())) == len(reasons)


def test_a_method_keeps_its_colour_and_variations_get_others():
    """The paper's own setting of a sweep, and what stands alone, look as in every other figure."""
    conditions = [
        Condition("small", "apart", options={"batch": 16}),
        Condition("the paper's", "apart", options={"batch": 640}),
        Condition("large", "apart", options={"batch": 1280}),
        Condition("alone", "diayn", options={"batch": 16}),
    ]
    styles = _panels.styles_of(conditions)
    assert styles["the paper's"] == STYLES["apart"]
    assert styles["alone"] == STYLES["diayn"]
    assert (styles["small"], styles["large"]) == SERIES[:2]


def test_learned_skills_over_time():
    def runs(*curves):
        return Results({"apart four_rooms": over_steps(*curves)}, 6_000_000)

    assert learned_skills.steady(runs([50, 0, 60, 70, 70, 66])).verdict == "reproduced"
    assert learned_skills.steady(runs([50, 0, 60, 70, 64, 70])).verdict == "not reproduced"
    steps = [60, 60, 60, 60, 60, 70], [9, 9, 9, 9, 9, 20], [8, 8, 8, 8, 8, 7]
    order = {
        f"{method} {world}": over_steps(skills)
        for world in WORLDS
        for method, skills in zip(("apart", "diayn", "vic"), steps, strict=True)
    }
    assert learned_skills.indicates(Results(order, 6_000_000)).verdict == "reproduced"
    order["vic empty"] = over_steps([8, 8, 8, 8, 8, 30], [8, 8, 8, 8, 8, 31])
    found = learned_skills.indicates(Results(order, 6_000_000))
    assert found.verdict == "not reproduced"
    assert "empty APART > VIC > DIAYN (at 5M APART > DIAYN > VIC)" in found.ours


def test_the_size_of_rewards():
    def compare(**last):
        names = ("APART", "AP average", *(f"tuned VIC, beta {b:g}" for b in (10, 1, 0.1)), "VIC")
        base = fake(Condition("a", "apart"), 0)
        runs = {}
        for label, value in zip(names, last.values(), strict=True):
            curves = [{"mean_last_reward": [9.0, 9.0, 9.0, value, value + d]} for d in (0.0, 1e-3)]
            runs[label] = [dataclasses.replace(base, curve=curve) for curve in curves]
        return Results(runs, 5_000_000)

    checks = (
        compared.vic_is_larger,
        compared.beta_matches,
        compared.concentrates,
    )
    good = compare(apart=0.8, average=-0.2, ten=0.7, one=-0.5, tenth=-0.98, vic=4.0)
    assert compared.levels(good)["AP average"].mean() == pytest.approx(-0.2, abs=1e-3)
    assert [check(good).verdict for check in checks] == ["reproduced"] * 3
    bad = compare(apart=0.5, average=0.2, ten=-0.6, one=-0.16, tenth=-0.1, vic=0.6)
    assert [check(bad).verdict for check in checks] == ["not reproduced"] * 3
    near = compare(apart=0.5, average=0.2, ten=0.6, one=0.5, tenth=0.1, vic=0.6)
    assert compared.beta_matches(near).verdict == "not reproduced"
    far = compare(apart=0.98, average=0.2, ten=0.1, one=-0.98, tenth=-0.98, vic=0.6)
    assert compared.beta_matches(far).verdict == "not reproduced"  # nearest, and not near


def test_detours_and_overlaps():
    condition = Condition("a", "apart")
    base = fake(condition, 0, keeps=["skills"])
    _, world = resolve("four_rooms", "apart", {})
    there = int(world.next_state[world.start].max())
    assert world.distance[there] == 1
    straight = dataclasses.replace(base, skills=[[world.start, there, there]])
    late = dataclasses.replace(base, skills=[[world.start, world.start, there]])
    for record, verdict in ((straight, "not reproduced"), (late, "reproduced")):
        assert every_skill.detours(Results({"apart four_rooms": [record]}, 1)).verdict == verdict
    for n, verdict in ((100, "not reproduced"), (85, "reproduced")):
        record = dataclasses.replace(base, n_effective=n)
        assert every_skill.overlaps(Results({"apart four_rooms": [record]}, 1)).verdict == verdict


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_stored_has_the_budget_of_its_experiment(name, reading):
    spec = paper.experiment(name)
    if spec.only_ours and reading != OURS:
        pytest.skip("--reading ours only")
    path = _records.place(STORED, reading) / f"{name}.json"
    if not path.exists():
        pytest.skip("not made yet, as the ledger says")
    results = _records.read(path, spec)
    assert (results.steps, results.reading) == (spec.steps_in(reading), reading)
    for records in results.runs.values():
        assert [record.seed for record in records] == list(range(spec.seeds))
        assert all(record.env_steps >= results.steps for record in records)


def test_the_published_reading_has_the_budget_of_the_paper():
    """No claim of the paper is left unjudged there for lack of steps."""
    for name in NAMES:
        spec = paper.experiment(name)
        if not spec.only_ours:
            latest = max((claim.at for claim in spec.claims if not claim.ours), default=0)
            assert spec.steps_in("published") >= latest, name


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


def test_results_of_other_settings_are_refused(tmp_path):
    """What is stored was trained with what the experiment says."""
    spec = paper.experiment("learning_rates")
    runs = {c.label: [fake(c, s) for s in (0, 1)] for c in spec.conditions}
    path = tmp_path / "learning_rates.json"
    _records.write(path, Results(runs, spec.steps), spec)
    changed = [dataclasses.replace(c, method="diayn") for c in spec.conditions]
    for conditions in (changed, spec.conditions[1:]):
        with pytest.raises(UserError, match="make it again: apart reproduce learning_rates"):
            _records.read(path, dataclasses.replace(spec, conditions=conditions))


def test_when_a_number_was_first_reached_is_not_thinned_away():
    rng = np.random.default_rng(0)
    skills = np.minimum(np.arange(6001) / 60 + rng.integers(0, 5, 6001), 85).astype(int)
    rows = [{"env_steps": 25e3 * i, "n_effective": float(n)} for i, n in enumerate(skills)]
    base = fake(Condition("a", "apart"), 0)
    record = dataclasses.replace(base, rises=_records.rises(rows))
    for n in range(86):
        first = next(row["env_steps"] for row in rows if row["n_effective"] >= n)
        assert Results({"a": [record]}, 150_000_000).first("a", n) == [first]


@pytest.mark.parametrize("steps", [80, 5_000_000, 20_000_000])
def test_few_rows_are_kept_and_those_that_claims_are_about(steps):
    every = min(25_000, steps)
    rows = [{"env_steps": float(at), "n_effective": 7.0} for at in range(0, steps + 1, every)]
    kept = [row["env_steps"] for row in _records.thinned(rows)]
    assert len(kept) <= 83
    assert kept == sorted(set(kept))
    assert {0.0, float(steps)} <= set(kept)
    assert {at for at in (1e6, 5e6) if at <= steps} <= set(kept)
