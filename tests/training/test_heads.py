"""Several heads of Q (DecQN): the value of an action is the mean over its numbers.

Whole updates against a slow NumPy oracle, with episodes that end, are cut off, or go on to T.
"""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import oracle

from apart.learner import q_learning, replay
from apart.learner.episodes import Episodes
from apart.settings import resolve
from apart.training import choices, collect
from apart.training.learners import example, learner_over
from apart.training.pieces import draw, pieces
from apart.training.state import hyper_of
from apart.worlds.observations import sight_of
from apart.worlds.world import About, HostWorld, JaxWorld, ObsSpec, Places

M, A, K, D, T, E = 3, 2, 4, 5, 6, 3
WORLD = HostWorld(
    About("heads", {"kind": "heads"}, T, A, M),
    Places(None),
    ObsSpec((D,)),
    make=lambda n: None,
    place=lambda obs, infos: np.zeros(len(obs), int),
)
RNG = np.random.default_rng(0)


def test_the_best_of_all_combinations_is_the_mean_of_the_best():
    q = RNG.normal(size=(7, M, A, K))
    combinations = itertools.product(range(A), repeat=M)
    every = np.stack([q[:, np.arange(M), list(a)].mean(1) for a in combinations])
    np.testing.assert_allclose(q_learning.best(jnp.asarray(q)), every.max(0), rtol=1e-5)


def test_greedy_actions_are_the_best_combination():
    q, skill = RNG.normal(size=(7, M, A, K)), RNG.integers(K, size=7)
    choice = np.full((7, M), A)
    choice[0] = [1, 0, 1]
    got = choices.actions(jnp.asarray(q), jnp.asarray(skill), jnp.asarray(choice))
    assert got[0].tolist() == [1, 0, 1]
    for n in range(1, 7):
        combinations = list(itertools.product(range(A), repeat=M))
        values = [np.mean([q[n, m, a[m], skill[n]] for m in range(M)]) for a in combinations]
        assert tuple(got[n].tolist()) == combinations[int(np.argmax(values))]


def test_a_random_action_is_random_in_all_heads_or_in_none():
    drawn = choices.draw(50, T, K, A, jnp.float32(0.5), jax.random.key(0), heads=M)
    assert drawn.choice.shape == (50, T, M)
    greedy = np.asarray(drawn.choice == A)
    assert (greedy.all(-1) == greedy.any(-1)).all()
    assert 0.3 < greedy.mean() < 0.7
    numbers = np.asarray(drawn.choice)[~greedy.any(-1)]
    assert len({tuple(row) for row in numbers.tolist()}) == A**M


def episodes(seed):
    """One that goes on to T, one that ends after 4 steps, one that is cut off after 3."""
    rng = np.random.default_rng(seed)
    alive = np.arange(T) < np.array([[T], [4], [3]])
    terminated = np.zeros((E, T), bool)
    terminated[1, 3] = True
    return Episodes(
        jnp.asarray(rng.normal(size=(E, T + 1, D)), jnp.float32),
        jnp.asarray(rng.integers(A, size=(E, T, M)), jnp.int32),
        jnp.asarray(rng.integers(K, size=E), jnp.int32),
        jnp.asarray(alive),
        jnp.asarray(terminated),
    )


@pytest.mark.parametrize("method", ["diayn", "vic", "apart_logits"])
@pytest.mark.parametrize("bootstrap", [False, True])
def test_updates_equal_the_oracle(method, bootstrap):
    options = {"skills": K, "horizon": T, "batch": 40, "buffer": 100, "network": "linear"}
    options |= {"episodes_per_update": E, "init_q": 0.3, "bootstrap_last": bootstrap}
    options |= {"learning_rate": 0.01, "discriminator_learning_rate": 0.02}
    config, _ = resolve(WORLD, method, {**options, "updates_per_episode": 1})
    shared = config.q_rule == "shared_adam"
    p = pieces(config, A, sight_of(WORLD, config.observation), M)
    learner, hyper = learner_over(WORLD, config, states=False), hyper_of(config)
    slots = replay.slots_for(config.buffer, config.collection)
    memory = replay.plain(slots, E, lambda: example(WORLD, config), T)
    learnt = learner.init(jax.random.key(1), jax.random.key(2), hyper)
    assert learnt.q.params.last.shape == (D, M * A * K)
    q = np.asarray(learnt.q.params.last, np.float64).reshape(D, M, A, K)
    logits = np.asarray(learnt.discriminator.params.last, np.float64)
    adam_q, adam_logits = oracle.Adam(q.shape), oracle.Adam(logits.shape)
    ends = set()
    for round_ in range(1, 13):
        new, key = episodes(round_), jax.random.key(round_)
        ring = memory.insert(learnt.replay, new, jnp.int32(round_ - 1))
        drawn = draw(p, memory, ring, hyper, key, jnp.int32(round_))
        learnt = learner.learn(learnt, new, hyper, key, jnp.int32(round_))
        b = jax.tree.map(np.asarray, drawn.batch)
        gradient, d_gradient, taught = np.zeros_like(q), np.zeros_like(logits), 0
        for n in range(config.batch):
            now = np.einsum("d,dmak->mak", b.obs[n], q)
            after = np.einsum("d,dmak->mak", b.next_obs[n], q)
            t = int(np.rint(b.time[n] * T))
            # Bootstrapped: what goes on, and what was cut off by the world's own clock, unless
            # the end is all that is paid.
            if not b.last[n]:
                goes_on = 1.0
            elif b.terminated[n]:
                goes_on = 0.0
            else:
                goes_on = 1.0 if bootstrap or (b.cut[n] and method != "vic") else 0.0
            ends.add((bool(b.last[n]), bool(b.terminated[n]), bool(b.cut[n]), goes_on))
            seen = b.next_obs[n] @ logits
            for z in range(K) if shared else [int(b.skill[n])]:
                reward = oracle.reward(config.reward, seen, z, config.inverse_temperature)
                reward *= oracle.weight(config.time_weight, t, T)
                best = np.mean([after[m, :, z].max() for m in range(M)])
                goal = reward + config.discount * goes_on * best
                value = np.mean([now[m, b.action[n, m], z] for m in range(M)])
                for m in range(M):
                    step = 2 * (value - goal) / config.batch / M
                    gradient[:, m, b.action[n, m], z] += step * b.obs[n]
            if config.context != "last" or b.last[n]:
                taught += 1
                own = oracle.loss_gradient("one_vs_all", seen, int(b.skill[n]), 1.0)
                d_gradient += np.outer(b.next_obs[n], own)
        q = adam_q.step(q, gradient, config.learning_rate)
        logits = adam_logits.step(
            logits, d_gradient / max(taught, 1), config.discriminator_learning_rate
        ) * (1 - config.fading)
        np.testing.assert_allclose(
            np.asarray(learnt.q.params.last).reshape(q.shape), q, atol=2e-4, err_msg=str(round_)
        )
        got = np.asarray(learnt.discriminator.params.last)
        np.testing.assert_allclose(got, logits, atol=2e-4)
    assert (True, True, False, 0.0) in ends
    assert (True, False, True, 1.0 if bootstrap or method != "vic" else 0.0) in ends
    assert (True, False, False, float(bootstrap)) in ends


def test_heads_in_a_world_of_jax_functions_act_as_they_learn():
    """A point in M dimensions, each number of an action moves one of them up or down."""
    world = JaxWorld(
        About("points", {"kind": "points"}, T, A, M),
        Places(None),
        ObsSpec((M,)),
        reset=lambda key: jnp.zeros(M, jnp.int32),
        step=lambda key, state, action: (state + 2 * action - 1, None),
        observe=lambda state: state.astype(jnp.float32),
        place=lambda state: (state + T) @ jnp.array([1, 100, 10_000]),
    )
    drawn = choices.draw(20, T, K, A, jnp.float32(1.0), jax.random.key(0), heads=M)

    def values(obs):
        return jnp.zeros((obs.shape[0], M, A, K))

    made = collect.by_steps(collect.steps_of(world), values, drawn, jax.random.key(1))
    assert made.action.shape == (20, T, M)
    moved = (2 * np.asarray(made.action) - 1).cumsum(1)
    np.testing.assert_array_equal(np.asarray(made.obs)[:, 1:], moved)
