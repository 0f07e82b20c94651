"""From what the user said to a complete, valid configuration and its world. No JAX.

Asks records for facts (does this rule need a table? does this reward read pairs?), never for names.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from apart import worlds
from apart._config import SPECS, Config, check_value, flag, unknown_option
from apart._errors import UserError, unknown
from apart._registry import Registry
from apart.checks import check, checked_names
from apart.facts import NAMED, Facts, is_idle
from apart.learner import networks
from apart.learner.networks import NETWORKS, Form
from apart.learner.q_learning import Q_RULES
from apart.methods import METHODS, OURS, READINGS, Method
from apart.worlds.holding import held
from apart.worlds.lifetime import is_grid, lifetime
from apart.worlds.observations import OBSERVATIONS
from apart.worlds.world import HostWorld, JaxWorld, TableWorld, World, n_available


def resolve(
    world: str | os.PathLike[str] | World,
    method: str,
    options: Mapping[str, Any],
    slip: float = 0.0,
    reading: str = OURS,
) -> tuple[Config, World]:
    """The configuration of ``method`` with the user's ``options`` on top, and the loaded world.

    A ``reading`` of the paper stands between the two.

    Raises:
        UserError: an unknown name, a value out of range, or options that contradict each other.
    """
    if not isinstance(method, str):
        raise UserError("--method takes a name; apart.register_method adds a method of your own")
    METHODS.named(method)
    if not isinstance(reading, str) or reading not in READINGS:
        raise unknown("reading", str(reading), READINGS)
    if METHODS[method].settled and READINGS[reading].options:
        raise UserError(f"--reading {reading} is for methods of the paper, and {method} is not one")
    for name in options:
        if name not in SPECS:
            raise unknown_option(name, name)
    loaded = worlds.load(world, slip)
    record = _record(method, loaded)
    own: dict[str, Any] = {**record.options, **READINGS[reading].options}
    options = _asked_of_the_world(loaded, {**own, **options}, options)
    options = {name: check_value(name, value) for name, value in options.items()}
    own |= options
    usual = {} if isinstance(loaded, TableWorld) else loaded.usual._asdict()
    config = Config(**{**usual, **own, "method": method})
    if config.horizon == 0:
        config = dataclasses.replace(config, horizon=loaded.about.horizon)
    if record.decisions and "hold" not in own:
        config = dataclasses.replace(config, hold=_held_for(loaded, config.horizon, record))
    every = record.steps_per_update
    if every and "updates_per_episode" not in {**record.options, **options}:
        updates = max(round(config.collection / every), 1)
        if not isinstance(loaded, TableWorld):
            updates = -(-config.collection // every)  # in at most so many steps
        config = dataclasses.replace(config, updates_per_episode=updates)
    if not isinstance(loaded, TableWorld):
        config = _affordable(config, loaded, own, options)
    checked_names(config)
    config = _with_networks(config, loaded, options, record.sees)
    by_reading = {name for name in READINGS[reading].options if name not in options}
    try:
        check(config, loaded)
    except UserError as error:
        sets = f" (--reading {reading} sets {', '.join(map(flag, sorted(by_reading)))})"
        raise UserError(f"{error}{sets if by_reading else ''}") from None
    facts = Facts.of(config, loaded)
    idle = {n: getattr(Config, n) for n in by_reading if is_idle(n, config, facts)}
    config = dataclasses.replace(config, **idle)
    for name in options:
        if is_idle(name, config, facts):
            raise UserError(f"{flag(name)} has no effect with --method {method} and these options")
    return config, loaded


def _record(method: str, world: World) -> Method:
    """What ``method`` is in ``world``."""
    record = METHODS[method]
    return record if isinstance(world, TableWorld) else record.elsewhere


def _held_for(world: World, horizon: int, record: Method) -> int:
    """For how many steps a decision is held, a divisor of T; 1 in grids, where it would overshoot.

    An episode as long as random play lives has about the decisions that the method wants.
    """
    if isinstance(world, TableWorld) or is_grid(world):
        return 1
    length = min(lifetime(world), horizon)
    divisors = [n for n in range(1, horizon + 1) if horizon % n == 0]
    return min(divisors, key=lambda n: abs(math.log(length / n / record.decisions)))


_SHARE: Final = 10  # of all simulated steps, one in so many is for evaluations
_REPLAY_BYTES: Final = 10**9


def _affordable(
    config: Config,
    world: JaxWorld | HostWorld,
    given: Mapping[str, Any],
    options: Mapping[str, Any],
) -> Config:
    """``config`` with a budget, evaluations and a replay buffer that suit ``world``.

    Unless they are ``given``, by a method or the user; the buffer of a method is cut to fit.
    An evaluation plays an episode of every skill; there are at least two, at the start and the end.
    """
    set_: dict[str, Any] = {}
    played = config.skills * config.horizon
    if "steps" not in given:
        least = 2 * (_SHARE - 1) * played
        digits = 10 ** max(len(str(least)) - 2, 0)
        set_["steps"] = max(world.usual.steps, -(-least // digits) * digits)
    if "evaluate_every" not in given:
        steps = set_.get("steps", config.steps)
        evaluations = max(steps // ((_SHARE - 1) * played), 2)
        every = max(-(-steps // (evaluations - 1)), Config.evaluate_every)
        set_["evaluate_every"] = -(-every // config.collection) * config.collection
    if "buffer" not in options:
        size = math.prod(world.obs.shape) * np.dtype(world.obs.dtype).itemsize
        fits = min(config.buffer, _REPLAY_BYTES // max(size, 1))
        set_["buffer"] = max(fits, config.transitions)
    return dataclasses.replace(config, **set_)


AUTO: Final = "auto"
ASKED: Final = ("skills", "horizon")  # options that ``auto`` leaves to the world


def _says(value: Any, word: str) -> bool:
    return isinstance(value, str) and value == word


def _asked_of_the_world(
    world: World, all_options: Mapping[str, Any], options: Mapping[str, Any]
) -> dict[str, Any]:
    """The user's options with ``auto`` for skills and horizon replaced by what the world says."""
    found = dict(options)
    hold = check_value("hold", all_options.get("hold", Config.hold))
    if _says(found.get("horizon"), AUTO):
        found["horizon"] = 0
        if isinstance(world, TableWorld):
            found["horizon"] = 2 * int(world.distance.max())
        over = (found["horizon"] or world.about.horizon) % hold
        if over:  # the next number that it divides
            found["horizon"] = (found["horizon"] or world.about.horizon) + hold - over
    if _says(found.get("skills"), AUTO):
        horizon = check_value("horizon", {**all_options, **found}.get("horizon", 0))
        horizon = horizon or world.about.horizon
        n = n_available(held(world, hold), horizon // hold)
        if n is None:
            raise UserError(f"--skills auto: the number of places of {world.name} is unknown")
        found["skills"] = max(n, 2)
    return found


def _with_networks(
    config: Config, world: World, options: Mapping[str, Any], sees: tuple[str, ...] = ()
) -> Config:
    """What is left to the world and to the networks: forms in full, rates, a rule that fits.

    Observations are seen as the first of ``sees`` that fits, else as the first of all.
    Whoever named the network sets the rates: the user's network its own, the method's the method's.
    """
    is_table = isinstance(world, TableWorld)
    set_: dict[str, Any] = {}
    if config.observation == Config.observation:
        names = (*sees, *OBSERVATIONS)
        set_["observation"] = next(name for name in names if OBSERVATIONS[name].fits(world))
    by_user = "network" in options
    text = config.network
    if text == Config.network:
        by_user, text = by_user or not is_table, _usual_network(world)
    q, logits = networks.parse(text)
    if Facts.of(dataclasses.replace(config, network=text, **set_), world).only_q:
        if "network" in options and "/" in text:
            raise UserError(f"--network {text}: only Q is a network here; write {q}")
        logits = next(f for f in map(Form, NETWORKS) if f.is_table) if is_table else q
    set_["network"] = networks.written(q, logits)
    if by_user:
        of_q = {} if q.is_table else NETWORKS[q.kind].q_rate
        set_ |= {**of_q, **NETWORKS[logits.kind].logits_rate}
    if "q_rule" not in options:
        if not q.is_table:
            set_["q_rule"] = Q_RULES[config.q_rule].with_adam
        if not is_table:
            set_["q_rule"] = Q_RULES[set_.get("q_rule", config.q_rule)].with_samples
    in_full = ("observation", "network")  # whoever named them
    kept = {name: v for name, v in set_.items() if name in in_full or name not in options}
    return dataclasses.replace(config, **kept)


def _usual_network(world: World) -> str:
    if isinstance(world, TableWorld):
        return "table"
    return "cnn" if len(world.obs.shape) == 3 else "mlp"


def only_here(config: Config, world: World) -> str | None:
    """A record that ``config`` names, or the world, if other processes would not know it."""
    for name, spec in SPECS.items():
        records = NAMED.get(spec.kind)
        if isinstance(records, Registry) and getattr(config, name) in records.only_here:
            return f"{spec.kind} {getattr(config, name)!r}"
    return None if worlds.known_everywhere(world.about.spec) else f"world {world.name}"


def words(config: Config, world: World) -> list[str] | None:
    """The words after ``apart`` that train the same again; None where there are none.

    The length of an episode is always among them: the world of a stored run has that of the run as
    its default.
    """
    named = worlds.written(world.about.spec)
    if named is None or only_here(config, world) is not None:
        return None
    wanted = dataclasses.asdict(config)
    options: dict[str, Any] = {
        "steps": config.steps,
        "seed": config.seed,
        "horizon": config.horizon,
    }
    for _ in range(3):  # an option may change the defaults of others
        try:
            found = dataclasses.asdict(resolve(world, config.method, options)[0])
        except UserError:
            return None
        differs = {name: wanted[name] for name in wanted if found[name] != wanted[name]}
        more = _as_said(differs, config, Facts.of(config, world))
        if not more:  # nor does what is left do anything
            break
        options |= more
    else:
        return None
    said = ["train", named, "--method", config.method]
    slip = world.about.spec.get("slip")
    said += ["--slip", str(slip)] if slip else []
    for name, value in options.items():
        if isinstance(value, bool):
            said.append(flag(name) if value else flag(f"no_{name}"))
        else:
            said += [flag(name), str(value)]
    return said


def _as_said(stored: Mapping[str, Any], config: Config, facts: Facts) -> dict[str, Any]:
    """Fields of ``config`` as `resolve` takes them: those that are read, of networks what is one.

    Fields that nothing reads come from the method or with the network.
    """
    said = {name: value for name, value in stored.items() if not is_idle(name, config, facts)}
    if "network" in said and facts.only_q:
        said["network"] = str(facts.q)
    return said


def completed(config: Config, world: World) -> Config:
    """``config`` with what was left to the world; all else, rates included, stays as stored."""
    if Config.observation not in (config.observation, config.network):
        return config
    return _with_networks(config, world, dict.fromkeys({*SPECS} - {"observation", "network"}))
