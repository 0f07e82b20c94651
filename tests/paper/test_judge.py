"""Rules: what is measured decides the verdict, and short runs decide little."""

from __future__ import annotations

import dataclasses
import operator

import pytest
from fakes import fake, over_steps, results_of

from apart.paper import _judge as rule
from apart.paper._spec import Claim, Condition, Experiment, Finding, Results


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (rule.value("a", 50.0, 1.0), "reproduced"),
        (rule.value("a", 30.0, 1.0), "not reproduced"),
        (rule.value("a", 30.0, 1.0, own=True), "better"),
        (rule.value("a", 70.0, 1.0, own=True), "not reproduced"),
        (rule.more("a", "b"), "reproduced"),
        (rule.more("b", "a"), "not reproduced"),
        (rule.more("a", "a"), "not reproduced"),
        (rule.alike(["a", "b"], 12), "reproduced"),  # the interval is 8.6 to 11.4
        (rule.alike(["a", "b"], 11), "not reproduced"),  # by the interval, not by the means
        (rule.alike(["a", "a"], 2), "reproduced"),
        (rule.alike(["a", "b"], 9), "not reproduced"),
        (rule.mean_is("b", operator.lt, 45), "reproduced"),
        (rule.mean_is("a", operator.lt, 45), "not reproduced"),
        (rule.highest("a", ["b"]), "reproduced"),
        (rule.highest("b", ["a"]), "not reproduced"),
        (rule.highest("a", ["b", "a"]), "not reproduced"),
        (rule.value("a", 48.0, 0.0), "reproduced"),
        (rule.value("a", 46.6, 0.0), "not reproduced"),  # the interval is 48.7 to 51.3
        (rule.value("a", 47.5, 1.5), "reproduced"),
        (rule.mean_is("a", operator.lt, 50), "not reproduced"),
        (rule.sooner("a", "b"), "not judged: neither got there"),
        (rule.mean_is("a", operator.ge, 48), "reproduced"),
        (rule.mean_is("a", operator.ge, 50), "not reproduced"),  # by the interval
    ],
)
def test_verdicts_follow_the_numbers(check, verdict):
    assert check(results_of(a=[49, 50, 51, 50], b=[39, 40, 41, 40])).verdict == verdict


@pytest.mark.parametrize(
    ("check", "why"),
    [
        (rule.more("a", "b"), "holds: the interval of the difference is above 0"),
        (rule.more("b", "a"), "does not hold: the interval of the difference is above 0"),
        (
            rule.alike(["a", "b"], 9),
            "does not hold: the interval is within 9 skills",
        ),
        (rule.value("a", 48.0, 0.0), "holds: the interval comes within 2 skills (+2.0)"),
        (
            rule.value("a", 30.0, 1.5, own=True),
            "does not hold: the interval comes within 3 skills (+20.0)",
        ),
        (rule.mean_is("b", operator.lt, 45), "holds: the interval is below 45"),
        (rule.mean_is("b", operator.gt, 45), "does not hold: the interval is above 45"),
    ],
)
def test_a_finding_says_what_decided_it(check, why):
    assert check(results_of(a=[49, 50, 51, 50], b=[39, 40, 41, 40])).why == why


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
    (row,) = rule.judge(spec, results_of(a=[1, 1]))
    assert (row.verdict, row.why) == (judged, why)


def test_seeds_that_differ_too_much_reproduce_nothing():
    found = rule.value("a", 10.0, 1.5)(results_of(a=[20, 60]))
    assert found.verdict == "not judged: too few seeds"


def test_runs_of_another_length_may_stand_for_a_claim():
    claim = Claim("c", "85", lambda _: Finding("1", rule.REPRODUCED, "so"), at=20_000_000)
    for least, verdict in ((0, "not judged below 20M steps"), (5_000_000, rule.REPRODUCED)):
        spec = Experiment("t", "s", [], [dataclasses.replace(claim, least=least)])
        assert rule.judge(spec, results_of(a=[1, 1]))[0].verdict == verdict


def test_questions_of_ours_are_answered():
    claims = [
        Claim(v, "silent", lambda _, v=v: Finding("1", v, "so"), ours=True, why={v: f"why {v}"})
        for v in ("reproduced", "not reproduced")
    ]
    spec = Experiment("t", "s", [Condition("a", "diayn")], claims)
    rows = rule.judge(spec, results_of(a=[1, 1]))
    assert [(row.verdict, row.why) for row in rows] == [
        ("yes", "why reproduced"),
        ("no", "why not reproduced"),
    ]


def test_who_is_sooner():
    slow, fast = over_steps([1, 2, 50], [1, 50, 50]), over_steps([60, 60, 60], [1, 60, 20])
    runs = Results({"slow": slow, "fast": fast, "never": over_steps([1, 1, 1])}, 3_000_000)
    assert rule.sooner("fast", "slow")(runs).verdict == "reproduced"
    assert rule.sooner("slow", "fast")(runs).verdict == "not reproduced"
    assert (
        rule.sooner("slow", "never")(runs).ours
        == "43 skills after 2.50M against more than 3M steps"
    )
    assert rule.sooner("never", "never")(runs).verdict == rule.OPEN


def test_long_runs_are_judged_where_the_claim_is():
    record = fake(Condition("a", "diayn"), 0)
    curve = {"env_steps": [0.0, 5e6, 20e6], "n_effective": [1.0, 10.0, 60.0]}
    long = dataclasses.replace(record, curve=curve, n_effective=60)
    results = Results({"a": [long, long]}, 20_000_000)
    spec = Experiment("t", "s", [], [Claim("c", "10 ± 1", rule.value("a", 10.0, 1.0))])
    assert rule.judge(spec, results)[0].verdict == "reproduced"
    assert results.final("a") == [60.0, 60.0]
    assert results.first("a", 10) == [5e6, 5e6]
    assert results.first("a", 61) == [float("inf")] * 2


def test_one_seed_decides_nothing():
    claim = Claim("c", "1", rule.more("a", "b"))
    spec = Experiment("t", "s", [], [claim])
    (row,) = rule.judge(spec, results_of(a=[9], b=[1]))
    assert row.verdict == "not judged by one seed"


def test_who_got_there_got_there():
    """Skills that come and go count when every seed had them, and not after the claim's steps."""
    runs = {"a": over_steps([1, 85, 84], [1, 2, 85])}
    found = rule.reaches("a", 85)(Results(runs, 3_000_000))
    assert found.verdict == "reproduced"
    assert "first 85 after 2.0M to 3.0M steps" in found.ours
    assert rule.reaches("a", 85)(Results(runs, 3_000_000, until=2e6)).verdict == "not reproduced"
