"""What follows a state of an environment, for the search: read from its own table, or tried.

An environment that has its transitions written down (``P``, as Gymnasium's toy worlds) is read
(`Model`); of every other the states are copies, on which each action is tried (`Stepper`). Both can
play what was found against the environment.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from apart._errors import UserError
from apart.worlds import observed, snapshots
from apart.worlds.guards import of_step, saying

_PLAYS, _STEPS = 8, 64  # episodes that are compared with the table, and their length
_TRIALS: Final = 256  # single steps that are, of a world with a model
_PROBES, _PROBED = 4, 24  # episodes that show which numbers count steps
_RESEEDS: Final = 6  # tries of a step that draws random numbers
Cell = tuple[int, int]
Locate = Callable[[Any], Cell | None]


class Look(NamedTuple):
    """An observation: what tells it from others, and what is kept of it."""

    key: str
    shown: Any


def look(observation: Any) -> Look:
    """At once: an environment may write its next observation into the same array."""
    return Look(observed.key(observation), observed.plain(observation))


class State(NamedTuple):
    """A state that was found. ``held`` is what goes on from there: a copy, or a number."""

    key: Hashable
    ended: bool
    held: Any
    cell: Cell | None
    look: Look | None  # None where that is not known
    varies: bool = False  # by chance it looks otherwise


class Table(NamedTuple):
    """What a search finds, states in the order of their distance."""

    number: dict[tuple[Hashable, bool], int]
    successors: list[list[dict[int, float]]]
    cells: list[Cell | None]
    looks: list[Look | None]
    varies: set[int]  # states that did not always look alike

    def met(self, number: int, key: str) -> None:
        """A state has been observed once more."""
        known = self.looks[number]
        if known is not None and known.key != key:
            self.varies.add(number)


class Differs(Exception):
    """The environment does not do what the table says."""


def has_model(env: Any, n_actions: int) -> bool:
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


class Model:
    """States of a world that has its transitions written down.

    ``P[s][a]`` lists (probability, next state, reward, terminated); ``s`` is the state it is in.
    """

    def __init__(
        self, env: Any, name: str, actions: Sequence[int], locate: Locate, seen: Any
    ) -> None:
        self.env, self.name, self.actions, self.locate = env, name, actions, locate
        self._numbers = observed.key(seen) == observed.key(env.s)  # are what is observed

    def state(self, number: int, ended: bool) -> State:
        """The state of that number."""
        before, self.env.s = self.env.s, number
        with saying(self.name, "cell"):
            cell = self.locate(self.env)
        self.env.s = before
        return State(number, ended, number, cell, look(number) if self._numbers else None)

    def after(self, state: State) -> list[list[tuple[State, float]]]:
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

    def play(self, env: Any, found: Table) -> None:
        """`Differs` where the environment does otherwise: single steps in any state."""
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


class Stepper:
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

    def state(self, env: Any, ended: bool, seen: Any) -> State:
        """The state in which ``env`` is, with all counters of steps set back."""
        with saying(self.name, "reading its state"):
            for path, number in self.clocks.items():
                snapshots.put(env, path, number)
            cell = self.locate(env.unwrapped)
            return State(snapshots.key_of(env), ended, env, cell, look(seen))

    def after(self, state: State) -> list[list[tuple[State, float]]]:
        """For each action the one state that follows."""
        found: list[list[tuple[State, float]]] = []
        trial = None
        for action in self.actions:
            if trial is None:
                trial = self.copied(state.held)
            one, drew = self._stepped(trial, action)
            if drew and self._differs(state, action, one):
                one = one._replace(varies=True)
            found.append([(one, 1.0)])
            # Where nothing happened, the next action needs no new copy.
            trial = trial if not drew and (one.key, one.ended) == (state.key, False) else None
        if snapshots.key_of(state.held) != state.key:
            raise UserError(
                f"{self.name}: cannot be copied: a step of the copy changes the original"
            )
        return found

    def _stepped(self, env: Any, action: int) -> tuple[State, bool]:
        before = snapshots.drawn_from(self.generators)
        with saying(self.name, f"step({action})"):
            seen, terminated, _ = of_step(self.name, env.step(action))
        return self.state(env, terminated, seen), snapshots.drawn_from(self.generators) != before

    def _differs(self, state: State, action: int, one: State) -> bool:
        """A step that draws random numbers must do the same whatever they are.

        What is observed after it may differ, and it is returned whether it does.
        """
        differs = False
        for seed in range(_RESEEDS):
            snapshots.reseed(self.generators, seed)
            other, _ = self._stepped(self.copied(state.held), action)
            if (other.key, other.ended) != (one.key, one.ended):
                raise UserError(
                    f"{self.name}: is stochastic: action {action} in one state leads to different "
                    "states; then a table needs the environment's own transition table P"
                )
            differs = differs or other.look != one.look
        return differs

    def play(self, env: Any, found: Table) -> None:
        """`Differs` where the environment, which was just reset, does otherwise."""
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
    found: Table,
    rng: np.random.Generator,
    key: Callable[[Any], Hashable],
    state: int = 0,
    steps: int = _STEPS,
) -> None:
    """Random actions; `Differs` where the next state is not one that the table knows."""
    for step in range(1, steps + 1):
        chosen = int(rng.integers(len(actions)))
        with saying(name, f"step({actions[chosen]})"):
            seen, terminated, truncated = of_step(name, env.step(actions[chosen]))
        number = found.number.get((key(env), terminated))
        if number not in found.successors[state][chosen]:
            raise Differs(f"step {step} of an episode led to another state than in the search")
        found.met(number, observed.key(seen))
        state = number
        if terminated or truncated:
            return


def clocks(
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
