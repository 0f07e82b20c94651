"""The run folder: what is in it, how it is written, how it is read back. No JAX.

One seed is one folder; a set of seeds is a folder of such folders with an aggregate summary.
"""

from __future__ import annotations

import csv
import json
import os
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from apart._errors import UserError
from apart.runs.files import read_bytes, read_json, write_bytes, write_json
from apart.runs.lock import NAME as LOCK
from apart.runs.lock import Lock

CONFIG: Final = "config.json"
METRICS: Final = "metrics.csv"
DETAILS: Final = "details.jsonl"
SKILLS: Final = "skills.json"
SUMMARY: Final = "summary.json"
CHECKPOINTS: Final = "checkpoints"
PICTURE: Final = "skills.png"


@dataclass(frozen=True)
class Skill:
    """One discovered skill.

    Attributes:
        index: its number, 0 .. K - 1.
        trajectory: cells (row, column) of its greedy episode, start included.
        last_state: the cell in which it ends.
        probability: the discriminator's probability of this skill in that cell.
    """

    index: int
    trajectory: list[tuple[int, int]]
    last_state: tuple[int, int]
    probability: float


@dataclass(frozen=True)
class Run:
    """A finished run, read from its folder."""

    path: Path
    config: dict[str, Any]
    summary: dict[str, Any]

    @property
    def n_effective(self) -> int:
        """Distinct last states of the K greedy episodes at the end of training."""
        return int(self.summary["n_effective"])

    @property
    def n_available(self) -> int:
        """Cells that can be last states at all."""
        return int(self.summary["n_available"])

    @cached_property
    def skills(self) -> list[Skill]:
        """All K skills."""
        return [
            Skill(
                index=i,
                trajectory=[(int(r), int(c)) for r, c in entry["trajectory"]],
                last_state=(int(entry["last_state"][0]), int(entry["last_state"][1])),
                probability=float(entry["probability"]),
            )
            for i, entry in enumerate(read_json(self.path / SKILLS)["skills"])
        ]

    @cached_property
    def metrics(self) -> list[dict[str, float]]:
        """One record per evaluation."""
        return read_metrics(self.path)


def read_metrics(path: Path) -> list[dict[str, float]]:
    """The rows of metrics.csv of the run in ``path``; `UserError` when they are no numbers."""
    text = read_bytes(path / METRICS, _MOST_LOG).decode("utf-8", "replace")
    try:
        return [
            {name: float(value) for name, value in row.items()}
            for row in csv.DictReader(text.splitlines())
        ]
    except (ValueError, TypeError, csv.Error):
        raise UserError(f"{path / METRICS}: not rows of numbers") from None


class Writer:
    """Writes one run folder, which is claimed, as training goes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def config(self, config: Mapping[str, Any]) -> None:
        """Everything needed to run it again, plus versions."""
        write_json(self.path / CONFIG, config)

    def row(self, row: Mapping[str, Any]) -> None:
        """Append one evaluation to the metrics; the first row brings the header."""
        cells = [",".join(map(str, row.values()))]
        if not (self.path / METRICS).exists():
            cells.insert(0, ",".join(row))
        self._append(METRICS, "\r\n".join(cells) + "\r\n")

    def detail(self, detail: Mapping[str, Any]) -> None:
        """Append one record of what is too long for a row."""
        self._append(DETAILS, json.dumps(detail, allow_nan=False, separators=(",", ":")) + "\n")

    def _append(self, name: str, text: str) -> None:
        try:
            with (self.path / name).open("ab") as file:
                file.write(text.encode())
        except OSError as error:
            raise UserError(f"{self.path / name}: cannot be written ({error.strerror})") from None

    def sync(self) -> None:
        """Make what was appended last, before a checkpoint relies on it."""
        for name in (METRICS, DETAILS):
            path = self.path / name
            if path.exists():
                with path.open("rb") as file:
                    os.fsync(file.fileno())

    def cut_back(self, keep: Callable[[int], bool], keep_detail: Callable[[int], bool]) -> None:
        """Drop evaluations that a resumed run will make again, and a torn last line.

        Args:
            keep: environment steps -> whether that row stays.
            keep_detail: the same for details.
        """
        for name, stays, steps_of in (
            (METRICS, keep, _steps_of_row),
            (DETAILS, keep_detail, _steps_of_detail),
        ):
            path = self.path / name
            if not path.exists():
                continue
            lines = read_bytes(path, _MOST_LOG).splitlines(keepends=True)
            head, body = (lines[:1], lines[1:]) if name == METRICS else ([], lines)
            kept = [line for line in body if (at := steps_of(line)) is not None and stays(at)]
            if head and not head[0].endswith(b"\n"):
                head = []
            write_bytes(path, b"".join(head + kept))
            if not head + kept:
                path.unlink()

    def skills(self, skills: Sequence[Mapping[str, Any]]) -> None:
        """Every skill's greedy trajectory, last state and probability there."""
        lines = ",\n".join(json.dumps(skill, allow_nan=False) for skill in skills)
        write_bytes(self.path / SKILLS, f'{{"skills": [\n{lines}\n]}}\n'.encode())

    def summary(self, summary: Mapping[str, Any]) -> None:
        """The result. Its presence means that the run is finished, so it comes last."""
        write_json(self.path / SUMMARY, summary)


_MOST_LOG: Final = 2_000_000_000


def _steps_of_row(line: bytes) -> int | None:
    """Environment steps of a whole row; None of a torn one."""
    first = line.split(b",")[0]
    return int(first) if line.endswith(b"\n") and first.isdigit() else None


def _steps_of_detail(line: bytes) -> int | None:
    try:
        return int(json.loads(line)["env_steps"]) if line.endswith(b"\n") else None
    except (ValueError, KeyError, TypeError):
        return None


def default_folder(world: str, method: str) -> Path:
    """``runs/WORLD-METHOD``; of a map file the name without its ending."""
    return Path("runs") / f"{Path(world).stem}-{method}"


def claim(path: Path, overwrite: bool) -> Lock:
    """Make ``path`` an empty folder of ours and hold it, or say in one line why it cannot be."""
    refuse = refusal(path, overwrite)
    if refuse:
        raise UserError(refuse)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror})") from None
    lock = Lock(path)
    try:
        _clear(path)
    except OSError as error:
        lock.close()
        raise UserError(f"{path}: cannot be written ({error.strerror})") from None
    return lock


def refusal(path: Path, overwrite: bool) -> str | None:
    """Why a new run may not use ``path``; None when it may."""
    if not path.exists():
        return None
    if not path.is_dir():
        return f"{path} is a file; choose another --out"
    if all(entry.name == LOCK for entry in path.iterdir()):
        return None
    if not (path / CONFIG).exists() and not any(path.glob(f"seed-*/{CONFIG}")):
        return f"{path} is not empty and holds no run; choose another --out"
    if overwrite:
        return None
    if (path / SUMMARY).exists():
        return f"{path} holds a finished run; choose another --out or pass --overwrite"
    return (
        f"{path} holds an unfinished run; go on with 'apart resume {path}', choose another --out "
        "or pass --overwrite"
    )


def _clear(path: Path) -> None:
    """Remove what a run writes, and nothing else."""
    for name in (SUMMARY, CONFIG, METRICS, DETAILS, SKILLS, PICTURE):
        (path / name).unlink(missing_ok=True)
    for pattern in (f"{CHECKPOINTS}/iteration-*", f"{CHECKPOINTS}/.iteration-*"):
        for file in path.glob(pattern):
            file.unlink()
    for seed in path.glob("seed-*"):
        if seed.is_dir() and not seed.is_symlink():
            _clear(seed)


def load(path: str | Path) -> Run:
    """The finished run in ``path``."""
    folder = Path(path)
    if not folder.is_dir():
        raise UserError(f"{folder}: no such run folder")
    if (folder / SUMMARY).exists() and not (folder / CONFIG).exists():
        raise UserError(f"{folder}: a set of runs; name one of them, such as {folder}/seed-0")
    if not (folder / SUMMARY).exists():
        raise UserError(f"{folder}: no finished run here ({SUMMARY} is missing)")
    return Run(folder, read_json(folder / CONFIG), read_json(folder / SUMMARY))


def seed_folders(path: Path) -> list[Path]:
    """The runs of the set in ``path``, by seed."""
    found = [p for p in path.glob("seed-*") if p.name[5:].isdecimal() and (p / CONFIG).exists()]
    return sorted(found, key=lambda p: int(p.name[5:]))


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
    write_json(path / SUMMARY, aggregate)
    return aggregate
