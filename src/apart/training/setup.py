"""What a run folder says about how to train, or to go on: config.json. Does not import JAX."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from apart._config import SPECS, Config, check_value
from apart._errors import UserError, unknown
from apart.runs import store
from apart.runs.checkpoint import Saved, manifests
from apart.runs.files import read_json, write_json
from apart.settings import check
from apart.training import threads
from apart.worlds import grid
from apart.worlds.grid import World

PACKAGES = ("jax", "jaxlib", "optax", "numpy")


class Plan(NamedTuple):
    """How the run in a folder goes on."""

    config: Config
    world: World
    sha256: str  # of the configuration that its checkpoints were written with
    finished: bool
    longer: bool  # it is to make more steps than it was started for


def write(folder: Path, config: Config, world: World) -> None:
    """Everything needed to run it again, plus versions."""
    write_json(
        folder / store.CONFIG,
        {
            "config": dataclasses.asdict(config),
            "config_sha256": config.fingerprint(),
            "map": world.text.split("\n"),
            "versions": {name: metadata.version(name) for name in PACKAGES},
        },
    )


def folder_of_run(path: str | Path) -> Path:
    """``path`` as the folder of one run; `UserError` when it is none."""
    folder = Path(path)
    if not folder.is_dir():
        raise UserError(f"{folder}: no such run folder")
    if not (folder / store.CONFIG).exists():
        raise UserError(f"{folder}: no run here ({store.CONFIG} is missing)")
    return folder


def read(folder: Path, steps: int | None) -> Plan:
    """The configuration and world of the run in ``folder``, checked; trained to ``steps``."""
    stored = read_json(folder / store.CONFIG)
    config, world = _config(folder, stored)
    sha256 = config.fingerprint()
    if stored.get("config_sha256") != sha256:
        raise UserError(f"{folder / store.CONFIG}: the configuration does not match its checksum")
    finished = (folder / store.SUMMARY).exists()
    if steps is None or steps == config.steps:
        return Plan(config, world, sha256, finished, longer=False)
    if steps < config.steps:
        raise UserError(f"--steps {steps}: {folder} was started for {config.steps} steps already")
    if config.anneal:
        raise UserError(
            f"--steps: the rates of {folder} fall towards step {config.steps}, so that it cannot "
            "go on; train anew"
        )
    longer = dataclasses.replace(config, steps=steps)
    return Plan(longer, world, sha256, finished=False, longer=True)


def _config(folder: Path, stored: Mapping[str, Any]) -> tuple[Config, World]:
    where = folder / store.CONFIG
    fields, rows = stored.get("config"), stored.get("map")
    if not isinstance(fields, dict) or not isinstance(rows, list):
        raise UserError(f"{where}: not the configuration of a run")
    if not all(isinstance(row, str) for row in rows):
        raise UserError(f"{where}: the map is not lines of text")
    for name in fields:
        if name not in SPECS:
            raise unknown("option", str(name), SPECS)
    missing = [name for name in SPECS if name not in fields]
    if missing:
        raise UserError(f"{where}: {missing[0]} is missing; written by another version?")
    config = Config(**{name: check_value(name, value) for name, value in fields.items()})
    world = grid.parse("\n".join(rows), config.world, config.horizon)
    check(config, world)
    return config, world


def differences(saved: Saved | None, versions: Mapping[str, str], n_threads: int) -> list[str]:
    """A line for everything because of which the bits may not be those of an unbroken run."""
    if saved is None:
        return []
    lines = [f"passed over: {line}" for line in saved.passed_over]
    before = saved.manifest.get("versions")
    before = before if isinstance(before, dict) else {}
    for name in sorted(set(before) | set(versions)):
        if before.get(name) != versions.get(name):
            lines.append(
                f"saved with {name} {before.get(name)}, going on with {versions.get(name)}: "
                "bits may differ"
            )
    if saved.manifest.get("threads") != n_threads:
        lines.append(
            f"saved with {saved.manifest.get('threads')} threads, going on with {n_threads}: bits "
            "of networks may differ"
        )
    return lines


def threads_of(folder: Path, config: Config) -> int:
    """Threads with which the run in ``folder`` was saved last; else what pays."""
    for path in reversed(manifests(folder / store.CHECKPOINTS)):
        with contextlib.suppress(UserError):
            found = read_json(path).get("threads")
            if isinstance(found, int) and 1 <= found <= threads.MAX_THREADS:
                return found
    return threads.best(config)


def cut_back(writer: store.Writer, config: Config, iteration: int) -> None:
    """Keep the evaluations up to ``iteration`` that the run as configured makes."""

    def number(steps: int) -> int | None:
        """Which evaluation this is, if the run makes it."""
        at, off = divmod(steps, config.collection)
        if off or at > iteration:
            return None
        if at == config.iterations:
            return -1
        return None if at % config.evaluate_iterations else at // config.evaluate_iterations

    def in_details(steps: int) -> bool:
        n = number(steps)
        return n is not None and (n == -1 or n & (n - 1) == 0)

    writer.cut_back(lambda steps: number(steps) is not None, in_details)
