"""Updates per second of DIAYN with networks, here and in PyTorch, in turns in one run.

    python benchmarks/networks.py [--torch-python PATH] [--rounds 3]

Per network three programs: PyTorch on the batch of 640, this package on the same batch
(`--network-rows samples`), and on the 85 distinct observations (`--network-rows states`). Each in a
fresh process with all cores; ratios are taken within a round. Writes results/networks.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path

from versus_torch import say

HERE = Path(__file__).parent
STORED = HERE.parent / "results" / "networks.json"
KINDS = {
    "mlp 256,256": {"network": "mlp", "hidden": "256,256"},
    "mlp 2300": {"network": "mlp", "hidden": "2300"},
    "cnn 32,64,128": {"network": "cnn", "observation": "pixels"},
}
OURS = """
import json
from apart.running import threads
threads.use(threads.cores())
from apart.running.bench import Case, measure
print(json.dumps(measure(Case("", "four_rooms", "diayn", {options!r}), {seconds}, 1)))
"""


def ours(options: dict[str, str], rows: str, seconds: float) -> float:
    code = OURS.format(options={**options, "network_rows": rows}, seconds=seconds)
    return 1e3 / say([sys.executable, "-c", code])["ms_per_update"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--torch-python", default=sys.executable, help="a Python that has torch")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=6.0)
    arguments = parser.parse_args()
    rounds: dict[str, list[dict[str, float]]] = {kind: [] for kind in KINDS}
    for _ in range(arguments.rounds):
        for kind, options in KINDS.items():
            word = options.get("hidden", "cnn")
            script = [arguments.torch_python, str(HERE / "networks_torch.py"), "--kind", word]
            row = {
                "torch": say([*script, "--seconds", str(arguments.seconds)])["updates_per_second"],
                "samples": ours(options, "samples", arguments.seconds),
                "states": ours(options, "states", arguments.seconds),
            }
            rounds[kind].append({name: round(speed, 2) for name, speed in row.items()})
            print(kind, rounds[kind][-1], flush=True)
    table = {
        kind: {
            "rounds": rows,
            "same_batch": round(statistics.median(r["samples"] / r["torch"] for r in rows), 2),
            "distinct": round(statistics.median(r["states"] / r["torch"] for r in rows), 2),
        }
        for kind, rows in rounds.items()
    }
    STORED.write_text(json.dumps(table, indent=1) + "\n")
    for kind, row in table.items():
        print(f"{kind}: {row['same_batch']}x on the same batch, {row['distinct']}x on states")


if __name__ == "__main__":
    main()
