"""Every learned skill drawn on a small map of its own, sorted by last state."""

from __future__ import annotations

import math

from apart.experiments import _draw
from apart.experiments._spec import Condition, Experiment, Results
from apart.worlds import grid

METHODS = ("apart", "vic", "diayn")
SHOWN = ("four_rooms", "empty")


def draw(results: Results) -> _draw.Figure:
    """The first seed of every method and world: last states, with the number of skills in each."""
    made, axes = _draw.figure(len(METHODS), len(SHOWN), height=3.4)
    made.set_size_inches(9.6, 6.8)
    for axis, (world_name, method) in zip(
        axes, [(w, m) for w in SHOWN for m in METHODS], strict=True
    ):
        world = grid.load(world_name)
        record = results.runs[f"{method} {world_name}"][0]
        walls = [[char == "#" for char in line] for line in world.text.split("\n")]
        axis.imshow(walls, cmap="Greys", vmin=0, vmax=1.6)
        for state, count in record.details[-1]["last"]:
            row, column = world.cells[state]
            size = 5 + 3 * math.sqrt(count)
            colour = _draw.STYLES[method][0]
            axis.plot(column, row, "s", color=colour, markersize=min(size, 14), alpha=0.55)
            if count > 1:
                axis.text(column, row, str(count), fontsize=7, ha="center", va="center")
        axis.set_xticks([])
        axis.set_yticks([])
        axis.grid(visible=False)
        axis.set_title(f"{method}, {world_name}: {record.n_effective}", fontsize=9)
    made.suptitle("last states of the 100 skills (numbers: skills that share one)", fontsize=10)
    made.tight_layout()
    return made


EXPERIMENT = Experiment(
    title="Every learned skill, by last state",
    source="figures at the end of the appendix",
    conditions=[Condition(f"{m} {w}", m, w) for w in SHOWN for m in METHODS],
    draw=draw,
    steps=20_000_000,
)
