"""``apart bench``: the speed of this machine on fixed work, as a table and as JSON.

An update of most methods is an episode of 40 steps, its insertion and one Adam step for Q and for
the discriminator; `apart_plus` and `apart_logits` make two updates in 40 steps. Every figure is
the best of several measurements; machines are noisy, and noise only slows.
"""

from __future__ import annotations

import json
import math
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from apart._errors import UserError
from apart._version import __version__
from apart.facts import needs_task
from apart.methods import METHODS
from apart.running import machine, threads, turns
from apart.running.pool import last_words
from apart.runs.files import write_json
from apart.settings import resolve
from apart.worlds.grid import parse
from apart.worlds.world import HostWorld, World

BESIDE = {"beside": turns.IN_TABLE, "beside_with_networks": turns.IN_MAZE}  # by name in the JSON


class Case(NamedTuple):
    """A row of the table."""

    label: str
    world: str | World
    method: str
    options: dict[str, Any]
    states: bool | None = None  # rows of an update: all states, samples, or whichever is less work


def _open(side: int) -> World:
    rows = ["." * side for _ in range(side)]
    rows[side // 2] = "." * (side // 2) + "S" + "." * (side - side // 2 - 1)
    return parse("\n".join(rows), f"open {side}x{side}")


def _maze(updates: int) -> dict[str, Any]:
    """Options with so many updates in an episode of 200 steps."""
    return {
        "network": "mlp:128,128",
        "hold": 5,
        "batch": 256,
        "updates_per_episode": updates,
    }


def _methods() -> list[str]:
    """Every method that learns, brings no network of its own, and needs no task on the map."""
    return [
        name
        for name, method in METHODS.items()
        if "network" not in method.options and method.learns and not needs_task(name)
    ]


def cases() -> dict[str, list[Case]]:
    """The tables: methods on the paper's work, what a bias costs, and how the cost grows."""
    return {
        "methods (four_rooms, K = 100, batch 640)": [
            Case(name, "four_rooms", name, {}) for name in _methods()
        ],
        "a bias": [
            Case(f"{m}, {network}", "four_rooms", m, {"network": network})
            for m in ("apart", "diayn")
            for network in ("table", "table+bias")
        ],
        "a continuous maze (maze:bottleneck, K = 100, mlp:128,128, hold 5, batch 256)": [
            Case(f"1 update in {200 // n}", "maze:bottleneck", "apart_logits", _maze(n))
            for n in (2, 4, 8)
        ],
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

    from apart.running.machine import peak_rss_mb
    from apart.training.learners import learner_over
    from apart.training.program import compiled, program
    from apart.training.state import hyper_of

    config, world = resolve(case.world, case.method, case.options)
    run, hyper = program(world, config), hyper_of(config)
    if case.states is not None:
        assert not isinstance(world, HostWorld)
        run = compiled(world, config, learner_over(world, config, case.states))
    began = time.perf_counter()
    state = run.init(jnp.uint32(0), hyper)
    state = run.chunk(state, hyper, jnp.int32(1))
    state.iteration.block_until_ready()
    compile_seconds = time.perf_counter() - began

    def seconds_for(n: int) -> float:
        nonlocal state
        began = time.perf_counter()
        state = run.chunk(state, hyper, jnp.int32(n))
        state.iteration.block_until_ready()
        return time.perf_counter() - began

    n = 1
    while (took := seconds_for(n)) < 0.1:
        n *= 4
    n = max(int(n * seconds / took), 1)
    best = max(n / seconds_for(n) for _ in range(repeats))
    updates = best * config.updates_per_episode
    return {
        "case": case.label,
        "method": case.method,
        "threads": threads.in_use(),
        "updates_per_second": round(updates, 1),
        "env_steps_per_second": round(best * config.collection),
        "ms_per_update": round(1e3 / updates, 4),
        "compile_seconds": round(compile_seconds, 2),
        "peak_rss_mb": peak_rss_mb(),
    }


HOST, SIDE, T = "gym:MiniGrid-FourRooms-v0", 8, 100
HOST_TITLE = f"a host world ({SIDE} of {HOST} side by side, episodes of {T})"


def host_steps(seconds: float, repeats: int) -> dict[str, Any]:
    """Time of an environment step: of a bare vector environment, of ours, of ours with a policy.

    By turns in this process, whole episodes; the best of ``repeats`` each. Seconds of the CPU are
    told too: on a busy machine they are what can be compared.
    """
    import gymnasium
    import jax
    import jax.numpy as jnp
    import numpy as np

    from apart.training.choices import Drawn, actions
    from apart.training.host import Host
    from apart.training.learners import learner_over
    from apart.training.state import hyper_of

    options = {"skills": 20, "horizon": T, "network": "mlp:128,128"}
    config, world = resolve(HOST, "diayn", options)
    assert isinstance(world, HostWorld)
    n_actions, host = world.about.n_actions, Host(world)
    bare: Any = gymnasium.make_vec(HOST.partition(":")[2], num_envs=SIDE, vectorization_mode="sync")
    learner = learner_over(world, config, states=False)
    q = learner.init(jax.random.key(0), jax.random.key(1), hyper_of(config)).q.params
    act = jax.jit(lambda obs, skill, choice: actions(learner.values(q, obs), skill, choice))
    choices = np.random.default_rng(0).integers(n_actions, size=(SIDE, T)).astype(np.int32)
    asked = choices.copy()
    asked[0] = n_actions  # the policy is asked for all; the others still do what they did
    seeds, skill = list(range(SIDE)), jnp.zeros(SIDE, jnp.int32)

    def by_gymnasium() -> None:
        bare.reset(seed=seeds)
        for t in range(T):
            bare.step(choices[:, t])

    def by_host(choice: Any) -> None:
        host.by_host(act, Drawn(skill, choice), seeds)

    ways: dict[str, Callable[[], None]] = {
        "bare": by_gymnasium,
        "ours": lambda: by_host(choices),
        "with_policy": lambda: by_host(asked),
    }
    for play in ways.values():  # compiles, and shows how long it takes
        began = time.perf_counter()
        play()
    n = max(int(seconds / (time.perf_counter() - began)), 1)
    wall, cpu = dict.fromkeys(ways, math.inf), dict.fromkeys(ways, math.inf)
    for _ in range(repeats):
        for name, play in ways.items():
            began, worked = time.perf_counter(), time.process_time()
            for _ in range(n):
                play()
            wall[name] = min(wall[name], (time.perf_counter() - began) / (n * SIDE * T))
            cpu[name] = min(cpu[name], (time.process_time() - worked) / (n * SIDE * T))
    host.close()
    bare.close()
    return {
        name: {
            "us_per_step": round(1e6 * wall[name], 1),
            "cpu_us_per_step": round(1e6 * cpu[name], 1),
        }
        for name in ways
    }


def _has_host() -> bool:
    from importlib.util import find_spec

    return all(find_spec(name) is not None for name in ("gymnasium", "minigrid"))


def _bench_host(seconds: float, repeats: int) -> dict[str, Any] | None:
    """The same in a process of its own, printed; None where it cannot be measured."""
    print(f"\n{HOST_TITLE}")
    if not _has_host():
        print("not measured: needs minigrid (pip install minigrid)")
        return None
    row: dict[str, Any] = _in_own_process(HOST_TITLE, 0, seconds, repeats)
    print(f"{'':18}{'steps/s':>12}{'CPU µs/step':>14}{'over bare':>12}")
    for name, found in row.items():
        speed, cpu = 1e6 / found["us_per_step"], found["cpu_us_per_step"]
        over = cpu / row["bare"]["cpu_us_per_step"] - 1
        print(f"{name.replace('_', ' '):18}{speed:12,.0f}{cpu:14,.1f}{over:12.1%}", flush=True)
    return row


def bench(seconds: float, repeats: int, path: Path | None) -> int:
    """Measure all cases, print the tables, write JSON to ``path`` if given; the exit code.

    Every case has a process of its own, with the number of threads that pays for it.
    """
    results: dict[str, Any] = {
        "apart": __version__,
        "python": platform.python_version(),
        "machine": machine.words(),
        "tables": {},
    }
    head = ("updates/s", "steps/s", "ms/update", "compile s", "MB", "threads")
    for title, rows in cases().items():
        print(f"\n{title}\n{'':18}" + "".join(f"{word:>12}" for word in head))
        results["tables"][title] = measured = []
        for number, case in enumerate(rows):
            row = _in_own_process(title, number, seconds, repeats)
            measured.append(row)
            print(
                f"{case.label:18}{row['updates_per_second']:12,.0f}"
                f"{row['env_steps_per_second']:12,}{row['ms_per_update']:12.3f}"
                f"{row['compile_seconds']:12.1f}{row['peak_rss_mb']:12,.0f}{row['threads']:12}",
                flush=True,
            )
        _keep(path, results)
    for name, work in BESIDE.items():
        results[name] = _in_own_process(work.title, 0, seconds, repeats)
        turns.printed(results[name], work)
    results["host"] = _bench_host(seconds, repeats)
    _keep(path, results)
    if path:
        print(f"written to {path}", file=sys.stderr)
    return 0


def _keep(path: Path | None, results: dict[str, Any]) -> None:
    """What was measured so far, where it is asked for."""
    if path:
        write_json(path, results)


def _in_own_process(title: str, number: int, seconds: float, repeats: int) -> Any:
    words = [title, str(number), str(seconds), str(repeats)]
    done = subprocess.run(
        [sys.executable, "-m", "apart.running.bench", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise UserError(f"{title}: {last_words(done.stderr) or f'exit {done.returncode}'}")
    return json.loads(done.stdout.strip().split("\n")[-1])


def _main(title: str, number: str, seconds: str, repeats: str) -> None:
    for work in BESIDE.values():
        if title == work.title:
            threads.use(1)
            print(json.dumps(turns.beside(float(seconds), int(repeats), work=work)))
            return
    if title == HOST_TITLE:
        threads.use(1)
        print(json.dumps(host_steps(float(seconds), int(repeats))))
        return
    case = cases()[title][int(number)]
    threads.use(threads.best(resolve(case.world, case.method, case.options)[0]))
    print(json.dumps(measure(case, float(seconds), int(repeats))))


if __name__ == "__main__":
    _main(*sys.argv[1:])
