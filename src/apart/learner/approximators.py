"""How numbers per state are kept and computed: the seam between tables and networks.

A `Store` has parameters of its own kind. ``read`` gives the numbers of some states (or of all)
and a pullback that turns a gradient with respect to those numbers into one with respect to the
parameters. All losses are written in terms of such rows, so that nothing else knows how they come
about. The skill is always an output: a row holds the numbers of all skills.

A network starts so that its numbers are spread like those of a table: hidden units keep a mean
square of 1 (the sum of squares of an observation is its number of pixels), the last layer has no
bias and is uniform in +- scale / sqrt(units below). ``linear`` on a one-hot state IS the table.

To add one, write its layers and one entry in ``NETWORKS``. Does not import JAX until used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from apart._config import Config
from apart._lazy import jax, jnp
from apart._types import Array, Image, Key, Sight
from apart.learner.convolution import convolve

Params = Any  # a pytree of arrays
Shape = tuple[int, ...]
Pullback = Callable[[Array], Params]


class Store(NamedTuple):
    """How rows of numbers, one per state, are parametrised."""

    init: Callable[[Key, Array], Params]  # (key, scale) -> parameters
    read: Callable[[Params, Array | None], tuple[Array, Pullback]]
    # (parameters, states [n] or None for all in order) -> rows [n, *shape], pullback
    times: Callable[[Params, Array], Params]  # parameters whose rows are a factor times as large


class Layer(NamedTuple):
    """Weights of a hidden layer."""

    weight: Array
    bias: Array


class Weights(NamedTuple):
    """Parameters of a network."""

    hidden: tuple[Layer, ...]
    last: Array  # [units below, numbers of a row]


class Size(NamedTuple):
    """What a network needs, for the check of the memory."""

    parameters: int
    floats_per_row: int  # that are kept of one observation for the way back


@dataclass(frozen=True)
class Network:
    """A way to compute rows.

    Attributes:
        summary: one line for people.
        observations: those that it can read.
        build: (config, number of states, sight, image, row shape) -> Store.
        size: (config, number of states, image, row shape) -> Size.
        of_q: what the configuration gets where Q is such a network and the user says nothing.
        of_discriminator: the same for the discriminator.
    """

    summary: str
    observations: tuple[str, ...]
    build: Callable[[Config, int, Sight, Image, Shape], Store]
    size: Callable[[Config, int, Image, Shape], Size]
    of_q: Mapping[str, Any] = field(default_factory=dict)
    of_discriminator: Mapping[str, Any] = field(default_factory=dict)


def table(n_states: int, shape: Shape) -> Store:
    """A plain table, uniform in +- scale at the start."""

    def init(key: Key, scale: Array) -> Array:
        return jax.random.uniform(key, (n_states, *shape), minval=-scale, maxval=scale)

    def read(params: Array, states: Array | None) -> tuple[Array, Pullback]:
        if states is None:
            return params, lambda gradient: gradient
        return params[states], lambda gradient: jnp.zeros_like(params).at[states].add(gradient)

    return Store(init, read, lambda params, factor: factor * params)


def network(
    shape: Shape,
    hidden: tuple[tuple[Shape, int], ...],
    below: tuple[int, int],
    outputs: Callable[[Weights, Array | None], Array],
) -> Store:
    """Hidden layers, then one linear layer without bias.

    Args:
        shape: of a row.
        hidden: per hidden layer the shape of its weight and the sum of squares of its inputs.
        below: inputs of the last layer, and their sum of squares.
        outputs: (weights, states [n] or None for all in order) -> [n, numbers of a row].
    """
    n_out = math.prod(shape)

    def init(key: Key, scale: Array) -> Weights:
        *keys, key_last = jax.random.split(key, len(hidden) + 1)
        layers = []
        for key_layer, (weight_shape, energy) in zip(keys, hidden, strict=True):
            bound = math.sqrt(6.0 / energy)
            weight = jax.random.uniform(key_layer, weight_shape, minval=-bound, maxval=bound)
            layers.append(Layer(weight, jnp.zeros(weight_shape[-1])))
        size, energy = below
        spread = scale / math.sqrt(energy)
        last = jax.random.uniform(key_last, (size, n_out), minval=-spread, maxval=spread)
        return Weights(tuple(layers), last)

    def read(params: Weights, states: Array | None) -> tuple[Array, Pullback]:
        def rows(weights: Weights) -> Array:
            return outputs(weights, states).reshape(-1, *shape)

        out, pull = jax.vjp(rows, params)
        return out, lambda gradient: pull(gradient)[0]

    def times(params: Weights, factor: Array) -> Weights:
        return params._replace(last=factor * params.last)

    return Store(init, read, times)


def _dense(sight: Sight, image: Image, shape: Shape, hidden: tuple[int, ...]) -> Store:
    def outputs(weights: Weights, states: Array | None) -> Array:
        times: Callable[[Array], Array] = partial(sight.times, states)
        for layer in weights.hidden:
            times = jax.nn.relu(times(layer.weight) + layer.bias).__matmul__
        return times(weights.last)

    return network(shape, *_mlp_layers(hidden, image), outputs)


def _mlp_layers(
    hidden: tuple[int, ...], image: Image
) -> tuple[tuple[tuple[Shape, int], ...], tuple[int, int]]:
    size, energy = math.prod(image), image[0] * image[1]
    layers: list[tuple[Shape, int]] = []
    for units in hidden:
        layers.append(((size, units), energy))
        size = energy = units
    return tuple(layers), (size, energy)


def _cnn_layers(
    config: Config, image: Image
) -> tuple[tuple[tuple[Shape, int], ...], tuple[int, int]]:
    height, width, channels = image
    layers: list[tuple[Shape, int]] = []
    energy = config.kernel**2
    for units in config.channels:
        layers.append(((config.kernel, config.kernel, channels, units), energy))
        channels, energy = units, config.kernel**2 * units
    size = height * width * channels
    return tuple(layers), (size, size)


def _cnn(config: Config, n_states: int, sight: Sight, image: Image, shape: Shape) -> Store:
    def outputs(weights: Weights, states: Array | None) -> Array:
        seen = sight.images(states)
        n, height, width, channels = seen.shape
        x = seen.reshape(n, height * width, channels).swapaxes(0, 1)
        for layer in weights.hidden:
            x = jax.nn.relu(convolve(x, layer.weight, (height, width)) + layer.bias)
        return x.swapaxes(0, 1).reshape(n, -1) @ weights.last

    return network(shape, *_cnn_layers(config, image), outputs)


def _table_size(config: Config, n_states: int, image: Image, shape: Shape) -> Size:
    return Size(n_states * math.prod(shape), 0)


def _dense_size(hidden: tuple[int, ...], image: Image, shape: Shape) -> Size:
    layers, below = _mlp_layers(hidden, image)
    parameters = sum(math.prod(weight) + weight[-1] for weight, _ in layers)
    return Size(
        parameters + below[0] * math.prod(shape),
        math.prod(image) + 2 * sum(hidden) + math.prod(shape),
    )


def _cnn_size(config: Config, n_states: int, image: Image, shape: Shape) -> Size:
    layers, below = _cnn_layers(config, image)
    pixels = image[0] * image[1]
    parameters = sum(math.prod(weight) + weight[-1] for weight, _ in layers)
    # Per layer the image, what goes into it and comes out of it as frequencies (some 3 P floats).
    kept = sum(8 * pixels * (weight[-2] + weight[-1]) for weight, _ in layers)
    return Size(parameters + below[0] * math.prod(shape), kept + math.prod(shape))


NETWORKS: Final[Mapping[str, Network]] = MappingProxyType(
    {
        "table": Network(
            "a number of its own for every state",
            ("one_hot",),
            lambda config, n_states, sight, image, shape: table(n_states, shape),
            _table_size,
        ),
        "linear": Network(
            "one linear layer; on a one-hot state the same as the table",
            ("one_hot", "pixels", "normalized_pixels"),
            lambda config, n_states, sight, image, shape: _dense(sight, image, shape, ()),
            lambda config, n_states, image, shape: _dense_size((), image, shape),
            {"q_rule": "adam", "learning_rate": 2e-3},
        ),
        "mlp": Network(
            "hidden layers of --hidden units",
            ("one_hot", "pixels", "normalized_pixels"),
            lambda config, n_states, sight, image, shape: _dense(
                sight, image, shape, config.hidden
            ),
            lambda config, n_states, image, shape: _dense_size(config.hidden, image, shape),
            {"q_rule": "adam", "learning_rate": 2e-4},
            {"discriminator_learning_rate": 2e-3},
        ),
        "cnn": Network(
            "convolutions of --channels and --kernel, then one linear layer (the paper's)",
            ("pixels", "normalized_pixels"),
            _cnn,
            _cnn_size,
            {"q_rule": "adam", "learning_rate": 1e-5},
            {"discriminator_learning_rate": 3e-4},
        ),
    }
)
