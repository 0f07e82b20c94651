"""Continuous mazes: the random walk that calibrates them, and what existing methods find there.

    python benchmarks/mazes.py walk [--seeds 3] [--steps 10000000]
    python benchmarks/mazes.py methods [--seeds 2] [--steps 300000] [--only diayn]
    python benchmarks/mazes.py choose [--seeds 2] [--only rate]
    python benchmarks/mazes.py steady [--seeds 1]
    python benchmarks/mazes.py upside [--seeds 8] [--skills 100,50,20,10] [--only apart_spread]
    python benchmarks/mazes.py hold [--seeds 1]
    python benchmarks/mazes.py metric [--seeds 1] [--steps 200000]
    python benchmarks/mazes.py figure
    python benchmarks/mazes.py places
    python benchmarks/mazes.py speed

`choose` is how the setting of apart_spread was chosen: one option changed at a time, on EDL's
mazes, which no row of `upside` has; `steady` the same after 1M steps, in EDL's mazes with UPSIDE's
short moves. `upside` is UPSIDE's table: 1M steps, random starts in the
start cell, decisions held for 4 steps (0.8 of a bucket). `hold` is what happens where decisions are
held for fewer or more steps, with targets within what rewards can add up to and without. `metric`
is how well distances go with the length of the shortest way between buckets: those of positions,
and learned ones, also where the side of a wall can be seen. `places` is what keeps the skills of
`upside` from the last buckets, from its run folders. The walk
takes uniform continuous actions in [-1, 1]^2, as UPSIDE's baseline does. Stored in
results/mazes.json as it goes; what is stored is not made again.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

os.environ.setdefault("PJRT_NPROC", "1")  # one core

import jax
import jax.numpy as jnp
import numpy as np
from scipy.stats import spearmanr

import apart
from apart import worlds
from apart.learner import groups
from apart.objective.rewards import REWARDS
from apart.report import draw, planes
from apart.settings import resolve
from apart.skills.policies import learnt_of
from apart.training import sampled
from apart.training.learner import evaluated
from apart.training.learners import learner_of
from apart.training.objectives import embedding
from apart.training.objectives.measured import NUMBERS
from apart.training.pieces import pieces
from apart.training.program import compiled, program
from apart.training.state import hyper_of
from apart.worlds import mazes
from apart.worlds.mazes import MAZES, Where
from apart.worlds.observations import sight_of, vectors_of
from apart.worlds.world import JaxWorld, TableWorld

STORED = Path(__file__).parent.parent / "results" / "mazes.json"
WALKED = ("bottleneck", "u")
SIDE_BY_SIDE = 500
COMMON: dict[str, Any] = {"skills": 100, "hold": 5, "network": "mlp:128,128"}
LEARNING: dict[str, Any] = {"batch": 256, "updates_per_episode": 4}  # one in 50 steps
LAYERS = (
    ("all actions", False, 0),
    ("grouped by action", True, 0),
    ("grouped by action, maximum by slices", True, sampled.MOST_SLICES),
)
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "apart_logits": ("apart_logits", LEARNING),
    "apart_logits, rbf": ("apart_logits", {**LEARNING, "observation": "rbf"}),
    "diayn": ("diayn", LEARNING),
    "vic": ("vic", LEARNING),
    "random_walk": ("random_walk", {}),
}


EDL = ("a", "tree", "large")
CHOICES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "rate 5e-4": {"learning_rate": 5e-4},
    "rate 1e-4": {"learning_rate": 1e-4},
    "epsilon 0.1": {"epsilon": 0.1},
    "epsilon 0.4": {"epsilon": 0.4},
    "target copied every 50": {"target_period": 50},
    "no target": {"target_period": 0},
    "discount 0.9": {"discount": 0.9},
    "discount 0.98": {"discount": 0.98},
    "half the width": {"network": "mlp:128,128", "learning_rate": 2.5e-4},
    "positions as they are": {"observation": "arrays"},
    "fourier": {"observation": "fourier"},
}
STEADY: dict[str, dict[str, Any]] = {
    "as it is": {},
    "epsilon 0.4": {"epsilon": 0.4},
    "epsilon 0.4, falling rate": {"epsilon": 0.4, "anneal": True},
}
ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "apart_spread": ("apart_spread", {}),
    "apart_spread, bins": ("apart_spread", {"discriminator": "bins"}),
    "apart_spread, learned distance": ("apart_spread", {"discriminator": "learned_ends"}),
    "apart_spread, fourier": ("apart_spread", {"observation": "fourier"}),
    "apart_spread, epsilon 0.4": ("apart_spread", {"epsilon": 0.4}),
    "random_walk": ("random_walk", {"hold": 4}),
    "diayn": ("diayn", {**LEARNING, "hold": 4, "network": "mlp", "observation": "rbf"}),
    "vic": ("vic", {**LEARNING, "hold": 4, "network": "mlp", "observation": "rbf"}),
    "edl": ("edl", {}),
    "metra": ("metra", {}),
    "rnd": ("rnd", {}),
    "count_exploration": ("count_exploration", {}),
    "eddict": ("eddict", {}),
    "upside": ("upside", {}),
}


def with_short_moves(name: str) -> JaxWorld:
    """A maze of EDL with UPSIDE's moves and T, random starts."""
    like = MAZES["bottleneck"]
    spec = {"kind": mazes.KIND, "name": f"maze:{name}", "drawing": list(mazes.drawing(name))}
    spec |= {"move": like.move, "start": "random", "bins": 3}
    return mazes.from_spec(spec, like.horizon)


def walked(name: str, seed: int, steps: int) -> dict[str, int]:
    """Buckets that a random walk of so many steps ever visits."""
    known = MAZES[name]
    layout = mazes.read(mazes.drawing(known.drawing), name)
    number = jnp.asarray(layout.number)

    def step(state: Where, delta: jax.Array) -> tuple[Where, jax.Array]:
        after = mazes.move(layout.ways, state, delta)
        return after, number[after.cell[0], after.cell[1]]

    @jax.jit
    def episodes(key: jax.Array) -> jax.Array:
        shape = (SIDE_BY_SIDE, known.horizon, 2)
        deltas = known.move * jax.random.uniform(key, shape, minval=-1.0, maxval=1.0)
        start = Where(jnp.array(layout.start, jnp.int32), jnp.full(2, 0.5, jnp.float32))
        passed = jax.vmap(lambda one: jax.lax.scan(step, start, one)[1])(deltas)
        seen = jnp.zeros(len(layout.cells), bool).at[passed.reshape(-1)].set(True)
        return seen.at[number[layout.start]].set(True)

    seen = np.zeros(len(layout.cells), bool)
    for batch in range(steps // (SIDE_BY_SIDE * known.horizon)):
        seen |= np.asarray(episodes(jax.random.fold_in(jax.random.key(seed), batch)))
    return {"visited": int(seen.sum()), "env_steps": steps}


def trained(
    world: str | JaxWorld, method: str, seed: int, steps: int, out: Path, **options: Any
) -> dict[str, Any]:
    """Buckets that the greedy skills visit, and distinct last ones."""
    run = apart.train(
        world,
        method=method,
        steps=steps,
        seed=seed,
        evaluate_every=steps // 4,
        out=out / f"seed-{seed}",
        overwrite=True,
        **options,
    )
    explored = {}
    if run.config["objective"] == "counted":  # places that any decision of the run came to
        explored["seen"] = int((np.asarray(learnt_of(run).learnt.discriminator) > 0).sum())
    return explored | {
        "visited": len({place for skill in run.skills for place in skill.trajectory}),
        "last": run.n_effective,
        "curve": [row["n_effective"] for row in run.metrics],
        "env_steps": run.summary["env_steps"],
        "updates": run.summary["updates"],
        "seconds": round(run.summary["wall_seconds"], 1),
    }


def speeds(rounds: int = 10, turns: int = 8) -> list[dict[str, Any]]:
    """Environment steps per second of processor time while learning, by turns; the best of each.

    With and without grouping samples by action (`apart.learner.groups`), and with the maximum over
    actions taken at once or by slices: one thread, K = 100.
    """
    cases = []
    pays, slices = groups.pays, sampled.MOST_SLICES
    for updates in (2, 4):
        for layer, grouped, most in LAYERS:
            groups.pays = pays if grouped else lambda *_: False
            sampled.MOST_SLICES = most
            options = {**COMMON, **LEARNING, "updates_per_episode": updates}
            config, world = resolve("maze:bottleneck", "apart_logits", options)
            run, hyper = compiled(world, config, learner_of(world, config)), hyper_of(config)
            state = run.chunk(run.init(jnp.uint32(0), hyper), hyper, jnp.int32(2))
            cases.append([updates, layer, run, hyper, state, math.inf])
    groups.pays, sampled.MOST_SLICES = pays, slices
    for _ in range(turns):
        for case in cases:
            *_, run, hyper, state, best = case
            began = time.process_time()
            state = jax.block_until_ready(run.chunk(state, hyper, jnp.int32(rounds)))
            case[4:] = [state, min(best, (time.process_time() - began) / rounds)]
    horizon = MAZES["bottleneck"].horizon
    return [
        {
            "steps_per_update": horizon // updates,
            "layer": layer,
            "ms_per_episode": round(1e3 * best, 2),
            "steps_per_cpu_second": round(horizon / best),
        }
        for updates, layer, *_, best in cases
    ]


FREE = "near_end_free"  # the reward of apart_spread, its targets without bounds
HOLDS = (
    *((hold, bounded, 4) for hold in (1, 2, 4, 5, 8) for bounded in (True, False)),
    (1, True, 16),  # as many updates a decision as where it is held for four steps
)


def held(hold: int, bounded: bool, updates: int, seed: int, steps: int) -> dict[str, Any]:
    """The same run with decisions of another length, and how large its values become.

    A discount of 0.95 for four steps, whatever a decision is.
    """
    if FREE not in REWARDS:
        REWARDS.register(FREE, replace(REWARDS["near_end"], bounds=None))
    options = {"skills": 100, "hold": hold, "discount": 0.95 ** (hold / 4), "steps": steps}
    options |= {"seed": seed, "reward": "near_end" if bounded else FREE}
    options |= {"updates_per_episode": updates}
    config, world = resolve("maze:bottleneck:start=random", "apart_spread", options)
    run, hyper = program(world, config), hyper_of(config)
    state = run.init(jnp.uint32(seed), hyper)
    state = run.chunk(state, hyper, jnp.int32(config.iterations))
    found = jax.device_get(run.evaluate(state, hyper))
    side = jnp.linspace(-1.0, 1.0, 40)
    places = jnp.stack(jnp.meshgrid(side, side), -1).reshape(-1, 2)
    values = learner_of(world, config).values(evaluated(state.learnt), places)
    worth = 0.05 / (1.0 - config.discount)  # standing in the own end for ever
    return {
        "visited": len(np.unique(found.trajectories)),
        "last": int(found.n_effective),
        "largest": round(float(values.max()) / worth, 3),
        "env_steps": config.iterations * config.collection,
    }


MARGIN = 0.15  # of a bucket: how far from a wall a point on it looks, where its side is to be seen


def with_sides(world: JaxWorld) -> JaxWorld:
    """``world`` in which nobody sees a point on a wall: it looks like one beside it."""

    def observe(where: Where) -> jax.Array:
        return world.observe(where._replace(inside=MARGIN + (1.0 - 2.0 * MARGIN) * where.inside))

    return replace(world, observe=observe)


def measured(name: str, sides: bool, seed: int, steps: int) -> dict[str, Any]:
    """Rank correlation of distances between seen buckets with the steps between them."""
    plain = worlds.load(f"maze:{name}:start=random") if name in WALKED else with_short_moves(name)
    assert isinstance(plain, JaxWorld)
    assert plain.cells is not None
    options = {"skills": 50, "hold": 4, "steps": steps, "seed": seed}
    options["discriminator"] = "learned_ends"
    config, world = resolve(with_sides(plain) if sides else plain, "apart_spread", options)
    run, hyper = program(world, config), hyper_of(config)
    state = run.init(jnp.uint32(seed), hyper)
    state = run.chunk(state, hyper, jnp.int32(config.iterations))
    kept = state.learnt.discriminator
    layout = mazes.read(plain.about.spec["drawing"], name)
    width, height = layout.free.shape
    centres = np.stack([layout.cells[:, 1] + 0.5, height - 0.5 - layout.cells[:, 0]], 1)
    centres = (2.0 * centres / (width, height) - 1.0).astype(np.float32)
    apart_by = np.abs(np.asarray(kept.points.memory)[:, None] - centres) * (width, height) / 2.0
    seen = np.flatnonzero((apart_by.max(2) < 0.5).any(0))
    pairs = np.triu_indices(len(seen), 1)
    steps_between = path_lengths(plain.cells)[np.ix_(seen, seen)][pairs]
    form = pieces(
        *(config, world.about.n_actions, sight_of(world, config.observation)),
        *(1, vectors_of(world)),
    ).network((NUMBERS,))
    learnt = np.asarray(embedding.read(form, kept.metric, jnp.asarray(centres[seen])))
    found = jax.device_get(run.evaluate(state, hyper))
    return {
        "visited": len(np.unique(found.trajectories)),
        "last": int(found.n_effective),
        "buckets": len(seen),
        **{
            label: round(float(spearmanr(between(at)[pairs], steps_between).statistic), 3)
            for label, at in (("positions", centres[seen]), ("learned", learnt))
        },
    }


def between(at: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.asarray(np.linalg.norm(at[:, None] - at, axis=2))


def path_lengths(table: TableWorld) -> np.ndarray[Any, Any]:
    """[n, n] steps from each state to each."""
    n = table.n_states
    far = np.where(np.eye(n, dtype=bool), 0, n)
    for _ in range(n):
        shorter = np.minimum(far, 1 + far[table.next_state[:, :, 0]].min(1))
        if (shorter == far).all():
            break
        far = shorter
    return far


NEARBY = 2  # steps between buckets; within the width of a place more are behind a wall


def placed(run: apart.Run) -> dict[str, int]:
    """Where the skills of apart_spread end, beside the places where they are to end."""
    world, kept = run.world, learnt_of(run).learnt.discriminator
    assert isinstance(world, JaxWorld)
    assert world.cells is not None
    number = {tuple(cell): n for n, cell in enumerate(world.cells.cells.tolist())}
    last = [number[skill.last_state] for skill in run.skills]
    columns, rows = mazes.read(world.about.spec["drawing"], "").free.shape
    middle = world.cells.cells[:, ::-1] * (1, -1) + (0.5, rows - 0.5)
    place = (np.asarray(kept.place) + 1.0) / 2.0 * (columns, rows)
    wanted = np.abs(place[:, None] - middle).max(axis=2).argmin(axis=1)
    away = path_lengths(world.cells)[wanted, last]
    ends = np.array([skill.positions[-1] for skill in run.skills])
    within = np.linalg.norm(ends - place, axis=1) <= float(kept.width) * columns / 2.0
    return {
        "buckets": len(set(wanted)),
        "in": int((away == 0).sum()),
        "beside": int(((away > 0) & (away <= NEARBY)).sum()),
        "behind": int(((away > NEARBY) & within).sum()),
        "elsewhere": int(((away > NEARBY) & ~within).sum()),
        "visited": len({place for skill in run.skills for place in skill.trajectory}),
    }


def places(study: Study) -> None:
    """Of the run folders of apart_spread that are there."""
    for skills, name in product(("100", "50"), WALKED):
        folder = study.runs / "upside" / f"{name}-apart_spread-{skills}"
        for path in sorted(folder.glob("seed-*/summary.json")):
            seed = path.parent.name.removeprefix("seed-")
            study.make(("places", name, skills, seed), partial(placed, apart.load(path.parent)))


def figure(runs: Path) -> None:
    """Few skills and many in both mazes, seed 0, from the run folders of `upside`."""
    made, axes = draw.figure(2, 2, size=(7.6, 8.0))
    for axis, (skills, name) in zip(axes, product(("50", "100"), WALKED), strict=True):
        run = apart.load(runs / "upside" / f"{name}-apart_spread-{skills}" / "seed-0")
        paths, ends = zip(*((s.positions, s.last_state) for s in run.skills), strict=True)
        planes.lines(axis, run.world.places.plane, paths, ends)
        visited = len({place for skill in run.skills for place in skill.trajectory})
        n = run.world.places.n
        draw.title(axis, f"{skills} skills, maze:{name}: visit {visited} of {n} buckets", 8.5)
    made.savefig(STORED.parent.parent / "docs" / "images" / "mazes.png")


class Study:
    """Runs that are stored as they are made; what is stored is not made again."""

    def __init__(self, stored: Path, runs: Path) -> None:
        self.stored, self.runs = stored, runs

    def table(self) -> dict[str, Any]:
        return json.loads(self.stored.read_text()) if self.stored.exists() else {}

    def keep(self, path: tuple[str, ...], value: Any) -> None:
        """Read, changed and written at once: several commands may run side by side."""
        with open(f"{self.stored}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            table = self.table()
            at = table
            for key in path[:-1]:
                at = at.setdefault(key, {})
            at[path[-1]] = value
            self.stored.write_text(json.dumps(table, indent=1) + "\n")

    def make(self, path: tuple[str, ...], make: Callable[[], Any]) -> None:
        found: Any = self.table()
        for key in path:
            found = found.get(key, {}) if isinstance(found, dict) else {}
        if found == {}:
            found = make()
            self.keep(path, found)
        print(*path, found, flush=True)


def meant(label: str, only: str, rows: Iterable[str]) -> bool:
    """Whether ``only`` means this row: its name, or how it begins."""
    return label == only if only in rows else label.startswith(only)


def seeds_of(asked: argparse.Namespace) -> range:
    return range(asked.first, asked.first + asked.seeds)


def mazes_of(asked: argparse.Namespace) -> tuple[str, ...]:
    return (asked.maze,) if asked.maze else WALKED


Job = tuple[tuple[str, ...], Callable[[], Any]]  # where a run is stored, and how it is made


def walk(asked: argparse.Namespace) -> Iterator[Job]:
    for name, seed in product(mazes_of(asked), seeds_of(asked)):
        yield (name, str(seed)), partial(walked, name, seed, asked.steps)


def hold(asked: argparse.Namespace) -> Iterator[Job]:
    for seed, (steps, bounded, updates) in product(seeds_of(asked), HOLDS):
        name = str(steps) if updates == 4 else f"{steps}, {updates} updates"
        path = (name, "bounded" if bounded else "free", str(seed))
        yield path, partial(held, steps, bounded, updates, seed, asked.steps)


def metric(asked: argparse.Namespace) -> Iterator[Job]:
    for seed, name, sides in product(seeds_of(asked), (*mazes_of(asked), "large"), (False, True)):
        path = (name, "sides" if sides else "as it is", str(seed))
        yield path, partial(measured, name, sides, seed, asked.steps)


def methods(asked: argparse.Namespace) -> Iterator[Job]:
    rows = [row for row in METHODS.items() if meant(row[0], asked.only, METHODS)]
    for seed, (label, (method, options)), name in product(seeds_of(asked), rows, mazes_of(asked)):
        out = asked.runs / f"{name}-{label.replace(', ', '-')}"
        run = partial(trained, f"maze:{name}", method, seed, asked.steps, out)
        yield (name, label, str(seed)), partial(run, **{**COMMON, **options})


def changed(
    asked: argparse.Namespace,
    rows: dict[str, dict[str, Any]],
    mazes_: dict[str, str | JaxWorld],
) -> Iterator[Job]:
    """One option of apart_spread changed at a time, K = 50."""
    rows = {label: options for label, options in rows.items() if meant(label, asked.only, rows)}
    for seed, label, name in product(seeds_of(asked), rows, mazes_):
        out = asked.runs / asked.what / f"{name}-{label}"
        run = partial(trained, mazes_[name], "apart_spread", seed, asked.steps, out)
        yield (label, name, str(seed)), partial(run, **{"skills": 50, **rows[label]})


def steady(asked: argparse.Namespace) -> Iterator[Job]:
    rows = {label: {"hold": 4, **options} for label, options in STEADY.items()}
    return changed(asked, rows, {name: with_short_moves(name) for name in ("large", "tree")})


def choose(asked: argparse.Namespace) -> Iterator[Job]:
    return changed(asked, CHOICES, {name: f"maze:{name}:start=random" for name in EDL})


def upside(asked: argparse.Namespace) -> Iterator[Job]:
    rows = [row for row in ROWS.items() if meant(row[0], asked.only, ROWS)]
    for seed, skills, (label, (method, options)), name in product(
        seeds_of(asked), asked.skills.split(","), rows, mazes_of(asked)
    ):
        out = asked.runs / "upside" / f"{name}-{label}-{skills}"
        run = partial(trained, f"maze:{name}:start=random", method, seed, asked.steps, out)
        yield (name, label, skills, str(seed)), partial(run, **{"skills": int(skills), **options})


STUDIES: dict[str, tuple[int, Callable[[argparse.Namespace], Iterator[Job]]]] = {  # steps, runs
    "walk": (10_000_000, walk),
    "methods": (300_000, methods),
    "choose": (100_000, choose),
    "steady": (1_000_000, steady),
    "upside": (1_000_000, upside),
    "hold": (300_000, hold),
    "metric": (200_000, metric),
}
ONCE: dict[str, Callable[[Study], None]] = {
    "figure": lambda study: figure(study.runs),
    "places": places,
    "speed": lambda study: study.keep(("speed",), speeds()),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=[*STUDIES, *ONCE])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--skills", default="100,50,20,10", help="of upside")
    parser.add_argument("--only", default="", help="the row of this name, or those that begin so")
    parser.add_argument("--maze", help="only this one")
    parser.add_argument("--stored", type=Path, default=STORED)
    parser.add_argument("--runs", type=Path, default=Path("runs/mazes"))
    asked = parser.parse_args()
    study = Study(asked.stored, asked.runs)
    if asked.what in ONCE:
        ONCE[asked.what](study)
    else:
        steps, jobs = STUDIES[asked.what]
        asked.steps = asked.steps or steps
        for path, make in jobs(asked):
            study.make((asked.what, *path), make)


if __name__ == "__main__":
    main()
