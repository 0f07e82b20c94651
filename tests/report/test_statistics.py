"""Interquartile mean and bootstrap against slow, obvious versions."""

from __future__ import annotations

import itertools
import random
import statistics as slow

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apart.report import statistics

scores = st.lists(st.floats(-100, 100), min_size=1, max_size=12)


def slow_interquartile_mean(values):
    """Every score four times: then the middle half are whole numbers of scores."""
    ordered = sorted(v for v in values for _ in range(4))
    n = len(values)
    return slow.fmean(ordered[n : 3 * n])


@given(scores)
def test_the_interquartile_mean_equals_the_slow_one(values):
    expected = slow_interquartile_mean(values)
    np.testing.assert_allclose(statistics.interquartile_mean(values), expected, atol=1e-9)


@given(scores)
def test_an_interval_holds_between_the_extremes_and_is_repeatable(values):
    found = statistics.interval([values])
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9
    assert found == statistics.interval([values])


def test_the_stratified_interval_equals_a_slow_one():
    """Tasks of different level: seeds are drawn within a task, never across."""
    strata = [[1.0, 2.0, 4.0, 8.0], [50.0, 60.0, 55.0], [90.0, 99.0, 91.0, 95.0]]
    rng = random.Random(1)
    draws = sorted(
        slow_interquartile_mean([rng.choice(task) for task in strata for _ in task])
        for _ in range(20_000)
    )
    found = statistics.interval(strata)
    assert abs(found.low - draws[500]) < 1.5
    assert abs(found.high - draws[19_500]) < 1.5
    every = slow_interquartile_mean([x for task in strata for x in task])
    assert found.estimate == pytest.approx(every)


def test_mean_and_difference_equal_slow_ones():
    """All draws of three and of two seeds, one by one."""
    one, other = [10.0, 11.0, 15.0], [1.0, 4.0]
    means = [slow.fmean(draw) for draw in itertools.product(one, repeat=3)]
    rests = [slow.fmean(draw) for draw in itertools.product(other, repeat=2)]
    gaps = [a - b for a in means for b in rests]
    for found, draws, estimate in (
        (statistics.mean(one), means, 12.0),
        (statistics.difference(one, other), gaps, 9.5),
    ):
        low, high = np.quantile(draws, [0.025, 0.975], method="inverted_cdf")
        np.testing.assert_allclose(found, (estimate, low, high), atol=0.4)


def test_the_difference_of_means():
    found = statistics.difference([10, 11, 12], [1, 2, 3])
    assert found.estimate == pytest.approx(9)
    assert 7 <= found.low < 9 < found.high <= 11
    assert statistics.mean([5.0]) == pytest.approx((5.0, 5.0, 5.0))
