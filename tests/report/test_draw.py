"""Where labels are put."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apart.report import draw


def test_labels_that_fit_stay_and_others_give_way_alike():
    assert draw.spaced([1.0, 5.0, 9.0], 2.0) == pytest.approx([1.0, 5.0, 9.0])
    assert draw.spaced([4.0, 4.0], 2.0) == pytest.approx([3.0, 5.0])
    assert draw.spaced([0.0, 0.0, 0.0, 10.0], 1.0) == pytest.approx([-1.0, 0.0, 1.0, 10.0])


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=8).map(sorted), st.floats(0.1, 20))
def test_labels_keep_their_order_distance_and_middle(values, gap):
    places = draw.spaced(values, gap)
    assert all(b - a >= gap - 1e-9 for a, b in itertools.pairwise(places))
    assert sum(places) == pytest.approx(sum(values), abs=1e-6)
