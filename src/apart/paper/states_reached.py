"""States that the skills reach at the beginning, in the middle and at the end of training."""

from __future__ import annotations

from itertools import product

import numpy as np

from apart._types import BoolArray, FloatArray
from apart.paper import _judge as rule
from apart.paper._spec import CURVES, DETAILS, LONG, Claim, Experiment, Record, Results, each
from apart.paper.learned_skills import METHODS
from apart.report import draw, maps
from apart.worlds import grid

SHOWN = ("four_rooms", "empty")


def at_once(record: Record, n_states: int, moment: int) -> FloatArray:
    """[S] the most skills that are in each state at one step of an episode."""
    visits = np.zeros(n_states)
    for state, count in record.details[moment]["most_at_once"]:
        visits[state] = count
    return visits


def reached(results: Results, label: str, among: BoolArray) -> list[int]:
    """How many of the states ``among`` [S] the skills visit at the end, per seed."""
    return [
        int((at_once(record, len(among), 2)[among] > 0).sum()) for record in results.runs[label]
    ]


def picture(results: Results) -> draw.Figure:
    """Rows: methods; columns: three moments in each world."""
    from matplotlib.colors import LogNorm

    made, axes = draw.figure(6, 3, size=(12.5, 6.6))
    made.set_layout_engine("none")
    made.subplots_adjust(left=0.01, right=0.92, bottom=0.02, top=0.96, wspace=0.06, hspace=0.16)
    panels = product(METHODS.items(), map(grid.load, SHOWN), range(3))
    for axis, ((method, name), world, moment) in zip(axes, panels, strict=True):
        record = results.runs[f"{method} {world.name}"][0]
        seen = at_once(record, world.n_states, moment)
        image = maps.values(axis, world.places.backdrop, world.cells, seen, LogNorm(1, 100))
        steps = record.details[moment]["env_steps"] / 1e6
        axis.set_title(f"{name}, {steps:.2g}M: {int((seen > 0).sum())} states", fontsize=8)
    bar = made.colorbar(image, cax=made.add_axes((0.935, 0.2, 0.012, 0.6)))
    bar.set_label("most skills there at one step", fontsize=8)
    return made


def covers(method: str, world: str, all_of_them: bool) -> rule.Check:
    """Whether the skills visit every state at the end, in every seed (or in none)."""

    def check(results: Results) -> rule.Finding:
        n = grid.load(world).n_states
        counts = reached(results, f"{method} {world}", np.ones(n, bool))
        right = min(counts) == n if all_of_them else max(counts) < n
        ours = f"{', '.join(map(str, counts))} of {n}"
        return rule.judged(ours, right, f"all states in {'every' if all_of_them else 'no'} seed")

    return check


EXPERIMENT = Experiment(
    title="States reached during training",
    source="figure of section 4: beginning, 5M and 150M steps",
    conditions=each(METHODS, SHOWN),
    draw=picture,
    claims=[
        *(
            Claim(
                f"APART reaches all states of {w}",
                "all (150M)",
                covers("apart", w, True),
                at=LONG,
                early=rule.REPRODUCED,
            )
            for w in SHOWN
        ),
        *(
            Claim(
                f"{METHODS[m]} does not reach all states of the empty room",
                "not all (150M)",
                covers(m, "empty", False),
                at=LONG,
                early=rule.MISSED,
            )
            for m in ("diayn", "vic")
        ),
    ],
    steps=CURVES,
    paper_steps=LONG,
    keeps=[DETAILS],
)
EXPERIMENTS = {"states_reached": EXPERIMENT}
