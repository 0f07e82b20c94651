"""What a run folder says about how to train, or to go on: config.json. Does not import JAX."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from apart import worlds
from apart._config import SPECS, Config, check_value, unknown_option
from apart._errors import RENAMED, UserError, unknown
from apart._registry import Registry, load_plugins
from apart.checks import check
from apart.facts import NAMED, staged
from apart.runs import folder as run_folder
from apart.runs import versions
from apart.runs.checkpoint import Saved, manifests
from apart.runs.files import digest, read_sealed, write_sealed
from apart.settings import completed
from apart.worlds.world import TableWorld, World

MAX_SEEDS = 1_000_000
MAX_THREADS = 1024
PACKAGES = ("jax", "jaxlib", "optax", "numpy")


class Plan(NamedTuple):
    """How the run in a folder goes on."""

    config: Config
    world: World
    sha256: str  # what ties checkpoints, skills and summary to it: its `identity` when written
    finished: bool
    stored: Mapping[str, Any] | None = None  # what its file says, whichever version wrote it
    longer: bool = False  # it is to make more steps than it was started for


def seeds_from(first: Any, count: Any) -> range:
    """``count`` seeds from ``first`` on; `UserError` naming the flag otherwise."""
    first = check_value("seed", first)
    if isinstance(count, bool) or not isinstance(count, int):
        raise UserError(f"--seeds: {count!r} is not a whole number")
    if not 1 <= count <= MAX_SEEDS:
        raise UserError(f"--seeds: {count} is outside 1 to {MAX_SEEDS}")
    check_value("seed", first + count - 1)
    return range(first, first + count)


def write(folder: Path, config: Config, world: World) -> None:
    """Everything needed to run it again, plus versions."""
    write_sealed(folder / run_folder.CONFIG, _content(config, world))


def write_set(folder: Path, config: Config, world: World, seeds: int) -> None:
    """The same of a set: ``config`` is that of its first seed."""
    write_sealed(folder / run_folder.SET, {"seeds": seeds, **_content(config, world)})


def write_longer(path: Path, plan: Plan) -> None:
    """From now on the run or set that ``plan`` was read from ``path`` of is longer."""
    assert plan.stored is not None
    config = {**plan.stored["config"], "steps": plan.config.steps}
    write_sealed(path, {**plan.stored, "config": config})


def _content(config: Config, world: World) -> dict[str, Any]:
    seen = world.observed if isinstance(world, TableWorld) else None
    return {
        "format": versions.FORMAT,
        "config": dataclasses.asdict(config),
        "world": dict(world.about.spec),
        **({} if seen is None else {run_folder.OBSERVATIONS: seen.lines()}),
        "config_sha256": identity(config, world),
        "versions": {name: metadata.version(name) for name in PACKAGES},
    }


def identity(config: Config, world: World) -> str:
    """SHA-256 of all that decides the bits of a state, but for the number of steps.

    That counts with falling rates alone: stages that depend on it (`facts.staged`) cannot be
    stretched, and folders of studies have it in their names. Of the configuration only what
    differs from the defaults counts: a new option changes nothing.
    """
    fields = config.differing()
    if not config.anneal:
        fields.pop("steps", None)
    content = {"config": fields, "world": world.about.spec}
    return digest(json.dumps(content, sort_keys=True).encode())


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
    return _plan(folder, folder / run_folder.CONFIG, steps)


def read_set(folder: Path, steps: int | None) -> dict[Path, Plan]:
    """The plans of all runs of the set in ``folder``, also of those that were not begun.

    A folder of runs that were not started as a set is one too: each goes on as it was started.
    """
    if not (folder / run_folder.SET).exists():
        return {path: read(path, steps) for path in run_folder.seed_folders(folder)}
    path = folder / run_folder.SET
    first = _plan(folder, path, steps)
    seeds = (first.stored or {}).get("seeds")
    if not isinstance(seeds, int) or not 1 <= seeds <= MAX_SEEDS:
        raise UserError(f"{path}: seeds is {seeds!r}, not a number from 1 to {MAX_SEEDS}")
    plans = {}
    for seed in range(first.config.seed, first.config.seed + seeds):
        run = folder / f"seed-{seed}"
        if run.is_symlink():
            raise UserError(f"{run}: a link; a set reads its own folder only")
        config = dataclasses.replace(first.config, seed=seed)
        plan = Plan(config, first.world, identity(config, first.world), finished=False)
        if (run / run_folder.CONFIG).exists():
            plan = read(run, config.steps)
            same = plan.world.about.spec == first.world.about.spec
            if plan.config != config or not same:
                raise UserError(f"{run / run_folder.CONFIG}: differs from {path}")
        plans[run] = plan
    return plans


def read_longer_set(folder: Path, steps: int) -> Plan:
    """The plan of the set itself, trained to ``steps``."""
    return _plan(folder, folder / run_folder.SET, steps)


def _plan(folder: Path, path: Path, steps: int | None) -> Plan:
    stored = read_sealed(path)
    config, world, sha256 = read_content(path, stored)
    finished = (folder / run_folder.SUMMARY).exists()
    if steps is None or steps == config.steps:
        return Plan(config, world, sha256, finished, stored)
    if steps < config.steps:
        raise UserError(f"--steps {steps}: {folder} was started for {config.steps} steps already")
    if config.anneal:
        raise UserError(
            f"--steps: {folder} cannot be trained for longer, as its learning rates decay to 0 at "
            f"step {config.steps}; train a new run"
        )
    if staged(config):
        raise UserError(
            f"--steps: {folder} cannot be trained for longer, as objective '{config.objective}' "
            f"has stages that divide its {config.steps} steps; train a new run"
        )
    longer = dataclasses.replace(config, steps=steps)
    return Plan(longer, world, sha256, finished=False, stored=stored, longer=True)


def read_content(path: Path, stored: Mapping[str, Any]) -> tuple[Config, World, str]:
    """Configuration, world and identity from the content of ``path``, whichever version wrote it.

    Raises:
        UserError: it is damaged, of a later version, or says what is not there any more.
    """
    written = stored.get("format")
    known = type(written) is int and 1 <= written <= versions.FORMAT
    if written is not None and not known:
        raise UserError(
            f"{path}: format {written!r}, this version reads up to {versions.FORMAT}; it was "
            "written by a later version of apart"
        )
    try:
        today = versions.from_0_1(stored) if written is None else stored
        config, world = _config(today)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    sha256 = identity(config, world) if written is not None else str(stored["config_sha256"])
    if stored.get("config_sha256") != sha256:
        raise UserError(f"{path}: config_sha256 does not match the configuration")
    return config, world, sha256


def _config(stored: Mapping[str, Any]) -> tuple[Config, World]:
    fields, spec = stored.get("config"), stored.get("world")
    if not isinstance(fields, dict) or not isinstance(spec, dict):
        raise UserError("not the configuration of a run")
    for name in fields:
        if name not in SPECS:
            raise unknown_option(str(name), str(name))
    config = Config(**{name: check_value(name, value) for name, value in fields.items()})
    _registered(config)
    if config.horizon < 1:
        raise UserError(f"horizon is {config.horizon}, not a positive number")
    world = worlds.from_spec(spec, config.horizon)
    world = worlds.seen_as(world, stored.get(run_folder.OBSERVATIONS))
    config = completed(config, world)
    check(config, world)
    return config, world


def _registered(config: Config) -> None:
    """`UserError` where a run names what was renamed, or what this process did not register."""
    for field, spec in SPECS.items():
        records, name = NAMED.get(spec.kind or ""), getattr(config, field)
        if isinstance(records, Registry) and name not in records:
            load_plugins()
            if name in records:
                continue
            if (spec.kind, name) in RENAMED:
                why = unknown(spec.kind, name, records)
                raise UserError(f"{why}; an earlier version made this run; train it again")
            raise UserError(
                f"unknown {spec.kind} '{name}': not registered in this process; "
                "register it first, in Python or in a plugin (docs/guide/methods.md)"
            )


def differences(
    folder: Path, saved: Saved | None, versions_now: Mapping[str, str], n_threads: int
) -> list[str]:
    """A line for everything that going on from ``saved`` should not do silently."""
    if saved is None:
        traces = (run_folder.METRICS, run_folder.DETAILS, run_folder.CHECKPOINTS)
        begun = any((folder / name).exists() for name in traces)
        return ["no checkpoint was saved: starting from the beginning"] if begun else []
    lines = [f"skipped: {line}" for line in saved.passed_over]
    before = saved.manifest.get("versions")
    before = before if isinstance(before, dict) else {}
    for name in sorted(set(before) | set(versions_now)):
        if before.get(name) != versions_now.get(name):
            lines.append(
                f"saved with {name} {before.get(name)}, continuing with {versions_now.get(name)}: "
                "results may differ in their last bits"
            )
    if saved.manifest.get("threads") != n_threads:
        lines.append(
            f"saved with {saved.manifest.get('threads')} threads, continuing with {n_threads}: "
            "networks may differ in their last bits"
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
            raise UserError(
                f"{folder / run_folder.CHECKPOINTS}: its iteration differs from the state's"
            )
        for name in run_folder.logs_in(manifest["logs"]):
            log = run_folder.read_log(folder / name, manifest["logs"][name])
            if name == run_folder.METRICS:
                for row in run_folder.rows_of(log):
                    int(row["env_steps"]), float(row["n_effective"])
        if not all(math.isfinite(float(seconds)) for seconds in manifest["seconds"].values()):
            raise ValueError(manifest["seconds"])
