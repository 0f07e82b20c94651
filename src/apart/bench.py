"""``apart bench``: the speed of this machine on fixed work, as a table and as JSON.

An update is one round: an episode of 40 steps, its insertion and one Adam step for Q and for the
discriminator. Every figure is the best of several measurements; machines are noisy, and noise
only slows.
"""

from __future__ import annotations

import platform
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from apart._version import __version__
from apart.runs.files import write_json
from apart.settings import resolve
from apart.training import threads
from apart.worlds.grid import World, parse


class Case(NamedTuple):
    """A row of the table."""

    label: str
    world: str | World
    method: str
    options: dict[str, Any]


def _open(side: int) -> World:
    rows = ["." * side for _ in range(side)]
    rows[side // 2] = "." * (side // 2) + "S" + "." * (side - side // 2 - 1)
    return parse("\n".join(rows), f"open {side}x{side}")


def cases() -> dict[str, list[Case]]:
    """The two tables: methods on the paper's work, and how the cost grows."""
    methods = ("apart", "ap_min_ascending", "ap_average", "diayn", "vic", "tuned_vic")
    return {
        "methods (four_rooms, K = 100, batch 640)": [Case(m, "four_rooms", m, {}) for m in methods],
        "scaling of apart": [
            *(Case(f"K = {k}", "four_rooms", "apart", {"skills": k}) for k in (50, 100, 200, 400)),
            *(Case(f"batch {b}", "four_rooms", "apart", {"batch": b}) for b in (160, 640, 2560)),
            *(Case(f"world {n}x{n}", _open(n), "apart", {}) for n in (10, 20, 40)),
        ],
        "scaling of diayn": [
            *(Case(f"K = {k}", "four_rooms", "diayn", {"skills": k}) for k in (50, 100, 200, 400)),
            *(Case(f"batch {b}", "four_rooms", "diayn", {"batch": b}) for b in (160, 640, 2560)),
            *(Case(f"world {n}x{n}", _open(n), "diayn", {}) for n in (10, 20, 40)),
        ],
    }


def measure(case: Case, seconds: float, repeats: int) -> dict[str, Any]:
    """Updates per second, environment steps per second and seconds to compile of one case."""
    import jax.numpy as jnp

    from apart.training.chunk import program
    from apart.training.state import hyper_of

    config, world = resolve(case.world, case.method, case.options)
    run, hyper = program(world, config), hyper_of(config)
    began = time.perf_counter()
    state = run.init(jnp.uint32(0), hyper)
    state = run.chunk(state, hyper, jnp.int32(1))
    state.iteration.block_until_ready()
    compiled = time.perf_counter() - began
    n, best = 16, 0.0
    for _ in range(repeats + 1):  # the first, short one finds how many updates fill the time
        began = time.perf_counter()
        state = run.chunk(state, hyper, jnp.int32(n))
        state.iteration.block_until_ready()
        elapsed = time.perf_counter() - began
        best = max(best, n / elapsed)
        n = max(int(best * seconds), 1)
    return {
        "case": case.label,
        "method": case.method,
        "updates_per_second": round(best, 1),
        "env_steps_per_second": round(best * config.collection),
        "ms_per_update": round(1e3 / best, 4),
        "compile_seconds": round(compiled, 2),
    }


def bench(seconds: float, repeats: int, path: str | None) -> int:
    """Measure all cases, print the tables, write JSON to ``path`` if given; the exit code."""
    n_threads = threads.cores()
    threads.use(n_threads)
    results: dict[str, Any] = {
        "apart": __version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": n_threads,
        "threads": threads.in_use(),
        "tables": {},
    }
    for title, rows in cases().items():
        print(f"\n{title}, {n_threads} threads")
        print(f"{'':18}{'updates/s':>12}{'steps/s':>12}{'ms/update':>12}{'compile s':>12}")
        results["tables"][title] = measured = []
        for case in rows:
            row = measure(case, seconds, repeats)
            measured.append(row)
            print(
                f"{case.label:18}{row['updates_per_second']:12,.0f}"
                f"{row['env_steps_per_second']:12,}{row['ms_per_update']:12.3f}"
                f"{row['compile_seconds']:12.1f}",
                flush=True,
            )
    from apart.training.run import peak_rss_mb

    results["peak_rss_mb"] = peak_rss_mb()
    print(f"\npeak memory {results['peak_rss_mb']:,.0f} MB")
    if path:
        write_json(Path(path), results)
        print(f"written to {path}", file=sys.stderr)
    return 0
