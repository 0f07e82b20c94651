"""How much longer training takes where each transition teaches all skills, by turns in one process.

    python benchmarks/sharing_speed.py [--seeds 8] [--steps 1000000]

Each seed trains `apart` in four rooms without sharing and with it (`--q-rule shared_adam`), 500
updates of each by turns, and gives one ratio of processor times. One core, one thread: whatever
slows the machine slows both. Writes `results/sharing-speed.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from pathlib import Path

from apart.running import machine, threads

STORED = Path(__file__).parent.parent / "results" / "sharing-speed.json"
WORLD, METHOD = "four_rooms", "apart"
RULES = {"own": "adam", "all": "shared_adam"}  # which skills learn from a transition
TURN = 500  # updates


class Training:
    """A run that trains for some updates whenever it is its turn."""

    def __init__(self, rule: str) -> None:
        from apart.settings import resolve
        from apart.training.program import program
        from apart.training.state import hyper_of

        self.config, world = resolve(WORLD, METHOD, {"q_rule": rule})
        self.horizon = world.about.horizon
        self.program, self.hyper = program(world, self.config), hyper_of(self.config)
        self.start(0)
        self.seconds(1)  # compiles

    def start(self, seed: int) -> None:
        import jax.numpy as jnp

        self.state = self.program.init(jnp.uint32(seed), self.hyper)

    def seconds(self, updates: int) -> float:
        """Processor time of so many episodes, each with its update."""
        import jax.numpy as jnp

        began = time.process_time()
        self.state = self.program.chunk(self.state, self.hyper, jnp.int32(updates))
        self.state.iteration.block_until_ready()
        return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--steps", type=int, default=1_000_000, help="of each run")
    a = parser.parse_args()
    where = machine.words().rpartition(", ")[0]
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    threads.use(1)
    sides = {name: Training(rule) for name, rule in RULES.items()}
    times: dict[str, list[float]] = {name: [] for name in sides}
    for seed in range(a.seeds):
        for name, side in sides.items():
            side.start(seed)
            times[name].append(0.0)
        for turn in range(a.steps // (TURN * side.horizon)):
            for name in sides if turn % 2 else reversed(sides):
                times[name][-1] += sides[name].seconds(TURN)
    ratios = [shared / own for own, shared in zip(times["own"], times["all"], strict=True)]
    found = {
        "machine": f"{where}, one core used",
        "world": WORLD,
        "method": METHOD,
        "steps": a.steps,
        "seconds": {name: [round(one, 2) for one in each] for name, each in times.items()},
        "ratios": [round(ratio, 3) for ratio in ratios],
        "median": round(statistics.median(ratios), 3),
    }
    STORED.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(STORED.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
