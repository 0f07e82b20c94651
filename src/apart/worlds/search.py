"""Any deterministic environment -> a `TableWorld`, by breadth-first search over its states.

A state is copied, every action is tried on copies, and states are told apart by their keys
(`snapshots`). An environment that has its transitions written down (``P``, as Gymnasium's toy
worlds) is read instead, and may then be stochastic. What was found is played against the
environment before anybody trusts it.

States in which an episode ends absorb: every action stays. Counters of steps are no part of the
state, so that a limit on the length of an episode is none of the world's business.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from apart._errors import UserError
from apart.worlds import places, snapshots, tables
from apart.worlds.guards import Line, of_reset, of_step, saying, undisturbed
from apart.worlds.registered import check_environment, limit_of
from apart.worlds.world import TableWorld

MAX_STATES: Final = 20_000
MAX_SECONDS: Final = 300.0
_PLAYS, _STEPS = 8, 64  # episodes that are compared with the table, and their length
_TRIALS: Final = 256  # single steps that are, of a world with a model
_PROBES, _PROBED = 4, 24  # episodes that show which numbers count steps
_RESEEDS: Final = 6  # tries of a step that draws random numbers
Cell = tuple[int, int]
Locate = Callable[[Any], Cell | None]


class _State(NamedTuple):
    """A state that was found. ``held`` is what goes on from there: a copy, or a number."""

    key: Hashable
    ended: bool
    held: Any
    cell: Cell | None


class _Table(NamedTuple):
    """What a search finds, states in the order of their distance."""

    number: dict[tuple[Hashable, bool], int]
    successors: list[list[dict[int, float]]]
    cells: list[Cell | None]


class _Differs(Exception):
    """The environment does not do what the table says."""


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
        found = _searched(env, name, actions, locate, limits)
    rows = [[*row, {state: 1.0}] if stay else row for state, row in enumerate(found.successors)]
    moved, chance = tables.rows_of(rows)
    cells = [one for one in found.cells if one is not None]
    drawn = np.array(cells, np.int32) if len(cells) == len(found.cells) else None
    return tables.build(name, moved, chance, 0, drawn, horizon)


def _begins_anew(bare: Any) -> bool:
    """Whether copies are made from the arguments alone: what the environment did is not in them."""
    from gymnasium.utils import EzPickle

    restored = getattr(type(bare), "__setstate__", None)
    return isinstance(bare, EzPickle) and restored is EzPickle.__setstate__


def _searched(
    env: Any, name: str, actions: Sequence[int], locate: Locate, limits: _Limits
) -> _Table:
    """The table, played against the environment, which was just reset."""
    if _has_model(env.unwrapped, len(actions)):
        model = _Model(env.unwrapped, name, actions, locate)
        found = _breadth_first(model.state(int(env.unwrapped.s), False), model.after, limits)
        try:
            model.play(env, found)
        except _Differs as differs:
            raise UserError(f"{name}: does not follow its own table P ({differs})") from None
        return found
    if _begins_anew(env.unwrapped):
        raise UserError(f"{name}: cannot be copied: a copy of it begins anew (EzPickle)")
    with saying(name, "copy.deepcopy"):
        copied = snapshots.copier(env)
        first = copied(env)
    if first is env:
        raise UserError(f"{name}: cannot be copied: copy.deepcopy gives the environment itself")
    clocks = _clocks(first, copied, name, actions)
    for counted in (clocks, {}) if clocks else ({},):
        stepper = _Stepper(first, copied, counted, name, actions, locate)
        found = _breadth_first(stepper.state(copied(first), False), stepper.after, limits)
        try:
            stepper.play(env if counted is clocks else copied(first), found)
        except _Differs as differs:
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
    first: _State, after: Callable[[_State], list[list[tuple[_State, float]]]], limits: _Limits
) -> _Table:
    """All states that follow ``first``; ``after`` gives those of every action, by chance."""
    found = _Table({(first.key, first.ended): 0}, [], [first.cell])
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
                    queue.append((one, distance + 1))
                    limits.check(len(found.number), distance + 1)
                chances[number] = chances.get(number, 0.0) + chance
            row.append(chances)
        n_actions = len(row)
        found.successors.append(row)
    return found


class _Model:
    """States of a world that has its transitions written down.

    ``P[s][a]`` lists (probability, next state, reward, terminated); ``s`` is the state it is in.
    """

    def __init__(self, env: Any, name: str, actions: Sequence[int], locate: Locate) -> None:
        self.env, self.name, self.actions, self.locate = env, name, actions, locate

    def state(self, number: int, ended: bool) -> _State:
        """The state of that number."""
        before, self.env.s = self.env.s, number
        with saying(self.name, "cell"):
            cell = self.locate(self.env)
        self.env.s = before
        return _State(number, ended, number, cell)

    def after(self, state: _State) -> list[list[tuple[_State, float]]]:
        """For each action the states that may follow."""
        with saying(self.name, "its table P"):
            return [
                [
                    (self.state(int(number), bool(ended)), float(chance))
                    for chance, number, _, ended in self.env.P[state.held][action]
                    if chance > 0
                ]
                for action in self.actions
            ]

    def play(self, env: Any, found: _Table) -> None:
        """`_Differs` where the environment does otherwise: single steps in any state."""
        rng = np.random.default_rng(0)
        going = [(key, n) for (key, ended), n in found.number.items() if not ended]
        for trial in range(_TRIALS):
            number, state = going[int(rng.integers(len(going)))]
            with saying(self.name, "reset"):
                env.reset(seed=trial)  # what it draws there must not matter
            env.unwrapped.s = number
            _compare(env, self.name, self.actions, found, rng, self._number, state, 1)

    @staticmethod
    def _number(env: Any) -> int:
        return int(env.unwrapped.s)


class _Stepper:
    """States of an environment that can only be stepped: they are copies of it."""

    def __init__(
        self,
        first: Any,
        copied: Callable[[Any], Any],
        clocks: dict[snapshots.Path, Any],
        name: str,
        actions: Sequence[int],
        locate: Locate,
    ) -> None:
        self.first, self.copied, self.clocks = first, copied, clocks
        self.name, self.actions, self.locate = name, actions, locate
        self.generators = snapshots.generators_in(first)

    def state(self, env: Any, ended: bool) -> _State:
        """The state in which ``env`` is, with all counters of steps set back."""
        with saying(self.name, "reading its state"):
            for path, number in self.clocks.items():
                snapshots.put(env, path, number)
            return _State(snapshots.key_of(env), ended, env, self.locate(env.unwrapped))

    def after(self, state: _State) -> list[list[tuple[_State, float]]]:
        """For each action the one state that follows."""
        found: list[list[tuple[_State, float]]] = []
        trial = None
        for action in self.actions:
            if trial is None:
                trial = self.copied(state.held)
            one, drew = self._stepped(trial, action)
            if drew:
                self._check_chance(state, action, one)
            found.append([(one, 1.0)])
            # Where nothing happened, the next action needs no new copy.
            trial = trial if not drew and (one.key, one.ended) == (state.key, False) else None
        if snapshots.key_of(state.held) != state.key:
            raise UserError(
                f"{self.name}: cannot be copied: a step of the copy changes the original"
            )
        return found

    def _stepped(self, env: Any, action: int) -> tuple[_State, bool]:
        before = snapshots.drawn_from(self.generators)
        with saying(self.name, f"step({action})"):
            _, terminated, _ = of_step(self.name, env.step(action))
        return self.state(env, terminated), snapshots.drawn_from(self.generators) != before

    def _check_chance(self, state: _State, action: int, one: _State) -> None:
        """A step that draws random numbers must do the same whatever they are."""
        for seed in range(_RESEEDS):
            snapshots.reseed(self.generators, seed)
            other, _ = self._stepped(self.copied(state.held), action)
            if (other.key, other.ended) != (one.key, one.ended):
                raise UserError(
                    f"{self.name}: is stochastic: action {action} in one state leads to different "
                    "states; only worlds with a table P of their own may be"
                )

    def play(self, env: Any, found: _Table) -> None:
        """`_Differs` where the environment, which was just reset, does otherwise."""
        rng = np.random.default_rng(0)
        for play in range(_PLAYS):
            one = env if play == 0 else self.copied(self.first)
            _compare(one, self.name, self.actions, found, rng, self._key)

    def _key(self, env: Any) -> bytes:
        now = {path: snapshots.put(env, path, number) for path, number in self.clocks.items()}
        key = snapshots.key_of(env)
        for path, number in now.items():
            snapshots.put(env, path, number)
        return key


def _compare(
    env: Any,
    name: str,
    actions: Sequence[int],
    found: _Table,
    rng: np.random.Generator,
    key: Callable[[Any], Hashable],
    state: int = 0,
    steps: int = _STEPS,
) -> None:
    """Random actions; `_Differs` where the next state is not one that the table knows."""
    for step in range(1, steps + 1):
        chosen = int(rng.integers(len(actions)))
        with saying(name, f"step({actions[chosen]})"):
            _, terminated, truncated = of_step(name, env.step(actions[chosen]))
        number = found.number.get((key(env), terminated))
        if number not in found.successors[state][chosen]:
            raise _Differs(f"step {step} of an episode came elsewhere than in the search")
        state = number
        if terminated or truncated:
            return


def _clocks(
    first: Any, copied: Callable[[Any], Any], name: str, actions: Sequence[int]
) -> dict[snapshots.Path, Any]:
    """The numbers that change by the same amount in every step, whatever is done, as at the start.

    They count steps. If one of them decides what happens, the play against the table shows it, and
    the search is made again with all of them as a part of the state.
    """
    rng, start = np.random.default_rng(1), snapshots.numbers_in(first)
    by: dict[snapshots.Path, float] | None = None
    for _ in range(_PROBES):
        env, before = copied(first), start
        for _ in range(_PROBED):
            action = actions[int(rng.integers(len(actions)))]
            with saying(name, f"step({action})"):
                _, terminated, truncated = of_step(name, env.step(action))
            now = snapshots.numbers_in(env)
            moved = {path: now[path] - before[path] for path in now if path in before}
            if by is None:
                by = {path: change for path, change in moved.items() if change}
            by = {path: change for path, change in by.items() if moved.get(path) == change}
            before = now
            if terminated or truncated:
                break
    return {path: snapshots.get(first, path) for path in by or ()}


def _has_model(env: Any, n_actions: int) -> bool:
    """Whether its transitions are written down as in Gymnasium's toy worlds."""
    model, state = getattr(env, "P", None), getattr(env, "s", None)
    if not isinstance(model, dict) or not isinstance(state, int | np.integer):
        return False
    rows = model.get(int(state))
    return (
        isinstance(rows, dict)
        and len(rows) == n_actions
        and all(
            isinstance(after, list) and after and all(len(one) == 4 for one in after)
            for after in rows.values()
        )
    )


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
