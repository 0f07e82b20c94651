"""What is kept of an experiment: records of its runs, as JSON."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from apart._errors import UserError
from apart._version import __version__
from apart.methods import OURS
from apart.paper._spec import DETAILS, SKILLS, Experiment, Record, Results
from apart.runs import files
from apart.runs import folder as run_folder
from apart.worlds.world import TableWorld, World

_CURVE = ("env_steps", "n_effective")
_MOST_ROWS = 80
_MARKS = (
    1e6,
    5e6,
    20e6,
    50e6,
    100e6,
    math.inf,
)  # environment steps that claims are about: these rows are kept


def thinned(rows: Sequence[Mapping[str, float]]) -> list[Mapping[str, float]]:
    """Evenly many of the rows of metrics.csv, and those that claims are about."""
    step = max(1, -(-len(rows) // _MOST_ROWS))
    marks = {max(i for i, row in enumerate(rows) if row["env_steps"] <= at) for at in _MARKS}
    return [row for i, row in enumerate(rows) if i % step == 0 or i in marks]


def rises(rows: Sequence[Mapping[str, float]]) -> list[tuple[int, int]]:
    """Steps and skills at every evaluation with more skills than any before."""
    found: list[tuple[int, int]] = []
    for row in rows:
        if not found or row["n_effective"] > found[-1][1]:
            found.append((int(row["env_steps"]), int(row["n_effective"])))
    return found


def record_of(run: run_folder.Run, world: World, keeps: Collection[str] = ()) -> Record:
    """What is kept of a finished run, with what its experiment ``keeps`` beside."""
    kept, summary = thinned(run.metrics), run.summary
    columns = [name for name in kept[0] if name in _CURVE or name in keeps]
    return Record(
        seed=summary["seed"],
        n_effective=summary["n_effective"],
        n_available=summary["n_available"],
        n_random_walk=summary["n_random_walk"],
        env_steps=summary["env_steps"],
        wall_seconds=summary["wall_seconds"],
        curve={name: [_whole(row[name]) for row in kept] for name in columns},
        rises=rises(run.metrics),
        details=_moments(run) if DETAILS in keeps else (),
        skills=_episodes(world, run) if SKILLS in keeps and summary["seed"] == 0 else (),
    )


def _whole(value: float) -> float:
    """Whole numbers as such: they take less room."""
    return int(value) if float(value).is_integer() else value


def _moments(run: run_folder.Run) -> list[dict[str, Any]]:
    """What was recorded at the start, near 5M steps (or a quarter) and at the end."""
    details = [_short(detail) for detail in run.details]
    quarter = min(5e6, details[-1]["env_steps"] / 4)
    middle = min(details, key=lambda detail: abs(detail["env_steps"] - quarter))
    return [details[0], middle, details[-1]]


def _episodes(world: World, run: run_folder.Run) -> list[list[int]]:
    assert isinstance(world, TableWorld)  # the paper has no others
    number = {(int(row), int(column)): n for n, (row, column) in enumerate(world.cells)}
    return [[number[cell] for cell in skill.trajectory] for skill in run.skills]


def _short(detail: Mapping[str, Any]) -> dict[str, Any]:
    """A detail with the most skills at once in each state instead of the visits of every step."""
    most: dict[int, int] = {}
    for step in detail["visits_per_step"]:
        for state, count in step:
            most[state] = max(most.get(state, 0), count)
    return {
        "env_steps": detail["env_steps"],
        "accuracy_per_step": detail["accuracy_per_step"],
        "most_at_once": sorted(most.items()),
    }


def place(folder: Path, reading: str) -> Path:
    """Where the results of a reading are."""
    return folder if reading == OURS else folder / reading


def _settings(spec: Experiment, reading: str) -> dict[str, Any]:
    """What is trained under each label: the world and all that differs from the defaults."""
    found = {}
    for condition in spec.conditions:
        trained = condition.resolved(reading)[0].differing()
        trained.pop("steps", None)
        found[condition.label] = {"world": condition.world, **trained}
    return found


def write(path: Path, results: Results, spec: Experiment) -> None:
    """The stored form: JSON, read back by `read`."""
    files.make_folder(path.parent)
    head = {
        "apart": __version__,
        "reading": results.reading,
        "steps": results.steps,
        "conditions": _settings(spec, results.reading),
    }
    parts = []
    for label, records in results.runs.items():
        lines = ",\n".join(
            "  " + json.dumps(dataclasses.asdict(record), separators=(",", ":"))
            for record in records
        )
        parts.append(f" {json.dumps(label)}: [\n{lines}\n ]")
    text = json.dumps(head)[:-1] + ', "runs": {\n' + ",\n".join(parts) + "\n}}\n"
    files.write_bytes(path, text.encode())


def read(path: Path, spec: Experiment) -> Results:
    """Results as they were stored.

    Raises:
        UserError: they were trained with other settings than ``spec`` says.
    """
    stored = files.read_json(path)
    reading = stored["reading"]
    wanted, had = _settings(spec, reading), stored["conditions"]
    for label in {**wanted, **had}:
        if wanted.get(label) != had.get(label):
            raise UserError(
                f"{path}: '{label}' is {had.get(label)} there, {wanted.get(label)} in the "
                f"experiment; make it again: apart reproduce {path.stem} --reading {reading}"
            )
    runs = {label: [Record(**r) for r in records] for label, records in stored["runs"].items()}
    return Results(runs, stored["steps"], reading)
