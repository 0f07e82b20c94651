"""States that the skills reach at the beginning, in the middle and at the end of training."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from apart._types import FloatArray
from apart.paper import _draw
from apart.paper._spec import (
    CURVES,
    DETAILS,
    LONG,
    MISSED,
    REPRODUCED,
    Claim,
    Condition,
    Experiment,
    Finding,
    Results,
    judged,
)
from apart.paper.learned_skills import METHODS
from apart.worlds import grid

SHOWN = ("four_rooms", "empty")


def reached(results: Results, label: str, moment: int, seed: int = 0) -> FloatArray:
    """[S] the most skills that are in each state at one step of an episode."""
    world = grid.load(label.split()[1])
    visits = np.zeros(world.n_states)
    detail = results.runs[label][seed].details[moment]
    for state, count in detail["most_at_once"]:
        visits[state] = count
    return visits


def draw(results: Results) -> _draw.Figure:
    """Rows: methods; columns: three moments in each world."""
    from matplotlib.colors import LogNorm

    made, axes = _draw.figure(6, 3, height=2.3)
    made.set_size_inches(12.5, 6.6)
    made.subplots_adjust(left=0.01, right=0.92, bottom=0.02, top=0.96, wspace=0.06, hspace=0.16)
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
                axis.spines[:].set(visible=True, color=_draw.GREY, linewidth=0.5)
                steps = results.runs[f"{method} {world_name}"][0].details[moment]["env_steps"]
                axis.set_title(
                    f"{words}, {steps / 1e6:.2g}M: {int((seen > 0).sum())} states", fontsize=8
                )
    if image is not None:
        bar = made.colorbar(image, cax=made.add_axes((0.935, 0.2, 0.012, 0.6)))
        bar.set_label("most skills there at one step", fontsize=8)
    return made


def covers(method: str, world_name: str, all_of_them: bool) -> Callable[[Results], Finding]:
    """Whether the skills visit every state at the end, in every seed (or in none)."""

    def check(results: Results) -> Finding:
        label = f"{method} {world_name}"
        n = grid.load(world_name).n_states
        counts = [
            int((reached(results, label, 2, seed) > 0).sum())
            for seed in range(len(results.runs[label]))
        ]
        right = min(counts) == n if all_of_them else max(counts) < n
        ours = f"{', '.join(map(str, counts))} of {n}"
        rule = f"all states in {'every' if all_of_them else 'no'} seed"
        return judged(ours, right, rule)

    return check


EXPERIMENT = Experiment(
    title="States reached during training",
    source="figure of section 4: beginning, 5M and 150M steps",
    conditions=[Condition(f"{m} {w}", m, w) for w in SHOWN for m in METHODS],
    draw=draw,
    claims=[
        *(
            Claim(
                f"APART reaches all states of {w}",
                "all (150M)",
                covers("apart", w, True),
                at=LONG,
                early=REPRODUCED,
            )
            for w in SHOWN
        ),
        *(
            Claim(
                f"{METHODS[m]} does not reach all states of the empty room",
                "not all (150M)",
                covers(m, "empty", False),
                at=LONG,
                early=MISSED,
            )
            for m in ("diayn", "vic")
        ),
    ],
    steps=CURVES,
    keeps=[DETAILS],
)
