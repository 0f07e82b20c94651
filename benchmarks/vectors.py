"""What vectors of 512 bits instead of XLA's 256 do for training, by turns in one run.

    python benchmarks/vectors.py [--rounds 5] [--seconds 1]

Every measurement is a process of its own, on one core with one thread; both widths are asked for
by XLA_FLAGS, as a user would. Writes `results/vectors.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from apart.running import machine

STORED = Path(__file__).parent.parent / "results" / "vectors.json"
METHODS = ("apart", "ap_average", "diayn", "valor", "dads", "metra", "apart_plus")
WIDTHS = (256, 512)
CODE = """
import json
from apart.running.bench import Case, measure
print(json.dumps(measure(Case("", "four_rooms", {method!r}, {{}}), {seconds}, 1)))
"""


def measured(method: str, width: int, seconds: float) -> float:
    """Milliseconds of an update."""
    around = {
        **os.environ,
        "PJRT_NPROC": "1",
        "APART_CACHE": "off",
        "XLA_FLAGS": f"--xla_cpu_prefer_vector_width={width}",
    }
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(method=method, seconds=seconds)],
        capture_output=True,
        text=True,
        check=True,
        env=around,
    )
    return float(json.loads(done.stdout.strip().split("\n")[-1])["ms_per_update"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    a = parser.parse_args()
    where = machine.words().rpartition(", ")[0]
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    found: dict[str, dict[int, list[float]]] = {m: {w: [] for w in WIDTHS} for m in METHODS}
    for number in range(a.rounds):
        for method in METHODS:
            for width in WIDTHS if number % 2 else WIDTHS[::-1]:
                found[method][width].append(measured(method, width, a.seconds))
    rows = [
        {
            "method": method,
            **{f"ms_{w}": statistics.median(times) for w, times in widths.items()},
            "ratios": [round(b / w, 3) for b, w in zip(*widths.values(), strict=True)],
        }
        for method, widths in found.items()
    ]
    result = {"machine": f"{where}, one core used", "rounds": a.rounds, "rows": rows}
    STORED.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(STORED.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
