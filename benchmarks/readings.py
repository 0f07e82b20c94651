"""Search for the reading of the paper's open points that gives its table of ten rows.

    python benchmarks/readings.py around             # seed 0: every single change of START
    python benchmarks/readings.py cross "Q: table, table+bias" "target network: none, 20" ...
                                                     # seed 0: every combination, on top of START
    python benchmarks/readings.py best [--top 12]    # seeds 0 to 3 of those with the least gap
    python benchmarks/readings.py long READING ...   # APART to 50M steps, in readings-long.json
    python benchmarks/readings.py seeds READING 4 5  # other seeds of a reading, as it is printed

A reading is a choice on every axis. `around` tells which choices matter, `cross` tries those
together. What is a quarter worse than START is not finished: its gap is at least what is shown.
Everything is kept in results/readings-search.json as it
comes, and what is there is not computed again. The gap of a reading is the mean distance of its ten
rows to the paper's, in skills; four rooms, 5M steps.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import multiprocessing
import os
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from pathlib import Path
from statistics import fmean
from typing import Any

from apart.paper.reward_table import ROWS

STORED = Path(__file__).parent.parent / "results" / "readings-search.json"
LONG = STORED.with_name("readings-long.json")
STEPS = 5_000_000
Reading = Mapping[str, str]  # axis -> choice

# axis -> choice -> options; the first choice is the default of the software
AXES: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "episodes per update": {
        str(n): {"episodes_per_update": n} for n in (1, 8, 12, 16, 32, 64, 96, 128)
    },
    "skills of a collection": {"one each": {}, "one for all": {"one_skill": True}},
    "Q": {name: {"q": name} for name in ("table", "table+bias", "joint+bias", "additive+bias")},
    "logits": {name: {"logits": name} for name in ("table", "table+bias")},
    "state judged": {"after": {}, "before": {"context": "current"}},
    "end of an episode": {"ends": {}, "bootstraps": {"bootstrap_last": True}},
    "target network": {
        "none": {},
        **{str(n): {"target_period": n} for n in (5, 10, 20, 50, 100, 500)},
    },
    "initial Q": {str(q): {"init_q": q} for q in (0.01, 0.0, 0.1, 0.3, 1.0)},
    "initial logits": {str(o): {"init_logits": o} for o in (0.1, 0.01, 1.0)},
    "kept by dropout": {str(p): {"keep": p} for p in (0.5, 0.1, 0.9)},
    "pairs without the skill": {
        "masked": {},
        "pulled to 0": {"discriminator": "all_pairs_dont_cares"},
    },
    "minimum over": {"own pairs": {}, "all pairs": {"reward": "min_pairs_literal"}},
    "one-vs-all reward": {
        "log posterior": {},
        "posterior": {"reward": "posterior"},
        "signed posterior": {"reward": "signed_posterior"},
    },
}
ONLY = {  # axes that are about some rows
    "pairs without the skill": ("AP",),
    "minimum over": ("AP min",),
    "one-vs-all reward": ("OvA",),
    "kept by dropout": ("AP min, dropout", "OvA, dropout"),
}
START: Reading = {
    "episodes per update": "16",
    "skills of a collection": "one for all",
    "Q": "table+bias",
    "logits": "table+bias",
    "state judged": "before",
}

PUBLISHED: Reading = {**START, "initial Q": "0.0"}  # what `apart.methods` calls so


def name_of(reading: Reading) -> str:
    """Its choices that are not the software's, in the order of the axes."""
    changed = [f"{axis}: {reading[axis]}" for axis in AXES if choice(reading, axis) != usual(axis)]
    return "; ".join(changed) or "ours"


def usual(axis: str) -> str:
    return next(iter(AXES[axis]))


def choice(reading: Reading, axis: str) -> str:
    return reading.get(axis, usual(axis))


def options(reading: Reading, row: str) -> dict[str, Any]:
    """How a reading trains a row of the table."""
    found: dict[str, Any] = {}
    for axis in AXES:
        if any(row.startswith(rows) for rows in ONLY.get(axis, ("",))):
            found |= AXES[axis][choice(reading, axis)]
    q, logits = found.pop("q"), found.pop("logits")
    if found.get("one_skill") and found["episodes_per_update"] == 1:
        del found["one_skill"]
    return {**found, "network": f"{q}/{logits}"}


def neighbours(reading: Reading) -> Iterable[Reading]:
    for axis, choices in AXES.items():
        for other in choices:
            # With one episode per update a run takes 16 times as long as with 16.
            if other not in (choice(reading, axis), "1"):
                yield {**reading, axis: other}


def skills(
    method: str, changes: Mapping[str, Any], seed: int, steps: int = STEPS, parts: int = 1
) -> list[int]:
    """Skills in four rooms after each of so many equal parts of the steps."""
    import jax
    import jax.numpy as jnp

    from apart.settings import resolve
    from apart.training.program import program
    from apart.training.state import hyper_of

    config, loaded = resolve("four_rooms", method, {**changes, "steps": steps, "seed": seed})
    made, hyper = program(loaded, config), hyper_of(config)
    state, found = made.init(jnp.int32(seed), hyper), []
    rounds = [config.iterations * part // parts for part in range(parts + 1)]
    for begin, end in itertools.pairwise(rounds):
        state = made.chunk(state, hyper, jnp.int32(end - begin))
        found.append(int(made.evaluate(state, hyper).n_effective))
    jax.clear_caches()  # compiled programs are many, and each is used once
    return found


Rows = dict[str, dict[str, int]]  # row -> seed -> skills


def tried(reading: Reading, seed: int, rows: Rows, limit: float) -> tuple[Rows, int]:
    """The rows with this seed, the cheapest first; none after the gap is beyond ``limit``."""
    for row in sorted(ROWS, key=lambda row: not row.startswith("OvA")):
        if gap(rows, [seed]) > limit:
            break
        if str(seed) not in rows.get(row, {}):
            (found,) = skills(ROWS[row][0], options(reading, row), seed)
            rows.setdefault(row, {})[str(seed)] = found
    return rows, seed


class Store:
    """name -> rows, on the disk."""

    def __init__(self) -> None:
        self.found: dict[str, Rows] = {}
        if STORED.exists():
            self.found = json.loads(STORED.read_text(encoding="utf-8"))
        os.environ["PJRT_NPROC"] = "1"
        context = multiprocessing.get_context("spawn")
        self.pool = ProcessPoolExecutor(os.cpu_count(), context)

    def ask(self, readings: Mapping[str, Reading], seeds: Iterable[int], limit: float) -> None:
        """Compute what is missing; readings that train a row alike share it."""
        asked: dict[Future[tuple[Rows, int]], str] = {}
        for name, reading in readings.items():
            for seed in seeds:
                known = self._known(reading, str(seed))
                if len(known) < len(ROWS) or name not in self.found:
                    asked[self.pool.submit(tried, reading, seed, known, limit)] = name
                self._add(name, known)
        for future in as_completed(asked):
            rows, seed = future.result()
            self._add(asked[future], rows)
            self.write()
            print(
                f"{gap(rows, [seed]):6.2f}  seed {seed}  {asked[future]}  {shown(rows)}", flush=True
            )

    def _known(self, reading: Reading, seed: str) -> Rows:
        found: Rows = {}
        for name, rows in self.found.items():
            other = reading_of(name)
            for row, by_seed in rows.items():
                if seed in by_seed and options(other, row) == options(reading, row):
                    found[row] = {seed: by_seed[seed]}
        return found

    def _add(self, name: str, rows: Rows) -> None:
        for row, by_seed in rows.items():
            self.found.setdefault(name, {}).setdefault(row, {}).update(by_seed)

    def write(self) -> None:
        lines = [f" {json.dumps(name)}: {json.dumps(rows)}" for name, rows in self.found.items()]
        text = "{\n" + ",\n".join(lines) + "\n}\n"
        STORED.with_suffix(".new").write_text(text)
        STORED.with_suffix(".new").replace(STORED)


def gap(rows: Rows, seeds: Iterable[int]) -> float:
    """Mean distance of the ten rows to the paper's; where rows are missing at least this."""
    named = [str(seed) for seed in seeds]
    if not any(s in by_seed for by_seed in rows.values() for s in named):
        return math.inf
    total = 0.0
    for row, (_, paper, _) in ROWS.items():
        found = [rows[row][s] for s in named if s in rows.get(row, {})]
        total += abs(fmean(found) - paper) if found else 0.0
    return total / len(ROWS)


def shown(rows: Rows) -> str:
    return " ".join(f"{fmean(rows[row].values()):.0f}" if rows.get(row) else "-" for row in ROWS)


def crossed(words: Iterable[str]) -> Iterable[Reading]:
    """Every combination of ``axis: choice, choice`` on top of START."""
    asked = {}
    for word in words:
        axis, _, choices = word.partition(": ")
        asked[axis] = choices.split(", ")
        for one in asked[axis]:
            AXES[axis][one]  # a KeyError says what is wrong
    for picked in itertools.product(*asked.values()):
        yield {**START, **dict(zip(asked, picked, strict=True))}


def reading_of(name: str) -> Reading:
    """The reading that `name_of` calls so."""
    if name == "ours":
        return {}
    return dict(part.split(": ", 1) for part in name.split("; "))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("around", "cross", "best", "long", "seeds"))
    parser.add_argument("rest", nargs="*")
    parser.add_argument("--top", type=int, default=12)
    arguments = parser.parse_args()
    store = Store()
    if arguments.what in ("around", "cross"):
        store.ask({name_of(START): START}, [0], math.inf)
        chosen = neighbours(START) if arguments.what == "around" else crossed(arguments.rest)
        limit = 1.25 * gap(store.found[name_of(START)], [0])
        store.ask({name_of(r): r for r in chosen}, [0], limit)
    elif arguments.what == "long":
        row, known = "AP min, both (APART)", json.loads(LONG.read_text()) if LONG.exists() else {}
        for name in arguments.rest:
            known[name] = skills("apart", options(reading_of(name), row), 0, 50_000_000, 5)
            LONG.write_text(json.dumps(known, indent=1) + "\n")
    elif arguments.what == "best":
        names = sorted(store.found, key=lambda name: gap(store.found[name], [0]))
        best = {name: reading_of(name) for name in names[: arguments.top]}
        store.ask(best, range(4), math.inf)
    else:
        name, *seeds = arguments.rest
        store.ask({name: reading_of(name)}, map(int, seeds), math.inf)


if __name__ == "__main__":
    main()
