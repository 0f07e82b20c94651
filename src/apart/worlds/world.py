"""The three kinds of world, as final records. Nothing here imports JAX.

- `TableWorld`: every state is known and has a number. What can be computed exactly, is.
- `JaxWorld`: functions that are compiled into the training loop.
- `HostWorld`: a Gymnasium vector environment that lives in Python.

An observation of a table is the state's number; elsewhere it is a pytree of arrays. Only collectors
and approximators look inside. An episode ends after T steps because the clock says so (the horizon)
or because the world says so (`terminated`): a table's terminal states absorb, so that an
episode that comes there stays there until T.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from apart._errors import UserError
from apart._types import Array, BoolArray, FloatArray, IntArray, Key
from apart.worlds import observed
from apart.worlds.observed import Observed

Spec: TypeAlias = Mapping[str, Any]  # JSON that a world can be built from again


class About(NamedTuple):
    """What every world says of itself.

    Attributes:
        name: for people and for the names of folders.
        spec: JSON that `worlds.from_spec` builds the same world from; it is stored with a run and
            is part of the run's identity. ``spec["kind"]`` says who builds it.
        horizon: the default number of steps of an episode, T.
        n_actions: A; actions are 0 .. A - 1.
        heads: M. An action is one such number, or M of them where M > 1; Q is then the mean of M
            values, one for each number (DecQN, Seyde et al. 2023). Tables have one.
    """

    name: str
    spec: Spec
    horizon: int
    n_actions: int
    heads: int = 1


def _as_it_is(places: IntArray) -> list[Any]:
    listed: list[Any] = places.tolist()
    return listed


def labels_in(table: IntArray, places: IntArray) -> list[Any]:
    """Of places [...] the rows of a table [P, D] of labels, as lists."""
    labels: list[Any] = table[places].tolist()
    return labels


class Plane(NamedTuple):
    """What positions (x, y) lie in: x to the right, y upwards.

    Attributes:
        extent: least and greatest x, least and greatest y.
        walls: [W, 2, 2] segments, each from (x, y) to (x, y).
        solid: [R, 4] rectangles (x, y, width, height) that nobody can be in.
    """

    extent: tuple[float, float, float, float]
    walls: FloatArray
    solid: FloatArray


class Axis(NamedTuple):
    """One of the quantities whose bins are places.

    Attributes:
        name: such as ``pole angle``.
        unit: of its values; empty where it has none.
        low: where bin 0 begins; above ``high`` where bins count downwards.
        high: where the last bin ends.
        bins: their number.
    """

    name: str
    unit: str
    low: float
    high: float
    bins: int


class Places(NamedTuple):
    """What the last states of skills are told apart by: cells of a map, bins of a plane, ...

    Attributes:
        n: how many there are; None where nobody knows.
        label: [...] numbers of places -> how ``skills.json`` writes them.
        backdrop: lines of a map that pictures draw behind trajectories; empty without one.
        noun: what people call one of them.
        plane: where positions lie, in worlds that have them.
        counted: whether last states are told apart at all; without, nothing is counted.
        most: a bound on their numbers, where it is not known how many of those there are.
        axes: where places are bins of known quantities: one for each number of a label.
        note: what a picture of the places leaves out; empty if nothing.
    """

    n: int | None
    label: Callable[[IntArray], list[Any]] = _as_it_is
    backdrop: tuple[str, ...] = ()
    noun: str = "cell"
    plane: Plane | None = None
    counted: bool = True
    most: int | None = None
    axes: tuple[Axis, ...] = ()
    note: str = ""

    @property
    def bound(self) -> int | None:
        """Their numbers are below this; None where nobody knows."""
        return self.most if self.n is None else self.n


USUAL_HORIZON = 200  # most steps of an episode, unless the user says otherwise: T is in every cost
FEW_SKILLS = 20  # where the number of places is unknown, or an episode is expensive


class Usual(NamedTuple):
    """Options that suit a world whose states cannot be listed, unless the user says otherwise.

    Attributes:
        skills: K.
        steps: environment steps, at least.
        episodes_per_update: episodes that are made side by side.
    """

    skills: int
    steps: int
    episodes_per_update: int


class _World:
    """What the three records have in common."""

    about: About
    places: Places

    @property
    def name(self) -> str:
        """For people."""
        return self.about.name

    def __repr__(self) -> str:
        known = "" if self.places.n is None else f", {self.places.n} places"
        return f"<{type(self).__name__} {self.name}: {self.about.n_actions} actions{known}>"

    def skills_for(self, most: int) -> int:
        """A number of skills that suits it: one for each place, at most ``most``."""
        return max(2, min(self.places.n or FEW_SKILLS, most))


class _OfFunctions(_World):
    """Worlds that are functions: what is pickled is the spec, from which they are built again.

    A run folder keeps them in the same way. A copy is the world itself: nothing in it changes.
    """

    def __reduce__(self) -> tuple[Callable[[Spec, int], World], tuple[Spec, int]]:
        return _built, (self.about.spec, self.about.horizon)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


def _built(spec: Spec, horizon: int) -> World:
    from apart import worlds

    return worlds.from_spec(spec, horizon)


class Scaling(NamedTuple):
    """Networks see (it - offset) * scale, per number or one for all, at most ``far`` from 0."""

    offset: tuple[float, ...]
    scale: tuple[float, ...]
    far: float  # 3e38 where any number is seen as it is


class ObsSpec(NamedTuple):
    """One observation that is an array: a vector, or an image [H, W, C].

    Attributes:
        shape: of it.
        dtype: as it is kept.
        offset: what networks see is (it - offset) * scale, per number; empty: it as it is, bytes
            from 0 to 1.
        scale: per number, or one for all.
        position: it is (x, y) in a plane, each from -1 to 1 as networks see it.
    """

    shape: tuple[int, ...]
    dtype: str = "float32"
    offset: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()
    position: bool = False

    @property
    def scaling(self) -> Scaling:
        """How networks see it."""
        if self.scale:
            return Scaling(self.offset, self.scale, 10.0)
        return Scaling((0.0,), (1.0 / 255.0 if self.dtype == "uint8" else 1.0,), 3e38)


@dataclass(frozen=True, eq=False, repr=False)
class TableWorld(_World):
    """A finite world whose transitions are known.

    Attributes:
        about: name, spec, horizon, number of actions.
        places: a place a state, in the same order.
        next_state: [S, A, N] the N states that may follow each action; N = 1 is deterministic.
        probability: [S, A, N] of each of them; sums to 1 over N.
        start: the state in which every episode starts; the first where there are several.
        distance: [S] least number of steps from a start.
        cells: [S, 2] row and column of each state on the map; empty for worlds without one. States
            may share a cell: an agent may look in four directions there.
        starts: all states in which an episode may start, each as likely, where there are several;
            else empty.
        task: [S] points that a step into a state earns, for methods that solve a task in several
            ways; None without a task.
        observed: what each state looks like in the environment that the table was made of; None of
            maps. It is no part of the spec: run folders keep it beside that.
    """

    about: About
    places: Places
    next_state: IntArray
    probability: FloatArray
    start: int
    distance: IntArray
    cells: IntArray
    starts: tuple[int, ...] = ()
    task: FloatArray | None = None
    observed: Observed | None = None

    @property
    def n_states(self) -> int:
        """S."""
        return len(self.next_state)

    @property
    def deterministic(self) -> bool:
        """Whether every action has exactly one successor."""
        return int(self.next_state.shape[2]) == 1

    def cell(self, state: int) -> tuple[int, int]:
        """Row and column of a state on the map.

        Raises:
            UserError: there is no map, or no such state.
        """
        self._check_state(state)
        if not len(self.cells):
            raise UserError(f"{self.name}: has no map, so no cells; label({state}) names the state")
        row, column = self.cells[state]
        return int(row), int(column)

    def label(self, state: int | tuple[int, ...]) -> str:
        """The name of a state for people, and what is observed there, where that is known.

        Args:
            state: its number, or its place as ``Skill.last_state`` writes it.

        Raises:
            UserError: there is no such state.

        >>> from apart.worlds.grid import parse
        >>> parse("S..").label(2)
        'cell (0, 2)'
        """
        if isinstance(state, tuple | list):
            every = self.places.label(np.arange(self.n_states, dtype=np.int32))
            if list(state) not in every:
                raise UserError(f"{self.name}: no {self.places.noun} {state}")
            state = every.index(list(state))
        self._check_state(state)
        place = self.places.label(np.array([state], np.int32))[0]
        where = tuple(place) if isinstance(place, list) else place
        seen = "" if self.observed is None else self.observed.words(self.observed.shown[state])
        return f"{self.places.noun} {where}{': ' * bool(seen)}{seen}"

    def _check_state(self, state: int) -> None:
        if isinstance(state, bool) or not isinstance(state, int | np.integer):
            raise UserError(f"{self.name}: {state!r} is not the number of a state, nor its place")
        if not 0 <= state < self.n_states:
            raise UserError(f"{self.name}: state {state} is outside 0 to {self.n_states - 1}")

    def state(self, cell: tuple[int, int]) -> int:
        """The first state of a cell (row, column); `KeyError` where the agent cannot be."""
        found = np.flatnonzero((self.cells == np.asarray(cell)).all(axis=1))
        if not len(found):
            raise KeyError(cell)
        return int(found[0])

    def state_seen(self, observation: Any) -> int:
        """The number of the state that looks like ``observation`` in the table's environment.

        Raises:
            UserError: none does, or `check_seen`.
        """
        number = self._by_look.get(observed.key(observation))
        if number is None:
            shown = observed.words(observed.plain(observation))
            raise UserError(
                f"{self.name}: no state looks like the observation {shown}; it is of another "
                "environment, or of a start that reset drew by another seed than that of the table"
            )
        return number

    def check_seen(self) -> None:
        """`UserError` where observations do not tell states apart, or are not known."""
        _ = self._by_look

    @cached_property
    def _by_look(self) -> dict[str, int]:
        """The state of each observation, by its key.

        States in which every action stays, such as ends of episodes, may look like others: what is
        done there does not matter.
        """
        known, numbers = self.observed, np.arange(self.n_states)
        if known is None:
            raise UserError(
                f"{self.name}: what its states look like was not kept, so they have no names and "
                "no observation leads to one; give the number of a state, or observe="
            )
        moves = (self.next_state != numbers[:, None, None]).any((1, 2))
        acting, resting = numbers[moves].tolist(), numbers[~moves].tolist()
        twice = observed.alike(known, acting)
        several = twice or sorted(known.varies.intersection(acting))
        if several:
            other = next((s for s in twice[1:] if known.keys[s] == known.keys[twice[0]]), None)
            why = (
                "do not always look alike (noise, or a counter of steps)"
                if other is None
                else "look like another"
            )
            such = several[0] if other is None else f"{several[0]} and {other}"
            raise UserError(
                f"{self.name}: the observation does not tell the state: {len(several)} of "
                f"{self.n_states} states {why}, such as {such}; give observe=, which makes a "
                "state's number of an observation"
            )
        return {known.keys[state]: state for state in (*resting, *acting)}

    @property
    def one_state_a_cell(self) -> bool:
        """Whether the cell says which state it is."""
        return len(self.cells) > 0 and len(np.unique(self.cells, axis=0)) == self.n_states

    @property
    def walled_off(self) -> int:
        """Free cells of the map that cannot be reached from a start."""
        free = sum(char != "#" for row in self.places.backdrop for char in row)
        return max(free - self.n_states, 0)

    def last_states(self, horizon: int) -> BoolArray:
        """[S] whether an episode of exactly ``horizon`` steps can end there, from some start."""
        likely, starts = self.probability > 0, list(self.starts or (self.start,))
        waits = (likely & (self.next_state == np.arange(self.n_states)[:, None, None])).any((1, 2))
        if waits[starts].all():  # it can wait there
            return np.asarray(self.distance <= horizon)
        there: BoolArray = np.isin(np.arange(self.n_states), starts)
        for _ in range(horizon):
            after = np.zeros_like(there)
            after[self.next_state[there][likely[there]]] = True
            there = after
        return there

    def n_available(self, horizon: int) -> int:
        """How many last states an episode of ``horizon`` steps can have."""
        return int(np.sum(self.last_states(horizon)))


@dataclass(frozen=True, eq=False, repr=False)
class JaxWorld(_OfFunctions):
    """A world of pure JAX functions of ONE state (a pytree); callers vmap.

    Attributes:
        about: name, spec, horizon, number of actions.
        places: what last states are told apart by.
        obs: shape and type of an observation.
        reset: key -> the state in which an episode starts.
        step: (key, state, action) -> the next state, and whether the episode ended there.
        observe: state -> observation.
        place: state -> [] int32 the number of its place.
        position: state -> [2] where it lies on ``places.plane``, where there is one.
        cells: its places as the states of a table, a step leading to a neighbour, where that is
            known: how well skills spread is measured on it, and nothing else.
        render: state -> [H, W, 3] bytes, a picture of it; not compiled. None: it has none.
    """

    about: About
    places: Places
    obs: ObsSpec
    reset: Callable[[Key], Any]
    step: Callable[[Key, Any, Array], tuple[Any, Array]]
    observe: Callable[[Any], Array]
    place: Callable[[Any], Array]
    position: Callable[[Any], Array] | None = None
    cells: TableWorld | None = None
    render: Callable[[Any], Any] | None = None

    @property
    def usual(self) -> Usual:
        """Steps are compiled and cheap."""
        return Usual(self.skills_for(100), 1_000_000, 1)


@dataclass(frozen=True, eq=False, repr=False)
class HostWorld(_OfFunctions):
    """A world outside JAX, stepped as a Gymnasium vector environment.

    Attributes:
        about: name, spec, horizon, number of actions.
        places: what last states are told apart by.
        obs: shape and type of one observation.
        make: n -> a `gymnasium.vector.VectorEnv` of n environments with Discrete actions (or, with
            several heads, MultiDiscrete ones).
        place: (observations [n, ...], infos) -> [n] the numbers of their places.
        timeout: seconds after which an environment that does not come back is given up.
        filmed: as ``make``, environments that render (``rgb_array``); None: those of ``make`` may.
        lives: mean steps of random play before the environment itself ends an episode; None: it was
            not seen to do so.
        whole: all numbers of observations are whole, as in grids.
    """

    about: About
    places: Places
    obs: ObsSpec
    make: Callable[[int], Any]
    place: Callable[[Any, Mapping[str, Any]], IntArray]
    timeout: float = 60.0
    filmed: Callable[[int], Any] | None = None
    lives: int | None = None
    whole: bool = False

    @property
    def usual(self) -> Usual:
        """Steps are made in Python; environments side by side share the network's work."""
        return Usual(self.skills_for(FEW_SKILLS), 200_000, 8)


World: TypeAlias = TableWorld | JaxWorld | HostWorld


def without_places(world: World) -> str:
    """What is said of a world that does not tell last states apart, and how to mend it."""
    hint = " (add places=module:function to its id)" * ("id" in world.about.spec)
    return f"the world has no places{hint}"


def walled_off(world: TableWorld) -> str:
    """`` (3 more are walled off)``, where there are such cells."""
    n = world.walled_off
    return f" ({n} more {'is' if n == 1 else 'are'} walled off)" * (n > 0)


def possible_successors(world: TableWorld) -> IntArray:
    """[S, A, N] in which one that has no probability is the first that has some."""
    can, following = world.probability > 0, world.next_state
    if can.all():
        return following
    first = np.take_along_axis(following, can.argmax(axis=2)[:, :, None], axis=2)
    return np.where(can, following, first)


def evidence(world: World, by_luck: bool = False) -> str:
    """What ``n_effective`` is there: how the last places of skills are known.

    Skills that act ``by_luck`` are counted by one episode of each in a world without chance.
    """
    if not world.places.counted:
        return f"not at all, as {without_places(world)}"
    if not isinstance(world, TableWorld) or (by_luck and world.deterministic):
        return "sampled, one episode of each skill"
    return "exact" if world.deterministic else "exact expectation"


def n_available(world: World, horizon: int) -> int | None:
    """How many places an episode can end in: exact for a table, else their number, if known."""
    return world.n_available(horizon) if isinstance(world, TableWorld) else world.places.n
