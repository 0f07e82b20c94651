"""Tables and networks by name: how users write them, how large they are, and what they compute.

To add one, write its layers and one entry in ``NETWORKS``. Does not import JAX until used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from apart._errors import UserError, unknown
from apart._lazy import jax
from apart._types import Array, Image, Obs, Sight
from apart.learner.approximators import Approximator, Shape, Term, Weights, network, table, tables
from apart.learner.convolution import convolve

_BIAS: Final = "+bias"
_MOST_LAYERS: Final = 32
_MOST_UNITS: Final = 1_000_000
_MOST_KERNEL: Final = 99


class Size(NamedTuple):
    """What a network needs, for the check of the memory."""

    parameters: int
    floats_per_row: int  # that are kept of one observation for the way back


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
            "an entry for every state",
            _states,
            _states_size,
            terms=(_ALL,),
            q_rate=_LINEAR,
        ),
        "joint": Network(
            "the table of Q as one layer on the pair (state, skill); its bias is per action",
            _states,
            _states_size,
            terms=(_ALL,),
            bias=_ACTION,
            q_rate=_LINEAR,
        ),
        "additive": Network(
            "Q as one layer on state and skill, concatenated: A(s, a) + B(z, a)",
            _states,
            _states_size,
            terms=(Term(state=True, action=True, skill=False), _ROW),
            bias=_ACTION,
            q_rate=_LINEAR,
        ),
        "linear": Network(
            "one linear layer; equal to table on one-hot states",
            _dense,
            _dense_size,
            q_rate=_LINEAR,
        ),
        "mlp": Network(
            "hidden layers, as in mlp:256,256",
            _dense,
            _dense_size,
            sizes=(256, 256),
            q_rate={"learning_rate": 2e-4},
            logits_rate={"discriminator_learning_rate": 2e-3},
        ),
        "cnn": Network(
            "convolutions, then one linear layer, as in cnn:32,64,128:5 (the paper's)",
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
