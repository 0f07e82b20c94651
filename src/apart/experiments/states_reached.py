"""States that the skills reach at the beginning, in the middle and at the end of training."""

from __future__ import annotations

import numpy as np

from apart._types import FloatArray
from apart.experiments import _draw
from apart.experiments._spec import Claim, Condition, Experiment, Finding, Results
from apart.worlds import grid

METHODS = {"apart": "APART", "diayn": "DIAYN", "vic": "VIC"}
SHOWN = ("four_rooms", "empty")


def reached(results: Results, label: str, moment: int) -> FloatArray:
    """[S] the most skills that are in each state at one step of an episode; first seed."""
    world = grid.load(label.split()[1])
    visits = np.zeros(world.n_states)
    detail = results.runs[label][0].details[moment]
    for state, count in detail["most_at_once"]:
        visits[state] = count
    return visits


def draw(results: Results) -> _draw.Figure:
    """Rows: methods; columns: three moments in each world."""
    from matplotlib.colors import LogNorm

    made, axes = _draw.figure(6, 3, height=2.3)
    made.set_size_inches(12.5, 6.6)
    image = None
    for row, (method, words) in enumerate(METHODS.items()):
        for block, world_name in enumerate(SHOWN):
            world = grid.load(world_name)
            for moment in range(3):
                axis = axes[6 * row + 3 * block + moment]
                picture = np.full(world.shape, np.nan)
                seen = reached(results, f"{method} {world_name}", moment)
                picture[tuple(world.cells.T)] = np.where(seen > 0, seen, np.nan)
                walls = [[char == "#" for char in line] for line in world.text.split("\n")]
                axis.imshow(walls, cmap="Greys", vmin=0, vmax=1.6)
                image = axis.imshow(picture, cmap="viridis_r", norm=LogNorm(1, 100))
                axis.grid(visible=False)
                axis.set_xticks([])
                axis.set_yticks([])
                steps = results.runs[f"{method} {world_name}"][0].details[moment]["env_steps"]
                axis.set_title(
                    f"{words}, {steps / 1e6:.2g}M: {int((seen > 0).sum())} states", fontsize=8
                )
    if image is not None:
        bar = made.colorbar(image, ax=axes, fraction=0.02, pad=0.01)
        bar.set_label("most skills there at one step", fontsize=8)
    return made


def leaves_first_room(results: Results) -> Finding:
    """How many states of the three other rooms the skills of DIAYN and VIC visit."""
    world = grid.load("four_rooms")
    outside = np.array([row < 5 or column > 5 for row, column in world.cells])
    counts = {
        method: int((reached(results, f"{method} four_rooms", 2)[outside] > 0).sum())
        for method in METHODS
    }
    ours = ", ".join(f"{METHODS[m]} {n} of {int(outside.sum())}" for m, n in counts.items())
    few = counts["diayn"] <= 10 and counts["vic"] <= 10
    return Finding(
        ours + " states outside the first room",
        "reproduced" if few and counts["apart"] > 40 else "not reproduced",
    )


EXPERIMENT = Experiment(
    title="States reached during training",
    source="figure of section 4: beginning, 5M and 150M steps",
    conditions=[Condition(f"{m} {w}", m, w) for w in SHOWN for m in METHODS],
    draw=draw,
    claims=[
        Claim(
            "DIAYN and VIC barely leave the first of the four rooms, APART visits all",
            "barely leave",
            leaves_first_room,
        )
    ],
    steps=20_000_000,
)
