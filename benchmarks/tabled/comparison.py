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
from tabled.base import ROOT, markdown, table


def between(numbers: Collection[int]) -> str:
    """``1 to 4``, or the number that all are."""
    return " to ".join(map(str, dict.fromkeys([min(numbers), max(numbers)])))


def naming(rows: Iterable[comparison.Result]) -> Callable[[str], str]:
    """How a table writes a method: marked where one of ``rows`` says that it plans."""
    planned = {row.label for row in rows if row.plans}
    return lambda label: f"`{label}`" + show.PLANS * (label in planned)


def distinct(one: comparison.Result, other: comparison.Result) -> str:
    """``14.4 ± 0.8 / 20.1 ± 1.1``: distinct last states of two rows."""
    return " / ".join(comparison.words("distinct", row.cells["distinct"]) for row in (one, other))


@table
def compare() -> str:
    """Methods side by side."""
    found = comparison.read(ROOT / "results" / "compare.json")
    return f"Measured on: {comparison.machines(found)}.\n\n{show.markdown(found)}"


@table
def compare_task() -> str:
    """Methods that solve a task beside some that do not, on a map that has one."""
    return show.markdown(comparison.read(ROOT / "results" / "compare-task.json"))


@table
def compare_few() -> str:
    """How ten skills of each method spread: the covering radius, the best of all worlds first."""
    found = comparison.read(ROOT / "results" / "compare-few.json")
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
    return markdown(["method", *head, "distinct last states, mean", "seeds"], rows)


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
    return markdown(
        ["", *head, "seeds of 5M"],
        [
            [named(m), *(rows[m].get(world, "-") for world in worlds), between(seeds[m])]
            for m in METHODS
            if m in rows
        ],
    )


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
    return markdown(
        ["", *(f"{world}, own / all" for world in worlds), "seeds"],
        [
            [named(m), *(rows[m].get(world, "-") for world in worlds), between(seeds[m])]
            for m in in_order
        ],
    )
