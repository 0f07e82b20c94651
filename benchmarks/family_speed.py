"""An update of every method beside one of DIAYN, by turns: writes results/family_speed.json.

    python benchmarks/family_speed.py [--seconds 0.5] [--repeats 5]

The same rows as those of `apart bench`, without the rest of it.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from apart.running import machine, threads, turns

STORED = Path(__file__).parent.parent / "results" / "family_speed.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    threads.use(1)  # before JAX starts
    rows = turns.beside(asked.seconds, asked.repeats)
    turns.printed(rows)
    STORED.write_text(json.dumps({"machine": machine.words(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
