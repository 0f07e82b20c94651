"""``apart export DIR --out DIR2``."""

from __future__ import annotations

import argparse

from apart._errors import UserError
from apart.cli import words
from apart.running import loading
from apart.running.jobs import path
from apart.running.progress import several
from apart.runs import claims, files

HELP = "export skills as safetensors and JSON, which NumPy alone can load"


def add(parser: argparse.ArgumentParser, asked: list[str]) -> None:
    """Add its arguments."""
    parser.add_argument("folder", metavar="DIR", help="folder of a run")
    parser.add_argument("--out", metavar="DIR", help="new folder to write (required)")
    parser.set_defaults(command=run)


def run(parsed: argparse.Namespace) -> int:
    """Write the folder and say what is in it."""
    if parsed.out is None:
        raise UserError("--out: name the folder to write (see apart export --help)")
    out = path("--out", parsed.out)
    found = loading.shown_run(path("DIR", parsed.folder))
    why = claims.occupied(out)
    if why:
        raise UserError(why)
    found.check()
    from apart.report.figures import picture_of
    from apart.skills import export

    export.export(found, out, picture_of(found))
    words.unfinished(found)
    written = ", ".join(file.name for file in files.listing(out))
    print(f"{several(len(found.skills), 'skill')}: {out} ({written})")
    return 0
