"""Where the places of a run are on the explorer page, and what they are called.

All states of a table; of other worlds, and of very large tables, the places that skills visited.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from apart._errors import UserError
from apart.report.page_numbers import Json, packed, thinned
from apart.runs.folder import Run
from apart.runs.skills import Place
from apart.worlds.world import Plane, TableWorld, World

MOST_MOMENTS: Final = 60  # of the history
_MOST_NAMES: Final = 100_000  # characters of the names of all states
MOST_LISTED: Final = 4096  # states of a table that are all listed; of larger ones those visited


class PagePlaces:
    """The places of a run: their numbers on the page, where they are drawn, what they are called.

    All states of a table; of other worlds, and of very large tables, those that skills visited.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        try:
            self.world: World | None = run.world
        except UserError as error:  # of a kind that nobody here can build
            self.world, self.why = None, str(error)
        table = self.world
        self.complete = isinstance(table, TableWorld) and table.n_states <= MOST_LISTED
        if self.complete:
            assert isinstance(table, TableWorld)
            places = [
                _hashable(p) for p in table.places.label(np.arange(table.n_states, dtype=np.int32))
            ]
        else:
            paths = (place for skill in run.skills for place in skill.trajectory)
            ends = (place for moment in self._moments() for place in moment)
            places = sorted({*paths, *ends, *(s.last_state for s in run.skills)}, key=_order)
        self.counted = self.world is None or self.world.places.counted
        self.places = places
        self.number = {place: i for i, place in enumerate(places)}

    def _moments(self) -> list[list[Place]]:
        """The last places of the history; none where the world cannot name them."""
        if self.world is None:
            return []
        label = self.world.places.label
        return [
            [_hashable(place) for place in label(np.asarray(moment["last_states"], np.int32))]
            for moment in thinned(self.run.history, MOST_MOMENTS)
        ]

    def history(self) -> Json | None:
        """Where skills ended at some evaluations; None where that was not stored."""
        ends = self._moments()
        if not ends:
            return None
        moments = thinned(self.run.history, MOST_MOMENTS)
        return {
            "steps": [moment["env_steps"] for moment in moments],
            "last": packed([[self.number[p] for p in row] for row in ends], "uint32"),
        }

    def entry(self) -> Json:
        """The world, as the page draws it."""
        backdrop = list(self.world.places.backdrop) if self.world else []
        form, x, y, size = _layout(self.places, backdrop)
        found: Json = {
            "name": str(self.run.summary["world"]),
            "noun": self.world.places.noun if self.world else "place",
            "form": form,
            "counted": self.counted,
            "walls": [[c == "#" for c in row] for row in backdrop] if form == "map" else [],
            "x": packed(x, "float32"),
            "y": packed(y, "float32"),
            "size": size,
            "labels": [_named(place) for place in self.places],
            "names": self._looks(),
            "note": self._note(),
            "axes": self._axes(),
        }
        plane = self.world.places.plane if self.world else None
        if plane is not None and form == "plane":
            found["plane"] = _drawn(plane)
        if self.complete and isinstance(self.world, TableWorld):
            table = self.world
            found |= {
                "start": table.start,
                "next": packed(table.next_state, "uint16"),
                "chance": None if table.deterministic else packed(table.probability, "float32"),
            }
        return found

    def _looks(self) -> list[str] | None:
        """What the states of a table look like, in words; None where that is not known, or long."""
        table = self.world
        if not self.complete or not isinstance(table, TableWorld) or table.observed is None:
            return None
        found = [table.observed.words(one) for one in table.observed.shown]
        return found if any(found) and sum(map(len, found)) <= _MOST_NAMES else None

    def _note(self) -> str:
        """What the page cannot show of this world."""
        if self.world is None:
            return f"The world cannot be built here ({self.why}): only stored places are shown."
        note = self.world.places.note
        about_map = [f"{note[0].upper()}{note[1:]}."] if note else []
        return " ".join([*self._not_shown(self.world), *about_map])

    def _not_shown(self, world: World) -> list[str]:
        if not isinstance(world, TableWorld):
            return [
                "Skills are shown from the start only: the states of this world cannot be listed."
            ]
        if not self.complete:
            return ["The table is large: only places that skills visit are shown."]
        return []

    def _axes(self) -> list[Json]:
        """What the numbers of places are, where places are bins of known quantities."""
        return [axis._asdict() for axis in self.world.places.axes] if self.world else []


def _drawn(plane: Plane) -> Json:
    """Walls and solid blocks of a plane, y downwards from its upper edge, as rows of places."""
    low, high, bottom, top = plane.extent
    walls = [[x - low, top - y, x2 - low, top - y2] for (x, y), (x2, y2) in plane.walls.tolist()]
    solid = [[x - low, top - y - tall, w, tall] for x, y, w, tall in plane.solid.tolist()]
    return {"wide": high - low, "tall": top - bottom, "walls": walls, "solid": solid}


def positions_of(run: Run, places: PagePlaces) -> Json | None:
    """[K, T + 1, 2] where skills are at every step, in the same terms; None without a plane."""
    plane = places.world.places.plane if places.world else None
    if plane is None or not all(skill.positions for skill in run.skills):
        return None
    low, _, _, top = plane.extent
    found = np.array([skill.positions for skill in run.skills], np.float64)
    return packed(np.stack([found[..., 0] - low, top - found[..., 1]], -1), "float32")


def _layout(
    places: Sequence[Place], backdrop: Sequence[str]
) -> tuple[str, list[float], list[float], float]:
    """Form, centres and side of the squares of places: a map, a plane, or squares in order.

    Places that share a cell (an agent may look in four directions) divide it among them.
    """
    pairs = all(isinstance(place, tuple) and len(place) >= 2 for place in places)
    if not pairs:
        across = math.ceil(math.sqrt(len(places)))
        x = [i % across + 0.5 for i in range(len(places))]
        y = [i // across + 0.5 for i in range(len(places))]
        return "list", x, y, 1.0
    here: dict[Any, list[int]] = {}
    for i, place in enumerate(places):
        here.setdefault(place[:2], []).append(i)
    side = math.ceil(math.sqrt(max(map(len, here.values()))))
    x, y = [0.0] * len(places), [0.0] * len(places)
    for (row, column), sharing in here.items():
        for slot, i in enumerate(sharing):
            x[i] = column + (slot % side + 0.5) / side
            y[i] = row + (slot // side + 0.5) / side
    return ("map" if backdrop else "plane"), x, y, 1.0 / side


def _hashable(place: Any) -> Place:
    return tuple(place) if isinstance(place, list) else place


def _order(place: Place) -> tuple[Any, ...]:
    """Pairs before numbers before names, each in order."""
    if isinstance(place, tuple):
        return (0, *place)
    return (2, place) if isinstance(place, str) else (1, place)


def _named(place: Place) -> str:
    return ", ".join(map(str, place)) if isinstance(place, tuple) else str(place)
