"""Every method beside DIAYN: processor time of an update, by turns in one process.

On a busy machine that is what can be compared: whatever slows one method slows all of them. In a
table, where a method that needs a task has one on the same map, and with networks in a maze.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from apart._config import Config
from apart.facts import needs_task
from apart.methods import METHODS
from apart.settings import resolve
from apart.worlds import grid
from apart.worlds.world import World

WORLD: Final = "four_rooms"
BESIDE: Final = "diayn"
_CALIBRATED: Final = 0.05  # seconds from which a measurement says how long one update takes


def _world(method: str) -> str | World:
    """The map; with a task in a corner for methods that are about one."""
    if not needs_task(method):
        return WORLD
    known = grid.maps()[WORLD]
    first, rest = known.text.split("\n", 1)
    return grid.parse(f"{first[:-1]}9\n{rest}", f"{WORLD} with a task", horizon=known.horizon)


class Work(NamedTuple):
    """What takes turns."""

    title: str
    names: Callable[[], list[str]]
    asked: Callable[[str], tuple[str | World, dict[str, Any]]]  # world and options of a method


# Methods without settings of their own beyond tables: networks and batches as the others have them.
_MAZE: Final = "maze:bottleneck"
_LIKE_OTHERS: Final[dict[str, Any]] = {
    "network": "mlp",
    "observation": "rbf",
    "hold": 4,
    "batch": 256,
    "updates_per_episode": 4,
}


def _with_networks() -> list[str]:
    return [BESIDE, *(name for name, method in METHODS.items() if method.beyond)]


IN_TABLE: Final = Work(
    f"an update of each method, relative to {BESIDE} ({WORLD}, K = 100, by turns, one thread)",
    lambda: list(METHODS),
    lambda method: (_world(method), {}),
)
IN_MAZE: Final = Work(
    f"an update with networks, relative to {BESIDE} ({_MAZE}, K = 100, by turns, one thread)",
    _with_networks,
    lambda method: (_MAZE, {} if METHODS[method].beyond else _LIKE_OTHERS),
)


class _Turn:
    """A method that is trained for some rounds whenever it is its turn."""

    def __init__(self, work: Work, method: str, seconds: float) -> None:
        import jax.numpy as jnp

        from apart.training.program import program
        from apart.training.state import hyper_of

        self.config: Config
        world, options = work.asked(method)
        self.config, world = resolve(world, method, options)
        self._run, self._hyper = program(world, self.config), hyper_of(self.config)
        self._state = self._run.init(jnp.uint32(0), self._hyper)
        self._rounds = 1
        self.seconds()  # compiles
        for _ in range(2):  # the first rounds of some methods are slower than all others
            while (took := self.seconds() * self._rounds) < min(seconds, _CALIBRATED):
                self._rounds *= 4
            self._rounds = max(int(self._rounds * seconds / took), 1)

    def seconds(self) -> float:
        """Processor time of a round: an episode and its updates."""
        import jax.numpy as jnp

        began = time.process_time()
        self._state = self._run.chunk(self._state, self._hyper, jnp.int32(self._rounds))
        self._state.iteration.block_until_ready()
        return (time.process_time() - began) / self._rounds


def beside(
    seconds: float, repeats: int, names: Sequence[str] | None = None, work: Work = IN_TABLE
) -> list[dict[str, Any]]:
    """A row for each method of ``names`` (None: all of ``work``); the best of ``repeats`` turns.

    Of a method that makes no updates there is nothing to say but that.
    """
    names = work.names() if names is None else names
    turns = {name: _Turn(work, name, seconds) for name in dict.fromkeys([BESIDE, *names])}
    turns = {name: turn for name, turn in turns.items() if turn.config.updates_per_episode}
    best = dict.fromkeys(turns, math.inf)
    for _ in range(repeats):
        for name, turn in turns.items():
            each = turn.seconds() / turn.config.updates_per_episode
            best[name] = min(best[name], each)
    return [_row(name, best.get(name), best[BESIDE]) for name in names]


def _row(method: str, seconds: float | None, beside_it: float) -> dict[str, Any]:
    if seconds is None:
        return {"method": method, "updates_per_second": None, "over_diayn": None}
    return {
        "method": method,
        "updates_per_second": round(1.0 / seconds, 2),
        "over_diayn": round(seconds / beside_it, 3),
    }


def printed(rows: list[dict[str, Any]], work: Work = IN_TABLE) -> None:
    """The rows as a table."""
    print(f"\n{work.title}\n{'':18}{'updates/s':>12}{'over diayn':>12}")
    for row in rows:
        if row["over_diayn"] is None:
            print(f"{row['method']:18}{'-':>12}{'-':>12}  makes none")
        else:
            print(f"{row['method']:18}{row['updates_per_second']:12,.0f}{row['over_diayn']:12.2f}")
