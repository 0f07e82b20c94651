"""Networks and pixels."""

from __future__ import annotations

from statistics import fmean

from apart.worlds import grid
from tabled.base import markdown, numbers, reproduced, stored, table, thousands


@table
def networks() -> str:
    rows = []
    for kind, row in stored("networks").items():
        speeds = [
            ", ".join(f"{r[form]:,.3g}" for r in row["rounds"])
            for form in ("torch", "samples", "states")
        ]
        rows.append([kind, *speeds, f"{row['same_batch']:g} times", f"{row['distinct']:g} times"])
    head = ["network", "PyTorch, batch of 640", "here, batch of 640", "here, 85 observations"]
    return markdown([*head, "gain, same batch", "gain, distinct"], rows)


@table
def pixels() -> str:
    rows = []
    for method, runs in stored("pixels-learning").items():
        for run in runs:
            steps = run["curve"]["env_steps"][-1]
            minutes = run["wall_seconds"] / 60
            cells = [f"{run['updates']:,}", thousands(steps), f"{minutes:.1f}"]
            rows.append([f"`{method}`", run["seed"], *cells, f"{run['n_effective']} of 85"])
    return markdown(["method", "seed", "updates", "steps", "minutes", "skills"], rows)


@table
def pixel_choices() -> str:
    rows = [
        [
            row["change"],
            f"{row['n_effective']} of 85",
            thousands(row["env_steps"]),
            f"{row['ms_per_update']:,}",
        ]
        for row in stored("pixels-choices")
    ]
    return markdown(["change", "skills after 300 updates", "steps", "ms per update"], rows)


@table
def cnn_profile() -> str:
    table = stored("networks-profile")
    forms = [form for form in table if "outputs" in form]
    rows = [[part, *(f"{table[form][part]:,.0f}" for form in forms)] for part in table[forms[0]]]
    parts = [markdown(["piece, ms", *forms], rows)]
    for title in (title for title in table if title not in forms):
        body = [[name, f"{ms:,.0f}"] for name, ms in table[title].items()]
        parts.append(markdown([title, "ms"], body))
    return "\n\n".join(parts)


@numbers
def pixels_same_steps() -> list[str]:
    """Thousands of steps; skills of three methods at the end; those of `apart` after 24k."""
    found = reproduced("pixels")
    ends = [f"{fmean(found.final(m)):g}" for m in ("apart", "diayn", "apart_pixels")]
    return [f"{found.steps / 1e3:.0f}", *ends, f"{fmean(found.at('apart', 24_000)):g}"]


@numbers
def pixels_for_apart() -> list[str]:
    """What half of the skills would take: updates and steps of the table, seconds each, hours."""
    curves = [run["curve"] for run in stored("reproduce/reward_table")["runs"][APART_ROW]]
    skills = map(fmean, zip(*(curve["n_effective"] for curve in curves), strict=True))
    world = grid.load("four_rooms")
    at = zip(curves[0]["env_steps"], skills, strict=True)
    steps = next(steps for steps, mean in at if mean >= world.n_states / 2)
    runs = stored("pixels-learning")["apart"]
    seconds = sum(run["wall_seconds"] for run in runs) / sum(run["updates"] for run in runs)
    updates = steps / world.about.horizon
    hours = updates * seconds / 3600
    return [f"{round(updates, -2):,.0f}", f"{steps / 1e3:.0f}", f"{seconds:.1f}", f"{hours:.0f}"]


APART_ROW = "AP min, both (APART)"
