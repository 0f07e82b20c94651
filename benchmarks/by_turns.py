"""Two versions of this package, by turns in one run, as ratios: did a change cost speed or memory?

    git worktree add ../before COMMIT
    python benchmarks/by_turns.py ../before/src [--rounds 5] [--seconds 1] [--methods a,b]

Every measurement is a fresh process; a round measures all methods in both versions, one after the
other, so that a noisy neighbour hits both. A ratio of medians above 1: this version is faster.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent.parent / "src"
METHODS = (
    *("apart", "ap_min_ascending", "ap_average", "diayn", "vic", "tuned_vic", "apart_logits"),
    *("apart_plus",),
)
MAZE = {"hold": 4, "network": "mlp", "observation": "rbf", "batch": 256, "updates_per_episode": 4}
LARGE: dict[str, tuple[str, str, dict[str, Any]]] = {
    "apart_plus_in_open_20": ("apart_plus", "open_20", {"skills": 440}),
    "vic_in_a_maze": ("vic", "maze:bottleneck", {"skills": 100, **MAZE}),
    "apart_spread_in_a_maze": ("apart_spread", "maze:bottleneck", {"skills": 100}),
}
CODE = """
import json
try:
    from apart.running.bench import Case, measure
except ImportError:  # version 0.1
    from apart.bench import Case, measure
print(json.dumps(measure(Case("", {world!r}, {method!r}, {options!r}), {seconds}, 1)))
"""


def measured(source: Path, case: tuple[str, str, dict[str, Any]], seconds: float) -> dict[str, Any]:
    method, world, options = case
    code = CODE.format(method=method, world=world, options=options, seconds=seconds)
    around = {**os.environ, "PYTHONPATH": str(source), "PJRT_NPROC": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=around
    )
    row: dict[str, Any] = json.loads(done.stdout.strip().split("\n")[-1])
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path, help="the src folder of the other version")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--methods", default=",".join([*METHODS, *LARGE]))
    a = parser.parse_args()
    cases = {name: (name, "four_rooms", {}) for name in a.methods.split(",")} | LARGE
    chosen = a.methods.split(",")
    found: dict[str, dict[str, list[dict[str, Any]]]] = {n: {"b": [], "a": []} for n in chosen}
    for number in range(a.rounds):
        for name in chosen:
            turns = [("b", a.before), ("a", HERE)]
            for key, source in turns if number % 2 else turns[::-1]:
                found[name][key].append(measured(source, cases[name], a.seconds))
    for name in chosen:
        before, after = found[name]["b"], found[name]["a"]

        def median(rows: list[dict[str, Any]], column: str) -> float:
            return statistics.median(row[column] for row in rows)

        best = min(r["ms_per_update"] for r in before) / min(r["ms_per_update"] for r in after)
        speed = median(before, "ms_per_update") / median(after, "ms_per_update")
        memory = median(after, "peak_rss_mb") / median(before, "peak_rss_mb")
        compiles = median(after, "compile_seconds") / median(before, "compile_seconds")
        print(
            f"{name:22} faster {speed:5.2f} (best {best:5.2f})  "
            f"{median(after, 'ms_per_update'):.4f} ms  memory {memory:.2f}  "
            f"compiling {compiles:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
