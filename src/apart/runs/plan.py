"""What a run folder says about how to train, or to go on: config.json. Does not import JAX."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from apart._config import SPECS, Config, check_value
from apart._errors import UserError, unknown
from apart.runs import folder as run_folder
from apart.runs.checkpoint import Saved, manifests
from apart.runs.files import digest, read_sealed, write_sealed
from apart.settings import check
from apart.worlds import grid
from apart.worlds.grid import World

MAX_SEEDS = 1_000_000
MAX_THREADS = 1024
PACKAGES = ("jax", "jaxlib", "optax", "numpy")


class Plan(NamedTuple):
    """How the run in a folder goes on."""

    config: Config
    world: World
    sha256: str  # its `identity`
    finished: bool
    longer: bool  # it is to make more steps than it was started for


def write(folder: Path, config: Config, world: World) -> None:
    """Everything needed to run it again, plus versions."""
    write_sealed(folder / run_folder.CONFIG, _content(config, world))


def write_set(folder: Path, config: Config, world: World, seeds: int) -> None:
    """The same of a set: ``config`` is that of its first seed."""
    write_sealed(folder / run_folder.SET, {"seeds": seeds, **_content(config, world)})


def _content(config: Config, world: World) -> dict[str, Any]:
    return {
        "config": dataclasses.asdict(config),
        "config_sha256": identity(config, world),
        "map": world.text.split("\n"),
        "versions": {name: metadata.version(name) for name in PACKAGES},
    }


def identity(config: Config, world: World) -> str:
    """SHA-256 of all that decides the bits of a state; how long the run is rarely does."""
    fields = dataclasses.replace(config, steps=config.steps if config.anneal else 1)
    return digest(f"{fields.fingerprint()}\n{world.text}".encode())


def folder_of_run(path: str | Path) -> Path:
    """``path`` as the folder of one run; `UserError` when it is none."""
    folder = Path(path)
    if not folder.is_dir():
        raise UserError(f"{folder}: no such run folder")
    if not (folder / run_folder.CONFIG).exists():
        raise UserError(f"{folder}: no run here ({run_folder.CONFIG} is missing)")
    return folder


def read(folder: Path, steps: int | None) -> Plan:
    """The configuration and world of the run in ``folder``, checked; trained to ``steps``."""
    return _plan(folder, folder / run_folder.CONFIG, read_sealed(folder / run_folder.CONFIG), steps)


def read_set(folder: Path, steps: int | None) -> dict[Path, Plan]:
    """The plans of all runs of the set in ``folder``, also of those that were not begun.

    A folder of runs that were not started as a set is one too: each goes on as it was started.
    """
    if not (folder / run_folder.SET).exists():
        return {path: read(path, steps) for path in run_folder.seed_folders(folder)}
    path = folder / run_folder.SET
    stored = read_sealed(path)
    first = _plan(folder, path, stored, steps)
    seeds = stored.get("seeds")
    if not isinstance(seeds, int) or not 1 <= seeds <= MAX_SEEDS:
        raise UserError(f"{path}: a set of {seeds!r} seeds")
    plans = {}
    for seed in range(first.config.seed, first.config.seed + seeds):
        run = folder / f"seed-{seed}"
        if run.is_symlink():
            raise UserError(f"{run}: a link; a set reads its own folder only")
        config = dataclasses.replace(first.config, seed=seed)
        new = Plan(config, first.world, identity(config, first.world), finished=False, longer=False)
        begun = (run / run_folder.CONFIG).exists()
        plans[run] = read(run, config.steps) if begun else new
        if plans[run].sha256 != new.sha256:
            raise UserError(f"{run / run_folder.CONFIG}: of another configuration than {path}")
    return plans


def _plan(folder: Path, where: Path, stored: Mapping[str, Any], steps: int | None) -> Plan:
    config, world = _config(where, stored)
    sha256 = identity(config, world)
    if stored.get("config_sha256") != sha256:
        raise UserError(f"{where}: config_sha256 is of another configuration")
    finished = (folder / run_folder.SUMMARY).exists()
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


def _config(where: Path, stored: Mapping[str, Any]) -> tuple[Config, World]:
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
    if config.horizon < 1:
        raise UserError(f"{where}: a horizon of {config.horizon}")
    world = grid.parse("\n".join(rows), config.world, config.horizon)
    check(config, world)
    return config, world


def differences(
    folder: Path, saved: Saved | None, versions: Mapping[str, str], n_threads: int
) -> list[str]:
    """A line for everything that going on from ``saved`` should not do silently."""
    if saved is None:
        traces = (run_folder.METRICS, run_folder.DETAILS, run_folder.CHECKPOINTS)
        begun = any((folder / name).exists() for name in traces)
        return ["no checkpoint had been saved: begins anew"] if begun else []
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


def saved_threads(folder: Path) -> int | None:
    """Threads with which the run in ``folder`` was saved last, where that is known."""
    for path in reversed(manifests(folder / run_folder.CHECKPOINTS)):
        with contextlib.suppress(UserError):
            found = read_sealed(path).get("threads")
            if isinstance(found, int) and 1 <= found <= MAX_THREADS:
                return found
    return None


def check_saved(folder: Path, arrays: Mapping[str, Any], manifest: Mapping[str, Any]) -> None:
    """`UserError` where a checkpoint does not fit the rest of the run in ``folder``."""
    with run_folder.shaped(folder / run_folder.CHECKPOINTS):
        if int(arrays["iteration"]) != manifest["iteration"]:
            raise UserError(f"{folder / run_folder.CHECKPOINTS}: a state of another iteration")
        for name in (run_folder.METRICS, run_folder.DETAILS):
            log = run_folder.read_log(folder / name, manifest["logs"][name])
            if name == run_folder.METRICS:
                for row in run_folder.rows_of(log):
                    int(row["env_steps"]), int(row["n_effective"])
        if not all(math.isfinite(float(seconds)) for seconds in manifest["seconds"].values()):
            raise ValueError(manifest["seconds"])
