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
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, TypedDict

from apart._errors import UserError, unknown


@dataclass(frozen=True)
class OptionSpec:
    """What an option takes: help, its group there, range, the kind of name, whether ``auto``."""

    help: str
    group: str = ""
    low: float = -math.inf
    high: float = math.inf
    kind: str = ""
    traced: bool = False
    auto: bool = False


EVERYDAY, OBJECTIVE, LEARNING, NETWORKS = "common", "objective", "learning", "networks"


def _option(default: Any, help: str, group: str, **spec: Any) -> Any:
    return dataclasses.field(default=default, metadata={"spec": OptionSpec(help, group, **spec)})


@dataclass(frozen=True)
class Config:
    """Everything that decides the bits of a run in its world. Unset fields keep the paper's values.

    Defaults do not change: a run's identity is what differs from them.
    """

    method: str = _option("apart", "method to train", EVERYDAY, kind="method")
    steps: int = _option(
        5_000_000, "environment steps in total, such as 200k or 5M", EVERYDAY, low=1, high=1e13
    )
    seed: int = _option(0, "random seed", EVERYDAY, low=0, high=2**31 - 1)
    skills: int = _option(
        100,
        "number of skills K; auto: one for every cell that can be reached",
        EVERYDAY,
        low=2,
        high=100_000,
        auto=True,
    )
    horizon: int = _option(
        0,
        "steps per episode T; 0: the world's own; auto: twice the distance to the farthest cell, "
        "outside tables the world's own",
        EVERYDAY,
        low=0,
        high=100_000,
        auto=True,
    )
    hold: int = _option(
        1,
        "repeat each action for N environment steps; the agent decides T / N times",
        EVERYDAY,
        low=1,
        high=100_000,
    )
    evaluate_every: int = _option(
        25_000, "environment steps between evaluations", EVERYDAY, low=1, high=1e13
    )
    objective: str = _option("told_apart", "source of the rewards", OBJECTIVE, kind="objective")
    discriminator: str = _option(
        "all_pairs", "kind of discriminator", OBJECTIVE, kind="discriminator"
    )
    reward: str = _option("min_pairs", "intrinsic reward", OBJECTIVE, kind="reward")
    context: str = _option("next", "state that the discriminator sees", OBJECTIVE, kind="context")
    time_weight: str = _option(
        "square", "weight W(t) of the reward at step t", OBJECTIVE, kind="time weight"
    )
    dropout: bool = _option(
        False, "keep a reward with probability W(t) instead of multiplying it by W(t)", OBJECTIVE
    )
    keep: float = _option(
        0.5,
        "probability of keeping a reward with --dropout where W(t) does not increase",
        OBJECTIVE,
        low=0,
        high=1,
        traced=True,
    )
    inverse_temperature: float = _option(
        1.0, "inverse temperature beta in softmax(beta o)", OBJECTIVE, low=0, high=1e6, traced=True
    )
    prior: float = _option(
        1.0, "pseudo-count of a counting discriminator", OBJECTIVE, low=1e-6, high=1e6, traced=True
    )
    fading: float = _option(
        0.0,
        "fraction that the discriminator forgets: of logits per update, of counts per K episodes",
        OBJECTIVE,
        low=0,
        high=1,
        traced=True,
    )
    bonus: float = _option(
        1.0,
        "weight of the bonus that is added to the reward",
        OBJECTIVE,
        low=0,
        high=1e6,
        traced=True,
    )
    optimality: float = _option(
        0.9,
        "fraction of a task's best return: skills of domino must keep it; smerl rewards skills for "
        "being different from there on",
        OBJECTIVE,
        low=0,
        high=2,
        traced=True,
    )
    distance: float = _option(
        0.0,
        "target distance between the state occupancies of skills in domino (two skills that stay "
        "in one state each: 1.41); 0: as large as possible",
        OBJECTIVE,
        low=0,
        high=1.42,
        traced=True,
    )
    batch: int = _option(640, "batch size of an update", LEARNING, low=1, high=10_000_000)
    buffer: int = _option(
        50_000,
        "size of the replay buffer in transitions, as whole episodes",
        LEARNING,
        low=1,
        high=1_000_000_000,
    )
    learning_rate: float = _option(
        2e-3, "learning rate of Q", LEARNING, low=0, high=1e3, traced=True
    )
    discriminator_learning_rate: float = _option(
        2e-3, "learning rate of the discriminator's Adam", LEARNING, low=0, high=1e3, traced=True
    )
    anneal: bool = _option(False, "decay learning rates linearly to 0 over the run", LEARNING)
    discount: float = _option(0.99, "discount factor gamma", LEARNING, low=0, high=1, traced=True)
    epsilon: float = _option(
        1e-3, "probability of a random action", LEARNING, low=0, high=1, traced=True
    )
    episodes_per_update: int = _option(
        1, "episodes collected before each update", LEARNING, low=1, high=100_000
    )
    one_skill: bool = _option(
        False,
        "use one skill for all episodes before an update, as the paper's Algorithm 2",
        LEARNING,
    )
    updates_per_episode: int = _option(
        1,
        "updates after each episode, or after each --episodes-per-update of them",
        LEARNING,
        low=0,
        high=100_000,
    )
    q_rule: str = _option(
        "adam", "update rule of Q, and the transitions that it uses", LEARNING, kind="q rule"
    )
    bootstrap_last: bool = _option(
        False, "bootstrap from the state after the last step of an episode", LEARNING
    )
    target_period: int = _option(
        0, "updates between copies to the target network; 0: none", LEARNING, low=0, high=10**9
    )
    average_rate: float = _option(
        0.0,
        "evaluate a moving average of Q with this rate; 0: Q itself",
        LEARNING,
        low=0,
        high=1,
    )
    init_q: float = _option(
        0.01, "initial Q is uniform in +- this", LEARNING, low=0, high=1e6, traced=True
    )
    init_logits: float = _option(
        0.1, "initial logits are uniform in +- this", LEARNING, low=0, high=1e6, traced=True
    )
    observation: str = _option(
        "auto", "what networks see of a state; pixels:4 draws 4 x 4 pixels per cell", NETWORKS
    )
    network: str = _option(
        "auto",
        "form of Q and of the logits: table, linear, mlp or cnn, with sizes as in mlp:256,256 or "
        "cnn:32,64,128 (cnn:32,64:3: kernels of 3 x 3); +bias adds a bias to the last layer; "
        "Q/LOGITS names both, as in table/mlp:2300",
        NETWORKS,
    )

    def differing(self) -> dict[str, Any]:
        """The fields that are not at their defaults: an option added later changes nothing."""
        found = dataclasses.asdict(self)
        return {name: value for name, value in found.items() if value != getattr(type(self), name)}

    def fingerprint(self) -> str:
        """SHA-256 of what differs from the defaults, in a canonical form."""
        return hashlib.sha256(json.dumps(self.differing(), sort_keys=True).encode()).hexdigest()

    @property
    def decisions(self) -> int:
        """Actions that are chosen in an episode; ``hold`` divides ``horizon``."""
        return self.horizon // self.hold

    @property
    def collection(self) -> int:
        """Environment steps between two rounds of updates."""
        return self.episodes_per_update * self.horizon

    @property
    def transitions(self) -> int:
        """What those are to a learner: a transition a decision."""
        return self.episodes_per_update * self.decisions

    @property
    def iterations(self) -> int:
        """Rounds of collecting and updating that make at least ``steps`` environment steps."""
        return -(-self.steps // self.collection)

    @property
    def total_steps(self) -> int:
        """Environment steps of the whole run where no episode ends early: in full rounds."""
        return self.iterations * self.collection

    @property
    def evaluation_interval(self) -> int:
        """Environment steps between two evaluations, in rounds of full length."""
        return max(self.evaluate_every // self.collection, 1) * self.collection

    @property
    def updates_per_steps(self) -> tuple[int, int]:
        """So many updates in so many steps, without a common divisor."""
        common = math.gcd(self.updates_per_episode, self.collection)
        return self.updates_per_episode // common, self.collection // common

    def updates_after(self, env_steps: int) -> int:
        """Updates that so many environment steps come with."""
        return env_steps * self.updates_per_episode // self.collection

    def next_evaluation(self, env_steps: int) -> int:
        """The number of steps after which skills are evaluated next, in a run without an end."""
        every = self.evaluation_interval
        return (env_steps // every + 1) * every

    def static(self) -> tuple[tuple[str, Any], ...]:
        """What decides the compiled program, as a hashable key (seed and lengths do not)."""
        skip = {"method", "seed", "steps", "evaluate_every"}
        return tuple(
            (name, getattr(self, name))
            for name, spec in SPECS.items()
            if not spec.traced and name not in skip
        )


class Options(TypedDict, total=False):
    """The fields of `Config` as keyword arguments, so that editors complete them.

    Numbers may be text (``steps="200k"``); ``auto`` asks the world.
    """

    steps: int | str
    seed: int
    skills: int | Literal["auto"]
    horizon: int | Literal["auto"]
    hold: int
    evaluate_every: int
    objective: str
    discriminator: str
    reward: str
    context: str
    time_weight: str
    dropout: bool
    keep: float
    inverse_temperature: float
    prior: float
    fading: float
    bonus: float
    optimality: float
    distance: float
    batch: int
    buffer: int
    learning_rate: float
    discriminator_learning_rate: float
    anneal: bool
    discount: float
    epsilon: float
    episodes_per_update: int
    one_skill: bool
    updates_per_episode: int
    q_rule: str
    bootstrap_last: bool
    target_period: int
    average_rate: float
    init_q: float
    init_logits: float
    observation: str
    network: str


SPECS: dict[str, OptionSpec] = {f.name: f.metadata["spec"] for f in dataclasses.fields(Config)}
TYPES: dict[str, type] = {f.name: type(f.default) for f in dataclasses.fields(Config)}

# Options of earlier versions -> what does their work now.
MOVED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "world": "the world is the first argument",
        "evaluation_epsilon": "skills are evaluated greedily",
        "temperature_in_loss": "--discriminator one_vs_all_sharpened, with beta in the reward only",
        "discriminator_states": "--context last",
        "reward_state": "--context next or current",
        "share_transitions": "--q-rule shared_adam or shared_plain",
        "sweep": "--q-rule sweep_adam or sweep_plain",
        "update_every": "--updates-per-episode",
        "logit_decay": "--fading",
        "pixels_per_cell": "--observation pixels:4",
        "discriminator_network": "--network table/mlp:256 (of Q, then of the logits)",
        "hidden": "--network mlp:256,256",
        "channels": "--network cnn:32,64,128",
        "kernel": "--network cnn:32,64,128:5",
        "network_rows": "chosen automatically",
    }
)

# What other software calls an option -> its name here, where no spelling is near.
ELSEWHERE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "lr": "learning_rate",
        "gamma": "discount",
        "k": "skills",
        "num_options": "skills",
        "eps": "epsilon",
        "beta": "inverse_temperature",
        "algo": "method",
        "algorithm": "method",
        "agent": "method",
        "total_timesteps": "steps",
        "hidden_size": "network",
        "hidden_sizes": "network",
        "num_envs": "episodes_per_update",
        "n_envs": "episodes_per_update",
    }
)


def flag(name: str) -> str:
    """The command line's spelling of a field: ``learning_rate`` -> ``--learning-rate``."""
    return "--" + name.replace("_", "-")


def default_words(value: Any) -> str:
    """A default as people read it: ``on`` and ``off`` of what is switched."""
    return ("off", "on")[value] if isinstance(value, bool) else str(value)


def unknown_option(name: str, written: str) -> UserError:
    """For an option that is not there: what does its work now, or the nearest name."""
    if name in MOVED:
        return UserError(f"option '{written}' was removed; now: {MOVED[name]}")
    if name in ELSEWHERE:
        here = ELSEWHERE[name] if written == name else flag(ELSEWHERE[name])
        return UserError(f"unknown option '{written}'; did you mean '{here}'?")
    names = [*SPECS] if written == name else [flag(n) for n in SPECS]
    return unknown("option", written, names, see="apart train --help")


_SUFFIXES: Final = {"k": 10**3, "M": 10**6, "G": 10**9, "m": 10**6, "K": 10**3}


def number(name: str, text: str, whole: bool, like: str = "") -> int | float:
    """The number in ``text``: 5000000, 5M, 200k, 2e-3; `UserError` naming the flag otherwise.

    ``like`` is what the error gives as an example.
    """
    plain, factor = text.strip(), 1
    if plain and plain[-1] in _SUFFIXES:
        plain, factor = plain[:-1], _SUFFIXES[plain[-1]]
    kind = "a whole number" if whole else "a number"
    like = like or ("200, 5k or 1M" if whole else "0.5 or 2e-3")
    try:
        if whole and plain.lstrip("+-").isdecimal() and len(plain) < 40:
            return int(plain) * factor
        value = float(plain) * factor
    except ValueError:
        raise UserError(f"{name}: {shown(text)} is not {kind} (such as {like})") from None
    return int(value) if whole and value.is_integer() and abs(value) < 1e18 else value


def shown(value: Any) -> str:
    """``value`` in a message, cut where it is long."""
    if isinstance(value, int) and abs(value) >= 10**40:
        return "a number of more than 40 digits"  # thousands of them have no text
    text = repr(value)
    return text if len(text) < 40 else text[:36] + "..."


def _bound(value: float) -> str:
    """An end of a range, in full where it is whole."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:g}"


def check_value(name: str, value: Any) -> Any:
    """``value`` in the field's type and range, or `UserError` naming the flag; ``"5M"`` is one."""
    spec, expected = SPECS[name], TYPES[name]
    if expected in (int, float) and isinstance(value, str):
        value = number(flag(name), value, expected is int, "200 or auto" if spec.auto else "")
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        value = int(value)  # NumPy's too
    elif isinstance(value, numbers.Real) and not isinstance(value, bool):
        value = float(value)
    if expected is int and isinstance(value, float) and value.is_integer():
        value = int(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    seen = shown(value)
    if not (is_number if expected is float else type(value) is expected):
        words = {int: "a whole number", float: "a number", bool: "true or false", str: "a name"}
        raise UserError(f"{flag(name)}: {seen} is not {words[expected]}")
    if is_number:
        if isinstance(value, float) and not math.isfinite(value):
            raise UserError(f"{flag(name)}: {seen} is not a finite number")
        if not spec.low <= value <= spec.high:
            raise UserError(
                f"{flag(name)}: {seen} is outside {_bound(spec.low)} to {_bound(spec.high)}"
            )
    return float(value) if expected is float else value
