"""The explorer page: one HTML file that needs nothing else, written from run folders alone.

The page is three hand-written things (``explorer/page.html``, ``style.css``, the parts of its
script) and data as JSON. Its content security policy allows that one script and that one style, by
their checksums, and nothing from anywhere. What a run folder says reaches the page as JSON whose
``<``, ``>`` and ``&`` are escaped, and the script makes text of it, never markup.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any, Final, NamedTuple

from apart._errors import UserError
from apart.report.page_data import page_data
from apart.runs import files
from apart.runs import folder as run_folder
from apart.runs.folder import Run, RunSet
from apart.skills.policies import policies_of

# In the order in which they stand in the page; together they are one function.
SCRIPTS: Final = (
    "dom.js",
    "data.js",
    "walk.js",
    "map.js",
    "frames.js",
    "state.js",
    "skills.js",
    "tiles.js",
    "play.js",
    "goal.js",
    "judge.js",
    "training.js",
    "chart.js",
    "curves.js",
    "compare.js",
    "about.js",
    "main.js",
)


_ENDINGS: Final = (".html", ".htm")


class Written(NamedTuple):
    """A page that was written, and how many runs it shows."""

    path: Path
    n_runs: int


def write(found: Sequence[Run | RunSet], out: Path | None = None) -> Written:
    """Write the page of runs, those of sets among them, each shown once.

    Args:
        found: runs and sets of runs, at least one.
        out: the page; it replaces a file of that name. By default ``report.html`` in the folder of
            one run or set. The page of several is beside them, in their common parent folder:
            ``report.html``, or ``report-A-B.html`` if that name is taken.

    Raises:
        UserError: a page cannot be there, or a run does not load; nothing was written.
    """
    runs = list({run.path.resolve(): run for one in found for run in one.runs}.values())
    given = dict.fromkeys(one.path.resolve() for one in found)
    folders = [folder for folder in given if not given.keys() & set(folder.parents)]
    of = _selection(folders)
    if out is not None:
        path = out
    elif folders[1:]:
        path = _beside(folders, of)
    else:
        whole = next(one for one in found if one.path.resolve() == folders[0])
        path = whole.path / run_folder.REPORT
    if path.suffix.lower() not in _ENDINGS:
        raise UserError(f"--out: {path} does not end in {' or '.join(_ENDINGS)}")
    if path.is_dir() or not path.parent.is_dir():
        raise UserError(f"--out: {path} is not a file in a folder that exists")
    for run in runs:
        run.check()
    files.write_bytes(path, html(page_data(runs, policies_of), of).encode())
    return Written(path, len(runs))


def _selection(folders: Sequence[Path]) -> str:
    """A checksum of the folders that a page shows, which is written into it."""
    return files.digest("\n".join(sorted(map(str, folders))).encode())


def _beside(folders: Sequence[Path], of: str) -> Path:
    """Where the page of several folders is unless the user says: never in place of another file."""
    common, plain = _shared(folders), Path(run_folder.REPORT)
    inside = ["-".join(folder.relative_to(common).parts) for folder in folders]
    name = "-".join([plain.stem, *inside])
    if len(name) > _LONGEST_NAME:
        name = f"{plain.stem}-{inside[0][:_LONGEST_NAME]}-and-{len(folders) - 1}-more"
    here = Path.cwd()
    shown = common.relative_to(here) if common.is_relative_to(here) else common
    for path in (shown / plain, shown / f"{name}{plain.suffix}"):
        if not path.exists() or _shows(path, of):
            return path
    raise UserError(f"{path} is a page of other runs, or no page; name another file with --out")


def _shared(folders: Sequence[Path]) -> Path:
    """The folder that all ``folders`` are in."""
    return Path(os.path.commonpath([folder.parent for folder in folders]))


def _shows(path: Path, of: str) -> bool:
    """Whether ``path`` is a page of the selection ``of`` folders."""
    try:
        return _MARK.format(of).encode() in files.read_bytes(path, _MOST_PAGE)
    except UserError:  # no file, or a larger one
        return False


_MARK: Final = '<meta name="apart-runs" content="{}">'
_LONGEST_NAME: Final = 100  # characters of the name of a page
_MOST_PAGE: Final = 100_000_000


def html(data: dict[str, Any], of: str = "") -> str:
    """The page that shows ``data``, with the checksum ``of`` the folders that it is about."""
    style = f"\n{_asset('style.css')}"
    parts = "\n".join(_asset(name) for name in SCRIPTS)
    script = f'\n(() => {{\n"use strict";\n\n{parts}}})();\n'
    policy = (
        f"default-src 'none'; script-src {_allowed(script)}; style-src {_allowed(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    template = Template(_asset("page.html"))
    parts_of_page = {"policy": policy, "style": style, "script": script, "data": _escaped(data)}
    return template.substitute(parts_of_page, mark=_MARK.format(of))


def _asset(name: str) -> str:
    folder = resources.files("apart.report") / "explorer"
    return (folder / name).read_text("utf-8")


def _allowed(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _escaped(data: dict[str, Any]) -> str:
    """JSON, in ASCII, that cannot end the element in which it stands."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text
