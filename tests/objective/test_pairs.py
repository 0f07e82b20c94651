"""The fold of pairs against pairs by name."""

from __future__ import annotations

from itertools import combinations

import jax
import numpy as np
import pytest

import apart
from apart.objective import pairs

SIZES = (2, 3, 4, 5, 8, 9, 100, 101)


def antisymmetric(cells):
    """[K, K] from folded cells."""
    k = pairs.n_skills_of(cells)
    first, second = pairs.members(k)
    matrix = np.zeros((k, k))
    matrix[first, second] = cells
    matrix[second, first] = -np.asarray(cells)
    return matrix


@pytest.mark.parametrize("k", SIZES)
def test_every_pair_has_exactly_one_cell(k):
    first, second = pairs.members(k)
    cells = sorted(zip(first.ravel().tolist(), second.ravel().tolist(), strict=True))
    assert cells == list(combinations(range(k), 2))
    assert first.shape == pairs.shape(k)


@pytest.mark.parametrize("k", SIZES)
def test_reductions_equal_those_of_the_antisymmetric_matrix(k):
    cells = np.random.default_rng(k).normal(size=pairs.shape(k)).astype(np.float32)
    matrix = antisymmetric(cells)
    off_diagonal = np.where(np.eye(k, dtype=bool), np.inf, matrix)
    np.testing.assert_array_equal(pairs.minimum(cells), off_diagonal.min(1).astype(np.float32))
    np.testing.assert_allclose(pairs.total(cells), matrix.sum(1), rtol=1e-4, atol=1e-4)


def test_a_reward_of_ones_own_reads_pairs_through_the_public_door():
    """Three skills: 0 beats 1 surely, 2 beats 0 a little, 1 and 2 are as likely."""
    matrix = np.array([[0.0, 9.0, -0.5], [-9.0, 0.0, 0.0], [0.5, 0.0, 0.0]])
    first, second = apart.pairs.members(3)
    votes = apart.pairs.votes(matrix[first, second].astype(np.float32))
    little = np.tanh(0.5)
    np.testing.assert_allclose(apart.pairs.total(votes), [1 - little, -1, little], atol=1e-6)
    np.testing.assert_allclose(apart.pairs.minimum(votes), [-little, -1, 0], atol=1e-6)
    assert apart.pairs.n_skills_of(votes) == 3


@pytest.mark.parametrize("k", SIZES)
def test_least_reads_the_same_minimum_from_a_table_of_states(k):
    table = np.random.default_rng(k).normal(size=(3, *pairs.shape(k))).astype(np.float32)
    skills = np.arange(k)
    read = jax.vmap(pairs.least, (None, None, 0))
    for state in range(3):
        np.testing.assert_array_equal(read(table, state, skills), pairs.minimum(table[state]))


@pytest.mark.parametrize("k", SIZES)
def test_spread_puts_each_skills_value_into_its_cells(k):
    values = np.random.default_rng(k).normal(size=k).astype(np.float32)
    first, second = pairs.members(k)
    spread_first, spread_second = pairs.spread(jax.numpy.asarray(values))
    np.testing.assert_array_equal(spread_first, values[first])
    np.testing.assert_array_equal(spread_second, values[second])
