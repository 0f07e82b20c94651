"""The run folder: what is in it, how it is written, how it is read back. No JAX.

One seed is one folder; a set of seeds is a folder of such folders with an aggregate summary.
"""

from __future__ import annotations

import csv
import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from apart._errors import UserError
from apart.runs.files import read_json, write_bytes, write_json

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
        with (self.path / METRICS).open(newline="", encoding="utf-8") as file:
            return [
                {name: float(value) for name, value in row.items()} for row in csv.DictReader(file)
            ]


class Writer:
    """Writes one run folder as training goes."""

    def __init__(self, path: Path, overwrite: bool) -> None:
        claim(path, overwrite)
        self.path = path

    def config(self, config: Mapping[str, Any]) -> None:
        """Everything needed to run it again, plus versions."""
        write_json(self.path / CONFIG, config)

    def row(self, row: Mapping[str, Any]) -> None:
        """Append one evaluation to the metrics; the first row brings the header."""
        path = self.path / METRICS
        is_new = not path.exists()
        with path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(row))
            if is_new:
                writer.writeheader()
            writer.writerow(row)

    def detail(self, detail: Mapping[str, Any]) -> None:
        """Append one record of what is too long for a row."""
        with (self.path / DETAILS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(detail, allow_nan=False, separators=(",", ":")) + "\n")

    def skills(self, skills: Sequence[Mapping[str, Any]]) -> None:
        """Every skill's greedy trajectory, last state and probability there."""
        lines = ",\n".join(json.dumps(skill, allow_nan=False) for skill in skills)
        write_bytes(self.path / SKILLS, f'{{"skills": [\n{lines}\n]}}\n'.encode())

    def summary(self, summary: Mapping[str, Any]) -> None:
        """The result. Its presence means that the run is finished, so it comes last."""
        write_json(self.path / SUMMARY, summary)


def default_folder(world: str, method: str) -> Path:
    """``runs/WORLD-METHOD``; of a map file the name without its ending."""
    return Path("runs") / f"{Path(world).stem}-{method}"


def claim(path: Path, overwrite: bool) -> None:
    """Make ``path`` an empty folder of ours, or say in one line why it cannot be."""
    refuse = refusal(path, overwrite)
    if refuse:
        raise UserError(refuse)
    try:
        path.mkdir(parents=True, exist_ok=True)
        _clear(path)
        probe = path / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror})") from None


def refusal(path: Path, overwrite: bool) -> str | None:
    """Why a new run may not use ``path``; None when it may."""
    if not path.exists():
        return None
    if not path.is_dir():
        return f"{path} is a file; choose another --out"
    if not any(path.iterdir()):
        return None
    if not (path / CONFIG).exists() and not any(path.glob(f"seed-*/{CONFIG}")):
        return f"{path} is not empty and holds no run; choose another --out"
    if overwrite:
        return None
    done = "a finished run" if (path / SUMMARY).exists() else "an unfinished run"
    return f"{path} holds {done}; choose another --out or pass --overwrite"


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
