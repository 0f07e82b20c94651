"""What our adapter costs beside a bare vector environment; stored in results/worlds-speed.json.

    python benchmarks/worlds_speed.py [--seconds 0.3] [--repeats 30]

Needs the extra `minigrid`. By turns in one process, as in `apart bench`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from apart.running import bench, machine, threads

STORED = Path(__file__).parent.parent / "results" / "worlds-speed.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--repeats", type=int, default=30)
    asked = parser.parse_args()
    threads.use(1)
    found = {"machine": machine.words(), "world": bench.HOST, "side": bench.SIDE, "T": bench.T}
    found |= bench.host_steps(asked.seconds, asked.repeats)
    STORED.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
