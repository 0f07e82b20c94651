"""Samples in tiles of equal actions: the same numbers and gradients as all actions at once."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apart.learner import groups

UNITS, SKILLS = 6, 4
ACTIONS = st.integers(2, 9).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n - 1), min_size=60, max_size=60))
)


@given(ACTIONS)
def test_every_sample_has_a_place_among_those_of_its_action(drawn):
    n_actions, actions = drawn
    tiles = groups.by_action(jnp.array(actions), n_actions)
    place, sample = np.asarray(tiles.place), np.asarray(tiles.sample)
    assert len(set(place.tolist())) == len(actions)
    np.testing.assert_array_equal(sample[place], np.arange(len(actions)))
    np.testing.assert_array_equal(np.asarray(tiles.action)[place // groups.TILE], actions)


@pytest.mark.parametrize("actions", [[3] * 80, [*range(5)] * 16, [0] * 79 + [4]])
def test_rows_and_gradients_are_those_of_the_whole_layer(actions):
    key_below, key_last, key_weight = jax.random.split(jax.random.key(0), 3)
    below = jax.random.normal(key_below, (80, UNITS))
    last = jax.random.normal(key_last, (UNITS, 5, SKILLS))
    weight, action = jax.random.normal(key_weight, (80, SKILLS)), jnp.array(actions)

    def whole(below, last):
        rows = jnp.einsum("bh,hak->bak", below, last)
        return (weight * rows[jnp.arange(80), action]).sum()

    def tiled(below, last):
        return (weight * groups.own_rows(below, last, action)).sum()

    for one, other in zip(
        jax.value_and_grad(whole, (0, 1))(below, last),
        jax.value_and_grad(tiled, (0, 1))(below, last),
        strict=True,
    ):
        jax.tree.map(
            lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5), one, other
        )


def test_they_pay_where_there_are_many_actions_and_samples():
    assert groups.pays(9, 256)
    assert not groups.pays(2, 256)
    assert not groups.pays(9, 64)
