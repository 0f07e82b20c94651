"""The training state: one typed pytree. Resuming is loading it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from apart._config import SPECS, Config
from apart._types import Array, Key
from apart.learner.adam import Fitted
from apart.learner.approximators import Params
from apart.learner.model import Model
from apart.learner.replay import Ring


class Learnt(NamedTuple):
    """What a learner knows."""

    discriminator: Any  # what the objective keeps: parameters of logits, counts, ...
    q: Fitted  # parameters of Q
    target_q: Params  # a copy of q's parameters, or None without a target network
    average_q: Params  # the average of q's parameters that is evaluated, or None
    replay: Ring | None  # transitions to sample, if anything learns from them
    model: Model | None  # all known transitions, if Q sweeps over them
    updates: Array  # [] int32: updates made


_BILLION = 10**9


class StepCount(NamedTuple):
    """Environment steps made so far, where an episode can end before its T steps are over."""

    billions: Array  # [] int32
    rest: Array  # [] int32: below a billion
    owed: Array  # [] int32: a part of an update that is due, in `Config.updates_per_steps`

    @classmethod
    def zero(cls) -> StepCount:
        """No step yet."""
        return cls(jnp.int32(0), jnp.int32(0), jnp.int32(0))

    @classmethod
    def of(cls, steps: int) -> StepCount:
        """``steps`` of them, and no update owed."""
        return cls(jnp.int32(steps // _BILLION), jnp.int32(steps % _BILLION), jnp.int32(0))

    def add(self, steps: Array, owed: Array) -> StepCount:
        """After ``steps`` more, less than a billion."""
        rest = self.rest + steps
        full = rest >= _BILLION
        return StepCount(self.billions + full, rest - _BILLION * full, owed)

    def below(self, other: StepCount) -> Array:
        """[] bool whether these are fewer steps than those of ``other``."""
        same = self.billions == other.billions
        return (self.billions < other.billions) | (same & (self.rest < other.rest))

    @property
    def number(self) -> Array:
        """[] float32, about so many."""
        return self.billions * float(_BILLION) + self.rest

    def __int__(self) -> int:
        """Exactly so many; on the host."""
        return int(self.billions) * _BILLION + int(self.rest)


class TrainState(NamedTuple):
    """Everything that changes while training."""

    learnt: Learnt
    iteration: Array  # [] int32: rounds of collecting and updating made
    key: Key  # never consumed: draws are functions of (key, iteration, purpose)
    made: StepCount | None = None  # None: every round makes the same number of steps


class Hyper(NamedTuple):
    """The traced numbers of a configuration: changing one does not compile anew."""

    learning_rate: Array
    discriminator_learning_rate: Array
    discount: Array
    epsilon: Array
    keep: Array
    inverse_temperature: Array
    prior: Array
    fading: Array
    bonus: Array
    optimality: Array
    distance: Array
    init_q: Array
    init_logits: Array
    rounds: Array  # rounds of the whole run; rates may fall towards its end


def hyper_of(config: Config) -> Hyper:
    """The traced fields of ``config`` as float32 scalars."""
    values = {n: getattr(config, n) for n, spec in SPECS.items() if spec.traced}
    values["rounds"] = config.iterations
    return Hyper(**{name: jnp.asarray(value, jnp.float32) for name, value in values.items()})


def to_arrays(state: TrainState) -> dict[str, Any]:
    """The state as NumPy arrays by name (``learnt.q.params``, ...); keys as their raw data."""
    plain = by_name(state._replace(key=jax.random.key_data(state.key)))
    return {name: np.asarray(leaf) for name, leaf in plain.items()}


def by_name(tree: Any) -> dict[str, Any]:
    """The leaves of ``tree`` by their path."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {jax.tree_util.keystr(path, simple=True, separator="."): leaf for path, leaf in leaves}


def from_arrays(like: TrainState, arrays: Mapping[str, Any]) -> TrainState:
    """The state whose `to_arrays` is ``arrays``; ``like`` gives the structure.

    Arrays that an earlier version did not write are as in ``like``.
    """
    plain = like._replace(key=jax.random.key_data(like.key))
    leaves = [jnp.asarray(arrays.get(name, leaf)) for name, leaf in by_name(plain).items()]
    state: TrainState = jax.tree_util.tree_unflatten(jax.tree_util.tree_structure(plain), leaves)
    return state._replace(key=jax.random.wrap_key_data(state.key))


COUNTED = "made."  # names of the arrays of a `StepCount`


def restored(config: Config, like: TrainState, arrays: Mapping[str, Any]) -> TrainState:
    """The state of a checkpoint; versions that did not count made every round of full length."""
    state = from_arrays(like, arrays)
    if state.made is None or any(name.startswith(COUNTED) for name in arrays):
        return state
    return state._replace(made=StepCount.of(int(state.iteration) * config.collection))


def env_steps(config: Config, state: TrainState) -> int:
    """Environment steps made so far."""
    return int(state.iteration) * config.collection if state.made is None else int(state.made)


_OLD_NAMES = {
    "model.times": "model.visits",
    "model.factor": "model.weight",
    "replay.rows": "replay",
}


def from_0_1(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The arrays of a checkpoint of version 0.1 under today's names and in today's shapes."""
    found = {}
    for name, array in arrays.items():
        if name in ("iteration", "key"):
            found[name] = array
            continue
        renamed = _OLD_NAMES.get(name, name)
        found[f"learnt.{renamed}"] = array[:, None] if renamed.startswith("model.") else array
    prefix = "learnt.discriminator."
    now = found.pop(f"{prefix}optimiser.now", None)
    if now is not None:  # counts
        found[f"{prefix}table"] = found.pop(f"{prefix}params")
        rows = found.pop(f"{prefix}optimiser.row")
        found[f"{prefix}faded"] = (now - rows).astype(np.float32)
    return found
