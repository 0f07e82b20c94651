"""All pairs against one-vs-all: rewards at all states (DIAYN's way) and at the last (VIC's)."""

from __future__ import annotations

from collections.abc import Callable

from apart.paper import _draw
from apart.paper._spec import (
    MISSED,
    WORLDS,
    Claim,
    Condition,
    Experiment,
    Finding,
    Results,
    judged,
    more,
    spread,
)

ALL_STATES = {"ap_min": "AP min", "ap_average": "AP average", "diayn": "one-vs-all"}


def draw(results: Results) -> _draw.Figure:
    """Rooms at all and at last states, then the two other worlds."""
    made, axes = _draw.figure(2, 2)
    panels = {
        "four_rooms, all states": {m: f"{m} four_rooms" for m in ALL_STATES},
        "four_rooms, last states": {"ap_min": "AP min, last", "vic": "one-vs-all, last"},
        "empty, all states": {m: f"{m} empty" for m in ALL_STATES},
        "u_maze, all states": {m: f"{m} u_maze" for m in ALL_STATES},
    }
    names = {**ALL_STATES, "vic": "one-vs-all"}
    for axis, (title, lines) in zip(axes, panels.items(), strict=True):
        records = {method: results.runs[label] for method, label in lines.items()}
        most = next(iter(records.values()))[0].n_available
        axis.set_ylim(0, 1.08 * most)
        _draw.level(axis, most, "all that can be found")
        _draw.curves(axis, records, _draw.STYLES, names=names)
        axis.set_title(title, fontsize=10, loc="left")
        axis.set_ylabel("skills found")
    made.tight_layout()
    return made


def not_all(label: str) -> Callable[[Results], Finding]:
    """No seed finds all."""
    return lambda results: judged(
        f"{spread(results.final(label))} of {results.runs[label][0].n_available}",
        max(results.final(label)) < results.runs[label][0].n_available,
        "no seed finds all",
    )


EXPERIMENT = Experiment(
    title="All pairs against one-vs-all",
    source="figure of section 4, 5M steps (said of two worlds)",
    conditions=[
        *(Condition(f"{m} {w}", m, w) for w in WORLDS for m in ALL_STATES),
        Condition("AP min, last", "ap_min", options={"time_weight": "last"}),
        Condition("one-vs-all, last", "vic"),
    ],
    draw=draw,
    claims=[
        *(
            Claim(f"{ALL_STATES[m]} beats one-vs-all in {w}", "yes", more(f"{m} {w}", f"diayn {w}"))
            for w in WORLDS
            for m in ("ap_min", "ap_average")
        ),
        Claim(
            "all pairs beat one-vs-all with rewards at last states",
            "yes",
            more("AP min, last", "one-vs-all, last"),
        ),
        *(
            Claim(
                f"AP average does not find all skills in {w}",
                "not the maximum",
                not_all(f"ap_average {w}"),
                early=MISSED,
            )
            for w in WORLDS
        ),
        *(
            Claim(
                f"AP average finds more than AP min in {w}",
                "yes (at 5M)",
                more(f"ap_average {w}", f"ap_min {w}"),
                {
                    "not reproduced": "the least vote is negative where others live, so that "
                    "unknown cells look better; with one update per episode that pays within 5M"
                },
            )
            for w in WORLDS
        ),
    ],
)
