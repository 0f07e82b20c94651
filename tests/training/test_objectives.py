"""Objectives of other papers: numbers by loops and by hand (test_family has what all must do)."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from conftest import fitting
from reference import objectives as family
from twins import host_grid, jax_grid

import apart
from apart.learner.episodes import Batch, Episodes, Sampled
from apart.objective import codes, diffusion, near_optimal, spheres
from apart.objective.contexts import Moved
from apart.settings import resolve
from apart.skills.policies import learnt_of
from apart.training import edges
from apart.training.learners import learner_of
from apart.training.objectives import upside
from apart.training.objectives.contract import Given, Met
from apart.training.program import program
from apart.training.rounds import round_of
from apart.training.state import hyper_of
from apart.worlds import tasks
from apart.worlds.grid import from_spec, parse
from apart.worlds.world import possible_successors

WORLD = parse("S..\n.#.", "small")
TASK = parse("S..\n9#3", "task")
TINY = {"skills": 4, "horizon": 4, "steps": 160, "batch": 24, "epsilon": 0.5}


def asked(method, world=WORLD, **options):
    config, world = resolve(world, method, fitting(world, method, {**TINY, **options}))
    return config, world, hyper_of(config)


def batches(n, skills, seed=0):
    """Transitions (s, s', z) that the world can make, and the same as the learner has them."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        s, a = rng.integers(5, size=24), rng.integers(5, size=24)
        after, z = WORLD.next_state[s, a, 0], rng.integers(skills, size=24)
        at = (jnp.asarray(x, jnp.int32) for x in (s, a, after, z))
        batch = Batch(*at, jnp.ones(24), jnp.ones(24, bool), None)
        yield list(zip(s, after, z, strict=True)), Sampled(batch, jnp.ones(24), jnp.ones(24))


def rewards_of(objective, kept, hyper):
    """[S, A, K] of all moves."""
    before, after = jnp.repeat(jnp.arange(5), 5), jnp.asarray(WORLD.next_state.reshape(-1))
    found = objective.rewards(kept, Moved(before, after), hyper)
    return np.asarray(found).reshape(5, 5, -1)


def slow_rewards(slow, skills):
    moves = np.ndindex(5, 5, skills)
    each = [slow.reward(s, WORLD.next_state[s, a, 0], z) for s, a, z in moves]
    return np.reshape(each, (5, 5, skills))


SLOW = {
    "metra": lambda kept: family.Metra(kept.phi.params),
    "rnd": lambda kept: family.Rnd(kept.predictor.params, kept.wanted),
    "visr": lambda kept: family.Visr(kept.phi.params, kept.tasks),
    "discern": lambda kept: family.Discern(kept.embedding.params, np.asarray(kept.goals)),
}


@pytest.mark.parametrize("method", SLOW)
def test_what_is_trained_equals_the_slow_oracle(method):
    config, world, hyper = asked(method, init_logits=0.5)
    objective = learner_of(world, config).objective
    kept = objective.init(jax.random.key(3), hyper)
    if method == "discern":
        kept = kept._replace(goals=jnp.array([4, 0, 3, 2]))
    slow = SLOW[method](kept)
    first, fit = rewards_of(objective, kept, hyper), jax.jit(objective.fit)
    for transitions, drawn in batches(60, 4):
        kept = fit(kept, drawn, hyper, jnp.float32(0.05))
        slow.fit(transitions, 0.05)
    found = rewards_of(objective, kept, hyper)
    np.testing.assert_allclose(found, slow_rewards(slow, 4), atol=2e-3)
    assert np.abs(found - first).max() > 0.3


def met_of(states, rounds, graph=None):
    obs = jnp.asarray(states, jnp.int32)
    episodes = Episodes(obs, jnp.zeros((obs.shape[0], obs.shape[1] - 1), jnp.int32), obs[:, 0])
    return Met(episodes, jnp.int32(rounds), graph)


def test_exploration_counts_what_was_entered():
    config, world, hyper = asked("count_exploration")
    objective = learner_of(world, config).objective
    kept = objective.init(jax.random.key(0), hyper)
    kept = objective.meet(kept, met_of([[0, 1, 1, 2, 1]], 1), hyper)
    np.testing.assert_array_equal(kept, [0, 3, 1, 0, 0])
    found = objective.of_states(kept, None, hyper)
    np.testing.assert_allclose(found[:, 2], [1, 1 / np.sqrt(3), 1, 1, 1], rtol=1e-6)
    np.testing.assert_array_equal(found, np.repeat(found[:, :1], 4, axis=1))


@pytest.mark.parametrize("form", [jax_grid, host_grid])
def test_exploration_counts_places_where_states_cannot_be_listed(form):
    """Of decisions that were made: not what is passed while one is held, nor what is after it."""
    config, world, hyper = asked("count_exploration", form(WORLD), hold=2, network="linear")
    objective = learner_of(world, config).objective
    made = Episodes(
        obs=jnp.zeros((2, 3, 5)),
        action=jnp.zeros((2, 2), jnp.int32),
        skill=jnp.zeros(2, jnp.int32),
        alive=jnp.array([[True, True], [True, False]]),
        place=jnp.array([[0, 1, 2, 3, 2], [0, 3, 4, 4, 4]]),
    )
    kept = objective.init(jax.random.key(0), hyper)
    kept = objective.meet(kept, Met(made, jnp.int32(1), None), hyper)
    np.testing.assert_array_equal(kept, [0, 0, 2, 0, 1])
    found = objective.rewards(kept, Moved(jnp.array([2, 1]), jnp.array([0, 2])), hyper)
    np.testing.assert_allclose(found[:, 3], [1, 1 / np.sqrt(2)], rtol=1e-6)
    np.testing.assert_array_equal(found, np.repeat(found[:, :1], 4, axis=1))


@pytest.mark.parametrize("n", [2, 4, 9])
def test_codes_equal_those_of_loops(n):
    points = np.random.default_rng(n).normal(size=(40, 2)).round(3)
    there = np.arange(40) < 33
    found = codes.means(jnp.asarray(points), jnp.asarray(there, jnp.float32), n)
    np.testing.assert_allclose(found, family.k_means(points[there], n), atol=1e-4)


def test_edl_explores_then_is_near_its_codes():
    config, world, hyper = asked("edl", skills=2)
    objective = learner_of(world, config).objective
    kept = objective.init(jax.random.key(0), hyper)
    half = config.iterations // 2
    kept = objective.meet(kept, met_of([[0, 1, 2, 4, 2]], half - 1), hyper)
    assert not kept.ready
    np.testing.assert_allclose(objective.of_states(kept, None, hyper)[2], 1 / np.sqrt(2), rtol=1e-6)
    kept = objective.meet(kept, met_of([[0, 0, 0, 3, 0]], half), hyper)
    assert kept.ready
    # cells in order: (0, 0) (0, 1) (0, 2) (1, 0) (1, 2)
    wanted = family.k_means(world.cells, 2)
    gap = world.cells[:, None] - wanted
    np.testing.assert_allclose(
        objective.of_states(kept, None, hyper), -(gap**2).sum(-1), rtol=1e-5, atol=1e-5
    )
    before = kept.codes
    kept = objective.meet(kept, met_of([[0, 1, 2, 4, 4]], half + 9), hyper)
    np.testing.assert_array_equal(kept.codes, before)


def test_codes_of_edl_are_those_of_states_that_were_seen_outside_tables():
    options = {"skills": 2, "steps": 1600, "network": "mlp:8"}
    config, world = resolve("maze:u", "edl", options)
    hyper, objective = hyper_of(config), learner_of(world, config).objective
    rng = np.random.default_rng(0)
    obs = np.round(rng.uniform(-1, 1, (2, 6, 2)), 2).astype(np.float32)
    alive = np.arange(5) < np.array([[2], [5]])  # the first episode ends after two steps
    obs[0, 3:] = 7.0  # what follows was never seen
    episodes = Episodes(
        jnp.asarray(obs), jnp.zeros((2, 5), int), jnp.zeros(2, int), alive=jnp.asarray(alive)
    )
    kept = objective.meet(
        objective.init(jax.random.key(0), hyper), Met(episodes, jnp.int32(4), None), hyper
    )
    seen = obs[:, 1:][alive]
    assert int(kept.n_seen) == len(seen) == 7
    np.testing.assert_array_equal(np.asarray(kept.points)[:7], seen)
    np.testing.assert_allclose(kept.codes, family.k_means(seen, 2), atol=1e-5)


def test_nobody_lists_pairs_of_states_without_need(monkeypatch):
    without = replace(WORLD, cells=np.zeros((0, 2), np.int32))  # a table that is no map
    monkeypatch.setattr(np, "eye", lambda *_, **__: pytest.fail("S x S numbers"))
    learner_of(without, asked("apart_plus", WORLD)[0])


def test_what_explores_for_edl_learns_until_there_are_codes():
    options = {"skills": 3, "steps": 1600, "batch": 16, "network": "mlp:8"}
    config, world = resolve("maze:u", "edl", options)
    run, hyper = program(world, config), hyper_of(config)
    state, moved = run.init(0, hyper), []
    for _ in range(config.iterations):  # the codes are made in the fourth of eight
        before = np.array(state.learnt.discriminator.cover.predictor.params.last)
        state = run.chunk(state, hyper, 1)
        kept = state.learnt.discriminator
        moved.append(bool((np.asarray(kept.cover.predictor.params.last) != before).any()))
    assert kept.ready
    assert moved == [True] * 3 + [False] * 5


def test_skills_climb_the_eigenvectors_of_what_is_known():
    config, world, hyper = asked("eigenoptions", skills=5)
    learner = learner_of(world, config)
    run = program(world, config)
    kept = run.chunk(run.init(0, hyper), hyper, 64).learnt.discriminator
    moves = [(s, int(t)) for s in range(5) for t in world.next_state[s, :, 0]]
    values, vectors = family.laplacian(moves, 5)
    assert np.diff(values).min() > 0.05  # no two alike: the vectors are known up to their signs
    found = rewards_of(learner.objective, kept, hyper)
    for z in range(5):
        e = vectors[:, 1 + z // 2]
        climb = [[e[world.next_state[s, a, 0]] - e[s] for a in range(5)] for s in range(5)]
        sign = np.sign((found[:, :, z] * climb).sum())
        np.testing.assert_allclose(found[:, :, z], sign * np.array(climb), atol=1e-5)
        if z % 2:
            np.testing.assert_array_equal(found[:, :, z], -found[:, :, z - 1])


def distances(world):
    """[S, S] by Floyd and Warshall."""
    n = world.n_states
    far = np.where(np.eye(n, dtype=bool), 0.0, np.inf)
    far[np.arange(n)[:, None], world.next_state[:, :, 0]] = 1.0
    far[np.arange(n), np.arange(n)] = 0.0
    for k in range(n):
        far = np.minimum(far, far[:, k, None] + far[k])
    return far


def test_no_step_of_metra_is_long_and_far_states_are_far():
    world = parse("S.......", "eight")
    config, _, hyper = asked("metra", world, skills=2, horizon=12, epsilon=0.8, steps=96_000)
    run = program(world, config)
    state = run.chunk(run.init(0, hyper), hyper, config.iterations)
    assert sorted(np.asarray(run.evaluate(state, hyper).trajectories)[:, -1]) == [0, 7]
    phi = np.asarray(state.learnt.discriminator.phi.params)
    steps = np.sqrt(np.mean((phi[1:] - phi[:-1]) ** 2, axis=1))
    assert steps.max() < 1.2
    apart_ = np.sqrt(((phi[:, None] - phi) ** 2).mean(-1))
    assert np.corrcoef(apart_.ravel(), distances(world).ravel())[0, 1] > 0.98


def test_where_metra_collapses_and_why():
    """phi of a state moves with how many more episodes END there by one skill than by another.

    What a skill only passes cancels: a step to it and a step from it. Two skills that end alike
    therefore teach phi nothing, and stay together; random actions part them.
    """
    config, world, hyper = asked("metra", skills=2, init_logits=0.0)
    objective = learner_of(world, config).objective
    kept = objective.init(jax.random.key(0), hyper)
    paths = [(0, 1), (1, 2), (2, 1), (1, 0), (0, 3)]  # both skills make them all
    s, after, z = zip(*[(*step, z) for step in paths for z in (0, 1)], strict=True)
    at = (jnp.asarray(x, jnp.int32) for x in (s, s, after, z))
    batch = Batch(*at, jnp.ones(10), jnp.zeros(10, bool), None)
    moved = objective.fit(kept, Sampled(batch, jnp.ones(10), jnp.ones(10)), hyper, 0.1)
    np.testing.assert_allclose(moved.phi.params, 0.0, atol=1e-6)


def test_goals_are_states_that_were_seen_and_differ():
    config, world, hyper = asked("discern", parse("..S..", "corridor"), skills=3)
    objective = learner_of(world, config).objective
    kept = objective.init(jax.random.key(0), hyper)
    assert set(np.asarray(kept.goals).tolist()) == {2}  # the start: nothing else was seen yet
    for rounds in range(10):
        kept = objective.meet(kept, met_of([[2, 3, 4, 4, 4]], rounds), hyper)
        kept = objective.meet(kept, met_of([[2, 3, 3, 2, 3]], rounds), hyper)
    assert set(np.asarray(kept.goals).tolist()) == {2, 3, 4}


def test_a_goal_with_a_near_one_gives_way_to_a_state_that_is_farther():
    goals = jnp.array([[0.0, 0.0], [0.0, 1.0], [5.0, 5.0]])
    out, better = spheres.farther(goals, jnp.array([9.0, 0.0]))
    assert (int(out), bool(better)) == (0, True)
    out, better = spheres.farther(goals, jnp.array([0.0, 1.5]))
    assert (int(out), bool(better)) == (0, False)


def test_digits_are_points_of_a_task():
    np.testing.assert_array_equal(TASK.task, [0, 0, 0, 9, 3])
    assert WORLD.task is None
    np.testing.assert_array_equal(
        tasks.returns(TASK.task, np.array([[0, 3, 3], [3, 0, 1]])), [18, 0]
    )
    assert tasks.best_return(TASK, 4) == 36
    assert tasks.best_return(parse("S..\n.#3", "far"), 4) == 6
    again = from_spec(TASK.about.spec, 40)
    np.testing.assert_array_equal(again.task, TASK.task)


@pytest.mark.parametrize(("method", "hold"), [("domino", 1), ("vic", 2)])
def test_a_run_says_what_its_skills_earn(method, hold, tmp_path):
    options = fitting(TASK, method, {**TINY, "hold": hold})
    run = apart.train(TASK, method=method, **options, out=tmp_path / "run")
    earned = [sum(TASK.task[TASK.state(cell)] for cell in s.trajectory[1:]) for s in run.skills]
    assert run.summary["task"]["returns"] == earned
    assert run.summary["task"]["best"] == 36


@pytest.mark.parametrize("options", [{}, {"distance": 0.3, "optimality": 0.6}], ids=str)
def test_domino_equals_the_slow_oracle(options):
    config, world, hyper = asked("domino", TASK, **options)
    objective = learner_of(world, config).objective
    slow = family.Domino(5, 4, TASK.task, config.optimality, config.distance * config.horizon)
    kept = objective.init(jax.random.key(0), hyper)
    rng = np.random.default_rng(0)
    for _ in range(40):
        z, states = int(rng.integers(4)), rng.choice(5, 5, p=[0.1, 0.1, 0.3, 0.3, 0.2])
        met = met_of([states], 1)
        met = met._replace(episodes=met.episodes._replace(skill=jnp.array([z])))
        kept = objective.meet(kept, met, hyper)
        slow.episode(states[1:], z)
    found = rewards_of(objective, kept, hyper)
    np.testing.assert_allclose(found, slow_rewards(slow, 4), atol=1e-5)
    assert np.ptp(np.asarray(kept.multiplier)) > 0.1


def test_skills_part_up_to_a_distance_and_are_drawn_together_beyond_it():
    """As the gradient of the paper's l^2 / 2 - l^5 / (5 l_0^3) does; without l_0 they only part."""
    visits = jnp.array([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 4.0, 1.0]])
    for z, length in ((0, math.sqrt(8)), (1, math.sqrt(5))):  # to skill 1, and to skill 2
        for far in (1.0, length, 4.0):
            energy = jax.grad(lambda d, far=far: d**2 / 2 - d**5 / (5 * far**3))(length)
            away = visits[z] - visits[z + 1]
            found = near_optimal.force(visits, jnp.float32(far))[z]
            np.testing.assert_allclose(found, energy / length * away, atol=2e-5)
            pushed = float(found @ away)  # above 0: apart
            assert (pushed > 1e-3, pushed < -1e-3) == (far > length, far < length)
        parting = near_optimal.force(visits, jnp.float32(0.0))[z]
        np.testing.assert_allclose(parting, visits[z] - visits[z + 1])


@pytest.mark.parametrize("batch", [640, 2], ids=["at once", "in blocks"])
@pytest.mark.parametrize(
    ("method", "more"),
    [("smerl", {}), ("domino", {}), ("smerl", {"discriminator": "ends", "reward": "own_end"})],
)
def test_a_cell_that_is_only_come_to_with_the_last_step_promises_nothing(
    method, more, batch, tmp_path
):
    """Q keeps its first values there, far more than the task can be worth."""
    corridor = parse("S.9...", "corridor", horizon=5)
    options = {"skills": 2, "steps": 8_000, "batch": batch, "updates_per_episode": 6, **more}
    options = fitting(corridor, method, options)
    run = apart.train(corridor, method=method, out=tmp_path / "run", **options)
    assert max(run.summary["task"]["returns"]) == run.summary["task"]["best"] == 36


@pytest.mark.parametrize("method", ["relative_vic", "valor", "eddict", "dads", "vic"])
def test_every_method_may_look_beyond_the_end_of_an_episode(method):
    """Also those whose rewards are of whole episodes, in a world with a cell T steps away."""
    options = {"skills": 3, "steps": 60, "bootstrap_last": True}
    config, world = resolve(parse("S.3.", "corridor", horizon=3), method, options)
    run, hyper = program(world, config), hyper_of(config)
    made = jax.eval_shape(lambda: run.chunk(run.init(jnp.uint32(0), hyper), hyper, jnp.int32(2)))
    assert made.learnt.q.params.shape == (4, 5, 3)


def test_states_that_no_episode_leaves_are_those_at_the_end_of_its_ways():
    world = parse("S.....", "corridor")

    def edge(decisions, starts=(0,)):
        p = SimpleNamespace(config=SimpleNamespace(decisions=decisions))
        return edges.edge_of(Given(p, 6, next_state=world.next_state, starts=starts))

    assert [edge(n) for n in (1, 4, 5, 6, 9)] == [(1,), (4,), (5,), (), ()]
    assert edge(2, starts=(0, 5)) == (2, 3)
    assert edge(3, starts=(0, 5)) == ()
    assert edge(3, starts=tuple(range(6))) == ()


@pytest.mark.parametrize("bootstrap_last", [True, False])
def test_places_at_the_edge_are_worth_no_more_than_others(bootstrap_last, tmp_path):
    """Whether or not what follows an episode counts: a skill ends in its place, not beyond it."""
    corridor = parse("S......", "corridor", horizon=6)
    options = {"skills": 2, "steps": 8_000, "bootstrap_last": bootstrap_last}
    run = apart.train(corridor, method="apart_spread", out=tmp_path / "run", **options)
    kept = learnt_of(run).learnt.discriminator
    ends = sorted(column for _, column in (skill.last_state for skill in run.skills))
    assert ends == sorted(kept.place.tolist())


def test_a_successor_without_probability_is_none():
    """Somebody's own table may list all states as successors of each."""
    world, n = parse("S.....", "corridor"), 6
    dense = np.zeros((n, 5, n))
    for state, action in np.ndindex(n, 5):
        dense[state, action, world.next_state[state, action, 0]] = 1.0
    listed = np.broadcast_to(np.arange(n, dtype=np.int32), dense.shape)
    chancy = replace(world, next_state=listed, probability=dense)
    found = possible_successors(chancy)
    np.testing.assert_array_equal(found, np.repeat(world.next_state, n, axis=2))
    assert possible_successors(world) is world.next_state
    options = {"skills": 6, "steps": 1_000, "horizon": 10}
    config, _ = resolve(chancy, "apart_spread", options)  # which looks for what was never tried
    run, hyper = program(chancy, config), hyper_of(config)
    state = run.chunk(run.init(jnp.uint32(0), hyper), hyper, jnp.int32(config.iterations))
    assert (np.asarray(state.learnt.model.visits).reshape(n, 5, n).sum(axis=2) > 0).all()


def test_when_a_way_is_walled_off_some_skill_of_smerl_still_solves_the_task():
    """The task alone sends all skills along the shorter way; with open gates some take the other.

    Not on every seed: docs/family/smerl.md has how often, and why.
    """
    text = Path(apart.__file__).parents[2] / "docs" / "guide" / "two_ways.txt"
    world = parse(text.read_text(), "two ways")
    walled = parse(text.read_text().replace(".......", "...#...", 1), "upper way walled")

    def came(policy):
        at = walled.start
        for _ in range(20):
            at = walled.next_state[at, policy[world.state(walled.cell(at))], 0]
            if walled.task[at] > 0:
                return True
        return False

    solve = {}
    for bonus in (0.5, 0.0):
        config, _ = resolve(world, "smerl", {"skills": 6, "steps": 60_000, "bonus": bonus})
        run, hyper = program(world, config), hyper_of(config)
        for seed in range(4):
            begun = run.init(jnp.uint32(seed), hyper)
            state = run.chunk(begun, hyper, jnp.int32(config.iterations))
            policies = np.asarray(state.learnt.q.params).argmax(axis=1)
            solve[bonus, seed] = sum(came(policies[:, z]) for z in range(6))
    assert not any(solve[0.0, seed] for seed in range(4))
    assert sum(solve[0.5, seed] > 0 for seed in range(4)) >= 2


def test_only_those_who_solve_the_task_may_differ():
    config, world, hyper = asked("smerl", TASK)
    learner = learner_of(world, config)
    kept = learner.objective.init(jax.random.key(0), hyper)
    kept = kept._replace(earned=jnp.array([0.7, 1.0, 0.76, 0.0]))
    logits = np.asarray(kept.told.params)
    told = np.log(np.exp(logits) / np.exp(logits).sum(1, keepdims=True)) + np.log(4)
    wanted = (TASK.task / 9)[:, None] + 0.5 * np.array([0, 1, 1, 0]) * told
    found = learner.objective.of_states(kept, None, hyper)
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    met = met_of([[0, 3, 3, 1, 2]], 1)
    after = learner.objective.meet(kept, met, hyper)  # of skill 0: two steps on 9
    np.testing.assert_allclose(after.earned, [0.7 + 0.2 * (2 - 0.7), 1.0, 0.76, 0.0], rtol=1e-6)


@pytest.mark.parametrize("method", ["apart", "apart_plus", "apart_spread", "diayn"])
@pytest.mark.parametrize("objective", ["count_bonus", "smerl"])
def test_who_adds_to_rewards_loses_nothing_else_of_a_discriminator(objective, method):
    """Rivals, episodes that try things, ...: all but rewards, and bounds that hold no more."""
    config, world, hyper = asked(method, TASK, objective=objective)
    whole = learner_of(world, config).objective
    inner = learner_of(*reversed(asked(method, TASK)[:2])).objective
    its_own = {"init", "rewards", "of_states", "own", "own_moves", "bounds", "meet", "at_edge"}
    its_own |= {"tries"}
    assert not whole.at_edge  # what staying is worth is not the discriminator's to say
    assert whole.tries or not inner.tries
    for name in set(whole._fields) - its_own:
        one, other = getattr(whole, name), getattr(inner, name)
        assert callable(one) == callable(other), name
        assert callable(one) or one == other, name
    assert whole.own is whole.own_moves is whole.bounds is None
    kept, alone = (o.init(jax.random.key(0), hyper) for o in (whole, inner))
    np.testing.assert_array_equal(whole.scores(kept, None, hyper), inner.scores(alone, None, hyper))
    if inner.rivals is not None:
        rivals = inner.rivals(alone, None, hyper)
        np.testing.assert_array_equal(whole.rivals(kept, None, hyper), rivals)
    run = program(world, config)
    state = run.chunk(run.init(jnp.uint32(0), hyper), hyper, jnp.int32(3))
    assert bool(run.finite(state))


EDGES = [(0, 1), (0, 0), (1, 2), (2, 1), (2, 2), (3, 0)]


def test_walks_equal_those_of_loops():
    source, target = (jnp.array(x) for x in zip(*EDGES, (4, 4), strict=True))
    seen = jnp.arange(len(EDGES) + 1) < len(EDGES)  # the last is there and was not seen
    found = diffusion.walks(source, target, seen, 5, 3)
    np.testing.assert_allclose(found, family.diffused(EDGES, 5, 3), atol=1e-6)


def test_the_posterior_is_of_those_that_are_drawn():
    claims = jnp.array([[0.5, 0.5, 0, 0], [0.5, 0, 0.5, 0], [0, 0, 0, 1.0]])
    found = diffusion.posterior(claims, jnp.array([True, True, False]))
    np.testing.assert_allclose(found[:, 0], [0.5, 1, 0, 0], atol=1e-6)
    np.testing.assert_allclose(found[:, 1], [0.5, 0, 1, 0], atol=1e-6)
    np.testing.assert_allclose(found[:, 2], [0.2, 1 / 3, 1 / 3, 1], rtol=1e-5)


def test_skills_are_added_while_all_are_told_apart_and_the_worst_goes_after_some_time():
    def kept(ends, active, waited):
        share = jax.nn.one_hot(jnp.array(ends), 4)
        return upside.Diffused(share, jnp.eye(4), jnp.array(active), jnp.int32(waited))

    apart_ = upside.chosen(kept([0, 1, 2], [True, True, False], 5))
    assert apart_.active.tolist() == [True, True, True]
    assert int(apart_.waited) == 0
    together = upside.chosen(kept([0, 1, 1], [True, True, True], 5))
    assert together.active.tolist() == [True, True, True]
    assert int(together.waited) == 6
    patient = upside.chosen(kept([0, 1, 1], [True, True, True], upside.PATIENCE))
    assert patient.active.tolist() == [True, False, True]


def test_only_active_skills_make_episodes():
    config, world, hyper = asked("upside_flat", skills=6)
    learner = learner_of(world, config)
    state = program(world, config).init(0, hyper)
    rounds = [
        round_of(config, 5, state._replace(iteration=i), hyper, objective=learner.objective)
        for i in range(40)
    ]
    assert {int(made.drawn.skill[0]) for made in rounds} == {0, 1}
