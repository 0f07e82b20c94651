"""``apart compare WORLD...``."""

from __future__ import annotations

import argparse
from pathlib import Path

from apart._config import Config, check_value
from apart._errors import UserError
from apart.cli import words
from apart.running.engines import engine
from apart.runs.plan import MAX_SEEDS, seeds_from

HELP = "compare methods on the same worlds, by every measure"


def add(parser: argparse.ArgumentParser, asked: list[str]) -> None:
    """Add its flags."""
    parser.add_argument(
        "worlds", metavar="WORLD", nargs="*", help="one or more worlds, as for 'apart train'"
    )
    parser.add_argument(
        "--methods", metavar="A,B", help="methods (default: all without networks of their own)"
    )
    parser.add_argument(
        "--steps",
        metavar="N,N",
        default="1M",
        help="environment steps; several numbers make a table each (default 1M)",
    )
    parser.add_argument("--seed", metavar="N", default="0", help="first seed (default 0)")
    parser.add_argument("--seeds", metavar="N", default="4", help="seeds per row (default 4)")
    parser.add_argument(
        "--skills",
        metavar="N",
        default=str(Config.skills),
        help=f"number of skills K (default {Config.skills})",
    )
    parser.add_argument(
        "--sharing",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="add a second row per method with the other rule of sharing: "
        "whether a transition updates all skills or only its own",
    )
    parser.add_argument(
        "--with",
        metavar="FILE,FILE",
        help="add the rows of other compare.json files, and do not train these again",
    )
    parser.add_argument(
        "--out", metavar="DIR", help="folder of the comparison (default runs/compare)"
    )
    words.add_engine(parser)
    parser.set_defaults(command=run)


def run(parsed: argparse.Namespace) -> int:
    """Train what is missing, measure, show."""
    from apart.comparison import results
    from apart.comparison.compare import FOLDER, compare
    from apart.comparison.rows import one_k

    if not parsed.worlds:
        raise UserError("name at least one world (see 'apart list worlds')")
    joined = getattr(parsed, "with")  # a word of Python
    known = [] if joined is None else _names("--with", joined)
    compare(
        parsed.worlds,
        words.out(parsed) or FOLDER,
        methods=None if parsed.methods is None else _names("--methods", parsed.methods),
        steps=[check_value("steps", text) for text in _names("--steps", parsed.steps)],
        seeds=seeds_from(parsed.seed, words.count("--seeds", parsed.seeds, MAX_SEEDS)),
        skills=one_k(parsed.skills),
        sharing=parsed.sharing,
        engine=engine(parsed.engine),
        say=lambda text: print(text, flush=True),
        known=[row for file in known for row in results.read(Path(file))],
    )
    return 0


def _names(flag: str, text: str) -> list[str]:
    found = [part.strip() for part in text.split(",")]
    if not all(found):
        raise UserError(f"{flag}: '{text}' has an empty part; separate names with single commas")
    return found
