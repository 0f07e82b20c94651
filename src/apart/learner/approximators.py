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

Which there are by name is in `networks`. Does not import JAX until used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, Final, NamedTuple

from apart._lazy import jax, jnp
from apart._types import Array, Key, Obs
from apart.learner import groups

_MOST_UNITS: Final = 1024  # below the last layer: each number that is picked brings so many weights
Params = Any  # a pytree of arrays
Shape = tuple[int, ...]
Pullback = Callable[[Array], Params]


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
    read_at: Callable[[Params, Obs, Array], tuple[Array, Pullback]] | None = None
    # (parameters, observations, numbers of each [n, m]) -> [n, m] these of rows as they lie in
    # memory, pullback; None where that is no less work than all
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


class Term(NamedTuple):
    """What the numbers of a table depend on; they are the same along all else."""

    state: bool
    action: bool
    skill: bool


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


def _with_pullback(rows: Callable[[Weights], Array], params: Weights) -> tuple[Array, Pullback]:
    """``rows`` of ``params``, and how a gradient by them becomes one by the parameters."""
    out, pull = jax.vjp(rows, params)
    return out, lambda gradient: pull(gradient)[0]


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

        return _with_pullback(rows, params)

    def read_own(params: Weights, obs: Obs, action: Array) -> tuple[Array, Pullback]:
        def rows(weights: Weights) -> Array:
            last = weights.last.reshape(-1, *shape)
            numbers = groups.own_rows(inputs(weights, obs), last, action)
            if weights.bias is not None:
                numbers = numbers + weights.bias.reshape(shape)[action]
            return numbers

        return _with_pullback(rows, params)

    def read_at(params: Weights, obs: Obs, at: Array) -> tuple[Array, Pullback]:
        def rows(weights: Weights) -> Array:
            # Rows of the transposed layer lie together; its columns would be gathered one by one.
            picked = weights.last.T[at]  # [n, m, units]
            numbers = jnp.einsum("nmh,nh->nm", picked, inputs(weights, obs))
            return numbers if weights.bias is None else numbers + weights.bias[at]

        return _with_pullback(rows, params)

    def scaled(params: Weights, factor: Array) -> Weights:
        scaled_bias = None if params.bias is None else factor * params.bias
        return params._replace(last=factor * params.last, bias=scaled_bias)

    return Approximator(
        init,
        read,
        scaled,
        read_own=read_own if len(shape) == 2 else None,
        read_at=read_at if below[0] <= _MOST_UNITS else None,
        of_skills=None if hidden else _by_columns,
    )
