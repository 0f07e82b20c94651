"""From what the user said to a complete, valid configuration and its world. No JAX.

Asks records for facts (does this rule need a table? does this reward read pairs?), never for names.
"""

from __future__ import annotations

import dataclasses
import math
import os
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np

from apart import worlds
from apart._config import SPECS, Config, check_value, flag, unknown_option
from apart._errors import UserError, unknown
from apart._registry import Registry, load_plugins
from apart.learner import approximators, q_learning
from apart.learner.approximators import NETWORKS, Form, Network
from apart.learner.q_learning import Q_RULES, QRule
from apart.methods import METHODS, OURS, READINGS, Method
from apart.objective.contexts import CONTEXTS
from apart.objective.discriminators import DISCRIMINATORS, Discriminator
from apart.objective.objectives import FORMS, OBJECTIVES, TRAINED, Kind
from apart.objective.rewards import REWARDS, Reward
from apart.objective.time_weights import TIME_WEIGHTS
from apart.worlds import grid, observations
from apart.worlds.holding import held
from apart.worlds.observations import OBSERVATIONS, Observation
from apart.worlds.world import TableWorld, World, n_available

_NAMED: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "method": METHODS,
        "reading": READINGS,
        "objective": OBJECTIVES,
        "discriminator": DISCRIMINATORS,
        "reward": REWARDS,
        "context": CONTEXTS,
        "time weight": TIME_WEIGHTS,
        "q rule": Q_RULES,
        "observation": OBSERVATIONS,
        "network": NETWORKS,
    }
)


def choices() -> dict[str, dict[str, str]]:
    """For every kind of name: the names and a line on each."""
    found = {"world": {name: known.summary for name, known in grid.maps().items()}}
    for kind, records in _NAMED.items():
        found[kind] = {name: record.summary for name, record in records.items()}
    return found


class _Facts(NamedTuple):
    """The records that a configuration names, and what they say together."""

    objective: Kind
    discriminator: Discriminator
    reward: Reward
    rule: QRule
    observation: Observation
    q: Form
    logits: Form
    in_table: bool  # the world is one, as far as it is known

    @classmethod
    def of(cls, config: Config, world: World | None = None) -> _Facts:
        return cls(
            OBJECTIVES[config.objective],
            DISCRIMINATORS[config.discriminator],
            REWARDS[config.reward],
            Q_RULES[config.q_rule],
            OBSERVATIONS[observations.parse(config.observation)[0]],
            *approximators.parse(config.network),
            in_table=isinstance(world, TableWorld),
        )

    @property
    def discriminates(self) -> bool:
        """Whether the objective is about a discriminator."""
        return "discriminator" in self.objective.reads

    @property
    def counting(self) -> bool:
        """Whether what gives the rewards is not trained."""
        if self.discriminates:
            return self.discriminator.learned is None and not self.discriminator.embeds
        return not self.objective.trains or (self.in_table and self.objective.counts_in_tables)

    @property
    def listed(self) -> bool:
        """Whether what gives the rewards goes over the states of a table."""
        if self.discriminates and self.counting and not self.discriminator.over_known:
            return True
        return self.objective.listed

    @property
    def over_known(self) -> bool:
        """Whether it looks at all known transitions, which a sweep keeps."""
        return self.discriminator.over_known if self.discriminates else self.objective.over_known

    @property
    def by_place(self) -> bool:
        """Whether it sees the places of observations, not these."""
        return self.discriminates and self.discriminator.by_place

    @property
    def adds(self) -> bool:
        """Whether there is a bonus on top of the reward."""
        return self.objective.bonus or (self.discriminates and self.reward.bonus is not None)

    @property
    def networks(self) -> dict[str, Network]:
        """Those that are there, by what they are for."""
        found = {"Q": NETWORKS[self.q.kind]}
        return found if self.counting else {**found, "logits": NETWORKS[self.logits.kind]}


# Options that some configurations do not look at; setting one of those is a mistake worth a word.
_IDLE: Final[Mapping[str, Callable[[Config, _Facts], bool]]] = MappingProxyType(
    {
        "buffer": lambda c, f: f.counting and f.rule.sweeps,
        "dropout": lambda c, f: TIME_WEIGHTS[c.time_weight].only_last,
        "keep": lambda c, f: not c.dropout or TIME_WEIGHTS[c.time_weight].ascends,
        "one_skill": lambda c, f: c.episodes_per_update == 1,
        "init_logits": lambda c, f: f.counting,
        "prior": lambda c, f: not f.counting,
        "fading": lambda c, f: f.discriminator.over_known,
        "inverse_temperature": lambda c, f: not f.discriminator.reads_beta,
        "discriminator_learning_rate": lambda c, f: f.counting,
        "bonus": lambda c, f: not f.adds,
    }
)


def _idle(name: str, config: Config, facts: _Facts) -> bool:
    """Whether a configuration does not look at the option ``name``."""
    if name in FORMS and not facts.discriminates:
        return name not in facts.objective.reads or (name in TRAINED and facts.counting)
    return name in _IDLE and _IDLE[name](config, facts)


def resolve(
    world: str | World,
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
        raise UserError("--method takes a name; apart.register_method makes one of a record")
    if method not in METHODS:
        load_plugins()
    if method not in METHODS:
        raise unknown("method", method, METHODS)
    if not isinstance(reading, str) or reading not in READINGS:
        raise unknown("reading", str(reading), READINGS)
    if METHODS[method].settled and READINGS[reading].options:
        raise UserError(
            f"--reading {reading}: {method} is not the paper's, it has options of its own"
        )
    for name in options:
        if name not in SPECS:
            raise unknown_option(name, name)
    loaded = worlds.load(world, slip)
    record = _record(method, loaded)
    own: dict[str, Any] = {**record.options, **READINGS[reading].options, "method": method}
    options = _asked_of_the_world(loaded, {**own, **options}, options)
    options = {name: check_value(name, value) for name, value in options.items()}
    config = Config(**{**own, **options})
    if config.horizon == 0:
        config = dataclasses.replace(config, horizon=loaded.about.horizon)
    if record.decisions and "hold" not in options:
        config = dataclasses.replace(config, hold=_held_for(config.horizon, record.decisions))
    every = record.steps_per_update
    if every and "updates_per_episode" not in options:
        updates = max(round(config.collection / every), 1)
        config = dataclasses.replace(config, updates_per_episode=updates)
    _check_names(config)
    config = _with_networks(config, loaded, options, record.sees)
    by_reading = {name for name in READINGS[reading].options if name not in options}
    try:
        check(config, loaded)
    except UserError as error:
        sets = f" (--reading {reading} sets {', '.join(map(flag, sorted(by_reading)))})"
        raise UserError(f"{error}{sets if by_reading else ''}") from None
    facts = _Facts.of(config, loaded)
    idle = {n: getattr(Config, n) for n in by_reading if _idle(n, config, facts)}
    config = dataclasses.replace(config, **idle)
    for name in options:
        if _idle(name, config, facts):
            raise UserError(f"{flag(name)} does nothing with --method {method} and these options")
    return config, loaded


def _record(method: str, world: World) -> Method:
    """What ``method`` is in ``world``."""
    record = METHODS[method]
    return record if isinstance(world, TableWorld) or record.beyond is None else record.beyond


def _held_for(horizon: int, decisions: int) -> int:
    """For how many steps a decision is held: a divisor of T that gives about so many."""
    divisors = [n for n in range(1, horizon + 1) if horizon % n == 0]
    return min(divisors, key=lambda n: abs(math.log(horizon / n / decisions)))


AUTO: Final = "auto"


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
            raise UserError(f"--skills auto: nobody knows how many places {world.name} has")
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
    q, logits = approximators.parse(text)
    if _Facts.of(dataclasses.replace(config, network=text, **set_), world).counting:  # it has none
        logits = next(f for f in map(Form, NETWORKS) if f.is_table) if is_table else q
    set_["network"] = approximators.written(q, logits)
    if by_user:
        of_q = {} if q.is_table else NETWORKS[q.kind].q_rate
        set_ |= {**of_q, **NETWORKS[logits.kind].logits_rate}
    if "q_rule" not in options:
        if not q.is_table:
            set_["q_rule"] = Q_RULES[config.q_rule].with_adam
        if not is_table:
            set_["q_rule"] = Q_RULES[set_.get("q_rule", config.q_rule)].with_samples
    kept = {name: value for name, value in set_.items() if name not in options}
    kept["network"] = set_["network"]  # in full, whoever named it
    return dataclasses.replace(config, **kept)


def _usual_network(world: World) -> str:
    if isinstance(world, TableWorld):
        return "table"
    return "cnn" if len(world.obs.shape) == 3 else "mlp"


def spreads(config: Config) -> bool:
    """Whether fewer skills than places spread over them."""
    kind = OBJECTIVES[config.objective]
    by_discriminator = "discriminator" in kind.reads
    return DISCRIMINATORS[config.discriminator].over_known if by_discriminator else kind.spreads


def needs_task(method: str) -> bool:
    """Whether ``method`` solves the task of a map, and so needs a map that has one."""
    return OBJECTIVES[str(METHODS[method].options.get("objective", Config.objective))].task


def over_known(config: Config) -> bool:
    """Whether what gives the rewards looks at all known transitions, which a sweep keeps."""
    return _Facts.of(config).over_known


def _check_embedded(config: Config, world: World, most: int) -> None:
    """`UserError` where no distance can be learned between observations, or need not be."""
    why = ""
    if isinstance(world, TableWorld):
        why = f"{world.name} is a table, where they are known"
    elif math.prod(world.obs.shape) > most:
        numbers = math.prod(world.obs.shape)
        why = f"observations of {world.name} have {numbers} numbers, more than {most}"
    if why:
        raise UserError(
            f"--discriminator {config.discriminator} learns distances: {why}; use "
            "--discriminator ends"
        )


def only_here(config: Config) -> str | None:
    """A record that ``config`` names and that other processes would not know; None without one."""
    for name, spec in SPECS.items():
        records = _NAMED.get(spec.kind)
        if isinstance(records, Registry) and getattr(config, name) in records.only_here:
            return f"{spec.kind} {getattr(config, name)!r}"
    return None


def words(config: Config, world: World) -> list[str] | None:
    """The words after ``apart`` that train the same again; None where there are none.

    The name of a map is what it was called: a file must still be there.
    """
    kind = world.about.spec.get("kind")
    named = kind == grid.KIND or world.name.startswith(f"{kind}:")
    if not named or only_here(config) is not None:
        return None
    wanted = dataclasses.asdict(config)
    options: dict[str, Any] = {"steps": config.steps, "seed": config.seed}
    for _ in range(3):  # an option may change the defaults of others
        try:
            found = dataclasses.asdict(resolve(world, config.method, options)[0])
        except UserError:
            return None
        differs = {name: wanted[name] for name in wanted if found[name] != wanted[name]}
        if not differs:
            break
        options |= differs
    else:
        return None
    said = ["train", world.name, "--method", config.method]
    slip = world.about.spec.get("slip")
    said += ["--slip", str(slip)] if slip else []
    for name, value in options.items():
        if isinstance(value, bool):
            said.append(flag(name) if value else flag(f"no_{name}"))
        else:
            said += [flag(name), str(value)]
    return said


def completed(config: Config, world: World) -> Config:
    """``config`` with what was left to the world; all else, rates included, stays as stored."""
    if Config.observation not in (config.observation, config.network):
        return config
    return _with_networks(config, world, dict.fromkeys({*SPECS} - {"observation", "network"}))


def check_names(options: Mapping[str, Any]) -> None:
    """`UserError` where one of the ``options`` names what is not there."""
    for name, value in options.items():
        kind = SPECS[name].kind
        if kind and value not in _NAMED[kind]:
            raise unknown(kind, value, _NAMED[kind])


def check(config: Config, world: World) -> None:
    """`UserError` where a complete configuration names what is not there or contradicts itself."""
    _check_names(config)
    facts = _Facts.of(config, world)
    reads = facts.reward.reads
    if facts.discriminates and facts.discriminator.gives != reads:
        fits = [name for name, d in DISCRIMINATORS.items() if d.gives == reads]
        raise UserError(
            f"--reward {config.reward} needs --discriminator {' or '.join(fits)}, "
            f"not {config.discriminator}"
        )
    if facts.rule.sweeps and config.dropout:
        by_method = METHODS[config.method].options.get("q_rule") == config.q_rule
        who = f" (set by --method {config.method})" if by_method else ""
        raise UserError(
            f"--dropout: --q-rule {config.q_rule}{who} weighs what it knows by W(t) instead; use "
            "--no-dropout, or --q-rule shared_adam"
        )
    if config.horizon % config.hold:
        below = config.horizon - config.horizon % config.hold
        either = f"--horizon {below or below + config.hold}"
        either += f" or {below + config.hold}" if below else ""
        raise UserError(
            f"--hold {config.hold} does not divide the {config.horizon} steps of an episode; try "
            f"{either}"
        )
    _check_networks(config, world, facts)
    if facts.by_place:
        _check_places(config, world)
    if isinstance(world, TableWorld) and facts.objective.task and world.task is None:
        raise UserError(
            f"--method {config.method} solves a task, and {world.name} has none; write a digit, 1 "
            "to 9, where a step of the map earns points"
        )
    if isinstance(world, TableWorld) and facts.over_known and not facts.rule.sweeps:
        fits = [name for name, rule in Q_RULES.items() if rule.sweeps]
        raise UserError(
            f"{_rewarding(config, facts)} looks at all known transitions, which "
            f"--q-rule {config.q_rule} does not keep; use {' or '.join(fits)}"
        )
    if facts.discriminates and facts.discriminator.embeds:
        _check_embedded(config, world, facts.discriminator.embeds)
    if facts.objective.by_episode and facts.rule.sweeps:
        raise UserError(
            f"--objective {config.objective} rewards whole episodes, which --q-rule "
            f"{config.q_rule} does not keep; use {facts.rule.with_samples}"
        )
    if config.buffer < config.transitions:
        raise UserError(
            f"--buffer {config.buffer} is smaller than the {config.transitions} transitions "
            "between two updates"
        )
    if config.iterations >= 2**31:
        raise UserError(
            f"--steps {config.steps}: more than {2**31 - 1:,} rounds of {config.collection} steps"
        )
    needed, present = memory_bytes(config, world), _physical_memory()
    if needed > present:
        sight = observations.sight_of(world, config.observation)
        seen = f" seen as {sight.image[0]} x {sight.image[1]} pixels" if sight.image[0] > 1 else ""
        cells = (
            f"a world of {sight.n_states} {world.places.noun}s" if sight.n_states else world.name
        )
        raise UserError(
            f"{flag('skills')} {config.skills} in {cells}{seen} needs "
            f"{needed / 1e9:,.0f} GB of memory and this machine has {present / 1e9:,.0f}"
        )


_MOST_PLACES: Final = 46_340  # a step from one to another is a number of 31 bits


def _check_places(config: Config, world: World) -> None:
    """`UserError` where ``world`` counts no places that ends can be planned on."""
    what, noun, n = f"--discriminator {config.discriminator}", world.places.noun, world.places.bound
    if isinstance(world, TableWorld):
        special = {name for name, d in DISCRIMINATORS.items() if d.by_place or d.embeds}
        fits = [n for n, d in DISCRIMINATORS.items() if d.over_known and n not in special]
        raise UserError(
            f"{what}: {world.name} is a table, whose states are its places; use --discriminator "
            f"{' or '.join(fits)}"
        )
    if not world.places.counted:
        raise UserError(f"{what} plans on the places of a world, and {world.name} has none")
    if n is None:
        raise UserError(
            f"{what} plans on the places of a world, and nobody knows how many {world.name} has"
        )
    if n > _MOST_PLACES:
        raise UserError(
            f"{what} plans on at most {_MOST_PLACES:,} places, and {world.name} has {n:,} {noun}s"
        )


def _rewarding(config: Config, facts: _Facts) -> str:
    """The option that names what gives the rewards."""
    if facts.discriminates:
        return f"--discriminator {config.discriminator}"
    return f"--objective {config.objective}"


def _check_names(config: Config) -> None:
    for name, spec in SPECS.items():
        if spec.kind and getattr(config, name) not in _NAMED[spec.kind]:
            load_plugins()
        if spec.kind and getattr(config, name) not in _NAMED[spec.kind]:
            raise unknown(spec.kind, getattr(config, name), _NAMED[spec.kind])
    name = observations.parse(config.observation)[0]
    if config.observation != Config.observation and name not in OBSERVATIONS:
        raise unknown("observation", name, OBSERVATIONS)
    if config.network != Config.network:
        approximators.parse(config.network)


_MOST_PIXELS: Final = 64 * 64  # convolutions are dense matrices of pixels


def _check_networks(config: Config, world: World, facts: _Facts) -> None:
    is_table = isinstance(world, TableWorld)
    if not facts.observation.fits(world):
        fits = [name for name, o in OBSERVATIONS.items() if o.fits(world)]
        raise UserError(
            f"--observation {config.observation}: {world.name} is seen as {' or '.join(fits)}"
        )
    if not is_table and (facts.listed or facts.rule.sweeps):
        what = _rewarding(config, facts) if facts.listed else f"--q-rule {config.q_rule}"
        raise UserError(
            f"{what} goes over the states of a table, and those of {world.name} cannot be listed; "
            "try --method apart_spread"
        )
    for what, network in facts.networks.items():
        if network.of_states and facts.observation.images:
            raise UserError(
                f"--network: a table (of {what}) holds a number for each state, it cannot read "
                f"--observation {config.observation}; try linear, mlp or cnn"
            )
        image = observations.sight_of(world, config.observation).image
        if network.of_images and image[0] * image[1] == 1:
            raise UserError(
                f"--network {config.network}: convolutions read images, not --observation "
                f"{config.observation}"
            )
        if network.of_images and not is_table and image[0] * image[1] > _MOST_PIXELS:
            raise UserError(
                f"--network {config.network}: images of {image[0]} x {image[1]} pixels are too "
                f"large for it (at most {_MOST_PIXELS:,} pixels); make them smaller (gym:ID:wrap="
                "module:Wrapper), see less (Atari: obs_type=ram), or use --network mlp"
            )
    if "logits" in facts.networks and facts.networks["logits"].only_q:
        raise UserError(
            f"--network {config.network}: {facts.logits.kind} is a form of Q; name that of the "
            f"logits too, as in {facts.q}/table"
        )
    if not facts.q.is_table and not facts.rule.adam:
        raise UserError(
            f"--q-rule {config.q_rule} moves cells of a table; --network {config.network} "
            f"needs --q-rule {facts.rule.with_adam}"
        )


def memory_bytes(config: Config, world: World) -> int:
    """Bytes of parameters (with Adam's two moments and one temporary), rows, replay and batch."""
    facts, sight = _Facts.of(config, world), observations.sight_of(world, config.observation)
    logits: tuple[int, ...] = (config.skills,)
    if facts.discriminates:
        logits = facts.discriminator.shape(config.skills)
    q = q_learning.shape(world.about.n_actions, config.skills, world.about.heads)
    n_rows = 2 * config.batch
    if sight.n_states is not None:
        n_rows = sight.n_states if facts.rule.sweeps else min(n_rows, sight.n_states)
    floats = 4 * config.buffer + 16 * config.batch
    for form, shape, copies in ((facts.logits, logits, 4), (facts.q, q, 8)):
        size = NETWORKS[form.kind].size(form, sight, shape)
        floats += copies * size.parameters + n_rows * size.floats_per_row
    ring = 0
    if not isinstance(world, TableWorld):
        kept = config.buffer + config.skills * (config.horizon + 1)  # replay, evaluation
        ring = kept * math.prod(world.obs.shape) * np.dtype(world.obs.dtype).itemsize
    return 4 * floats + ring


def _physical_memory() -> int:
    try:
        return int(os.sysconf("SC_PAGE_SIZE")) * int(os.sysconf("SC_PHYS_PAGES"))
    except (ValueError, OSError, AttributeError):
        return sys.maxsize
