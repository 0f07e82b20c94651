"""The studies of `apart_plus` (docs/apart_plus.md). Stored in results/plus-*.json.

    python benchmarks/plus.py sixty      20 seeds in each of the paper's worlds, several budgets
    python benchmarks/plus.py long       3M steps: does it stay complete?
    python benchmarks/plus.py maps       16 maps that the setting was not chosen on
    python benchmarks/plus.py ablation   each ingredient off, and each added to older methods
    python benchmarks/plus.py scale      30x30 with 1,000 skills, 50x50 with 2,500

Finished runs below --runs are not made again. --seeds and --steps shrink a study.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from pathlib import Path
from typing import Any

import jobs

from apart.runs import folder as run_folder
from apart.worlds import grid
from apart.worlds.gallery import GALLERY

WORLDS = ("four_rooms", "empty", "u_maze")
RESULTS = Path(__file__).parent.parent / "results"
BUDGETS = {
    "apart_plus": (75_000, 100_000, 150_000, 200_000, 300_000, 1_000_000),
    "apart_logits": (300_000, 1_000_000),
}


def keep(study: str, value: Any) -> None:
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"plus-{study}.json").write_text(json.dumps(value, indent=1) + "\n")


def brief(run: run_folder.Run) -> dict[str, Any]:
    names = ("world", "method", "seed", "n_effective", "n_available", "first_full_at", "env_steps")
    return {name: run.summary[name] for name in names}


def sixty(seeds: int, steps: int | None, runs: Path) -> None:
    table = {}
    for method, budgets in BUDGETS.items():
        for budget in [steps] if steps else budgets:
            todo = [
                {
                    "id": f"{method}-{w}-{budget}-{s}",
                    "world": w,
                    "method": method,
                    "seed": s,
                    "steps": budget,
                    "evaluate_every": 5_000,
                }
                for w in WORLDS
                for s in range(seeds)
            ]
            done = list(jobs.run(todo, runs / "sixty").values())
            firsts = [r.summary["first_full_at"] or math.inf for r in done]
            row = {
                "complete": sum(r.n_effective == r.n_available for r in done),
                "of": len(done),
                "median_first_full_at": statistics.median(firsts),
                "per_world": {
                    w: {
                        "complete": sum(r.n_effective == r.n_available for r in mine),
                        "median_first_full_at": statistics.median(
                            r.summary["first_full_at"] or math.inf for r in mine
                        ),
                        "latest_first_full_at": max(
                            r.summary["first_full_at"] or math.inf for r in mine
                        ),
                    }
                    for w in WORLDS
                    for mine in [[r for r in done if r.summary["world"] == w]]
                },
                "seconds_per_run": round(
                    statistics.fmean(r.summary["wall_seconds"] for r in done), 2
                ),
            }
            table[f"{method} {budget}"] = json.loads(json.dumps(row).replace("Infinity", "null"))
            print(method, budget, row, flush=True)
            keep("sixty", table)


def long(seeds: int, steps: int | None, runs: Path) -> None:
    steps = steps or 3_000_000
    todo = [
        {"id": f"{w}-{steps}-{s}", "world": w, "method": "apart_plus", "seed": s, "steps": steps}
        for w in WORLDS
        for s in range(seeds)
    ]
    table = []
    for run in jobs.run(todo, runs / "long").values():
        late = [row["n_effective"] for row in run.metrics if row["env_steps"] >= steps / 3]
        table.append({**brief(run), "least_after_a_third": int(min(late))})
    stays = sum(row["least_after_a_third"] == row["n_available"] for row in table)
    print(f"{stays} of {len(table)} stay complete from the first third on")
    keep("long", table)


def maps(seeds: int, steps: int | None, runs: Path, only: tuple[str, ...] = ()) -> None:
    names = [name for name in GALLERY if name in only or not only]
    path = RESULTS / "plus-maps.json"
    table = json.loads(path.read_text()) if path.exists() else {}
    for budget in [steps] if steps else (300_000, 1_000_000):
        for spare in (1.0, 1.2):
            todo = []
            for name in names:
                world = grid.load(name)
                k = math.ceil(spare * world.n_available(world.horizon))
                todo += [
                    {
                        "id": f"{name}-{budget}-{spare}-{s}",
                        "world": name,
                        "method": "apart_plus",
                        "seed": s,
                        "steps": budget,
                        "skills": k,
                        "evaluate_every": budget // 40,
                    }
                    for s in range(seeds)
                ]
            done = jobs.run(todo, runs / "maps")
            for name in names:
                mine = [r for r in done.values() if r.summary["world"] == name]
                row = {
                    "cells": mine[0].n_available,
                    "horizon": mine[0].config["config"]["horizon"],
                    "found": [r.n_effective for r in mine],
                    "share": round(
                        statistics.fmean(r.n_effective / r.n_available for r in mine), 4
                    ),
                    "first_full_at": [r.summary["first_full_at"] for r in mine],
                    "seconds": round(statistics.fmean(r.summary["wall_seconds"] for r in mine), 1),
                }
                table[f"{name} {budget} {spare}"] = row
                print(name, budget, spare, row, flush=True)
            keep("maps", table)


OFF: dict[str, dict[str, Any]] = {
    "apart_plus": {},
    "no sharing, no sweep": {"share_transitions": False, "sweep": False, "learning_rate": 0.05},
    "no sweep": {"sweep": False, "learning_rate": 0.05},
    "no annealing": {"anneal": False},
    "no average": {"average_rate": 0.0},
    "logits without decay": {"method": "apart_logits", "logit_decay": 0.0},
    "logits, not counts": {"method": "apart_logits"},
    "weight of all steps": {"time_weight": "all"},
    "weight of the last step": {"time_weight": "last"},
    "linear weight": {"time_weight": "linear"},
    "discount 0.99": {"discount": 0.99},
    "initial Q +-0.001": {"init_q": 0.001},
    "initial Q +-1": {"init_q": 1.0},
    "epsilon 0": {"epsilon": 0.0},
}
ADDED: dict[str, dict[str, Any]] = {
    "as it is": {},
    "+ sharing": {"share_transitions": True},
    "+ annealing": {"anneal": True},
    "+ average": {"average_rate": 2e-3},
    "+ initial Q +-1": {"init_q": 1.0},
    "+ sharing, initial Q +-1": {"share_transitions": True, "init_q": 1.0},
}


def ablation(seeds: int, steps: int | None, runs: Path) -> None:
    steps = steps or 200_000
    cases = [("apart_plus", label, options) for label, options in OFF.items()]
    for method in ("diayn", "vic", "tuned_vic"):
        cases += [(method, label, options) for label, options in ADDED.items()]
    # All pairs cost thirty times as much: only what the question is about.
    for label in ("as it is", "+ sharing"):
        cases.append(("apart", label, ADDED[label]))
    todo = []
    for number, (method, _, options) in enumerate(cases):
        todo += [
            {
                "id": f"{number}-{w}-{s}",
                "world": w,
                "seed": s,
                "steps": steps,
                "method": method,
                **options,
            }
            for w in WORLDS
            for s in range(seeds)
        ]
    done = jobs.run(todo, runs / f"ablation-{steps}")
    table = []
    for number, (method, label, _) in enumerate(cases):
        row: dict[str, Any] = {"method": method, "change": label, "steps": steps}
        for w in WORLDS:
            counts = [done[f"{number}-{w}-{s}"].n_effective for s in range(seeds)]
            half = 1.96 * statistics.stdev(counts) / math.sqrt(seeds) if seeds > 1 else 0.0
            row[w] = {"found": counts, "mean": statistics.fmean(counts), "half_95": round(half, 2)}
        table.append(row)
        print(method, label, *(f"{w} {row[w]['mean']:.1f}±{row[w]['half_95']}" for w in WORLDS))
    keep("ablation", table)


def scale(seeds: int, steps: int | None, runs: Path) -> None:
    folder = runs / "scale"
    folder.mkdir(parents=True, exist_ok=True)
    todo = []
    for side, k in ((10, 100), (20, 440), (30, 1000), (50, 2500)):
        rows = ["." * side for _ in range(side)]
        rows[side // 2] = "." * (side // 2) + "S" + "." * (side - side // 2 - 1)
        path = folder / f"open_{side}.txt"
        path.write_text("\n".join(rows) + "\n")
        for s in range(seeds):
            todo.append(
                {
                    "id": f"open_{side}-{steps or 3_000_000}-{s}",
                    "world": str(path),
                    "seed": s,
                    "method": "apart_plus",
                    "skills": k,
                    "horizon": 2 * side,
                    "steps": steps or 3_000_000,
                    "evaluate_every": 100_000,
                }
            )
    table = []
    for run in jobs.run(todo, folder).values():
        s = run.summary
        table.append(
            {
                "world": Path(s["world"]).stem,
                "skills": run.config["config"]["skills"],
                "horizon": run.config["config"]["horizon"],
                "steps": s["env_steps"],
                "found": run.n_effective,
                "cells": run.n_available,
                "ms_per_update": round(1e3 * s["wall_seconds"] / s["updates"], 3),
                "wall_seconds": s["wall_seconds"],
                "peak_rss_mb": s["peak_rss_mb"],
            }
        )
        print(table[-1], flush=True)
    keep("scale", table)


def main() -> None:
    studies = {f.__name__: f for f in (sixty, long, maps, ablation, scale)}
    seeds = {"sixty": 20, "long": 4, "maps": 2, "ablation": 8, "scale": 1}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", choices=studies)
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--runs", type=Path, default=Path("runs/plus"))
    parser.add_argument("--only", nargs="*", default=[], help="of maps: these")
    a = parser.parse_args()
    more = {"only": tuple(a.only)} if a.study == "maps" else {}
    studies[a.study](a.seeds or seeds[a.study], a.steps, a.runs, **more)


if __name__ == "__main__":
    main()
