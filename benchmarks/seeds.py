"""N seeds at once: one vmapped program against one process a seed. Which is faster here?

    python benchmarks/seeds.py [--seeds 4]

Counters are not batched under vmap (a batched predicate would turn every `cond` into a `select`).
Each way is measured in fresh processes: vmapped with all threads and with one, processes with
one thread each, as many at once as there are cores. Prints seed-updates per second.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

STORED = Path(__file__).parent.parent / "results" / "seeds.json"


def vmapped(method: str, seeds: int, seconds: float) -> float:
    import jax
    import jax.numpy as jnp

    from apart.settings import resolve
    from apart.training.learners import learner_of
    from apart.training.rounds import initial, iterate_with
    from apart.training.state import hyper_of

    config, world = resolve("four_rooms", method, {})
    learner, hyper = learner_of(world, config), hyper_of(config)
    init, iterate = initial(learner), iterate_with(world, config, learner)
    state = jax.vmap(init, (0, None))(jnp.arange(seeds, dtype=jnp.uint32), hyper)
    shared = init(jnp.uint32(0), hyper)
    axes = jax.tree.map(lambda leaf: None if leaf.shape == () else 0, shared)._replace(key=0)
    merged = jax.tree.map(
        lambda a, b, axis: b if axis is None else a,
        state,
        shared,
        axes,
        is_leaf=lambda x: x is None,
    )
    rounds = jax.vmap(iterate, (axes, None), axes)
    chunk = jax.jit(
        lambda s, n: jax.lax.fori_loop(0, n, lambda _, s: rounds(s, hyper), s), donate_argnums=0
    )
    return speed(chunk, merged, seconds) * seeds


def alone(method: str, seconds: float) -> float:
    import jax.numpy as jnp

    from apart.settings import resolve
    from apart.training.program import program
    from apart.training.state import hyper_of

    config, world = resolve("four_rooms", method, {})
    run, hyper = program(world, config), hyper_of(config)
    return speed(lambda s, n: run.chunk(s, hyper, n), run.init(jnp.uint32(0), hyper), seconds)


def speed(chunk, state, seconds: float) -> float:
    import jax
    import jax.numpy as jnp

    state, n, best = chunk(state, jnp.int32(8)), 8, 0.0
    jax.block_until_ready(state)
    for _ in range(4):
        began = time.perf_counter()
        state = jax.block_until_ready(chunk(state, jnp.int32(n)))
        best = max(best, n / (time.perf_counter() - began))
        n = max(int(best * seconds), 1)
    return best


def start(way: str, method: str, seeds: int, seconds: float, threads: int) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, "--way", way, "--method", method, "--seeds", str(seeds)]
    environment = {**os.environ, "PJRT_NPROC": str(threads)}
    return subprocess.Popen(
        [*command, "--seconds", str(seconds)], stdout=subprocess.PIPE, text=True, env=environment
    )


def finish(process: subprocess.Popen[str]) -> float:
    return float(process.communicate()[0].strip().split("\n")[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--method", default="")
    parser.add_argument("--way", default="", choices=["", "vmapped", "alone"])
    a = parser.parse_args()
    if a.way:
        print(
            vmapped(a.method, a.seeds, a.seconds)
            if a.way == "vmapped"
            else alone(a.method, a.seconds)
        )
        return
    cores, rows = len(os.sched_getaffinity(0)), {}
    for method in ("apart", "diayn"):
        row = {}
        for threads in (1, cores):
            one = start("vmapped", method, a.seeds, a.seconds, threads)
            row[f"vmapped, {threads} threads"] = round(finish(one))
        many = [start("alone", method, 1, a.seconds, 1) for _ in range(cores)]
        row[f"{cores} processes"] = round(sum(finish(process) for process in many))
        rows[method] = row
        print(method, row, flush=True)
    STORED.parent.mkdir(exist_ok=True)
    STORED.write_text(
        json.dumps({"seeds": a.seeds, "seed_updates_per_second": rows}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
