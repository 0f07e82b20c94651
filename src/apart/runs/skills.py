"""The skills of a run: what is stored of each, and what they do when they are asked to act.

A stored skill is data. To act it needs the policy in the run's checkpoint, which whoever knows
learners opens (`Acting`); that happens when it is first asked for. No JAX here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple, Protocol, overload

import numpy as np

from apart._errors import UserError
from apart.worlds.world import World

_MAX_SEED: Final = 2**31 - 1
Place = Any  # (row, column) on a map; elsewhere what the world calls a place


@dataclass(frozen=True)
class Skill:
    """One discovered skill.

    Attributes:
        index: its number, 0 .. K - 1.
        trajectory: places of its greedy episode, start included; (row, column) on a map, with the
            number of the state behind where states share a cell.
        last_state: the place in which it ends; by chance, the most likely one.
        probability: q(z | s), the share that the discriminator gives this skill there. It says how
            well the skill can be told from others by that state, not how surely it ends there: that
            is ``certainty``, and `Reach.probability` for any goal.
        certainty: how surely it ends there; 1 without chance.
        ends: where chance has a part, its likeliest last states with their probabilities.
        positions: (x, y) at every step of its greedy episode, in worlds that have a plane.
        last_observation: what is observed in its last state, as JSON: a list of numbers; of a table
            that was made of an environment what that environment gives, by key where it is a
            dictionary. Of an array of more than 512 numbers shape and type, ``84 x 84 x 3 uint8``.
            None in maps, and in runs of versions that did not keep it.
    """

    index: int
    trajectory: list[Place] = field(repr=False)
    last_state: Place
    probability: float
    certainty: float = 1.0
    ends: list[tuple[Place, float]] = field(default_factory=list, repr=False)
    positions: list[tuple[float, float]] = field(default_factory=list, repr=False)
    last_observation: Any = field(default=None, repr=False)


class Reach(NamedTuple):
    """The skill for a place.

    Attributes:
        skill: its number.
        probability: of arrival: that it comes there within an episode. It has nothing to do with
            `Skill.probability`, which is the discriminator's.
    """

    skill: int
    probability: float


class Acting(Protocol):
    """The policies of a run in its world."""

    n_actions: int
    horizon: int  # T, the steps of an episode
    hold: int  # steps for which an action is held

    @property
    def world(self) -> World:
        """The world that they were found in."""

    def act(self, skill: int, observation: Any, t: int | None = None) -> Any:
        """One greedy action, after ``t`` steps of the skill."""

    def steps(self, skill: int) -> int:
        """How many steps it takes: T, or fewer where it is over before."""

    def rollout(self, skill: int, start: Any, seed: int | None) -> list[Place]:
        """The places of one episode, T + 1 of them."""

    def reach(self, place: Place, start: Any) -> Reach:
        """The skill that comes to ``place`` most surely."""


class Skills(Sequence[Skill]):
    """All K skills of a run: a sequence of `Skill`, and a library of policies.

    The policies are those that were evaluated at the end of training. They act from any state, not
    only along the stored trajectories.
    """

    def __init__(self, stored: Sequence[Skill], opened: Callable[[], Acting]) -> None:
        self._stored, self._opened = list(stored), opened

    @overload
    def __getitem__(self, index: int) -> Skill: ...
    @overload
    def __getitem__(self, index: slice) -> list[Skill]: ...
    def __getitem__(self, index: int | slice) -> Skill | list[Skill]:
        try:
            return self._stored[index]
        except IndexError:
            raise IndexError(f"skill {index}: there are skills 0 to {len(self) - 1}") from None

    def __len__(self) -> int:
        return len(self._stored)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Skills) and self._stored == other._stored

    __hash__ = None  # type: ignore[assignment]  # as of lists

    def __repr__(self) -> str:
        return f"<{len(self)} skills>"

    @cached_property
    def acting(self) -> Acting:
        """The policies, read from the newest checkpoint when first asked for."""
        return self._opened()

    def act(self, skill: int, observation: Any, t: int | None = None) -> Any:
        """The greedy action of ``skill``.

        Args:
            skill: its number, 0 .. K - 1.
            observation: in a table a state's number or its place, such as (row, column); elsewhere
                an array as the world gives it.
            t: steps that the skill has made, where it is a chain of several (`upside`): which of
                them decides depends on it. Unless given, the last of the chain, its own part.

        Raises:
            UserError: no such skill, an observation that this world cannot have, or no checkpoint.
        """
        return self.acting.act(skill, observation, t)

    def rollout(self, skill: int, start: Any = None, seed: int | None = None) -> list[Place]:
        """The trajectory of an episode of ``skill``: T + 1 places, as in ``Skill.trajectory``.

        Args:
            skill: its number.
            start: where to begin: in a table a state's number or its place, in a JAX world a state.
                Unless given, where evaluations begin.
            seed: of what is left to chance: the steps of a stochastic table, start and steps of
                other worlds.

        Raises:
            UserError: no such skill or start, or no checkpoint.
        """
        whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
        if seed is not None and not (whole and 0 <= seed <= _MAX_SEED):
            raise UserError(f"seed={seed!r}: give a whole number from 0 to {_MAX_SEED}, or None")
        return self.acting.rollout(skill, start, None if seed is None else int(seed))

    def reach(self, place: Place, start: Any = None) -> Reach:
        """The skill that comes to ``place`` most surely within an episode, and how surely.

        In a table the probability is exact, by its transitions; of equals the skill that also ends
        there is taken. In other worlds the skill is the first one that ends there (else: passes
        there earliest) in one episode of each, and the probability is its share of hits in 20
        episodes with seeds of their own. It is 0 where no skill comes there.

        Args:
            place: (row, column) on a map, or as ``Skill.last_state`` writes it.
            start: as in `rollout`.
        """
        return self.acting.reach(place, start)
