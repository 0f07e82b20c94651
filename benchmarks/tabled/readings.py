"""Readings of the paper, searched for."""

from __future__ import annotations

import itertools
from statistics import fmean
from typing import Any

from readings import AXES, PUBLISHED, choice, gap, name_of, reading_of

from apart._config import Config
from apart.paper._judge import spread
from apart.paper.reward_table import ROWS
from apart.worlds import grid
from tabled.base import markdown, numbers, reproduced, stored, table


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


@table
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


@table
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


@table
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


@table
def tuned_readings() -> str:
    found = reproduced("tuned_readings")
    rows = [[label, spread(found.final(label))] for label in found.runs]
    return markdown(["change of the default", "skills, of 85"], rows)


@table
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


@numbers
def readings_least_vote() -> list[str]:
    """AP min, alone and with dropout: where it ends, what was tried, and the Q that has fewer."""
    rows = searched()[name_of(PUBLISHED)]
    mean = fmean(rows[row][str(seed)] for row in ("AP min", "AP min, dropout") for seed in range(4))
    tried = [
        [int(one[axis]) for one in map(reading_of, searched()) if axis in one]
        for axis in ("episodes per update", "target network")
    ]
    finished = [found for found in searched().values() if "AP min" in found]
    fewest = min(finished, key=lambda found: found["AP min"]["0"])
    few = [fewest[row]["0"] for row in ("AP min", "AP min, dropout", "AP min, both (APART)")]
    ends = [end(axis) for axis in tried for end in (min, max)]
    return [f"{round(mean, -1):.0f}", *map(str, ends), *map(str, few)]


@numbers
def readings_replay() -> list[str]:
    """Of one skill each: collections that a replay holds, and skills that these are of."""
    steps = int(PUBLISHED["episodes per update"]) * grid.load("four_rooms").about.horizon
    collections, k = Config.buffer // steps, Config.skills
    return [f"{collections}", f"{k * (1 - (1 - 1 / k) ** collections):.0f}"]
