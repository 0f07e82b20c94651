"""What the explorer page says of one run: its paths, its course, how to train it again."""

from __future__ import annotations

import shlex
from typing import Final

import numpy as np

from apart._errors import UserError
from apart.report import walking
from apart.report.page_groups import COUNTED
from apart.report.page_numbers import Json, packed, short, thinned
from apart.report.page_places import MOST_MOMENTS, PagePlaces, positions_of
from apart.runs import files, plan
from apart.runs import folder as run_folder
from apart.runs.folder import Run
from apart.settings import words
from apart.worlds import grid
from apart.worlds.spread import steps_from
from apart.worlds.world import JaxWorld, TableWorld

_MOST_POINTS: Final = 100  # of a curve


def run_entry(run: Run, places: PagePlaces) -> Json:
    """All of one run but its policies, whose room depends on the other runs."""
    paths = [[places.number[p] for p in skill.trajectory] for skill in run.skills]
    s, stored = run.summary, files.read_sealed(run.path / run_folder.CONFIG)
    return {
        "folder": str(run.path),
        "method": str(s["method"]),
        "seed": int(s["seed"]),
        "progress": run.progress,
        "skills": len(run.skills),
        "horizon": int(run.config["horizon"]),
        "found": run.n_effective if places.counted else None,
        "evidence": s.get("evidence"),  # 0.2 and before did not say
        "available": run.n_available,
        "walk": s["n_random_walk"],
        "summary": {
            **{n: v for n, v in s.items() if isinstance(v, int | float | str | None)},
            **{f"spread {n}": v for n, v in (run.spread or {}).items()},
        },
        "task": s.get("task"),  # what each skill earns of the map's; earlier versions lack it
        "ideal_radius": (run.spread or {}).get("ideal_radius"),
        "paths": packed(paths, "uint32"),
        "positions": positions_of(run, places),
        "hold": int(run.config.get("hold", 1)),
        "last": [places.number[skill.last_state] for skill in run.skills],
        "probability": [short(skill.probability) for skill in run.skills],
        "certainty": [short(skill.certainty) for skill in run.skills],
        "observed": _observed(run, places),
        "policy": None,
        "policy_note": "",
        "history": places.history(),
        "radius": radius_of(run, places),
        "metrics": metrics_of(run, places.counted),
        "accuracy": [
            {"steps": detail["env_steps"], "values": detail["accuracy_per_step"]}
            for detail in run.details
        ],
        "config": run.config,
        "versions": dict(stored.get("versions") or {}),
        **_command(run),
    }


def _observed(run: Run, places: PagePlaces) -> list[str] | None:
    """What is observed where each skill ends, in words; None where that says nothing or is gone."""
    seen = [walking.seen_last(skill, places.world) for skill in run.skills]
    return seen if any(seen) else None


def metrics_of(run: Run, counted: bool) -> dict[str, list[float | None]]:
    """The columns of the metrics that are not empty, thinned; counts only where there are any."""
    rows = thinned(run.metrics, _MOST_POINTS)
    columns = {name: [short(row[name]) for row in rows] for name in (rows[0] if rows else ())}
    return {
        name: column
        for name, column in columns.items()
        if any(v is not None for v in column) and (counted or name not in COUNTED)
    }


def radius_of(run: Run, places: PagePlaces) -> dict[str, list[int]] | None:
    """The covering radius at the moments of the history: steps to the nearest end.

    In tables, and where it is known which places are neighbours (`JaxWorld.cells`).
    """
    world = places.world
    table = world.cells if isinstance(world, JaxWorld) else world
    if not isinstance(table, TableWorld) or not run.history:
        return None
    if table is world and not places.complete:
        return None
    horizon = int(run.config["horizon"]) if table is world else table.n_states
    counted = table.distance <= horizon
    moments = thinned(run.history, MOST_MOMENTS)
    ends = [np.unique(np.asarray(moment["last_states"], np.int32)) for moment in moments]
    return {
        "env_steps": [moment["env_steps"] for moment in moments],
        "covering_radius": [int(steps_from(table, e)[counted].max()) for e in ends],
    }


def _command(run: Run) -> Json:
    """How to run it again, in a line; and what to know about that."""
    try:
        found = plan.read(run.path, None)
        said = words(found.config, found.world)
    except UserError as error:
        return {"command": "", "command_note": str(error)}
    if said is None:
        return {"command": "", "command_note": "Only Python can train this world or method again."}
    elsewhere = found.world.about.spec["kind"] == grid.KIND and found.world.name not in grid.maps()
    note = "The world is a map file or was made in Python; config.json has its map." * elsewhere
    return {"command": shlex.join(["apart", *said]), "command_note": note}
