"""Skills from pixels: four rooms as images, a CNN for Q and one for the discriminator.

    python benchmarks/pixels.py learning    # apart_logits, apart, diayn, 2 seeds (~25 minutes)
    python benchmarks/pixels.py choices     # what each choice buys, 300 updates (~12 minutes)

Runs go to runs/pixels (finished ones are not made again), results to results/pixels-*.json. One
seed a core, one thread a seed.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from plus import RESULTS, one

from apart.paper._runs import finished
from apart.paper.pixels import IMAGES

LEARNING: dict[str, dict[str, Any]] = {
    "apart_logits": {"method": "apart_pixels", "steps": 336_000},
    "apart": {"method": "apart", "steps": 104_000, **IMAGES},
    "diayn": {"method": "diayn", "steps": 104_000, **IMAGES},
}
CHOICES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "plain pixels, not normalized": {"observation": "pixels"},
    "the paper's rate of Q, 1e-5": {"learning_rate": 1e-5},
    "batch of 640": {"batch": 640},
    "one episode per update": {"episodes_per_update": 1, "evaluate_every": 1_000},
    "a batch, no sweep": {"q_rule": "shared_adam"},
    "rates fall to 0": {"anneal": True},
    "channels 16, 32, 32": {
        "network": "cnn:16,32,32",
        "learning_rate": 1e-4,
        "discriminator_learning_rate": 3e-4,
    },
    "mlp 256, 256 on the same images": {
        "network": "mlp",
        "learning_rate": 1e-3,
        "discriminator_learning_rate": 2e-3,
    },
}
UPDATES = 300


def learning(folder: Path) -> Any:
    table: dict[str, Any] = {}
    for label, options in LEARNING.items():
        for run in finished(one(folder, "four_rooms", seed, **options) for seed in (0, 1)):
            names = ("env_steps", "n_effective", "wall_seconds")
            kept = ("seed", "n_effective", "updates", "wall_seconds")
            curve = {name: [float(r[name]) for r in run.metrics] for name in names}
            row = {**{name: run.summary[name] for name in kept}, "curve": curve}
            table.setdefault(label, []).append(row)
    return table


def choices(folder: Path) -> Any:
    todo = []
    for options in CHOICES.values():
        steps = UPDATES * 40 * options.get("episodes_per_update", 8)
        own = {"method": "apart_pixels", "steps": steps}
        todo.append(one(folder, "four_rooms", 0, **own, **options))
    return [
        {
            "change": change,
            "n_effective": run.n_effective,
            "env_steps": run.summary["env_steps"],
            "ms_per_update": round(1e3 * run.summary["train_seconds"] / run.summary["updates"]),
        }
        for change, run in zip(CHOICES, finished(todo), strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", choices=["learning", "choices"])
    parser.add_argument("--folder", type=Path, default=Path("runs/pixels"))
    arguments = parser.parse_args()
    study = {"learning": learning, "choices": choices}[arguments.study]
    result = study(arguments.folder)
    path = RESULTS / f"pixels-{arguments.study}.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(f"written to {path}")


if __name__ == "__main__":
    main()
