"""The studies of `apart_plus` (docs/paper/apart_plus.md). Stored in results/plus-*.json.

    python benchmarks/plus.py sixty      20 seeds in each of the paper's worlds, several budgets
    python benchmarks/plus.py long       3M steps: does it stay complete?
    python benchmarks/plus.py maps       16 maps that the setting was not chosen on
    python benchmarks/plus.py ablation   each ingredient off, and each added to older methods
    python benchmarks/plus.py scale      30x30 with 1,000 skills, 50x50 with 2,500
    python benchmarks/plus.py slip       four rooms where actions go wrong by chance

Finished runs below --runs are not made again. --seeds and --steps shrink a study.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean, median
from typing import Any

from apart.paper._runs import finished, job
from apart.paper._spec import WORLDS, Condition
from apart.paper.long_runs import POSTERIOR
from apart.report import statistics
from apart.running.study import Task
from apart.runs.folder import Run
from apart.worlds import grid

RESULTS = Path(__file__).parent.parent / "results"
MAPS = [name for name in grid.maps() if name not in (*WORLDS, "classic_rooms")]
BUDGETS = {
    "apart_plus": (75_000, 100_000, 150_000, 200_000, 300_000, 1_000_000),
    "apart_logits": (300_000, 1_000_000),
}


def keep(study: str, value: Any) -> None:
    text = json.dumps(value, indent=1).replace("Infinity", "null")
    (RESULTS / f"plus-{study}.json").write_text(text + "\n")


def one(runs: Path, world: str, seed: int, steps: int, **options: Any) -> Task:
    """A run of `apart_plus`, or of another method."""
    method = options.pop("method", "apart_plus")
    return job(Condition(method, method, world, options), seed, steps, runs)


def complete(runs: Iterable[Run]) -> int:
    return sum(run.n_effective == run.n_available for run in runs)


def firsts(runs: Iterable[Run]) -> list[float]:
    """Steps at which each was first complete."""
    return [run.summary["first_full_at"] or math.inf for run in runs]


def sixty(seeds: int, steps: int | None, runs: Path) -> None:
    table = {}
    for method, budget in [(m, b) for m, bs in BUDGETS.items() for b in ([steps] if steps else bs)]:
        options = {"method": method, "evaluate_every": 5_000}
        by_world = {
            w: finished(one(runs, w, s, budget, **options) for s in range(seeds)) for w in WORLDS
        }
        done = [run for mine in by_world.values() for run in mine]
        table[f"{method} {budget}"] = {
            "complete": complete(done),
            "of": len(done),
            "median_first_full_at": median(firsts(done)),
            "per_world": {
                w: {
                    "complete": complete(mine),
                    "median_first_full_at": median(firsts(mine)),
                    "latest_first_full_at": max(firsts(mine)),
                }
                for w, mine in by_world.items()
            },
            "seconds_per_run": round(fmean(r.summary["wall_seconds"] for r in done), 2),
        }
        print(method, budget, table[f"{method} {budget}"], flush=True)
        keep("sixty", table)


def long(seeds: int, steps: int | None, runs: Path) -> None:
    steps = steps or 3_000_000
    names = ("world", "method", "seed", "n_effective", "n_available", "first_full_at", "env_steps")
    table = []
    for run in finished(one(runs, w, s, steps) for w in WORLDS for s in range(seeds)):
        late = [row["n_effective"] for row in run.metrics if row["env_steps"] >= steps / 3]
        brief = {name: run.summary[name] for name in names}
        table.append({**brief, "least_after_a_third": int(min(late))})
    stays = sum(row["least_after_a_third"] == row["n_available"] for row in table)
    print(f"{stays} of {len(table)} stay complete from the first third on")
    keep("long", table)


def maps(seeds: int, steps: int | None, runs: Path, only: tuple[str, ...] = ()) -> None:
    path = RESULTS / "plus-maps.json"
    table = json.loads(path.read_text()) if path.exists() else {}
    budgets = [steps] if steps else [300_000, 1_000_000]
    for budget, spare in [(b, s) for b in budgets for s in (1.0, 1.2)]:
        for name in [name for name in MAPS if name in only or not only]:
            world = grid.load(name)
            cells = world.n_available(world.about.horizon)
            options = {"skills": math.ceil(spare * cells), "evaluate_every": budget // 40}
            mine = finished(one(runs, name, s, budget, **options) for s in range(seeds))
            table[f"{name} {budget} {spare}"] = {
                "cells": cells,
                "horizon": world.about.horizon,
                "found": [r.n_effective for r in mine],
                "share": round(fmean(r.n_effective / r.n_available for r in mine), 4),
                "first_full_at": [r.summary["first_full_at"] for r in mine],
                "seconds": round(fmean(r.summary["wall_seconds"] for r in mine), 1),
            }
            print(name, budget, spare, table[f"{name} {budget} {spare}"], flush=True)
            keep("maps", table)


OFF: dict[str, dict[str, Any]] = {
    "apart_plus": {},
    "no sharing, no sweep": {"q_rule": "plain", "learning_rate": 0.05},
    "no sweep": {"q_rule": "shared_plain", "learning_rate": 0.05},
    "no annealing": {"anneal": False},
    "no average": {"average_rate": 0.0},
    "logits without decay": {"method": "apart_logits", "fading": 0.0},
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
    "+ sharing": {"q_rule": "shared_adam"},
    "+ annealing": {"anneal": True},
    "+ average": {"average_rate": 2e-3},
    "+ initial Q +-1": {"init_q": 1.0},
    "+ sharing, initial Q +-1": {"q_rule": "shared_adam", "init_q": 1.0},
}


def ablation(seeds: int, steps: int | None, runs: Path) -> None:
    steps = steps or 200_000
    cases = [("apart_plus", label, options) for label, options in OFF.items()]
    for method in ("diayn", "vic"):
        cases += [(method, label, options) for label, options in ADDED.items()]
    cases += [
        ("tuned_vic", f"posterior as reward, {label}", {**POSTERIOR, **options})
        for label, options in ADDED.items()
    ]
    # All pairs cost thirty times as much: only what the question is about.
    cases += [("apart", label, ADDED[label]) for label in ("as it is", "+ sharing")]
    todo = {
        (number, w, s): one(runs, w, s, steps, **{"method": method, **options})
        for number, (method, _, options) in enumerate(cases)
        for w in WORLDS
        for s in range(seeds)
    }
    done = dict(zip(todo, finished(todo.values()), strict=True))
    table = []
    for number, (method, label, _) in enumerate(cases):
        row: dict[str, Any] = {"method": method, "change": label, "steps": steps}
        for w in WORLDS:
            counts = [done[number, w, s].n_effective for s in range(seeds)]
            found = statistics.mean(counts)
            half = round(found.high - found.estimate, 2)
            row[w] = {"found": counts, "mean": found.estimate, "half_95": half}
        table.append(row)
        print(method, label, *(f"{w} {row[w]['mean']:.1f}±{row[w]['half_95']}" for w in WORLDS))
    keep("ablation", table)


def scale(seeds: int, steps: int | None, runs: Path) -> None:
    runs.mkdir(parents=True, exist_ok=True)
    todo = []
    for side, k in ((10, 100), (20, 440), (30, 1000), (50, 2500)):
        rows = ["." * side for _ in range(side)]
        rows[side // 2] = "." * (side // 2) + "S" + "." * (side - side // 2 - 1)
        path = runs / f"open_{side}.txt"
        path.write_text("\n".join(rows) + "\n")
        options = {"skills": k, "horizon": 2 * side, "evaluate_every": 100_000}
        todo += [one(runs, str(path), s, steps or 3_000_000, **options) for s in range(seeds)]
    table = []
    for planned, run in zip(todo, finished(todo), strict=True):
        s = run.summary
        table.append(
            {
                "world": Path(planned.condition.world).stem,
                "skills": planned.config.skills,
                "horizon": planned.config.horizon,
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


def slip(seeds: int, steps: int | None, runs: Path) -> None:
    """A random action instead of the chosen one, more and more often."""
    table = []
    for chance in (0.0, 0.05, 0.1, 0.2, 0.4):
        world = grid.load("four_rooms", chance)
        todo = []
        for seed in range(seeds):
            planned = one(runs, "four_rooms", seed, steps or 200_000)
            folder = planned.folder.parent.with_name(f"{planned.folder.parent.name}-slip-{chance}")
            todo.append(planned._replace(folder=folder / planned.folder.name, world=world))
        done = finished(todo)
        table.append(
            {
                "slip": chance,
                "found": [run.n_effective for run in done],
                "cells": done[0].n_available,
                "bits": [round(run.metrics[-1]["mutual_information"], 2) for run in done],
                "certainty": [round(fmean(s.certainty for s in run.skills), 3) for run in done],
            }
        )
        print(table[-1], flush=True)
        keep("slip", table)


def main() -> None:
    studies = {f.__name__: f for f in (sixty, long, maps, ablation, scale, slip)}
    seeds = {"sixty": 20, "long": 4, "maps": 2, "ablation": 8, "scale": 1, "slip": 4}
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
