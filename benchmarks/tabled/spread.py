"""`apart_spread` in tables."""

from __future__ import annotations

from statistics import fmean

from tabled.base import ROOT, markdown, numbers, stored, table, thousands


@table
def spread_maps() -> str:
    """The covering radius of few skills on every map."""
    table = stored("spread-maps")
    sizes = sorted({row["skills"] for row in table})
    rows = []
    for name in dict.fromkeys(row["world"] for row in table):
        cells = []
        for k in sizes:
            mine = [row for row in table if (row["world"], row["skills"]) == (name, k)]
            worst = max((row["radius"] for row in mine), default=None)
            cells.append("-" if worst is None else f"{worst} ({mine[0]['ideal_radius']})")
        n = next(row["cells"] for row in table if row["world"] == name)
        rows.append([f"`{name}`", n, *cells])
    return markdown(["map", "cells", *(f"K = {k}" for k in sizes)], rows)


STUDIES = {
    "maps": "maps",
    "held_out": "held out",
    "tight": "maps, T just the way to the farthest cell",
    "others": "maps",
}


@table
def spread_studies() -> str:
    """Scores of all studies with few skills."""
    rows = []
    for study, title in STUDIES.items():
        if not (ROOT / "results" / f"spread-{study}.json").exists():
            continue
        table = stored(f"spread-{study}")
        for method in dict.fromkeys(row["method"] for row in table):
            mine = [row for row in table if row["method"] == method]
            worlds = len({row["world"] for row in mine})
            sizes = ", ".join(str(k) for k in sorted({row["skills"] for row in mine}))
            ideal = [max(r["ideal_radius"] + 1, 1.25 * r["ideal_radius"]) for r in mine]
            good = sum(r["radius"] <= most for r, most in zip(mine, ideal, strict=True))
            score = sum(r["score"] for r in mine) / len(mine)
            steps = " and ".join(thousands(n) for n in sorted({row["steps"] for row in mine}))
            cells = [title, worlds, sizes, len(mine), steps]
            rows.append([f"`{method}`", *cells, f"{score:.2f}", f"{100 * good / len(mine):.1f} %"])
    head = ["method", "worlds", "how many", "K", "runs", "steps", "mean score", "within bounds"]
    return markdown(head, rows)


@table
def spread_scale() -> str:
    """Large worlds."""
    rows = []
    for row in stored("spread-scale"):
        found = f"{row['found']:g} of {min(row['skills'], row['cells'])}"
        rows.append(
            [
                f"`{row['method']}`" + (f", {row['change']}" if row["change"] else ""),
                f"`{row['world']}`",
                row["cells"],
                row["skills"],
                found,
                f"{row['radius']} ({row['ideal_radius']})",
                "-" if row.get("all_tried_at") is None else thousands(row["all_tried_at"]),
                thousands(row["steps"]),
                f"{row['seconds']:.0f}",
                f"{row['peak_rss_mb']:.0f}",
            ]
        )
    head = ["method", "world", "cells", "K", "distinct ends", "radius (ideal)"]
    head += ["every action tried after", "steps"]
    return markdown([*head, "seconds", "MB"], rows)


@table
def spread_soon() -> str:
    """Steps until every cell has a skill."""
    table, rows = stored("spread-soon"), []
    for name in dict.fromkeys(row["world"] for row in table):
        mine = [row for row in table if row["world"] == name]
        cells = []
        for method in dict.fromkeys(row["method"] for row in table):
            at = [row["first_full_at"] for row in mine if row["method"] == method]
            full = sorted(n for n in at if n is not None)
            shown = f"{full[0]:,} to {full[-1]:,}" if full else "-"
            cells.append(f"{shown} ({len(full)} of {len(at)} seeds)")
        rows.append([f"`{name}`", mine[0]["possible"], *cells])
    methods = (f"`{method}`" for method in dict.fromkeys(row["method"] for row in table))
    return markdown(["world", "distinct ends possible, of 100 skills", *methods], rows)


@table
def spread_ablation() -> str:
    """`apart_spread` without each of its parts."""
    table = stored("spread-ablation")
    worlds = {row["world"] for row in table}
    kept = [row for row in stored("spread-maps") if row["world"] in worlds]
    rows = []
    for change in ("", *dict.fromkeys(row["change"] for row in table)):
        cells = []
        for k in sorted({row["skills"] for row in table}):
            mine = [
                row["score"]
                for row in (table if change else kept)
                if (row["change"], row["skills"]) == (change, k) and row["seed"] < 2
            ]
            cells.append(f"{fmean(mine):.2f} ({min(mine):.2f})" if mine else "-")
        rows.append([change or "none: the method as it is", *cells])
    head = [f"K = {k}: mean score (least)" for k in sorted({row["skills"] for row in table})]
    return markdown(["change", *head], rows)


@numbers
def spread_complete() -> list[str]:
    """Runs with a skill for each cell, of all runs; worlds: `apart_spread`, then `apart_plus`."""
    found = []
    for method in ("apart_spread", "apart_plus"):
        rows = [row for row in stored("spread-complete") if row["method"] == method]
        found += [sum(row["found"] == row["cells"] for row in rows), len(rows)]
    return [*map(str, found), f"{len({row['world'] for row in stored('spread-complete')})}"]


@numbers
def spread_epsilon() -> list[str]:
    """The covering radius, whatever the share of random actions, and the ideal."""
    rows = stored("spread-epsilon")
    (radius,) = {row["radius"] for row in rows}
    return [f"{radius}", f"{rows[0]['ideal_radius']}"]


@numbers
def spread_same_radius() -> list[str]:
    """In how many settings all seeds have one covering radius, of how many; runs."""
    radii: dict[tuple[str, int], set[int]] = {}
    for row in stored("spread-maps"):
        radii.setdefault((row["world"], row["skills"]), set()).add(row["radius"])
    return [f"{sum(len(found) == 1 for found in radii.values())}", f"{len(radii)}"]


@numbers
def spread_cost() -> list[str]:
    """The time of a run beside one of `apart_plus`, least and most."""
    ratios = [row["ratio_of_means"] for row in stored("spread-cost")]
    return [f"{min(ratios):.2f}", f"{max(ratios):.2f}"]
