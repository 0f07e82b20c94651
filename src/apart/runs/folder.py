"""The run folder: what is in it, how it is written, how it is read back. No JAX.

One seed is one folder; a set of seeds is a folder of such folders with an aggregate summary.
"""

from __future__ import annotations

import contextlib
import csv
import json
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from apart import worlds
from apart._errors import UserError
from apart.runs import files, versions
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


@dataclass(frozen=True, repr=False)
class Run:
    """A finished run, read from its folder.

    Attributes:
        path: the folder.
        config: the options that it was trained with (``run.config["skills"]``).
        spec: what its world can be built from again.
        summary: the content of summary.json.
        sha256: what ties its files together.
        opener: opens its policies; those who only look at what is stored need none.
    """

    path: Path
    config: dict[str, Any]
    spec: dict[str, Any]
    summary: dict[str, Any]
    sha256: str
    opener: Callable[[Run], Acting] | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return (
            f"<apart.Run {self.path}: {self.summary['method']} in {self.summary['world']}, "
            f"seed {self.summary['seed']}, {_found([self])}>"
        )

    @cached_property
    def world(self) -> World:
        """The world that it was trained in."""
        return worlds.from_spec(self.spec, int(self.config["horizon"]))

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
        """All K skills: what is stored of each, and their policies."""
        stored = files.read_sealed(self.path / SKILLS)
        _same_run(self.path / SKILLS, stored, self.sha256)
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
                )
                for i, entry in enumerate(stored["skills"])
            ]
        return Skills(found, self._acting)

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
    """Several seeds of one configuration, finished."""

    path: Path
    runs: list[Run]

    def __repr__(self) -> str:
        return f"<apart.RunSet {self.path}: {_found(self.runs)}>"


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
    folder = Path(path)
    if not folder.is_dir():
        raise UserError(f"{folder}: no such run folder")
    if is_set(folder):
        one = next(iter(seeds_in(folder)), folder / "seed-0")
        raise UserError(f"{folder}: a set of runs; name one of them, such as {one}")
    for name in (SUMMARY, CONFIG):
        if not (folder / name).exists():
            of_study = study_runs(folder)[:1]
            way = "".join(
                f"; of a sweep or comparison name a run, such as {run}" for run in of_study
            )
            raise UserError(f"{folder}: no finished run here ({name} is missing){way}")
    stored, summary = (files.read_sealed(folder / name) for name in (CONFIG, SUMMARY))
    sha256 = str(stored.get("config_sha256"))
    _same_run(folder / SUMMARY, summary, sha256)
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
    try:
        today = stored if "format" in stored else versions.from_0_1(stored)
    except UserError as error:
        raise UserError(f"{folder / CONFIG}: {error}") from None
    with shaped(folder / CONFIG):
        int(today["config"]["skills"]), int(today["config"]["horizon"])
        return Run(folder, dict(today["config"]), dict(today["world"]), summary, sha256)


def load_set(path: str | Path) -> RunSet:
    """The finished runs of the set in ``path``."""
    folder = Path(path)
    if not (folder / SUMMARY).exists():
        raise UserError(f"{folder}: no finished set of runs here ({SUMMARY} is missing)")
    return RunSet(folder, [load(seed) for seed in seed_folders(folder)])


def load_any(path: Path) -> Run | RunSet:
    """The finished run, or the finished set of runs, in ``path``."""
    return load_set(path) if is_set(path) else load(path)


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
