"""Methods of others on maps (docs/family). Stored in results/family-*.json and spread-family.json.

    python benchmarks/family_maps.py metra     what METRA's embedding knows, after so many steps
    python benchmarks/family_maps.py collapse  METRA in a corridor, by the share of random actions
    python benchmarks/family_maps.py few       eight skills: how well they cover three maps
    python benchmarks/family_maps.py explore   cells known after so many steps of exploring
    python benchmarks/family_maps.py visr      tasks solved by regression on VISR's features
    python benchmarks/family_maps.py discern   goals that skills end in
    python benchmarks/family_maps.py blocked   who still comes to the goal when a way is walled off
    python benchmarks/family_maps.py ways      how SMERL's random actions were chosen, on other maps
    python benchmarks/family_maps.py domino    diversity against return
    python benchmarks/family_maps.py parted    how far DOMiNO's skills part, by --distance
    python benchmarks/family_maps.py upside    skills that are kept

Every row is stored when it is made and not made again.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

os.environ.setdefault("PJRT_NPROC", "1")  # tables lose by threads

import jax
import jax.numpy as jnp
import numpy as np
import spread as spreading

from apart.objective import metra as by_hand
from apart.settings import resolve
from apart.training import program as programs
from apart.training.objectives import upside as by_walks
from apart.training.objectives import upside_tree as by_chains
from apart.training.state import TrainState, hyper_of
from apart.worlds import grid, tasks
from apart.worlds.spread import spread, steps_from
from apart.worlds.world import TableWorld

RESULTS = Path(__file__).parent.parent / "results"
Row = dict[str, Any]


def rows_of(study: str) -> list[Row]:
    path = RESULTS / f"family-{study}.json"
    return list(json.loads(path.read_text())) if path.exists() else []


def store(study: str, rows: list[Row]) -> None:
    lines = ",\n".join(f" {json.dumps(row)}" for row in rows)
    (RESULTS / f"family-{study}.json").write_text(f"[\n{lines}\n]\n")


def made(study: str, cases: Iterable[Row], measure: Callable[..., Row]) -> None:
    """Rows of ``cases`` that are not stored yet."""
    for case in cases:
        if any(case.items() <= row.items() for row in rows_of(study)):
            continue
        row = {**case, **measure(**case)}
        store(study, [*rows_of(study), row])
        print(row, flush=True)


def trained(
    world: str | TableWorld, method: str, skills: int, steps: int, seed: int, **options: Any
) -> tuple[TableWorld, TrainState, Any, int]:
    """The world, the state after a run, its evaluation, and T."""
    said = {"skills": skills, "steps": steps, "seed": seed, **options}
    config, loaded = resolve(world, method, said)
    assert isinstance(loaded, TableWorld)
    run, hyper = programs.program(loaded, config), hyper_of(config)
    state = run.init(jnp.uint32(seed), hyper)
    state = run.chunk(state, hyper, jnp.int32(config.iterations))
    return loaded, state, jax.device_get(run.evaluate(state, hyper)), config.horizon


def ranks(values: Any) -> Any:
    """Equal values share the mean of their ranks."""
    _, which, often = np.unique(values, return_inverse=True, return_counts=True)
    upto = np.cumsum(often)
    return (upto - (often - 1) / 2)[which]


def known_by_phi(world: str, skills: int, steps: int, seed: int) -> Row:
    """Rank correlation of distances, goals that are come near to, where skills end."""
    loaded, state, last, horizon = trained(world, "metra", skills, steps, seed)
    phi = np.asarray(state.learnt.discriminator.phi.params)
    q = np.asarray(state.learnt.q.params)
    n = loaded.n_states
    ways = np.stack([steps_from(loaded, np.array([s])) for s in range(n)])
    one, other = np.triu_indices(n, 1)
    far = np.linalg.norm(phi[one] - phi[other], axis=1)
    correlation = np.corrcoef(ranks(far), ranks(ways[one, other]))[0, 1]
    directions = np.asarray(by_hand.directions(skills))
    near = 0
    for goal in range(n):
        at = loaded.start
        closest = ways[at, goal]
        for _ in range(horizon):  # the skill whose direction leads there, chosen at every step
            z = np.argmax(directions @ (phi[goal] - phi[at]))
            at = loaded.next_state[at, np.argmax(q[at, :, z]), 0]
            closest = min(closest, ways[at, goal])
        near += closest <= 2
    ends = np.asarray(last.trajectories)[:, -1]
    found = spread(loaded, horizon, ends, skills)
    return {
        "rank_correlation": round(float(correlation), 3),
        "goals_within_2": round(near / n, 3),
        "within_2_of_start": round(float((ways[loaded.start] <= 2).mean()), 3),
        "found": int(last.n_effective),
        "steps_from_start": round(float(loaded.distance[ends].mean()), 2),
        "radius": found.radius,
        "ideal_radius": found.ideal_radius,
    }


def metra(seeds: int) -> None:
    cases = [
        {"world": "four_rooms", "skills": k, "steps": steps, "seed": seed}
        for k in (8, 100)
        for steps in (20_000, 50_000, 200_000, 1_000_000)
        for seed in range(seeds)
    ]
    made("metra", cases, known_by_phi)


def in_corridor(epsilon: float, steps: int, seed: int) -> Row:
    """Where two skills end that start at one end of eight cells; how far apart phi has the ends."""
    corridor = grid.parse("S.......", "corridor", horizon=12)
    loaded, state, last, _ = trained(corridor, "metra", 2, steps, seed, epsilon=epsilon)
    phi = np.asarray(state.learnt.discriminator.phi.params)
    columns = sorted(int(loaded.cells[s][1]) for s in np.asarray(last.trajectories)[:, -1])
    length = float(np.sqrt(np.square(phi[-1] - phi[0]).mean()))
    return {"least": columns[0], "most": columns[1], "phi": round(length, 2)}


def collapse(seeds: int) -> None:
    cases = [
        {"epsilon": epsilon, "steps": steps, "seed": seed}
        for steps in (5_000, 20_000, 100_000)
        for epsilon in (0.01, 0.2, 0.8)
        for seed in range(seeds)
    ]
    made("collapse", cases, in_corridor)


FEW = ("four_rooms", "u_maze", "nine_rooms")


def few(seeds: int) -> None:
    for method in ("metra", "edl", "eigenoptions", "apart_spread"):
        cases = [
            spreading.Case(world, 8, seed, 300_000, method)
            for world in FEW
            for seed in range(seeds)
        ]
        spreading.made("family", cases)


def covered(world: str, method: str, steps: int, seed: int) -> Row:
    """Cells that were ever entered or left."""
    options = {"q_rule": "sweep_plain"} if method == "random_walk" else {}
    loaded, state, _, _ = trained(world, method, 8, steps, seed, **options)
    model = state.learnt.model
    assert model is not None
    known = np.asarray(model.visits).reshape(loaded.n_states, -1).sum(axis=1) > 0
    return {"cells": loaded.n_states, "known": int(known.sum())}


def explore(seeds: int) -> None:
    cases = [
        {"world": world, "method": method, "steps": steps, "seed": seed}
        for world in ("four_rooms",)
        for method in ("random_walk", "count_exploration", "rnd")
        for steps in (2_000, 10_000, 50_000)
        for seed in range(seeds)
    ]
    made("explore", cases, covered)


def successors(world: TableWorld, policy: Any, features: Any, discount: float) -> Any:
    """[S, A, D] discounted sums of features of s' when an action is followed by ``policy`` [S]."""
    after = world.next_state[:, :, 0]
    n = world.n_states
    ahead = np.eye(n)[after[np.arange(n), policy]]
    of_policy = np.linalg.solve(np.eye(n) - discount * ahead, ahead @ features)
    return (features + discount * of_policy)[after]


def inferred(world: str, skills: int, steps: int, seed: int) -> Row:
    """Mean return on tasks of two boxes, as a share of the best, and that of two references."""
    loaded, state, _, horizon = trained(world, "visr", skills, steps, seed)
    rows = np.asarray(state.learnt.discriminator.phi.params)
    phi = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    policies = np.asarray(state.learnt.q.params).argmax(axis=1)  # [S, K]
    psi = np.stack([successors(loaded, policies[:, z], phi, 0.95) for z in range(skills)])
    rng, side = np.random.default_rng(seed), 10
    shares: dict[str, list[float]] = {"gpi": [], "nearest_skill": [], "random_skill": []}
    codes = np.asarray(state.learnt.discriminator.tasks)
    for _ in range(20):
        points = np.zeros((side, side))
        for _ in range(2):
            r, c = rng.integers(side - 4, size=2)
            points[r : r + 4, c : c + 4] += 1.0
        reward = points[tuple(loaded.cells.T)]
        best = tasks.best_return(dataclasses.replace(loaded, task=reward), horizon)
        w = np.linalg.lstsq(phi, reward, rcond=None)[0]
        chosen = {
            "gpi": (psi @ w).max(axis=0).argmax(axis=1),
            "nearest_skill": policies[:, np.argmax(codes @ w)],
            "random_skill": policies[:, rng.integers(skills)],
        }
        for name, policy in chosen.items():
            shares[name].append(walked(loaded, policy, reward, horizon) / best)
    return {name: round(float(np.mean(found)), 3) for name, found in shares.items()}


def walked(world: TableWorld, policy: Any, reward: Any, horizon: int) -> float:
    """Points of an episode of ``policy`` [S] from the start."""
    at, total = world.start, 0.0
    for _ in range(horizon):
        at = world.next_state[at, policy[at], 0]
        total += reward[at]
    return total


def visr(seeds: int) -> None:
    cases = [
        {"world": "empty", "skills": 100, "steps": steps, "seed": seed}
        for steps in (200_000, 1_000_000)
        for seed in range(seeds)
    ]
    made("visr", cases, inferred)


def reached(world: str, skills: int, steps: int, seed: int) -> Row:
    """Share of skills that end exactly in their goals, and how many goals differ."""
    _, state, last, _ = trained(world, "discern", skills, steps, seed)
    goals, ends = np.asarray(state.learnt.discriminator.goals), np.asarray(last.trajectories)[:, -1]
    return {
        "goals": len(np.unique(goals)),
        "reached": round(float((goals == ends).mean()), 3),
        "found": int(last.n_effective),
    }


def discern(seeds: int) -> None:
    cases = [
        {"world": "four_rooms", "skills": k, "steps": 200_000, "seed": seed}
        for k in (8, 100)
        for seed in range(seeds)
    ]
    made("discern", cases, reached)


TWO_WAYS = "; horizon 20\n.......\n.#####.\nS#####9\n.#####.\n.#####.\n......."
WALLED = {"upper": TWO_WAYS.replace("20\n.......", "20\n...#..."), "lower": TWO_WAYS[:-4] + "#..."}


def nearest(shares: Any) -> float:
    """The distance of shares of time [K, S] from a skill to the nearest other one, on average."""
    away = np.linalg.norm(shares[:, None] - shares, axis=2)
    away[np.diag_indices(len(away))] = np.inf
    return round(float(away.min(axis=1).mean()), 3)


def solving(method: str, share: float | None, steps: int, seed: int, distance: float = 0.0) -> Row:
    """What skills earn on the map with two ways; who comes to the goal when one is walled off.

    ``share``: of the best return that skills are held to, where it is not the default.
    ``distance``: at which those of domino no longer part.
    """
    options: Row = {} if share is None else {"optimality": share}
    if distance:
        options["distance"] = distance
    two_ways = grid.parse(TWO_WAYS, "two ways")
    loaded, state, last, horizon = trained(two_ways, method, 6, steps, seed, **options)
    assert loaded.task is not None
    paths = np.asarray(last.trajectories)
    policies = np.asarray(state.learnt.q.params).argmax(axis=1)
    shares = np.stack([np.bincount(p[1:], minlength=loaded.n_states) / horizon for p in paths])
    row: Row = {
        "mean_return": round(float(tasks.returns(loaded.task, paths).mean()), 2),
        "best_return": tasks.best_return(loaded, horizon),
        "nearest": nearest(shares),
    }
    if distance:  # which is about what is remembered of several episodes
        row["nearest_remembered"] = nearest(np.asarray(state.learnt.discriminator.visits) / horizon)
    for way, text in WALLED.items():
        walled = grid.parse(text, way)
        row[f"{way}_walled"] = sum(came(loaded, walled, policies[:, z]) for z in range(6))
    return row


def came(world: TableWorld, walled: TableWorld, policy: Any) -> bool:
    """Whether ``policy`` of ``world`` comes to points in ``walled``, which has fewer cells."""
    assert walled.task is not None
    at = walled.start
    for _ in range(20):
        at = walled.next_state[at, policy[world.state(walled.cell(at))], 0]
        if walled.task[at] > 0:
            return True
    return False


def blocked(seeds: int) -> None:
    cases = [
        {"method": method, "share": share, "steps": 100_000, "seed": seed}
        for method, share in (("smerl", None), ("smerl", 2.0), ("domino", None))
        for seed in range(seeds)
    ]
    made("blocked", cases, solving)


def ring(above: int, below: int, goal: int, horizon: int) -> str:
    """A map with two ways around a block, the start ``above`` rows from the top on its left."""
    rows = above + below + 1
    lines = ["." * 8, *["." + "#" * 6 + "."] * (rows - 2), "." * 8]
    lines[above] = "S" + lines[above][1:]
    lines[goal] = lines[goal][:-1] + "9"
    return "\n".join([f"; horizon {horizon}", *lines])


WAYS = {"ring": ring(3, 4, 3, 30), "high ring": ring(4, 4, 5, 24)}  # none of them is reported on


def parting(world: str, epsilon: float, steps: int, seed: int) -> Row:
    """How many of six skills of SMERL go each of two ways, and how many solve the task."""
    two_ways = grid.parse(WAYS[world], world)
    loaded, _, last, _ = trained(two_ways, "smerl", 6, steps, seed, epsilon=epsilon)
    assert loaded.task is not None
    paths = np.asarray(last.trajectories)
    rows, points = loaded.cells[paths, 0], tasks.returns(loaded.task, paths)
    solves, bottom = points > 0, loaded.cells[:, 0].max()
    return {
        "upper": int((solves & (rows == 0).any(axis=1)).sum()),
        "lower": int((solves & (rows == bottom).any(axis=1)).sum()),
    }


def ways(seeds: int) -> None:
    cases = [
        {"world": world, "epsilon": epsilon, "steps": 100_000, "seed": seed}
        for world in WAYS
        for epsilon in (0.05, 0.1, 0.2)
        for seed in range(seeds)
    ]
    made("ways", cases, parting)


def domino(seeds: int) -> None:
    cases = [
        {"method": "domino", "share": share, "steps": 100_000, "seed": seed}
        for share in (0.0, 0.5, 0.9, 1.1)
        for seed in range(seeds)
    ]
    made("domino", cases, solving)


def parted(seeds: int) -> None:
    """Nothing is asked of the task, so that the distance alone decides."""
    domino = {"method": "domino", "share": 0.0, "steps": 100_000}
    cases = [
        {**domino, "distance": distance, "seed": seed}
        for distance in (0.2, 0.4, 0.6, 0.8)
        for seed in range(seeds)
    ]
    made("parted", cases, solving)


def in_use(method: str, walk: int, world: str, skills: int, steps: int, seed: int) -> Row:
    """Skills that are kept, the least mean posterior among them, and how they cover the map.

    Of the flat form those in use, the one that was added last among them. Walks of skills have
    ``walk`` of T = 40 steps: the tree's are T / 20, those of the flat form are set here.
    """
    by_walks.DIFFUSING = 40 // walk
    programs._program.cache_clear()
    loaded, state, last, horizon = trained(world, method, skills, steps, seed)
    kept = state.learnt.discriminator
    chained = isinstance(kept, by_chains.Grown)
    active = np.asarray(kept.tree.kept if chained else kept.active)
    quality = by_chains.quality(kept) if chained else by_walks.quality(kept)
    paths = np.asarray(last.trajectories)[active]
    ends = paths[:, -1]
    found = spread(loaded, horizon, ends, len(ends))
    return {
        "active": int(active.sum()),
        "deepest": int(np.asarray(kept.tree.depth)[active].max()) if chained else 1,
        "growing": bool(kept.tree.growing.any()) if chained else None,
        "least_posterior": round(float(np.asarray(quality)[active].min()), 3),
        "visited": len(np.unique(paths)),
        "distinct": len(np.unique(ends)),
        "radius": found.radius,
        "ideal_radius": found.ideal_radius,
    }


def upside(seeds: int) -> None:
    cases = [
        {"method": method, "walk": walk, "world": world, "skills": 20, "steps": 300_000, "seed": s}
        for world in ("four_rooms", "u_maze")
        for method, walk in (("upside", 2), ("upside_flat", 2), ("upside_flat", 10))
        for s in range(seeds)
    ]
    made("upside", cases, in_use)


ALL = (metra, collapse, few, explore, visr, discern, blocked, ways, domino, parted, upside)
STUDIES = {f.__name__: f for f in ALL}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", choices=list(STUDIES))
    parser.add_argument("--seeds", type=int, default=4)
    asked = parser.parse_args()
    STUDIES[asked.study](asked.seeds)


if __name__ == "__main__":
    main()
