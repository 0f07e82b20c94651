"""Runs as pictures, pages and files for others."""

from __future__ import annotations

from pathlib import Path

from apart.door.errors import in_python
from apart.door.training import loaded, single
from apart.running import jobs
from apart.runs.folder import Run, RunSet


def draw(run: Run | RunSet | str | Path, *, frames: bool = False) -> list[Path]:
    """Draw every skill of a run (or of each run of a set); the paths of the pictures.

    With ``frames`` as the world renders them, also where they can be drawn on a map. Drawing frames
    plays the skills again, in environments that it makes; nothing else that reads a run does.
    """
    from apart.report.figures import skills_picture

    with in_python():
        return [skills_picture(one, frames) for one in loaded(run).snapshot.runs]


def write_page(
    run: Run | RunSet | str | Path, *more: Run | RunSet | str | Path, out: str | Path | None = None
) -> Path:
    """Write a page to explore the skills of runs in a browser; its path.

    One file, without anything from a network. Unless ``out`` says where, ``report.html`` in the
    folder of the run; of several beside their folders.
    """
    from apart.report import page

    with in_python():
        found = [loaded(one).snapshot for one in (run, *more)]
        return page.write(found, None if out is None else jobs.path("--out", out)).path


def export(run: Run | str | Path, out: str | Path) -> Path:
    """Write the skills of a run to the new folder ``out``: data that loads with NumPy alone.

    README.md (a card with the results), config.json, model.safetensors and, for maps, skills.png.
    """
    from apart.report.figures import picture_of

    with in_python():
        found = single(loaded(run)).snapshot
        from apart.skills.export import export as written

        return written(found, jobs.path("--out", out), picture_of(found))
