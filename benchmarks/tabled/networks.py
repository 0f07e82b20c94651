"""Networks and pixels."""

from __future__ import annotations

from tabled.base import markdown, stored, table, thousands


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
