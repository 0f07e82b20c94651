"""Worlds with known answers, and what the compiled program promises."""

from __future__ import annotations

import contextlib
import dataclasses

import jax
import numpy as np
import pytest
import twins

from apart.learner.q_learning import BLOCKS_ABOVE
from apart.methods import METHODS
from apart.settings import resolve
from apart.training.evaluations import in_pieces
from apart.training.learners import learner_of, learner_over
from apart.training.program import compiled, program
from apart.training.rounds import initial, iterate_with
from apart.training.state import from_arrays, hyper_of, to_arrays
from apart.worlds.grid import parse

CORRIDOR, SQUARE = parse("S..", "corridor"), parse("S.\n..", "square")
FAST = {"learning_rate": 0.02, "discriminator_learning_rate": 0.02, "batch": 64, "buffer": 2000}


def finds(n, world, method, iterations=3000, states=None, **options):
    """Whether two of at most three seeds find ``n`` skills: with other last bits one may fail."""
    fast = {"steps": 4 * iterations} if METHODS[method].options.get("anneal") else FAST
    config, world = resolve(world, method, {**fast, **options})
    run, hyper = program(world, config), hyper_of(config)
    if states is not None:
        run = compiled(world, config, learner_over(world, config, states))
    good = 0
    for seed in range(3):
        state = run.chunk(run.init(seed, hyper), hyper, iterations)
        good += int(run.evaluate(state, hyper).n_effective) == n
        if good == 2:
            return True
    return False


@pytest.mark.parametrize("method", ["apart", "ap_min_ascending", "diayn", "vic", "tuned_vic"])
def test_two_skills_in_a_corridor_part(method):
    # log_posterior and posterior are not optimistic: they need a little chance to see two cells
    chance = {"epsilon": 0.2} if method in ("diayn", "vic", "tuned_vic") else {}
    assert finds(2, CORRIDOR, method, skills=2, horizon=4, **chance)


@pytest.mark.parametrize("method", ["apart", "ap_min_ascending", "apart_logits", "apart_plus"])
def test_four_skills_fill_a_square(method):
    assert finds(4, SQUARE, method, skills=4, horizon=4)


@pytest.mark.parametrize("rows", ["states", "samples"])
@pytest.mark.parametrize(
    "network",
    [
        {"network": "mlp:16"},
        {"network": "cnn:4:3", "observation": "pixels"},
    ],
    ids=["mlp", "cnn"],
)
def test_networks_fill_a_square_from_states_and_from_samples(network, rows):
    options = {**network, **FAST, "skills": 4, "horizon": 4}
    states = rows == "states"
    assert finds(4, SQUARE, "ap_min_ascending", iterations=1500, states=states, **options)


def test_rows_read_in_pieces_are_all_rows():
    config, world = resolve(SQUARE, "diayn", {"network": "mlp"})
    learner, hyper = learner_over(world, config, states=False), hyper_of(config)
    params = jax.jit(initial(learner))(0, hyper).learnt.q.params

    def values(obs):
        return learner.values(params, obs)

    whole, pieces = (jax.jit(lambda n=n: in_pieces(values, 4, n))() for n in (None, 3))
    np.testing.assert_allclose(pieces, whole, atol=1e-6)


def test_the_sweep_by_blocks_learns_like_the_dense_one():
    # a batch small against the cells makes blocks; both must fill the square
    config, world = resolve(SQUARE, "apart_plus", {"skills": 4, "batch": 2, "steps": 12_000})
    assert world.n_states * 5 / config.batch > BLOCKS_ABOVE
    assert finds(4, SQUARE, "apart_plus", skills=4, horizon=4, batch=2)


def test_a_round_of_blocks_without_bootstrap_is_one_dense_sweep():
    # with discount 0 the blocks do not see each other, so that their order cannot matter
    options = {"skills": 4, "horizon": 4, "steps": 400, "discount": 0.0}
    ends = []
    for more in ({"updates_per_episode": 1}, {"batch": 2, "updates_per_episode": 4}):
        config, world = resolve(SQUARE, "apart_plus", {**options, **more})
        learner, hyper = learner_of(world, config), hyper_of(config)
        begun = jax.jit(initial(learner))(0, hyper)
        state = jax.jit(iterate_with(world, config, learner))(begun, hyper)
        ends.append(np.asarray(state.learnt.q.params))
    assert not np.array_equal(ends[0], begun.learnt.q.params)
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("rate", [1e-6, 0.5], ids=["of all rounds", "of the last"])
def test_the_average_of_blocks_is_that_of_all_rounds_at_their_next_turn(rate):
    """A block is a state, two are swept in a round: each has its turn in every second one."""
    options = {"skills": 4, "horizon": 4, "steps": 400, "batch": 2, "updates_per_episode": 2}
    config, world = resolve(SQUARE, "apart_plus", {**options, "average_rate": rate})
    learner, hyper = learner_of(world, config), hyper_of(config)
    state, iterate = jax.jit(initial(learner))(0, hyper), iterate_with(world, config, learner)
    iterate, slow = jax.jit(iterate), np.asarray(state.learnt.average_q)
    first = slow
    for rounds in range(1, 9):
        state = iterate(state, hyper)
        slow = slow + max(rate, 1 / rounds) * (np.asarray(state.learnt.q.params) - slow)
        done = slice(2) if rounds % 2 == 0 else slice(2, 4)  # states whose turn comes next
        np.testing.assert_allclose(state.learnt.average_q[done], slow[done], rtol=1e-5, atol=1e-7)
    assert not np.allclose(slow, first, rtol=1e-3)
    assert not np.allclose(slow, state.learnt.q.params, rtol=1e-3)


def test_random_walk_learns_nothing():
    config, world = resolve(SQUARE, "random_walk", {"skills": 4, "horizon": 4})
    run, hyper = program(world, config), hyper_of(config)
    before = to_arrays(run.init(0, hyper))
    after = to_arrays(run.chunk(run.init(0, hyper), hyper, 50))
    np.testing.assert_array_equal(before["learnt.q.params"], after["learnt.q.params"])
    assert after["learnt.updates"] == 0
    assert after["iteration"] == 50


def state_after(iterations, seed=0, slices=1, **options):
    config, world = resolve(SQUARE, "apart", {**FAST, "skills": 5, "horizon": 4, **options})
    run, hyper = program(world, config), hyper_of(config)
    state = run.init(np.uint32(seed), hyper)
    for _ in range(slices):
        state = run.chunk(state, hyper, np.int32(iterations // slices))
    return to_arrays(state)


def assert_same(a, b):
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


def test_a_seed_repeats_bit_for_bit():
    assert_same(state_after(60), state_after(60))


def test_the_length_of_chunks_does_not_touch_the_bits():
    assert_same(state_after(60), state_after(60, slices=6))


def test_seeds_differ_in_everything_random():
    a, b = state_after(60), state_after(60, seed=1)
    for name in ("learnt.q.params", "learnt.discriminator.params", "learnt.replay"):
        assert not np.array_equal(a[name], b[name]), name


@pytest.mark.parametrize("target_period", [0, 5])
def test_a_state_survives_its_arrays(target_period):
    config, world = resolve(
        SQUARE, "apart", {"skills": 5, "horizon": 4, "target_period": target_period}
    )
    run, hyper = program(world, config), hyper_of(config)
    half = run.chunk(run.init(0, hyper), hyper, 30)
    arrays = to_arrays(half)
    rest = run.chunk(from_arrays(run.init(1, hyper), arrays), hyper, 30)
    whole = run.chunk(run.init(0, hyper), hyper, 60)
    assert_same(to_arrays(rest), to_arrays(whole))


def test_the_chunk_compiles_once_for_all_lengths_and_traced_numbers():
    base, world = resolve(SQUARE, "apart", {"skills": 7, "horizon": 3})
    run = program(world, base)
    for n, rate in ((1, 0.1), (5, 0.2), (2, 0.3)):
        config, _ = resolve(SQUARE, "apart", {"skills": 7, "horizon": 3, "learning_rate": rate})
        assert program(world, config) is run
        hyper = hyper_of(config)
        run.chunk(run.init(np.uint32(0), hyper), hyper, np.int32(n))
    assert run.chunk._cache_size() == 1


def test_updates_per_episode_and_episodes_per_update():
    many = state_after(10, updates_per_episode=3)
    assert many["learnt.updates"] == 30
    few = state_after(10, episodes_per_update=3)
    assert few["learnt.updates"] == 10
    assert few["learnt.replay"].shape[1] == 12


def test_keys_are_not_reused():
    config, world = resolve(SQUARE, "apart", {"skills": 5, "horizon": 4})
    learner, hyper = learner_of(world, config), hyper_of(config)
    with jax.debug_key_reuse(True):
        jax.jit(iterate_with(world, config, learner))(jax.jit(initial(learner))(0, hyper), hyper)


@pytest.mark.parametrize(("method", "logits"), [("apart", "f32[85,10,19]"), ("vic", "f32[85,20]")])
def test_an_update_copies_no_logits(method, logits):
    """They are overwritten in place: the rewards of the update have been read by then."""
    config, world = resolve("four_rooms", method, {"skills": 20})
    hyper = hyper_of(config)
    run = program(world, config)
    state = jax.eval_shape(run.init, jax.numpy.int32(0), hyper)
    text = run.chunk.lower(state, hyper, jax.numpy.int32(1)).compile().as_text()
    assert logits in text
    assert not [line for line in text.split("\n") if f"= {logits}" in line and " copy(" in line]


def test_tables_of_one_spec_share_a_program_only_where_they_are_equal():
    """Tables of one's own may have any spec."""
    config, world = resolve("ring", "diayn", {"skills": 4})
    run = program(world, config)
    assert program(dataclasses.replace(world, next_state=world.next_state.copy()), config) is run
    others = {
        "next_state": np.zeros_like(world.next_state),
        "probability": world.probability[..., ::-1] * 0.5,
        "cells": world.cells + 1,
        "distance": world.distance + 1,
        "start": 1,
        "starts": (0, 1),
        "task": np.ones(world.n_states),
    }
    found = [program(dataclasses.replace(world, **{k: v}), config) for k, v in others.items()]
    assert len({id(one) for one in [run, *found]}) == 1 + len(others)


def test_a_hosted_program_compiles_its_functions_once():
    world = twins.host_grid(SQUARE)
    config, _ = resolve(world, "diayn", {"skills": 5, "horizon": 3, "network": "linear"})
    run, hyper = program(world, config), hyper_of(config)
    state = run.init(0, hyper)
    with count_compilations() as compiled_once:
        state = run.chunk(state, hyper, np.int32(1))
    with count_compilations() as later:
        for n in (2, 5):
            state = run.chunk(state, hyper, np.int32(n))
    run.close()
    assert int(state.iteration) == 8
    assert len(compiled_once) > 0
    assert later == []


@contextlib.contextmanager
def count_compilations():
    """A list that grows with every program that JAX compiles."""
    seen = []

    def listen(event, duration, **_):
        if event.endswith("backend_compile_duration"):
            seen.append(event)

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        yield seen
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)


def test_a_walk_is_evaluated_with_its_own_epsilon():
    """Traced numbers are no constants of a program that several configurations share."""
    found = []
    for epsilon in (1.0, 0.0):
        config, world = resolve(
            "four_rooms", "random_walk", {"skills": 9, "horizon": 12, "epsilon": epsilon}
        )
        run, hyper = program(world, config), hyper_of(config)
        found.append(float(run.evaluate(run.init(0, hyper), hyper).mutual_information))
    assert abs(found[0]) < 1e-3  # all skills walk alike
    assert found[1] > 0.5


@pytest.mark.parametrize("slip", [0.0, 0.1])
def test_plain_q_beside_a_network_of_logits(slip):
    options = {"network": "table/mlp:4", "q_rule": "plain", "batch": 3, "skills": 4, "horizon": 4}
    config, world = resolve("four_rooms", "diayn", options, slip=slip)
    run, hyper = program(world, config), hyper_of(config)
    assert int(run.chunk(run.init(0, hyper), hyper, 3).learnt.updates) == 3


@pytest.mark.parametrize(
    ("world", "places"),
    [(parse("S........", "nine"), [1, 4, 7]), (parse("S.\n.#", "corner"), [0, 1, 2])],
    ids=["few", "one for each cell"],
)
def test_three_skills_share_a_world(world, places):
    config, _ = resolve(world, "apart_spread", {"skills": 3, "horizon": 16})
    run, hyper = program(world, config), hyper_of(config)
    state = run.chunk(run.init(0, hyper), hyper, 500)
    last = run.evaluate(state, hyper).trajectories[:, -1]
    assert sorted(np.asarray(last).tolist()) == places
