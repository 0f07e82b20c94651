"""Draw the stored studies in docs/images: ablation, pixels, compare*, disdain, payoff.png.

python benchmarks/figures.py
"""

from __future__ import annotations

from statistics import fmean

from tabled.base import ROOT, stored
from tabled.payoff import goals_by_score, task_steps

from apart import worlds
from apart.comparison import results as comparison
from apart.comparison import show
from apart.report import draw, statistics
from apart.worlds.spread import ideal_radius

# cells, colour, marker: worlds differ by both
WORLDS = {
    "four_rooms": (85, "#0072b2", "o"),
    "empty": (100, "#d55e00", "s"),
    "u_maze": (72, "#009e73", "^"),
}
METHODS = {
    "apart_logits": draw.STYLES["apart"],
    "apart": ("#d55e00", "--"),
    "diayn": ("#009e73", ":"),
}


def ablation() -> draw.Figure:
    table = stored("plus-ablation")
    own = sum(row["method"] == "apart_plus" for row in table)
    labels = [row["change"] for row in table[:own]]
    labels += [f"{row['method']}  {row['change']}" for row in table[own:]]
    made, (axis,) = draw.figure(size=(8.5, 0.27 * len(table) + 1.6))
    for number, (world, (cells, colour, marker)) in enumerate(WORLDS.items()):
        share, half = (
            [100 * row[world][name] / cells for row in table] for name in ("mean", "half_95")
        )
        at = [i + 0.22 * (number - 1) for i in range(len(table))]
        style = {"fmt": marker, "color": colour, "markersize": 4, "linewidth": 1}
        axis.errorbar(share, at, xerr=half, label=world, **style)
    axis.axhline(own - 0.5, color=draw.GREY, linewidth=0.8)
    axis.set_yticks(range(len(table)), labels, fontsize=8)
    axis.set_ylim(len(table) - 0.4, -0.6)
    axis.set_xlim(0, 102)
    axis.set_xlabel("share of all skills found, %  (mean of 8 seeds, 95 % interval)")
    axis.legend(loc="center right", fontsize=9)
    title = "apart_plus with one thing changed (above), older methods with one thing added (below)"
    made.suptitle(f"{title}, {table[0]['steps'] // 1000}k steps", size=9)
    return made


def pixels() -> draw.Figure:
    table = stored("pixels-learning")
    made, axes = draw.figure(2, size=(8.5, 3.6))
    for axis, name, unit, title in (
        (axes[0], "env_steps", 1e3, "environment steps, thousands"),
        (axes[1], "wall_seconds", 60, "minutes, one core per seed"),
    ):
        for method, (colour, dash) in METHODS.items():
            for number, run in enumerate(table[method]):
                x = [value / unit for value in run["curve"][name]]
                label = None if number else method
                y = run["curve"]["n_effective"]
                axis.plot(x, y, color=colour, linestyle=dash, linewidth=1.6, label=label)
        draw.level(axis, 85, "85: every cell", "-", at=0.02)
        axis.set_xlabel(title)
        axis.set_xlim(left=0)
        axis.set_ylim(0, 93)
    axes[0].set_ylabel("skills found")
    axes[0].legend(loc="lower right", frameon=False, fontsize=9)
    made.suptitle("Four rooms from pixels, a CNN each for Q and discriminator, two seeds", size=10)
    return made


def ranked(name: str) -> list[comparison.Result]:
    """The stored rows of methods that may be ranked."""
    return show.ranked(comparison.read(ROOT / "results" / f"{name}.json"))


def compare() -> draw.Figure:
    return show.figure(ranked("compare"))


def compare_few() -> draw.Figure:
    """With what greedy k-center comes to, which knows the whole map."""
    found = ranked("compare-few")
    made = show.figure(found, ("covering_radius",))
    for axis, (first, *_) in zip(made.axes, show.groups(found), strict=True):
        ideal = ideal_radius(worlds.load(first.world), first.horizon, first.skills)
        axis.axvline(ideal, color=draw.GREY, linewidth=0.9, linestyle="--")
    words = "\ndashed: greedy k-center, which knows the map, with as many places"
    made.supxlabel(made.get_supxlabel() + words, fontsize=8)
    return made


def compare_long() -> draw.Figure:
    """From 1M steps to five times as many: a method a line, those that end highest first."""
    found = ranked("compare-long")
    first = {row.what: row for row in comparison.read(ROOT / "results" / "compare.json")}
    groups = show.groups(found)
    ends: dict[str, list[float]] = {}
    for row in found:
        cell = row.cells["distinct"]
        ends.setdefault(row.label, []).append(fmean(cell.values) / (cell.most or 1.0))
    labels = sorted(ends, key=lambda label: -fmean(ends[label]))
    marks = show.label_marks(found)
    made, axes = draw.figure(len(groups), size=(3.1 * len(groups) + 1.6, 0.22 * len(labels) + 1.4))
    for axis, some in zip(axes, groups, strict=True):
        for row in some:
            shorter = first[row.world, row.label, 1_000_000, row.skills]
            start, end = (fmean(one.cells["distinct"].values) for one in (shorter, row))
            at, colour = labels.index(row.label), show.colour(row)
            axis.plot((start, end), (at, at), color=colour, linewidth=1.6)
            axis.plot(start, at, "o", color=colour, markersize=4.5, fillstyle="none")
            axis.plot(end, at, "o", color=colour, markersize=4.5)
        limit = some[0].cells["distinct"].most or 0.0
        axis.axvline(limit, color=draw.GREY, linewidth=0.9, linestyle="--")
        axis.set_ylim(len(labels) - 0.5, -0.5)
        axis.set_xlim(0, 1.06 * limit)
        ticks = [label + marks[label] for label in labels] if axis is axes[0] else []
        axis.set_yticks(range(len(labels)), ticks, fontsize=7.5)
        axis.set_xlabel("distinct last states", fontsize=8)
        draw.title(axis, some[0].world)
    made.supxlabel(
        "hollow: 1M steps · filled: 5M steps · means over seeds"
        f"{show.COLOURS}{show.NOTE}\ndashed: the most there can be",
        fontsize=8,
    )
    return made


DISDAIN = {
    "disdain": ("#0072b2", "-"),
    "ensemble without bonus": ("#009e73", "-."),
    "baseline": (draw.GREY, ":"),
    "baseline with the initial Q of disdain": ("#d55e00", "--"),
    "disdain with the initial Q of the baseline": ("#cc79a7", (0, (5, 1, 1, 1))),
}


def disdain() -> draw.Figure:
    """Information count by environment steps: 16 episodes of 20 an update."""
    table = stored("family-disdain-summed")
    made, (axis,) = draw.figure(size=(8.5, 3.8))
    axis.set_ylim(0, 105)
    draw.level(axis, 90, "the paper's best seeds, 600M", at=0.01)
    draw.level(axis, 30, "the paper's agent without bonus, at most", at=0.52)
    for name, rows in table["variants"].items():
        steps = [row["updates"] * 320 / 1e6 for row in rows]
        counts = [row["information_count"] for row in rows]
        colour, dash = DISDAIN[name]
        axis.plot(steps, [fmean(c) for c in counts], color=colour, linestyle=dash, label=name)
        low, high = ([end(c) for c in counts] for end in (min, max))
        axis.fill_between(steps, low, high, color=colour, alpha=0.18, linewidth=0)
    axis.set_xlim(0, 600)
    axis.set_xlabel("environment steps, millions")
    axis.set_ylabel("information count")
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8)
    title = "104 cells, T = 20, 128 skills, steps summed over trajectories"
    made.suptitle(f"{title}: mean and range of {table['seeds']} seeds", size=9)
    return made


WAYS = {
    "primitive": (draw.GREY, "o"),
    "primitive, optimistic": (draw.GREY, "s"),
    "skills of apart_plus": ("#0072b2", "^"),
    "both of apart_plus": ("#0072b2", "v"),
    "skills of apart_spread": ("#cc79a7", "^"),
    "both of apart_spread": ("#cc79a7", "v"),
    "skills of apart_spread, intra-option": ("#cc79a7", "D"),
    "skills of vic": ("#e69f00", "^"),
    "both of vic": ("#e69f00", "v"),
    "skills of diayn": ("#009e73", "^"),
    "both of diayn": ("#009e73", "v"),
}


def payoff() -> draw.Figure:
    table = stored("payoff")
    made, (left, right) = draw.figure(2, size=(11, 5.4))
    goals = goals_by_score(table["goals"])
    methods = list(goals)
    found = [statistics.mean([100 * one["comes"] for one in goals[m]]) for m in methods]
    left.barh(
        range(len(methods)),
        [share.estimate for share in found],
        xerr=[share.high - share.estimate for share in found],
        color="#0072b2",
        height=0.6,
    )
    left.set_yticks(range(len(methods)), methods)
    left.invert_yaxis()
    left.set_xlim(0, 100)
    left.set_xlabel("(start, goal) pairs that the chosen skill comes to, %")
    tasks = list(dict.fromkeys(key.split(" | ")[0] for key in table["tasks"]))
    for number, (way, (colour, marker)) in enumerate(WAYS.items()):
        for row, task in enumerate(tasks):
            scores = table["tasks"].get(f"{task} | {way}")
            if scores is None:
                continue
            at = task_steps(scores, table["budget"])
            solved = any(score is not None for score in scores)
            right.errorbar(
                at.estimate,
                row + 0.07 * (number - (len(WAYS) - 1) / 2),
                xerr=[[at.estimate - max(at.low, 100)], [at.high - at.estimate]],
                fmt=marker,
                color=colour,
                markersize=5,
                linewidth=1,
                fillstyle="full" if solved else "none",
                label=None if row else way,
            )
    right.axvline(table["budget"], color=draw.GREY, linewidth=0.8)
    right.set_xscale("log")
    right.set_xticks([3e3, 1e4, 3e4], ["3,000", "10,000", "30,000"])
    right.minorticks_off()
    right.set_yticks(range(len(tasks)), tasks)
    right.invert_yaxis()
    right.set_xlabel("steps to 90 % success (hollow: never)")
    right.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.3, -0.2), ncols=3)
    made.suptitle(
        "Mean and 95 % interval of 20 seeds (left: as in the table; DoorKey: 4, of apart_plus 20)",
        size=10,
    )
    return made


if __name__ == "__main__":
    for picture in (ablation, pixels, compare, compare_few, compare_long, disdain, payoff):
        picture().savefig(ROOT / "docs" / "images" / f"{picture.__name__}.png")
