"""Speed and safety of the software."""

from __future__ import annotations

import statistics

from tabled.base import markdown, stored, table


@table
def bench() -> str:
    parts = []
    for title, rows in stored("bench")["tables"].items():
        body = [
            [
                f"`{r['case']}`" if title.startswith("methods") else r["case"],
                f"{r['updates_per_second']:,.0f}",
                f"{r['env_steps_per_second']:,}",
                f"{r['ms_per_update']:.3f}",
                r["compile_seconds"],
                f"{r['peak_rss_mb']:,.0f}",
                r["threads"],
            ]
            for r in rows
        ]
        head = [title, "updates/s", "steps/s", "ms/update", "compile s", "MB", "threads"]
        parts.append(markdown(head, body))
    return "\n\n".join([f"Measured on: {stored('bench')['machine']}.", *parts])


@table
def family_speed() -> str:
    return _beside("table")


@table
def network_speed() -> str:
    return _beside("maze")


def _beside(name: str) -> str:
    """An update of each method beside one of DIAYN, slow ones first."""
    found = stored("family_speed")[name]
    order = sorted(found["rows"], key=lambda row: -(row["over_diayn"] or 0.0))
    rows = [
        [f"`{row['method']}`", "-", "makes no updates"]
        if row["over_diayn"] is None
        else [f"`{row['method']}`", f"{row['updates_per_second']:,.0f}", f"{row['over_diayn']:.2f}"]
        for row in order
    ]
    head = ["method", "updates per second of the processor", "time over that of `diayn`"]
    return f"Measured on: {found['machine']}.\n\n{markdown(head, rows)}"


@table
def evaluations() -> str:
    """What an evaluation costs in large tables."""
    both = stored("evaluations")
    rows = [
        [
            *(f"{now['cells']:,}", f"{now['skills']:,}"),
            *(f"{row['evaluation_ms']:.0f}" for row in (was, now)),
            f"{now['round_ms']:.0f}",
        ]
        for was, now in zip(both["before"], both["now"], strict=True)
    ]
    head = ["cells", "K", "an evaluation before, ms", "an evaluation, ms"]
    return markdown([*head, "a round of training, ms"], rows)


@table
def vectors() -> str:
    """Vectors of 512 bits beside XLA's 256."""
    found = stored("vectors")
    rows = [
        [
            f"`{row['method']}`",
            *(f"{row[name]:.3f}" for name in ("ms_256", "ms_512")),
            f"{statistics.median(row['ratios']):.2f}",
            ", ".join(f"{ratio:.2f}" for ratio in row["ratios"]),
        ]
        for row in found["rows"]
    ]
    head = ["method", "256 bits, ms/update", "512 bits, ms/update", "faster (median)", "each round"]
    return f"Measured on: {found['machine']}.\n\n{markdown(head, rows)}"


@table
def torch() -> str:
    result = stored("versus_torch")
    rows = []
    for form, ratio in result["ratio"].items():
        speeds = ", ".join(f"{r[form]:,.0f}" for r in result["rounds"])
        rows.append([f"`{form}`", speeds, f"{ratio:g} times"])
    ours = ", ".join(f"{r['apart']:,.0f}" for r in result["rounds"])
    rows.insert(0, ["**apart**", ours, ""])
    table = markdown(["version", "steps/s in each round", "apart is faster (median)"], rows)
    return f"Measured on: {result['machine']}.\n\n{table}"


@table
def update_profile() -> str:
    table = stored("update-profile")
    pieces = next(iter(table.values()))
    rows = [[piece, *(f"{found[piece]:,.0f}" for found in table.values())] for piece in pieces]
    return markdown(["µs per episode", *(f"`{method}`" for method in table)], rows)


@table
def torture() -> str:
    found = stored("torture")
    return (
        f"`make torture`: **{found['identical']} of {found['endings']} endings identical** after "
        f"{found['kills']:,} kills."
    )


@table
def safety() -> str:
    rows = [
        [
            f"`{row['method']}`",
            f"{row['wall_seconds']:.0f} s",
            f"{row['saving_percent']:.2f} %",
            f"{row['check_milliseconds']:.2f} ms, {row['checking_percent']:.2f} %",
        ]
        for row in stored("safety")["rows"]
    ]
    return markdown(["four rooms", "run", "saving", "looking for non-finite numbers"], rows)


@table
def seeds() -> str:
    result = stored("seeds")["seed_updates_per_second"]
    ways = [way.replace(" 1 threads", " 1 thread") for way in next(iter(result.values()))]
    return markdown(["method", *ways], [[f"`{m}`", *row.values()] for m, row in result.items()])
