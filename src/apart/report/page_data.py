"""What the explorer page knows, as JSON: from run folders alone.

Arrays are compressed, so that eight runs fit in a page of 2 MB; what does not fit is left out, and
the page says so. Everything is numbers and text: the page decides how it looks.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from apart._version import __version__
from apart.report.page_frames import add_frames
from apart.report.page_groups import groups_of
from apart.report.page_numbers import Json
from apart.report.page_places import PagePlaces
from apart.report.page_policies import Reader, add_policies
from apart.report.page_runs import run_entry
from apart.runs.folder import Run


def page_data(runs: Sequence[Run], policies_of: Reader) -> Json:
    """Everything that the page of ``runs`` shows.

    Args:
        runs: of any worlds and methods; those that differ in their seed alone form a group.
        policies_of: reads the policies of a run, or gives None where there are none.
    """
    worlds_: list[Json] = []
    known: dict[str, int] = {}
    entries = []
    for run in runs:
        places = PagePlaces(run)
        key = json.dumps(run.spec, sort_keys=True) if places.complete else str(len(worlds_))
        if key not in known:
            known[key] = len(worlds_)
            worlds_.append(places.entry())
        entries.append({"world": known[key], **run_entry(run, places)})
    groups = groups_of(runs, entries)
    add_policies(runs, entries, groups, policies_of)
    add_frames(runs, entries, groups)
    return {"version": __version__, "worlds": worlds_, "runs": entries, "groups": groups}
