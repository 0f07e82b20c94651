"""All methods side by side."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from statistics import fmean

from apart import worlds
from apart.comparison import results as comparison
from apart.comparison import show
from apart.comparison.rows import ALONE
from apart.methods import METHODS
from apart.worlds.spread import ideal_radius
from apart.worlds.world import TableWorld
from tabled.base import ROOT, markdown, numbers, table


def between(numbers: Collection[int]) -> str:
    """``1 to 4``, or the number that all are."""
    return " to ".join(map(str, dict.fromkeys([min(numbers), max(numbers)])))


def naming(rows: Iterable[comparison.Result]) -> Callable[[str], str]:
    """How a table writes a method: with the marks of ``rows``."""
    marks = show.label_marks(rows)
    return lambda label: f"`{label}`{marks[label]}"


def with_notes(table: str, rows: Iterable[comparison.Result]) -> str:
    """``table`` and, below it, what its marks mean and which of ``rows`` it does not rank."""
    return "\n".join([table, "", *(f"- {note}" for note in show.notes(rows))])


def distinct(one: comparison.Result, other: comparison.Result) -> str:
    """``14.4 ± 0.8 / 20.1 ± 1.1``: distinct last states of two rows."""
    return " / ".join(comparison.words("distinct", row.cells["distinct"]) for row in (one, other))


@table
def compare() -> str:
    """Methods side by side."""
    found = comparison.read(ROOT / "results" / "compare.json")
    tables = with_notes(show.markdown(found), found)
    return f"Measured on: {comparison.machines(found)}.\n\n{tables}"


@table
def compare_task() -> str:
    """Methods that solve a task beside some that do not, on a map that has one."""
    return show.markdown(comparison.read(ROOT / "results" / "compare-task.json"))


@table
def compare_few() -> str:
    """How ten skills of each method spread: the covering radius, the best of all worlds first."""
    measured = comparison.read(ROOT / "results" / "compare-few.json")
    found = show.ranked(measured)
    loaded = {row.world: worlds.load(row.world) for row in found}
    ideal = {
        row.world: ideal_radius(world, row.horizon, row.skills)
        for row in found
        if isinstance(world := loaded[row.world], TableWorld)
    }
    scores: dict[str, list[float]] = {}
    cells: dict[str, dict[str, str]] = {}
    ends: dict[str, list[float]] = {}
    seeds: dict[str, set[int]] = {}
    for row in found:
        radius = row.cells["covering_radius"].values
        low, high = min(radius), max(radius)
        among = "" if low == high else f" ({low:g} to {high:g})"
        cells.setdefault(row.label, {})[row.world] = f"{fmean(radius):.1f}{among}"
        scores.setdefault(row.label, []).append(ideal[row.world] / fmean(radius))
        ends.setdefault(row.label, []).append(fmean(row.cells["distinct"].values))
        seeds.setdefault(row.label, set()).add(len(radius))
    named = naming(found)
    rows = []
    for label in sorted(cells, key=lambda label: -fmean(scores[label])):
        many = between(seeds[label])
        there = [cells[label].get(world, "-") for world in ideal]
        rows.append([named(label), *there, f"{fmean(ends[label]):.1f}", many])
    head = [f"{world} (greedy k-center: {n})" for world, n in ideal.items()]
    table = markdown(["method", *head, "distinct last states, mean", "seeds"], rows)
    return with_notes(table, measured)


@table
def compare_long() -> str:
    """Distinct last states after 1M steps, and after five times as many."""
    first = {row.what: row for row in comparison.read(ROOT / "results" / "compare.json")}
    found = comparison.read(ROOT / "results" / "compare-long.json")
    worlds = list(dict.fromkeys(row.world for row in found))
    rows: dict[str, dict[str, str]] = {}
    seeds: dict[str, set[int]] = {}
    for row in found:
        seeds.setdefault(row.label, set()).add(len(row.seeds))
        shorter = first[row.world, row.label, 1_000_000, row.skills]
        rows.setdefault(row.label, {})[row.world] = distinct(shorter, row)
    head = (f"{world}, 1M / {found[0].steps / 1e6:g}M steps" for world in worlds)
    named = naming(found)
    table = markdown(
        ["", *head, "seeds of 5M"],
        [
            [named(m), *(rows[m].get(world, "-") for world in worlds), between(seeds[m])]
            for m in METHODS
            if m in rows
        ],
    )
    return with_notes(table, found)


@table
def compare_sharing() -> str:
    """Distinct last states where a transition teaches its own skill, and where it teaches all."""
    usual = {row.what: row for row in comparison.read(ROOT / "results" / "compare.json")}
    found = comparison.read(ROOT / "results" / "compare-sharing.json")
    worlds = list(dict.fromkeys(what[0] for what in usual))
    rows: dict[str, dict[str, str]] = {}
    seeds: dict[str, set[int]] = {}
    for row in found:
        as_is = usual[row.world, row.method, row.steps, row.skills]
        both = (row, as_is) if row.label.endswith(ALONE) else (as_is, row)
        rows.setdefault(row.method, {})[row.world] = distinct(*both)
        seeds.setdefault(row.method, set()).add(len(row.seeds))
    in_order = [label for label in METHODS if label in rows]
    named = naming(usual.values())
    table = markdown(
        ["", *(f"{world}, own / all" for world in worlds), "seeds"],
        [
            [named(m), *(rows[m].get(world, "-") for world in worlds), between(seeds[m])]
            for m in in_order
        ],
    )
    return with_notes(table, found)


def mean(study: str, label: str, world: str, metric: str = "distinct") -> float:
    """Of a row in a stored comparison, over its seeds."""
    rows = comparison.read(ROOT / "results" / f"{study}.json")
    (row,) = (row for row in rows if (row.label, row.world) == (label, world))
    return fmean(row.cells[metric].values)


@numbers
def compare_sharing_is_longer() -> list[str]:
    """Distinct last states in four rooms: `apart` with sharing after 1M steps, without after 5M."""
    rows = (("compare-sharing", "apart + sharing"), ("compare-long", "apart"))
    return [f"{mean(study, label, 'four_rooms'):.1f}" for study, label in rows]


@numbers
def compare_sharing_gains() -> list[str]:
    """How many times as many distinct last states sharing gives, least and most of the worlds."""
    found = []
    for method in ("disdain", "count_bonus", "discern"):
        gains = []
        for row in comparison.read(ROOT / "results" / "compare-sharing.json"):
            if row.method == method:
                gain = fmean(row.cells["distinct"].values) / mean("compare", method, row.world)
                gains.append(1 / gain if row.label.endswith(ALONE) else gain)
        found += [f"{min(gains):.1f}", f"{max(gains):.1f}"]
    return found


@numbers
def compare_few_near_start() -> list[str]:
    """The covering radius in four rooms of ten skills that stay near the start: least and most."""
    methods = ("apart", "apart_plus", "vic", "diayn")
    radii = [mean("compare-few", method, "four_rooms", "covering_radius") for method in methods]
    return [f"{min(radii):.0f}", f"{max(radii):.0f}"]


def _means_everywhere(label: str) -> dict[str, float]:
    worlds = ("four_rooms", "u_maze", "empty", "classic_rooms")
    return {world: mean("compare", label, world) for world in worlds}


@numbers
def count_bonus_beside_disdain() -> list[str]:
    """By how many distinct last states the two differ: in `empty`, and at most elsewhere."""
    counts, ensembles = _means_everywhere("count_bonus"), _means_everywhere("disdain")
    more = {world: counts[world] - ensembles[world] for world in counts}
    return [f"{more.pop('empty'):.1f}", f"{max(map(abs, more.values())):.1f}"]


@numbers
def eddict_last_states() -> list[str]:
    """The fewest and the most of the four worlds."""
    found = _means_everywhere("eddict").values()
    return [f"{min(found):.0f}", f"{max(found):.0f}"]
