"""`apart_plus` and `apart_logits`."""

from __future__ import annotations

from statistics import fmean

from apart._config import Config
from apart.paper._spec import WORLDS
from tabled.base import markdown, numbers, stored, table, thousands


@table
def sixty() -> str:
    rows = []
    for key, row in stored("plus-sixty").items():
        method, budget = key.split()
        world = [row["per_world"][w] for w in WORLDS]
        latest = [w["latest_first_full_at"] for w in world]
        cells = [thousands(int(budget)), f"{row['complete']} of {row['of']}"]
        cells += [f"{w['complete']}" for w in world]
        cells += [thousands(row["median_first_full_at"])]
        cells += [thousands(max(latest)) if all(latest) else "-", row["seconds_per_run"]]
        rows.append([f"`{method}`", *cells])
    head = ["method", "steps", "complete at the end", *WORLDS]
    head += ["first complete, median", "latest", "seconds a run"]
    return markdown(head, rows)


@table
def long() -> str:
    table = stored("plus-long")
    rows = []
    for w in WORLDS:
        mine = [row for row in table if row["world"] == w]
        stays = sum(row["least_after_a_third"] == row["n_available"] for row in mine)
        least = min(row["least_after_a_third"] for row in mine)
        complete = sum(row["n_effective"] == row["n_available"] for row in mine)
        shares = [f"{n} of {len(mine)}" for n in (complete, stays)]
        rows.append([w, *shares, f"{least} of {mine[0]['n_available']}"])
    head = ["world", "complete at the end", "complete at every evaluation after 1M"]
    return markdown([*head, "least after 1M"], rows)


@table
def maps() -> str:
    table = stored("plus-maps")
    budgets = sorted({int(key.split()[1]) for key in table})
    rows = []
    for name in dict.fromkeys(key.split()[0] for key in table):
        one = table[f"{name} {budgets[0]} 1.0"]
        found = [table.get(f"{name} {b} {spare}") for b in budgets for spare in ("1.0", "1.2")]
        shares = [f"{100 * row['share']:.1f} %" if row else "-" for row in found]
        rows.append([f"`{name}`", one["cells"], one["horizon"], *shares])
    head = ["map", "cells", "T"]
    head += [f"{thousands(b)}, K = {s}" for b in budgets for s in ("n", "1.2 n")]
    return markdown(head, rows)


@table
def ablation() -> str:
    rows = []
    for row in stored("plus-ablation"):
        cells = [f"{row[w]['mean']:.1f} ± {row[w]['half_95']:.1f}" for w in WORLDS]
        rows.append([f"`{row['method']}`", row["change"], *cells])
    return markdown(["method", "change", *WORLDS], rows)


@table
def scale() -> str:
    rows = [
        [
            row["world"],
            row["skills"],
            row["horizon"],
            f"{row['steps']:,}",
            f"{row['found']} of {row['cells']} ({100 * row['found'] / row['cells']:.1f} %)",
            row["ms_per_update"],
            f"{row['wall_seconds']:,.0f}",
            f"{row['peak_rss_mb']:,.0f}",
        ]
        for row in stored("plus-scale")
    ]
    head = ["world", "K", "T", "steps", "found", "ms per update", "seconds", "MB"]
    return markdown(head, rows)


@table
def slip() -> str:
    rows = []
    for row in stored("plus-slip"):
        mean = {name: fmean(row[name]) for name in ("found", "bits", "certainty")}
        shown = [f"{mean['found']:.1f} of {row['cells']}", f"{mean['bits']:.2f}"]
        rows.append([f"{row['slip']:g}", *shown, f"{100 * mean['certainty']:.0f} %"])
    head = ["probability of a random action", "expected distinct last states"]
    return markdown(
        [*head, "bits between skill and last state", "ends in its likeliest cell"], rows
    )


@table
def reward_maps() -> str:
    rows = [[name, *found.values()] for name, found in stored("reward-maps").items()]
    head = next(iter(stored("reward-maps").values()))
    return markdown(["reward, one seed, 500k steps", *head], rows)


@numbers
def plus_settings() -> list[str]:
    """Seeds of each study in the order of the page; maps and their seeds; steps of the ablation."""
    long, maps, ablation = stored("plus-long"), stored("plus-maps"), stored("plus-ablation")
    return [
        f"{stored('plus-sixty')['apart_plus 200000']['of'] // len(WORLDS)}",
        f"{len({row['seed'] for row in long})}",
        f"{len({key.split()[0] for key in maps})}",
        f"{len(next(iter(maps.values()))['found'])}",
        f"{ablation[0]['steps']:,}",
        f"{len(ablation[0]['four_rooms']['found'])}",
        f"{len(stored('plus-slip')[0]['found'])}",
    ]


@numbers
def plus_in_empty() -> list[str]:
    """Skills in `empty`: logits with decay and without, counts with sampled batches."""
    rows = {row["change"]: row for row in stored("plus-ablation") if row["method"] == "apart_plus"}
    changes = ("logits, not counts", "logits without decay", "no sweep")
    return [f"{rows[change]['empty']['mean']:.1f}" for change in changes]


@numbers
def quickstart_run() -> list[str]:
    """The most skills of the quickstart's run, and the evaluation that first had them."""
    curve = {at: n for at, n in stored("animation")["curve"] if at % Config.evaluate_every == 0}
    skills = max(curve.values())
    return [f"{skills}", f"{min(at for at, n in curve.items() if n == skills):,}"]
