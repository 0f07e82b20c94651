"""What every registered method and objective must satisfy, and what those of the family find."""

from __future__ import annotations

import re
from itertools import combinations_with_replacement

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from conftest import NIGHTLY, fitting
from reference import family

import apart
from apart._config import SPECS
from apart._errors import UserError
from apart.facts import NAMED, Facts, is_idle, needs_task
from apart.learner.episodes import Batch, Sampled
from apart.methods import METHODS
from apart.objective.contexts import Moved
from apart.objective.objectives import FORMS, OBJECTIVES
from apart.report import page_data
from apart.settings import resolve
from apart.skills.policies import policies_of
from apart.training import choices
from apart.training.collect import Dynamics, by_table
from apart.training.learners import learner_over
from apart.training.objectives import valor
from apart.training.objectives.contract import rewards_of
from apart.training.program import program
from apart.training.rounds import initial, iterate_with, round_of
from apart.training.state import by_name, from_arrays, hyper_of, to_arrays
from apart.worlds.grid import parse

WORLD = parse("S.3\n.#S", "two starts and a task")
TINY = {"skills": 5, "horizon": 4, "steps": 400, "batch": 24, "epsilon": 0.3}
IN_ORACLE = {"told_apart", "count_bonus"}  # whole updates in test_oracle
IN_LOOPS = {"metra", "counted", "rnd", "edl", "eigen", "visr", "discern"}  # in test_objectives
IN_LOOPS |= {"smerl", "domino", "upside", "upside_tree", "upside_walks"}  # in test_chains
IN_VECTORS = {"dads_mixture", "valor_differences"}  # in test_vectors
IN_TABLES = [name for name, m in METHODS.items() if "network" not in m.options]


def tiny(method):
    """Options for any method."""
    return fitting(WORLD, method, TINY)


def _types(state):
    return [(leaf.dtype, getattr(leaf, "weak_type", False)) for leaf in jax.tree.leaves(state)]


@pytest.mark.parametrize(
    ("method", "options"),
    [
        *((name, {}) for name, m in METHODS.items() if m.beyond),
        ("apart_spread", {"discriminator": "bins"}),
    ],
)
def test_a_chunk_of_a_maze_compiles_once(method, options):
    config, world = resolve("maze:u", method, {**TINY, **options})
    run, hyper = program(world, config), hyper_of(config)
    fresh = jax.eval_shape(run.init, jnp.uint32(1), hyper)
    assert _types(jax.eval_shape(run.chunk, fresh, hyper, jnp.int32(1))) == _types(fresh)


NUMBERS = [name for name, spec in SPECS.items() if spec.traced]


def numbers_that_are_not_refused_do_something(method, run, before):
    """By training, as what records say of themselves could be wrong; the program is compiled."""
    usual, _ = resolve(WORLD, method, tiny(method))
    for name in NUMBERS:
        try:
            now = getattr(usual, name)
            other = {**tiny(method), name: 1.0 - now if name == "epsilon" else 0.5 * now or 0.01}
            hyper = hyper_of(resolve(WORLD, method, other)[0])
        except UserError as error:
            assert "has no effect" in str(error)
            continue
        if differ(before, after(run, hyper, 6)):
            continue
        # While there is something to try, nothing is done by chance: later there is not.
        later = after(run, hyper_of(usual), 60)
        assert differ(later, after(run, hyper, 60)), name


def after(run, hyper, rounds):
    """The state and what is measured of it."""
    state = run.chunk(run.init(jnp.uint32(1), hyper), hyper, jnp.int32(rounds))
    return [state, run.evaluate(state, hyper)]


def differ(one, other):
    leaves = (jax.tree.leaves([to_arrays(state), found]) for state, found in (one, other))
    return any((a != b).any() for a, b in zip(*leaves, strict=True))


@pytest.mark.parametrize("method", IN_TABLES)
def test_every_method_trains_repeats_itself_goes_on_to_the_bit_and_is_reported(method, tmp_path):
    config, world = resolve(WORLD, method, tiny(method))
    run, hyper = program(world, config), hyper_of(config)
    fresh = run.init(jnp.uint32(1), hyper)
    before = _types(fresh)  # other ones after a chunk: the next chunk would compile again
    whole = run.chunk(fresh, hyper, jnp.int32(6))
    assert _types(whole) == before
    part = run.chunk(run.init(jnp.uint32(1), hyper), hyper, jnp.int32(2))
    part = run.chunk(from_arrays(part, to_arrays(part)), hyper, jnp.int32(4))
    other = run.chunk(run.init(jnp.uint32(2), hyper), hyper, jnp.int32(6))
    first, second, third = (to_arrays(state) for state in (whole, part, other))
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)
    assert any((first[name] != third[name]).any() for name in first if name != "key")
    found = run.evaluate(whole, hyper)
    assert bool(run.finite(whole))
    assert 1 <= int(found.n_effective) <= config.skills
    assert all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(found))
    numbers_that_are_not_refused_do_something(method, run, [whole, found])
    stored = apart.train(WORLD, method=method, **tiny(method), out=tmp_path / "run")
    shown = page_data.page_data([stored], policies_of)["runs"][0]
    assert (shown["method"], shown["skills"]) == (method, config.skills)
    assert shown["policy"] is not None


NAMED_ = {name: list(NAMED[spec.kind]) for name, spec in SPECS.items() if spec.kind in NAMED}
CHOICES = {name: NAMED_[name] for name in ("discriminator", "reward", "context", "time_weight")}
CHOICES |= {name: [True, False] for name in ("dropout", "anneal", "one_skill", "bootstrap_last")}
CHOICES |= {
    "buffer": [800],
    "batch": [2, 320],
    "episodes_per_update": [2],
    "updates_per_episode": [3],
    "hold": [2],
}
CHOICES |= {"q_rule": NAMED_["q_rule"], "target_period": [0, 7], "average_rate": [0.0, 0.3]}
CHOICES |= {"network": ["linear", "mlp:8", "table/mlp:8", "mlp:8/table", "mlp:8/mlp:4"]}


def traced(config, world):
    """The program as text: two that are equal do the same."""
    run, hyper = program(world, config), hyper_of(config)

    def whole(hyper):
        state = run.chunk(run.init(jnp.uint32(0), hyper), hyper, jnp.int32(1))
        return state, run.evaluate(state, hyper)

    return re.sub(r"0x[0-9a-f]+", "", str(jax.make_jaxpr(whole)(hyper)))


@pytest.mark.parametrize(("number", "method"), [*enumerate(IN_TABLES)])
def test_choices_that_are_not_refused_do_something(number, method):
    config, world = resolve(WORLD, method, tiny(method))
    usual, names = traced(config, world), list(CHOICES)
    for name in names if NIGHTLY else names[number % 3 :: 3]:  # every one with some methods
        for value in CHOICES[name]:
            try:
                other, _ = resolve(WORLD, method, {**tiny(method), name: value})
            except UserError:
                continue
            keeps = name == "q_rule" and method == "random_walk"  # a sweep's keeps what was seen
            if getattr(other, name) != getattr(config, name) and not keeps:
                assert traced(other, world) != usual, (name, value)


def test_places_in_a_learned_distance_repeat_themselves_and_go_on_to_the_bit():
    options = {**TINY, "horizon": 20, "hold": 2, "discriminator": "learned_ends"}
    config, world = resolve("maze:u:start=random", "apart_spread", {**options, "steps": 4000})
    run, hyper = program(world, config), hyper_of(config)
    fresh = run.init(jnp.uint32(1), hyper)
    before = _types(fresh)
    whole = run.chunk(fresh, hyper, jnp.int32(12))
    assert _types(whole) == before
    part = run.chunk(run.init(jnp.uint32(1), hyper), hyper, jnp.int32(5))
    part = run.chunk(from_arrays(part, to_arrays(part)), hyper, jnp.int32(7))
    first, second = to_arrays(whole), to_arrays(part)
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)
    kept = whole.learnt.discriminator
    assert int(kept.turn) == 12 * config.updates_per_episode
    assert float(kept.points.width) > 0


# Whose papers pay in the last step alone; the others pay in all.
PAID_AT_THE_END = {"vic", "tuned_vic", "disdain", "count_bonus"}
PAID_AT_THE_END |= {"relative_vic", "valor", "vic_counts", "eddict"}


NOT_FROM_BATCHES = {"random_walk", "apart_spread", "eigenoptions", "upside", "upside_flat"}
PAID = [m for m in IN_TABLES if not needs_task(m) and m not in NOT_FROM_BATCHES]


@pytest.mark.parametrize("method", PAID)
def test_rewards_are_paid_in_the_steps_that_the_paper_says(method):
    # Targets are rewards alone, and Q moves all the way to them.
    world = parse("......\n......\n..S...\n......\n......", "room")
    options = {**TINY, "horizon": 5, "epsilon": 1.0, "q_rule": "shared_plain", "batch": 256}
    options |= {
        "learning_rate": 1.0,
        "discount": 0.0,
        "average_rate": 0.0,
        "buffer": 5,
        "anneal": False,
    }
    config, world = resolve(world, method, options)
    assert (config.time_weight == "last") == (method in PAID_AT_THE_END)
    learner, hyper = learner_over(world, config, states=True), hyper_of(config)
    iterate = jax.jit(iterate_with(world, config, learner))
    state, cells = jax.jit(initial(learner))(jnp.uint32(0), hyper), [0, 0]
    # An episode that takes no step twice, or targets of several are averaged, when much is known.
    while int(state.iteration) < 30 or len({*cells}) < len(cells):
        episode = round_of(config, 5, state, hyper, objective=learner.objective)
        taken = by_table(Dynamics.of(world), state.learnt.q.params, episode.drawn, episode.collect)
        steps = (np.asarray(found)[0].tolist() for found in (taken.obs, taken.action))
        cells = list(zip(*steps, strict=False))
        state = iterate(state, hyper)
    *early, last = (np.abs(state.learnt.q.params[cell]).max() for cell in cells)
    assert last > 1e-4
    assert (max(early) > 1e-4) == (method not in PAID_AT_THE_END)


def test_an_episode_teaches_all_skills_too():
    # A step of rate 1 from one episode of one decision: Q of all skills is the reward there.
    options = {**TINY, "horizon": 1, "batch": 1, "buffer": 1, "q_rule": "shared_plain"}
    config, world = resolve(WORLD, "eddict", {**options, "learning_rate": 1.0})
    learner, hyper = learner_over(world, config, states=True), hyper_of(config)
    before = jax.jit(initial(learner))(jnp.uint32(0), hyper)
    run = program(world, config)
    after = run.chunk(run.init(jnp.uint32(0), hyper), hyper, jnp.int32(1)).learnt
    changed = np.argwhere((np.asarray(after.q.params) != before.learnt.q.params).any(axis=2))
    ((state, action),) = changed
    moved = int(world.next_state[state, action, 0])
    path = jnp.asarray([[state, moved]])
    way = Moved(path[:, 0], path[:, 1], path)
    rewards = learner.objective.rewards(before.learnt.discriminator, way, hyper)
    np.testing.assert_allclose(after.q.params[state, action], rewards[0], rtol=1e-5)


@pytest.mark.parametrize(
    ("method", "world"),
    [
        *((name, WORLD) for name in IN_TABLES),
        *((name, "maze:u") for name, m in METHODS.items() if m.beyond),
    ],
)
def test_every_method_refuses_options_that_do_nothing(method, world):
    config, world = resolve(world, method, fitting(world, method, TINY))
    unread = sorted(FORMS - OBJECTIVES[config.objective].reads)
    idle = {name for name in SPECS if is_idle(name, config, Facts.of(config, world))}
    assert {*unread} <= idle
    for name in idle:
        with pytest.raises(UserError, match="has no effect"):
            resolve(world, method, {**fitting(world, method, TINY), name: getattr(config, name)})


def steps_of(config, world, n=40):
    """Random transitions with their episodes, by name."""
    rng, found = np.random.default_rng(0), []
    for _ in range(n):
        path = [int(rng.choice(world.starts or [world.start]))]
        for _ in range(config.horizon):
            path.append(int(rng.choice(world.next_state[path[-1]].ravel())))
        t = int(rng.integers(config.horizon))
        step = {"before": path[t], "after": path[t + 1], "path": path, "t": t + 1}
        found.append({**step, "skill": int(rng.integers(config.skills))})
    return found


def built(objective, rounds):
    """Configuration, learner, numbers and what is kept after some rounds."""
    by_objective = {m.options.get("objective"): name for name, m in METHODS.items()}
    options = {} if objective in by_objective else {"objective": objective}
    method = by_objective.get(objective, "valor")
    config, world = resolve(WORLD, method, {**tiny(method), **options})
    learner, hyper = learner_over(world, config, states=True), hyper_of(config)
    state = jax.jit(initial(learner))(jnp.uint32(0), hyper)
    if rounds:
        run = program(world, config)
        state = run.chunk(run.init(jnp.uint32(0), hyper), hyper, jnp.int32(rounds))
    return config, learner.objective, hyper, state.learnt.discriminator


def column(steps, name):
    return jnp.asarray([step[name] for step in steps])


def test_every_objective_has_an_oracle():
    assert IN_ORACLE | IN_LOOPS | IN_VECTORS | set(family.REWARDS) == set(OBJECTIVES)
    trained = {n for n, k in OBJECTIVES.items() if k.trains}
    assert trained <= IN_LOOPS | IN_VECTORS | set(family.LOSSES)


@pytest.mark.parametrize("objective", family.REWARDS)
def test_rewards_equal_the_oracle(objective):
    config, made, hyper, kept = built(objective, 30)
    steps = steps_of(config, WORLD)
    path = column(steps, "path") if OBJECTIVES[objective].by_episode else None
    got = made.rewards(kept, Moved(column(steps, "before"), column(steps, "after"), path), hyper)
    arrays = {name: np.asarray(leaf, np.float64) for name, leaf in by_name(kept).items()}
    expected = [
        [family.REWARDS[objective](arrays, WORLD, config, s, z) for z in range(config.skills)]
        for s in steps
    ]
    np.testing.assert_allclose(got, expected, rtol=2e-4, atol=2e-5)
    assert np.std(expected) > 1e-3


@pytest.mark.parametrize("objective", family.LOSSES)
def test_a_first_step_of_adam_goes_against_the_gradient(objective):
    config, made, hyper, kept = built(objective, 0)
    steps = steps_of(config, WORLD)
    batch = Batch(
        *(column(steps, name) for name in ("before", "skill", "after", "skill")),
        time=column(steps, "t") / config.horizon,
        last=column(steps, "t") == config.horizon,
        terminated=None,
        path=column(steps, "path"),
    )
    ones = jnp.ones(len(steps))
    moved = by_name(made.fit(kept, Sampled(batch, ones, ones), hyper, jnp.float32(0.1)))
    arrays = {name: np.asarray(leaf, np.float64) for name, leaf in by_name(kept).items()}
    for name, loss, only_last in family.LOSSES[objective]:
        seen = [s for s in steps if s["t"] == config.horizon or not only_last]
        change = np.asarray(moved[name], np.float64) - arrays[name]
        gradient = np.zeros_like(change)
        for cell in np.ndindex(*change.shape):
            both = []
            for by in (1e-5, -1e-5):
                other = arrays[name].copy()
                other[cell] += by
                both.append(loss({**arrays, name: other}, WORLD, config, seen))
            gradient[cell] = (both[0] - both[1]) / 2e-5
        clear = np.abs(gradient) > 1e-4
        np.testing.assert_allclose(change[clear], -0.1 * np.sign(gradient[clear]), rtol=2e-2)
        np.testing.assert_allclose(change[np.abs(gradient) < 1e-9], 0.0, atol=1e-6)
        assert clear.any()


def trained(world, method, rounds, seeds=3, **options):
    """[(state, config)] after so many rounds, of several seeds."""
    config, _ = resolve(world, method, {"steps": 10**6, **options})
    run, hyper = program(world, config), hyper_of(config)
    return [
        run.chunk(run.init(jnp.uint32(s), hyper), hyper, jnp.int32(rounds)) for s in range(seeds)
    ]


def bits_of(p):
    """Mutual information of skills [K] and last states, from p(s | z) [K, S]."""
    mean = p.mean(axis=0)
    ratio = np.where(p > 0, p / np.where(mean > 0, mean, 1.0), 1.0)
    return float((p * np.log2(ratio)).sum() / len(p))


def relative_bits(world, q, horizon):
    """I(z; s_T | s_0) - I(z; s_T) of the greedy skills of a deterministic table."""
    ends = np.zeros((len(world.starts), q.shape[2], world.n_states))
    for m, start in enumerate(world.starts):
        for z in range(q.shape[2]):
            state = start
            for _ in range(horizon):
                state = world.next_state[state, q[state, :, z].argmax(), 0]
            ends[m, z, state] = 1.0
    return float(np.mean([bits_of(p) for p in ends])) - bits_of(ends.mean(axis=0))


CHECKED = {"batch": 64, "buffer": 2000, "discriminator_learning_rate": 0.02, "epsilon": 0.3}


@pytest.mark.parametrize(("method", "bits"), [("relative_vic", 1.0), ("vic", 0.0)])
def test_relative_vic_finds_skills_that_the_last_state_alone_does_not_tell(method, bits):
    # Two starts side by side, one step: both skills of VIC have their own cells (0 bits). The best
    # is 1 bit: one stays, the other changes places, so that last states tell nothing without s_0.
    world = parse(".SS.", "beside")
    options = {**CHECKED, "q_rule": "plain", "learning_rate": 0.1}
    states = trained(world, method, 1500, skills=2, horizon=1, **options)
    found = [relative_bits(world, np.asarray(s.learnt.q.params), 1) for s in states]
    assert sorted(round(x, 3) for x in found)[1] == bits


def blahut_arimoto(channel, rounds=3000):
    """Bits: the capacity of p(s | option) [n, S], the most that any choice of options tells."""
    prior = np.full(len(channel), 1.0 / len(channel))
    for _ in range(rounds):
        mean = prior @ channel
        ratio = np.where(channel > 0, channel / np.where(mean > 0, mean, 1.0), 1.0)
        gain = np.exp((channel * np.log(ratio)).sum(axis=1))
        prior = prior * gain / (prior @ gain)
    return float(np.log2(prior @ gain))


def channel_of(world, horizon):
    """p(s_T | policy) of every policy that chooses by the state alone, [A^S, S]."""
    rows = []
    for policy in np.ndindex(*[world.about.n_actions] * world.n_states):
        p = np.eye(world.n_states)[world.start]
        step = np.zeros((world.n_states, world.n_states))
        for s, a in enumerate(policy):
            np.add.at(step[s], world.next_state[s, a], world.probability[s, a])
        rows.append(p @ np.linalg.matrix_power(step, horizon))
    return np.unique(np.round(rows, 12), axis=0)


def test_blahut_arimoto_knows_the_binary_symmetric_channel():
    entropy = -0.9 * np.log2(0.9) - 0.1 * np.log2(0.1)
    assert abs(blahut_arimoto(np.array([[0.9, 0.1], [0.1, 0.9]])) - (1 - entropy)) < 1e-6


def test_vic_comes_to_the_empowerment_of_a_stochastic_world():
    world = parse("S..", "slippery corridor", slip=0.3)
    channel = channel_of(world, 3)
    most = blahut_arimoto(channel)
    sets = combinations_with_replacement(range(len(channel)), 3)
    best = max(bits_of(channel[list(chosen)]) for chosen in sets)  # of three skills, drawn alike
    assert 0.95 * most < best < most
    options = {"skills": 3, "horizon": 3, "epsilon": 0.05, "batch": 64, "buffer": 2000}
    config, _ = resolve(world, "vic_counts", options)
    run, hyper = program(world, config), hyper_of(config)
    states = trained(world, "vic_counts", 3000, **options)
    found = sorted(float(run.evaluate(s, hyper).mutual_information) for s in states)
    assert found[-1] <= best + 1e-4
    assert found[1] > 0.95 * best


def implicit_vic(first, second, leads, ends):
    """Exact bits of two actions, as implicit VIC has them and as they are, and the difference.

    An option is a trajectory (a_0, s_1, a_1) of one policy: ``first`` [A] are the chances of a_0,
    ``second`` [S, A] those of a_1; the world has ``leads`` [A, S] to s_1 and ``ends`` [S, A, E] to
    s_f.

    Returns:
        E[sum over t of log q(a_t | history, s_f) - log pi(a_t | history)] with q exact; the mutual
        information of trajectory and s_f; that of s_1 and s_f given a_0.
    """
    joint = np.einsum("a,as,sb,sbe->asbe", first, leads, second, ends)

    def bits(about, given):  # I(about; s_f | given), axes of the joint
        rest = tuple({0, 1, 2} - {*about, *given})
        both = joint.sum(axis=rest, keepdims=True)
        near = both.sum(axis=3, keepdims=True)
        none = both.sum(axis=about, keepdims=True)
        alone = none.sum(axis=3, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(both > 0, both * alone / (near * none), 1.0)
        return float((both * np.log2(ratio)).sum())

    return bits((0,), ()) + bits((2,), (0, 1)), bits((0, 1, 2), ()), bits((1,), (0,))


def test_implicit_vic_leaves_out_what_chance_tells_of_the_end():
    """Why Kwon corrects it, and why that is about no set of skills (docs/family/vic_counts.md).

    The first action leads to one of two places by chance, from which there is one end each; or to
    a third, from which the second action chooses between two more.
    """
    leads = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    ends = np.zeros((3, 2, 4))
    ends[0, :, 0] = ends[1, :, 1] = ends[2, 0, 2] = ends[2, 1, 3] = 1.0
    alike = np.full((3, 2), 0.5)
    shares = np.linspace(0.01, 0.99, 99)
    found = np.array([implicit_vic([p, 1 - p], alike, leads, ends) for p in shares])
    claimed, told, by_chance = found.T
    np.testing.assert_allclose(told - claimed, by_chance, atol=1e-9)
    np.testing.assert_allclose(by_chance, shares, atol=1e-9)  # a bit whenever chance has a part
    assert shares[claimed.argmax()] == pytest.approx(1 / 3, abs=0.01)
    assert shares[told.argmax()] == pytest.approx(1 / 2, abs=0.001)
    assert told.max() == pytest.approx(2.0)
    third = implicit_vic([1 / 3, 2 / 3], alike, leads, ends)
    assert third[0] == pytest.approx(np.log2(3))
    assert third[1] == pytest.approx(1.918, abs=1e-3)
    # Policies that are chosen beforehand tell no more than the capacity of their last states.
    channel = np.array([[0.5, 0.5, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    assert blahut_arimoto(channel) == pytest.approx(np.log2(3), abs=1e-6)
    # Without chance there is no difference.
    sure = implicit_vic([0.3, 0.7], alike, np.array([[1.0, 0, 0], [0, 0, 1.0]]), ends)
    assert sure[0] == pytest.approx(sure[1])
    assert sure[2] == 0.0


def test_dads_ends_at_its_closed_form():
    # From the middle of a cross five places can follow. With five skills and one step the best is
    # that each goes its own way: then q(s' | s, z) is 1, the mean is 1/5, and the reward log 5.
    world = parse("#.#\n.S.\n#.#", "cross")
    options = {"batch": 64, "buffer": 2000, "epsilon": 0.1}
    states = trained(world, "dads", 3000, skills=5, horizon=1, **options)
    config, _ = resolve(world, "dads", {"skills": 5, "horizon": 1})
    run, hyper = program(world, config), hyper_of(config)
    found = sorted(int(run.evaluate(s, hyper).n_effective) for s in states)
    assert found[1] == 5
    rewards = sorted(float(run.evaluate(s, hyper).mean_last_reward) for s in states)
    assert 0.8 * np.log(5) < rewards[1] <= np.log(5) + 1e-5


def test_valor_adds_skills_as_it_can_name_them_and_draws_no_others():
    world = parse("...\n.S.\n...", "room")
    config, _ = resolve(world, "valor", {**CHECKED, "skills": 5, "horizon": 2})
    run, hyper = program(world, config), hyper_of(config)
    state, seen = run.init(jnp.uint32(0), hyper), []
    for _ in range(8):
        state = run.chunk(state, hyper, jnp.int32(300))
        seen.append(int(state.learnt.discriminator.n_skills))
    assert seen == sorted(seen)
    assert set(seen) <= {2, 4, 5}  # 2, 1.5 x 2 + 1, then at most K
    assert seen[-1] > 2
    ended = np.asarray(state.learnt.discriminator.ended.table).sum(axis=0)
    assert (ended[: seen[-1]] > 0).all()
    assert (ended[seen[-1] :] == 0).all()


def test_valor_has_more_skills_once_they_are_named_in_86_of_100_lately():
    config, _ = resolve(WORLD, "valor", {**TINY, "skills": 12})

    def rounds(kept, sure, until):
        """Numbers of skills after rounds of one episode, named with a chance of ``sure``."""
        log_p = jnp.full((1, 12), np.log(sure), jnp.float32)
        for _ in range(until):
            kept = valor.grown(config, kept, log_p, jnp.zeros(1, jnp.int32))
            yield kept

    begun = valor.begun(config, None, None)
    assert {int(kept.n_skills) for kept in rounds(begun, 0.85, 600)} == {2}
    # 1 - 0.98^n is 0.86 between 97 and 98 episodes; then the mean begins anew.
    numbers = [int(kept.n_skills) for kept in rounds(begun, 1.0, 5 * 98)]
    assert numbers == [*[2] * 97, *[4] * 98, *[7] * 98, *[11] * 98, *[12] * 99]


@pytest.mark.parametrize("active", [[1, 0, 1, 0], [0, 0, 0, 1], [1, 1, 1, 1]])
def test_skills_are_drawn_from_the_active_ones(active):
    active = jnp.asarray(active, bool)
    skill = choices.among(active, jax.random.key(3), jnp.zeros(400, jnp.int32))
    share = np.bincount(np.asarray(skill), minlength=4) / 400
    np.testing.assert_allclose(share, active / active.sum(), atol=0.1)
    assert (share[~np.asarray(active)] == 0).all()


def test_eddict_learns_codes_in_which_skills_are_steps():
    # In a corridor with the start in the middle states get codes along a line, far ends far apart.
    world = parse("..S..", "corridor")
    (state,) = trained(world, "eddict", 6000, seeds=1, skills=12, horizon=3, **CHECKED)
    kept = state.learnt.discriminator
    codes, f = np.asarray(kept.codes), np.asarray(kept.f.params)
    assert (np.linalg.norm(codes, axis=1) <= 1).all()
    across = np.linalg.norm(f[0] - f[4])
    assert across > 2 * np.linalg.norm(f[1] - f[2])
    assert across > 0.5


@pytest.mark.parametrize("length", [4, 5])
@pytest.mark.parametrize("by_twos", [False, True])
def test_a_decoder_read_by_steps_equals_a_product_with_zeros_and_ones(length, by_twos):
    rng = np.random.default_rng(length)
    took, wrong = rng.integers(3, size=(6, length)), rng.normal(size=(6, 4))
    weights = rng.normal(size=(length, 3, 4))
    seen = np.eye(3)[took].reshape(6, -1)
    logits = seen @ weights.reshape(-1, 4)
    steps = valor.Steps(n_kinds=3, by_twos=by_twos)
    rows, kinds = steps.rows(jnp.asarray(weights)), steps.kinds(jnp.asarray(took))
    wanted = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(valor.log_decoded(rows, kinds), wanted, rtol=1e-4, atol=1e-5)
    back = steps.back(valor.gradient(jnp.asarray(wrong), kinds, rows.shape[1]), length)
    np.testing.assert_allclose(back, (seen.T @ wrong).reshape(weights.shape), atol=1e-5)


@pytest.mark.parametrize("method", ["eddict", "relative_vic"])
def test_the_reward_of_the_own_skill_is_that_among_all(method):
    config, world = resolve(WORLD, method, TINY)
    for states in (True, False):  # rows are states, or samples
        objective = learner_over(world, config, states).objective
        hyper = hyper_of(config)
        kept, steps = objective.init(jax.random.key(0), hyper), steps_of(config, WORLD)
        moved = Moved(*(column(steps, name) for name in ("before", "after", "path")))
        skill = column(steps, "skill")
        among_all = objective.rewards(kept, moved, hyper)[jnp.arange(len(steps)), skill]
        got = rewards_of(objective, kept, moved, skill, hyper)
        np.testing.assert_allclose(got, among_all, rtol=1e-5, atol=1e-6)


def test_eddict_learns_codes_of_observations_too_and_goes_on_to_the_bit():
    config, world = resolve("maze:u", "eddict", {"skills": 3, "steps": 2000, "batch": 16})
    run, hyper = program(world, config), hyper_of(config)
    begun = run.init(jnp.uint32(1), hyper)
    codes, before = np.asarray(begun.learnt.discriminator.codes), to_arrays(begun)
    part = run.chunk(begun, hyper, jnp.int32(1))
    first = to_arrays(run.chunk(from_arrays(part, to_arrays(part)), hyper, jnp.int32(1)))
    second = to_arrays(run.chunk(run.init(jnp.uint32(1), hyper), hyper, jnp.int32(2)))
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)
    np.testing.assert_array_equal(first["learnt.discriminator.codes"], codes)
    f = [name for name in first if name.startswith("learnt.discriminator.f.params")]
    assert all((first[name] != before[name]).any() for name in f)
