"""Places and states as people write them -> numbers, with errors that say what there is."""

from __future__ import annotations

from typing import Any

import numpy as np

from apart._errors import UserError
from apart._types import BoolArray, IntArray
from apart.runs.skills import Place
from apart.worlds import observed, tables
from apart.worlds.world import HostWorld, JaxWorld, TableWorld, World, without_places


def labels(world: World, numbers: IntArray) -> list[Place]:
    """How skills.json writes places, as it is read back: pairs are tuples."""
    return [tuple(at) if isinstance(at, list) else at for at in world.places.label(numbers)]


def meant(world: World, place: Any, shown: Place) -> Place:
    """``place`` as labels write it: in a table a number names a state, whatever states are called.

    ``shown`` is a place as it was written: where nobody knows how many there are, it says how.

    Raises:
        UserError: there is no such place, or the world has none.
    """
    wanted: Place = _plain(place)
    if isinstance(world, TableWorld) and isinstance(wanted, int):
        return labels(world, np.array([state_of(world, wanted)], np.int32))[0]
    if world.places.counted and _listed(world) is None:
        if not _written_alike(wanted, shown):
            raise UserError(f"{world.name}: {_such_as(world, wanted, shown)}")
    else:
        numbers_at(world, wanted)
    return wanted


def is_at(label: Place, place: Place) -> bool:
    """Whether ``label`` is ``place``, or a state in that cell."""
    if isinstance(place, tuple) and isinstance(label, tuple):
        return label[: len(place)] == place
    return bool(label == place)


def numbers_at(world: World, place: Place) -> IntArray:
    """The numbers of the places that ``place`` means; `UserError` where there is none.

    For worlds whose places can be listed.
    """
    wanted = _plain(place)
    if not world.places.counted:
        raise UserError(f"{world.name}: {without_places(world)}, so no goal can be named")
    n = _listed(world)
    assert n is not None
    found = _those_at(world, n, wanted)
    if not found:
        raise UserError(f"{world.name}: {_missing(world, wanted)}")
    return np.array(found, np.int32)


def _those_at(world: World, n: int, wanted: Any) -> list[int]:
    """Which of the first ``n`` places are ``wanted``."""
    every = labels(world, np.arange(n, dtype=np.int32))
    return [number for number, label in enumerate(every) if is_at(label, wanted)]


def states_at(world: TableWorld, place: Place) -> BoolArray:
    """[S] the states of a place, several where they share a cell; a number names one state."""
    found: BoolArray = np.zeros(world.n_states, np.bool_)
    wanted = _plain(place)
    found[state_of(world, wanted) if isinstance(wanted, int) else numbers_at(world, wanted)] = True
    return found


def state_of(world: TableWorld, observation: Any) -> int:
    """The one state that a number, a place or what its environment shows there names."""
    wanted = _plain(observation)
    if isinstance(wanted, int):
        if not 0 <= wanted < world.n_states:
            raise UserError(f"{world.name}: state {wanted} is outside 0 to {world.n_states - 1}")
        return wanted
    written = isinstance(observation, tuple | list | str) or observation is None  # as a place
    seen, of_environment = world.observed, world.about.spec.get("kind") == tables.KIND
    if seen is not None and observed.key(observation) in seen.known:
        looks = not (written and _those_at(world, world.n_states, wanted))
    else:
        looks = of_environment and not (written or _those_at(world, world.n_states, wanted))
    if looks:
        return world.state_seen(observation)
    found = numbers_at(world, wanted)
    if len(found) > 1:
        first = labels(world, found[:1])[0]
        raise UserError(
            f"{world.name}: {len(found)} states share the cell {wanted}; name one, such as {first}"
        )
    return int(found[0])


def as_array(world: JaxWorld | HostWorld, observation: Any) -> Any:
    """``observation`` as an array of the world's shape and type; `UserError` otherwise."""
    try:
        seen = np.asarray(observation)
        shaped = seen.shape == world.obs.shape and seen.dtype.kind in "biuf"
    except ValueError:
        shaped = False
    if not shaped:
        raise UserError(f"{world.name}: an observation is an array of shape {world.obs.shape}")
    return seen.astype(world.obs.dtype)


def numbered(what: str, value: Any, n: int) -> int:
    """``value`` as the number of one of ``n``; `UserError` that says ``what`` it is otherwise."""
    number = _plain(value)
    if type(number) is not int or not 0 <= number < n:
        raise UserError(f"{what} {value!r}: there are {what}s 0 to {n - 1}")
    return number


def _listed(world: World) -> int | None:
    """How many numbers of places there are to go through; None where nobody knows."""
    return world.n_states if isinstance(world, TableWorld) else world.places.bound


def _plain(place: Any) -> Any:
    """Whole numbers and tuples of them, whatever library they come from."""
    if isinstance(place, str | bool) or place is None:
        return place
    try:
        array = np.asarray(place)
    except ValueError:
        return place
    if array.dtype.kind not in "iu" or array.ndim > 1:
        return place
    return int(array) if array.ndim == 0 else tuple(int(part) for part in array)


def _missing(world: World, place: Any) -> str:
    """Why no state is at ``place``: what the map has there, or how places are written."""
    rows = world.places.backdrop
    if isinstance(place, tuple) and len(place) == 2:
        row, column = place
        if 0 <= row < len(rows) and 0 <= column < len(rows[row]):
            why = "is a wall" if rows[row][column] == "#" else "cannot be reached from the start"
            return f"{world.places.noun} {place!r} {why}"
    return _such_as(world, place, labels(world, np.zeros(1, np.int32))[0])


def _such_as(world: World, place: Any, shown: Place) -> str:
    return f"no {world.places.noun} {place!r}; places are such as {shown}"


def _written_alike(place: Any, shown: Place) -> bool:
    """Whether ``place`` may be one of those that are written as ``shown``, or a cell of some."""
    if isinstance(place, tuple) and isinstance(shown, tuple):
        return 0 < len(place) <= len(shown)
    return type(place) is type(shown)
