"""What an evaluation costs in large tables, beside a round of training.

    python benchmarks/evaluations.py [--before OTHER/src]

Processor time of one thread, the best of three, each source tree in a process of its own; stored in
results/evaluations.json. Rows of a tree that is not given again stay as they are.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
STORED = ROOT / "results" / "evaluations.json"
FIELDS = ((25, 2500), (50, 2500), (100, 1000))  # side, skills


def measure() -> None:
    """Print a row for each field, of the package that is imported here."""
    import jax
    import jax.numpy as jnp

    from apart.settings import resolve
    from apart.training.program import program
    from apart.training.state import hyper_of
    from apart.worlds.grid import parse

    for side, skills in FIELDS:
        field = "\n".join(["S" + "." * (side - 1), *["." * side] * (side - 1)])
        options = {"skills": skills, "steps": 100_000}
        config, world = resolve(parse(field, f"open:{side}"), "apart_plus", options)
        run, hyper = program(world, config), hyper_of(config)
        state = run.chunk(run.init(jnp.uint32(0), hyper), hyper, jnp.int32(2))
        jax.block_until_ready(run.evaluate(state, hyper))
        evaluation, training = [], []
        for _ in range(3):
            began = time.process_time()
            jax.block_until_ready(run.evaluate(state, hyper))
            evaluation.append(time.process_time() - began)
            began = time.process_time()
            state = jax.block_until_ready(run.chunk(state, hyper, jnp.int32(5)))
            training.append((time.process_time() - began) / 5)
        row = {"cells": side * side, "skills": skills}
        row |= {"evaluation_ms": round(1e3 * min(evaluation), 1)}
        print(json.dumps({**row, "round_ms": round(1e3 * min(training), 1)}), flush=True)


def measured(source: Path) -> list[dict[str, float]]:
    """The rows of the package in ``source``."""
    env = {**os.environ, "PYTHONPATH": str(source), "PJRT_NPROC": "1"}
    command = [sys.executable, __file__, "--rows"]
    done = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="the src of another checkout")
    parser.add_argument("--rows", action="store_true", help="print the rows of what is imported")
    asked = parser.parse_args()
    if asked.rows:
        measure()
        return
    found = json.loads(STORED.read_text()) if STORED.exists() else {}
    if asked.before:
        found["before"] = measured(asked.before)
    found["now"] = measured(ROOT / "src")
    STORED.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
