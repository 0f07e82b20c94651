"""Continuous mazes: the random walk that calibrates them, and what existing methods find there.

    python benchmarks/mazes.py walk [--seeds 3] [--steps 10000000]
    python benchmarks/mazes.py methods [--seeds 2] [--steps 300000] [--only diayn]
    python benchmarks/mazes.py speed

The walk takes uniform continuous actions in [-1, 1]^2, as UPSIDE's baseline does. Stored in
results/mazes.json as it goes; what is stored is not made again.
Skills decide once in 5 steps.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("PJRT_NPROC", "1")  # one core

import jax
import jax.numpy as jnp
import numpy as np

import apart
from apart.learner import groups
from apart.settings import resolve
from apart.training.program import program
from apart.training.state import hyper_of
from apart.worlds import mazes
from apart.worlds.mazes import MAZES, Where

STORED = Path(__file__).parent.parent / "results" / "mazes.json"
WALKED = ("bottleneck", "u")
SIDE_BY_SIDE = 500
COMMON: dict[str, Any] = {"skills": 100, "hold": 5, "network": "mlp:128,128"}
LEARNING: dict[str, Any] = {"batch": 256, "updates_per_episode": 4}  # one in 50 steps
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "apart_logits": ("apart_logits", LEARNING),
    "apart_logits, rbf": ("apart_logits", {**LEARNING, "observation": "rbf"}),
    "diayn": ("diayn", LEARNING),
    "vic": ("vic", LEARNING),
    "random_walk": ("random_walk", {}),
}


def walked(name: str, seed: int, steps: int) -> int:
    """Buckets that a random walk of so many steps ever visits."""
    known = MAZES[name]
    layout = mazes.read(mazes.drawing(known.drawing), name)
    number = jnp.asarray(layout.number)

    def step(state: Where, delta: jax.Array) -> tuple[Where, jax.Array]:
        after = mazes.move(layout.ways, state, delta)
        return after, number[after.cell[0], after.cell[1]]

    @jax.jit
    def episodes(key: jax.Array) -> jax.Array:
        shape = (SIDE_BY_SIDE, known.horizon, 2)
        deltas = known.move * jax.random.uniform(key, shape, minval=-1.0, maxval=1.0)
        start = Where(jnp.array(layout.start, jnp.int32), jnp.full(2, 0.5, jnp.float32))
        passed = jax.vmap(lambda one: jax.lax.scan(step, start, one)[1])(deltas)
        seen = jnp.zeros(len(layout.cells), bool).at[passed.reshape(-1)].set(True)
        return seen.at[number[layout.start]].set(True)

    seen = np.zeros(len(layout.cells), bool)
    for batch in range(steps // (SIDE_BY_SIDE * known.horizon)):
        seen |= np.asarray(episodes(jax.random.fold_in(jax.random.key(seed), batch)))
    return int(seen.sum())


def trained(name: str, label: str, seed: int, steps: int, out: Path) -> dict[str, Any]:
    """Buckets that the greedy skills visit, and distinct last ones."""
    method, options = METHODS[label]
    run = apart.train(
        f"maze:{name}",
        method=method,
        steps=steps,
        seed=seed,
        evaluate_every=50_000,
        out=out / f"{name}-{label.replace(', ', '-')}" / f"seed-{seed}",
        overwrite=True,
        **COMMON,
        **options,
    )
    return {
        "visited": len({place for skill in run.skills for place in skill.trajectory}),
        "last": run.n_effective,
        "env_steps": run.summary["env_steps"],
        "updates": run.summary["updates"],
        "seconds": round(run.summary["wall_seconds"], 1),
    }


def speeds(rounds: int = 10, turns: int = 8) -> list[dict[str, Any]]:
    """Environment steps per second of processor time while learning, by turns; the best of each.

    With and without grouping samples by action (`apart.learner.groups`): one thread, K = 100.
    """
    cases = []
    pays = groups.pays
    for updates in (2, 4):
        for grouped in (False, True):
            groups.pays = pays if grouped else lambda *_: False
            options = {**COMMON, **LEARNING, "updates_per_episode": updates}
            config, world = resolve("maze:bottleneck", "apart_logits", options)
            run, hyper = program(world, config), hyper_of(config)
            state = run.chunk(run.init(jnp.uint32(0), hyper), hyper, jnp.int32(2))
            cases.append([updates, grouped, run, hyper, state, math.inf])
    groups.pays = pays
    for _ in range(turns):
        for case in cases:
            *_, run, hyper, state, best = case
            began = time.process_time()
            state = jax.block_until_ready(run.chunk(state, hyper, jnp.int32(rounds)))
            case[4:] = [state, min(best, (time.process_time() - began) / rounds)]
    horizon = MAZES["bottleneck"].horizon
    return [
        {
            "steps_per_update": horizon // updates,
            "grouped": grouped,
            "ms_per_episode": round(1e3 * best, 2),
            "steps_per_cpu_second": round(horizon / best),
        }
        for updates, grouped, *_, best in cases
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("walk", "methods", "speed"))
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--only", default="", help="methods whose name begins so")
    parser.add_argument("--maze", choices=WALKED, help="only this one")
    parser.add_argument("--stored", type=Path, default=STORED)
    parser.add_argument("--runs", type=Path, default=Path("runs/mazes"))
    asked = parser.parse_args()
    names = (asked.maze,) if asked.maze else WALKED
    table = {"walk": {}, "methods": {}}
    if asked.stored.exists():
        table = json.loads(asked.stored.read_text())

    def keep() -> None:
        asked.stored.write_text(json.dumps(table, indent=1) + "\n")

    if asked.what == "speed":
        table["speed"] = speeds()
        keep()
        print(*table["speed"], sep="\n")
        return
    if asked.what == "walk":
        steps = asked.steps or 10_000_000
        for name in names:
            found = table["walk"].setdefault(name, {"steps": steps, "visited": {}})
            for seed in range(asked.seeds or 3):
                if str(seed) not in found["visited"]:
                    found["visited"][str(seed)] = walked(name, seed, steps)
                    keep()
            print(name, found, flush=True)
        return
    steps = asked.steps or 300_000
    for seed in range(asked.seeds or 2):
        for label in [label for label in METHODS if label.startswith(asked.only)]:
            for name in names:
                runs = table["methods"].setdefault(name, {}).setdefault(label, {})
                if str(seed) not in runs:
                    runs[str(seed)] = trained(name, label, seed, steps, asked.runs)
                    keep()
                    print(name, label, seed, runs[str(seed)], flush=True)


if __name__ == "__main__":
    main()
