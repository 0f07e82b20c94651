"""`apart` and three PyTorch versions of it, in turns in one run, as ratios.

    python benchmarks/versus_torch.py [--torch-python PATH] [--rounds 3]

Each round measures all four one after the other, each in a fresh process, so that a noisy
neighbour hits all; the ratio is taken within a round, and the median over rounds is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
STORED = HERE.parent / "results" / "versus_torch.json"
OURS = """
import json
from apart.running import threads
threads.use(threads.cores())
from apart.running.bench import Case, measure
print(json.dumps(measure(Case("apart", "four_rooms", "apart", {}), 3.0, 2)))
"""
FORMS = ("code_matrix", "gathered", "tuned")


def say(command: list[str]) -> dict[str, float]:
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent / "src")}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    result: dict[str, float] = json.loads(done.stdout.strip().split("\n")[-1])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--torch-python", default=sys.executable, help="a Python that has torch")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    rounds: list[dict[str, float]] = []
    for number in range(arguments.rounds):
        row = {"apart": say([sys.executable, "-c", OURS])["env_steps_per_second"]}
        for form in FORMS:
            script = [arguments.torch_python, str(HERE / "naive_torch.py"), "--form", form]
            row[form] = round(say(script)["env_steps_per_second"])
        rounds.append(row)
        print(f"round {number + 1}: {row}", flush=True)
    ratios = {f: round(statistics.median(r["apart"] / r[f] for r in rounds), 1) for f in FORMS}
    print(f"apart is faster by (median of {len(rounds)} rounds): {ratios}")
    STORED.parent.mkdir(exist_ok=True)
    STORED.write_text(json.dumps({"rounds": rounds, "ratio": ratios}, indent=1) + "\n")


if __name__ == "__main__":
    main()
