"""What the explorer page knows, as JSON: from run folders alone.

Arrays are compressed, so that eight runs fit in a page of 2 MB; what does not fit is left out, and
the page says so. Everything is numbers and text: the page decides how it looks.
"""

from __future__ import annotations

import base64
import json
import math
import shlex
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from apart._errors import UserError
from apart._version import __version__
from apart.report import statistics
from apart.runs import files, plan
from apart.runs import folder as run_folder
from apart.runs.folder import Run
from apart.runs.skills import Place
from apart.settings import words
from apart.worlds import grid
from apart.worlds.spread import steps_from
from apart.worlds.world import Plane, TableWorld, World

if TYPE_CHECKING:
    from apart.skills.policies import Policies

Json = dict[str, Any]
Reader = Callable[[Run], "Policies | None"]

_MOST_POINTS: Final = 100  # of a curve
_MOST_MOMENTS: Final = 60  # of the history
_MOST_LISTED: Final = 4096  # states of a table that are all listed; of larger ones those visited
_MOST_POLICIES: Final = 1_300_000  # characters of all policies together
_COUNTED: Final = ("n_effective", "n_available")


def page_data(runs: Sequence[Run], policies_of: Reader) -> Json:
    """Everything that the page of ``runs`` shows.

    Args:
        runs: of any worlds and methods; those that differ in their seed alone form a group.
        policies_of: reads the policies of a run, or gives None where there are none.
    """
    worlds_: list[Json] = []
    known: dict[str, int] = {}
    entries = []
    for run in runs:
        places = _Places(run)
        key = json.dumps(run.spec, sort_keys=True) if places.complete else str(len(worlds_))
        if key not in known:
            known[key] = len(worlds_)
            worlds_.append(places.entry())
        entries.append({"world": known[key], **_run(run, places)})
    groups = _groups(runs, entries)
    _add_policies(runs, entries, groups, policies_of)
    return {"version": __version__, "worlds": worlds_, "runs": entries, "groups": groups}


def packed(numbers: Any, kind: str) -> Json:
    """An array as the page reads it: little-endian, deflated, base64. ``kind`` is a NumPy dtype."""
    array = np.ascontiguousarray(numbers, np.dtype(kind).newbyteorder("<"))
    data = base64.b64encode(zlib.compress(array.tobytes(), 9)).decode()
    return {"kind": kind, "shape": list(array.shape), "data": data}


class _Places:
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
        self.complete = isinstance(table, TableWorld) and table.n_states <= _MOST_LISTED
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
            for moment in _thinned(self.run.history, _MOST_MOMENTS)
        ]

    def history(self) -> Json | None:
        """Where skills ended at some evaluations; None where that was not stored."""
        ends = self._moments()
        if not ends:
            return None
        moments = _thinned(self.run.history, _MOST_MOMENTS)
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
            "walls": [[c == "#" for c in row] for row in backdrop] if form == "map" else [],
            "x": packed(x, "float32"),
            "y": packed(y, "float32"),
            "size": size,
            "labels": [_named(place) for place in self.places],
            "note": self._note(),
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

    def _note(self) -> str:
        """What the page cannot show of this world."""
        if self.world is None:
            return f"The world cannot be built here ({self.why}): only stored places are shown."
        if isinstance(self.world, TableWorld):
            return (
                "" if self.complete else "A large table: only places that skills visit are shown."
            )
        lines = ["Its states are not listed: skills can be shown from the start only."]
        if len(self.world.obs.shape) == 3:
            lines.append(
                "It is seen in images, which a run folder does not keep: places are shown."
            )
        return " ".join(lines)


def _drawn(plane: Plane) -> Json:
    """Walls and solid blocks of a plane, y downwards from its upper edge, as rows of places."""
    low, high, bottom, top = plane.extent
    walls = [[x - low, top - y, x2 - low, top - y2] for (x, y), (x2, y2) in plane.walls.tolist()]
    solid = [[x - low, top - y - tall, w, tall] for x, y, w, tall in plane.solid.tolist()]
    return {"wide": high - low, "tall": top - bottom, "walls": walls, "solid": solid}


def _positions(run: Run, places: _Places) -> Json | None:
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


def _run(run: Run, places: _Places) -> Json:
    paths = [[places.number[p] for p in skill.trajectory] for skill in run.skills]
    s, stored = run.summary, files.read_sealed(run.path / run_folder.CONFIG)
    return {
        "folder": str(run.path),
        "method": str(s["method"]),
        "seed": int(s["seed"]),
        "skills": len(run.skills),
        "horizon": int(run.config["horizon"]),
        "found": run.n_effective if places.counted else None,
        "evidence": s.get("evidence"),  # 0.2 and before did not say
        "available": run.n_available,
        "walk": s["n_random_walk"],
        "summary": {
            **{n: v for n, v in s.items() if isinstance(v, int | float | str | None)},
            **{f"spread {n}": v for n, v in (run.spread or {}).items()},
        },
        "ideal_radius": (run.spread or {}).get("ideal_radius"),
        "paths": packed(paths, "uint32"),
        "positions": _positions(run, places),
        "hold": int(run.config.get("hold", 1)),
        "last": [places.number[skill.last_state] for skill in run.skills],
        "probability": [_short(skill.probability) for skill in run.skills],
        "certainty": [_short(skill.certainty) for skill in run.skills],
        "policy": None,
        "policy_note": "",
        "history": places.history(),
        "radius": _radius(run, places),
        "metrics": _metrics(run, places.counted),
        "accuracy": [
            {"steps": detail["env_steps"], "values": detail["accuracy_per_step"]}
            for detail in run.details
        ],
        "config": run.config,
        "versions": dict(stored.get("versions") or {}),
        **_command(run),
    }


def _metrics(run: Run, counted: bool) -> dict[str, list[float | None]]:
    """The columns of the metrics that are not empty, thinned; counts only where there are any."""
    rows = _thinned(run.metrics, _MOST_POINTS)
    columns = {name: [_short(row[name]) for row in rows] for name in (rows[0] if rows else ())}
    return {
        name: column
        for name, column in columns.items()
        if any(v is not None for v in column) and (counted or name not in _COUNTED)
    }


def _radius(run: Run, places: _Places) -> dict[str, list[int]] | None:
    """The covering radius at the moments of the history, in tables: steps to the nearest end."""
    if not places.complete or not run.history:
        return None
    assert isinstance(places.world, TableWorld)
    counted = places.world.distance <= int(run.config["horizon"])
    moments = _thinned(run.history, _MOST_MOMENTS)
    ends = [np.unique(np.asarray(moment["last_states"], np.int32)) for moment in moments]
    return {
        "env_steps": [moment["env_steps"] for moment in moments],
        "covering_radius": [int(steps_from(places.world, e)[counted].max()) for e in ends],
    }


def _command(run: Run) -> Json:
    """How to run it again, in a line; and what to know about that."""
    try:
        found = plan.read(run.path, None)
        said = words(found.config, found.world)
    except UserError as error:
        return {"command": "", "command_note": str(error)}
    if said is None:
        return {"command": "", "command_note": "Only Python can train this world or method again."}
    ships = found.world.name in grid.maps()
    note = (
        "" if ships else "The world is a map file or was made in Python; config.json has its map."
    )
    return {"command": shlex.join(["apart", *said]), "command_note": note}


def _groups(runs: Sequence[Run], entries: Sequence[Json]) -> list[Json]:
    """Runs that differ in their seed alone, with their mean curves."""
    members: dict[str, list[int]] = {}
    for i, run in enumerate(runs):
        options = {name: value for name, value in run.config.items() if name != "seed"}
        members.setdefault(json.dumps([run.spec, options], sort_keys=True), []).append(i)
    groups = []
    for of_group in members.values():
        first = entries[of_group[0]]
        found = [entries[i]["found"] for i in of_group]
        counts = (None,) * 3 if None in found else statistics.mean(found)
        groups.append(
            {
                "runs": of_group,
                "method": first["method"],
                "world": first["world"],
                "found": [_short(x) for x in counts],
                "most": _most(first),
                "walk": first["walk"],
                "ideal_radius": first["ideal_radius"],
                "curves": {
                    **_curves([entries[i]["metrics"] for i in of_group]),
                    **_curves([entries[i]["radius"] or {} for i in of_group]),
                },
                "accuracy": _mean_accuracy([entries[i]["accuracy"] for i in of_group]),
            }
        )
    for group, label in zip(groups, _labels(groups, entries), strict=True):
        group["label"] = label
    return groups


def _most(entry: Json) -> int | None:
    """How many skills could be found; None where nobody knows."""
    known: int | None = entry["available"]
    return None if known is None else min(known, int(entry["skills"]))


def _labels(groups: Sequence[Json], entries: Sequence[Json]) -> list[str]:
    """Method, world and folder of each group, as far as they are needed to tell them apart."""
    worlds_ = {entries[group["runs"][0]]["summary"]["world"] for group in groups}
    plain = []
    for group in groups:
        world = str(entries[group["runs"][0]]["summary"]["world"])
        plain.append(f"{group['method']} in {world}" if len(worlds_) > 1 else group["method"])
    found = []
    for group, label in zip(groups, plain, strict=True):
        folder = Path(entries[group["runs"][0]]["folder"])
        name = folder.parent.name if len(group["runs"]) > 1 else folder.name
        found.append(f"{label} ({name})" if plain.count(label) > 1 else label)
    return found


def _curves(metrics: Sequence[Mapping[str, Sequence[Any]]]) -> dict[str, Json]:
    """Mean and interval of every column over the seeds, where all have it."""
    at = [{step: i for i, step in enumerate(m.get("env_steps", ()))} for m in metrics]
    shared = [step for step in at[0] if all(step in one for one in at)]
    curves: dict[str, Json] = {}
    for name in metrics[0]:
        if name in ("env_steps", *_COUNTED[1:]) or not all(name in m for m in metrics):
            continue
        values = [[m[name][i[step]] for m, i in zip(metrics, at, strict=True)] for step in shared]
        kept = [
            (s, statistics.mean(v)) for s, v in zip(shared, values, strict=True) if None not in v
        ]
        if kept:
            curves[name] = {
                "x": [step for step, _ in kept],
                **{part: [_short(getattr(v, part)) for _, v in kept] for part in _PARTS},
            }
    return curves


_PARTS: Final = ("estimate", "low", "high")


def _mean_accuracy(details: Sequence[Sequence[Json]]) -> Json | None:
    """Of the last evaluation, by step of the episode."""
    last = [of_run[-1]["values"] for of_run in details if of_run]
    if not last or len({len(values) for values in last}) > 1:
        return None
    means = [statistics.mean(step) for step in zip(*last, strict=True)]
    found: Json = {part: [_short(getattr(m, part)) for m in means] for part in _PARTS}
    return {"x": list(range(1, len(means) + 1)), **found}


def _add_policies(
    runs: Sequence[Run], entries: Sequence[Json], groups: Sequence[Json], policies_of: Reader
) -> None:
    """Policies take most of the room: of the first seeds first, until it is used up."""
    left = _MOST_POLICIES
    for i in _first_seeds_first([group["runs"] for group in groups]):
        if left <= 0:
            entries[i]["policy_note"] = _LEFT_OUT
            continue
        try:
            found = policies_of(runs[i])
        except UserError as error:
            entries[i]["policy_note"] = str(error)
            continue
        if found is None or len(found.action) > _MOST_LISTED:
            entries[i]["policy_note"] = (
                "Its states are not listed, so there is no table of actions."
            )
            continue
        policy = _policy(found)
        size = len(json.dumps(policy))
        if size > left:
            entries[i]["policy_note"] = _LEFT_OUT
        else:
            entries[i]["policy"] = policy
            left -= size


_LEFT_OUT: Final = (
    "Left out, so that the page stays small: write a page of this run alone to see what its "
    "policies do elsewhere."
)


def _first_seeds_first(groups: Sequence[Sequence[int]]) -> Iterable[int]:
    for place in range(max(map(len, groups), default=0)):
        yield from (group[place] for group in groups if place < len(group))


def _policy(found: Policies) -> Json:
    low, high = float(found.reward.min()), float(found.reward.max())
    scale = 255 / (high - low) if high > low else 0.0
    wide = "uint8" if found.action.shape[1] <= 256 else "uint16"
    return {
        "action": packed(found.action, "uint8" if found.action.max() < 256 else "uint16"),
        "posterior": packed(np.rint(255 * found.posterior), "uint8"),
        "reward": packed(np.rint((found.reward - low) * scale), "uint8"),
        "reward_range": [_short(low), _short(high)],
        "rival": packed(found.rival, wide),
    }


def _thinned(rows: Sequence[Any], most: int) -> list[Any]:
    """At most ``most`` of ``rows``, evenly, the first and the last among them."""
    if len(rows) <= most:
        return list(rows)
    return [rows[i] for i in np.unique(np.linspace(0, len(rows) - 1, most).astype(int))]


def _short(value: float | None) -> float | None:
    """Six digits; None for what is not finite."""
    if value is None or not math.isfinite(value):
        return None
    return value if isinstance(value, int) else float(f"{value:.6g}")


def _hashable(place: Any) -> Place:
    return tuple(place) if isinstance(place, list) else place


def _order(place: Place) -> tuple[Any, ...]:
    """Pairs before numbers before names, each in order."""
    if isinstance(place, tuple):
        return (0, *place)
    return (2, place) if isinstance(place, str) else (1, place)


def _named(place: Place) -> str:
    return ", ".join(map(str, place)) if isinstance(place, tuple) else str(place)
