"""The configuration of a run: one frozen dataclass, from which the command line is derived.

Names and shapes are static (a change compiles anew); numbers marked ``traced`` are arguments of
the compiled chunk, so that a sweep over them compiles once. Knows nothing of worlds or methods:
`settings` puts those together.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from dataclasses import dataclass
from typing import Any

from apart._errors import UserError


@dataclass(frozen=True)
class Spec:
    """What an option takes: its help, its range, the kind of name it is, static or traced."""

    help: str
    low: float = -math.inf
    high: float = math.inf
    kind: str = ""
    traced: bool = False


def _option(default: Any, help: str, **spec: Any) -> Any:
    return dataclasses.field(default=default, metadata={"spec": Spec(help, **spec)})


@dataclass(frozen=True)
class Config:
    """Everything that decides the bits of a run. Unset fields keep the paper's values."""

    world: str = _option("four_rooms", "a world's name or the path of a text map", kind="world")
    method: str = _option("apart", "name of a method", kind="method")
    seed: int = _option(0, "random seed", low=0, high=2**31 - 1)
    steps: int = _option(5_000_000, "environment steps (5000000, 5M, 200k)", low=1, high=1e13)
    skills: int = _option(100, "number of skills K", low=2, high=100_000)
    horizon: int = _option(0, "steps of an episode T; 0 takes the world's own", low=0, high=100_000)
    batch: int = _option(640, "samples per update", low=1, high=10_000_000)
    buffer: int = _option(
        50_000, "transitions kept for replay (whole episodes)", low=1, high=1_000_000_000
    )
    learning_rate: float = _option(2e-3, "Adam rate of Q", low=0, high=1e3, traced=True)
    discriminator_learning_rate: float = _option(
        2e-3, "Adam rate of the discriminator", low=0, high=1e3, traced=True
    )
    discount: float = _option(0.99, "discount gamma", low=0, high=1, traced=True)
    epsilon: float = _option(1e-3, "probability of a random action", low=0, high=1, traced=True)
    evaluation_epsilon: float = _option(
        0.0, "probability of a random action when evaluating", low=0, high=1
    )
    episodes_per_update: int = _option(1, "episodes before each update", low=1, high=100_000)
    updates_per_episode: int = _option(1, "updates after each episode", low=0, high=100_000)
    discriminator: str = _option("all_pairs", "form of the discriminator", kind="discriminator")
    reward: str = _option("min_pairs", "intrinsic reward", kind="reward")
    time_weight: str = _option("square", "weight of step t", kind="time weight")
    dropout: bool = _option(False, "keep the reward with probability W(t) instead of times W(t)")
    inverse_temperature: float = _option(
        1.0, "beta in softmax(beta o); of counts 1 / prior", low=0, high=1e6, traced=True
    )
    temperature_in_loss: bool = _option(True, "beta also in the discriminator's loss")
    discriminator_states: str = _option(
        "all", "states that train the discriminator", kind="discriminator states"
    )
    reward_state: str = _option(
        "next", "state that discriminator and reward see", kind="reward state"
    )
    bootstrap_last: bool = _option(False, "bootstrap past the last step of an episode")
    target_period: int = _option(
        0, "updates between copies to a target network; 0 has none", low=0, high=10**9
    )
    init_q: float = _option(0.01, "initial Q uniform in +- this", low=0, high=1e6, traced=True)
    init_logits: float = _option(
        0.1, "initial logits uniform in +- this", low=0, high=1e6, traced=True
    )
    share_transitions: bool = _option(False, "each transition teaches all skills, not one")
    q_rule: str = _option("adam", "how Q moves", kind="q rule")
    sweep: bool = _option(False, "Q learns from every known transition at once, not from a batch")
    update_every: int = _option(
        0, "environment steps per update, for any T; 0 counts episodes", low=0, high=1e9
    )
    logit_decay: float = _option(
        0.0, "share of the logits that fades at each update", low=0, high=1, traced=True
    )
    anneal: bool = _option(False, "both rates fall linearly to 0 over the run")
    average_rate: float = _option(
        0.0, "evaluate an average of Q that moves so much a round; 0 evaluates Q", low=0, high=1
    )
    observation: str = _option("one_hot", "what networks see of a state", kind="observation")
    pixels_per_cell: int = _option(1, "pixels along the side of a cell", low=1, high=64)
    network: str = _option("table", "how Q and logits are computed", kind="network")
    discriminator_network: str = _option(
        "same", "how logits alone are computed", kind="discriminator network"
    )
    hidden: tuple[int, ...] = _option(
        (256, 256), "units of the hidden layers of an mlp", low=1, high=1_000_000
    )
    channels: tuple[int, ...] = _option(
        (32, 64, 128), "channels of the layers of a cnn", low=1, high=100_000
    )
    kernel: int = _option(5, "side of a cnn's kernels, odd", low=1, high=99)
    network_rows: str = _option(
        "auto", "what networks are run on at an update", kind="network rows"
    )
    evaluate_every: int = _option(25_000, "environment steps between evaluations", low=1, high=1e13)

    def fingerprint(self) -> str:
        """SHA-256 of all fields, in a canonical form."""
        text = json.dumps(dataclasses.asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def collection(self) -> int:
        """Transitions between two rounds of updates."""
        return self.episodes_per_update * self.horizon

    @property
    def iterations(self) -> int:
        """Rounds of collecting and updating that make at least ``steps`` environment steps."""
        return -(-self.steps // self.collection)

    @property
    def evaluate_iterations(self) -> int:
        """Rounds between two evaluations."""
        return max(self.evaluate_every // self.collection, 1)

    def next_evaluation(self, iteration: int) -> int:
        """The round after ``iteration`` in which the skills are evaluated next."""
        every = self.evaluate_iterations
        return min((iteration // every + 1) * every, self.iterations)

    def static(self) -> tuple[tuple[str, Any], ...]:
        """What decides the compiled program, as a hashable key (seed and lengths do not)."""
        skip = {"world", "method", "seed", "steps", "evaluate_every"}
        return tuple(
            (name, getattr(self, name))
            for name, spec in SPECS.items()
            if not spec.traced and name not in skip
        )


SPECS: dict[str, Spec] = {f.name: f.metadata["spec"] for f in dataclasses.fields(Config)}
TYPES: dict[str, type] = {f.name: type(f.default) for f in dataclasses.fields(Config)}


def flag(name: str) -> str:
    """The command line's spelling of a field: ``learning_rate`` -> ``--learning-rate``."""
    return "--" + name.replace("_", "-")


_MOST_LAYERS = 32


def _check_sizes(name: str, value: Any) -> tuple[int, ...]:
    """Whole numbers in the field's range, from a list or from text such as ``32,64,128``."""
    spec = SPECS[name]
    words = value.split(",") if isinstance(value, str) else value
    if not isinstance(words, list | tuple) or not 1 <= len(words) <= _MOST_LAYERS:
        raise UserError(f"{flag(name)}: {_shown(value)} is not a list such as 32,64,128")
    sizes = []
    for word in words:
        text = str(word).strip()
        if isinstance(word, bool) or not text.isdecimal() or len(text) > 12:
            raise UserError(f"{flag(name)}: {_shown(word)} is not a whole number")
        if not spec.low <= int(text) <= spec.high:
            raise UserError(f"{flag(name)}: {text} is outside {spec.low:g} to {spec.high:g}")
        sizes.append(int(text))
    return tuple(sizes)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 40 else text[:36] + "..."


def check_value(name: str, value: Any) -> Any:
    """``value`` in the field's type and range, or `UserError` naming the flag."""
    spec, expected = SPECS[name], TYPES[name]
    if expected is tuple:
        return _check_sizes(name, value)
    if expected is int and isinstance(value, float) and value.is_integer():
        value = int(value)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    shown = _shown(value)
    if not (number if expected is float else type(value) is expected):
        words = {int: "a whole number", float: "a number", bool: "true or false", str: "a name"}
        raise UserError(f"{flag(name)}: {shown} is not {words[expected]}")
    if number:
        if isinstance(value, float) and not math.isfinite(value):
            raise UserError(f"{flag(name)}: {shown} is not a finite number")
        if not spec.low <= value <= spec.high:
            raise UserError(f"{flag(name)}: {shown} is outside {spec.low:g} to {spec.high:g}")
    return float(value) if expected is float else value
