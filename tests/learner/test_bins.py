"""Ends on the graph of bins: against loops, by hand, and what must never happen."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference.bins import Bins

from apart import checks
from apart.learner import bins
from apart.learner.ends import EVERY, Ends
from apart.objective.contexts import Moved
from apart.settings import resolve
from apart.training.learners import learner_over
from apart.training.rounds import collector, initial, round_of
from apart.training.state import hyper_of
from apart.worlds import mazes

ADD, LOOK = jax.jit(bins.add), jax.jit(bins.look, static_argnums=2)
# Two corridors with a wall between them: neighbours across it are far apart.
HAIRPIN = ["+-+-+-+", "|S    |", "+-+-+ +", "|     |", "+-+-+-+"]


def seen_in(kept):
    """Steps from bin to bin."""
    n, graph = kept.visits.shape[0], bins.graph(kept)
    at = np.asarray(graph.seen & (graph.source < n) & (graph.target < n))
    return set(zip(*(np.asarray(x)[at].tolist() for x in graph[:2]), strict=True))


@pytest.mark.parametrize("n_skills", [2, 9])
def test_every_look_is_what_loops_over_seen_steps_find(n_skills):
    n_bins, horizon = 12, 4
    for seed in range(3):
        rng = np.random.default_rng(seed)
        fast, slow = bins.init(n_bins, n_skills), Bins(n_bins, n_skills, horizon)
        for rounds in range(1, 8 * EVERY + 1):
            walks = np.cumsum(rng.integers(-1, 2, (2, horizon + 1)), axis=1) % n_bins
            fast = LOOK(ADD(fast, jnp.asarray(walks, jnp.int32)), jnp.int32(rounds), horizon)
            slow.round(rounds, walks.tolist())
            assert seen_in(fast) == slow.seen
            if rounds % EVERY == 0:
                found = slow.places
                expected = (found.place, found.owner, found.steps, found.width, found.n_seen)
                for name, value in zip(Ends._fields, expected, strict=False):
                    np.testing.assert_array_equal(getattr(fast.ends, name), value, err_msg=name)
                near = [[slow.near(s, z) for z in range(n_skills)] for s in range(n_bins)]
                np.testing.assert_allclose(bins.read(fast, None), near, atol=1e-6)
        few = bins.read(fast, jnp.array([3, 0]))
        np.testing.assert_allclose(few, [near[3], near[0]], atol=1e-6)


def test_by_hand():
    line = jnp.arange(9, dtype=jnp.int32)
    now = ADD(bins.init(9, 3), jnp.stack([line, line[::-1]] * 4))
    assert now.start == 0
    for _ in range(30):
        now = LOOK(now, jnp.int32(EVERY), 8)
    assert sorted(now.ends.place.tolist()) == [1, 4, 7]
    middle = now.ends.place.tolist().index(4)
    np.testing.assert_allclose(bins.read(now, None)[:, middle], [0, 0, 0, 0.5, 1, 0.5, 0, 0, 0])


def test_skills_go_to_what_few_episodes_came_to_and_stay_there_when_it_is_known_well():
    """Two skills in three bins in a row, of which the last is new: one step covers all, but not
    what is beyond.
    """
    now = ADD(bins.init(3, 2), jnp.array([[0, 1, 0, 1]] * 8, jnp.int32))
    now = ADD(now, jnp.array([[0, 1, 2, 1]], jnp.int32))
    for _ in range(8):
        now = LOOK(now, jnp.int32(EVERY), 3)
    beyond = now.ends.place.tolist().index(3 + 2)
    assert int(bins.read(now, None)[:, beyond].argmax()) == 2
    assert float(bins.read(now, None)[2, beyond]) == 1
    for _ in range(7):
        now = ADD(now, jnp.array([[0, 1, 2, 1]], jnp.int32))
    assert int(LOOK(now, jnp.int32(EVERY + 1), 3).ends.place[beyond]) == 3 + 2  # not due yet
    for _ in range(8):
        now = LOOK(now, jnp.int32(EVERY), 3)
    assert max(now.ends.place.tolist()) < 3
    assert int(now.ends.width) == 1
    assert not bool(now.new)


def test_all_begin_where_the_first_episode_did():
    now = ADD(bins.init(9, 3), jnp.array([[5, 5, 6]], jnp.int32))
    assert now.ends.place.tolist() == [5, 5, 5]
    again = ADD(now, jnp.array([[2, 2, 2]], jnp.int32))
    assert (int(again.start), again.ends.place.tolist()) == (5, [5, 5, 5])
    assert seen_in(again) == {(5, 5), (5, 6), (2, 2)}
    assert again.visits.tolist() == [0, 0, 1, 0, 0, 1, 1, 0, 0]  # once an episode


def test_a_full_memory_keeps_what_it_has(monkeypatch):
    monkeypatch.setattr(bins, "_PER_BIN", 1)
    now = ADD(bins.init(4, 2), jnp.array([[3, 2, 3]], jnp.int32))
    now = ADD(now, jnp.array([[3, 3, 1, 0]], jnp.int32))
    assert len(seen_in(now)) == 4
    assert {(3, 2), (2, 3)} < seen_in(now) < {(3, 2), (2, 3), (3, 3), (3, 1), (1, 0)}
    assert ADD(now, jnp.array([[0, 0]], jnp.int32)).seen.tolist() == now.seen.tolist()


def test_as_many_bins_as_settings_allow_can_be_numbered():
    most = checks._MOST_PLACES
    assert most * most <= 2**31 - 1 < (most + 1) ** 2


def test_in_a_maze_walls_keep_bins_apart_and_rewards_follow():
    """Whole rounds against loops: steps from bins, nearness from steps."""
    spec = {"kind": "maze", "name": "maze:hairpin", "drawing": HAIRPIN, "move": 0.4}
    world = mazes.from_spec({**spec, "start": "random", "bins": 3}, 40)
    options = {"discriminator": "bins", "skills": 2, "hold": 2, "epsilon": 1.0, "network": "linear"}
    config, _ = resolve(world, "apart_spread", options)
    learner, hyper = learner_over(world, config, states=False), hyper_of(config)
    state = jax.jit(initial(learner))(jnp.uint32(0), hyper)
    episodes_of = jax.jit(collector(world, config, learner))
    rounds_of = jax.jit(lambda now: round_of(config, 9, now, hyper))
    learn = jax.jit(learner.learn)
    learnt, slow = state.learnt, Bins(6, 2, 40)
    for n in range(2 * EVERY):
        made = rounds_of(state._replace(iteration=jnp.int32(n)))
        episodes = episodes_of(state.learnt, made.drawn, made.collect)
        learnt = learn(learnt, episodes, hyper, made.learn, jnp.int32(n + 1))
        slow.round(n + 1, np.asarray(episodes.place).tolist())
    kept = learnt.discriminator
    assert {(0, 1), (1, 2), (2, 5), (5, 4)} < slow.seen
    assert not {(0, 3), (3, 0), (1, 4), (4, 1)} & slow.seen
    np.testing.assert_array_equal(kept.ends.place, slow.places.place)
    decided = episodes.place[0, ::2]
    rewards = learner.objective.rewards(kept, Moved(decided[:-1], decided[1:]), hyper)
    expected = [[0.05 * slow.near(int(s), z) for z in range(2)] for s in decided[1:]]
    np.testing.assert_allclose(rewards, expected, atol=1e-7)
    assert len({tuple(row) for row in expected}) > 1
