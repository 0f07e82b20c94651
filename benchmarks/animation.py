"""Draw docs/images/skills.gif: the skills of `apart_plus` fill four rooms.

python benchmarks/animation.py            # from results/animation.json
python benchmarks/animation.py --train    # make that anew first (seconds)
python benchmarks/animation.py --frames DIR   # single frames as PNG too
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from tabled.base import ROOT, stored

from apart.report import draw
from apart.settings import resolve
from apart.worlds.world import TableWorld

WORLD, METHOD, SEED, STEPS = "four_rooms", "apart_plus", 0, 200_000
MOMENTS = (0, 2_000, 5_000, 10_000, 20_000, 40_000)  # whose episodes are shown
EVERY, CURVE_TO = 1_000, 50_000
STORED = ROOT / "results" / "animation.json"
PICTURE = ROOT / "docs" / "images" / "skills.gif"

WIDTH, HEIGHT, DPI = 830, 420, 100
WALKED = 18  # steps that are shown one by one; then the end of the episode
STEP_MS, HOLD_MS, LAST_MS = 60, 550, 2_200

INK, FAINT, WALL, FLOOR = "#222222", "#6b6b6b", "#5f6368", "#f1f0eb"
# Okabe and Ito, one per room; doors have their own.
ROOMS = {(0, 0): "#0072b2", (0, 1): "#e69f00", (1, 0): "#009e73", (1, 1): "#d55e00"}
DOOR = "#cc79a7"


def train() -> None:
    """One run, evaluated on the way; the state of a run never depends on its evaluations."""
    from apart.training.program import program
    from apart.training.state import hyper_of

    config, world = resolve(WORLD, METHOD, {"steps": STEPS, "seed": SEED})
    assert isinstance(world, TableWorld)
    run, hyper = program(world, config), hyper_of(config)
    state, done = run.init(np.int32(SEED), hyper), 0
    curve, episodes = [], {}
    for steps in range(0, CURVE_TO + 1, EVERY):
        rounds = steps // config.collection
        state, done = run.chunk(state, hyper, np.int32(rounds - done)), rounds
        found = run.evaluate(state, hyper)
        curve.append([steps, int(found.n_effective)])
        if steps in MOMENTS:
            episodes[str(steps)] = [trimmed(row) for row in np.asarray(found.trajectories).tolist()]
    what = {"world": WORLD, "method": METHOD, "seed": SEED, "steps": STEPS}
    what |= {"skills": config.skills, "horizon": config.horizon}
    STORED.write_text(json.dumps({**what, "curve": curve, "episodes": episodes}) + "\n")


def trimmed(states: list[int]) -> list[int]:
    """Without the steps at the end in which the skill stays where it is."""
    n = len(states)
    while n > 1 and states[n - 2] == states[-1]:
        n -= 1
    return states[:n]


class Film:
    """The axes and artists; `show` sets them to one moment and one step of the episode."""

    def __init__(self, data: dict[str, Any], world: TableWorld) -> None:
        self.data, self.world = data, world
        self.figure, (self.map, self.curve) = draw.figure(2, size=(WIDTH / DPI, HEIGHT / DPI))
        self.figure.set_layout_engine("none")
        self.figure.set_dpi(DPI)
        self.figure.set_facecolor("white")
        self._map()
        self._text()
        self._curve()

    def _map(self) -> None:
        from matplotlib.patches import Rectangle

        axis, rows = self.map, self.world.places.backdrop
        axis.set_position((0.02, 0.04, 0.92 * HEIGHT / WIDTH, 0.92))
        axis.set_xlim(-0.5, len(rows[0]) - 0.5)
        axis.set_ylim(len(rows) - 0.5, -0.5)
        axis.axis("off")
        for r, row in enumerate(rows):
            for c, char in enumerate(row):
                colour = WALL if char == "#" else FLOOR
                square = Rectangle((c - 0.5, r - 0.5), 1, 1, color=colour, linewidth=0)
                axis.add_patch(square)
        self.cells = []
        for r, c in self.world.cells:
            gap = 0.04
            size = 1 - 2 * gap
            patch = Rectangle((c - 0.5 + gap, r - 0.5 + gap), size, size, linewidth=0)
            patch.set(facecolor=colour_of(r, c), alpha=0.5, visible=False)
            self.cells.append(axis.add_patch(patch))
        r, c = self.world.cells[self.world.start]
        ring = {"marker": "o", "markersize": 22, "markerfacecolor": "none"}
        axis.plot([c], [r], **ring, markeredgecolor=INK, markeredgewidth=1.6, zorder=4)
        self.dots = axis.scatter([], [], s=44, linewidths=0.8, edgecolors="white", zorder=5)

    def _text(self) -> None:
        k, horizon = self.data["skills"], self.data["horizon"]
        say = self.figure.text
        left = 0.525
        say(left, 0.92, f"{k} skills, no reward", size=17, weight="bold", color=INK)
        about = f"Each dot is one skill: a policy that walks {horizon} steps\nfrom the ring."
        about += (
            " Its cell lights up when it ends there.\nGrey: an earlier skill ends in the same cell."
        )
        say(left, 0.752, about, size=10.5, color=FAINT, linespacing=1.4)
        self.number = say(left, 0.615, "", size=30, weight="bold", color=INK)
        self.of = say(left + 0.082, 0.615, "", size=12.5, color=INK)
        self.after = say(left, 0.555, "", size=11.5, color=FAINT)

    def _curve(self) -> None:
        axis = self.curve
        axis.set_position((left := 0.575, 0.125, 0.975 - left, 0.36))
        axis.set_xlim(0, CURVE_TO / 1e3)
        axis.set_ylim(0, 95)
        axis.set_yticks([0, 25, 50, self.world.n_states])
        axis.tick_params(labelsize=10, colors=FAINT, length=0)
        axis.set_xlabel("environment steps, thousands", size=10.5, color=FAINT)
        for side in ("left", "bottom"):
            axis.spines[side].set_color("#bbbbbb")
        x, y = np.array(self.data["curve"]).T
        axis.plot(x / 1e3, y, color="#d0d0d0", linewidth=1.8)
        (self.line,) = axis.plot([], [], color="#0072b2", linewidth=2.4)
        (self.now,) = axis.plot([], [], "o", color="#0072b2", markersize=7)

    def show(self, moment: int, t: int) -> None:
        """The skills of evaluation ``moment`` after ``t`` steps of their episodes."""
        episodes = self.data["episodes"][str(moment)]
        ended: dict[int, int] = {}  # cell -> the first skill that ends there
        for z, states in enumerate(episodes):
            ended.setdefault(states[-1], z)
        where, colours, sizes = [], [], []
        lit = set()
        for z, states in enumerate(episodes):
            r, c = self.world.cells[states[min(t, len(states) - 1)]]
            owner, there = ended[states[-1]] == z, t >= len(states) - 1
            spread = 0.0 if owner and there else 0.3 * math.sqrt((z * 0.618) % 1)
            where.append((c + spread * math.cos(2.4 * z), r + spread * math.sin(2.4 * z)))
            colours.append(colour_of(*self.world.cells[states[-1]]) if owner else "#9a9a9a")
            sizes.append(52 if owner else 20)
            if there and owner:
                lit.add(states[-1])
        order = np.argsort(sizes, kind="stable")  # owners above the others
        self.dots.set_offsets(np.array(where)[order])
        self.dots.set_facecolors([colours[i] for i in order])
        self.dots.set_sizes(np.array(sizes)[order])
        for cell, patch in enumerate(self.cells):
            patch.set_visible(cell in lit)
        x, y = np.array([point for point in self.data["curve"] if point[0] <= moment]).T
        self.line.set_data(x / 1e3, y)
        self.now.set_data(x[-1:] / 1e3, y[-1:])
        self.number.set_text(f"{y[-1]}")
        self.of.set_text(f"of {self.world.n_states} cells have a skill of their own")
        self.after.set_text(f"after {moment:,} steps of {self.data['method']}, seed {SEED}")

    def image(self) -> Image.Image:
        self.figure.canvas.draw()
        return Image.fromarray(np.asarray(self.figure.canvas.buffer_rgba())).convert("RGB")


def colour_of(row: int, column: int) -> str:
    wall = 5  # the row and the column of the walls
    return DOOR if wall in (row, column) else ROOMS[int(row > wall), int(column > wall)]


def make(film: Film, horizon: int, moments: list[int]) -> tuple[list[Image.Image], list[int]]:
    images, durations = [], []
    for moment in moments:
        for t in (*range(WALKED + 1), horizon):
            film.show(moment, t)
            images.append(film.image())
            durations.append(STEP_MS)
        durations[-1] = LAST_MS if moment == moments[-1] else HOLD_MS
    return images, durations


def palette() -> Image.Image:
    """The colours of the film and what lies between those that touch; one for all frames."""
    from matplotlib.colors import to_hex, to_rgb

    def mixed(one: str, other: str, parts: int) -> list[tuple[float, ...]]:
        ends = np.array([to_rgb(one), to_rgb(other)])
        return [tuple((1 - w) * ends[0] + w * ends[1]) for w in np.linspace(0, 1, parts + 1)]

    def lit(colour: str) -> str:
        return to_hex(mixed(colour, FLOOR, 2)[1])

    colours = [c for ink in (INK, FAINT, "#9a9a9a") for c in mixed(ink, "#ffffff", 6)]
    colours += mixed("#0072b2", "#ffffff", 4) + mixed(WALL, FLOOR, 2)
    for room in (*ROOMS.values(), DOOR):
        colours += mixed(room, "#ffffff", 3) + mixed(lit(room), "#ffffff", 2)
    unique = dict.fromkeys(tuple(round(255 * part) for part in colour) for colour in colours)
    made = Image.new("P", (1, 1))
    made.putpalette([part for colour in unique for part in colour])
    return made


def save(images: list[Image.Image], durations: list[int], path: Path) -> None:
    """What stands still from one frame to the next is transparent, which costs nothing."""
    colours, nothing = palette(), 255
    before = np.full((HEIGHT, WIDTH), nothing, np.uint8)
    frames = []
    for image in images:
        seen = image.quantize(palette=colours, dither=Image.Dither.NONE)
        numbers = np.asarray(seen)
        frame = Image.fromarray(np.where(numbers == before, nothing, numbers).astype(np.uint8))
        frame.putpalette(seen.getpalette() or [])
        frames.append(frame)
        before = numbers
    options = {"duration": durations, "loop": 0, "disposal": 1, "transparency": nothing}
    frames[0].save(path, save_all=True, append_images=frames[1:], optimize=False, **options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", action="store_true", help="make results/animation.json anew")
    parser.add_argument("--frames", type=Path, help="folder for some frames as PNG")
    arguments = parser.parse_args()
    if arguments.train:
        train()
    data = stored("animation")
    _, world = resolve(data["world"], data["method"], {})
    assert isinstance(world, TableWorld)
    images, durations = make(Film(data, world), data["horizon"], [int(m) for m in data["episodes"]])
    save(images, durations, PICTURE)
    if arguments.frames:
        arguments.frames.mkdir(parents=True, exist_ok=True)
        for i in range(0, len(images), 7):
            images[i].save(arguments.frames / f"{i:03d}.png")
    size, seconds = PICTURE.stat().st_size / 1e3, sum(durations) / 1e3
    print(f"{PICTURE}: {len(images)} frames, {seconds:.1f} s, {size:.0f} kB")


if __name__ == "__main__":
    main()
