"""Runs that differ in their seed alone: their names, means and intervals on the explorer page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from apart.report import statistics
from apart.report.page_numbers import Json, short
from apart.runs.folder import Run

COUNTED: Final = ("n_effective", "n_available")
_MOST_NAMED: Final = 2  # options that tell groups apart; beyond, their folders do
_PARTS: Final = ("estimate", "low", "high")


def groups_of(runs: Sequence[Run], entries: Sequence[Json]) -> list[Json]:
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
                "found": [short(x) for x in counts],
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
    """Method and world of each group, and what else is needed to tell them apart."""
    firsts = [entries[group["runs"][0]] for group in groups]
    worlds_ = {first["summary"]["world"] for first in firsts}
    plain: list[str] = []
    for first in firsts:
        world = f" in {first['summary']['world']}" * (len(worlds_) > 1)
        plain.append(f"{first['method']}{world}")
    found = list(plain)
    for label in {label for label in plain if plain.count(label) > 1}:
        alike = [i for i, one in enumerate(plain) if one == label]
        options = [firsts[i]["config"] for i in alike]
        folders = [
            Path(firsts[i]["folder"]).parent
            if len(groups[i]["runs"]) > 1
            else Path(firsts[i]["folder"])
            for i in alike
        ]
        for i, words in zip(alike, _by_options(options) or _by_folder(folders), strict=True):
            found[i] = f"{label} ({words})"
    return found


def _by_options(options: Sequence[Mapping[str, Any]]) -> list[str] | None:
    """The few options in which runs differ; None where that does not tell each from the others."""
    names = [n for n in options[0] if n != "seed" and len({str(one.get(n)) for one in options}) > 1]
    if len(names) > _MOST_NAMED:
        return None
    found = [", ".join(f"{name} {one.get(name)}" for name in names) for one in options]
    return found if len({*found}) == len(found) else None


def _by_folder(folders: Sequence[Path]) -> list[str]:
    """Their paths without the parts that all share in front and behind, as far as one is left."""
    parts = [folder.parts for folder in folders]
    while len({*(p[0] for p in parts)}) == 1 and min(map(len, parts)) > 1:
        parts = [p[1:] for p in parts]
    while len({*(p[-1] for p in parts)}) == 1 and min(map(len, parts)) > 1:
        parts = [p[:-1] for p in parts]
    return ["/".join(p) for p in parts]


def _curves(metrics: Sequence[Mapping[str, Sequence[Any]]]) -> dict[str, Json]:
    """Mean and interval of every column over the seeds, where all have it."""
    at = [{step: i for i, step in enumerate(m.get("env_steps", ()))} for m in metrics]
    shared = [step for step in at[0] if all(step in one for one in at)]
    curves: dict[str, Json] = {}
    for name in metrics[0]:
        if name in ("env_steps", *COUNTED[1:]) or not all(name in m for m in metrics):
            continue
        values = [[m[name][i[step]] for m, i in zip(metrics, at, strict=True)] for step in shared]
        kept = [
            (s, statistics.mean(v)) for s, v in zip(shared, values, strict=True) if None not in v
        ]
        if kept:
            curves[name] = {
                "x": [step for step, _ in kept],
                **{part: [short(getattr(v, part)) for _, v in kept] for part in _PARTS},
            }
    return curves


def _mean_accuracy(details: Sequence[Sequence[Json]]) -> Json | None:
    """Of the last evaluation, by step of the episode."""
    last = [of_run[-1]["values"] for of_run in details if of_run]
    if not last or len({len(values) for values in last}) > 1:
        return None
    means = [statistics.mean(step) for step in zip(*last, strict=True)]
    found: Json = {part: [short(getattr(m, part)) for m in means] for part in _PARTS}
    return {"x": list(range(1, len(means) + 1)), **found}


def first_seeds_first(groups: Sequence[Sequence[int]]) -> Iterable[int]:
    """Numbers of runs: of each group one, then of each another."""
    for place in range(max(map(len, groups), default=0)):
        yield from (group[place] for group in groups if place < len(group))
