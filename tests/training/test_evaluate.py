"""Metrics of policies whose numbers can be worked out by hand."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from apart.learner.episodes import Episodes
from apart.settings import resolve
from apart.training import choices, collect
from apart.training.choices import Drawn
from apart.training.collect import Dynamics, by_table
from apart.training.evaluate import (
    evaluate_episodes,
    evaluate_table,
    expected_distinct,
    information_count,
    information_of_ends,
    last_states,
    mutual_information,
)
from apart.training.learners import learner_of
from apart.training.objectives.contract import skills_used
from apart.training.program import program
from apart.training.state import hyper_of
from apart.worlds.grid import parse

WORLD = parse("S..", "corridor")
STAY, RIGHT = 0, 2


def actions(*greedy):
    """Q [S, A, K] whose greedy action of skill z is greedy[z] everywhere."""
    q = np.zeros((3, 5, len(greedy)), np.float32)
    for z, a in enumerate(greedy):
        q[:, a, z] = 1.0
    return jnp.asarray(q)


def played(q, world=WORLD, horizon=2, n=None):
    n = n or q.shape[2]
    drawn = Drawn(jnp.arange(n) % q.shape[2], jnp.full((n, horizon), 5))
    return by_table(Dynamics.of(world), q, drawn, jax.random.key(0))


def measured(q, scores, rewards, world=WORLD, used=None):
    scores, rewards = jnp.asarray(scores, jnp.float32), jnp.asarray(rewards, jnp.float32)
    greedy, dynamics = jnp.argmax(q, axis=1), Dynamics.of(world)
    episodes = played(q, world)
    own = rewards[episodes.obs[:, 1:], jnp.arange(rewards.shape[1])[:, None]]
    return evaluate_table(greedy, scores, own, dynamics, episodes, None, used=used)


def test_two_skills_that_part():
    scores = np.log([[0.5, 0.5], [0.1, 0.9], [0.2, 0.8]])
    rewards = [[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]
    got = measured(actions(STAY, RIGHT), scores, rewards)
    assert got.trajectories.tolist() == [[0, 0, 0], [0, 1, 2]]
    assert int(got.n_effective) == 2
    # skill 0 stands in state 0 twice (tie -> predicted 0, right), skill 1 in 1 and 2 (right)
    assert got.accuracy_per_step.tolist() == [1.0, 1.0]
    assert got.mean_reward == pytest.approx((1 + 1 + 20 + 30) / 4)
    assert got.mean_last_reward == pytest.approx((1 + 30) / 2)
    np.testing.assert_allclose(got.reward_quantiles, [1, 1, 10.5, 22.5, 30], rtol=1e-6)
    np.testing.assert_allclose(got.last_probability, [0.5, 0.8], rtol=1e-6)
    assert got.information_count == pytest.approx(2 * (0.5 * 0.8) ** 0.5, rel=1e-5)
    assert got.mutual_information == pytest.approx(1.0)


def test_skills_that_do_not_part_carry_no_information():
    got = measured(actions(RIGHT, RIGHT), np.zeros((3, 2)), np.zeros((3, 2)))
    assert int(got.n_effective) == 1
    assert got.mutual_information == pytest.approx(0.0, abs=1e-6)
    assert got.discriminator_accuracy == pytest.approx(0.5)


def test_ties_between_actions_go_to_the_lowest_index():
    got = measured(jnp.zeros((3, 5, 2)), np.zeros((3, 2)), np.zeros((3, 2)))
    assert got.trajectories.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_mutual_information_by_hand():
    # two skills over two states: H(S) - H(S|Z) with p = (1, 0) and (1/2, 1/2)
    p = jnp.array([[1.0, 0.5], [0.0, 0.5]])
    expected = -(0.75 * np.log2(0.75) + 0.25 * np.log2(0.25)) - 0.5
    assert mutual_information(p) == pytest.approx(expected, rel=1e-5)


def test_skills_that_are_not_in_use_carry_no_information():
    """Z is drawn from those in use: the same numbers as if there were no others."""
    p = jnp.array([[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]])
    used = jnp.array([True, True, False])
    assert mutual_information(p, used) == pytest.approx(float(mutual_information(p[:, :2])))
    assert mutual_information(p) != pytest.approx(float(mutual_information(p, used)), rel=0.05)
    log_posterior = jnp.log(jnp.array([0.5, 0.8, 1e-6]))
    expected = 2 * (0.5 * 0.8) ** 0.5
    assert information_count(log_posterior, used) == pytest.approx(expected, rel=1e-5)
    assert information_count(log_posterior[:2]) == pytest.approx(expected, rel=1e-5)


def test_skills_that_are_not_in_use_take_no_share_of_those_that_are():
    """As if they were not there: also in the posterior, in accuracy and in rewards."""
    q, used = actions(STAY, RIGHT, RIGHT), jnp.array([True, True, False])
    scores = np.log([[0.8, 0.2, 5.0], [0.3, 0.7, 5.0], [0.1, 0.9, 5.0]])
    rewards = [[1.0, 10.0, 100.0], [2.0, 20.0, 200.0], [3.0, 30.0, 300.0]]
    got = measured(q, scores, rewards, used=used)
    alone = measured(q[:, :, :2], scores[:, :2], np.array(rewards)[:, :2])
    of_all = {"n_effective", "trajectories", "last_probability"}
    for name in set(got._fields) - of_all:
        one, other = getattr(got, name), getattr(alone, name)
        if other is not None:
            np.testing.assert_allclose(one, other, rtol=1e-5, err_msg=name)
    np.testing.assert_allclose(got.last_probability, [0.8, 0.9, 0.0], rtol=1e-5)


def test_by_chance_the_posterior_is_expected_and_episodes_begin_in_the_first_start():
    """Ends of skills by hand: they stay, or slip to one side."""
    world = parse("S.S", "two starts", slip=0.2)
    scores = np.log([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]])
    got = measured(actions(STAY, STAY), scores, np.zeros((3, 2)), world)
    one_start = parse("S..", "one start", slip=0.2)
    ends = last_states(jnp.zeros((3, 2), int), Dynamics.of(one_start), 2, None)
    np.testing.assert_allclose(got.last_states, ends, rtol=1e-6)
    assert got.n_effective == pytest.approx(float(expected_distinct(ends)), rel=1e-5)
    likely = (np.asarray(ends) * scores).sum(axis=0)
    there = (np.asarray(ends) * np.exp(scores)).sum(axis=0)
    np.testing.assert_allclose(got.last_probability, there, rtol=1e-5)
    assert got.information_count == pytest.approx(2 * np.exp(likely.mean()), rel=1e-5)
    both = last_states(jnp.zeros((3, 2), int), Dynamics.of(world), 2, None)
    assert got.mutual_information == pytest.approx(float(mutual_information(both)), abs=1e-6)


@pytest.mark.parametrize("used", [None, [1, 1, 0, 1, 0, 1], [0, 0, 0, 0, 1, 0]])
def test_bits_of_certain_ends_need_no_table(used):
    last = jnp.array([4, 2, 4, 4, 0, 2])
    used = None if used is None else jnp.array(used, bool)
    slow = mutual_information(jax.nn.one_hot(last, 5, axis=0), used)
    assert information_of_ends(last, used) == pytest.approx(float(slow), abs=1e-6)


def test_episodes_in_large_tables_are_those_of_small_ones(monkeypatch):
    """Greedy actions are looked up where an episode is, or listed first: the same."""
    world = parse("\n".join(["S" + "." * 29] + ["." * 30] * 4), "field")
    q = jax.random.normal(jax.random.key(1), (150, 5, 7))
    drawn = choices.draw(20, 12, 7, 5, jnp.float32(0.3), jax.random.key(2))
    both = []
    for ratio in (8, 1000):
        monkeypatch.setattr(collect, "_LOOK_UPS", ratio)
        both.append(by_table(Dynamics.of(world), q, drawn, jax.random.key(0)))
    for one, other in zip(*map(jax.tree.leaves, both), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("method", ["valor", "upside", "upside_flat"])
def test_methods_that_add_skills_are_measured_by_those_they_have(method):
    config, world = resolve("four_rooms", method, {"skills": 30, "steps": 20_000})
    run, hyper = program(world, config), hyper_of(config)
    state = run.chunk(run.init(jnp.uint32(0), hyper), hyper, jnp.int32(config.iterations))
    got = run.evaluate(state, hyper)
    objective = learner_of(world, config).objective
    used = np.asarray(skills_used(objective, state.learnt.discriminator))
    assert 1 < used.sum() < 30
    share = np.unique(np.asarray(got.trajectories)[used, -1], return_counts=True)[1] / used.sum()
    assert got.mutual_information == pytest.approx(-(share * np.log2(share)).sum(), rel=1e-4)
    named = np.log(np.asarray(got.last_probability)[used])
    assert got.information_count == pytest.approx(
        float(used.sum() * np.exp(named.mean())), rel=1e-3
    )


@pytest.mark.parametrize(("slip", "epsilon"), [(0.0, 0.4), (0.4, 0.0), (0.2, 0.25)])
def test_last_states_are_the_frequencies_of_many_episodes(slip, epsilon):
    """To slip with 0.2 and to explore with 0.25 is a random action with 0.4 too."""
    world = parse("S..", "corridor", slip=slip)
    exact = last_states(jnp.full((3, 1), RIGHT), Dynamics.of(world), 3, epsilon)[:, 0]
    assert exact.sum() == pytest.approx(1.0)
    slippery = parse("S..", "corridor", slip=0.4)
    many = played(actions(RIGHT), slippery, horizon=3, n=4000).obs[:, -1]
    np.testing.assert_allclose(np.bincount(many, minlength=3) / 4000, exact, atol=0.04)


def test_expected_distinct_last_states_by_hand():
    # state 0: 1 - 0 * 1/2 = 1; state 1: 1 - 1 * 1/2
    assert expected_distinct(jnp.array([[1.0, 0.5], [0.0, 0.5]])) == pytest.approx(1.5)


def test_by_chance_last_states_are_counted_by_expectation():
    world = parse("S..", "corridor", slip=0.5)
    got = measured(actions(STAY, RIGHT), np.zeros((3, 2)), np.zeros((3, 2)), world)
    exact = np.asarray(got.last_states)
    # skill 0 leaves with 1/10 a step (a fifth of the slips), skill 1 goes right with 0.6
    assert exact[0, 0] == pytest.approx(0.9 * 0.9 + 0.1 * 0.1, rel=1e-5)
    assert exact[2, 1] == pytest.approx(0.6 * 0.6, rel=1e-5)
    assert float(got.n_effective) == pytest.approx(float(expected_distinct(exact)), rel=1e-6)
    assert 0 < float(got.mutual_information) < 1


def test_episodes_of_any_world_are_measured_like_those_of_a_table():
    scores = jnp.asarray(np.log([[0.5, 0.5], [0.1, 0.9], [0.2, 0.8]]), jnp.float32)
    rewards = jnp.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    q = actions(STAY, RIGHT)
    exact = measured(q, scores, rewards)
    episodes = played(q)
    seen = Episodes(jax.nn.one_hot(episodes.obs, 3), *episodes[1:])._replace(place=episodes.obs)
    got = evaluate_episodes(lambda x: (x.after @ scores, x.after @ rewards), seen)
    for name, value in exact._asdict().items():
        if name in ("mutual_information", "last_states", "positions"):
            assert getattr(got, name) is None  # nobody can know
        elif name == "last_observations":
            np.testing.assert_array_equal(got.last_observations, seen.obs[:, -1])
        else:
            np.testing.assert_allclose(getattr(got, name), value, rtol=1e-5, err_msg=name)


def test_what_follows_the_end_of_an_episode_is_not_measured():
    rewards = jnp.array([[[1.0, 2.0, 9.0, 9.0], [0.0] * 4], [[0.0] * 4, [4.0, 5.0, 6.0, 7.0]]])
    alive = jnp.array([[True, True, False, False], [True] * 4])
    seen = Episodes(
        jnp.zeros((2, 5, 1)),
        jnp.zeros((2, 4), int),
        jnp.arange(2),
        alive=alive,
        place=jnp.eye(2, 5),
    )
    seen = seen._replace(obs=seen.obs.at[1].set(1.0))

    def judge(moved):  # the first skill is named in every step
        return jnp.array([[1.0, 0.0]] * 4), rewards[moved.before[0, 0].astype(int)].T

    got = evaluate_episodes(judge, seen)
    assert float(got.mean_reward) == pytest.approx(25 / 6)
    assert float(got.mean_last_reward) == pytest.approx((2 + 7) / 2)
    assert float(got.discriminator_accuracy) == pytest.approx(2 / 6)
    np.testing.assert_allclose(got.reward_quantiles, [1, 2.5, 4.5, 5.75, 7])
    np.testing.assert_allclose(got.accuracy_per_step, [0.5, 0.5, 0, 0])
    nobody = evaluate_episodes(judge, seen._replace(alive=jnp.zeros((2, 4), bool)))
    assert float(nobody.mean_reward) == float(nobody.discriminator_accuracy) == 0.0


def test_several_starts_are_drawn_alike_and_counted_exactly():
    world = parse("S.#S.", "two rooms")  # states 0, 1 and 2, 3
    q = jnp.zeros((4, 5, 2)).at[:, STAY, 0].set(1.0).at[:, RIGHT, 1].set(1.0)
    drawn = Drawn(jnp.arange(400) % 2, jnp.full((400, 2), 5))
    for chance in (parse("S.#S.", "by chance", slip=1e-9), world):
        made = by_table(Dynamics.of(chance), q, drawn, jax.random.key(0))
        first = np.asarray(made.obs[:, 0])
        assert set(first.tolist()) == {0, 2}
        assert 150 < (first == 0).sum() < 250
        assert (np.asarray(made.obs[:, -1]) == first + np.asarray(drawn.skill)).all()
    greedy = jnp.argmax(q, axis=1)
    p = last_states(greedy, Dynamics.of(world), 2, None)
    np.testing.assert_allclose(p, [[0.5, 0], [0, 0.5], [0.5, 0], [0, 0.5]])
    one = by_table(Dynamics.of(world, starts=False), q, drawn, jax.random.key(0))
    assert (one.obs[:, 0] == world.start).all()
    few = Drawn(jnp.arange(2), jnp.full((2, 2), 5))
    episodes = by_table(Dynamics.of(world, starts=False), q, few, jax.random.key(0))
    got = evaluate_table(
        greedy, jnp.zeros((4, 2)), jnp.zeros((2, 2)), Dynamics.of(world), episodes, None
    )
    assert got.mutual_information == pytest.approx(1.0)
    assert int(got.n_effective) == 2


@pytest.mark.parametrize(("context", "paid"), [("next", 1), ("current", 0)])
def test_rewards_are_reported_of_the_states_that_pay(context, paid):
    """With ``current`` a step pays for the state that it leaves, also in what is measured."""
    options = {"skills": 3, "horizon": 4, "steps": 400, "batch": 16, "context": context}
    config, world = resolve(WORLD, "diayn", {**options, "init_logits": 1.0})
    run, hyper = program(world, config), hyper_of(config)
    state = run.init(jnp.uint32(1), hyper)
    moving = state.learnt.q._replace(params=actions(RIGHT, STAY, RIGHT))
    state = state._replace(learnt=state.learnt._replace(q=moving))
    learner, found = learner_of(world, config), run.evaluate(state, hyper)
    of_states = learner.objective.of_states(state.learnt.discriminator, None, hyper)
    paths = np.asarray(found.trajectories)[:, paid : paid + 4]
    own = np.asarray(of_states)[paths, np.arange(3)[:, None]]
    np.testing.assert_allclose(found.mean_reward, own.mean(), rtol=1e-5)
    np.testing.assert_allclose(found.mean_last_reward, own[:, -1].mean(), rtol=1e-5)
