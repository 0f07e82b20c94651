"""The studies of `apart_spread` (docs/paper/apart_spread.md). Stored in results/spread-*.json.

    python benchmarks/spread.py maps       the paper's worlds and 16 maps, K = 4 to 64
    python benchmarks/spread.py others     DIAYN, VIC, APART, METRA and apart_plus with few skills
    python benchmarks/spread.py held_out   maps drawn at random that nothing was chosen on
    python benchmarks/spread.py tight      episodes that just come to the farthest cell
    python benchmarks/spread.py epsilon    the share of random actions, in a maze
    python benchmarks/spread.py ablation   without each part
    python benchmarks/spread.py complete   as many skills as cells, beside apart_plus
    python benchmarks/spread.py soon       steps until 100 skills are complete, beside apart_plus
    python benchmarks/spread.py chance     four rooms where actions go wrong by chance
    python benchmarks/spread.py scale      open 50x50 and a maze of 100x100, up to 2,500 skills
    python benchmarks/spread.py cost       time of an update beside apart_plus, by turns
    python benchmarks/spread.py figure     eight skills and their territories (docs/images)

Every row is stored when it is made and not made again. --seeds and --steps shrink a study.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

os.environ.setdefault("PJRT_NPROC", "1")  # tables lose by threads

import jax
import jax.numpy as jnp
import numpy as np

from apart.learner import ends
from apart.paper._spec import WORLDS
from apart.report import draw
from apart.running.machine import peak_rss_mb
from apart.settings import resolve
from apart.training import collect
from apart.training import program as programs
from apart.training.state import hyper_of
from apart.worlds import grid
from apart.worlds.spread import spread, steps_from
from apart.worlds.world import TableWorld

RESULTS = Path(__file__).parent.parent / "results"
MAPS = [*WORLDS, *(name for name in grid.maps() if name not in (*WORLDS, "classic_rooms"))]
SKILLS = (4, 8, 16, 32, 64)
PARTS = 24  # of a run, between which it is looked at


class Case(NamedTuple):
    """A run."""

    world: str
    skills: int
    seed: int
    steps: int
    method: str = "apart_spread"
    change: str = ""  # what is off
    slip: float = 0.0


def rows_of(study: str) -> list[dict[str, Any]]:
    path = RESULTS / f"spread-{study}.json"
    return list(json.loads(path.read_text())) if path.exists() else []


def keep(study: str, rows: list[dict[str, Any]]) -> None:
    path = RESULTS / f"spread-{study}.json"
    new = path.with_suffix(".tmp")
    lines = ",\n".join(f" {json.dumps(row)}" for row in rows)
    new.write_text(f"[\n{lines}\n]\n")
    new.replace(path)


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Several processes may store rows of one study."""
    lock = os.open(RESULTS, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(lock)


def made(study: str, cases: Iterable[Case], more: dict[str, Any] | None = None) -> None:
    """Make the runs that are not stored yet; programs are compiled once for all seeds."""
    for case in cases:
        if stored_already(study, case):
            continue
        row = {**case._asdict(), **trained(case, more or {})}
        with alone():
            keep(study, [*rows_of(study), row])
        print(row, flush=True)


def stored_already(study: str, case: Case) -> bool:
    same = case._asdict().items()
    return any(all(row[name] == value for name, value in same) for row in rows_of(study))


def trained(case: Case, options: dict[str, Any]) -> dict[str, Any]:
    """What one run finds."""
    world = load(case.world, case.slip)
    options = {"skills": case.skills, "steps": case.steps, "seed": case.seed, **options}
    config, _ = resolve(world, case.method, options)
    run, hyper = programs.program(world, config), hyper_of(config)
    state = run.init(jnp.uint32(case.seed), hyper)
    began = time.perf_counter()
    rounds, tried_at = 0, None
    for part in range(1, PARTS + 1):
        more = config.iterations * part // PARTS - rounds
        state = run.chunk(state, hyper, jnp.int32(more))
        rounds += more
        if tried_at is None and all_tried(world, config.horizon, state):
            tried_at = rounds * config.collection
    last = jax.device_get(run.evaluate(state, hyper))
    seconds = time.perf_counter() - began
    at = np.asarray(last.trajectories)[:, -1]
    if last.last_states is not None:
        at = np.asarray(last.last_states).argmax(axis=0)
    found = spread(world, config.horizon, at, case.skills)
    return {
        "cells": world.n_available(config.horizon),
        "horizon": config.horizon,
        "found": round(float(last.n_effective), 2),
        **found._asdict(),
        "score": round(found.score, 4),
        "ends": at.tolist(),
        "all_tried_at": tried_at,
        "seconds": round(seconds, 2),
        "peak_rss_mb": peak_rss_mb(),
    }


def all_tried(world: TableWorld, horizon: int, state: Any) -> bool:
    """Whether every action was tried in every state that an episode can act in."""
    if state.learnt.model is None:
        return False
    visits = np.asarray(state.learnt.model.visits).reshape(world.n_states, -1)
    n_actions = world.next_state.shape[1]
    tried = visits.reshape(world.n_states, n_actions, -1).sum(axis=2) > 0
    return bool(tried[world.distance < horizon].all())


def load(name: str, slip: float = 0.0) -> TableWorld:
    kind, _, words = name.partition(":")
    if words:
        text = DRAWN[kind](*map(int, words.split(",")))
        far = int(grid.parse(text, name).distance.max())
        return grid.parse(text, name, 2 * far, slip)
    return grid.load(name, slip)


def _text(free: Any, start: tuple[int, int]) -> str:
    """A map of the cells that are free; the start in the free cell nearest to ``start``."""
    cells = np.argwhere(free)
    first = cells[np.abs(cells - start).sum(1).argmin()]
    drawn = np.where(free, ".", "#")
    drawn[tuple(first)] = "S"
    return "\n".join("".join(row) for row in drawn)


def maze(side: int, seed: int, loops: int = 0) -> str:
    """A maze without loops (depth first), then ``loops`` per cent of its walls opened."""
    rng = np.random.default_rng(seed)
    free = np.zeros((side, side), bool)
    at = [(0, 0)]
    free[0, 0] = True
    while at:
        r, c = at[-1]
        ways = [(2, 0), (-2, 0), (0, 2), (0, -2)]
        onward = [
            (r + dr, c + dc)
            for dr, dc in ways
            if 0 <= r + dr < side and 0 <= c + dc < side and not free[r + dr, c + dc]
        ]
        if not onward:
            at.pop()
            continue
        to = onward[rng.integers(len(onward))]
        free[to] = free[(r + to[0]) // 2, (c + to[1]) // 2] = True
        at.append(to)
    walls = np.argwhere(~free)
    opened = walls[rng.permutation(len(walls))[: len(walls) * loops // 100]]
    free[tuple(opened.T)] = True
    start = rng.integers(0, side, 2)
    return _text(free, (int(start[0]), int(start[1])))


def rooms(side: int, seed: int) -> str:
    """Rooms of unequal size, a door or two in each wall."""
    rng = np.random.default_rng(seed)
    free = np.ones((side, side), bool)

    def divide(top: int, left: int, bottom: int, right: int) -> None:
        high, wide = bottom - top, right - left
        if max(high, wide) < 6:
            return
        if high >= wide:
            wall = top + int(rng.integers(2, high - 2))
            free[wall, left:right] = False
            free[wall, rng.integers(left, right, 2)] = True
            divide(top, left, wall, right)
            divide(wall + 1, left, bottom, right)
        else:
            wall = left + int(rng.integers(2, wide - 2))
            free[top:bottom, wall] = False
            free[rng.integers(top, bottom, 2), wall] = True
            divide(top, left, bottom, wall)
            divide(top, wall + 1, bottom, right)

    divide(0, 0, side, side)
    start = rng.integers(0, side, 2)
    return _text(free, (int(start[0]), int(start[1])))


def ring(side: int, wide: int) -> str:
    """A ring of corridors around a block; the start in a corner."""
    free = np.ones((side, side), bool)
    free[wide : side - wide, wide : side - wide] = False
    return _text(free, (0, 0))


def field(side: int, seed: int) -> str:
    """An open field with stones on a fifth of it."""
    rng = np.random.default_rng(seed)
    free = rng.random((side, side)) > 0.2
    start = rng.integers(0, side, 2)
    free[tuple(start)] = True
    free[start[0], min(start[1] + 1, side - 1)] = free[start[0], max(start[1] - 1, 0)] = True
    return _text(free, (int(start[0]), int(start[1])))


def open_(side: int) -> str:
    return _text(np.ones((side, side), bool), (side // 2, side // 2))


DRAWN = {"maze": maze, "rooms": rooms, "ring": ring, "field": field, "open": open_}
HELD_OUT = (
    *("maze:15,101", "maze:21,112", "maze:17,103,10", "rooms:14,104", "rooms:19,105"),
    *("ring:12,2", "ring:18,1", "field:14,106", "field:18,107", "open:13"),
)


def few(worlds: Iterable[str], seeds: int, steps: int, **of: Any) -> Iterator[Case]:
    """All numbers of skills below that of cells; seeds together, as they share a compilation."""
    for skills in SKILLS:
        for world in worlds:
            if skills < load(world).n_states:
                yield from (Case(world, skills, seed, steps, **of) for seed in range(seeds))


def maps(seeds: int, steps: int) -> None:
    made("maps", few(MAPS, seeds, steps))


def held_out(seeds: int, steps: int) -> None:
    made("held_out", few(HELD_OUT, seeds, steps))


def epsilon(seeds: int, steps: int) -> None:
    """The share of random actions, in the maze on which it was chosen before episodes searched."""
    for share in (0.01, 0.2):
        cases = [
            Case("maze:21,102", 8, seed, steps, change=f"epsilon {share}") for seed in range(seeds)
        ]
        made("epsilon", cases, {"epsilon": share})


def others(seeds: int, steps: int) -> None:
    for method in ("apart_plus", "diayn", "vic", "apart", "metra"):
        made("others", few(MAPS, seeds, steps, method=method))


def width_of(width: int) -> Any:
    """`ends.read` with a reward that reaches so far, whatever the covering radius is."""

    def read(kept: ends.Ends, states: Any) -> Any:
        return ends_read(kept._replace(width=jnp.int32(width)), states)

    return read


def territory(kept: ends.Ends, states: Any) -> Any:
    """Repulsion alone: every state that no rival is nearer to is as good as the place itself."""
    return (ends_read(kept, states) > 0).astype(jnp.float32)


def as_greedy(dynamics: Any, q: Any, visits: Any, drawn: Any, key: Any) -> Any:
    """Episodes that follow their skills, whatever was never tried."""
    return collect.by_table(dynamics, q, drawn, key)


ends_read = ends.read
# Without each part: what is set in the module meanwhile.
OFF: dict[str, tuple[Any, dict[str, Any]]] = {
    "no other beginnings": (ends, {"_TRIALS": 0}),
    "no other beginnings, no middles": (ends, {"_TRIALS": 0, "_MIDDLES": 0}),
    "no other beginnings, one move to the farthest state in a look": (
        ends,
        {"_TRIALS": 0, "_MOVES": 1},
    ),
    "no other beginnings, no move to the farthest state": (ends, {"_TRIALS": 0, "_MOVES": 0}),
    "nobody goes where something is untried": (collect, {"trying": as_greedy}),
    "repulsion alone": (ends, {"read": territory}),
    "a width of 1": (ends, {"read": width_of(1)}),
    "a width of 4": (ends, {"read": width_of(4)}),
    "a width of 16": (ends, {"read": width_of(16)}),
}


def ablation(seeds: int, steps: int) -> None:
    for change, (module, constants) in OFF.items():
        before = {name: getattr(module, name) for name in constants}
        programs._program.cache_clear()
        for name, value in constants.items():
            setattr(module, name, value)
        made("ablation", few(MAPS, seeds, steps, change=change))
        for name, value in before.items():
            setattr(module, name, value)
    programs._program.cache_clear()


def tight(seeds: int, steps: int) -> None:
    for world in MAPS:
        far = int(load(world).distance.max())
        for skills in (8, 16):
            cases = [Case(world, skills, seed, steps, change="tight") for seed in range(seeds)]
            made("tight", cases, {"horizon": far})


def complete(seeds: int, steps: int) -> None:
    for world in MAPS:
        n = load(world).n_states
        for method in ("apart_spread", "apart_plus"):
            made("complete", [Case(world, n, seed, steps, method) for seed in range(seeds)])


def soon(seeds: int, steps: int) -> None:
    """Environment steps at the first evaluation, one in 1,000 steps, with a skill for every cell.

    As many of 100 skills as cells can be reached.
    """
    for method in ("apart_spread", "apart_plus"):
        for world in (*WORLDS, "classic_rooms"):
            for seed in range(seeds):
                case = Case(world, 100, seed, steps, method)
                if not stored_already("soon", case):
                    with alone():
                        keep("soon", [*rows_of("soon"), {**case._asdict(), **until_full(case)}])
                    print(rows_of("soon")[-1], flush=True)


def until_full(case: Case) -> dict[str, Any]:
    world = load(case.world)
    options = {"skills": case.skills, "steps": case.steps, "seed": case.seed}
    config, _ = resolve(world, case.method, options)
    run, hyper = programs.program(world, config), hyper_of(config)
    state = run.init(jnp.uint32(case.seed), hyper)
    some, most = 1000 // config.collection, min(world.n_available(config.horizon), case.skills)
    rounds, found = 0, 0
    while found < most and rounds < config.iterations:
        state = run.chunk(state, hyper, jnp.int32(some))
        rounds += some
        found = int(run.evaluate(state, hyper).n_effective)
    full_at = rounds * config.collection if found == most else None
    return {"possible": most, "first_full_at": full_at}


def chance(seeds: int, steps: int) -> None:
    for slip in (0.0, 0.05, 0.1, 0.2, 0.4):
        for method in ("apart_spread", "apart_plus"):
            cases = (
                Case("four_rooms", k, seed, steps, method, slip=slip)
                for k in (8, 16)
                for seed in range(seeds)
            )
            made("chance", cases)


def scale(seeds: int, steps: int) -> None:
    for world in ("open:50", "maze:100,1,5"):
        for skills in (64, 256, 2_500):
            made("scale", [Case(world, skills, seed, steps) for seed in range(seeds)])
    for side, length in ((30, steps), (30, 3 * steps), (50, 3 * steps)):
        made("scale", [Case(f"open:{side}", side * side, 0, length, "apart_plus")])


def cost(seeds: int, steps: int) -> None:
    """Milliseconds of an update at S = 400, by turns in one process; the median of many turns."""
    del seeds
    rows = []
    for skills in (16, 64, 100, 400):
        took: dict[str, list[float]] = {"apart_plus": [], "apart_spread": []}
        running = {}
        for method in took:
            config, world = resolve("open_20", method, {"skills": skills, "steps": steps})
            run, hyper = programs.program(world, config), hyper_of(config)
            state = run.chunk(run.init(jnp.uint32(0), hyper), hyper, jnp.int32(0))
            running[method] = (config, run, hyper, state)
        n, made_of = 100, 0
        while made_of < next(iter(running.values()))[0].iterations:
            made_of += n
            for method, (config, run, hyper, state) in running.items():
                began = time.process_time()
                state = run.chunk(state, hyper, jnp.int32(n))
                state.iteration.block_until_ready()
                per_update = (time.process_time() - began) / (n * config.updates_per_episode)
                took[method].append(1e3 * per_update)
                running[method] = (config, run, hyper, state)
        row: dict[str, Any] = {"world": "open_20", "skills": skills, "steps": steps}
        row |= {method: round(median(times), 4) for method, times in took.items()}
        mean = {method: sum(times) / len(times) for method, times in took.items()}
        row["ratio_of_means"] = round(mean["apart_spread"] / mean["apart_plus"], 3)
        rows.append(row)
        print(row, flush=True)
        keep("cost", rows)


# Okabe and Ito, lightened: safe for colour-blind readers; borders keep them apart in grey.
COLOURS = (
    *("#a6cbe3", "#f5cf85", "#8fd0b9", "#ecc2d8", "#f7f0a1", "#c4e4f7", "#eeb08a", "#cfcfcf"),
)


def figure(seeds: int, steps: int) -> None:
    """Where eight skills end on three maps; the territory of an end has its colour."""
    del seeds
    worlds = ("four_rooms", "nine_rooms", "perfect_maze")
    methods = {"apart_plus": "apart_plus", "apart_spread": "apart_spread"}
    made("figure", [Case(w, 8, 0, steps, m) for m in methods for w in worlds])
    made_figure, axes = draw.figure(len(worlds), len(methods), size=(8.2, 5.8))
    for axis, (method, name) in zip(axes, [(m, w) for m in methods for w in worlds], strict=True):
        row = next(r for r in rows_of("figure") if (r["method"], r["world"]) == (method, name))
        territories(axis, load(name), sorted(set(row["ends"])))
        draw.title(
            axis, f"{method}, {name}: {row['radius']} steps (ideal {row['ideal_radius']})", 7.5
        )
    made_figure.savefig(RESULTS.parent / "docs" / "images" / "spread.png")


def territories(axis: Any, world: TableWorld, at: list[int]) -> None:
    """The map; cells in the colour of the nearest end, ends as dots, the start as a square."""
    away = np.stack([steps_from(world, np.array([end])) for end in at])
    owner = away.argmin(axis=0)
    rgb = np.full((len(world.places.backdrop), len(world.places.backdrop[0]), 3), 0.45)
    shades = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in COLOURS])
    rgb[tuple(world.cells.T)] = shades[owner % len(shades)]
    axis.imshow(rgb)
    for (r, c), mine in zip(world.cells, owner, strict=True):  # borders between territories
        for dr, dc in ((0, 1), (1, 0)):
            there = np.flatnonzero((world.cells == (r + dr, c + dc)).all(axis=1))
            if len(there) and owner[there[0]] != mine:
                x = (c + 0.5, c + 0.5) if dc else (c - 0.5, c + 0.5)
                y = (r - 0.5, r + 0.5) if dc else (r + 0.5, r + 0.5)
                axis.plot(x, y, color="black", linewidth=1.1)
    axis.plot(*world.cells[world.start][::-1], "s", color="white", markeredgecolor="black", ms=8)
    axis.plot(*world.cells[at].T[::-1], "o", color="black", markersize=5)
    axis.grid(visible=False)
    axis.set_xticks([])
    axis.set_yticks([])


def main() -> None:
    all_studies = (
        maps,
        held_out,
        epsilon,
        others,
        ablation,
        complete,
        tight,
        soon,
        chance,
        scale,
        cost,
        figure,
    )
    studies = {f.__name__: f for f in all_studies}
    seeds = {"maps": 8, "soon": 8, "held_out": 4, "scale": 1}
    steps = {"scale": 3_000_000, "cost": 60_000}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", choices=studies)
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--skills", type=int, nargs="*", help="these numbers of skills only")
    parser.add_argument("--only", nargs="*", help="these worlds only")
    a = parser.parse_args()
    global SKILLS, MAPS, HELD_OUT
    SKILLS = tuple(a.skills or SKILLS)
    MAPS, HELD_OUT = ([w for w in worlds if w in (a.only or worlds)] for worlds in (MAPS, HELD_OUT))
    n_seeds = a.seeds or seeds.get(a.study, 2)
    studies[a.study](n_seeds, a.steps or steps.get(a.study, 300_000))


if __name__ == "__main__":
    main()
