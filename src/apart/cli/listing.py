"""``apart list``."""

from __future__ import annotations

import argparse

from apart import facts, paper
from apart._errors import unknown
from apart._registry import load_plugins
from apart.worlds import environments, grid, gymnax, hosts, mazes, xminigrid

_BELOW = {
    "worlds": [f"{by.SYNTAX}  {by.SUMMARY}" for by in (hosts, environments, xminigrid, gymnax)]
}
HELP = "worlds, methods, experiments and the values of options"


def add(parser: argparse.ArgumentParser, asked: list[str]) -> None:
    """Its arguments."""
    parser.add_argument(
        "kinds", metavar="KIND", nargs="*", help="worlds, methods, ...: only these (default: all)"
    )
    parser.set_defaults(command=run)


def run(parsed: argparse.Namespace) -> int:
    """Print names and a line on each."""
    load_plugins()
    tables = {f"{kind}s".replace(" ", "-"): names for kind, names in facts.choices().items()}
    for name in tables["worlds"]:
        world = grid.load(name)
        tables["worlds"][name] += f" ({world.n_states} cells, T = {world.about.horizon})"
    tables["worlds"] |= mazes.summaries()
    tables["experiments"] = {name: paper.experiment(name).title for name in paper.names()}
    for kind in parsed.kinds:
        if kind not in tables:
            raise unknown("list", kind, tables)
    for kind, names in tables.items():
        if parsed.kinds and kind not in parsed.kinds:
            continue
        print(kind)
        width = max(map(len, names))
        for name, summary in names.items():
            print(f"  {name:<{width}}  {summary}")
        for line in _BELOW.get(kind, ()):
            print(f"  {line}")
    return 0
