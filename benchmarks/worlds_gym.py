"""Gymnasium worlds as they are: skills that methods find at equal steps, counted by places.

    python benchmarks/worlds_gym.py [--seeds 4] [--only CartPole] [--methods apart_logits,diayn]

Needs minigrid, gymnasium[mujoco], gymnasium-robotics and ale-py. All methods have the same number
of steps and updates; apart_spread its own setting (as in mazes), the others one network, batch and
rates. Nothing was tuned for any of these worlds. Stored in results/worlds-gym.json as it goes; what
is stored is not made again.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, NamedTuple

import apart
from apart import worlds

STORED = Path(__file__).parent.parent / "results" / "worlds-gym.json"
METHODS = ("apart_spread", "apart_logits", "diayn", "vic", "random_walk")
STEPS, EPISODES = 20_000, 8
SAME: dict[str, Any] = {"episodes_per_update": EPISODES, "steps": STEPS, "evaluate_every": STEPS}
LEARNING = {
    "network": "mlp:64,64",
    "batch": 128,
    "learning_rate": 1e-3,
    "discriminator_learning_rate": 3e-3,
    "epsilon": 0.05,
}
OWN: dict[str, dict[str, Any]] = {"apart_logits": {"average_rate": 0.0}, "random_walk": {}}


class World(NamedTuple):
    """A world, its length of an episode, its number of skills."""

    horizon: int
    skills: int = 16


WORLDS = {
    "CartPole-v1": World(100),
    "MountainCar-v0": World(100),
    "Acrobot-v1": World(100),
    "PointMaze_UMaze-v3:seed=0": World(100),
    "Reacher-v5": World(50),
    "HalfCheetah-v5": World(50),
    "MiniGrid-FourRooms-v0:seed=0,wrap=minigrid.wrappers:FullyObsWrapper": World(50),
    "ALE/MontezumaRevenge-v5:obs_type=ram": World(50),
}


def options(method: str, horizon: int) -> dict[str, Any]:
    own = OWN.get(method, {})
    if method == "random_walk":
        return {**SAME, **own}
    if method == "apart_spread":
        return {**SAME, "updates_per_episode": EPISODES * horizon // 20}
    return {**SAME, **LEARNING, "updates_per_episode": EPISODES * horizon // 20, **own}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--only", default="", help="worlds whose name begins so")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--runs", type=Path, default=Path("runs/gym"))
    asked = parser.parse_args()
    table = json.loads(STORED.read_text()) if STORED.exists() else {}
    loaded: dict[str, worlds.World] = {}
    for seed in range(asked.seeds):
        for name in [name for name in WORLDS if name.startswith(asked.only)]:
            for method in asked.methods.split(","):
                row = table.setdefault(name, {"horizon": WORLDS[name].horizon, "runs": {}})
                runs = row["runs"].setdefault(method, {})
                if str(seed) in runs:
                    continue
                if name not in loaded:
                    loaded[name] = worlds.load(f"gym:{name}")
                world = loaded[name]
                row |= {
                    "skills": WORLDS[name].skills,
                    "actions": f"{world.about.heads} x {world.about.n_actions}",
                    "observation": f"{world.obs.dtype} {'x'.join(map(str, world.obs.shape))}",
                }
                run = apart.train(
                    world,
                    method=method,
                    seed=seed,
                    skills=WORLDS[name].skills,
                    horizon=WORLDS[name].horizon,
                    out=asked.runs / f"{world.name.replace('/', '-')}-{method}" / f"seed-{seed}",
                    overwrite=True,
                    **options(method, WORLDS[name].horizon),
                )
                runs[str(seed)] = {
                    "found": run.n_effective,
                    "at_start": run.metrics[0]["n_effective"],
                    "env_steps": run.summary["env_steps"],
                    "seconds": round(run.summary["train_seconds"], 1),
                }
                ordered = {name: table[name] for name in WORLDS if name in table}
                STORED.write_text(json.dumps(ordered, indent=1) + "\n")
                print(name, method, seed, json.dumps(runs[str(seed)]), flush=True)


if __name__ == "__main__":
    main()
