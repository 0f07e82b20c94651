"""Whether a complete configuration can be trained in a world; why not, in one line. No JAX."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from apart._config import SPECS, Config, flag
from apart._errors import UserError, unknown
from apart._registry import load_plugins
from apart.facts import NAMED, Facts, is_idle
from apart.learner import networks, q_learning
from apart.learner.networks import NETWORKS
from apart.learner.q_learning import Q_RULES
from apart.learner.sizes import points_for
from apart.methods import METHODS
from apart.objective.contexts import CONTEXTS
from apart.objective.discriminators import DISCRIMINATORS
from apart.worlds import observations
from apart.worlds.observations import OBSERVATIONS
from apart.worlds.world import TableWorld, World


def check_names(options: Mapping[str, Any]) -> None:
    """`UserError` where one of the ``options`` names what is not there."""
    for name, value in options.items():
        kind = SPECS[name].kind
        if kind and value not in NAMED[kind]:
            raise unknown(kind, value, NAMED[kind])


def check(config: Config, world: World) -> None:
    """`UserError` where a complete configuration names what is not there or contradicts itself."""
    checked_names(config)
    facts = Facts.of(config, world)
    for one in _CHECKS:
        one(config, world, facts)


def _check_heads(config: Config, world: World, facts: Facts) -> None:
    if isinstance(world, TableWorld) and world.about.heads > 1:
        raise UserError(
            f"{world.name}: About(heads={world.about.heads}), but a table has one action head; "
            "number the combinations of actions"
        )


def _check_reward(config: Config, world: World, facts: Facts) -> None:
    """Whether a discriminator gives what the reward reads, and both go with the objective."""
    reads = facts.reward.reads
    if facts.discriminates and facts.discriminator.gives != reads:
        fits = [name for name, d in DISCRIMINATORS.items() if d.gives == reads]
        raise UserError(
            f"--reward {config.reward} needs --discriminator {' or '.join(fits)}, "
            f"not {config.discriminator}"
        )
    if facts.objective.bonus and facts.discriminates and facts.reward.bonus is not None:
        raise UserError(
            f"--reward {config.reward} and --objective {config.objective} both add a bonus; use "
            "one of them"
        )
    if facts.objective.bonus and not CONTEXTS[config.context].after:
        fits = [name for name, known in CONTEXTS.items() if known.after]
        raise UserError(
            f"--objective {config.objective} rewards the state after a step, and "
            f"--context {config.context} is the state before it; use --context {' or '.join(fits)}"
        )


def _check_time(config: Config, world: World, facts: Facts) -> None:
    """Whether the steps of an episode can be dropped and held as asked."""
    if facts.rule.sweeps and config.dropout:
        by_method = METHODS[config.method].options.get("q_rule") == config.q_rule
        who = f" (set by --method {config.method})" if by_method else ""
        raise UserError(
            f"--dropout: --q-rule {config.q_rule}{who} weights all transitions by W(t) instead; "
            "use --no-dropout, or --q-rule shared_adam"
        )
    if config.horizon % config.hold:
        below = config.horizon - config.horizon % config.hold
        either = f"--horizon {below or below + config.hold}"
        either += f" or {below + config.hold}" if below else ""
        raise UserError(
            f"--hold {config.hold} does not divide the {config.horizon} steps of an episode; try "
            f"{either}"
        )


def _check_task(config: Config, world: World, facts: Facts) -> None:
    if not (isinstance(world, TableWorld) and facts.objective.task):
        return
    if world.task is None or not (world.task > 0).any():
        raise UserError(
            f"--method {config.method} needs a task, and {world.name} has none; use a map with "
            "digits, 1 to 9: the points for a step to that cell (docs/guide/worlds.md)"
        )
    if not (world.task[world.distance <= config.horizon] > 0).any():
        raise UserError(
            f"--method {config.method} needs a task, and no digit of {world.name} is within "
            f"{config.horizon} steps; use a longer --horizon, or move a digit of the map"
        )
    if config.hold > 1:
        raise UserError(
            f"--hold {config.hold}: the task gives points at every step, and --method "
            f"{config.method} counts them by decisions only; use --hold 1"
        )


def _check_kept(config: Config, world: World, facts: Facts) -> None:
    """Whether what the rewards look at is kept: known transitions, or whole episodes."""
    if isinstance(world, TableWorld) and facts.over_known and not facts.rule.sweeps:
        fits = [name for name, rule in Q_RULES.items() if rule.sweeps]
        raise UserError(
            f"{_rewarding(config, facts)} needs all transitions seen so far, which "
            f"--q-rule {config.q_rule} does not store; use {' or '.join(fits)}"
        )
    if facts.objective.by_episode and facts.rule.sweeps:
        raise UserError(
            f"--objective {config.objective} rewards whole episodes, which --q-rule "
            f"{config.q_rule} does not store; use {facts.rule.with_samples}"
        )
    least = facts.objective.least_decisions
    if config.decisions < least:
        raise UserError(
            f"--horizon {config.horizon} and --hold {config.hold}: {config.decisions} decision per "
            f"episode, and --objective {config.objective} needs at least {least}; use a longer "
            "--horizon or a shorter --hold"
        )
    if config.buffer < config.transitions and not is_idle("buffer", config, facts):
        raise UserError(
            f"--buffer {config.buffer} is smaller than the {config.transitions} transitions "
            "between two updates; use a larger one"
        )


def _check_memory(config: Config, world: World, facts: Facts) -> None:
    needed, present = memory_bytes(config, world), _physical_memory()
    if needed > present:
        sight = observations.sight_of(world, config.observation)
        seen = f" seen as {sight.image[0]} x {sight.image[1]} pixels" if sight.image[0] > 1 else ""
        cells = (
            f"a world of {sight.n_states} {world.places.noun}s" if sight.n_states else world.name
        )
        pairs, n_states = facts.objective.works_with, sight.n_states or 0
        of = {
            f"{world.places.noun}s": pairs(0, n_states) > 0,
            "skills": pairs(config.skills, 0) > 0,
        }
        words = f": --objective {config.objective} stores a number for each pair of "
        why = "".join(words + noun for noun, does in of.items() if does)
        raise UserError(
            f"{flag('skills')} {config.skills} in {cells}{seen} needs {needed / 1e9:,.0f} GB of "
            f"memory, and this machine has {present / 1e9:,.0f} GB{why}"
        )


_MOST: Final = 2**31 - 1  # compiled code counts in 32 bits


def _check_numbers(config: Config, world: World, facts: Facts) -> None:
    """Whether a count, or a number that stands for two, is too large for compiled code."""
    if config.iterations > _MOST:
        raise UserError(
            f"--steps {config.steps}: more than {_MOST:,} iterations of {config.collection} steps; "
            "use fewer steps, or more --episodes-per-update"
        )
    updates, _ = config.updates_per_steps
    if not isinstance(world, TableWorld) and 2 * updates * config.collection > _MOST:
        raise UserError(
            f"--updates-per-episode {config.updates_per_episode} after {config.collection:,} steps "
            "is too much to count; give a number that divides these steps"
        )
    k, planned = config.skills, None  # planned: the states among which skills share places
    if isinstance(world, TableWorld):
        samples = not (facts.counting and facts.rule.sweeps)  # replay: skill * T + t
        if samples and k * config.decisions > _MOST:
            raise UserError(
                f"--skills {k} times {config.decisions} decisions per episode is more than "
                f"{_MOST:,}; use fewer skills or a smaller --horizon"
            )
        planned = world.n_states if facts.discriminates and facts.over_known else None
    elif facts.by_place and facts.over_known and world.places.bound is not None:
        planned = 2 * world.places.bound  # `learner.bins`
    if planned is not None and k * (planned + 1) > _MOST:  # `learner.ends`: steps * K + skill
        raise UserError(
            f"--skills {k}: with {world.places.bound:,} {world.places.noun}s, --discriminator "
            f"{config.discriminator} supports at most {_MOST // (planned + 1):,} skills"
        )


_MOST_PLACES: Final = 46_340  # a step from one to another is a number of 31 bits


def _check_places(config: Config, world: World, facts: Facts) -> None:
    """Whether ``world`` has places, where rewards are about them, and ends can be planned on."""
    if not facts.by_place:
        return
    noun, n = world.places.noun, world.places.bound
    what, does = _rewarding(config, facts), "plans on" if facts.over_known else "counts"
    if isinstance(world, TableWorld):
        special = {name for name, d in DISCRIMINATORS.items() if d.by_place or d.embeds}
        fits = [n for n, d in DISCRIMINATORS.items() if d.over_known and n not in special]
        raise UserError(
            f"{what} is for worlds that are not tables, and {world.name} is one; use "
            f"--discriminator {' or '.join(fits)}"
        )
    if not world.places.counted:
        raise UserError(f"{what} {does} places, and {world.name} has none")
    if n is None:
        raise UserError(
            f"{what} {does} places, and the number of places of {world.name} is unknown"
        )
    if n > _MOST_PLACES and facts.over_known:
        raise UserError(
            f"{what} plans on at most {_MOST_PLACES:,} places, and {world.name} has {n:,} {noun}s"
        )


def _check_embedded(config: Config, world: World, facts: Facts) -> None:
    """Whether distances between observations can be learned, and need be."""
    most, why = facts.discriminator.embeds, ""
    if not (facts.discriminates and most):
        return
    if isinstance(world, TableWorld):
        why = f"they are known in {world.name}, a table"
    elif math.prod(world.obs.shape) > most:
        numbers = math.prod(world.obs.shape)
        why = f"observations of {world.name} have {numbers} entries, more than {most}"
    if why:
        raise UserError(
            f"--discriminator {config.discriminator} learns distances, but {why}; use "
            "--discriminator ends"
        )


def _check_vectors(config: Config, world: World, facts: Facts) -> None:
    """Whether observations are vectors, where an objective is about their changes."""
    if not facts.objective.of_vectors:
        return
    what, why = f"--objective {config.objective} needs observations that are vectors", ""
    if isinstance(world, TableWorld):
        why = f"{world.name} is a table"
    elif len(world.obs.shape) != 1:
        why = f"observations of {world.name} are {' x '.join(map(str, world.obs.shape))} arrays"
    if why:
        raise UserError(f"{what}, but {why}; use another --method")


def _rewarding(config: Config, facts: Facts) -> str:
    """The option that names what gives the rewards."""
    if facts.discriminates:
        return f"--discriminator {config.discriminator}"
    return f"--objective {config.objective}"


def checked_names(config: Config) -> None:
    """`UserError` where ``config`` names what is not there, plugins included."""
    for name, spec in SPECS.items():
        if spec.kind and getattr(config, name) not in NAMED[spec.kind]:
            load_plugins()
        if spec.kind and getattr(config, name) not in NAMED[spec.kind]:
            raise unknown(spec.kind, getattr(config, name), NAMED[spec.kind])
    name = observations.parse(config.observation)[0]
    if config.observation != Config.observation and name not in OBSERVATIONS:
        raise unknown("observation", name, OBSERVATIONS)
    if config.network != Config.network:
        networks.parse(config.network)


_MOST_PIXELS: Final = 64 * 64  # convolutions are dense matrices of pixels


def _check_networks(config: Config, world: World, facts: Facts) -> None:
    is_table = isinstance(world, TableWorld)
    if not facts.observation.fits(world):
        fits = [name for name, o in OBSERVATIONS.items() if o.fits(world)]
        raise UserError(
            f"--observation {config.observation} does not fit {world.name}; use {' or '.join(fits)}"
        )
    if not is_table and (facts.listed or facts.rule.sweeps):
        what = _rewarding(config, facts) if facts.listed else f"--q-rule {config.q_rule}"
        if facts.objective.listed:
            what = f"--objective {config.objective}"
        raise UserError(
            f"{what} needs a table of all states, and those of {world.name} cannot be listed; "
            "try --method apart_spread"
        )
    for what, network in facts.networks.items():
        if network.of_states and facts.observation.images:
            raise UserError(
                f"--network: a table (of {what}) has one entry per state and cannot read "
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
                f"large (at most {_MOST_PIXELS:,} pixels); resize them (gym:ID:wrap=module:Wrapper)"
                ", use other observations (Atari: obs_type=ram), or --network mlp"
            )
    if "logits" in facts.networks and facts.networks["logits"].only_q:
        raise UserError(
            f"--network {config.network}: {facts.logits.kind} is for Q only; name a network for "
            f"the logits too, as in {facts.q}/table"
        )
    if not facts.q.is_table and not facts.rule.adam:
        raise UserError(
            f"--q-rule {config.q_rule} is for tables; --network {config.network} needs "
            f"--q-rule {facts.rule.with_adam}"
        )


_CHECKS: Final[Sequence[Callable[[Config, World, Facts], None]]] = (
    _check_heads,
    _check_reward,
    _check_time,
    _check_networks,
    _check_places,
    _check_task,
    _check_kept,
    _check_embedded,
    _check_vectors,
    _check_numbers,
    _check_memory,
)


def memory_bytes(config: Config, world: World) -> int:
    """Bytes of parameters (with Adam's two moments and one temporary), rows, replay and batch.

    And of what the objective keeps of all pairs of states or of skills.
    """
    facts, sight = Facts.of(config, world), observations.sight_of(world, config.observation)
    numbers = 0 if isinstance(world, TableWorld) else math.prod(world.obs.shape)
    starts = len(world.starts) if isinstance(world, TableWorld) else 0
    outputs = facts.objective.outputs(config.skills, numbers, starts)
    logits: list[tuple[int, ...]] = [(n,) for n in outputs]
    if facts.discriminates:
        logits = [facts.discriminator.shape(config.skills)]
    q = q_learning.shape(world.about.n_actions, config.skills, world.about.heads)
    n_rows = 2 * config.batch
    if sight.n_states is not None:
        n_rows = sight.n_states if facts.rule.sweeps else min(n_rows, sight.n_states)
    floats = 4 * config.buffer + 16 * config.batch
    floats += facts.objective.works_with(config.skills, sight.n_states or 0)
    for form, shape, copies in (*((facts.logits, rows, 4) for rows in logits), (facts.q, q, 8)):
        size = NETWORKS[form.kind].size(form, sight, shape)
        floats += copies * size.parameters + n_rows * size.floats_per_row
    ring = 0
    if facts.discriminates and facts.over_known and sight.n_states is None and not facts.by_place:
        m = points_for(config.skills)  # distances between all points, and to all places
        floats += m * m * 5 // 4 + 2 * m * config.skills
    if not isinstance(world, TableWorld):
        kept = config.buffer + config.skills * (config.horizon + 1)  # replay, evaluation
        if facts.objective.by_episode:  # whole episodes of a batch
            kept += config.batch * (config.decisions + 1)
        kept += facts.objective.keeps(config.skills, config.decisions)
        ring = kept * numbers * np.dtype(world.obs.dtype).itemsize
    return 4 * floats + ring


def _physical_memory() -> int:
    try:
        return int(os.sysconf("SC_PAGE_SIZE")) * int(os.sysconf("SC_PHYS_PAGES"))
    except (ValueError, OSError, AttributeError):
        return sys.maxsize
