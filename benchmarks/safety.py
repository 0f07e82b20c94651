"""What safety costs: saving checkpoints, and looking for numbers that are not finite.

    python benchmarks/safety.py [--seconds 90]

Trains four rooms for about so long per method, as `apart train` does, and reads from the summary
what share of the time went into saving. The check for non-finite numbers is timed on the last
state, against the half second of training that it follows. Writes results/safety.json.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import jax.numpy as jnp

import apart
from apart.running import run as host
from apart.settings import resolve
from apart.training.program import program
from apart.training.state import hyper_of

RESULTS = Path(__file__).parents[1] / "results" / "safety.json"
SPEED = {"apart": 20_000, "diayn": 150_000, "apart_plus": 500_000}  # steps per second, about


def measure(method: str, seconds: float, folder: Path) -> dict[str, float | str]:
    steps = int(SPEED[method] * seconds)
    run = apart.train("four_rooms", method=method, steps=steps, out=folder / method)
    s = run.summary
    config, world = resolve("four_rooms", method, {"steps": steps})
    made = program(world, config)
    state = made.init(jnp.uint32(0), hyper_of(config))
    bool(made.finite(state))
    began, n = time.perf_counter(), 200
    for _ in range(n):
        bool(made.finite(state))
    check = (time.perf_counter() - began) / n
    return {
        "method": method,
        "wall_seconds": s["wall_seconds"],
        "save_seconds": s["save_seconds"],
        "saving_percent": round(100 * s["save_seconds"] / s["wall_seconds"], 3),
        "check_milliseconds": round(1e3 * check, 3),
        "checking_percent": round(100 * check / host._SLICE_SECONDS, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=90.0)
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for method in SPEED:
            rows.append(measure(method, arguments.seconds, Path(folder)))
            print(json.dumps(rows[-1]), flush=True)
    RESULTS.write_text(json.dumps({"rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
