"""Gymnasium worlds as tables: states, seconds of search, skills that `apart_plus` finds.

    python benchmarks/tables_of_worlds.py [--seeds 4] [--steps 200000] [--only MiniGrid-Empty]

Needs the extra `minigrid`. One skill for each state in reach, episodes of twice the way to the
farthest state. Stored in results/worlds-tables.json as it goes; what is stored is not made again.
Runs of another number of steps are kept beside the others, as "longer".
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import apart
from apart import worlds
from apart.worlds import exact

STORED = Path(__file__).parent.parent / "results" / "worlds-tables.json"
STEPS = 200_000
WORLDS = (
    "FrozenLake-v1:is_slippery=false",
    "FrozenLake-v1:is_slippery=false,stay=true",
    "FrozenLake-v1",
    "FrozenLake8x8-v1:is_slippery=false",
    "FrozenLake8x8-v1:is_slippery=false,stay=true",
    "FrozenLake8x8-v1",
    "CliffWalking-v1",
    "CliffWalking-v1:stay=true",
    "Taxi-v4",
    "MiniGrid-LavaGapS5-v0",
    "MiniGrid-MultiRoom-N2-S4-v0",
    "MiniGrid-Empty-8x8-v0",
    "MiniGrid-KeyCorridorS3R1-v0",
    "MiniGrid-DoorKey-5x5-v0",
    "MiniGrid-FourRooms-v0",
)


def searched(name: str) -> tuple[worlds.World, dict[str, Any]]:
    began, worked = time.perf_counter(), time.process_time()
    world = worlds.load(f"table:gym:{name}")
    assert isinstance(world, apart.TableWorld)
    horizon = 2 * int(world.distance.max())
    skills = max(world.n_available(horizon), 2)
    return world, {
        "states": world.n_states,
        "actions": world.about.n_actions,
        "successors": int(world.next_state.shape[2]),
        "search_seconds": round(time.perf_counter() - began, 2),
        "search_cpu_seconds": round(time.process_time() - worked, 2),
        "horizon": horizon,
        "available": world.n_available(horizon),
        "random_walk": round(exact.random_walk_skills(world, horizon, skills), 1),
        "runs": {},
    }


def runs_of(facts: dict[str, Any], steps: int) -> dict[str, Any]:
    """Where the runs of so many steps are kept, by seed."""
    if steps == STEPS:
        runs: dict[str, Any] = facts.setdefault("runs", {})
        return runs
    longer: dict[str, Any] = facts.setdefault("longer", {}).setdefault(str(steps), {})
    return longer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--only", default="", help="worlds whose name begins so")
    parser.add_argument("--runs", type=Path, default=Path("runs/tables"))
    asked = parser.parse_args()
    table = json.loads(STORED.read_text()) if STORED.exists() else {}

    def keep() -> None:
        ordered = {name: table[name] for name in WORLDS if name in table}
        STORED.write_text(json.dumps(ordered, indent=1) + "\n")

    for name in [name for name in WORLDS if name.startswith(asked.only)]:
        runs = runs_of(table.get(name, {}), asked.steps)
        todo = [s for s in range(asked.seeds) if str(s) not in runs]
        if not todo:
            continue
        world, facts = searched(name)
        runs = runs_of(table.setdefault(name, facts), asked.steps)
        for seed in todo:
            run = apart.train(
                world,
                method="apart_plus",
                skills="auto",
                horizon="auto",
                seed=seed,
                steps=asked.steps,
                out=asked.runs / world.name / f"seed-{seed}",
                overwrite=True,
            )
            runs[str(seed)] = {
                "found": run.n_effective,
                "env_steps": run.summary["env_steps"],
                "seconds": round(run.summary["wall_seconds"], 1),
            }
            keep()
        print(name, json.dumps(table[name]), flush=True)


if __name__ == "__main__":
    main()
