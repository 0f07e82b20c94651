"""Draw the stored studies: ablation.png, pixels.png and compare.png in docs/images.

python benchmarks/figures.py
"""

from __future__ import annotations

from tables import ROOT, stored

from apart.comparison import results as comparison
from apart.comparison import show
from apart.report import draw

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


def compare() -> draw.Figure:
    return show.figure(comparison.read(ROOT / "results" / "compare.json"))


if __name__ == "__main__":
    for picture in (ablation, pixels, compare):
        picture().savefig(ROOT / "docs" / "images" / f"{picture.__name__}.png")
