"""The run folder: what is in it, how it is written, how it is read back. No JAX.

One seed is one folder; a set of seeds is a folder of such folders with an aggregate summary.
"""

from __future__ import annotations

import contextlib
import csv
import json
import math
import os
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from apart import worlds
from apart._errors import UserError
from apart.runs import checkpoint, files, versions
from apart.runs.skills import Acting, Place, Skill, Skills
from apart.worlds.world import World

CONFIG: Final = "config.json"
SET: Final = "set.json"
METRICS: Final = "metrics.csv"
DETAILS: Final = "details.jsonl"
HISTORY: Final = "history.jsonl"
SKILLS: Final = "skills.json"
SUMMARY: Final = "summary.json"
CHECKPOINTS: Final = "checkpoints"
PICTURE: Final = "skills.png"
REPORT: Final = "report.html"
FRAMES: Final = "frames.json"
OBSERVATIONS: Final = "observations"  # in config.json: what the states of a table look like
RUNS: Final = "runs"  # the folder in that of a study in which its runs are
LOGS: Final = (METRICS, DETAILS, HISTORY)  # what grows while training; 0.1 wrote no history
SEED: Final = re.compile(r"seed-[0-9]+")


def found(n_effective: float, n_available: int | None, n_skills: int) -> str:
    """``71 of 85``; ``8 of 8 possible`` with 8 skills for 85 cells; ``71`` where nobody knows."""
    if n_available is None:
        return f"{n_effective:g}"
    if n_skills < n_available:
        return f"{n_effective:g} of {n_skills} possible"
    return f"{n_effective:g} of {n_available}"


class Evaluated(NamedTuple):
    """A checkpoint that was evaluated after the run was read."""

    entries: list[dict[str, Any]]  # one per skill, as in skills.json
    saved: checkpoint.Saved


@dataclass(frozen=True, repr=False)
class Run:
    """A run, read from its folder: finished, or as far as it has come.

    Attributes:
        path: the folder.
        config: the options that it was trained with (``run.config["skills"]``).
        spec: what its world can be built from again.
        summary: the content of summary.json; of an unfinished run the steps, updates and counts of
            its last evaluation (a row of metrics.csv).
        sha256: what ties its files together.
        finished: whether it has a summary.json. If not, ``skills`` are those of the newest
            checkpoint, which may be a little older or newer than the last evaluation.
        observations: a line for each state of a table that was made of an environment, where that
            was kept: what the state looks like.
        opener: opens its policies; those who only look at what is stored need none.
        evaluator: gives the `snapshot` of an unfinished run.
        evaluated: of a snapshot, the checkpoint that it shows.
    """

    path: Path
    config: dict[str, Any]
    spec: dict[str, Any]
    summary: dict[str, Any]
    sha256: str
    finished: bool = True
    observations: list[str] | None = None
    opener: Callable[[Run], Acting] | None = field(default=None, compare=False)
    evaluator: Callable[[Run], Run] | None = field(default=None, compare=False)
    evaluated: Evaluated | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        unfinished = "" if self.finished else f", {self.progress}"
        return (
            f"<apart.Run {self.path}: {self.summary['method']} in {self.summary['world']}, "
            f"seed {self.summary['seed']}, {_found([self])}{unfinished}>"
        )

    @property
    def progress(self) -> str:
        """``unfinished: 300,000 of 1,000,000 steps``; of a finished run nothing."""
        if self.finished:
            return ""
        return f"unfinished: {self.summary['env_steps']:,} of {int(self.config['steps']):,} steps"

    @cached_property
    def snapshot(self) -> Run:
        """The newest checkpoint of an unfinished run, evaluated; a finished run as it is.

        The summary of a snapshot belongs to its skills: both are of the same training step. Nothing
        is written.

        Raises:
            UserError: the unfinished run has no checkpoint that can be used.
        """
        if self.finished or self.evaluated is not None:
            return self
        return self._evaluate()

    def _evaluate(self) -> Run:
        if self.evaluator is None:
            raise UserError(f"{self.path}: unfinished; read it with apart.load")
        return self.evaluator(self)

    def __getstate__(self) -> dict[str, Any]:
        """Pickled without what was read of its folder, which another process finds as well."""
        stored = {one.name: getattr(self, one.name) for one in fields(self)}
        return {**stored, "path": self.path.absolute()}

    @cached_property
    def world(self) -> World:
        """The world that it was trained in."""
        world = worlds.from_spec(self.spec, int(self.config["horizon"]))
        try:
            return worlds.seen_as(world, self.observations)
        except UserError as error:
            raise UserError(f"{self.path / CONFIG}: {error}") from None

    @property
    def runs(self) -> list[Run]:
        """Itself alone, as a set of runs has several."""
        return [self]

    @property
    def n_effective(self) -> Any:
        """Distinct last states of the K greedy episodes; by chance, their expected number."""
        return self.summary["n_effective"]

    @property
    def n_available(self) -> int | None:
        """Places that can be last states at all; None where nobody knows."""
        known: int | None = self.summary["n_available"]
        return known

    @property
    def spread(self) -> dict[str, Any] | None:
        """How well the last states cover the world (`worlds.spread`): states of a table, buckets.

        None where nobody knows which places are neighbours, and in runs of versions that did not
        measure it. ``radius`` and ``mean_distance`` are steps from the nearest end, the ``gap``
        between ends, the ``ideal_radius`` of greedy k-center, the ``score`` ideal radius / radius.
        """
        found: dict[str, Any] | None = self.summary.get("spread")
        return found

    @cached_property
    def skills(self) -> Skills:
        """All K skills: what is stored of each, and their policies.

        Those of an unfinished run are made from its newest checkpoint when they are first needed,
        as are those of a finished run whose skills.json was lost.
        """
        if self.evaluated is None:
            lost = self.evaluator is not None and not (self.path / SKILLS).exists()
            if not self.finished or (lost and _has_checkpoint(self.path)):
                return self._evaluate().skills
            try:
                entries = files.read_sealed(self.path / SKILLS)
            except UserError as error:
                raise UserError(f"{error}{self._remade()}") from None
            _same_run(self.path / SKILLS, entries, self.sha256)
        else:
            entries = {"skills": self.evaluated.entries}
        with shaped(self.path / SKILLS):
            found = [
                Skill(
                    index=i,
                    trajectory=[_place(place) for place in entry["trajectory"]],
                    last_state=_place(entry["last_state"]),
                    probability=float(entry["probability"]),
                    certainty=float(entry.get("certainty", 1.0)),
                    ends=[(_place(place), float(p)) for place, p in entry.get("ends", ())],
                    positions=[(float(x), float(y)) for x, y in entry.get("positions", ())],
                    last_observation=entry.get("last_observation"),
                )
                for i, entry in enumerate(entries["skills"])
            ]
        return Skills(found, self._acting)

    def _remade(self) -> str:
        """How to get a skills.json that is lost or damaged again; nothing without a checkpoint."""
        if not checkpoint.manifests(self.path / CHECKPOINTS):
            return ""
        first = "remove it, and " * os.path.lexists(self.path / SKILLS)
        return f"; {first}'apart resume {self.path}' makes it again from the checkpoint"

    def _acting(self) -> Acting:
        if self.opener is None:
            raise UserError(f"{self.path}: to let skills act, load the run with apart.load")
        return self.opener(self)

    @cached_property
    def metrics(self) -> list[dict[str, float]]:
        """One record per evaluation."""
        with shaped(self.path / METRICS):
            return rows_of(self._log(METRICS))

    @cached_property
    def details(self) -> list[dict[str, Any]]:
        """What is too long for a row, of some evaluations; see docs/guide/methods.md."""
        with shaped(self.path / DETAILS):
            return [json.loads(line) for line in self._log(DETAILS).splitlines()]

    @cached_property
    def history(self) -> list[dict[str, Any]]:
        """Where every skill ended, as numbers of places, at some evaluations; of 0.1 nothing."""
        if HISTORY not in self.summary["logs"]:
            return []
        with shaped(self.path / HISTORY):
            return [json.loads(line) for line in self._log(HISTORY).splitlines()]

    def check(self) -> None:
        """Read all of it; `UserError` names what was changed or damaged."""
        _ = self.skills, self.metrics, self.details, self.history

    def _log(self, name: str) -> bytes:
        return read_log(self.path / name, self.summary["logs"][name])


@dataclass(frozen=True, repr=False)
class RunSet:
    """Several seeds of one configuration.

    Attributes:
        path: the folder.
        runs: those that have begun; all of them once the set is finished.
        n_seeds: how many there will be.
    """

    path: Path
    runs: list[Run]
    n_seeds: int = 0

    def __repr__(self) -> str:
        unfinished = "" if self.finished else f", {self.progress}"
        return f"<apart.RunSet {self.path}: {_found(self.runs)}{unfinished}>"

    @property
    def finished(self) -> bool:
        """Whether all seeds are."""
        return all(run.finished for run in self.runs) and len(self.runs) >= self.n_seeds

    @property
    def progress(self) -> str:
        """``unfinished: 1 of 3 seeds done``; of a finished set nothing."""
        if self.finished:
            return ""
        done = sum(run.finished for run in self.runs)
        return f"unfinished: {done} of {max(self.n_seeds, len(self.runs))} seeds done"

    @property
    def snapshot(self) -> RunSet:
        """The same set with the snapshot of each seed; seeds without a checkpoint are left out.

        Raises:
            UserError: no seed has a checkpoint yet.
        """
        ready = [run for run in self.runs if run.finished or _has_checkpoint(run.path)]
        if not ready:
            raise no_checkpoint(self.path)
        return replace(self, runs=[run.snapshot for run in ready])


def _found(runs: Sequence[Run]) -> str:
    """``69, 71 of 85 skills``."""
    *first, last = runs
    if not last.n_effective:  # an episode ends somewhere: there are no places
        return "skills not counted"
    skills = found(last.n_effective, last.n_available, int(last.config["skills"]))
    return ", ".join([*(f"{run.n_effective:g}" for run in first), f"{skills} skills"])


def _place(value: Any) -> Place:
    """JSON has lists where places are pairs; a place is whole numbers or names, never empty."""
    if isinstance(value, list):
        return tuple(int(part) for part in value)
    if not isinstance(value, int | str):
        raise TypeError(value)
    return value


@contextlib.contextmanager
def shaped(path: Path) -> Iterator[None]:
    """`UserError` where what was read from ``path`` is not built as it should be."""
    try:
        yield
    except _MISSHAPEN as error:
        raise UserError(f"{path}: not written by this version of apart ({error!r})") from None


_MISSHAPEN: Final = (
    *(ValueError, TypeError, LookupError, ArithmeticError, AttributeError),
    csv.Error,
)


def rows_of(log: bytes) -> list[dict[str, float]]:
    """The rows of a metrics.csv; what nobody knows is not a number."""
    return [
        {
            name: int(value) if value.isdecimal() else float(value or "nan")
            for name, value in row.items()
        }
        for row in csv.DictReader(log.decode("utf-8").splitlines())
    ]


def logs_in(names: Iterable[str]) -> list[str]:
    """The logs to be found where there is ``names``: a run that 0.1 began may lack a history."""
    known = set(names)
    return [name for name in LOGS if name != HISTORY or name in known]


def logs(path: Path) -> dict[str, dict[str, Any]]:
    """How long the logs of the run in ``path`` are now, and their checksums."""
    found = {}
    for name in logs_in(entry.name for entry in files.listing(path)):
        data = files.read_bytes(path / name, _MOST_LOG)
        found[name] = {"bytes": len(data), "sha256": files.digest(data)}
    return found


def read_log(path: Path, known: Mapping[str, Any]) -> bytes:
    """The part of a log that was there when ``known`` was noted; `UserError` when it differs."""
    if not isinstance(known["bytes"], int):
        raise TypeError(known)
    data = files.read_bytes(path, _MOST_LOG)[: known["bytes"]]
    if len(data) != known["bytes"] or files.digest(data) != known["sha256"]:
        raise UserError(f"{path}: does not match its checksum; it was changed or damaged")
    return data


class Writer:
    """Writes one run folder, which is claimed, as training goes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def row(self, row: Mapping[str, Any]) -> None:
        """Append one evaluation to the metrics; the first row brings the header."""
        cells = [",".join(map(str, row.values()))]
        if not (self.path / METRICS).exists():
            cells.insert(0, ",".join(row))
        self._append(METRICS, "\r\n".join(cells) + "\r\n")

    def detail(self, detail: Mapping[str, Any]) -> None:
        """Append one record of what is too long for a row."""
        self._append(DETAILS, json.dumps(detail, allow_nan=False, separators=(",", ":")) + "\n")

    def history(self, moment: Mapping[str, Any]) -> None:
        """Append where every skill ended at one evaluation."""
        self._append(HISTORY, json.dumps(moment, allow_nan=False, separators=(",", ":")) + "\n")

    def _append(self, name: str, text: str) -> None:
        files.append(self.path / name, text.encode())

    def sync(self) -> dict[str, dict[str, Any]]:
        """Make what was appended last, before anything relies on it; `logs` of it."""
        there = logs_in(entry.name for entry in files.listing(self.path))
        files.sync(*(self.path / name for name in there))
        return logs(self.path)

    def cut_back(self, known: Mapping[str, Mapping[str, Any]] | None) -> None:
        """Drop what was appended after ``known``, which was checked; all of it if None."""
        for name in LOGS:
            if known is None or name not in known:
                files.remove(self.path / name)
            else:
                files.truncate(self.path / name, known[name]["bytes"])

    def skills(
        self, skills: Sequence[Mapping[str, Any]], config_sha256: str, evidence: str
    ) -> None:
        """Every skill's greedy trajectory, last state, probability there; how they are known."""
        content = {"evidence": evidence, "skills": skills, "config_sha256": config_sha256}
        files.write_sealed(self.path / SKILLS, content, lines_of="skills")

    def summary(self, summary: Mapping[str, Any]) -> None:
        """The result. Its presence means that the run is finished, so it comes last."""
        files.write_sealed(self.path / SUMMARY, {**summary, "logs": self.sync()})


_MOST_LOG: Final = 2_000_000_000


def default_folder(world: World, method: str) -> Path:
    """``runs/WORLD-METHOD``; of a map file the name without its ending."""
    return Path("runs") / f"{worlds.short_name(world.name, world.about.spec)}-{method}"


def seeds_in(path: Path) -> list[Path]:
    """The folders named like seeds in ``path``, by number; a link is not one."""
    found = [p for p in path.glob("seed-*") if SEED.fullmatch(p.name) and p.is_dir()]
    return sorted((p for p in found if not p.is_symlink()), key=lambda p: int(p.name[5:]))


def seed_folders(path: Path) -> list[Path]:
    """The runs in ``path`` that were begun, by seed."""
    return [seed for seed in seeds_in(path) if (seed / CONFIG).exists()]


def study_runs(path: Path) -> list[Path]:
    """The runs that were begun of the sweep or comparison in ``path``; none where it is neither."""
    found = (seed for group in sorted(path.glob(f"{RUNS}/*")) for seed in seed_folders(group))
    return list(found)


def nothing_in(path: Path) -> UserError:
    """The error for a folder in which nothing can go on."""
    if study_runs(path):
        return UserError(f"{path}: a sweep or comparison; to continue it, repeat its command")
    return UserError(f"{path}: no run or set of runs here")


def load(path: str | Path) -> Run:
    """The finished run of one seed in ``path``."""
    folder = _one_run(Path(path))
    if not (folder / SUMMARY).exists():
        raise UserError(f"{folder}: no finished run here ({SUMMARY} is missing)")
    summary = files.read_sealed(folder / SUMMARY)
    described = _config_of(folder)
    _same_run(folder / SUMMARY, summary, described.sha256)
    with shaped(folder / SUMMARY):
        dict(summary["logs"]), str(summary["method"]), str(summary["world"]), int(summary["seed"])
        float(summary["n_effective"]), int(summary["n_available"] or 0)
        int(summary["first_full_at"] or 0), int(summary["env_steps"])
        float(summary["wall_seconds"]), float(summary["env_steps_per_second"])
        float(summary["n_random_walk"] or 0)
        covering = summary.get("spread")
        if covering is not None:
            int(covering["radius"]), int(covering["ideal_radius"]), float(covering["score"])
            float(covering["mean_distance"])
    return _run(folder, described, summary)


def read(path: str | Path) -> Run:
    """The run of one seed in ``path``, finished or not.

    It may be training in another process: nothing is locked, and nothing is written.

    Raises:
        UserError: no run, or one that stopped before its first evaluation.
    """
    folder = _one_run(Path(path))
    if (folder / SUMMARY).exists():
        return load(folder)
    described = _config_of(folder)
    summary = _so_far(folder, described.config, described.spec)
    summary = {"config_sha256": described.sha256, **summary}
    return _run(folder, described, summary, finished=False)


def _run(folder: Path, known: Described, summary: dict[str, Any], finished: bool = True) -> Run:
    return Run(
        folder,
        known.config,
        known.spec,
        summary,
        known.sha256,
        finished=finished,
        observations=known.observations,
    )


def _one_run(folder: Path) -> Path:
    """``folder``, if it is that of one run."""
    if not folder.is_dir():
        raise UserError(f"{folder}: no such run folder")
    if is_set(folder):
        one = next(iter(seeds_in(folder)), folder / "seed-0")
        raise UserError(f"{folder}: a set of runs; name one of them, such as {one}")
    if not (folder / CONFIG).exists():
        of_study = study_runs(folder)[:1]
        way = "".join(
            f"; the runs of a sweep or comparison are in folders such as {run}" for run in of_study
        )
        raise UserError(f"{folder}: no run here ({CONFIG} is missing){way}")
    return folder


class Described(NamedTuple):
    """What config.json says of a run; fields as in `Run`."""

    config: dict[str, Any]
    spec: dict[str, Any]
    sha256: str
    observations: list[str] | None


def _config_of(folder: Path) -> Described:
    stored = files.read_sealed(folder / CONFIG)
    try:
        today = stored if "format" in stored else versions.from_0_1(stored)
    except UserError as error:
        raise UserError(f"{folder / CONFIG}: {error}") from None
    with shaped(folder / CONFIG):
        int(today["config"]["skills"]), int(today["config"]["horizon"])
        str(today["config"]["method"]), int(today["config"]["steps"]), int(today["config"]["seed"])
        config, spec = dict(today["config"]), dict(today["world"])
        return Described(config, spec, str(stored.get("config_sha256")), today.get(OBSERVATIONS))


def _so_far(folder: Path, config: Mapping[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """What the logs of an unfinished run tell: the summary of its last evaluation.

    A line that is still being written is left out.
    """
    lengths, rows = {}, []
    for name in logs_in(entry.name for entry in files.listing(folder)):
        if not (folder / name).exists():
            continue
        data = files.read_bytes(folder / name, _MOST_LOG)
        data = data[: data.rfind(b"\n") + 1]
        lengths[name] = {"bytes": len(data), "sha256": files.digest(data)}
        if name == METRICS:
            with shaped(folder / name):
                rows = rows_of(data)
    if not rows:
        raise no_checkpoint(folder)
    with shaped(folder / METRICS):
        last, available = rows[-1], rows[-1]["n_available"]
        n_available = None if math.isnan(available) else int(available)
        full = [int(row["env_steps"]) for row in rows if row["n_effective"] == n_available]
        steps, seconds = int(last["env_steps"]), float(last["wall_seconds"])
        return {
            "world": str(spec.get("name", spec.get("kind"))),
            "method": str(config["method"]),
            "seed": int(config["seed"]),
            "n_effective": last["n_effective"],
            "n_available": n_available,
            "n_random_walk": None,
            "spread": None,
            "first_full_at": full[0] if full else None,
            "env_steps": steps,
            "updates": int(last["updates"]),
            "wall_seconds": seconds,
            "env_steps_per_second": round(steps / max(seconds, 1e-9), 1),
            "logs": lengths,
        }


def _has_checkpoint(folder: Path) -> bool:
    return bool(checkpoint.manifests(folder / CHECKPOINTS))


def no_checkpoint(folder: Path) -> UserError:
    """The error for an unfinished run that cannot be shown yet."""
    return UserError(
        f"{folder}: unfinished and without a checkpoint, so there are no skills to show; continue "
        f"with 'apart resume {folder}' (if it is training now, wait: the first checkpoint comes "
        "after a minute or more)"
    )


def load_set(path: str | Path) -> RunSet:
    """The runs of the set in ``path``; of an unfinished set those that have begun."""
    folder = Path(path)
    begun = [seed for seed in seed_folders(folder) if _evaluated_once(seed)]
    if not begun:
        raise no_checkpoint(folder)
    return RunSet(folder, [read(seed) for seed in begun], _n_seeds(folder))


def _evaluated_once(folder: Path) -> bool:
    return (folder / SUMMARY).exists() or (folder / METRICS).exists()


def _n_seeds(folder: Path) -> int:
    """How many seeds a set was started with; those that it has if it was put together by hand."""
    path = folder / SET
    if not path.exists():
        return len(seed_folders(folder))
    with shaped(path):
        return int(files.read_sealed(path)["seeds"])


def load_any(path: Path) -> Run | RunSet:
    """The run, or the set of runs, in ``path``, finished or not."""
    return load_set(path) if is_set(path) else read(path)


def is_set(path: Path) -> bool:
    """Whether ``path`` holds several seeds rather than one run."""
    return not (path / CONFIG).exists() and bool((path / SET).exists() or seed_folders(path))


def _same_run(path: Path, stored: Mapping[str, Any], sha256: str) -> None:
    if stored.get("config_sha256") != sha256:
        raise UserError(f"{path}: belongs to another configuration than {CONFIG}")


def write_aggregate(path: Path, runs: Iterable[Run]) -> dict[str, Any]:
    """Write and return the summary of a set of runs."""
    summaries = [run.summary for run in runs]
    counts = [summary["n_effective"] for summary in summaries]
    aggregate = {
        "n_effective_mean": statistics.fmean(counts),
        "n_effective_std": statistics.pstdev(counts),
        "all_full": all(s["n_effective"] == s["n_available"] for s in summaries),
        "runs": summaries,
    }
    files.write_sealed(path / SUMMARY, aggregate)
    return aggregate
