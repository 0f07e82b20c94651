"""Pictures of a run, from its folder alone."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from apart.runs import files
from apart.runs import folder as run_folder

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WALL, _FLOOR, _PATH, _START, _END = "#4d4d4d", "#f4f1ea", "#0072b2", "#009e73", "#d55e00"


def skills_picture(run: run_folder.Run) -> Path:
    """Draw every skill on its own small map, sorted by last state; returns the PNG's path.

    Skills carry their number; a faint frame marks a last state that an earlier skill already has.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows: list[str] = run.config["map"]
    skills = sorted(run.skills, key=lambda skill: (skill.last_state, skill.index))
    columns = math.ceil(math.sqrt(len(skills)))
    lines = math.ceil(len(skills) / columns)
    figure = Figure(figsize=(1.05 * columns, 1.15 * lines + 0.9), dpi=110)
    FigureCanvasAgg(figure)
    axes = np.atleast_1d(figure.subplots(lines, columns)).reshape(-1)
    seen: set[tuple[int, int]] = set()
    for axis, skill in zip(axes, skills, strict=False):
        _draw_skill(axis, rows, skill, skill.last_state in seen)
        seen.add(skill.last_state)
    for axis in axes[len(skills) :]:
        axis.set_visible(False)
    figure.suptitle(_title(run), fontsize=11)
    figure.legend(handles=_legend(), loc="lower center", ncols=3, frameon=False, fontsize=9)
    figure.tight_layout(rect=(0, 0.35 / figure.get_figheight(), 1, 1))
    path = run.path / run_folder.PICTURE
    files.write_picture(path, figure)
    return path


def _title(run: run_folder.Run) -> str:
    c = run.config["config"]
    return (
        f"{Path(c['world']).stem} · {c['method']} · seed {c['seed']} · "
        f"{run.summary['env_steps']:,} steps: {run.n_effective} of {run.n_available} last states, "
        f"{c['skills']} skills sorted by last state"
    )


def _draw_skill(axis: Axes, rows: list[str], skill: run_folder.Skill, repeated: bool) -> None:
    from matplotlib.colors import ListedColormap

    walls = np.array([[char == "#" for char in row] for row in rows])
    axis.imshow(walls, cmap=ListedColormap([_FLOOR, _WALL]), vmin=0, vmax=1)
    # A point that is visited again is pushed a little aside, so that there and back stay apart.
    points = np.array(skill.trajectory, float)
    axis.plot(points[:, 1], points[:, 0], color=_PATH, linewidth=1.2, solid_joinstyle="round")
    axis.plot(points[0, 1], points[0, 0], "o", color=_START, markersize=3)
    axis.plot(points[-1, 1], points[-1, 0], "s", color=_END, markersize=4)
    axis.set_title(f"{skill.index}", fontsize=7, pad=1.5, color="#999999" if repeated else "black")
    axis.set_xticks([])
    axis.set_yticks([])
    for spine in axis.spines.values():
        spine.set_color("#bbbbbb")
    if repeated:
        axis.set_alpha(0.5)
        for artist in (*axis.lines, *axis.images):
            artist.set_alpha(0.35)


def _legend() -> list[Any]:
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], color=_START, marker="o", linestyle="", markersize=5, label="start"),
        Line2D([], [], color=_END, marker="s", linestyle="", markersize=5, label="last state"),
        Line2D([], [], color=_PATH, alpha=0.35, label="faint: a last state already shown"),
    ]


def terminal_map(run: run_folder.Run) -> str:
    """The map in text: how many skills end in each cell (``·`` none, ``+`` ten or more)."""
    ends = Counter(skill.last_state for skill in run.skills)
    lines = []
    for r, row in enumerate(run.config["map"]):
        cells = ["██" if char == "#" else f"{_digit(ends[r, c])} " for c, char in enumerate(row)]
        lines.append("".join(cells).rstrip())
    return "\n".join(lines)


def _digit(count: int) -> str:
    if count == 0:
        return "·"
    return str(count) if count < 10 else "+"
