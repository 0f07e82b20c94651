"""Trains or resumes a twin in a process of its own, so that it can be killed: kind, folder."""

from __future__ import annotations

import sys
from pathlib import Path

import twins

import apart
from apart import worlds
from apart.running import clock
from apart.running import run as host
from apart.worlds.grid import parse

OPTIONS = {"steps": 900, "skills": 4, "horizon": 6, "batch": 16, "evaluate_every": 96}
OPTIONS |= {"buffer": 600, "method": "diayn", "network": "linear", "seed": 5}
TABLE = parse("S..\n.#.\n...", "ring")
KINDS = {
    "jax-grid": twins.jax_grid,
    "host-grid": twins.host_grid,
    "gym": lambda table: worlds.load("gym:hostile:Walk-v0:actions=box3,noise=0.2"),
    "maze": lambda table: "maze:u:start=random",
}
HELD = {
    "maze": {"hold": 3, "method": "apart_spread"},
    "host-grid": {"hold": 2, "method": "apart_spread", "discriminator": "bins"},
}


def main(kind, folder):
    twins.register()

    def tell(progress):
        print(progress.env_steps, flush=True)

    if (Path(folder) / "config.json").exists():
        apart.resume(folder, listener=tell, warn=print)
    else:
        options = {**OPTIONS, **HELD.get(kind, {})}
        apart.train(KINDS[kind](TABLE), out=folder, listener=tell, **options)


if __name__ == "__main__":
    # In this process alone: a state after every round.
    host._SLICE_SECONDS, clock.SAVE_SECONDS, clock.SAVE_SHARE = 0.0, 0.0, 1e9
    main(*sys.argv[1:])
