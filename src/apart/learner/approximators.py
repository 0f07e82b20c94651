"""How numbers per observation are kept and computed: the seam between tables and networks.

An `Approximator` has parameters of its own kind. ``read`` gives the numbers of some observations
(or of all states) and a pullback that turns a gradient with respect to those numbers into one with
respect to the parameters. All losses are written in terms of such rows, so that nothing else knows
how they come about. The skill is always an output: a row holds the numbers of all skills.

A network starts so that its numbers are spread like those of a table: hidden units keep a mean
square of 1 (the sum of squares of an observation is its number of pixels), the last layer is
uniform in +- scale / sqrt(units below). ``linear`` on a one-hot state IS the table. The last layer
has a bias where the form says so (``table+bias``, ``linear+bias``): a row that all observations
share, uniform in +- scale at the start, so that what was never seen inherits what is known.

To add one, write its layers and one entry in ``NETWORKS``. Does not import JAX until used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from apart._errors import UserError, unknown
from apart._lazy import jax, jnp
from apart._types import Array, Image, Key, Obs, Sight
from apart.learner import groups
from apart.learner.convolution import convolve

Params = Any  # a pytree of arrays
Shape = tuple[int, ...]
Pullback = Callable[[Array], Params]
_BIAS: Final = "+bias"
_MOST_LAYERS: Final = 32
_MOST_UNITS: Final = 1_000_000
_MOST_KERNEL: Final = 99


def _less(params: Params, change: Params) -> Params:
    return jax.tree.map(jnp.subtract, params, change)


def _by_columns(skills: Array, params: Params, earlier: Params) -> Params:
    """`Approximator.of_skills` where the last axis has a column for each skill, K by K."""

    def one(now: Array, was: Array) -> Array:
        return jnp.where(jnp.tile(skills, now.shape[-1] // skills.shape[0]), now, was)

    return jax.tree.map(one, params, earlier)


class Approximator(NamedTuple):
    """How rows of numbers, one per observation, are parametrised."""

    init: Callable[[Key, Array], Params]  # (key, scale) -> parameters
    read: Callable[[Params, Obs | None], tuple[Array, Pullback]]
    # (parameters, observations [n, ...] or None for all states) -> rows [n, *shape], pullback
    scaled: Callable[[Params, Array], Params]  # parameters whose rows are a factor times as large
    read_own: Callable[[Params, Obs, Array], tuple[Array, Pullback]] | None = None
    # (parameters, observations, an action of each [n]) -> [n, K] that of rows [n, A, K], pullback;
    # None where that is no less work than all
    of_skills: Callable[[Array, Params, Params], Params] | None = None
    # (skills [K] bool, parameters, earlier ones) -> these for those skills, the earlier ones for
    # all others, where rows end in K; None where skills share parameters
    slots: Callable[[Params], Params] = lambda params: params  # what gradients look like
    moved: Callable[[Params, Params], Params] = _less  # (parameters, change) -> those after it


class Layer(NamedTuple):
    """Weights of a hidden layer."""

    weight: Array
    bias: Array


class Weights(NamedTuple):
    """Parameters of a network."""

    hidden: tuple[Layer, ...]
    last: Array  # [units below, numbers of a row]
    bias: Array | None = None  # [numbers of a row]


class Size(NamedTuple):
    """What a network needs, for the check of the memory."""

    parameters: int
    floats_per_row: int  # that are kept of one observation for the way back


class Term(NamedTuple):
    """What the numbers of a table depend on; they are the same along all else."""

    state: bool
    action: bool
    skill: bool


_ALL: Final = Term(state=True, action=True, skill=True)
_ROW: Final = Term(state=False, action=True, skill=True)
_ACTION: Final = Term(state=False, action=True, skill=False)


class Form(NamedTuple):
    """A network as the user wrote it: ``mlp:256,256``, ``cnn:32,64,128:5``, ``table+bias``."""

    kind: str
    sizes: tuple[int, ...] = ()
    kernel: int = 0
    bias: bool = False

    def __str__(self) -> str:
        sizes = ",".join(map(str, self.sizes))
        words = ":".join(filter(None, (self.kind, sizes, str(self.kernel or ""))))
        return words + _BIAS * self.bias

    @property
    def is_table(self) -> bool:
        """Whether its parameters are the numbers themselves: cells that can be moved one by one."""
        return NETWORKS[self.kind].terms == (_ALL,) and not self.bias


@dataclass(frozen=True)
class Network:
    """A way to compute rows.

    Attributes:
        summary: one line for people.
        build: (form, sight, row shape) -> Approximator.
        size: (form, sight, row shape) -> Size.
        sizes: units of its layers unless the user says; empty where it has none.
        kernel: side of its kernels unless the user says; 0 where it has none.
        terms: of a network that reads the numbers of states: the tables that it is the sum of.
        bias: what its bias depends on.
        of_images: it reads images, nothing else.
        q_rate: rate of Q where Q is such a network, no plain table, and the user says nothing.
        logits_rate: the same for the discriminator.
    """

    summary: str
    build: Callable[[Form, Sight, Shape], Approximator]
    size: Callable[[Form, Sight, Shape], Size]
    sizes: tuple[int, ...] = ()
    kernel: int = 0
    terms: tuple[Term, ...] = ()
    bias: Term = _ROW
    of_images: bool = False
    q_rate: Mapping[str, Any] = field(default_factory=dict)
    logits_rate: Mapping[str, Any] = field(default_factory=dict)

    @property
    def of_states(self) -> bool:
        """Whether it reads the numbers of states, nothing else."""
        return bool(self.terms)

    @property
    def only_q(self) -> bool:
        """Whether it tells actions from skills: then logits cannot be computed so."""
        return any(term.action != term.skill for term in (*self.terms, self.bias))


def table(n_states: int, shape: Shape) -> Approximator:
    """A plain table, uniform in +- scale at the start."""

    def init(key: Key, scale: Array) -> Array:
        return jax.random.uniform(key, (n_states, *shape), minval=-scale, maxval=scale)

    def read(params: Array, states: Obs | None) -> tuple[Array, Pullback]:
        if states is None:
            return params, lambda gradient: gradient
        return params[states], lambda gradient: jnp.zeros_like(params).at[states].add(gradient)

    return Approximator(
        init, read, scaled=lambda params, factor: factor * params, of_skills=_by_columns
    )


def tables(n_states: int, shape: Shape, terms: Sequence[Term]) -> Approximator:
    """The sum of tables, each uniform in +- scale at the start.

    The parameters are the sum alone: a step changes it by the sum of what each table would change,
    so that it is read as fast as one table. Only the optimiser knows the parts.

    Args:
        n_states: number of states.
        shape: of a row; [A, K] where a term tells actions from skills.
        terms: what the numbers of each table depend on.
    """

    def size(term: Term) -> Shape:
        alike = term.action == term.skill
        row = shape if alike else (shape[0] * term.action or 1, shape[1] * term.skill or 1)
        return (n_states if term.state else 1, *row)

    sizes = [size(term) for term in terms]

    def init(key: Key, scale: Array) -> Array:
        drawn = [
            jax.random.uniform(k, one, minval=-scale, maxval=scale)
            for k, one in zip(jax.random.split(key, len(terms)), sizes, strict=True)
        ]
        return reduce(jnp.add, drawn)

    def read(params: Array, states: Obs | None) -> tuple[Array, Pullback]:
        def parts(gradient: Array) -> tuple[Array, ...]:
            return tuple(
                gradient.sum([a for a, n in enumerate(one) if n < gradient.shape[a]], keepdims=True)
                for one in sizes
            )

        if states is None:
            return params, parts
        return params[states], lambda gradient: parts(
            jnp.zeros_like(params).at[states].add(gradient)
        )

    return Approximator(
        init,
        read,
        scaled=lambda params, factor: factor * params,
        of_skills=_by_columns,
        slots=lambda params: tuple(jnp.zeros(one) for one in sizes),
        moved=lambda params, change: params - reduce(jnp.add, change),
    )


def network(
    shape: Shape,
    hidden: tuple[tuple[Shape, int], ...],
    below: tuple[int, int],
    bias: bool,
    outputs: Callable[[Weights, Obs | None], Array],
    inputs: Callable[[Weights, Obs], Array],
) -> Approximator:
    """Hidden layers, then one linear layer.

    Args:
        shape: of a row.
        hidden: per hidden layer the shape of its weight and the sum of squares of its inputs.
        below: inputs of the last layer, and their sum of squares.
        bias: whether the last layer has one.
        outputs: (weights, observations [n, ...] or None for all states) -> [n, numbers of a row].
        inputs: (weights, observations) -> [n, units] what the last layer reads.
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
        if not bias:
            return Weights(tuple(layers), last)
        key_bias = jax.random.fold_in(key_last, 1)
        shared = jax.random.uniform(key_bias, (n_out,), minval=-scale, maxval=scale)
        return Weights(tuple(layers), last, shared)

    def read(params: Weights, obs: Obs | None) -> tuple[Array, Pullback]:
        def rows(weights: Weights) -> Array:
            numbers = outputs(weights, obs)
            if weights.bias is not None:
                numbers = numbers + weights.bias
            return numbers.reshape(-1, *shape)

        out, pull = jax.vjp(rows, params)
        return out, lambda gradient: pull(gradient)[0]

    def read_own(params: Weights, obs: Obs, action: Array) -> tuple[Array, Pullback]:
        def rows(weights: Weights) -> Array:
            last = weights.last.reshape(-1, *shape)
            numbers = groups.own_rows(inputs(weights, obs), last, action)
            if weights.bias is not None:
                numbers = numbers + weights.bias.reshape(shape)[action]
            return numbers

        out, pull = jax.vjp(rows, params)
        return out, lambda gradient: pull(gradient)[0]

    def scaled(params: Weights, factor: Array) -> Weights:
        scaled_bias = None if params.bias is None else factor * params.bias
        return params._replace(last=factor * params.last, bias=scaled_bias)

    own = read_own if len(shape) == 2 else None
    return Approximator(init, read, scaled, own, of_skills=None if hidden else _by_columns)


def _states(form: Form, sight: Sight, shape: Shape) -> Approximator:
    assert sight.n_states is not None  # `of_states`
    if form.is_table:
        return table(sight.n_states, shape)
    return tables(sight.n_states, shape, _terms(form))


def _terms(form: Form) -> tuple[Term, ...]:
    known = NETWORKS[form.kind]
    return (*known.terms, known.bias) if form.bias else known.terms


def _dense(form: Form, sight: Sight, shape: Shape) -> Approximator:
    def outputs(weights: Weights, obs: Obs | None) -> Array:
        product: Callable[[Array], Array] = partial(sight.product, obs)
        for layer in weights.hidden:
            product = jax.nn.relu(product(layer.weight) + layer.bias).__matmul__
        return product(weights.last)

    def inputs(weights: Weights, obs: Obs) -> Array:
        if not weights.hidden:
            seen = sight.images(obs)
            return seen.reshape(seen.shape[0], -1)
        first, *others = weights.hidden
        x = jax.nn.relu(sight.product(obs, first.weight) + first.bias)
        for layer in others:
            x = jax.nn.relu(x @ layer.weight + layer.bias)
        return x

    return network(shape, *_dense_layers(form, sight.image), form.bias, outputs, inputs)


def _dense_layers(
    form: Form, image: Image
) -> tuple[tuple[tuple[Shape, int], ...], tuple[int, int]]:
    size, energy = math.prod(image), image[0] * image[1]
    layers: list[tuple[Shape, int]] = []
    for units in form.sizes:
        layers.append(((size, units), energy))
        size = energy = units
    return tuple(layers), (size, energy)


def _cnn_layers(form: Form, image: Image) -> tuple[tuple[tuple[Shape, int], ...], tuple[int, int]]:
    height, width, channels = image
    layers: list[tuple[Shape, int]] = []
    energy = form.kernel**2
    for units in form.sizes:
        layers.append(((form.kernel, form.kernel, channels, units), energy))
        channels, energy = units, form.kernel**2 * units
    size = height * width * channels
    return tuple(layers), (size, size)


def _cnn(form: Form, sight: Sight, shape: Shape) -> Approximator:
    def inputs(weights: Weights, obs: Obs | None) -> Array:
        seen = sight.images(obs)
        n, height, width, channels = seen.shape
        x = seen.reshape(n, height * width, channels).swapaxes(0, 1)
        for layer in weights.hidden:
            x = jax.nn.relu(convolve(x, layer.weight, (height, width)) + layer.bias)
        return x.swapaxes(0, 1).reshape(n, -1)

    def outputs(weights: Weights, obs: Obs | None) -> Array:
        return inputs(weights, obs) @ weights.last

    return network(shape, *_cnn_layers(form, sight.image), form.bias, outputs, inputs)


def _states_size(form: Form, sight: Sight, shape: Shape) -> Size:
    return Size((sight.n_states or 0) * math.prod(shape), 0)


def _dense_size(form: Form, sight: Sight, shape: Shape) -> Size:
    layers, below = _dense_layers(form, sight.image)
    parameters = sum(math.prod(weight) + weight[-1] for weight, _ in layers)
    return Size(
        parameters + below[0] * math.prod(shape),
        math.prod(sight.image) + 2 * sum(form.sizes) + math.prod(shape),
    )


def _cnn_size(form: Form, sight: Sight, shape: Shape) -> Size:
    layers, below = _cnn_layers(form, sight.image)
    pixels = sight.image[0] * sight.image[1]
    parameters = sum(math.prod(weight) + weight[-1] for weight, _ in layers)
    # Per layer the image, what goes into it and comes out of it as frequencies (some 3 P floats).
    kept = sum(8 * pixels * (weight[-2] + weight[-1]) for weight, _ in layers)
    return Size(parameters + below[0] * math.prod(shape), kept + math.prod(shape))


_LINEAR: Final = MappingProxyType({"learning_rate": 2e-3})
NETWORKS: Final[Mapping[str, Network]] = MappingProxyType(
    {
        "table": Network(
            "a number of its own for every state",
            _states,
            _states_size,
            terms=(_ALL,),
            q_rate=_LINEAR,
        ),
        "joint": Network(
            "the table of Q as one layer on state and skill as one input: its bias is per action",
            _states,
            _states_size,
            terms=(_ALL,),
            bias=_ACTION,
            q_rate=_LINEAR,
        ),
        "additive": Network(
            "Q as one layer on state and skill side by side: A(s, a) + B(z, a)",
            _states,
            _states_size,
            terms=(Term(state=True, action=True, skill=False), _ROW),
            bias=_ACTION,
            q_rate=_LINEAR,
        ),
        "linear": Network(
            "one linear layer; on a one-hot state the same as the table",
            _dense,
            _dense_size,
            q_rate=_LINEAR,
        ),
        "mlp": Network(
            "hidden layers (mlp:256,256)",
            _dense,
            _dense_size,
            sizes=(256, 256),
            q_rate={"learning_rate": 2e-4},
            logits_rate={"discriminator_learning_rate": 2e-3},
        ),
        "cnn": Network(
            "convolutions, then one linear layer (cnn:32,64,128:5, the paper's)",
            _cnn,
            _cnn_size,
            sizes=(32, 64, 128),
            kernel=5,
            of_images=True,
            q_rate={"learning_rate": 1e-5},
            logits_rate={"discriminator_learning_rate": 3e-4},
        ),
    }
)


def parse(text: str) -> tuple[Form, Form]:
    """The networks of Q and of the logits, from ``mlp:256,256`` or ``table/mlp:2300``.

    Raises:
        UserError: an unknown network, or sizes that it cannot have.
    """
    parts = text.split("/")
    if len(parts) > 2:
        raise UserError(f"--network {text}: at most two, that of Q and that of the logits")
    forms = [_form(part) for part in parts]
    return forms[0], forms[-1]


def _form(text: str) -> Form:
    shape = text.removesuffix(_BIAS)
    kind, *rest = shape.split(":")
    if kind not in NETWORKS:
        raise unknown("network", kind, NETWORKS)
    known = NETWORKS[kind]
    if len(rest) > bool(known.sizes) + bool(known.kernel):
        raise UserError(f"--network {text}: {kind} has no such sizes ({known.summary})")
    sizes, kernel = known.sizes, known.kernel
    if rest:
        sizes = tuple(_whole(text, word, _MOST_UNITS) for word in rest[0].split(","))
        if len(sizes) > _MOST_LAYERS:
            raise UserError(f"--network {text}: more than {_MOST_LAYERS} layers")
    if rest[1:]:
        kernel = _whole(text, rest[1], _MOST_KERNEL)
        if kernel % 2 == 0:
            raise UserError(f"--network {text}: kernels of {kernel} are even; use {kernel + 1}")
    form = Form(kind, sizes, kernel, bias=shape != text)
    if form.is_table and known.only_q:
        raise UserError(f"--network {text}: without a bias that is the same as table; {text}+bias")
    return form


def _whole(text: str, word: str, most: int) -> int:
    if not word.isdecimal() or len(word) > 12:
        raise UserError(f"--network {text}: '{word}' is not a whole number")
    if not 1 <= int(word) <= most:
        raise UserError(f"--network {text}: {word} is outside 1 to {most}")
    return int(word)


def written(q: Form, logits: Form) -> str:
    """What `parse` reads as these two, in one form."""
    return str(q) if q == logits else f"{q}/{logits}"
