"""Skills that are chains of others: who decides, in every kind of world; UPSIDE's tree of them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import twins
from conftest import fitting
from reference import objectives as family
from reference import upside as slow

import apart
from apart.learner.ends import Graph
from apart.learner.episodes import Batch, Episodes, Sampled
from apart.objective import diffusion, trees
from apart.report import page_data
from apart.settings import resolve
from apart.skills.apart_skills import Skills as Exported
from apart.skills.environments import TableEnv
from apart.skills.library import TablePolicies, open_policies
from apart.skills.policies import policies_of
from apart.training import choices, evaluations
from apart.training.choices import Drawn
from apart.training.collect import Dynamics, by_steps, by_table, steps_of
from apart.training.evaluate import evaluate_table, last_states
from apart.training.host import Host
from apart.training.learner import evaluated
from apart.training.learners import learner_of
from apart.training.objectives import upside, upside_tree, upside_walks
from apart.training.objectives.contract import Met, chains
from apart.training.pieces import pieces
from apart.training.program import program
from apart.training.rounds import round_of, start_key
from apart.training.state import hyper_of
from apart.worlds.grid import parse
from apart.worlds.observations import sight_of

ROOMS = parse("S..\n.#.\n...", "ring")
CORRIDOR = parse("S.............", "corridor")
GRAPH = Graph(jnp.zeros(1, int), jnp.zeros(1, int), jnp.zeros(1, bool))  # nothing was seen
ACTS = jnp.array([[0, 0, 0, -1], [0, 0, 1, 1], [-1, -1, -1, -1]])


def chained(n=9, walk=None):
    rng = np.random.default_rng(0)
    choice = rng.choice([0, 1, 2, 3, 4, 5, 5, 5], size=(n, 4))
    drawn = Drawn(jnp.arange(n) % 3, jnp.asarray(choice, jnp.int32))
    return drawn, choices.follow(drawn, ACTS, 5, walk)


def test_ancestors_decide_greedily_then_the_skill_then_nobody():
    drawn, found = chained()
    for e, z in enumerate(drawn.skill.tolist()):
        for t in range(4):
            acts, choice = int(ACTS[z, t]), int(drawn.choice[e, t])
            assert found.deciding[e, t] == (z if acts < 0 else acts)
            assert found.choice[e, t] == (6 if acts < 0 else choice if acts == z else 5)
    walks = np.asarray(chained(walk=jax.random.key(3))[1].choice)
    over = np.asarray(ACTS)[np.asarray(drawn.skill)] < 0
    assert set(walks[over]) == {0, 1, 2, 3, 4}
    np.testing.assert_array_equal(walks[~over], np.asarray(found.choice)[~over])


@pytest.mark.parametrize("hold", [1, 2])
def test_chains_are_walked_alike_in_all_kinds_of_world(hold):
    drawn, key = chained()[1], jax.random.key(0)
    q = jax.random.normal(jax.random.key(1), (ROOMS.n_states, 5, 3))
    table = by_table(Dynamics.of(ROOMS), q, drawn, key, hold=hold)
    seen = by_steps(
        steps_of(twins.jax_grid(ROOMS)), lambda x: jnp.tensordot(x, q, 1), drawn, key, hold=hold
    )
    act = lambda obs, skill, choice: choices.actions(jnp.tensordot(obs, q, 1), skill, choice)  # noqa: E731
    hosted = Host(twins.host_grid(ROOMS)).by_host(act, drawn, [0] * 9, hold)
    places = np.asarray(table.obs if hold == 1 else table.place)
    for other in (seen, hosted):
        np.testing.assert_array_equal(places, other.place)
    # What follows the end of a chain was not done: it is measured nowhere.
    np.testing.assert_array_equal(hosted.alive, np.asarray(drawn.choice) != 6)
    if seen.alive is not None:
        np.testing.assert_array_equal(seen.alive, hosted.alive)
    for path, choice, who in zip(places, *map(np.asarray, drawn[1:]), strict=True):
        for t in range(4):
            now, action = path[t * hold], choice[t]
            if action == 5:
                action = int(np.argmax(np.asarray(q)[now, :, who[t]]))
            for step in range(hold):
                after = now if action == 6 else ROOMS.next_state[now, action, 0]
                assert path[t * hold + step + 1] == after
                now = after


def test_what_follows_the_end_of_a_chain_is_measured_nowhere():
    """In tables, and where states are not listed, as in worlds of the host."""
    rng = np.random.default_rng(1)
    rewards = jnp.asarray(rng.normal(size=(3, 4)), jnp.float32)
    scores = jnp.asarray(rng.normal(size=(ROOMS.n_states, 3)), jnp.float32)
    greedy = jnp.asarray(rng.integers(5, size=(ROOMS.n_states, 3)))
    drawn = choices.follow(choices.every_skill(3, 4, 5, None, jax.random.key(0), 1), ACTS, 5)
    values = jax.nn.one_hot(greedy, 5, axis=1)
    episodes = by_table(Dynamics.of(ROOMS), values, drawn, jax.random.key(0))
    used = jnp.array([True, True, False])
    found = evaluate_table(
        greedy, scores, rewards, Dynamics.of(ROOMS), episodes, None, ACTS, used=used
    )
    there = np.asarray(ACTS >= 0) & np.asarray(used)[:, None]
    np.testing.assert_allclose(found.mean_reward, np.asarray(rewards)[there].mean(), rtol=1e-6)
    np.testing.assert_allclose(found.mean_last_reward, (rewards[0, 2] + rewards[1, 3]) / 2)
    config, world = resolve(twins.jax_grid(CORRIDOR), "upside", {"skills": 4, "horizon": 20})
    learner, hyper = learner_of(world, config), hyper_of(config)
    state = program(world, config).init(jnp.uint32(0), hyper)
    acts = chains(learner.objective, state.learnt.discriminator)
    seen = evaluations.evaluate(world, config, learner, state, hyper, jnp.bool_(False))
    drawn, _ = evaluations.every_skill(world.about, config, learner, state, hyper)
    q = evaluated(state.learnt)
    values_of = lambda obs: learner.values(q, obs)  # noqa: E731
    where = {"one_start": True, "hold": config.hold}
    walked = by_steps(steps_of(world), values_of, drawn, start_key(state.key), **where)
    told = evaluations.measured(
        config, learner, state.learnt, hyper, walked._replace(alive=acts >= 0)
    )
    assert not (acts >= 0).all()
    np.testing.assert_allclose(seen.mean_reward, told.mean_reward, rtol=1e-6)
    np.testing.assert_allclose(seen.accuracy_per_step, told.accuracy_per_step, rtol=1e-6)


def test_last_states_of_chains_are_exact():
    slippery = parse("S..\n.#.\n...", "ring", slip=0.3)
    greedy = np.random.default_rng(0).integers(5, size=(slippery.n_states, 3))
    found = last_states(jnp.asarray(greedy), Dynamics.of(slippery), 4, None, ACTS)
    for z in range(3):
        p = np.eye(slippery.n_states)[slippery.start]
        for who in np.asarray(ACTS)[z]:
            after = p if who < 0 else np.zeros_like(p)
            for s in range(slippery.n_states):
                for n in range(slippery.next_state.shape[2] if who >= 0 else 0):
                    at = s, greedy[s, who]
                    after[slippery.next_state[*at, n]] += p[s] * slippery.probability[*at, n]
            p = after
        np.testing.assert_allclose(found[:, z], p, atol=1e-6)


def test_a_library_follows_chains():
    action = np.random.default_rng(0).integers(5, size=(ROOMS.n_states, 3)).astype(np.int32)
    policies = TablePolicies(ROOMS, action, 4, acts=np.asarray(ACTS))
    q = jnp.asarray(np.moveaxis(np.eye(5)[action], 1, 2))
    drawn = choices.follow(choices.every_skill(3, 4, 5, None, jax.random.key(0)), ACTS, 5)
    for start in range(ROOMS.n_states):
        dynamics = Dynamics.of(ROOMS)._replace(start=start)
        walked = np.asarray(by_table(dynamics, q, drawn, jax.random.key(0)).obs)
        for z in range(3):
            path = policies.rollout(z, start, None)
            assert [ROOMS.state(cell) for cell in path] == walked[z].tolist()
        for goal in range(ROOMS.n_states):
            comes, ends = policies.arrivals(np.arange(ROOMS.n_states) == goal)
            np.testing.assert_array_equal(comes[start], (walked == goal).any(1))
            np.testing.assert_array_equal(ends[start], walked[:, -1] == goal)
    assert [policies.steps(z) for z in range(3)] == [3, 4, 0]
    assert policies.act(1, 2, 0) == action[2, 0]
    assert policies.act(1, 2, 2) == policies.act(1, 2) == action[2, 1]


def as_lists(tree):
    some = [np.flatnonzero(x).tolist() for x in (tree.kept, tree.growing, tree.tried)]
    used = {z: int(d) for z, d in enumerate(tree.depth) if d}
    return *some, used, {z: int(tree.parent[z]) for z in used}


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("hard", [0.1, 0.5, 0.9])
def test_the_tree_grows_as_algorithm_1_does(hard, again):
    # Qualities by chance: each is told apart with a probability that falls with its number.
    rng, n_skills, deepest = np.random.default_rng(int(10 * hard)), 20, 3
    tree, wanted = trees.init(n_skills), slow.SlowTree(n_skills, deepest, again)
    look = jax.jit(lambda now, quality: trees.looked(now, quality, deepest, again))
    acts = jax.jit(lambda now: trees.chains(now, 2, 9))
    for _ in range(400):
        quality = np.where(rng.random(n_skills) < hard, 0.5, 1.0) * rng.uniform(0.8, 1, n_skills)
        quality = quality.astype(np.float32)
        before, tree = tree, look(tree, jnp.asarray(quality))
        wanted.look(quality.tolist())
        assert np.flatnonzero(trees.begun(before, tree)).tolist() == sorted(wanted.began)
        mine = sorted(wanted.kept), sorted(wanted.growing), sorted(wanted.tried), wanted.depth
        parents = {z: -1 if p is None else p for z, p in wanted.parent.items()}
        assert as_lists(tree) == (*mine, parents)
        np.testing.assert_array_equal(acts(tree), wanted.acts(2, 9))
    assert set(wanted.depth.values()) >= {1, 2}
    assert sum(np.asarray(trees.drawn(tree))) == len(wanted.growing or wanted.kept)


def test_posterior_and_reach_of_a_tree_equal_those_of_loops():
    claims = np.random.default_rng(0).dirichlet(np.ones(6), 4)
    claims[:, 5] = 0.0
    kept, growing = np.array([True, False, False, False]), np.array([False, True, True, False])
    found = np.asarray(diffusion.told(*map(jnp.asarray, (claims, kept, growing))))
    wanted = slow.told(claims.tolist(), [0], [1, 2])
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    np.testing.assert_allclose(found[5], [0, 0.5, 0.5, 0], atol=1e-6)  # where nobody walks
    edges = [(0, 1), (1, 2), (2, 3), (4, 0), (3, 5)]
    source, target = (jnp.array(x) for x in zip(*edges, (1, 4), strict=True))
    seen = jnp.arange(6) < 5  # the way from 1 to 4 was not seen
    for steps in range(5):
        there = diffusion.reach(source, target, seen, jnp.arange(6) == 0, steps)
        assert set(np.flatnonzero(there)) == slow.within(edges, 0, steps)


def asked(**options):
    said = {"skills": 8, "horizon": 20, "steps": 12_000, "evaluate_every": 6_000, **options}
    config, world = resolve(CORRIDOR, "upside", said)
    return config, world, hyper_of(config)


def test_rewards_are_the_mean_posterior_over_a_walk_within_reach():
    config, world, hyper = asked()
    objective = learner_of(world, config).objective
    kept, rng = objective.init(jax.random.key(0), hyper), np.random.default_rng(0)
    tree = kept.tree._replace(
        kept=jnp.arange(8) < 2,
        growing=(jnp.arange(8) == 2) | (jnp.arange(8) == 3),
        node=jnp.int32(1),
    )
    ends = rng.dirichlet(np.ones(14), 8)
    edges = [(s, int(t)) for s in range(14) for t in CORRIDOR.next_state[s, :, 0]]
    walks = np.asarray(family.diffused(edges, 14, 2))
    reached = np.arange(14) < 6
    kept = kept._replace(
        tree=tree, ends=jnp.asarray(ends), walks=jnp.asarray(walks), within=jnp.asarray(reached)
    )
    told = np.asarray(slow.told((ends @ walks).tolist(), [0, 1], [2, 3]))
    found = np.asarray(objective.of_states(kept, None, hyper))
    for s in range(14):
        for z in range(8):
            mean = sum(walks[s, there] * told[there, z] for there in range(14))
            np.testing.assert_allclose(found[s, z], mean if z < 2 or s < 6 else 0, atol=1e-5)
    wanted = [sum((ends @ walks)[z, s] * told[s, z] for s in range(14)) for z in range(8)]
    np.testing.assert_allclose(upside_tree.quality(kept), wanted, atol=1e-5)


def test_rewards_without_a_tree_are_the_mean_posterior_over_a_walk():
    config, world = resolve(CORRIDOR, "upside_flat", {"skills": 4, "horizon": 20})
    hyper, objective = hyper_of(config), learner_of(world, config).objective
    ends = np.random.default_rng(0).dirichlet(np.ones(14), 4)
    edges = [(s, int(t)) for s in range(14) for t in CORRIDOR.next_state[s, :, 0]]
    walks = np.asarray(family.diffused(edges, 14, 2))
    active = [0, 1, 3]
    kept = objective.init(jax.random.key(0), hyper)._replace(
        ends=jnp.asarray(ends), walks=jnp.asarray(walks), active=jnp.array([1, 1, 0, 1], bool)
    )
    claims, told = ends @ walks, np.zeros((14, 4))
    for s in range(14):
        for z in range(4):
            own = claims[z, s] if z in active else 1 / 14
            rest = sum(claims[j, s] for j in active if j != z)
            told[s, z] = own / (own + rest)
    found = np.asarray(objective.of_states(kept, None, hyper))
    some = np.asarray(objective.of_states(kept, jnp.array([3, 9]), hyper))
    for s in range(14):
        for z in range(4):
            mean = sum(walks[s, there] * told[there, z] for there in range(14))
            np.testing.assert_allclose(found[s, z], mean, atol=1e-5)
    np.testing.assert_allclose(some, found[[3, 9]], atol=1e-6)
    wanted = [sum(claims[z, s] * told[s, z] for s in range(14)) for z in active]
    np.testing.assert_allclose(np.asarray(upside.quality(kept))[active], wanted, atol=1e-5)


def test_ends_are_those_of_the_own_part_and_of_growing_skills_alone():
    config, world, hyper = asked()
    objective = learner_of(world, config).objective
    kept = objective.init(jax.random.key(0), hyper)
    tree = kept.tree._replace(
        kept=jnp.arange(8) == 0, growing=jnp.arange(8) == 1, depth=jnp.array([1, 2, *[0] * 6])
    )
    kept = kept._replace(tree=tree)
    obs = jnp.stack([jnp.arange(21) % 14, (jnp.arange(21) + 3) % 14])
    episodes = Episodes(obs, jnp.zeros((2, 20), jnp.int32), jnp.array([0, 1]))
    after = objective.meet(kept, Met(episodes, jnp.int32(1), lambda: GRAPH), hyper)
    wanted = np.tile(np.eye(14)[0], (8, 1))
    wanted[1, 0], wanted[1, 3 + 4] = 0.8, 0.2  # two parts of two decisions
    np.testing.assert_allclose(after.ends, wanted, atol=1e-6)


@pytest.mark.parametrize(
    ("world", "network", "stay"),
    [
        (CORRIDOR, "table", True),
        ("maze:bottleneck", "linear", True),
        ("maze:bottleneck", "linear+bias", True),
        ("maze:bottleneck", "mlp:8", False),  # skills share a layer
    ],
)
def test_kept_skills_stay_as_they_are_and_growing_ones_learn(world, network, stay):
    said = {"skills": 8, "horizon": 20, "steps": 12_000, "network": network, "batch": 16}
    said = fitting(world, "upside", {**said, "hold": 1})
    config, world = resolve(world, "upside", said)
    run, hyper, values = program(world, config), hyper_of(config), learner_of(world, config).values
    state = run.init(jnp.uint32(0), hyper)
    tree = state.learnt.discriminator.tree
    tree = tree._replace(kept=jnp.arange(8) == 0, growing=(jnp.arange(8) == 1))
    learnt = state.learnt._replace(discriminator=state.learnt.discriminator._replace(tree=tree))
    obs = None if network == "table" else jnp.linspace(-1, 1, 20).reshape(10, 2)
    before = np.asarray(values(learnt.q.params, obs))
    after = run.chunk(state._replace(learnt=learnt), hyper, jnp.int32(3)).learnt.q.params
    changed = (before != np.asarray(values(after, obs))).any(axis=(0, 1))
    assert changed[1]
    assert changed[[0, *range(2, 8)]].any() != stay


@pytest.mark.parametrize("more", [{"batch": 2}, {}], ids=["in blocks", "as a whole"])
def test_the_average_of_kept_skills_is_what_they_are(more):
    """It was one of updates that were thrown away, where a table is swept in blocks."""
    said = {"skills": 8, "horizon": 20, "steps": 12_000, "average_rate": 0.5, **more}
    config, world = resolve(CORRIDOR, "upside", said)
    run, hyper = program(world, config), hyper_of(config)
    state = run.init(jnp.uint32(0), hyper)
    tree = state.learnt.discriminator.tree
    tree = tree._replace(kept=jnp.arange(8) == 0, growing=(jnp.arange(8) == 1))
    learnt = state.learnt._replace(discriminator=state.learnt.discriminator._replace(tree=tree))
    first = np.asarray(learnt.average_q)
    after = run.chunk(state._replace(learnt=learnt), hyper, jnp.int32(12)).learnt
    np.testing.assert_array_equal(after.average_q[..., 0], first[..., 0])
    assert (np.asarray(after.average_q)[..., 1] != first[..., 1]).any()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("tree") / "run"
    said = {"skills": 8, "horizon": 20, "steps": 40_000, "evaluate_every": 20_000}
    return apart.train(CORRIDOR, method="upside", **said, out=out)


def test_far_places_are_reached_by_chains_of_short_skills(run):
    found = policies_of(run)
    last = [CORRIDOR.state(skill.last_state) for skill in run.skills]
    lengths = (found.acts >= 0).sum(1)
    far = max(range(8), key=lambda z: last[z])
    assert last[far] >= 8  # of 13: a part alone has 2 decisions
    assert lengths[far] >= last[far]
    for z in range(8):
        assert lengths[z] % 2 == 0
        assert last[z] <= lengths[z]
        for t, who in enumerate(found.acts[z][: lengths[z]]):
            at, after = (CORRIDOR.state(run.skills[z].trajectory[t + i]) for i in (0, 1))
            assert after == CORRIDOR.next_state[at, found.action[at, who], 0]
        assert set(run.skills[z].trajectory[lengths[z] :]) == {run.skills[z].last_state}


def test_whoever_uses_the_skills_follows_their_chains(run, tmp_path):
    policies = open_policies(run)
    for z, skill in enumerate(run.skills):
        assert policies.rollout(z, None, None) == skill.trajectory
    apart.export(run, tmp_path / "out")
    exported = Exported(tmp_path / "out")
    far = max(range(8), key=policies.steps)
    path = run.skills[far].trajectory
    assert exported.rollout(far) == path
    assert exported.act(far, path[0], 0) == policies.act(far, path[0], 0)
    reached = run.skills.reach(run.skills[far].last_state)
    assert reached.probability == 1.0
    page = page_data.page_data([run], policies_of)["runs"][0]["policy"]["acts"]
    assert page["shape"] == [8, 20]
    env = apart.skill_env(TableEnv(CORRIDOR), run.skills)
    env.reset(seed=0)
    state, *_, info = env.step(far)
    assert (CORRIDOR.cell(int(state)), info["steps"]) == (path[-1], policies.steps(far))


def test_episodes_walk_at_random_after_the_chain():
    config, world, hyper = asked()
    learner = learner_of(world, config)
    state = program(world, config).init(jnp.uint32(0), hyper)
    begin = jax.jit(lambda now: round_of(config, 5, now, hyper, objective=learner.objective))
    made = begin(state)
    choice = np.asarray(made.drawn.choice)[0]
    assert (choice[:2] == 5).all()
    assert (choice[2:] < 5).all()


def walked(**options):
    config, world = resolve(
        CORRIDOR,
        "upside",
        {"skills": 5, "horizon": 20, "objective": "upside_walks", "q_rule": "shared_adam"}
        | {"learning_rate": 1e-3, "steps": 4_000, "batch": 64, "epsilon": 0.0, **options},
    )
    hyper = hyper_of(config)
    objective = learner_of(world, config).objective
    return objective, objective.init(jax.random.key(0), hyper), hyper


@pytest.mark.parametrize(("hold", "length"), [(1, 4), (2, 2)])
def test_walks_of_growing_skills_are_remembered_and_those_of_kept_ones_stay(hold, length):
    objective, kept, hyper = walked(hold=hold, horizon=80 * hold)
    kept = kept._replace(
        tree=kept.tree._replace(
            kept=jnp.arange(5) == 0,
            growing=(jnp.arange(5) == 1) | (jnp.arange(5) == 2),
            depth=jnp.array([1, 1, 3, 0, 0]),
        )
    )
    meet = jax.jit(lambda now, met: objective.meet(now, met._replace(graph=None), hyper))
    rng, wanted = np.random.default_rng(0), {z: [] for z in range(5)}
    for _ in range(30):
        obs, z = rng.integers(14, size=81), int(rng.integers(3))
        episodes = Episodes(jnp.asarray(obs[None]), jnp.zeros((1, 80), int), jnp.array([z]))
        kept = meet(kept, Met(episodes, jnp.int32(1), None))
        if z:  # parts of eight decisions: the state where that of z ends, and its walk
            wanted[z] += obs[([8, 9, 10, 11] if z == 1 else [24, 25, 26, 27])[:length]].tolist()
    for z in range(5):
        last = wanted[z][-80:]
        n = int(kept.n_states[z])
        assert n == len(wanted[z])
        assert sorted(np.asarray(kept.states)[z, : min(n, 80)].tolist()) == sorted(last)


def test_what_follows_the_end_of_an_episode_is_no_walk():
    objective, kept, hyper = walked(horizon=80)  # parts of 8 decisions, walks of 3
    growing = jnp.arange(5) < 3
    kept = kept._replace(tree=kept.tree._replace(growing=growing, depth=jnp.ones(5, int)))
    obs = jnp.arange(81) % 14 + jnp.zeros((3, 1), int)
    made = jnp.arange(80) < jnp.array([7, 9, 80])[:, None]  # before, within and after the walks
    episodes = Episodes(obs, jnp.zeros((3, 80), int), jnp.arange(3), alive=made)
    kept = objective.meet(kept, Met(episodes, jnp.int32(1), None), hyper)
    assert kept.n_states.tolist() == [0, 2, 4, 0, 0]
    assert np.asarray(kept.states)[1, :4].tolist() == [8, 9, 0, 0]
    assert np.asarray(kept.states)[2, :4].tolist() == [8, 9, 10, 11]


def test_skills_may_grow_from_every_start():
    world = parse("S....#S....", "two corridors")
    config, _ = resolve(world, "upside", {"skills": 4, "horizon": 20})
    hyper, objective = hyper_of(config), learner_of(world, config).objective
    kept = objective.init(jax.random.key(0), hyper)
    begins = diffusion.begins((0, 5), 10)
    np.testing.assert_allclose(begins, np.eye(10)[[0, 5]].sum(0) / 2)
    np.testing.assert_allclose(kept.ends, np.tile(begins, (4, 1)))
    assert np.flatnonzero(kept.within).tolist() == [0, 5]
    source, action = np.divmod(np.arange(50), 5)
    graph = Graph(*map(jnp.asarray, (source, world.next_state[source, action, 0], source >= 0)))
    looked = upside_tree._looked(kept, graph, begins, 2, 3, jnp.int32(0))
    assert int(looked.tree.node) == -1
    assert np.flatnonzero(looked.within).tolist() == [0, 1, 2, 5, 6, 7]


def test_parts_outside_tables_are_decided_step_by_step():
    config, _ = resolve("maze:bottleneck", "upside", {})
    assert (config.hold, config.decisions) == (1, 200)


def test_the_classifier_learns_whose_walks_states_are_of():
    objective, kept, hyper = walked()
    states = jnp.zeros((5, 20), jnp.int32).at[0].set(3).at[1].set(3).at[2].set(7)
    kept = kept._replace(
        tree=kept.tree._replace(
            kept=jnp.arange(5) == 0, growing=(jnp.arange(5) == 1) | (jnp.arange(5) == 2)
        ),
        states=states,
        n_states=jnp.array([20, 20, 4, 0, 0]),
    )
    # What was seen elsewhere: three states, each as often as the others.
    seen = jnp.asarray(np.resize([3, 9, 11], 63), jnp.int32)
    drawn = Sampled(Batch(seen, seen, seen, seen, seen, seen, None), seen, seen)
    fit = jax.jit(lambda now: objective.fit(now, drawn, hyper, jnp.float32(0.05)))
    for _ in range(300):
        kept = fit(kept)
    told = np.asarray(objective.of_states(kept, None, hyper))
    np.testing.assert_allclose(told[:, 3:], 0)
    np.testing.assert_allclose(told.sum(1), 1, atol=1e-5)
    # Of a state that both walk in, the kept skill has three times the posterior; a third of what
    # was seen, which counts as 0.3 skills, was seen there, as of any that grows.
    np.testing.assert_allclose(told[3, :3], np.array([3, 1.05, 0.05]) / 4.1, atol=0.06)
    np.testing.assert_allclose(told[7, :3], [0, 0, 1], atol=0.06)
    for nowhere in (9, 11):  # nobody walks there
        np.testing.assert_allclose(told[nowhere, :3], [0, 0.5, 0.5], atol=0.06)
    form = upside_walks.quality(walked_form(), kept)
    np.testing.assert_allclose(form[:3], [told[3, 0], told[3, 1], told[7, 2]], atol=1e-5)
    np.testing.assert_allclose(form[3:], 0)


def walked_form():
    config, world = resolve(CORRIDOR, "upside", {"skills": 5, "horizon": 20})
    return pieces(config, 5, sight_of(world, config.observation)).network((5,))


def test_runs_of_the_form_without_a_tree_are_what_they_were(tmp_path):
    # As `upside` was stored before it had a tree.
    said = {"skills": 4, "horizon": 6, "steps": 120, "objective": "upside", "epsilon": 0.2}
    run = apart.train(ROOMS, method="upside", **said, out=tmp_path / "old")
    assert policies_of(apart.load(run.path)).acts is None
    flat = apart.train(
        ROOMS, method="upside_flat", skills=4, horizon=6, steps=120, out=tmp_path / "flat"
    )
    assert [s.trajectory for s in flat.skills] == [s.trajectory for s in run.skills]
