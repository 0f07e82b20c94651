"""Continuous mazes, UPSIDE's table among them."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from tabled.base import markdown, numbers, stored, table, thousands


@table
def family_upside_mazes() -> str:
    """UPSIDE's tree with networks, beside what its paper reports."""
    rows: list[list[object]] = []
    for name, methods in stored("family-upside-mazes")["upside"].items():
        for k, runs in methods["upside"].items():
            found = list(runs.values())
            rows.append([f"`maze:{name}`", k, len(runs), _visited(found), _last(found)])
    return markdown(["1M steps", "K", "seeds", "buckets visited", "distinct last"], rows)


UPSIDE_WALK = {"bottleneck": "29.17 ± 0.57", "u": "23.33 ± 0.57"}


@table
def maze_walk() -> str:
    """Buckets that a random walk ever visits."""
    rows = []
    for name, walk in stored("mazes")["walk"].items():
        seen = [run["visited"] for run in walk.values()]
        ours = f"{fmean(seen):.2f} ({', '.join(map(str, seen))})"
        steps = {f"{run['env_steps'] / 1e6:g}M" for run in walk.values()}
        rows.append([f"`maze:{name}`", *steps, ours, UPSIDE_WALK[name]])
    return markdown(["maze", "steps", "buckets visited (seeds)", "UPSIDE"], rows)


@table
def maze_methods() -> str:
    """What existing methods find in continuous mazes."""
    mazes = stored("mazes")["methods"]
    rows = []
    for label in next(iter(mazes.values())):
        for name, methods in mazes.items():
            runs = methods.get(label, {}).values()
            if runs:
                found = (", ".join(str(run[key]) for run in runs) for key in ("visited", "last"))
                steps = {thousands(run["env_steps"]) for run in runs}
                updates = {f"{run['updates']:,}" for run in runs}
                words = (" ".join(steps), " ".join(updates))
                rows.append([f"`{label}`", f"`maze:{name}`", *found, *words])
    head = ["method", "maze", "buckets visited, by seed", "distinct last buckets"]
    return markdown([*head, "steps", "updates"], rows)


UPSIDE_SIZES = "57 / 51"  # as many skills as UPSIDE has in the bottleneck and in the U

# Kamienny et al. 2022, three seeds each, by K where there are several; UPSIDE's are the policies it
# ends with. Steps where the paper says them.
PUBLISHED_MAZES = {
    "random, 10M steps": {"": ("29.17", "23.33")},
    "DIAYN, 10M steps": {
        "10": ("17.67", "14.67"),
        "20": ("23.00", "16.67"),
        "50": ("30.00", "25.33"),
    },
    "DIAYN-curriculum": {"": ("18.00", "15.67")},
    "DIAYN-hierarchical": {"": ("38.33", "49.67")},
    "SMM": {
        "10": ("19.00", "14.00"),
        "20": ("23.67", "14.00"),
        "50": ("28.00", "25.00"),
    },
    "EDL, oracle states": {
        "10": ("27.00", "32.00"),
        "20": ("31.00", "46.00"),
        "50": ("33.33", "52.33"),
    },
    "flat UPSIDE": {
        "10": ("40.67", "43.33"),
        "20": ("47.67", "55.67"),
        "50": ("51.33", "57.33"),
    },
    "UPSIDE, 1M steps": {UPSIDE_SIZES: ("85.67 ± 1.93", "71.33 ± 0.42")},
}


def _maze_rows() -> dict[str, dict[str, Any]]:
    """Runs by maze, row, K and seed; those of `upside` are stored beside the others."""
    own = stored("family-upside-mazes")["upside"]
    return {name: {**rows, **own[name]} for name, rows in stored("mazes")["upside"].items()}


def _maze_runs(label: str, k: str) -> list[list[dict[str, Any]]]:
    """The runs of a row in the bottleneck and in the U."""
    mazes = _maze_rows()
    sizes = k.split(" / ") if k == UPSIDE_SIZES else [k, k]
    return [
        list(mazes.get(name, {}).get(label, {}).get(size, {}).values())
        for name, size in zip(("bottleneck", "u"), sizes, strict=True)
    ]


def _maze_sizes(label: str) -> list[str]:
    """K of the rows of a method, most first; those of UPSIDE as one."""
    mazes = _maze_rows()
    found = {k for methods in mazes.values() for k in methods.get(label, {})}
    pair = set(UPSIDE_SIZES.split(" / "))
    if pair & found:
        found = (found - pair) | {UPSIDE_SIZES}
    return sorted(found, key=lambda k: int(k.split()[0]), reverse=True)


@table
def readme_mazes() -> str:
    """Four rows whose conditions differ, each beside its own."""
    held, sizes = "every fourth step", UPSIDE_SIZES.replace(" ", "")
    spread, walk = _maze_runs("apart_spread", UPSIDE_SIZES), _maze_runs("random_walk", "100")
    every_step = stored("mazes")["hold"]["1"]["bounded"]["0"]
    rows: list[list[object]] = [
        [f"`apart_spread`, {sizes} skills", held, "1M", *map(_visited, spread), 8],
        [
            *("`apart_spread`, 100 skills", "every step", thousands(every_step["env_steps"])),
            *(every_step["visited"], "not run", 1),
        ],
        ["random actions, 100 episodes", held, "-", *map(_visited, walk), 8],
    ]
    assert {len(runs) for runs in (*spread, *walk)} == {8}
    ((_, found),) = PUBLISHED_MAZES["UPSIDE, 1M steps"].items()
    rows.append([f"*UPSIDE, {sizes} skills (published)*", "every step", "1M", *found, 3])
    return markdown(["", "decisions", "steps", "bottleneck", "U", "seeds"], rows)


@table
def maze_upside() -> str:
    """Buckets that skills visit, beside what UPSIDE's paper reports."""
    mazes = _maze_rows()
    rows: list[list[object]] = []
    for label in dict.fromkeys(label for methods in mazes.values() for label in methods):
        for k in _maze_sizes(label):
            runs = _maze_runs(label, k)
            cells = [cell for found in runs for cell in (_visited(found), _last(found))]
            seeds = " / ".join(dict.fromkeys(str(len(found)) for found in runs))
            rows.append([f"`{label}`", k, *cells, seeds])
    for label, by_k in PUBLISHED_MAZES.items():
        for k, (bottleneck, u) in by_k.items():
            rows.append([f"*{label}*", k, bottleneck, "", u, "", 3])
    head = ["method", "K", "bottleneck (100): visited", "last", "U (72): visited", "last"]
    return markdown([*head, "seeds"], rows)


def _visited(runs: list[dict[str, Any]]) -> str:
    seen = [run["visited"] for run in runs]
    if not seen:
        return "-"
    return f"{fmean(seen):.1f} ({min(seen)} to {max(seen)})" if len(seen) > 1 else f"{seen[0]}"


def _last(runs: list[dict[str, Any]]) -> str:
    return f"{fmean(run['last'] for run in runs):.1f}" if runs else "-"


@table
def maze_choices() -> str:
    """One option changed at a time, on mazes of EDL."""
    rows = []
    for label, mazes in stored("mazes")["choose"].items():
        cells = []
        for name in ("a", "tree", "large"):
            runs = list(mazes.get(name, {}).values())
            cells.append(
                ", ".join(f"{fmean(run['curve'][1:]):.1f}" for run in runs) if runs else "-"
            )
        rows.append([label, *cells])
    return markdown(["changed", "`maze:a`", "`maze:tree`", "`maze:large`"], rows)


@table
def maze_steady() -> str:
    """What was chosen between, after 1M steps."""
    rows = []
    for label, mazes in stored("mazes")["steady"].items():
        runs = [list(mazes.get(name, {}).values()) for name in ("large", "tree")]
        cells = [
            ", ".join(f"{run['visited']} / {run['last']}" for run in found) or "-" for found in runs
        ]
        rows.append([label, *cells])
    return markdown(["changed", "`maze:large` (100)", "`maze:tree` (31)"], rows)


@table
def maze_metric() -> str:
    """How distances go with the lengths of shortest ways."""
    rows = []
    for name, kinds in stored("mazes")["metric"].items():
        for kind, runs in kinds.items():
            for run in runs.values():
                sees = {"as it is": "as it is", "sides": "beside walls, never on them"}[kind]
                rows.append([f"`maze:{name}`", sees, run["buckets"], run["positions"]])
                rows[-1] += [run["learned"], f"{run['visited']} / {run['last']}"]
    head = ["maze", "a position is seen", "buckets seen", "of positions", "learned"]
    return markdown([*head, "visited / last"], rows)


@table
def maze_places() -> str:
    """Where skills end beside where they are to end."""
    rows = []
    for name, many in stored("mazes")["places"].items():
        for skills, runs in many.items():
            means = [
                f"{fmean(run[key] for run in runs.values()):.1f}"
                for key in ("buckets", "in", "beside", "behind", "elsewhere")
            ]
            rows.append([f"`maze:{name}`", skills, len(runs), *means])
    head = ["maze", "K", "seeds", "buckets that have a place", "skills that end in its bucket"]
    return markdown([*head, "one or two steps away", "behind a wall", "elsewhere"], rows)


@table
def maze_hold() -> str:
    """Decisions of other lengths, with bounded targets and without."""
    rows = []
    for hold, kinds in sorted(stored("mazes")["hold"].items()):
        cells: list[object] = []
        for kind in ("bounded", "free"):
            runs = list(kinds.get(kind, {}).values())
            cells += [
                ", ".join(f"{run[key]:g}" for run in runs) or "-"
                for key in ("visited", "last", "largest")
            ]
        rows.append([hold, *cells])
    head = ["held for", *("visited", "last", "largest Q") * 2]
    return markdown(head, rows)


@table
def maze_speed() -> str:
    """Learning in a continuous maze, by turns."""
    rows = [
        [
            f"one in {row['steps_per_update']} steps",
            row["layer"],
            f"{row['ms_per_episode']:.1f}",
            f"{row['steps_per_cpu_second']:,}",
        ]
        for row in stored("mazes")["speed"]
    ]
    return markdown(["updates", "last layer", "ms per episode", "steps per second"], rows)


def _mean_visited(label: str, k: str) -> list[str]:
    """Buckets of the bottleneck and of the U."""
    return [f"{fmean(run['visited'] for run in runs):.1f}" for runs in _maze_runs(label, k)]


@numbers
def maze_random() -> list[str]:
    """Buckets that 100 random episodes visit, held as ours and in single steps as UPSIDE's."""
    walk = stored("mazes")["walk"]
    single = [fmean(run["visited"] for run in walk[name].values()) for name in ("bottleneck", "u")]
    return [*_mean_visited("random_walk", "100"), *(f"{mean:.1f}" for mean in single)]


@numbers
def maze_every_step() -> list[str]:
    """Buckets that `apart_spread` visits: deciding at every step, with more updates, held for 4."""
    hold = stored("mazes")["hold"]
    return [f"{hold[name]['bounded']['0']['visited']}" for name in ("1", "1, 16 updates", "4")]


@numbers
def maze_eddict() -> list[str]:
    """Buckets that 50 skills visit, and that as many random episodes do."""
    ours = [f"{float(mean):.0f}" for mean in _mean_visited("eddict", "50")]
    return [*ours, *_mean_visited("random_walk", "50")]


@numbers
def maze_edl() -> list[str]:
    return _mean_visited("edl", "50")
