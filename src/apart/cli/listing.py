"""``apart list``."""

from __future__ import annotations

import argparse

from apart import facts, paper
from apart._config import flag
from apart._errors import unknown
from apart._registry import load_plugins
from apart.worlds import environments, grid, gymnax, hosts, mazes, xminigrid

_PACKAGES = {by.SYNTAX: by.SUMMARY for by in (hosts, environments, xminigrid, gymnax)}
_COMMANDS = {"worlds": "apart train WORLD", "experiments": "apart reproduce ID"}
_GAP = "\n"
_WIDEST = 28  # a longer name pushes its own summary aside
HELP = "list worlds, methods, experiments and values of options"


def add(parser: argparse.ArgumentParser, asked: list[str]) -> None:
    """Add its arguments."""
    parser.add_argument(
        "kinds",
        metavar="LIST",
        nargs="*",
        help="worlds, methods, rewards, ...: only these lists (default: all)",
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
            raise unknown("list", kind, tables, see="apart list")
    shown = [kind for kind in tables if kind in parsed.kinds] if parsed.kinds else [*tables]
    for kind in shown:
        names = tables[kind]
        print(f"{'' if kind == shown[0] else _GAP}{kind} ({_used_by(kind)})")
        for part in (names, _PACKAGES if kind == "worlds" else {}):
            width = min(max(map(len, part), default=0), _WIDEST)
            for name, summary in part.items():
                print(f"  {name:<{width}}  {summary}")
    return 0


def _used_by(kind: str) -> str:
    """The command or option that takes a name of this list."""
    return _COMMANDS.get(kind) or flag(kind.removesuffix("s").replace("-", "_"))
