"""This package and PyTorch (`naive_torch.py`), in turns in one run, as ratios.

    python benchmarks/versus_torch.py [tables | networks] [--torch-python PATH] [--rounds 3]

tables    APART beside three PyTorch versions of it, steps per second: results/versus_torch.json
networks  DIAYN with networks, updates per second: PyTorch on the batch of 640, this package on the
          same batch and on the 85 distinct observations: results/networks.json

Every program runs in a fresh process with all cores. A round measures all of them one after the
other, so that a noisy neighbour hits all; ratios are taken within a round, the median counts.
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

from apart.running import machine

HERE = Path(__file__).parent
RESULTS = HERE.parent / "results"
FORMS = ("code_matrix", "gathered", "tuned")
KINDS = {
    "mlp 256,256": {"network": "mlp:256,256"},
    "mlp 2300": {"network": "mlp:2300"},
    "cnn 32,64,128": {"network": "cnn", "observation": "pixels"},
}
OURS = """
import json
from apart.running import threads
from apart.running import machine
threads.use(machine.cores())
from apart.running.bench import Case, measure
case = Case("", "four_rooms", {method!r}, {options!r}, {states!r})
print(json.dumps(measure(case, {seconds}, 1)))
"""


def say(command: list[str]) -> dict[str, float]:
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent / "src")}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    result: dict[str, float] = json.loads(done.stdout.strip().split("\n")[-1])
    return result


def ours(
    a: argparse.Namespace, method: str, options: dict[str, str], states: bool | None = None
) -> dict[str, float]:
    code = OURS.format(method=method, options=options, states=states, seconds=a.seconds)
    return say([sys.executable, "-c", code])


def theirs(a: argparse.Namespace, form: str) -> float:
    script = [a.torch_python, str(HERE / "naive_torch.py"), "--form", form]
    return say([*script, "--seconds", str(a.seconds)])["updates_per_second"]


def gain(rounds: list[dict[str, float]], one: str, other: str) -> float:
    return statistics.median(row[one] / row[other] for row in rounds)


def keep(name: str, table: Any) -> None:
    (RESULTS / f"{name}.json").write_text(json.dumps(table, indent=1) + "\n")
    print(json.dumps(table, indent=1), flush=True)


def tables(a: argparse.Namespace) -> None:
    rounds = []
    for _ in range(a.rounds):
        row = {"apart": ours(a, "apart", {})["env_steps_per_second"]}
        rounds.append({**row, **{form: round(40 * theirs(a, form)) for form in FORMS}})
    ratio = {form: round(gain(rounds, "apart", form), 1) for form in FORMS}
    keep("versus_torch", {"machine": machine.words(), "rounds": rounds, "ratio": ratio})


def networks(a: argparse.Namespace) -> None:
    table: dict[str, Any] = {}
    for kind, options in KINDS.items():
        rounds = []
        for _ in range(a.rounds):
            row = {"torch": theirs(a, options["network"].removeprefix("mlp:"))}
            for rows in ("samples", "states"):
                found = ours(a, "diayn", options, states=rows == "states")
                row[rows] = 1e3 / found["ms_per_update"]
            rounds.append({name: round(speed, 2) for name, speed in row.items()})
        table[kind] = {
            "rounds": rounds,
            "same_batch": round(gain(rounds, "samples", "torch"), 2),
            "distinct": round(gain(rounds, "states", "torch"), 2),
        }
    keep("networks", table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    studies = {"tables": tables, "networks": networks}
    parser.add_argument("study", nargs="?", choices=studies, default="tables")
    parser.add_argument("--torch-python", default=sys.executable, help="a Python that has torch")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=6.0)
    arguments = parser.parse_args()
    studies[arguments.study](arguments)


if __name__ == "__main__":
    main()
