"""Frames of skills on the explorer page, as far as run folders keep them and there is room."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from apart._errors import UserError
from apart.report import strips
from apart.report.page_groups import first_seeds_first
from apart.report.page_numbers import Json
from apart.runs.folder import Run
from apart.worlds import renders

_MOST_FRAMES: Final = 450_000  # characters of all frames together


def add_frames(runs: Sequence[Run], entries: Sequence[Json], groups: Sequence[Json]) -> None:
    """Give every entry its frames, those of first seeds first; None where it has none."""
    left = _MOST_FRAMES
    for i in first_seeds_first([group["runs"] for group in groups]):
        found = strips.stored(runs[i])
        if found is None:
            entries[i] |= {"frames": None, "frames_note": _missing(runs[i])}
            continue
        size = len(json.dumps(found))
        if size > left:
            entries[i] |= {"frames": None, "frames_note": _LEFT_OUT}
        else:
            entries[i] |= {"frames": found, "frames_note": ""}
            left -= size


_LEFT_OUT: Final = "Frames are left out to keep the page small."


def _missing(run: Run) -> str:
    """What to do for frames, in worlds that places alone do not show."""
    try:
        wanted = strips.seen_in_images(run) or not run.world.places.counted
        wanted = wanted and renders(run.world)
    except UserError:  # a world that nobody here can build
        return ""
    why = "If the environment renders images, this command adds frames of its skills"
    return f"{why}: apart draw --frames {run.path}" * wanted
