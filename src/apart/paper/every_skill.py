"""Every learned skill drawn on a small map of its own, sorted by last state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from apart.paper import _draw
from apart.paper._spec import (
    CURVES,
    NAMES,
    SKILLS,
    Claim,
    Condition,
    Experiment,
    Finding,
    Record,
    Results,
    judged,
)
from apart.worlds import grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes

METHODS = {m: NAMES[m] for m in ("apart", "vic", "diayn")}
SHOWN = ("four_rooms", "empty")
ACROSS = 10


def draw(results: Results) -> _draw.Figure:
    """A block of small maps per method and world, of the first seed."""
    made, axes = _draw.figure(len(METHODS), len(SHOWN))
    made.set_size_inches(16.5, 11.6)
    blocks = [(world, method) for world in SHOWN for method in METHODS]
    for axis, (world_name, method) in zip(axes, blocks, strict=True):
        record = results.runs[f"{method} {world_name}"][0]
        _draw_block(axis, grid.load(world_name), record, _draw.STYLES[method][0])
        axis.set_title(
            f"{METHODS[method]}, {world_name}: {record.n_effective} of {record.n_available} "
            "last states",
            fontsize=11,
            loc="left",
        )
    made.suptitle(
        f"Every skill of seed 0 after {results.steps / 1e6:g}M steps, sorted by last state; "
        "numbers are latents, faint where an earlier skill ends in the same state",
        fontsize=12,
        y=0.995,
    )
    made.tight_layout()
    return made


def _draw_block(axis: Axes, world: grid.World, record: Record, colour: str) -> None:
    """All skills of a run as tiles of one picture."""
    walls = np.array([[char == "#" for char in line] for line in world.text.split("\n")])
    height, width = walls.shape
    tall, wide = height + 2, width + 1
    order = sorted(range(len(record.skills)), key=lambda k: (record.skills[k][-1], k))
    rows = -(-max(len(order), 1) // ACROSS)
    picture = np.full((rows * tall, ACROSS * wide), np.nan)
    seen: set[int] = set()
    for tile, skill in enumerate(order):
        top, left = tall * (tile // ACROSS) + 1, wide * (tile % ACROSS)
        picture[top : top + height, left : left + width] = walls
        _draw_tile(axis, world, record.skills[skill], (top, left), colour, seen)
        axis.text(left, top - 1, str(skill), fontsize=5, color=_draw.GREY, va="center")
    axis.imshow(picture, cmap="Greys", vmin=-0.15, vmax=1.6, zorder=0)
    axis.grid(visible=False)
    axis.set_axis_off()


def _draw_tile(
    axis: Axes,
    world: grid.World,
    states: Sequence[int],
    corner: tuple[int, int],
    colour: str,
    seen: set[int],
) -> None:
    cells = world.cells[list(states)] + np.array(corner)
    strong = 0.35 if states[-1] in seen else 1.0
    seen.add(states[-1])
    axis.plot(cells[:, 1], cells[:, 0], color=colour, linewidth=0.9, alpha=strong)
    axis.plot(cells[-1, 1], cells[-1, 0], "o", color=colour, markersize=3.2, alpha=strong)
    axis.plot(cells[0, 1], cells[0, 0], ".", color="black", markersize=1.6, alpha=strong)


def detours(results: Results) -> Finding:
    """How many of APART's skills of the first seed come to their last state later than needed."""
    world = grid.load("four_rooms")
    skills = results.runs["apart four_rooms"][0].skills
    late = [s for s in skills if list(s).index(s[-1]) > world.distance[s[-1]]]
    return judged(f"{len(late)} of {len(skills)} take a detour", late, "some do")


def overlaps(results: Results) -> Finding:
    """Skills that end where another ends, per seed of APART in four rooms."""
    records = results.runs["apart four_rooms"]
    shared = [100 - record.n_effective for record in records]
    return judged(f"{', '.join(map(str, shared))} of 100 latents", min(shared) > 0, "in every seed")


EXPERIMENT = Experiment(
    title="Every learned skill, by last state",
    source="figures at the end of the appendix",
    conditions=[Condition(f"{m} {w}", m, w) for w in SHOWN for m in METHODS],
    draw=draw,
    claims=[
        Claim("not all states are reached in the fastest way (four_rooms)", "not all", detours),
        Claim("a few skills overlap, as there are more latents than states", "always", overlaps),
    ],
    steps=CURVES,
    keeps=[SKILLS],
)
