"""From what the user said to a complete, valid configuration and its world. No JAX."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from apart._config import SPECS, Config, check_value, flag
from apart._errors import UserError, unknown
from apart.methods import METHODS
from apart.objective.discriminators import DISCRIMINATORS
from apart.objective.rewards import REWARDS
from apart.objective.time_weights import TIME_WEIGHTS
from apart.worlds import grid
from apart.worlds.grid import World
from apart.worlds.layouts import LAYOUTS

CHOICES: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "world": {name: layout.summary for name, layout in LAYOUTS.items()},
        "method": {name: method.summary for name, method in METHODS.items()},
        "discriminator": {name: d.summary for name, d in DISCRIMINATORS.items()},
        "reward": {name: r.summary for name, r in REWARDS.items()},
        "time weight": {name: w.summary for name, w in TIME_WEIGHTS.items()},
        "discriminator states": {"all": "every step", "last": "the last step of an episode only"},
        "q rule": {
            "adam": "an Adam step on the squared TD error",
            "plain": "a step of the rate towards the mean target of each sampled cell",
            "sweep": "the same for every known transition at once; needs --share-transitions",
        },
        "reward state": {"next": "the state after the action", "current": "the state before it"},
    }
)


def _counts(config: Config) -> bool:
    return config.discriminator == "counts"


# Options that some configurations do not look at; setting one of those is a mistake worth a word.
_IDLE: Final[Mapping[str, Callable[[Config], bool]]] = MappingProxyType(
    {
        "buffer": lambda c: _counts(c) and c.q_rule == "sweep",
        "init_logits": _counts,
        "logit_decay": _counts,
        "discriminator_states": _counts,
        "temperature_in_loss": lambda c: c.discriminator != "one_vs_all",
        "inverse_temperature": lambda c: c.discriminator.startswith("all_pairs"),
    }
)


def resolve(world: str | World, method: str, options: Mapping[str, Any]) -> tuple[Config, World]:
    """The configuration of ``method`` with the user's ``options`` on top, and the loaded world.

    Raises:
        UserError: an unknown name, a value out of range, or options that contradict each other.
    """
    if method not in METHODS:
        raise unknown("method", method, METHODS)
    for name in options:
        if name not in SPECS:
            raise unknown("option", name, SPECS)
    loaded = world if isinstance(world, World) else grid.load(world)
    values = {**METHODS[method].options, **options, "world": loaded.name, "method": method}
    config = Config(**{name: check_value(name, value) for name, value in values.items()})
    if config.horizon == 0:
        config = dataclasses.replace(config, horizon=loaded.horizon)
    if config.update_every:
        for name in ("updates_per_episode", "episodes_per_update"):
            if name in options:
                raise UserError(f"--update-every and {flag(name)}: set one of them (or 0)")
        per_episode = max(round(config.horizon / config.update_every), 1)
        config = dataclasses.replace(config, updates_per_episode=per_episode)
    _check_names(config)
    _check_together(config, loaded)
    for name in options:
        if name in _IDLE and _IDLE[name](config):
            raise UserError(f"{flag(name)} does nothing with --method {method} and these options")
    return config, loaded


def _check_names(config: Config) -> None:
    for name, spec in SPECS.items():
        if spec.kind not in ("", "world") and getattr(config, name) not in CHOICES[spec.kind]:
            raise unknown(spec.kind, getattr(config, name), CHOICES[spec.kind])


def _check_together(config: Config, world: World) -> None:
    fits = REWARDS[config.reward].discriminators
    if config.discriminator not in fits:
        raise UserError(
            f"--reward {config.reward} needs --discriminator {' or '.join(fits)}, "
            f"not {config.discriminator}"
        )
    if config.q_rule == "sweep" and (config.dropout or not config.share_transitions):
        raise UserError("--q-rule sweep needs --share-transitions and takes no --dropout")
    if config.episodes_per_update > 1 and config.updates_per_episode > 1:
        raise UserError("--episodes-per-update and --updates-per-episode: one of them must be 1")
    if config.buffer < config.collection:
        raise UserError(
            f"--buffer {config.buffer} is smaller than the {config.collection} transitions "
            "between two updates"
        )
    needed, present = memory_bytes(config, world), _physical_memory()
    if needed > present:
        raise UserError(
            f"{flag('skills')} {config.skills} in a world of {world.n_states} cells needs "
            f"{needed / 1e9:,.0f} GB of memory and this machine has {present / 1e9:,.0f}"
        )


def memory_bytes(config: Config, world: World) -> int:
    """Bytes of tables (with Adam's two moments and one temporary), replay and batch."""
    cells = 1
    for size in DISCRIMINATORS[config.discriminator].shape(config.skills):
        cells *= size
    per_state = 4 * cells + 8 * world.next_state.shape[1] * config.skills
    return int(4 * (world.n_states * per_state + 4 * config.buffer + 16 * config.batch))


def _physical_memory() -> int:
    try:
        return int(os.sysconf("SC_PAGE_SIZE")) * int(os.sysconf("SC_PHYS_PAGES"))
    except (ValueError, OSError, AttributeError):
        return sys.maxsize
