"""Any deterministic environment -> a `TableWorld`, by breadth-first search over its states.

What follows a state is read or tried (`following`); states are told apart by their keys
(`snapshots`). An environment that has its transitions written down may be stochastic. What was
found is played against the environment before anybody trusts it.

States in which an episode ends absorb: every action stays. Counters of steps are no part of the
state, so that a limit on the length of an episode is none of the world's business.
"""

from __future__ import annotations

import dataclasses
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from apart._errors import UserError
from apart.worlds import places, snapshots, tables
from apart.worlds.following import (
    Cell,
    Differs,
    Locate,
    Model,
    State,
    Stepper,
    Table,
    clocks,
    has_model,
)
from apart.worlds.guards import Line, of_reset, saying, undisturbed
from apart.worlds.observed import Observed, bounded
from apart.worlds.registered import check_environment, limit_of
from apart.worlds.world import TableWorld

MAX_STATES: Final = 20_000
MAX_SECONDS: Final = 300.0


def table_of(
    env: Any,
    name: str | None = None,
    *,
    seed: int = 0,
    horizon: int | None = None,
    stay: bool = False,
    cell: Locate | None = None,
    max_states: int = MAX_STATES,
    max_seconds: float = MAX_SECONDS,
) -> TableWorld:
    """The table of a Gymnasium environment with discrete actions.

    Args:
        env: the environment; wrappers are part of it.
        name: for people; that of its id unless said.
        seed: of ``reset``: a layout that is drawn at random stays this one.
        horizon: the default length of an episode; unless said the environment's limit of steps, and
            where it has none twice the way to the farthest state.
        stay: give the agent one more action, which does nothing. A skill has one action for each
            state, whatever the time: without it, it cannot end where it cannot stay.
        cell: unwrapped environment -> row and column of the agent, for pictures; known for
            MiniGrid, for Gymnasium's toy worlds and for environments with a method ``cell``.
        max_states: the search gives up beyond so many.
        max_seconds: and after so long.

    Raises:
        UserError: actions are not discrete, the world is stochastic or too large, cannot be copied,
            or raises.
    """
    check_environment(env)
    id_ = getattr(getattr(env, "spec", None), "id", None)
    name = name or id_ or type(env.unwrapped).__name__
    horizon = horizon or limit_of(env)
    with undisturbed(), Line(name) as line:
        actions = _actions(env, name)
        locate = _located(cell)
        limits = _Limits(name, max_states, time.monotonic() + max_seconds, max_seconds, line)
        with saying(name, "reset"):
            seen, again = (of_reset(name, env.reset(seed=seed)) for _ in range(2))
            _ = env.unwrapped.np_random  # made at its first use, which must not be a step
        if snapshots.key_of(seen) != snapshots.key_of(again):
            raise UserError(f"{name}: reset(seed={seed}) does not give the same start twice")
        found = _searched(env, name, actions, locate, limits, again)
    rows = [[*row, {state: 1.0}] if stay else row for state, row in enumerate(found.successors)]
    moved, chance = tables.rows_of(rows)
    cells = [one for one in found.cells if one is not None]
    drawn = np.array(cells, np.int32) if len(cells) == len(found.cells) else None
    world = tables.build(name, moved, chance, 0, drawn, horizon)
    return dataclasses.replace(world, observed=_observed(found))


def _observed(found: Table) -> Observed | None:
    """What its states look like; None where that is not known."""
    looks = [one for one in found.looks if one is not None]
    if len(looks) < len(found.looks):
        return None
    keys, shown = [one.key for one in looks], [one.shown for one in looks]
    return Observed(keys, bounded(shown), frozenset(found.varies))


def _begins_anew(bare: Any) -> bool:
    """Whether copies are made from the arguments alone: what the environment did is not in them."""
    from gymnasium.utils import EzPickle

    restored = getattr(type(bare), "__setstate__", None)
    return isinstance(bare, EzPickle) and restored is EzPickle.__setstate__


def _searched(
    env: Any, name: str, actions: Sequence[int], locate: Locate, limits: _Limits, seen: Any
) -> Table:
    """The table, played against the environment, which was just reset and gave ``seen``."""
    if has_model(env.unwrapped, len(actions)):
        model = Model(env.unwrapped, name, actions, locate, seen)
        found = _breadth_first(model.state(int(env.unwrapped.s), False), model.after, limits)
        try:
            model.play(env, found)
        except Differs as differs:
            raise UserError(f"{name}: does not follow its own table P ({differs})") from None
        return found
    if _begins_anew(env.unwrapped):
        raise UserError(f"{name}: cannot be copied: a copy of it begins anew (EzPickle)")
    with saying(name, "copy.deepcopy"):
        copied = snapshots.copier(env)
        first = copied(env)
    if first is env:
        raise UserError(f"{name}: cannot be copied: copy.deepcopy gives the environment itself")
    counters = clocks(first, copied, name, actions)
    for counted in (counters, {}) if counters else ({},):
        stepper = Stepper(first, copied, counted, name, actions, locate)
        found = _breadth_first(stepper.state(copied(first), False, seen), stepper.after, limits)
        try:
            stepper.play(env if counted is counters else copied(first), found)
        except Differs as differs:
            last = differs
            continue
        return found
    raise UserError(
        f"{name}: is not deterministic, or hides a part of its state ({last}); a table needs a "
        "world that does the same again"
    )


class Unfinished(UserError):
    """A search met its bounds; ``far`` says how far it came, the message also how to go on."""

    def __init__(self, name: str, far: str, way: str) -> None:
        super().__init__(f"{name}: {far}; {way}")
        self.far = far


class _Limits(NamedTuple):
    """When a search gives up."""

    name: str
    states: int
    until: float
    seconds: float
    line: Line

    def check(self, n_states: int, distance: int) -> None:
        """`UserError` beyond them."""
        self.line.show(n_states, distance)
        if n_states > self.states:
            raise Unfinished(
                self.name,
                f"more than {self.states:,} states, the farthest {distance} steps away",
                f"raise the bound (max_states={10 * self.states}) or take a smaller world",
            )
        if time.monotonic() > self.until:
            raise Unfinished(
                self.name,
                f"{n_states:,} states after {self.seconds:g} seconds, more to come",
                f"raise the bound (max_seconds={10 * self.seconds:g}) or take a smaller world",
            )


def _breadth_first(
    first: State, after: Callable[[State], list[list[tuple[State, float]]]], limits: _Limits
) -> Table:
    """All states that follow ``first``; ``after`` gives those of every action, by chance."""
    found = Table({(first.key, first.ended): 0}, [], [first.cell], [first.look], set())
    queue, n_actions = deque([(first, 0)]), 0
    while queue:
        state, distance = queue.popleft()
        if state.ended:
            found.successors.append([{len(found.successors): 1.0}] * n_actions)
            continue
        row = []
        for outcomes in after(state):
            chances: dict[int, float] = {}
            for one, chance in outcomes:
                number = found.number.setdefault((one.key, one.ended), len(found.number))
                if number == len(found.cells):
                    found.cells.append(one.cell)
                    found.looks.append(one.look)
                    queue.append((one, distance + 1))
                    limits.check(len(found.number), distance + 1)
                if one.look is not None:
                    found.met(number, "" if one.varies else one.look.key)
                chances[number] = chances.get(number, 0.0) + chance
            row.append(chances)
        n_actions = len(row)
        found.successors.append(row)
    return found


def _actions(env: Any, name: str) -> list[int]:
    from gymnasium.spaces import Discrete

    space = env.action_space
    if not isinstance(space, Discrete):
        raise UserError(f"{name}: its actions are {space}; a table needs Discrete ones")
    return [int(space.start) + action for action in range(int(space.n))]


# Where the agent is: unwrapped environment -> row and column. The first that is there answers.
_CELLS: Final[dict[str, Locate]] = {
    "cell": lambda env: env.cell(),
    "agent_pos": lambda env: (env.agent_pos[1], env.agent_pos[0]),  # MiniGrid: x, y
    "ncol": lambda env: divmod(env.s, env.ncol),  # FrozenLake
    "start_state_index": lambda env: divmod(env.s, env.shape[1]),  # CliffWalking
    "decode": lambda env: tuple(env.decode(env.s))[:2],  # Taxi
}


def _located(cell: Locate | None) -> Locate:
    def locate(env: Any) -> Cell | None:
        known = cell or next((f for name, f in _CELLS.items() if hasattr(env, name)), None)
        at = None if known is None else known(env)
        return None if at is None else places.cell_in(at, f"cell() of {type(env).__name__}")

    return locate
