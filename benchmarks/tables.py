"""Write the tables of README and docs from the stored results; `--check` only compares.

    python benchmarks/tables.py [--check]

A table stands between `<!-- name -->` and `<!-- /name -->`.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import fmean
from typing import Any

from readings import AXES, PUBLISHED, choice, gap, name_of, reading_of

from apart._config import SPECS, Config, flag
from apart.comparison import results as comparison
from apart.comparison import show
from apart.facts import choices
from apart.methods import METHODS, OURS, READINGS
from apart.paper import _ledger, _records, experiment
from apart.paper._judge import spread
from apart.paper._spec import NAMES, WORLDS, Results
from apart.paper.reward_table import ROWS
from apart.paper.tuned_long import ALL
from apart.report import statistics
from apart.worlds import exact, grid

ROOT = Path(__file__).parent.parent
PAGES = (
    "README.md",
    *(f"docs/paper/{name}.md" for name in ("results", "apart_plus", "apart_spread", "readings")),
    *(f"docs/guide/{name}.md" for name in ("methods", "networks", "worlds", "compare", "skills")),
    *(f"docs/internals/{name}.md" for name in ("performance", "safety")),
    *(f"docs/family/{name}.md" for name in ("disdain", "valor")),
    *(f"docs/family/{name}.md" for name in ("README", "metra", "count_exploration", "visr")),
    *(f"docs/family/{name}.md" for name in ("discern", "smerl", "domino", "upside")),
)


def stored(name: str) -> Any:
    return json.loads((ROOT / "results" / f"{name}.json").read_text(encoding="utf-8"))


def markdown(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    names = list(head)
    lines = [f"| {' | '.join(names)} |", "|" + "---|" * len(names)]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)])


def thousands(value: float | None) -> str:
    return "-" if value is None else f"{value / 1000:,.0f}k"


def reproduced(name: str, reading: str = OURS) -> Results:
    path = _records.place(ROOT / "results" / "reproduce", reading) / f"{name}.json"
    return _records.read(path, experiment(name)) if path.exists() else Results({}, 0, reading)


def learning() -> str:
    tables = {r: (reproduced("reward_table", r), reproduced("all_pairs", r)) for r in READINGS}
    methods = {m: (0, label, f"{mean:g} ± {std:g}") for label, (m, mean, std) in ROWS.items()}
    methods["vic"] = (1, "one-vs-all, last", "at most 30 (150M)")
    rows = []
    for method, (which, label, paper) in methods.items():
        ours, published = (tables[r][which] for r in READINGS)
        found = [ours.at(label, 1e6), ours.at(label, 5e6), published.at(label, 5e6)]
        rows.append([f"`{method}`", *(spread(x) for x in found), paper])
    return markdown(["method", "ours, 1M", "ours, 5M", "published, 5M", "paper, 5M"], rows)


def long_curves() -> str:
    """Skills at the end of the longest runs of both readings."""

    def longest(label: str, reading: str) -> str:
        found = [made for name in RUNS if label in (made := reproduced(name, reading)).runs]
        best = max(found, key=lambda made: made.steps, default=None)
        return f"{spread(best.final(label))} ({best.steps / 1e6:g}M)" if best else "not made yet"

    rows = [
        [world, NAMES[m], *(longest(f"{m} {world}", reading) for reading in READINGS), paper]
        for world in WORLDS
        for m, paper in SAYS[world].items()
    ]
    return markdown(["world", "method", *READINGS, "paper, 150M"], rows)


RUNS = ("learned_skills", "tuned_vic", "long_runs", "tuned_long")
# world -> method -> what the paper says
SAYS: dict[str, dict[str, str]] = {
    "four_rooms": {
        "apart": "85, at about 100M",
        "tuned_vic": "85",
        "vic": "at most 30",
        "diayn": "at most 30",
    },
    "empty": {
        "apart": "100, at about 50M",
        "tuned_vic": "slightly below APART",
        "vic": "fewer than 60",
        "diayn": "fewer than 60",
    },
    "u_maze": {
        "apart": "more than 50 of 72",
        "tuned_vic": "slightly above APART",
        "vic": "fewer than 20",
        "diayn": "fewer than 20",
    },
}


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


def worlds_gym() -> str:
    """Gymnasium worlds as they are."""
    table = stored("worlds-gym")
    methods = list(dict.fromkeys(method for world in table.values() for method in world["runs"]))
    rows = []
    for name, world in table.items():
        found = []
        for method in methods:
            runs = world["runs"].get(method, {}).values()
            found.append(", ".join(f"{run['found']:g}" for run in runs) or "not made yet")
        steps = {
            thousands(run["env_steps"]) for one in world["runs"].values() for run in one.values()
        }
        seen, acts = world["observation"], world["actions"].removeprefix("1 x ")
        rows.append([f"`{name}`", seen, acts, world["horizon"], " ".join(sorted(steps)), *found])
    head = ["`gym:...`", "observation", "actions", "T", "steps"]
    return markdown([*head, *(f"`{method}`" for method in methods)], rows)


def worlds_speed() -> str:
    """What the adapter costs."""
    found = stored("worlds-speed")
    names = {
        "bare": "`SyncVectorEnv.step` alone",
        "ours": "episodes collected by us, random actions",
        "with_policy": "the same, asking a policy (`mlp:128,128`, 20 skills) at every step",
    }
    bare = found["bare"]["cpu_us_per_step"]
    rows = []
    for name, words in names.items():
        cpu = found[name]["cpu_us_per_step"]
        rows.append([words, cpu, "" if name == "bare" else f"{cpu / bare - 1:+.0%}"])
    what = f"{found['side']} x `{found['world']}`, CPU µs per environment step"
    return markdown([what, "", "over bare"], rows)


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


def spread_studies() -> str:
    """Scores of all studies with few skills."""
    rows = []
    for study, title in (("maps", "maps"), ("held_out", "held out"), ("others", "maps")):
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


def family_disdain() -> str:
    """Information count and distinct last states in the world of DISDAIN's notebook."""
    table = stored("family-disdain")
    names = list(table["variants"])
    rows = []
    for found in zip(*table["variants"].values(), strict=True):
        if found[0]["updates"] not in (100_000, 300_000, 500_000, 700_000, 1_000_000):
            continue
        cells = []
        for one in found:
            low, high = min(one["information_count"]), max(one["information_count"])
            ends = fmean(one["last_states"])
            cells.append(f"{low:.1f} to {high:.1f} ({ends:.1f} last states)")
        rows.append([f"{found[0]['updates']:,}", *cells])
    return markdown([f"updates, {table['seeds']} seeds", *names], rows)


def family_disdain_rooms() -> str:
    """Skills of DISDAIN in its own four rooms, as training goes on."""
    rows = []
    for seed, found in stored("family-disdain-rooms").items():
        at = {row["env_steps"]: row for row in found}
        for steps in sorted(at):
            if steps in (2e6, 10e6, 20e6, 50e6, 100e6, 200e6, 600e6):
                row = at[steps]
                count = f"{row['information_count']:.1f}"
                rows.append([seed, f"{steps / 1e6:g}M", f"{row['n_effective']:g}", count])
    return markdown(["seed", "steps", "distinct last states", "information count"], rows)


def family_valor() -> str:
    """How many skills VALOR's decoder names how well, with and without the curriculum."""
    table, rows = stored("family-valor"), []
    names = {"valor": "with", "valor_all": "without"}
    for objective, seeds in table["runs"].items():
        for seed, found in seeds.items():
            at = [one for one in found if one["updates"] in (20_000, 40_000, 60_000)]
            cells = [f"{one['skills']}: {one['named']:.2f} ({one['last_states']})" for one in at]
            rows.append([f"{names[objective]}, seed {seed}", *cells])
    return markdown(["curriculum", "20,000 updates", "40,000", "60,000"], rows)


def _grouped(study: str, *names: str) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """Rows of a study of the family that differ by their seeds alone."""
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in stored(study):
        found.setdefault(tuple(row[name] for name in names), []).append(row)
    return found


def _over(rows: list[dict[str, Any]], name: str, form: str = ".2f") -> str:
    """The least, the mean and the most of a number over seeds."""
    numbers = [row[name] for row in rows]
    low, high = (format(number, form) for number in (min(numbers), max(numbers)))
    return f"{fmean(numbers):{form}} ({low} to {high})"


def family_metra() -> str:
    """What METRA's embedding knows of four rooms."""
    rows = []
    for (skills, steps), mine in _grouped("family-metra", "skills", "steps").items():
        ends = [_over(mine, "found", ".1f"), _over(mine, "radius", ".1f")]
        knows = [_over(mine, "rank_correlation"), _over(mine, "goals_within_2", ".0%")]
        rows.append([skills, thousands(steps), len(mine), *knows, *ends, mine[0]["ideal_radius"]])
    head = ["K", "steps", "seeds", "rank correlation", "goals within 2", "distinct last cells"]
    return markdown([*head, "covering radius", "ideal radius"], rows)


def family_few() -> str:
    """The covering radius of eight skills of several methods."""
    found = _grouped("spread-family", "world", "method")
    worlds, methods = (list(dict.fromkeys(key[i] for key in found)) for i in (0, 1))
    rows = []
    for world in worlds:
        radii = [
            f"{fmean([r['radius'] for r in found[world, m]]):.1f}" if (world, m) in found else "-"
            for m in methods
        ]
        rows.append([f"`{world}`", found[world, methods[0]][0]["ideal_radius"], *radii])
    return markdown(["world", "greedy k-center", *(f"`{m}`" for m in methods)], rows)


def family_explore() -> str:
    """Cells known after so many steps."""
    found = _grouped("family-explore", "world", "method", "steps")
    lengths = sorted({key[2] for key in found})
    rows = []
    for world, method in dict.fromkeys(key[:2] for key in found):
        cells = [_over(found[world, method, n], "known", ".1f") for n in lengths]
        n_cells = found[world, method, lengths[0]][0]["cells"]
        rows.append([f"`{method}`", f"`{world}` ({n_cells})", *cells])
    return markdown(["method", "world (cells)", *map(thousands, lengths)], rows)


def family_visr() -> str:
    """Tasks solved by regression."""
    rows = []
    for (steps,), mine in _grouped("family-visr", "steps").items():
        shares = [_over(mine, name, ".0%") for name in ("gpi", "nearest_skill", "random_skill")]
        rows.append([thousands(steps), len(mine), *shares])
    return markdown(["steps", "seeds", "GPI", "the nearest skill", "a random skill"], rows)


def family_discern() -> str:
    """Goals that skills end in."""
    rows = []
    for (skills, steps), mine in _grouped("family-discern", "skills", "steps").items():
        told = [_over(mine, "goals", ".1f"), _over(mine, "reached", ".0%")]
        rows.append([skills, thousands(steps), len(mine), *told, _over(mine, "found", ".1f")])
    head = ["K", "steps", "seeds", "distinct goals", "skills that end in theirs"]
    return markdown([*head, "distinct last cells"], rows)


def family_blocked() -> str:
    """Who still comes to the goal when a way is walled off."""
    names = {
        ("smerl", None): "`smerl`",
        ("smerl", 2.0): "`smerl` with its gates shut: the task alone",
        ("domino", None): "`domino`",
    }
    rows = []
    for key, mine in _grouped("family-blocked", "method", "share").items():
        came = [_over(mine, f"{way}_walled", ".1f") for way in ("upper", "lower")]
        rows.append([names[key], len(mine), _over(mine, "mean_return", ".1f"), *came])
    best = stored("family-blocked")[0]["best_return"]
    head = ["6 skills, 100k steps", "seeds", f"mean return (best: {best:.0f})"]
    return markdown([*head, "come, upper way walled", "come, lower way walled"], rows)


def family_domino() -> str:
    """Diversity against return."""
    rows = []
    for (share,), mine in _grouped("family-domino", "share").items():
        best = f"{mine[0]['best_return']:.0f}"
        rows.append([share, len(mine), _over(mine, "mean_return", ".1f"), best])
        rows[-1].append(_over(mine, "nearest"))
    head = ["held to this share of the best", "seeds", "mean return", "best possible"]
    return markdown([*head, "distance of shares of time to the nearest skill"], rows)


def family_upside() -> str:
    """Skills that are kept."""
    rows = []
    for (world, method, walk), mine in _grouped("family-upside", "world", "method", "walk").items():
        names = ("active", "deepest", "distinct", "radius", "ideal_radius")
        kept = [_over(mine, name, ".1f") for name in names]
        least = _over(mine, "least_posterior")
        rows.append([f"`{world}`", f"`{method}`", walk, len(mine), *kept, least])
    head = ["300k steps, K = 20", "method", "steps of a walk", "seeds", "skills kept"]
    head += ["longest chain"]
    head += ["distinct last cells", "covering radius", "ideal radius for as many"]
    return markdown([*head, "least mean posterior"], rows)


def family_upside_mazes() -> str:
    """UPSIDE's tree with networks, beside what its paper reports."""
    rows: list[list[object]] = []
    for name, methods in stored("family-upside-mazes")["upside"].items():
        for k, runs in methods["upside"].items():
            found = list(runs.values())
            rows.append([f"`maze:{name}`", k, len(runs), _visited(found), _last(found)])
    return markdown(["1M steps", "K", "seeds", "buckets visited", "distinct last"], rows)


def worlds_tables() -> str:
    """Gymnasium worlds as tables."""
    rows = []
    for name, world in stored("worlds-tables").items():
        for runs in (world["runs"], *world.get("longer", {}).values()):
            found = [run["found"] for run in runs.values()]
            steps = {thousands(run["env_steps"]) for run in runs.values()}
            kind = "several successors" if world["successors"] > 1 else ""
            rows.append(
                [
                    f"`{name}`",
                    world["states"],
                    f"{world['search_seconds']:.1f}",
                    world["horizon"],
                    ", ".join(f"{n:.4g}" for n in found),
                    world["available"],
                    world["random_walk"],
                    " ".join(steps),
                    kind,
                ]
            )
    head = ["`table:gym:...`", "states", "search, s", "T", "skills found, by seed", "of"]
    return markdown([*head, "random walk", "steps", ""], rows)


UPSIDE_WALK = {"bottleneck": "29.17 ± 0.57", "u": "23.33 ± 0.57"}


def maze_walk() -> str:
    """Buckets that a random walk ever visits."""
    rows = []
    for name, walk in stored("mazes")["walk"].items():
        seen = [run["visited"] for run in walk.values()]
        ours = f"{fmean(seen):.2f} ({', '.join(map(str, seen))})"
        steps = {f"{run['env_steps'] / 1e6:g}M" for run in walk.values()}
        rows.append([f"`maze:{name}`", *steps, ours, UPSIDE_WALK[name]])
    return markdown(["maze", "steps", "buckets visited (seeds)", "UPSIDE"], rows)


def maze_methods() -> str:
    """What existing methods find in continuous mazes."""
    mazes = stored("mazes")["methods"]
    rows = []
    for label in next(iter(mazes.values())):
        for name, methods in mazes.items():
            runs = methods.get(label, {}).values()
            if runs:
                found = (", ".join(str(run[key]) for run in runs) for key in ("visited", "last"))
                steps = {thousands(run["env_steps"]) for run in runs}
                updates = {f"{run['updates']:,}" for run in runs}
                words = (" ".join(steps), " ".join(updates))
                rows.append([f"`{label}`", f"`maze:{name}`", *found, *words])
    head = ["method", "maze", "buckets visited, by seed", "distinct last buckets"]
    return markdown([*head, "steps", "updates"], rows)


# Kamienny et al. 2022, three seeds each: DIAYN and EDL by K, and the others; UPSIDE has 57 policies
# in the bottleneck and 51 in the U.
PUBLISHED_MAZES = {
    "random, 10M steps": {"": ("29.17", "23.33")},
    "DIAYN, 10M steps": {
        "10": ("17.67", "14.67"),
        "20": ("23.00", "16.67"),
        "50": ("30.00", "25.33"),
    },
    "EDL, oracle states": {
        "10": ("27.00", "32.00"),
        "20": ("31.00", "46.00"),
        "50": ("33.33", "52.33"),
    },
    "flat UPSIDE": {
        "10": ("40.67", "43.33"),
        "20": ("47.67", "55.67"),
        "50": ("51.33", "57.33"),
    },
    "UPSIDE, 1M steps": {"57, 51": ("85.67", "71.33")},
}


UPSIDE_SIZES = "57, 51"  # as many skills as UPSIDE has in each of the two mazes


def _maze_runs(label: str, k: str) -> list[list[dict[str, Any]]]:
    """The runs of a row in the bottleneck and in the U."""
    mazes = stored("mazes")["upside"]
    sizes = k.split(", ") if k == UPSIDE_SIZES else [k, k]
    return [
        list(mazes.get(name, {}).get(label, {}).get(size, {}).values())
        for name, size in zip(("bottleneck", "u"), sizes, strict=True)
    ]


def _maze_sizes(label: str) -> list[str]:
    """K of the rows of a method, most first; those of UPSIDE as one."""
    mazes = stored("mazes")["upside"]
    found = {k for methods in mazes.values() for k in methods.get(label, {})}
    pair = set(UPSIDE_SIZES.split(", "))
    if pair & found:
        found = (found - pair) | {UPSIDE_SIZES}
    return sorted(found, key=lambda k: int(k.split(",")[0]), reverse=True)


def readme_mazes() -> str:
    """The rows of `maze_upside` that a first reader asks for."""
    rows: list[list[object]] = []
    for label, k, words in (
        ("apart_spread", "100", "`apart_spread`, 100 skills"),
        ("apart_spread", UPSIDE_SIZES, f"`apart_spread`, {UPSIDE_SIZES} skills"),
        ("apart_spread, bins", "100", "the same on the graph of buckets (`bins`), 100 skills"),
    ):
        runs = _maze_runs(label, k)
        seeds = " and ".join(dict.fromkeys(str(len(found)) for found in runs))
        rows.append([words, *map(_visited, runs), seeds])
    for label in ("UPSIDE, 1M steps", "flat UPSIDE", "DIAYN, 10M steps"):
        k, found = list(PUBLISHED_MAZES[label].items())[-1]
        rows.append([f"*{label}*, {k} skills (as published)", *found, 3])
    return markdown(["", "bottleneck (100)", "U (72)", "seeds"], rows)


def maze_upside() -> str:
    """Buckets that skills visit, beside what UPSIDE's paper reports."""
    mazes = stored("mazes")["upside"]
    rows: list[list[object]] = []
    for label in dict.fromkeys(label for methods in mazes.values() for label in methods):
        for k in _maze_sizes(label):
            runs = _maze_runs(label, k)
            cells = [cell for found in runs for cell in (_visited(found), _last(found))]
            seeds = " / ".join(dict.fromkeys(str(len(found)) for found in runs))
            rows.append([f"`{label}`", k, *cells, seeds])
    for label, by_k in PUBLISHED_MAZES.items():
        for k, (bottleneck, u) in by_k.items():
            rows.append([f"*{label}*", k, bottleneck, "", u, "", 3])
    head = ["method", "K", "bottleneck (100): visited", "last", "U (72): visited", "last"]
    return markdown([*head, "seeds"], rows)


def _visited(runs: list[dict[str, Any]]) -> str:
    seen = [run["visited"] for run in runs]
    if not seen:
        return "-"
    return f"{fmean(seen):.1f} ({min(seen)} to {max(seen)})" if len(seen) > 1 else f"{seen[0]}"


def _last(runs: list[dict[str, Any]]) -> str:
    return f"{fmean(run['last'] for run in runs):.1f}" if runs else "-"


def maze_choices() -> str:
    """One option changed at a time, on mazes of EDL."""
    rows = []
    for label, mazes in stored("mazes")["choose"].items():
        cells = []
        for name in ("a", "tree", "large"):
            runs = list(mazes.get(name, {}).values())
            cells.append(
                ", ".join(f"{fmean(run['curve'][1:]):.1f}" for run in runs) if runs else "-"
            )
        rows.append([label, *cells])
    return markdown(["changed", "`maze:a`", "`maze:tree`", "`maze:large`"], rows)


def maze_steady() -> str:
    """What was chosen between, after 1M steps."""
    rows = []
    for label, mazes in stored("mazes")["steady"].items():
        runs = [list(mazes.get(name, {}).values()) for name in ("large", "tree")]
        cells = [
            ", ".join(f"{run['visited']} / {run['last']}" for run in found) or "-" for found in runs
        ]
        rows.append([label, *cells])
    return markdown(["changed", "`maze:large` (100)", "`maze:tree` (31)"], rows)


def maze_metric() -> str:
    """How distances go with the lengths of shortest ways."""
    rows = []
    for name, kinds in stored("mazes")["metric"].items():
        for kind, runs in kinds.items():
            for run in runs.values():
                sees = {"as it is": "as it is", "sides": "beside walls, never on them"}[kind]
                rows.append([f"`maze:{name}`", sees, run["buckets"], run["positions"]])
                rows[-1] += [run["learned"], f"{run['visited']} / {run['last']}"]
    head = ["maze", "a position is seen", "buckets seen", "of positions", "learned"]
    return markdown([*head, "visited / last"], rows)


def maze_places() -> str:
    """Where skills end beside where they are to end."""
    rows = []
    for name, many in stored("mazes")["places"].items():
        for skills, runs in many.items():
            means = [
                f"{fmean(run[key] for run in runs.values()):.1f}"
                for key in ("buckets", "in", "beside", "behind", "elsewhere")
            ]
            rows.append([f"`maze:{name}`", skills, len(runs), *means])
    head = ["maze", "K", "seeds", "buckets that have a place", "skills that end in its bucket"]
    return markdown([*head, "one or two steps away", "behind a wall", "elsewhere"], rows)


def maze_hold() -> str:
    """Decisions of other lengths, with bounded targets and without."""
    rows = []
    for hold, kinds in sorted(stored("mazes")["hold"].items()):
        cells: list[object] = []
        for kind in ("bounded", "free"):
            runs = list(kinds.get(kind, {}).values())
            cells += [
                ", ".join(f"{run[key]:g}" for run in runs) or "-"
                for key in ("visited", "last", "largest")
            ]
        rows.append([hold, *cells])
    head = ["held for", *("visited", "last", "largest Q") * 2]
    return markdown(head, rows)


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
    return markdown(["world", "cells in reach, of 100 skills", *methods], rows)


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
        rows.append([change or "all of it", *cells])
    head = [f"K = {k}: mean score (least)" for k in sorted({row["skills"] for row in table})]
    return markdown(["without", *head], rows)


def maze_speed() -> str:
    """Learning in a continuous maze, by turns."""
    rows = [
        [
            f"one in {row['steps_per_update']} steps",
            row["layer"],
            f"{row['ms_per_episode']:.1f}",
            f"{row['steps_per_cpu_second']:,}",
        ]
        for row in stored("mazes")["speed"]
    ]
    return markdown(["updates", "last layer", "ms per episode", "steps per second"], rows)


def _percent(scores: list[float]) -> str:
    """The mean and half of its interval, in per cent; one exact number has none."""
    found = statistics.mean([100 * score for score in scores])
    half = found.high - found.estimate
    return f"{found.estimate:.1f}" + (f" ± {half:.1f}" if len(scores) > 1 else "")


def goals_by_score(goals: dict[str, Any]) -> dict[str, Any]:
    """Methods by the share of pairs that they come to; what is exact, chance, stands last."""

    def rank(row: tuple[str, Any]) -> tuple[bool, float]:
        return len(row[1]) == 1, -sum(one["comes"] for one in row[1]) / len(row[1])

    return dict(sorted(goals.items(), key=rank))


def payoff_goals() -> str:
    rows = []
    for method, found in goals_by_score(stored("payoff")["goals"]).items():
        columns = ("start", "comes", "ends", "chosen_there")
        cells = [_percent([one[c] for one in found]) if c in found[0] else "" for c in columns]
        seeds = len(found) if len(found) > 1 else "exact"
        rows.append([f"`{method}`" if len(found) > 1 else method, *cells, seeds])
    head = ["%", "goals reached from the start", "(start, goal) pairs: comes there", "ends there"]
    return markdown([*head, "comes there, chosen in each state", "seeds"], rows)


def payoff_chains() -> str:
    rows = []
    for method, found in stored("payoff")["chains"].items():
        cells = []
        for links in range(1, len(found[0])):
            mean = statistics.mean([one[links] for one in found])
            cells.append(f"{mean.estimate:.1f} ± {mean.high - mean.estimate:.1f}")
        label = f"`{method}`" if method in METHODS else f"{method}, random policies"
        rows.append([label, *cells, len(found)])
    links = len(next(iter(stored("payoff")["chains"].values()))[0]) - 1
    return markdown(["cells, of 85", *map(str, range(1, links + 1)), "seeds"], rows)


def payoff_mazes() -> str:
    rows = []
    for key, found in stored("payoff")["mazes"].items():
        maze, label = key.split(" | ")
        columns = ("reached", "score", "tried", "tried_score")
        cells = [_percent([one[c] for one in found]) if c in found[0] else "" for c in columns]
        name = f"`{label}`" if len(found) > 1 else label
        rows.append([f"`maze:{maze}`", name, *cells, len(found) if len(found) > 1 else ""])
    head = ["maze", "skills of", "goals reached, %", "score, %", "best of all: reached, %"]
    return markdown([*head, "score, %", "seeds"], rows)


def task_steps(scores: list[int | None], budget: int) -> statistics.Interval:
    """Mean steps; those who did not come there count as the budget."""
    return statistics.mean([budget if at is None else at for at in scores])


def way_rank(way: str) -> tuple[bool, int, str, bool]:
    """Primitive actions first, then methods, the last that is listed first."""
    plain, _, more = way.partition(", ")
    kind, _, method = plain.partition(" of ")
    return bool(method), -list(METHODS).index(method) if method else 0, more, kind == "both"


def payoff_tasks() -> str:
    found = stored("payoff")
    budget, by_task = found["budget"], {}
    for key, scores in found["tasks"].items():
        task, how = key.split(" | ")
        solved = sum(at is not None for at in scores)
        mean = task_steps(scores, budget)
        cell = f"{mean.estimate:,.0f} ± {mean.high - mean.estimate:,.0f}"
        if not solved:
            cell = "never"
        elif solved < len(scores):
            cell = f"at least {mean.estimate:,.0f} ({solved} of {len(scores)} solved)"
        few = f" ({len(scores)} seeds)" if len(scores) < 20 else ""
        by_task.setdefault(task, {})[how] = cell + few
    ways = sorted({how for row in by_task.values() for how in row}, key=way_rank)
    table = [[how, *(row.get(how, "") for row in by_task.values())] for how in ways]
    return markdown(["actions", *by_task], table)


def ablation() -> str:
    rows = []
    for row in stored("plus-ablation"):
        cells = [f"{row[w]['mean']:.1f} ± {row[w]['half_95']:.1f}" for w in WORLDS]
        rows.append([f"`{row['method']}`", row["change"], *cells])
    return markdown(["method", "change", *WORLDS], rows)


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


def bench() -> str:
    parts = []
    for title, rows in stored("bench")["tables"].items():
        body = [
            [
                f"`{r['case']}`" if title.startswith("methods") else r["case"],
                f"{r['updates_per_second']:,.0f}",
                f"{r['env_steps_per_second']:,}",
                f"{r['ms_per_update']:.3f}",
                r["compile_seconds"],
                f"{r['peak_rss_mb']:,.0f}",
                r["threads"],
            ]
            for r in rows
        ]
        head = [title, "updates/s", "steps/s", "ms/update", "compile s", "MB", "threads"]
        parts.append(markdown(head, body))
    return "\n\n".join([f"Measured on: {stored('bench')['machine']}.", *parts])


def family_speed() -> str:
    found = stored("family_speed")
    order = sorted(found["rows"], key=lambda row: -(row["over_diayn"] or 0.0))
    rows = [
        [f"`{row['method']}`", "-", "makes no updates"]
        if row["over_diayn"] is None
        else [f"`{row['method']}`", f"{row['updates_per_second']:,.0f}", f"{row['over_diayn']:.2f}"]
        for row in order
    ]
    head = ["method", "updates per second of the processor", "time over that of `diayn`"]
    return f"Measured on: {found['machine']}.\n\n{markdown(head, rows)}"


def torch() -> str:
    result = stored("versus_torch")
    rows = []
    for form, ratio in result["ratio"].items():
        speeds = ", ".join(f"{r[form]:,.0f}" for r in result["rounds"])
        rows.append([f"`{form}`", speeds, f"{ratio:g} times"])
    ours = ", ".join(f"{r['apart']:,.0f}" for r in result["rounds"])
    rows.insert(0, ["**apart**", ours, ""])
    table = markdown(["version", "steps/s in each round", "apart is faster (median)"], rows)
    return f"Measured on: {result['machine']}.\n\n{table}"


def networks() -> str:
    rows = []
    for kind, row in stored("networks").items():
        speeds = [
            ", ".join(f"{r[form]:,.3g}" for r in row["rounds"])
            for form in ("torch", "samples", "states")
        ]
        rows.append([kind, *speeds, f"{row['same_batch']:g} times", f"{row['distinct']:g} times"])
    head = ["network", "PyTorch, batch of 640", "here, batch of 640", "here, 85 observations"]
    return markdown([*head, "gain, same batch", "gain, distinct"], rows)


def pixels() -> str:
    rows = []
    for method, runs in stored("pixels-learning").items():
        for run in runs:
            steps = run["curve"]["env_steps"][-1]
            minutes = run["wall_seconds"] / 60
            cells = [f"{run['updates']:,}", thousands(steps), f"{minutes:.1f}"]
            rows.append([f"`{method}`", run["seed"], *cells, f"{run['n_effective']} of 85"])
    return markdown(["method", "seed", "updates", "steps", "minutes", "skills"], rows)


def pixel_choices() -> str:
    rows = [
        [
            row["change"],
            f"{row['n_effective']} of 85",
            thousands(row["env_steps"]),
            f"{row['ms_per_update']:,}",
        ]
        for row in stored("pixels-choices")
    ]
    return markdown(["change", "skills after 300 updates", "steps", "ms per update"], rows)


def cnn_profile() -> str:
    table = stored("networks-profile")
    forms = [form for form in table if "outputs" in form]
    rows = [[part, *(f"{table[form][part]:,.0f}" for form in forms)] for part in table[forms[0]]]
    parts = [markdown(["piece, ms", *forms], rows)]
    for title in (title for title in table if title not in forms):
        body = [[name, f"{ms:,.0f}"] for name, ms in table[title].items()]
        parts.append(markdown([title, "ms"], body))
    return "\n\n".join(parts)


def update_profile() -> str:
    table = stored("update-profile")
    pieces = next(iter(table.values()))
    rows = [[piece, *(f"{found[piece]:,.0f}" for found in table.values())] for piece in pieces]
    return markdown(["µs per episode", *(f"`{method}`" for method in table)], rows)


def torture() -> str:
    found = stored("torture")
    return (
        f"`make torture`: **{found['identical']} of {found['endings']} endings identical** after "
        f"{found['kills']:,} kills."
    )


def safety() -> str:
    rows = [
        [
            f"`{row['method']}`",
            f"{row['wall_seconds']:.0f} s",
            f"{row['saving_percent']:.2f} %",
            f"{row['check_milliseconds']:.2f} ms, {row['checking_percent']:.2f} %",
        ]
        for row in stored("safety")["rows"]
    ]
    return markdown(["four rooms", "run", "saving", "looking for non-finite numbers"], rows)


def seeds() -> str:
    result = stored("seeds")["seed_updates_per_second"]
    ways = [way.replace(" 1 threads", " 1 thread") for way in next(iter(result.values()))]
    return markdown(["method", *ways], [[f"`{m}`", *row.values()] for m, row in result.items()])


def compare() -> str:
    """Methods side by side."""
    found = comparison.read(ROOT / "results" / "compare.json")
    machine = stored("compare")["machine"]
    return f"Measured on: {machine}.\n\n{show.markdown(found)}"


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


def readme() -> str:
    plus = stored("plus-sixty")
    old = reproduced("learned_skills")
    rows = []
    for steps in (5_000_000, old.steps):
        means = [fmean(old.at(f"apart {w}", steps)) for w in WORLDS]
        seeds = len(old.runs["apart four_rooms"])
        words = f"`apart` (the paper's), {steps / 1e6:g}M steps, {seeds} seeds"
        rows.append([words, *(f"{mean:.1f} on average" for mean in means)])
    for key in ("apart_plus 200000", "apart_plus 1000000"):
        row = plus[key]
        cells = [
            f"{row['per_world'][w]['complete']} of {row['of'] // 3} seeds complete" for w in WORLDS
        ]
        rows.append(
            [f"`apart_plus` (tabular planning), {thousands(int(key.split()[1]))} steps", *cells]
        )
    return markdown(["", "four_rooms (85)", "empty (100)", "u_maze (72)"], rows)


def readme_methods() -> str:
    """Skills in four rooms, and what each method needs for them."""
    world, sixty = grid.load("four_rooms"), stored("plus-sixty")
    long, tuned = reproduced("learned_skills"), reproduced("tuned_vic")
    walk = exact.random_walk_skills(world, world.about.horizon, Config.skills)

    def at_5m(results: Results, method: str) -> tuple[str, str]:
        found = results.at(f"{method} four_rooms", 5e6)
        return f"{fmean(found):.1f}", f"5M, {len(found)} seeds"

    def complete(method: str, steps: int) -> tuple[str, str]:
        row, seeds = sixty[f"{method} {steps}"], sixty[f"{method} {steps}"]["of"] // len(WORLDS)
        full = row["per_world"]["four_rooms"]["complete"]
        shown = f"**{world.n_states}** ({full} of {seeds} seeds complete)"
        return shown, f"{thousands(steps)}, {seeds} seeds"

    def soon(method: str) -> tuple[str, str]:
        rows = [r for r in stored("spread-soon") if r["method"] == method]
        at = [r["first_full_at"] for r in rows if r["world"] == "four_rooms"]
        full = [n for n in at if n is not None]
        shown = f"**{world.n_states}** ({len(full)} of {len(at)} seeds complete)"
        return shown, f"{thousands(max(full))}, {len(at)} seeds"

    seen = stored("pixels-learning")["apart_logits"]
    pixels = sorted(run["n_effective"] for run in seen)
    steps = seen[0]["curve"]["env_steps"][-1]
    arxiv = "https://arxiv.org/abs/"
    apart, own = f"[APART]({arxiv}2308.12649)", "this software"
    nothing = "nothing (replay of 50,000 transitions)"
    rows: list[list[str]] = [
        ["random_walk", "-", "random actions, for comparison", f"{walk:.0f}", "-", "-"],
        [
            *("diayn", f"[DIAYN]({arxiv}1802.06070)", "log posterior of the skill, every step"),
            *(*at_5m(long, "diayn"), nothing),
        ],
        [
            *("vic", f"[VIC]({arxiv}1611.07507)", "log posterior of the skill, last step only"),
            *(*at_5m(long, "vic"), nothing),
        ],
        [
            *(
                "tuned_vic",
                apart,
                "VIC with its posterior scaled to [-1, 1], inverse temperature 10",
            ),
            *(*at_5m(tuned, "tuned_vic"), nothing),
        ],
        [
            *("apart", apart, "a classifier for each pair of skills; the lowest of its votes"),
            *(*at_5m(long, "apart"), nothing),
        ],
        [
            *("apart_logits", own, "margin over the strongest rival, K trained logits"),
            *complete("apart_logits", 300_000),
            "tabular planning: keeps every transition seen, sweeps over all of them",
        ],
        [
            *("apart_plus", own, "the same with counts of last states, no trained discriminator"),
            *complete("apart_plus", 200_000),
            "tabular planning, as above; states must be enumerable",
        ],
        [
            *("apart_spread", own, "coming to an end of its own, planned on what was seen"),
            *soon("apart_spread"),
            "tabular planning, as above; goes where an action was never tried",
        ],
        [
            *("apart_pixels", own, "`apart_logits` with CNNs on images"),
            *(f"{pixels[0]} to {pixels[-1]}", f"{thousands(steps)}, {len(seen)} seeds"),
            f"images as input, but sweeps over the {world.n_states} true states",
        ],
    ]
    head = ["method", "from", "rewarded for", f"skills found, of {world.n_states}"]
    head += ["environment steps", "needs beyond sampled episodes"]
    return markdown(head, [[f"`{row[0]}`", *row[1:]] for row in rows])


def headline() -> str:
    """How many claims of the paper hold here."""
    return _ledger.headline(_ledger.results_in(ROOT / "results" / "reproduce"))


def readme_state() -> str:
    """The same with two examples."""
    found, counted = reproduced("reward_table"), reproduced("tuned_long")
    row = next(label for label, (method, *_) in ROWS.items() if method == "apart")
    paper = ROWS[row][1]
    ours, theirs = (
        fmean(found.at(row, 5e6)),
        fmean(reproduced("reward_table", "published").at(row, 5e6)),
    )
    tuned = [counted.first(f"tuned_vic {w}", n) for w, (n, _) in ALL.items()]
    had = sum(math.isfinite(at) for seeds in tuned for at in seeds)
    lines = [
        f"**State of the reproduction.** {headline()} "
        "([which, and why not](docs/paper/ledger.md)).",
        f"Two examples: `apart` finds {ours:.1f} of 85 skills after 5M steps, {theirs:.1f} with "
        f"`--reading published`, where the paper reports {paper:g}; `tuned_vic` had all skills of "
        f"its world at some evaluation within {counted.steps / 1e6:.0f}M steps in {had} of "
        f"{sum(map(len, tuned))} runs (three worlds), where the paper reports all.",
        "The paper leaves open how many updates are made per step, whether the one layer has a "
        "bias, and more; what comes closest to its numbers was "
        "[searched for](docs/paper/readings.md).",
    ]
    return "\n".join(f"> {line}" for line in lines)


def searched() -> dict[str, Any]:
    found: dict[str, Any] = stored("readings-search")
    return found


def beside_published(name: str) -> str:
    """What a reading of the search changes in the published one."""
    if name == name_of(PUBLISHED):
        return "**published**"
    reading = reading_of(name)
    changes = [
        f"{axis}: {choice(reading, axis)}"
        for axis in AXES
        if choice(reading, axis) != choice(PUBLISHED, axis)
    ]
    return "; ".join(changes)


def readings() -> str:
    """The readings of the search that have four seeds, the closest first."""
    four = {
        name: rows
        for name, rows in searched().items()
        if all(len(rows.get(row, {})) >= 4 for row in ROWS)
    }
    lines = [["**the paper**", *(f"{mean:g}" for _, mean, _ in ROWS.values()), "", ""]]
    for name in sorted(four, key=lambda name: gap(four[name], range(4))):
        rows = four[name]
        means = [f"{fmean(rows[r][str(s)] for s in range(4)):.1f}" for r in ROWS]
        alone = [gap(rows, [s]) for s in range(4)]
        lines.append(
            [
                beside_published(name),
                *means,
                f"**{gap(rows, range(4)):.2f}**",
                f"{min(alone):.1f} to {max(alone):.1f}",
            ]
        )
    short = [row.replace("AP min", "min").replace("AP average", "average") for row in ROWS]
    return markdown(["reading", *short, "mean gap", "of single seeds"], lines)


def reading_order() -> str:
    """How far the order of the rows and the gains between them are the paper's."""
    rows = searched()[name_of(PUBLISHED)]
    ours = [fmean(rows[r][str(s)] for s in range(4)) for r in ROWS]
    paper = [mean for _, mean, _ in ROWS.values()]
    pairs = list(itertools.combinations(range(len(ROWS)), 2))
    told = [(i, j) for i, j in pairs if abs(paper[i] - paper[j]) >= 2]
    right = sum((ours[i] - ours[j]) * (paper[i] - paper[j]) > 0 for i, j in told)
    near = sum(abs(a - b) <= 4 for a, b in zip(ours, paper, strict=True))
    gains = [
        ("ascending reward on the least vote", 1, 0),
        ("dropout on top of it", 3, 1),
        ("both on the average", 5, 4),
        ("ascending reward on one-vs-all", 7, 6),
        ("both on one-vs-all", 9, 6),
        ("the least vote over the average, with both", 3, 5),
        ("all pairs over one-vs-all, with both", 3, 9),
    ]
    lines = [
        f"- {near} of {len(ROWS)} rows are within 4 skills of the paper's.",
        f"- Of the {len(told)} pairs of rows that differ by 2 skills or more in the paper, {right} "
        "are in the same order.",
    ]
    table = [
        [name, f"{paper[a] - paper[b]:+.1f}", f"{ours[a] - ours[b]:+.1f}"] for name, a, b in gains
    ]
    return "\n".join(lines) + "\n\n" + markdown(["gain, in skills", "paper", "published"], table)


def readings_long() -> str:
    found = stored("readings-long")
    parts = len(next(iter(found.values())))
    head = ["reading", *(f"{50 * (n + 1) // parts}M" for n in range(parts)), "gap at 5M (seed 0)"]
    rows = []
    for name, skills in found.items():
        table = searched().get(name, {})
        known = f"{gap(table, [0]):.1f}" if len(table) == len(ROWS) else ""
        rows.append([name, *skills, known])
    return markdown(head, rows)


def reward_maps() -> str:
    rows = [[name, *found.values()] for name, found in stored("reward-maps").items()]
    head = next(iter(stored("reward-maps").values()))
    return markdown(["reward, one seed, 500k steps", *head], rows)


def tuned_readings() -> str:
    found = reproduced("tuned_readings")
    rows = [[label, spread(found.final(label))] for label in found.runs]
    return markdown(["change of the default", "skills, of 85"], rows)


def readings_tried() -> str:
    """Every reading of the search, one seed."""
    lines = []
    found = searched()

    for name in sorted(found, key=lambda name: gap(found[name], [0])):
        rows = found[name]
        cells = [str(rows[r]["0"]) if "0" in rows.get(r, {}) else "" for r in ROWS]
        sign = "" if all(cells) else "at least "
        lines.append([beside_published(name), *cells, f"{sign}{gap(rows, [0]):.1f}"])
    return markdown(["reading", *ROWS, "mean gap"], lines)


def options() -> str:
    """Every option with its default where the method sets none."""
    names, parts = choices(), []
    for group in dict.fromkeys(spec.group for spec in SPECS.values()):
        rows = []
        for name, spec in SPECS.items():
            if spec.group != group:
                continue
            default = getattr(Config, name)
            one_of = f": {', '.join(f'`{n}`' for n in names[spec.kind])}" if spec.kind else ""
            if name == "method":
                one_of = ", see above"
            on = f"`{'on' if default else 'off'}`" if isinstance(default, bool) else f"`{default}`"
            rows.append([f"`{flag(name)}`", on, spec.help + one_of])
        parts.append(markdown([group, "default", "meaning"], rows))
    return "\n\n".join(parts)


TABLES: dict[str, Callable[[], str]] = {
    f.__name__: f
    for f in (
        *(learning, sixty, long, maps, ablation, scale, slip, bench, torch, seeds, readme),
        family_speed,
        *(readme_methods, readme_state, options, headline, readings, readings_tried),
        *(reading_order, reward_maps, tuned_readings, long_curves, readings_long),
        *(maze_walk, maze_methods, maze_speed, maze_upside, maze_choices, maze_hold),
        *(maze_steady, maze_metric, maze_places),
        readme_mazes,
        *(networks, worlds_tables, worlds_gym, worlds_speed, compare, compare_few, readme_compare),
        compare_long,
        *(spread_maps, spread_studies, spread_soon, spread_scale, spread_ablation),
        *(family_disdain, family_disdain_rooms, family_valor),
        *(payoff_goals, payoff_chains, payoff_tasks, payoff_mazes),
        *(family_metra, family_few, family_explore, family_visr, family_discern),
        *(family_blocked, family_domino, family_upside, family_upside_mazes),
        *(pixels, pixel_choices, cnn_profile, torture, safety, update_profile),
    )
}


def renewed(text: str) -> str:
    def fill(match: re.Match[str]) -> str:
        name = match.group(1)
        return f"<!-- {name} -->\n{TABLES[name]()}\n<!-- /{name} -->"

    return re.sub(r"<!-- (\w+) -->\n.*?<!-- /\1 -->", fill, text, flags=re.DOTALL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit 1 when a page is out of date")
    check = parser.parse_args().check
    for page in PAGES:
        path = ROOT / page
        text = path.read_text(encoding="utf-8")
        new = renewed(text)
        if new == text:
            continue
        if check:
            raise SystemExit(f"{page} differs from results/: run python benchmarks/tables.py")
        path.write_text(new)


if __name__ == "__main__":
    main()
