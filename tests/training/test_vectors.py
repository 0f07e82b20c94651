"""Methods of the family where states cannot be listed: what all must do, and numbers by loops."""

from __future__ import annotations

import math
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import vectors
from twins import host_grid, jax_grid

import apart
from apart._errors import UserError
from apart.checks import memory_bytes
from apart.learner.episodes import Batch, Episodes, Sampled
from apart.methods import METHODS
from apart.objective.contexts import Moved
from apart.objective.objectives import OBJECTIVES
from apart.report import page_data
from apart.settings import resolve
from apart.skills.policies import policies_of
from apart.training import sampled
from apart.training.learners import learner_of
from apart.training.objectives import scales
from apart.training.objectives.contract import Met
from apart.training.pieces import pieces
from apart.training.program import program
from apart.training.rounds import initial
from apart.training.state import by_name, from_arrays, hyper_of, to_arrays
from apart.worlds.grid import parse
from apart.worlds.observations import sight_of
from apart.worlds.world import About, JaxWorld, ObsSpec, Places

BEYOND = [name for name, method in METHODS.items() if method.beyond]
PLAIN = ("dgpo", "disdain")  # with networks as those of the paper's methods
TINY = {"skills": 4, "steps": 1200, "batch": 16, "horizon": 40, "hold": 4, "network": "mlp:16,16"}
LINEAR = {**TINY, "network": "linear", "observation": "arrays", "init_logits": 0.5}


@pytest.mark.parametrize("method", [*BEYOND, *PLAIN])
def test_every_method_trains_repeats_itself_goes_on_to_the_bit_and_is_reported(method, tmp_path):
    options = TINY if method != "upside" else {**TINY, "hold": 1}
    if method in PLAIN:
        options = {**options, "network": "mlp:16", "q_rule": "adam"}
    stored = apart.train("maze:u:start=random", method=method, **options, out=tmp_path / "run")
    shown = page_data.page_data([stored], policies_of)["runs"][0]
    assert (shown["method"], shown["skills"]) == (method, 4)
    config, world = resolve("maze:u:start=random", method, options)
    run, hyper = program(world, config), hyper_of(config)  # the one that was trained
    whole = run.chunk(run.init(jnp.uint32(1), hyper), hyper, jnp.int32(3))
    part = run.chunk(run.init(jnp.uint32(1), hyper), hyper, jnp.int32(1))
    part = run.chunk(from_arrays(part, to_arrays(part)), hyper, jnp.int32(2))
    first, second = to_arrays(whole), to_arrays(part)
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)
    found = run.evaluate(whole, hyper)
    assert bool(run.finite(whole))
    assert all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(found))


@pytest.mark.parametrize("method", BEYOND)
@pytest.mark.parametrize("form", [jax_grid, host_grid])
def test_episodes_may_end_before_their_time(form, method, tmp_path):
    """Vectors of one number for each cell; episodes end in the last cell."""
    world = form(parse("S...", "corridor", horizon=12), end=3)
    options = {"skills": 3, "steps": 480, "batch": 16, "network": "mlp:8"}
    config, world = resolve(world, method, options)
    run, hyper = program(world, config), hyper_of(config)
    state = run.chunk(run.init(jnp.uint32(0), hyper), hyper, jnp.int32(config.iterations))
    found = run.evaluate(state, hyper)
    assert bool(run.finite(state))
    assert all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(found))
    run.close()
    if method == "discern":
        goals = np.asarray(state.learnt.discriminator.goals)
        assert (goals.sum(axis=1) == 1.0).all()  # cells that were seen
        assert len(np.unique(goals.argmax(axis=1))) > 1


def test_an_episode_that_the_world_ended_is_worth_staying_there():
    """EDL's rewards are below 0: ending an episode would be best, wherever the code of a skill is.

    A corridor that ends episodes at its right end; every skill stays as near to its code as it can.
    """
    world = jax_grid(parse(".....S..", "corridor", horizon=16), end=7)
    options = {"skills": 4, "steps": 32_000, "batch": 64, "network": "linear", "hold": 1}
    options |= {"learning_rate": 3e-2, "updates_per_episode": 2}
    config, world = resolve(world, "edl", options)
    run, hyper = program(world, config), hyper_of(config)
    state = run.chunk(run.init(jnp.uint32(1), hyper), hyper, jnp.int32(config.iterations))
    codes = np.asarray(state.learnt.discriminator.codes)  # cells are one-hot
    last = np.asarray(run.evaluate(state, hyper).trajectories)[:, -1]
    assert len(set(codes.argmax(axis=1))) == 4
    np.testing.assert_array_equal(last, codes.argmax(axis=1))


@pytest.mark.parametrize(
    ("method", "options", "times"),
    [
        ("edl", {}, 1 / (1 - 0.95)),
        ("visr", {"discount": 0.9}, 1 / (1 - 0.9)),
        ("edl", {"bootstrap_last": False}, 1.0),
        ("discern", {"discount": 0.9}, 1 / (1 - 0.9)),  # the goal may be where episodes end
        ("apart_spread", {}, 1.0),
        ("diayn", {"network": "mlp:8"}, 1.0),  # nothing is beyond its last step
        ("rnd", {}, 1.0),  # what is new is new once
        ("metra", {}, 1.0),  # who stays does not go on
    ],
)
def test_how_often_the_reward_of_an_ended_episode_counts(method, options, times):
    world = jax_grid(parse("S...", "corridor", horizon=12), end=3)
    config, world = resolve(world, method, {"skills": 3, "steps": 480, "batch": 16, **options})
    learner, hyper = learner_of(world, config), hyper_of(config)
    learnt = jax.jit(initial(learner))(jnp.uint32(0), hyper).learnt
    if method == "edl":
        learnt = learnt._replace(
            discriminator=learnt.discriminator._replace(ready=jnp.ones((), bool))
        )
    batch = Batch(*[jnp.zeros(2)] * 5, last=jnp.ones(2, bool), terminated=jnp.array([True, False]))
    p = pieces(config, world.about.n_actions, sight_of(world, config.observation))
    found = sampled._times(p, learner.objective, learnt, batch, hyper)
    np.testing.assert_allclose(np.broadcast_to(found, 2), [times, 1.0], rtol=1e-5)


def images():
    """A world on a line that is seen as a small image of bytes."""

    def observe(state):
        return (255 * jax.nn.one_hot(state, 4)).astype(jnp.uint8).reshape(2, 2, 1)

    return JaxWorld(
        About("dots", {"kind": "dots"}, 6, 2),
        Places(4),
        ObsSpec((2, 2, 1), "uint8"),
        reset=lambda key: jax.random.randint(key, (), 0, 2),
        step=lambda key, state, action: (jnp.clip(state + 2 * action - 1, 0, 3), None),
        observe=observe,
        place=lambda state: state,
    )


@pytest.mark.parametrize("method", ["discern", "relative_vic"])
@pytest.mark.parametrize("network", ["mlp:8", "cnn:4:3"])
def test_goals_and_starts_may_be_images(method, network):
    options = {"skills": 3, "steps": 120, "batch": 16, "network": network}
    config, world = resolve(images(), method, options)
    run, hyper = program(world, config), hyper_of(config)
    state = run.chunk(run.init(jnp.uint32(0), hyper), hyper, jnp.int32(config.iterations))
    assert bool(run.finite(state))
    kept = state.learnt.discriminator
    seen = np.asarray(kept.goals if method == "discern" else kept.first)
    assert seen.dtype == np.uint8
    assert (seen.reshape(len(seen), -1).sum(axis=1) == 255).all()


def test_memory_is_asked_for_what_networks_of_an_objective_give():
    """Mixtures of DADS have many more numbers than there are skills."""
    few, many = (
        memory_bytes(*resolve("maze:u", method, {"skills": 200})) for method in ("metra", "dads")
    )
    assert many - few > 4 * 4 * 256 * (4 * 3 - 1) * 200


def test_memory_is_asked_for_the_distances_of_points():
    """All pairs of eight points a skill, in a world of small networks."""
    with pytest.raises(UserError, match=r"--skills 90000 in maze:u needs .* GB of memory"):
        resolve("maze:u", "apart_spread", {"skills": 90_000})
    few, many = (
        memory_bytes(*resolve("maze:u", "apart_spread", {"skills": k, "network": "linear"}))
        for k in (1_000, 2_500)
    )
    assert few > 320e6  # what one look takes for its distances alone, as XLA says
    assert many > 2_000e6


def test_skills_from_pixels_train_and_repeat_themselves(tmp_path):
    """The one method that brings a network of its own in tables, with a smaller one here."""
    options = {"skills": 3, "horizon": 4, "steps": 256, "batch": 32, "network": "cnn:4:3"}
    ends = []
    for name in ("first", "second"):
        world = parse("S..\n.#.", "small")
        run = apart.train(world, method="apart_pixels", **options, out=tmp_path / name)
        ends.append([skill.trajectory for skill in run.skills])
        assert page_data.page_data([run], policies_of)["runs"][0]["method"] == "apart_pixels"
    assert ends[0] == ends[1]


def steps_of(config, n=30):
    """Transitions in made-up episodes, some of them last ones."""
    rng, length = np.random.default_rng(0), config.decisions
    found = []
    for i in range(n):
        path = np.cumsum(rng.normal(scale=0.2, size=(length + 1, 2)), axis=0)
        t = length - 1 if i % 3 == 0 else int(rng.integers(length))
        step = {"before": path[t], "after": path[t + 1], "path": path, "last": t + 1 == length}
        found.append({**step, "skill": int(rng.integers(config.skills))})
    return found


def column(steps, name):
    return jnp.asarray(np.array([step[name] for step in steps]))


def built(method, horizon=LINEAR["horizon"]):
    """What is kept after three rounds; networks are one linear layer."""
    config, world = resolve("maze:u:start=random", method, {**LINEAR, "horizon": horizon})
    run, hyper = program(world, config), hyper_of(config)
    state = run.chunk(run.init(jnp.uint32(0), hyper), hyper, jnp.int32(3))
    return config, learner_of(world, config).objective, hyper, state.learnt.discriminator


def arrays_of(kept):
    return {name: np.asarray(leaf, np.float64) for name, leaf in by_name(kept).items()}


def test_every_objective_of_vectors_has_an_oracle():
    named = {METHODS[method].beyond.options["objective"] for method in vectors.REWARDS}
    assert {name for name, kind in OBJECTIVES.items() if kind.of_vectors} <= named


@pytest.mark.parametrize(
    ("method", "horizon"),
    [*((method, 40) for method in vectors.REWARDS), ("valor", 60), ("valor", 20)],
)
def test_rewards_equal_the_oracle(method, horizon):
    config, objective, hyper, kept = built(method, horizon)
    steps = steps_of(config)
    moved = Moved(*(column(steps, name) for name in ("before", "after", "path")))
    got, arrays = objective.rewards(kept, moved, hyper), arrays_of(kept)
    expected = [
        [vectors.REWARDS[method](arrays, config, step, z) for z in range(config.skills)]
        for step in steps
    ]
    np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-4)
    assert np.std(expected) > 1e-3
    if objective.own_moves is not None:
        skill = column(steps, "skill")
        own = objective.own_moves(kept, moved, skill, hyper)
        np.testing.assert_allclose(own, got[jnp.arange(len(steps)), skill], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("method", vectors.LOSSES)
def test_a_step_of_adam_goes_against_the_gradient(method):
    config, objective, hyper, kept = built(method)
    kept = objective.init(jax.random.key(2), hyper)  # Adam has no moments yet
    if method == "discern":
        places = jax.random.uniform(jax.random.key(0), kept.goals.shape, minval=-1.0)
        kept = kept._replace(goals=places)
    steps = steps_of(config)
    batch = Batch(
        *(column(steps, name) for name in ("before", "skill", "after", "skill")),
        time=jnp.ones(len(steps)),
        last=column(steps, "last"),
        terminated=None,
        path=column(steps, "path"),
    )
    ones = jnp.ones(len(steps))
    moved = by_name(objective.fit(kept, Sampled(batch, ones, ones), hyper, jnp.float32(0.1)))
    arrays = arrays_of(kept)
    for name, loss, only_last in vectors.LOSSES[method]:
        seen = [step for step in steps if step["last"] or not only_last]
        change = np.asarray(moved[name], np.float64) - arrays[name]
        gradient = np.zeros_like(change)
        for cell in np.ndindex(*change.shape):
            both = []
            for by in (1e-5, -1e-5):
                other = arrays[name].copy()
                other[cell] += by
                each = [loss({**arrays, name: other}, config, s, s["skill"]) for s in seen]
                both.append(np.mean(each))
            gradient[cell] = (both[0] - both[1]) / 2e-5
        clear = np.abs(gradient) > 1e-4
        np.testing.assert_allclose(change[clear], -0.1 * np.sign(gradient[clear]), rtol=2e-2)
        assert clear.sum() > change.size / 4


def test_changes_are_scaled_by_the_steps_that_were_taken():
    changes = jnp.array([[[1.0, 0.0], [3.0, 0.0], [9.0, 9.0]]])
    scale = scales.after(scales.init(2), changes, jnp.array([[True, True, False]]))
    np.testing.assert_allclose(scale.square, [5.0, 0.0])
    scale = scales.after(scale, jnp.full((1, 2, 2), 2.0), None)
    np.testing.assert_allclose(scale.square, [4.5, 2.0])
    np.testing.assert_allclose(scales.scaled(scale, jnp.array([4.5, 0.0])), [4.5**0.5, 0.0])


def test_goals_begin_where_episodes_do_and_are_replaced_by_what_is_farther():
    config, world = resolve("maze:u:start=random", "discern", {**LINEAR, "skills": 2})
    objective, hyper = learner_of(world, config).objective, hyper_of(config)

    def met(x, rounds):
        """An episode along a line; which of its places is offered goes round with the rounds."""
        obs = jnp.stack([jnp.asarray(x), jnp.zeros(len(x))], axis=1)[None]
        action = jnp.zeros((1, len(x) - 1), jnp.int32)
        return Met(Episodes(obs, action, jnp.zeros(1, jnp.int32)), jnp.int32(rounds), None)

    kept = objective.init(jax.random.key(0), hyper)
    kept = objective.meet(kept, met([0.1, 0.2, 0.3], 1), hyper)
    np.testing.assert_allclose(sorted(np.asarray(kept.goals)[:, 0]), [0.1, 0.2], atol=1e-6)
    kept = objective.meet(kept, met([0.0, 0.0, 0.5], 2), hyper)
    near, far = sorted(np.asarray(kept.goals)[:, 0].tolist())
    assert far == pytest.approx(0.5)
    assert near in (pytest.approx(0.1), pytest.approx(0.2))
    kept = objective.meet(kept, met([0.45, 0.45, 0.45], 3), hyper)
    assert sorted(np.asarray(kept.goals)[:, 0].tolist()) == [near, far]


def test_valor_adds_skills_where_its_network_can_name_them():
    options = {"skills": 4, "steps": 8000, "batch": 64, "horizon": 8, "hold": 4, "buffer": 2000}
    options |= {"learning_rate": 2e-3, "updates_per_episode": 4, "network": "mlp:32"}
    config, world = resolve("maze:u:start=random", "valor", options)
    run, hyper = program(world, config), hyper_of(config)
    state, seen = run.init(jnp.uint32(0), hyper), []
    for _ in range(10):
        state = run.chunk(state, hyper, jnp.int32(config.iterations // 10))
        seen.append(int(state.learnt.discriminator.valor.n_skills))
    assert seen == sorted(seen)
    assert seen[-1] == 4


def test_dads_ends_near_its_closed_form():
    """One decision an episode, four skills: the four corners, which are farthest apart.

    Changes are (+-1, +-1) in units of their own size, densities have a variance of 1: the best
    is -log((1 + 2 exp(-2) + exp(-4)) / 4) = 1.13 (every third decision is random here).
    """
    options = {"skills": 4, "steps": 8000, "batch": 64, "horizon": 4, "hold": 4, "epsilon": 0.3}
    options |= {"updates_per_episode": 1, "network": "mlp:32", "discount": 0.0}
    config, world = resolve("maze:bottleneck", "dads", {**options, "learning_rate": 2e-3})
    run, hyper = program(world, config), hyper_of(config)
    state = run.chunk(run.init(jnp.uint32(0), hyper), hyper, jnp.int32(config.iterations))
    found = run.evaluate(state, hyper)
    ends = np.asarray(found.positions)[:, -1].round(2)
    corners = set(product((ends.min(), ends.max()), repeat=2))
    assert corners == {tuple(end) for end in ends.tolist()}
    best = -math.log((1.0 + 2.0 * math.exp(-2.0) + math.exp(-4.0)) / 4.0)
    assert found.mean_reward > 0.75 * best


@pytest.mark.parametrize("objective", ["dads_mixture", "valor_differences"])
def test_what_is_about_changes_of_vectors_refuses_tables_in_one_line(objective):
    with pytest.raises(UserError, match="small is a table"):
        resolve(parse("S..", "small"), "dads", {"objective": objective})
