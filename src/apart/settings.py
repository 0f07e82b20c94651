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
from apart.learner.approximators import NETWORKS
from apart.methods import METHODS
from apart.objective.discriminators import DISCRIMINATORS
from apart.objective.rewards import REWARDS
from apart.objective.time_weights import TIME_WEIGHTS
from apart.worlds import grid
from apart.worlds.grid import World
from apart.worlds.layouts import LAYOUTS
from apart.worlds.observations import OBSERVATIONS

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
            "plain": "a step of the rate towards the mean target of each cell of a table",
        },
        "reward state": {"next": "the state after the action", "current": "the state before it"},
        "observation": {name: o.summary for name, o in OBSERVATIONS.items()},
        "network": {name: n.summary for name, n in NETWORKS.items()},
        "discriminator network": {
            "same": "as --network",
            **{name: n.summary for name, n in NETWORKS.items()},
        },
        "network rows": {
            "auto": "whichever is less work",
            "states": "every state once; the batch is a histogram over them",
            "samples": "the samples of the batch, as where states cannot be enumerated",
        },
    }
)


def _counts(config: Config) -> bool:
    return config.discriminator == "counts"


# Options that some configurations do not look at; setting one of those is a mistake worth a word.
_IDLE: Final[Mapping[str, Callable[[Config], bool]]] = MappingProxyType(
    {
        "buffer": lambda c: _counts(c) and c.sweep,
        "dropout": lambda c: (
            c.time_weight == "last"
        ),  # keeps the last step alone, as the weight does
        "init_logits": _counts,
        "logit_decay": _counts,
        "discriminator_states": _counts,
        "temperature_in_loss": lambda c: c.discriminator != "one_vs_all",
        "inverse_temperature": lambda c: c.discriminator.startswith("all_pairs"),
        "pixels_per_cell": lambda c: c.observation == "one_hot",
        "discriminator_network": _counts,
        "hidden": lambda c: "mlp" not in (c.network, c.discriminator_network),
        "channels": lambda c: "cnn" not in (c.network, c.discriminator_network),
        "kernel": lambda c: "cnn" not in (c.network, c.discriminator_network),
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
    options = {name: check_value(name, value) for name, value in options.items()}
    options = {name: value for name, value in options.items() if value != "same"}  # the default
    loaded = world if isinstance(world, World) else grid.load(world)
    values = {**_defaults(method, options), **options, "world": loaded.name, "method": method}
    config = Config(**values)
    if config.horizon == 0:
        config = dataclasses.replace(config, horizon=loaded.horizon)
    if config.update_every:
        for name in ("updates_per_episode", "episodes_per_update"):
            if name in options:
                raise UserError(f"--update-every and {flag(name)}: set one of them (or 0)")
        per_episode = max(round(config.horizon / config.update_every), 1)
        config = dataclasses.replace(config, updates_per_episode=per_episode)
    _check_names(config)
    if config.network_rows == "auto":
        # An update on samples runs the networks on the states before and after: 2 B rows.
        fewer = "states" if loaded.n_states <= 2 * config.batch or config.sweep else "samples"
        rows = "states" if _tables_only(config) else fewer
        config = dataclasses.replace(config, network_rows=rows)
    _check_together(config, loaded)
    for name in options:
        if name in _IDLE and _IDLE[name](config):
            raise UserError(f"{flag(name)} does nothing with --method {method} and these options")
    return config, loaded


def check(config: Config, world: World) -> None:
    """`UserError` where a complete configuration names what is not there or contradicts itself."""
    _check_names(config)
    _check_together(config, world)


def _defaults(method: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """What the method and its networks set; whoever named the network sets the rates."""
    own = METHODS[method].options
    said = {**own, **options}
    q, logits = said.get("network", "table"), said.get("discriminator_network", "same")
    if logits == "same":
        logits = "table" if said.get("discriminator") == "counts" else q
    of_networks: dict[str, Any] = {}
    if q in NETWORKS and logits in NETWORKS:  # else: an unknown name, told later
        of_networks = {**NETWORKS[q].of_q, **NETWORKS[logits].of_discriminator}
    by_user = "network" in options or "discriminator_network" in options
    found = {**own, **of_networks} if by_user else {**of_networks, **own}
    return {**found, "discriminator_network": logits}


def _tables_only(config: Config) -> bool:
    return config.network == "table" and config.discriminator_network == "table"


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
    if config.sweep and (config.dropout or not config.share_transitions):
        raise UserError("--sweep needs --share-transitions and takes no --dropout")
    _check_networks(config)
    if config.episodes_per_update > 1 and config.updates_per_episode > 1:
        raise UserError("--episodes-per-update and --updates-per-episode: one of them must be 1")
    if config.buffer < config.collection:
        raise UserError(
            f"--buffer {config.buffer} is smaller than the {config.collection} transitions "
            "between two updates"
        )
    if config.iterations >= 2**31:
        raise UserError(
            f"--steps {config.steps}: more than {2**31 - 1:,} rounds of {config.collection} steps"
        )
    needed, present = memory_bytes(config, world), _physical_memory()
    if needed > present:
        image = OBSERVATIONS[config.observation].image(world, config.pixels_per_cell)
        what = f" seen as {image[0]} x {image[1]} pixels" if config.observation != "one_hot" else ""
        raise UserError(
            f"{flag('skills')} {config.skills} in a world of {world.n_states} cells{what} needs "
            f"{needed / 1e9:,.0f} GB of memory and this machine has {present / 1e9:,.0f}"
        )


def _check_networks(config: Config) -> None:
    for name in ("network", "discriminator_network"):
        kind = getattr(config, name)
        fits = NETWORKS[kind].observations
        if config.observation not in fits:
            if _counts(config) and name == "discriminator_network":
                raise UserError(
                    "--discriminator counts is a table of states and cannot see "
                    f"{config.observation}; try --method apart_logits"
                )
            raise UserError(
                f"{flag(name)} {kind} reads --observation {' or '.join(fits)}, "
                f"not {config.observation}"
            )
    if config.observation != "one_hot" and config.kernel % 2 == 0:
        raise UserError(f"--kernel: {config.kernel} is even; use {config.kernel + 1}")
    if config.network != "table" and config.q_rule != "adam":
        raise UserError(
            f"--q-rule {config.q_rule} moves cells of a table; --network "
            f"{config.network} needs --q-rule adam"
        )
    if config.network_rows == "samples" and (config.sweep or config.q_rule == "plain"):
        which = "--sweep" if config.sweep else "--q-rule plain"
        raise UserError(f"{which} goes over all states; it needs --network-rows states")


def memory_bytes(config: Config, world: World) -> int:
    """Bytes of parameters (with Adam's two moments and one temporary), rows, replay and batch."""
    image = OBSERVATIONS[config.observation].image(world, config.pixels_per_cell)
    logits = DISCRIMINATORS[config.discriminator].shape(config.skills)
    q = (world.next_state.shape[1], config.skills)
    n_rows = world.n_states if config.network_rows == "states" else 2 * config.batch
    floats = 4 * config.buffer + 16 * config.batch
    for kind, shape, copies in (
        (config.discriminator_network, logits, 4),
        (config.network, q, 8),
    ):
        size = NETWORKS[kind].size(config, world.n_states, image, shape)
        floats += copies * size.parameters + n_rows * size.floats_per_row
    return 4 * floats


def _physical_memory() -> int:
    try:
        return int(os.sysconf("SC_PAGE_SIZE")) * int(os.sysconf("SC_PHYS_PAGES"))
    except (ValueError, OSError, AttributeError):
        return sys.maxsize
