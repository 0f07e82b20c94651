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
from typing import Any, Final

from apart.report.page_data import page_data
from apart.runs import files
from apart.runs.folder import Run
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


def write(runs: Sequence[Run], path: Path) -> None:
    """Write the page of ``runs`` to ``path``."""
    files.write_bytes(path, html(page_data(runs, policies_of)).encode())


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
