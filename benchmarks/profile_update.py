"""Where a round of training spends its time: an episode and its updates, built up piece by piece.

    python benchmarks/profile_update.py        # writes results/update-profile.json

Four rooms, K = 100, one thread. Each row of a method is a compiled loop of its own with one piece
more than the row before; they take turns, and the best of each counts.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, Final

from apart.running import threads

threads.use(1)  # before JAX starts

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

from apart.settings import resolve  # noqa: E402
from apart.training.chunk import Parts  # noqa: E402
from apart.training.state import Hyper, TrainState, hyper_of  # noqa: E402

STORED = Path(__file__).parent.parent / "results" / "update-profile.json"
METHODS = ("apart", "ap_average", "diayn", "apart_plus")
PIECES: Final = {
    "an episode, kept": None,
    "a batch": "batch",
    "the discriminator": "discriminator",
    "rewards and Q": "all",
}
ROUNDS, SECONDS = 7, 0.5


class Cut(Parts):
    """The program with only the first pieces of an update."""

    last: str | None = None

    def update(self, state: TrainState, hyper: Hyper, key: Any) -> TrainState:
        if self.last is None:
            return state
        if self.last == "all":
            return super().update(state, hyper, key)
        batch = self.learner.draw(state, key)
        if self.last == "discriminator":
            rate = hyper.discriminator_learning_rate
            moved = self.learner.discriminator_step(state.discriminator, batch, hyper, rate)
            return state._replace(discriminator=moved)
        if batch is None:
            return state
        used = sum(field.sum() for field in batch)  # never below 0; the compiler does not know
        return state._replace(updates=state.updates + (used < 0))


class Loop:
    """A compiled loop of rounds."""

    def __init__(self, method: str, last: str | None) -> None:
        config, world = resolve("four_rooms", method, {})
        parts, hyper = Cut(world, config), hyper_of(config)
        parts.last = last

        def rounds(state: TrainState, n: Any) -> Any:
            return jax.lax.fori_loop(0, n, lambda _, s: parts.iterate(s, hyper), state)

        self.run = jax.jit(rounds, donate_argnums=0)
        self.state = jax.jit(parts.init)(jnp.uint32(0), hyper)
        self.n = 10
        self.seconds()
        while (took := self.seconds()) < 0.05:
            self.n *= 4
        self.n = max(int(self.n * SECONDS / took), 1)

    def seconds(self) -> float:
        began = time.perf_counter()
        self.state = self.run(self.state, jnp.int32(self.n))
        self.state.iteration.block_until_ready()
        return time.perf_counter() - began


def profile(method: str) -> dict[str, float]:
    """Microseconds of each piece, and of all."""
    loops = {name: Loop(method, last) for name, last in PIECES.items()}
    best = dict.fromkeys(loops, float("inf"))
    for _ in range(ROUNDS):
        for name, loop in loops.items():
            best[name] = min(best[name], 1e6 * loop.seconds() / loop.n)
    found, before = {}, 0.0
    for name, until in best.items():
        found[name] = round(max(until - before, 0.0), 1)
        before = until
    return {**found, "all": round(before, 1)}


def main() -> None:
    table = {method: profile(method) for method in METHODS}
    STORED.write_text(json.dumps(table, indent=1) + "\n")
    print(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()
