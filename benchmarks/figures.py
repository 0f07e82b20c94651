"""Draw the stored studies: docs/images/ablation.png and pixels.png.

    python benchmarks/figures.py

Colours are those of Okabe and Ito (safe for colour-blind readers); worlds also differ by marker.
"""

from __future__ import annotations

import json
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

ROOT = Path(__file__).parent.parent
WORLDS = {
    "four_rooms": (85, "#0072b2", "o"),
    "empty": (100, "#d55e00", "s"),
    "u_maze": (72, "#009e73", "^"),
}


def ablation() -> None:
    table = json.loads((ROOT / "results" / "plus-ablation.json").read_text())
    labels = [
        row["change"] if row["method"] == "apart_plus" else f"{row['method']}  {row['change']}"
        for row in table
    ]
    figure = Figure(figsize=(8.5, 0.27 * len(table) + 1.6), dpi=120)
    FigureCanvasAgg(figure)
    axis = figure.subplots()
    for number, (world, (cells, colour, marker)) in enumerate(WORLDS.items()):
        share = [100 * row[world]["mean"] / cells for row in table]
        half = [100 * row[world]["half_95"] / cells for row in table]
        at = [i + 0.22 * (number - 1) for i in range(len(table))]
        axis.errorbar(
            share, at, xerr=half, fmt=marker, color=colour, markersize=4, linewidth=1, label=world
        )
    n_own = sum(row["method"] == "apart_plus" for row in table)
    axis.axhline(n_own - 0.5, color="#999999", linewidth=0.8)
    axis.set_yticks(range(len(table)), labels, fontsize=8)
    axis.set_ylim(len(table) - 0.4, -0.6)
    axis.set_xlim(0, 102)
    axis.set_xlabel("share of all skills found, %  (mean of 8 seeds, 95 % interval)")
    steps = table[0]["steps"]
    axis.set_title(
        f"apart_plus with one thing changed (above), older methods with one thing added (below), "
        f"{steps // 1000}k steps",
        fontsize=9,
    )
    axis.grid(axis="x", color="#e5e5e5")
    axis.set_axisbelow(True)
    figure.legend(loc="lower center", ncols=3, frameon=False, fontsize=9)
    figure.tight_layout(rect=(0, 0.35 / figure.get_figheight(), 1, 1))
    figure.savefig(ROOT / "docs" / "images" / "ablation.png")


METHODS = {  # colour, line
    "apart_logits": ("#0072b2", "-"),
    "apart": ("#d55e00", "--"),
    "diayn": ("#009e73", ":"),
}


def pixels() -> None:
    table = json.loads((ROOT / "results" / "pixels-learning.json").read_text())
    figure = Figure(figsize=(8.5, 3.6), dpi=120)
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, 2, sharey=True)
    for axis, name, unit, title in (
        (axes[0], "env_steps", 1e3, "environment steps, thousands"),
        (axes[1], "wall_seconds", 60, "minutes, one core a seed"),
    ):
        for method, (colour, line) in METHODS.items():
            for number, run in enumerate(table[method]):
                curve = run["curve"]
                x = [value / unit for value in curve[name]]
                label = method if number == 0 else None
                y = curve["n_effective"]
                axis.plot(x, y, color=colour, linestyle=line, linewidth=1.6, label=label)
        axis.axhline(85, color="#999999", linewidth=0.8)
        axis.set_xlabel(title)
        axis.set_xlim(left=0)
        axis.grid(color="#e5e5e5")
        axis.set_axisbelow(True)
    axes[0].text(2, 86.5, "85: every cell", fontsize=8, color="#666666")
    axes[0].set_ylim(0, 93)
    axes[0].set_ylabel("skills found")
    axes[0].legend(loc="lower right", frameon=False, fontsize=9)
    figure.suptitle(
        "Four rooms from pixels, a CNN each for Q and discriminator, two seeds", size=10
    )
    figure.tight_layout()
    figure.savefig(ROOT / "docs" / "images" / "pixels.png")


if __name__ == "__main__":
    ablation()
    pixels()
