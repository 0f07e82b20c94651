"""``apart check WORLD``."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from typing import Any

from apart import worlds
from apart._config import flag, number
from apart.running.world_facts import facts

HELP = "say whether and how a world will work"


def add(parser: argparse.ArgumentParser, asked: list[str]) -> None:
    """Its arguments."""
    parser.add_argument("world", metavar="WORLD", help="as for 'apart train'")
    parser.add_argument("--slip", metavar="P", help="as for 'apart train'")
    parser.set_defaults(command=run)


def run(parsed: argparse.Namespace) -> int:
    """Say it, a line a fact; the last one is what to run next."""
    slip = 0.0 if parsed.slip is None else float(number("--slip", parsed.slip, whole=False))
    world = worlds.load(parsed.world, slip)

    def command(before: str, options: Mapping[str, Any]) -> str:
        given = dict(options) if parsed.slip is None else {**options, "slip": parsed.slip}
        words = [f"{flag(name)} {value}" for name, value in given.items()]
        return f"apart train {shlex.quote(before + parsed.world)} {' '.join(words)}"

    for name, said in facts(world, command):
        print(f"{name:<13} {said}")
    return 0
