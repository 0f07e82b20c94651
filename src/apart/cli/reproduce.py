"""``apart reproduce ID``."""

from __future__ import annotations

import argparse
from pathlib import Path

from apart import paper
from apart._errors import UserError
from apart.cli import words
from apart.methods import OURS, READINGS
from apart.running.engines import engine

HELP = "reproduce tables and figures of the paper, beside its numbers"


def add(parser: argparse.ArgumentParser, asked: list[str]) -> None:
    """Add its flags."""
    parser.add_argument(
        "ids", metavar="ID", nargs="*", help="experiments (see 'apart list experiments')"
    )
    parser.add_argument("--all", action="store_true", help="all experiments")
    parser.add_argument("--seeds", metavar="N", help="seeds per condition (default: 4, pixels 2)")
    parser.add_argument(
        "--steps",
        metavar="N",
        help="environment steps (default: the experiment's; with --reading published the paper's)",
    )
    parser.add_argument(
        "--reading",
        metavar="NAME",
        default=OURS,
        help=f"choices where the paper is silent: {', '.join(READINGS)} (default {OURS})",
    )
    parser.add_argument(
        "--budget",
        metavar="TIME",
        help="time limit, such as 30m or 8h: seeds and steps are chosen to fit",
    )
    parser.add_argument(
        "--out", metavar="DIR", help="folder of the results (default runs/reproduce)"
    )
    words.add_engine(parser)
    parser.set_defaults(command=run)


def run(parsed: argparse.Namespace) -> int:
    """Train what is missing, draw, judge."""
    from apart.paper._reproduce import reproduce

    if parsed.all and parsed.ids:
        raise UserError(f"give --all or names ({', '.join(parsed.ids)}), not both")
    ids = paper.names() if parsed.all else parsed.ids
    if not ids:
        raise UserError(f"name an experiment or --all: {', '.join(paper.names())}")
    if parsed.budget is not None and (parsed.seeds or parsed.steps):
        raise UserError("--budget chooses --seeds and --steps; leave them out")
    reproduce(
        list(dict.fromkeys(ids)),
        words.out(parsed) or Path("runs") / "reproduce",
        seeds=None if parsed.seeds is None else words.count("--seeds", parsed.seeds, 1_000_000),
        steps=words.steps(parsed),
        reading=parsed.reading,
        budget=None if parsed.budget is None else words.seconds("--budget", parsed.budget),
        engine=engine(parsed.engine),
    )
    return 0
