"""An update of every method beside one of DIAYN, by turns: writes results/family_speed.json.

    python benchmarks/family_speed.py [--seconds 0.3] [--repeats 5] [--only metra,eigenoptions]
    python benchmarks/family_speed.py --networks

The same rows as those of `apart bench`, without the rest of it, in the table or (`--networks`) in
the maze; with --only the other rows stay.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from apart.running import machine, threads, turns

STORED = Path(__file__).parent.parent / "results" / "family_speed.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", help="methods, by commas")
    parser.add_argument("--networks", action="store_true", help="in the maze")
    asked = parser.parse_args()
    threads.use(1)  # before JAX starts
    only = asked.only and asked.only.split(",")
    name, work = ("maze", turns.IN_MAZE) if asked.networks else ("table", turns.IN_TABLE)
    rows = turns.beside(asked.seconds, asked.repeats, only, work)
    turns.printed(rows, work)
    stored = json.loads(STORED.read_text())
    if only:
        new = {row["method"]: row for row in rows}
        rows = [new.get(row["method"], row) for row in stored[name]["rows"]]
    stored[name] = {"machine": machine.words(), "rows": rows}
    STORED.write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
