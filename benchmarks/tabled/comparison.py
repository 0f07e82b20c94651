"""All methods side by side."""

from __future__ import annotations

from statistics import fmean

from apart.comparison import results as comparison
from apart.comparison import show
from tabled.base import ROOT, markdown, stored, table


@table
def compare() -> str:
    """Methods side by side."""
    found = comparison.read(ROOT / "results" / "compare.json")
    machine = stored("compare")["machine"]
    return f"Measured on: {machine}.\n\n{show.markdown(found)}"


@table
def compare_few() -> str:
    """How ten skills of each method spread."""
    rows = []
    for row in comparison.read(ROOT / "results" / "compare-few.json"):
        distinct, radius = (row.cells[name].values for name in ("distinct", "covering_radius"))
        low, high = min(radius), max(radius)
        spread_ = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        rows.append((fmean(radius), [f"`{row.label}`", spread_, f"{fmean(distinct):.1f}"]))
    rows.sort(key=lambda row: row[0])
    return markdown(["method", "covering radius", "distinct last states"], [r for _, r in rows])


@table
def compare_long() -> str:
    """Distinct last states after 1M steps, and after five times as many."""
    first = {row.what: row for row in comparison.read(ROOT / "results" / "compare.json")}
    found = comparison.read(ROOT / "results" / "compare-long.json")
    worlds = list(dict.fromkeys(row.world for row in found))
    rows: dict[str, list[str]] = {}
    for row in found:
        shorter = first[row.world, row.label, 1_000_000, row.skills]
        means = (f"{fmean(r.cells['distinct'].values):.1f}" for r in (shorter, row))
        rows.setdefault(row.label, []).append(" / ".join(means))
    head = (f"{world}, 1M / {found[0].steps / 1e6:g}M steps" for world in worlds)
    return markdown(["", *head], [[f"`{label}`", *cells] for label, cells in rows.items()])


@table
def readme_compare() -> str:
    """Distinct last states of the methods of papers and of ours, in all worlds of a comparison."""
    found = comparison.read(ROOT / "results" / "compare.json")
    worlds = list(dict.fromkeys(row.world for row in found))
    cells: dict[str, dict[str, tuple[float, int]]] = {}
    for row in found:
        part = row.label.startswith(("ap_", "ova_")) or row.label != row.method
        if not part:
            values = row.cells["distinct"].values
            cells.setdefault(row.method, {})[row.world] = (fmean(values), len(values))
    most = {row.world: row.cells["distinct"].most for row in found}
    rows = []
    for method, by_world in sorted(cells.items(), key=lambda item: -item[1][worlds[0]][0]):
        means = [f"{by_world[w][0]:.1f}" if w in by_world else "-" for w in worlds]
        seeds = sorted({n for _, n in by_world.values()})
        rows.append([f"`{method}`", *means, " to ".join(dict.fromkeys(map(str, seeds)))])
    return markdown(["", *(f"{w} ({most[w]:g})" for w in worlds), "seeds"], rows)
