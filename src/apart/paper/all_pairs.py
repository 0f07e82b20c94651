"""All pairs against one-vs-all: rewards at all states (DIAYN's way) and at the last (VIC's)."""

from __future__ import annotations

from apart.paper import _judge as rule
from apart.paper import _panels
from apart.paper._spec import WORLDS, Claim, Condition, Experiment, Results, each
from apart.report import draw

ALL_STATES = {"ap_min": "AP min", "ap_average": "AP average", "diayn": "one-vs-all"}


def picture(results: Results) -> draw.Figure:
    """Rooms at all and at last states, then the two other worlds."""
    made, axes = draw.figure(2, 2)
    last = {"ap_min": results.runs["AP min, last"], "vic": results.runs["one-vs-all, last"]}
    panels = [(f"{w}, all states", results.in_world(w, ALL_STATES)) for w in WORLDS]
    panels.insert(1, ("four_rooms, last states", last))
    names = {**ALL_STATES, "vic": "one-vs-all"}
    for axis, (title, runs) in zip(axes, panels, strict=True):
        _panels.over_steps(axis, title, runs, names=names)
    return made


def not_all(label: str) -> rule.Check:
    """No seed finds all."""

    def check(results: Results) -> rule.Finding:
        most, found = results.runs[label][0].n_available, results.final(label)
        ours = f"{rule.spread(found)} of {most}"
        return rule.judged(ours, max(found) < most, "no seed finds all")

    return check


EXPERIMENT = Experiment(
    title="All pairs against one-vs-all",
    source="figure of section 4, 5M steps (said of two worlds)",
    conditions=[
        *each(ALL_STATES, WORLDS),
        Condition("AP min, last", "ap_min", options={"time_weight": "last"}),
        Condition("one-vs-all, last", "vic"),
    ],
    draw=picture,
    claims=[
        *(
            Claim(
                f"{ALL_STATES[m]} beats one-vs-all in {w}",
                "yes",
                rule.more(f"{m} {w}", f"diayn {w}"),
            )
            for w in WORLDS
            for m in ("ap_min", "ap_average")
        ),
        Claim(
            "all pairs beat one-vs-all with rewards at last states",
            "yes",
            rule.more("AP min, last", "one-vs-all, last"),
        ),
        *(
            Claim(
                f"AP average does not find all skills in {w}",
                "not the maximum",
                not_all(f"ap_average {w}"),
                early=rule.MISSED,
            )
            for w in WORLDS
        ),
        *(
            Claim(
                f"AP average finds more than AP min in {w}",
                "yes (at 5M)",
                rule.more(f"ap_average {w}", f"ap_min {w}"),
                {
                    rule.OURS_MISSED: "the least vote is negative where others live, so that "
                    "unknown cells look better; with one update per episode that pays within 5M"
                },
            )
            for w in WORLDS
        ),
    ],
)
EXPERIMENTS = {"all_pairs": EXPERIMENT}
