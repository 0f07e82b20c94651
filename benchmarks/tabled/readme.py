"""The README's own tables."""

from __future__ import annotations

import math
from statistics import fmean

from apart._config import Config
from apart.paper._spec import WORLDS, Results
from apart.paper.reward_table import ROWS
from apart.paper.tuned_long import ALL
from apart.worlds import exact, grid
from tabled.base import markdown, reproduced, stored, table, thousands
from tabled.paper import headline


@table
def readme() -> str:
    plus = stored("plus-sixty")
    old = reproduced("learned_skills")
    rows = []
    for steps in (5_000_000, old.steps):
        means = [fmean(old.at(f"apart {w}", steps)) for w in WORLDS]
        seeds = len(old.runs["apart four_rooms"])
        words = f"`apart`, our reading, {steps / 1e6:g}M steps, {seeds} seeds"
        rows.append([words, *(f"{mean:.1f} on average" for mean in means)])
    for key in ("apart_plus 200000", "apart_plus 1000000"):
        row = plus[key]
        cells = [
            f"{row['per_world'][w]['complete']} of {row['of'] // 3} seeds complete" for w in WORLDS
        ]
        rows.append(
            [f"`apart_plus` (tabular planning), {thousands(int(key.split()[1]))} steps", *cells]
        )
    return markdown(["", "four_rooms (85)", "empty (100)", "u_maze (72)"], rows)


@table
def readme_methods() -> str:
    """Skills in four rooms, and what each method needs for them."""
    world, sixty = grid.load("four_rooms"), stored("plus-sixty")
    long, tuned = reproduced("learned_skills"), reproduced("tuned_vic")
    walk = exact.random_walk_skills(world, world.about.horizon, Config.skills)

    def at_5m(results: Results, method: str) -> tuple[str, str]:
        found = results.at(f"{method} four_rooms", 5e6)
        return f"{fmean(found):.1f}", f"5M, {len(found)} seeds"

    def complete(method: str, steps: int) -> tuple[str, str]:
        row, seeds = sixty[f"{method} {steps}"], sixty[f"{method} {steps}"]["of"] // len(WORLDS)
        full = row["per_world"]["four_rooms"]["complete"]
        shown = f"**{world.n_states}** ({full} of {seeds} seeds complete)"
        return shown, f"{thousands(steps)}, {seeds} seeds"

    def soon(method: str) -> tuple[str, str]:
        rows = [r for r in stored("spread-soon") if r["method"] == method]
        at = [r["first_full_at"] for r in rows if r["world"] == "four_rooms"]
        full = [n for n in at if n is not None]
        shown = f"**{world.n_states}** ({len(full)} of {len(at)} seeds complete)"
        return shown, f"first complete at {thousands(max(full))}, {len(at)} seeds"

    seen = stored("pixels-learning")["apart_logits"]
    pixels = sorted(run["n_effective"] for run in seen)
    steps = seen[0]["curve"]["env_steps"][-1]
    arxiv = "https://arxiv.org/abs/"
    apart, own = f"[APART]({arxiv}2308.12649)", "this software"
    nothing = "nothing (replay of 50,000 transitions)"
    rows: list[list[str]] = [
        ["random_walk", "-", "random actions, for comparison", f"{walk:.0f}", "-", "-"],
        [
            *("diayn", f"[DIAYN]({arxiv}1802.06070)", "log posterior of the skill, every step"),
            *(*at_5m(long, "diayn"), nothing),
        ],
        [
            *("vic", f"[VIC]({arxiv}1611.07507)", "log posterior of the skill, last step only"),
            *(*at_5m(long, "vic"), nothing),
        ],
        [
            *(
                "tuned_vic",
                apart,
                "VIC with its posterior scaled to [-1, 1], inverse temperature 10",
            ),
            *(*at_5m(tuned, "tuned_vic"), nothing),
        ],
        [
            *("apart", apart, "a classifier for each pair of skills; the lowest of its votes"),
            *(*at_5m(long, "apart"), nothing),
        ],
        [
            *("apart_logits", own, "margin over the strongest rival, K trained logits"),
            *complete("apart_logits", 300_000),
            "tabular planning: keeps every transition seen, sweeps over all of them",
        ],
        [
            *("apart_plus", own, "the same with counts of last states, no trained discriminator"),
            *complete("apart_plus", 200_000),
            "tabular planning, as above; states must be enumerable",
        ],
        [
            *("apart_spread", own, "coming to an end of its own, planned on what was seen"),
            *soon("apart_spread"),
            "tabular planning, as above; goes where an action was never tried",
        ],
        [
            *("apart_pixels", own, "`apart_logits` with CNNs on images"),
            *(f"{pixels[0]} to {pixels[-1]}", f"{thousands(steps)}, {len(seen)} seeds"),
            f"images as input, but sweeps over the {world.n_states} true states",
        ],
    ]
    head = ["method", "from", "rewarded for", f"skills found, of {world.n_states}"]
    head += ["environment steps", "needs beyond sampled episodes"]
    return markdown(head, [[f"`{row[0]}`", *row[1:]] for row in rows])


@table
def readme_state() -> str:
    """The same with two examples."""
    found, counted = reproduced("reward_table"), reproduced("tuned_long")
    row = next(label for label, (method, *_) in ROWS.items() if method == "apart")
    paper = ROWS[row][1]
    ours, theirs = (
        fmean(found.at(row, 5e6)),
        fmean(reproduced("reward_table", "published").at(row, 5e6)),
    )
    tuned = [counted.first(f"tuned_vic {w}", n) for w, (n, _) in ALL.items()]
    had = sum(math.isfinite(at) for seeds in tuned for at in seeds)
    lines = [
        f"**State of the reproduction.** {headline()} "
        "([which, and why not](docs/paper/ledger.md)).",
        f"Two examples: `apart` finds {ours:.1f} of 85 skills after 5M steps, {theirs:.1f} with "
        f"`--reading published`, where the paper reports {paper:g} (the first is better, the "
        "interval of the second comes within two of its deviations: both count as reproduced); "
        "`tuned_vic`, in our reading, had all skills of "
        f"its world at some evaluation within {counted.steps / 1e6:.0f}M steps in {had} of "
        f"{sum(map(len, tuned))} runs (three worlds), where the paper reports all.",
        "The paper leaves open how many updates are made per step, whether the one layer has a "
        "bias, and more; what comes closest to its numbers was "
        "[searched for](docs/paper/readings.md).",
    ]
    return "\n".join(f"> {line}" for line in lines)
