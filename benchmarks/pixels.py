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

import jobs

from apart.paper.pixels import IMAGES

ROOT = Path(__file__).parent.parent
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
    "a batch, no sweep": {"sweep": False},
    "rates fall to 0": {"anneal": True},
    "channels 16, 32, 32": {"channels": "16,32,32"},
    "mlp 256, 256 on the same images": {
        "network": "mlp",
        "learning_rate": 1e-3,
        "discriminator_learning_rate": 2e-3,
    },
}
UPDATES = 300


def curve(run: Any) -> dict[str, list[float]]:
    names = ("env_steps", "n_effective", "wall_seconds")
    return {name: [float(row[name]) for row in run.metrics] for name in names}


def learning(folder: Path) -> Any:
    todo = [
        {"id": f"{label}-{seed}", "world": "four_rooms", "seed": seed, **options}
        for label, options in LEARNING.items()
        for seed in (0, 1)
    ]
    runs = jobs.run(todo, folder, long=True)
    return {
        label: [
            {
                "seed": seed,
                "n_effective": runs[f"{label}-{seed}"].n_effective,
                "updates": runs[f"{label}-{seed}"].summary["updates"],
                "wall_seconds": runs[f"{label}-{seed}"].summary["wall_seconds"],
                "curve": curve(runs[f"{label}-{seed}"]),
            }
            for seed in (0, 1)
        ]
        for label in LEARNING
    }


def choices(folder: Path) -> Any:
    todo = []
    for number, options in enumerate(CHOICES.values()):
        steps = UPDATES * 40 * options.get("episodes_per_update", 8)
        own = {"world": "four_rooms", "method": "apart_pixels", "seed": 0, "steps": steps}
        todo.append({"id": f"choice-{number}", **own, **options})
    runs = jobs.run(todo, folder, long=True)
    return [
        {
            "change": change,
            "n_effective": (run := runs[f"choice-{number}"]).n_effective,
            "env_steps": run.summary["env_steps"],
            "ms_per_update": round(1e3 * run.summary["train_seconds"] / run.summary["updates"]),
        }
        for number, change in enumerate(CHOICES)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", choices=["learning", "choices"])
    parser.add_argument("--folder", type=Path, default=ROOT / "runs" / "pixels")
    arguments = parser.parse_args()
    study = {"learning": learning, "choices": choices}[arguments.study]
    result = study(arguments.folder)
    path = ROOT / "results" / f"pixels-{arguments.study}.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(f"written to {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
