"""Networks: the layers by themselves, and behind the seam that tables share."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from apart.learner import draws, networks
from apart.learner.approximators import table
from apart.learner.convolution import convolve
from apart.learner.networks import NETWORKS
from apart.settings import resolve
from apart.training.collect import Dynamics, by_table
from apart.training.learners import learner_over
from apart.training.pieces import pieces
from apart.training.rounds import initial, round_of
from apart.training.state import hyper_of
from apart.worlds.grid import load, parse
from apart.worlds.observations import OBSERVATIONS, sight_of


@pytest.mark.parametrize(
    ("height", "width", "kernel"), [(10, 10, 5), (4, 7, 3), (3, 2, 5), (1, 6, 1)]
)
def test_a_product_of_frequencies_is_a_convolution_and_so_are_its_gradients(height, width, kernel):
    keys = jax.random.split(jax.random.key(0), 3)
    images = jax.random.normal(keys[0], (3, height, width, 2))
    weight = jax.random.normal(keys[1], (kernel, kernel, 2, 4))
    probe = jax.random.normal(keys[2], (3, height, width, 4))

    def plain(images, weight):
        out = jax.lax.conv_general_dilated(
            images, weight, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        return (out * probe).sum(), out

    def ours(images, weight):
        pixels = images.reshape(3, -1, 2).swapaxes(0, 1)
        out = convolve(pixels, weight, (height, width)).swapaxes(0, 1).reshape(probe.shape)
        return (out * probe).sum(), out

    gradients = [jax.jit(jax.grad(f, (0, 1), has_aux=True)) for f in (plain, ours)]
    expected, found = (of(images, weight) for of in gradients)
    for a, b in zip(jax.tree.leaves(expected), jax.tree.leaves(found), strict=True):
        np.testing.assert_allclose(b, a, atol=2e-5 * float(jnp.abs(a).max()))


CASES = {
    "linear": {"network": "linear"},
    "mlp": {"network": "mlp:300,200"},
    "mlp-pixels": {"network": "mlp:300", "observation": "normalized_pixels"},
    "linear-pixels": {"network": "linear", "observation": "pixels"},
    "cnn": {"network": "cnn:8,16", "observation": "pixels"},
    "cnn-large": {"network": "cnn:8:3", "observation": "normalized_pixels:2"},
}


def pieces_of(method, options, world="four_rooms"):
    config, loaded = resolve(world, method, {"skills": 6, **options})
    sight = sight_of(loaded, config.observation)
    return pieces(config, 5, sight), hyper_of(config), sight


def begun(approximator, scale):
    """Parameters; compiled at once, as one by one the operations take seconds."""
    return jax.jit(approximator.init)(jax.random.key(1), scale)


@pytest.mark.parametrize("case", CASES)
def test_a_network_starts_with_the_spread_of_a_table(case):
    p, hyper, _ = pieces_of("diayn", {**CASES[case], "skills": 40})
    for one, scale in ((p.q, hyper.init_q), (p.logits, hyper.init_logits)):
        rows = jax.jit(lambda params, one=one: one.read(params, None)[0])(begun(one, scale))
        spread = float(jnp.sqrt(jnp.square(rows).mean()))
        assert 0.4 < spread / (float(scale) / np.sqrt(3)) < 1.8


@pytest.mark.parametrize("case", CASES)
def test_all_states_some_states_and_their_gradients_agree(case):
    """Reading states one by one gives rows and gradients of reading them all."""
    p, hyper, _ = pieces_of("diayn", CASES[case])
    params = begun(p.q, hyper.init_q)
    some = jnp.array([3, 70, 3])

    @jax.jit
    def of_all(params, probe):
        rows, pull = p.q.read(params, None)
        return rows, pull(jnp.zeros_like(rows).at[some].add(probe))

    @jax.jit
    def of_some(params, probe):
        rows, pull = p.q.read(params, some)
        return rows, pull(probe)

    probe = jax.random.normal(jax.random.key(3), (3, 5, 6))
    (rows, gradient), (part, gradient_of_part) = of_all(params, probe), of_some(params, probe)
    np.testing.assert_allclose(part, rows[some], atol=1e-6)
    leaves = zip(jax.tree.leaves(gradient), jax.tree.leaves(gradient_of_part), strict=True)
    for a, b in leaves:
        np.testing.assert_allclose(a, b, atol=1e-4 * max(float(jnp.abs(a).max()), 1e-3))
    larger, _ = of_all(p.q.scaled(params, jnp.float32(3.0)), probe)
    np.testing.assert_allclose(larger, 3.0 * rows, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("method", ["apart", "diayn", "apart_logits", "ap_average_art"])
@pytest.mark.parametrize("case", ["mlp", "cnn"])
def test_an_update_on_distinct_observations_equals_one_on_the_batch(case, method):
    """Loss gradients of both networks from 85 rows and a histogram, or from 640 rows.

    In float64: a unit at the kink of its ReLU may fall to either side in float32.
    """
    with jax.enable_x64(True):
        states, samples = (gradients(method, CASES[case], states) for states in (True, False))
    for a, b in zip(states, samples, strict=True):
        assert np.abs(a).max() > 0
        np.testing.assert_allclose(a, b, atol=2e-6 * np.abs(a).max())


def gradients(method, case, states):
    """Adam's first moments after one step are the gradients (times 0.1)."""
    options = {**case, "skills": 6, "updates_per_episode": 1, "episodes_per_update": 16}
    options |= {"q_rule": "shared_adam"} if method == "apart_logits" else {}
    config, world = resolve("four_rooms", method, options)
    learner, hyper = learner_over(world, config, states), hyper_of(config)
    state = jax.jit(initial(learner))(0, hyper)
    made = round_of(config, 5, state, hyper)
    values = jax.random.normal(jax.random.key(7), (world.n_states, 5, 6))
    drawn = made.drawn._replace(
        choice=draws.integer(jax.random.bits(made.collect, (16, 40), jnp.uint32), 5)
    )
    episodes = by_table(Dynamics.of(world), values, drawn, made.collect)
    after = jax.jit(learner.learn)(state.learnt, episodes, hyper, made.learn, jnp.int32(1))
    moments = after.q.optimiser.mu, after.discriminator.optimiser.mu
    return [np.asarray(leaf) for leaf in jax.tree.leaves(moments)]


def test_linear_on_one_hot_is_the_table():
    linear, plain = (pieces_of("apart", {"network": n})[0] for n in ("linear", "table"))
    scale = jnp.float32(0.1)
    params = linear.logits.init(jax.random.key(0), scale)
    shape = plain.logits.init(jax.random.key(0), scale).shape
    assert params.hidden == ()
    rows, pull = linear.logits.read(params, None)
    np.testing.assert_array_equal(rows, params.last.reshape(shape))
    probe = jax.random.normal(jax.random.key(1), shape)
    np.testing.assert_allclose(pull(probe).last.reshape(shape), probe, atol=1e-6)
    assert abs(float(params.last.max()) - 0.1) < 1e-3


@pytest.mark.parametrize("observation", ["one_hot", "normalized_pixels"])
@pytest.mark.parametrize("states", [None, [3, 70, 3]])
def test_an_mlp_is_products_of_what_is_seen(observation, states):
    """The rows of a weight that stand for the product with one-hot states, against the product."""
    p, hyper, sight = pieces_of("diayn", {"network": "mlp:30,20", "observation": observation})
    params = begun(p.q, hyper.init_q)
    chosen = None if states is None else jnp.array(states)
    seen = sight.images(chosen)

    def plain(weights):
        x = seen.reshape(seen.shape[0], -1)
        for layer in weights.hidden:
            x = jnp.maximum(x @ layer.weight + layer.bias, 0.0)
        return (x @ weights.last).reshape(-1, 5, 6)

    @jax.jit
    def by_products(params, probe):
        rows, pull = jax.vjp(plain, params)
        return rows, pull(probe)[0]

    @jax.jit
    def ours(params, probe):
        rows, pull = p.q.read(params, chosen)
        return rows, pull(probe)

    probe = jax.random.normal(jax.random.key(3), (seen.shape[0], 5, 6))
    (rows, gradient), (expected, plain_gradient) = ours(params, probe), by_products(params, probe)
    np.testing.assert_allclose(rows, expected, atol=1e-6)
    for a, b in zip(jax.tree.leaves(gradient), jax.tree.leaves(plain_gradient), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5 * float(jnp.abs(b).max()))


def test_the_papers_networks_have_the_papers_sizes():
    """425,500 weights with 2,300 hidden units (appendix), 420,750 for all pairs; the CNN."""
    world = load("four_rooms")
    for method, options, expected in (
        ("ova_art", {"network": "table/mlp:2300"}, 425_500 + 2_300),
        ("apart", {}, 420_750),
        ("apart", {"network": "linear"}, 420_750),
        (
            "diayn",
            {"network": "cnn", "observation": "pixels"},
            25 * (3 * 32 + 32 * 64 + 64 * 128) + 32 + 64 + 128 + 12_800 * 100,
        ),
    ):
        config, _ = resolve(world, method, options)
        sight = sight_of(world, config.observation)
        p, (_, form) = pieces(config, 5, sight), networks.parse(config.network)
        params = jax.eval_shape(p.logits.init, jax.random.key(0), jnp.float32(1))
        assert sum(leaf.size for leaf in jax.tree.leaves(params)) == expected
        size = NETWORKS[form.kind].size(form, sight, p.discriminator.shape(100))
        assert size.parameters == expected


def test_an_image_shows_walls_floor_and_agent():
    world = parse("S.\n#.", "tiny")
    image = np.asarray(OBSERVATIONS["pixels"].sight(world, 2).images(jnp.array([2]))[0])
    assert image.shape == (4, 4, 3)
    agent, floor, wall = image.transpose(2, 0, 1)
    np.testing.assert_array_equal(wall, [[0, 0, 0, 0]] * 2 + [[1, 1, 0, 0]] * 2)
    np.testing.assert_array_equal(agent, [[0, 0, 0, 0]] * 2 + [[0, 0, 1, 1]] * 2)
    np.testing.assert_array_equal(agent + floor + wall, np.ones((4, 4)))


def test_normalized_images_have_no_mean_and_unit_mean_square():
    world = load("u_maze")
    images = np.asarray(OBSERVATIONS["normalized_pixels"].sight(world, 1).images(None))
    plain = np.asarray(OBSERVATIONS["pixels"].sight(world, 1).images(None))
    np.testing.assert_allclose(images.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(np.square(images).sum((1, 2, 3)).mean(), 100, rtol=1e-5)
    centred = plain - plain.mean(0)
    np.testing.assert_allclose(images / images.max(), centred / centred.max(), atol=1e-5)


def test_a_table_reads_rows_and_gives_gradients_back():
    small = table(4, (2,))
    params = small.init(jax.random.key(0), jnp.float32(1.0))
    rows, pull = small.read(params, jnp.array([2, 2, 0]))
    np.testing.assert_array_equal(rows, params[jnp.array([2, 2, 0])])
    gradient = pull(jnp.ones((3, 2)))
    np.testing.assert_array_equal(gradient[:, 0], [1, 0, 2, 0])
