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
        out: the page; `folder.REPORT` in the folder of the first unless said.

    Raises:
        UserError: a page cannot be there, or a run does not load; nothing was written.
    """
    path = out or found[0].path / run_folder.REPORT
    if path.suffix.lower() not in _ENDINGS:
        raise UserError(f"--out: {path} does not end in {' or '.join(_ENDINGS)}")
    if path.is_dir() or not path.parent.is_dir():
        raise UserError(f"--out: {path} is no file in a folder that exists")
    runs = list({run.path.resolve(): run for one in found for run in one.runs}.values())
    for run in runs:
        run.check()
    files.write_bytes(path, html(page_data(runs, policies_of)).encode())
    return Written(path, len(runs))


def html(data: dict[str, Any]) -> str:
    """The page that shows ``data``."""
    style = f"\n{_asset('style.css')}"
    parts = "\n".join(_asset(name) for name in SCRIPTS)
    script = f'\n(() => {{\n"use strict";\n\n{parts}}})();\n'
    policy = (
        f"default-src 'none'; script-src {_allowed(script)}; style-src {_allowed(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    template = Template(_asset("page.html"))
    return template.substitute(policy=policy, style=style, script=script, data=_escaped(data))


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
