"""Intervals: against tables and by simulation, with as few seeds as the ledger has."""

from __future__ import annotations

import numpy as np
import pytest

from apart.report import statistics

SEEDS, DRAWS = 4, 1500


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (6, 2.447), (30, 2.042), (100, 1.984)],
)
def test_the_quantiles_are_those_of_the_tables(freedom, expected):
    assert statistics.student(freedom) == pytest.approx(expected, abs=6e-4)
    assert statistics.student(freedom, 0.5) == pytest.approx(0, abs=1e-6)


def test_the_quantile_falls_between_whole_degrees_of_freedom():
    found = [statistics.student(freedom) for freedom in (2, 2.3, 2.9, 3)]
    assert found == sorted(found, reverse=True)


def covered(intervals, truth):
    return np.mean([found.low <= truth <= found.high for found in intervals])


def test_the_interval_of_a_mean_covers_it_in_95_percent_and_a_bootstrap_would_not():
    rng = np.random.default_rng(0)
    samples = rng.normal(60.0, 3.0, (DRAWS, SEEDS))
    assert covered(map(statistics.mean, samples), 60.0) == pytest.approx(0.95, abs=0.015)
    drawn = samples[:, rng.integers(0, SEEDS, (400, SEEDS))].mean(2)
    bounds = np.quantile(drawn, [0.025, 0.975], axis=1)
    assert np.mean((bounds[0] <= 60.0) & (bounds[1] >= 60.0)) < 0.85


def test_so_it_does_for_counts_of_skills():
    """Whole numbers with a ceiling, as the ledger has them."""
    rng = np.random.default_rng(1)

    def drawn(n):
        return np.minimum(np.rint(rng.normal(82.0, 2.0, n)), 85.0)

    truth = drawn(400_000).mean()
    found = [statistics.mean(drawn(SEEDS)) for _ in range(DRAWS)]
    assert covered(found, truth) == pytest.approx(0.95, abs=0.025)


def test_at_the_ceiling_intervals_are_too_narrow_and_it_is_said():
    rng = np.random.default_rng(3)

    def drawn(n):
        return np.minimum(np.rint(rng.normal(71.8, 0.5, n)), 72.0)

    truth = drawn(400_000).mean()
    found = [statistics.mean(drawn(SEEDS)) for _ in range(DRAWS)]
    assert 0.6 < covered(found, truth) < 0.85
    assert "ceiling" in statistics.__doc__


@pytest.mark.parametrize(("spread", "n"), [(1.0, 4), (5.0, 4), (0.2, 3)])
def test_the_interval_of_a_difference_covers_it_also_where_spreads_differ(spread, n):
    rng = np.random.default_rng(2)
    found = [
        statistics.difference(rng.normal(70.0, 1.0, SEEDS), rng.normal(50.0, spread, n))
        for _ in range(DRAWS)
    ]
    assert covered(found, 20.0) == pytest.approx(0.95, abs=0.02)


def test_by_hand():
    found = statistics.difference([10, 11, 12], [1, 2, 3])  # both errors are 1 / sqrt(3)
    half = 2.776 * (2 / 3) ** 0.5
    np.testing.assert_allclose(found, (9.0, 9.0 - half, 9.0 + half), atol=1e-3)
    np.testing.assert_allclose(statistics.mean([1, 2, 3]), (2.0, 2 - 2.484, 2 + 2.484), atol=1e-3)


def test_seeds_that_agree_and_a_single_seed():
    assert statistics.mean([5.0]) == (5.0, 5.0, 5.0)
    assert statistics.mean([85, 85, 85]) == (85.0, 85.0, 85.0)
    found = statistics.difference([85, 85, 85, 85], [80, 82, 81, 81])
    np.testing.assert_allclose(found, (4.0, 4 - 1.299, 4 + 1.299), atol=1e-3)
    assert statistics.difference([85.0], [80.0]) == (5.0, 5.0, 5.0)


def test_the_median_of_what_may_be_infinite():
    assert statistics.median([1.0, float("inf"), 2.0]) == 2.0
    assert np.isnan(statistics.median([]))
