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

from apart.learner import replay  # noqa: E402
from apart.settings import resolve  # noqa: E402
from apart.training import objectives, tabular  # noqa: E402
from apart.training.learner import Learner  # noqa: E402
from apart.training.objectives.contract import Given  # noqa: E402
from apart.training.pieces import draw, pieces  # noqa: E402
from apart.training.rounds import initial, iterate_with  # noqa: E402
from apart.training.state import Hyper, Learnt, TrainState, hyper_of  # noqa: E402
from apart.worlds.observations import sight_of  # noqa: E402

STORED = Path(__file__).parent.parent / "results" / "update-profile.json"
METHODS = ("apart", "ap_average", "diayn", "apart_plus")
PIECES: Final = {
    "an episode, kept": None,
    "a batch": "batch",
    "the discriminator": "discriminator",
    "rewards and Q": "all",
}
ROUNDS, SECONDS = 7, 0.5


def cut(world: Any, config: Any, last: str | None) -> Learner:
    """The learner with only the first pieces of an update."""
    p = pieces(config, world.about.n_actions, sight_of(world, config.observation))
    next_state = jnp.asarray(world.next_state)
    slots = replay.slots_for(config.buffer, config.collection)
    ring = replay.packed(slots, config.episodes_per_update, next_state, config.horizon)
    given = Given(p, world.n_states, next_state=next_state, starts=(world.start,))
    fit = objectives.build(given._replace(listed=True)).fit

    def update(learnt: Learnt, hyper: Hyper, key: Any, rounds: Any) -> Learnt:
        if last is None or learnt.replay is None:
            return learnt
        drawn = draw(p, ring, learnt.replay, hyper, key, rounds)
        if last == "discriminator" and fit is not None:
            rate = hyper.discriminator_learning_rate
            return learnt._replace(discriminator=fit(learnt.discriminator, drawn, hyper, rate))
        used = sum(leaf.sum() for leaf in jax.tree.leaves(drawn))  # never below 0
        return learnt._replace(updates=learnt.updates + (used < 0))  # the compiler does not know

    instead = None if last == "all" else update
    return tabular.tabular(given, ring, instead)


class Loop:
    """A compiled loop of rounds."""

    def __init__(self, method: str, last: str | None) -> None:
        config, world = resolve("four_rooms", method, {})
        learner, hyper = cut(world, config, last), hyper_of(config)
        iterate = iterate_with(world, config, learner)

        def rounds(state: TrainState, n: Any) -> Any:
            return jax.lax.fori_loop(0, n, lambda _, s: iterate(s, hyper), state)

        self.run = jax.jit(rounds, donate_argnums=0)
        self.state = jax.jit(initial(learner))(jnp.uint32(0), hyper)
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
