"""Checks of methods of the family against outside facts. Stored in results/family-*.json.

    python benchmarks/family.py disdain    DISDAIN in the world and by the loop of its own notebook
    python benchmarks/family.py long       the same loop in classic_rooms, its four rooms, K = 128
    python benchmarks/family.py summed     the same, steps summed over trajectories, not averaged
    python benchmarks/family.py rooms      DISDAIN as it is trained here in classic_rooms, K = 128
    python benchmarks/family.py valor      VALOR with and without its curriculum, K = 64

A study stores what it has after every part of it; parts that are stored are not made again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

import apart
from apart import worlds
from apart._types import Array, Key
from apart.objective import ensemble
from apart.objective.rewards import clipped_posterior
from apart.settings import resolve
from apart.training import choices, collect
from apart.training.collect import Dynamics
from apart.training.program import program
from apart.training.state import hyper_of
from apart.worlds import grid
from apart.worlds.world import TableWorld

RESULTS = Path(__file__).parent.parent / "results"
RUNS = Path("runs/family/disdain-rooms")


def path_of(study: str) -> Path:
    return RESULTS / f"family-{study}.json"


def keep(study: str, value: Any) -> None:
    path_of(study).write_text(json.dumps(value, indent=1) + "\n")


# The notebook of google-deepmind/disdain: its world, its numbers, its loop. Trajectories are fresh,
# steps are plain gradients, targets are lambda returns and Q starts uniform in [0, 1): none of it
# is an option here, so that the loop is written out. Episodes, discriminators and rewards are ours.
NOTEBOOK_MAP = """\
#######
#S.#..#
#.....#
##.#..#
#..#.##
#..#..#
#.....#
#######"""
EPISODES, EPSILON, DISCOUNT, LAMBDA = 16, 1e-3, 0.99, 0.7


class Setting(NamedTuple):
    """Where the loop runs; numbers of the notebook, and of the paper for its four rooms."""

    world: TableWorld
    skills: int
    rate: float
    weight: float  # of the disagreement


def small() -> Setting:
    return Setting(grid.parse(NOTEBOOK_MAP, "disdain_notebook", 8), 24, 4e-3, 20.0)


def large(times: int) -> Setting:
    """The paper's four rooms; its rate, ``times`` over."""
    world = worlds.load("classic_rooms")
    assert isinstance(world, TableWorld)
    return Setting(world, 128, 2e-3 * times, 10.0)


class Variant(NamedTuple):
    members: int
    bonus: bool  # whether the disagreement is paid
    above: bool  # Q starts as the sum of two tables in [0, 1), the second times the weight


VARIANTS = {
    "disdain": Variant(2, True, True),
    "ensemble without bonus": Variant(2, False, False),
    "baseline": Variant(1, False, False),
    "baseline with the initial Q of disdain": Variant(1, False, True),
    "disdain with the initial Q of the baseline": Variant(2, True, False),
}


class Tables(NamedTuple):
    q: Array  # [S, A, K] skill and weighted bonus in one: equal for plain steps
    logits: Array  # [S, N, K]


def lambda_returns(reward: Array, value: Array) -> Array:
    """[T] targets of the steps of an episode that pays ``reward`` at its end."""

    def step(later: Array, one: tuple[Array, Array]) -> tuple[Array, Array]:
        value_t, last = one
        now = jnp.where(last, reward, DISCOUNT * ((1 - LAMBDA) * value_t + LAMBDA * later))
        return now, now

    last = jnp.arange(len(value)) == len(value) - 1
    return jax.lax.scan(step, jnp.float32(0.0), (value, last), reverse=True)[1]


def notebook(setting: Setting, variant: Variant) -> tuple[Callable[..., Any], ...]:
    """(seed) -> tables; (tables, key, first, n) -> tables; tables -> skills found."""
    world, K, T = setting.world, setting.skills, setting.world.about.horizon
    weight = setting.weight * variant.bonus
    dynamics, n_states = Dynamics.of(world), world.n_states
    elsewhere = (jnp.arange(n_states) != world.start)[:, None, None]

    def init(seed: Array) -> Tables:
        keys = jax.random.split(jax.random.key(seed), 3)
        skill, bonus = (jax.random.uniform(key, (n_states, 5, K)) for key in keys[:2])
        logits = jax.random.uniform(keys[2], (n_states, variant.members, K))
        return Tables(skill + setting.weight * variant.above * bonus, logits)

    def update(tables: Tables, key: Key) -> Tables:
        drawn = choices.draw(EPISODES, T, K, 5, jnp.float32(EPSILON), key)
        made = collect.by_table(dynamics, tables.q, drawn, key)
        last = made.obs[:, -1]
        logits = (tables.logits * elsewhere)[last]  # [E, N, K]
        rewards = jax.vmap(clipped_posterior, (0, None))(logits, jnp.float32(1.0))
        reward = rewards[jnp.arange(EPISODES), made.skill]
        reward += weight * jax.vmap(ensemble.disagreement)(logits)
        value = tables.q.max(axis=1)[made.obs[:, 1:], made.skill[:, None]]
        target = jax.vmap(lambda_returns)(reward, value)
        at = (made.obs[:, :-1], made.action, made.skill[:, None])
        q = tables.q.at[at].add(setting.rate * 2.0 / EPISODES * (target - tables.q[at]))
        seen = jax.nn.one_hot(made.skill, K) / EPISODES
        gradient = jax.vmap(ensemble.gradient, (0, 0, None))(logits, seen, jnp.float32(1.0))
        moved = tables.logits.at[last].add(-setting.rate * gradient * elsewhere[last])
        return Tables(q, moved)

    def chunk(tables: Tables, key: Key, first: Array, n: Array) -> Tables:
        return jax.lax.fori_loop(
            first, first + n, lambda i, now: update(now, jax.random.fold_in(key, i)), tables
        )

    def measure(tables: Tables) -> tuple[Array, Array]:
        drawn = choices.every_skill(K, T, 5, None, jax.random.key(0))
        last = collect.by_table(dynamics, tables.q, drawn, jax.random.key(0)).obs[:, -1]
        log_q = jax.vmap(ensemble.log_mean)((tables.logits * elsewhere)[last])
        information = K * jnp.exp(log_q[jnp.arange(K), jnp.arange(K)].mean())
        ends = jnp.sort(last)
        return information, 1 + (ends[1:] != ends[:-1]).sum()

    each = jax.vmap(chunk, (0, 0, None, None))
    return jax.jit(jax.vmap(init)), jax.jit(each), jax.jit(jax.vmap(measure))


def disdain(seeds: int, updates: int) -> None:
    loop("disdain", small(), seeds, updates, 100_000)


def long(seeds: int, updates: int) -> None:
    loop("disdain-long", large(1), seeds, updates, 62_500)  # a row each 20M steps


def summed(seeds: int, updates: int) -> None:
    loop("disdain-summed", large(EPISODES), seeds, updates, 62_500)


def loop(study: str, setting: Setting, seeds: int, updates: int, every: int) -> None:
    """Every variant of the notebook's loop in one world, all seeds side by side."""
    cells = int((setting.world.distance <= setting.world.about.horizon).sum()) - 1
    table: dict[str, Any] = {"seeds": seeds, "every": every, "cells": cells, "variants": {}}
    if path_of(study).exists():
        table = json.loads(path_of(study).read_text(encoding="utf-8"))
        assert (table["seeds"], table["every"]) == (seeds, every)
    for name, variant in VARIANTS.items():
        if len(table["variants"].get(name, [])) == updates // every:
            continue
        init, chunk, measure = notebook(setting, variant)
        tables = init(jnp.arange(seeds))
        keys = jax.vmap(jax.random.key)(jnp.arange(seeds) + 1_000)
        rows: list[dict[str, Any]] = []
        table["variants"][name] = rows
        for first in range(0, updates, every):
            tables = chunk(tables, keys, jnp.int32(first), jnp.int32(every))
            information, distinct = measure(tables)
            rows.append(
                {
                    "updates": first + every,
                    "information_count": [round(float(x), 2) for x in information],
                    "last_states": [int(x) for x in distinct],
                }
            )
            print(name, rows[-1], flush=True)
            keep(study, table)


def rooms(seeds: int, updates: int) -> None:
    """Through run folders: what was stopped goes on, and what is there is read."""
    rows = {}
    for seed in range(seeds):
        folder = RUNS / f"seed-{seed}"
        options = {"skills": 128, "evaluate_every": 2_000_000, "steps": 20 * updates}
        if not (folder / "config.json").exists():
            apart.train("classic_rooms", method="disdain", seed=seed, out=folder, **options)
        elif not (folder / "summary.json").exists():
            apart.resume(folder)
        found = apart.load(folder).metrics
        names = ("env_steps", "n_effective", "information_count")
        rows[str(seed)] = [{name: row[name] for name in names} for row in found]
        keep("disdain-rooms", rows)


def valor(seeds: int, updates: int, every: int = 10_000) -> None:
    """How well the decoder names the skills that are drawn, and how many those are."""
    table: dict[str, Any] = {"seeds": seeds, "skills": 64, "horizon": 10, "runs": {}}
    options = {"skills": 64, "horizon": 10, "batch": 160, "steps": 10 * updates}
    for objective in ("valor", "valor_all"):
        config, world = resolve("empty", "valor", {**options, "objective": objective})
        run, hyper = program(world, config), hyper_of(config)
        for seed in range(seeds):
            rows = table["runs"].setdefault(objective, {}).setdefault(str(seed), [])
            state = run.init(jnp.uint32(seed), hyper)
            for done in range(every, updates + 1, every):
                state = run.chunk(state, hyper, jnp.int32(every))
                kept = state.learnt.discriminator
                rows.append(
                    {
                        "updates": done,
                        "skills": int(kept.n_skills),
                        "named": round(float(kept.right), 3),
                        "last_states": int(run.evaluate(state, hyper).n_effective),
                    }
                )
                print(objective, seed, rows[-1], flush=True)
                keep("valor", table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    studies = {
        "disdain": (disdain, 4, 1_000_000),
        "long": (long, 4, 1_875_000),
        "summed": (summed, 4, 1_875_000),
        "rooms": (rooms, 1, 5_000_000),
        "valor": (valor, 2, 60_000),
    }
    parser.add_argument("study", choices=studies)
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--updates", type=int)
    a = parser.parse_args()
    study, seeds, updates = studies[a.study]
    study(a.seeds or seeds, a.updates or updates)


if __name__ == "__main__":
    main()
