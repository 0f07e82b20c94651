"""Parse values of the command line, and print what several commands share."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from apart._config import check_value, number
from apart._errors import UserError, unknown
from apart.running import cache
from apart.running.engines import ENGINES, LOCAL, engine
from apart.running.jobs import path
from apart.running.progress import REPORTERS, duration, several
from apart.runs.folder import Run, RunSet, found
from apart.runs.plan import MAX_THREADS
from apart.worlds.world import TableWorld

_DEVICES = ("cpu", "gpu", "tpu", "cuda", "rocm")


def count(name: str, text: str, most: int) -> int:
    """The whole number in ``text``, 1 to ``most``."""
    value = number(name, text, whole=True, like="4")
    if not isinstance(value, int):
        raise UserError(f"{name}: '{text}' is not a whole number")
    if not 1 <= value <= most:
        raise UserError(f"{name}: {value} is outside 1 to {most}")
    return value


def steps(parsed: argparse.Namespace) -> int | None:
    """The value of ``--steps``, if given."""
    if parsed.steps is None:
        return None
    value: int = check_value("steps", number("--steps", parsed.steps, whole=True))
    return value


def ranges(name: str, text: str) -> list[range]:
    """The whole numbers in ``text``, as 7, 0-19 or 0-4,7."""
    parsed = []
    for part in text.split(","):
        first, dash, last = (word.strip() for word in part.partition("-"))
        ends = [first, last] if dash else [first, first]
        if not all(end.isdecimal() and end.isascii() and len(end) < 10 for end in ends):
            raise UserError(f"{name}: '{part}' is not a number or a range (such as 7 or 0-19)")
        low, high = map(int, ends)
        if high < low:
            raise UserError(f"{name}: '{part}' runs backwards; write {high}-{low}")
        parsed.append(range(low, high + 1))
    return parsed


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def seconds(name: str, text: str) -> float:
    """The time in ``text``: 90s, 30m, 8h."""
    plain, unit = text.strip()[:-1], text.strip()[-1:]
    if unit not in _UNITS:
        raise UserError(f"{name}: '{text}' has no unit (such as 90s, 30m or 8h)")
    value = number(name, plain, whole=False, like="90s, 30m or 8h") * _UNITS[unit]
    if not 1 <= value <= 3.2e7:
        raise UserError(f"{name}: '{text}' is outside 1s to 370d")
    return value


def out(parsed: argparse.Namespace) -> Path | None:
    """The value of ``--out``, if given."""
    return None if parsed.out is None else path("--out", parsed.out)


def add_shared(group: argparse._ActionsContainer) -> None:
    """Add the flags of every command that trains."""
    group.add_argument(
        "--device", metavar="NAME", help=f"{', '.join(_DEVICES)} (default: JAX's choice)"
    )
    group.add_argument(
        "--threads", metavar="N", help="CPU threads (default: as many as speed it up)"
    )
    group.add_argument(
        "--progress",
        metavar="NAME",
        default="auto",
        help=f"how progress is shown: {', '.join(REPORTERS)} (default auto)",
    )
    group.add_argument(
        "--cache",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="keep compiled programs in the user's cache folder (default on)",
    )
    group.add_argument(
        "--draw",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="draw skills.png at the end (default on)",
    )
    add_engine(group)


def add_engine(parser: argparse._ActionsContainer) -> None:
    """Add the flag of every command that trains several runs."""
    parser.add_argument(
        "--engine",
        metavar="NAME",
        default=LOCAL,
        help=f"where several runs are trained: {', '.join(ENGINES)} (default {LOCAL})",
    )


def check_shared(parsed: argparse.Namespace) -> None:
    """Check the flags of `add_shared` that nothing else checks."""
    if parsed.progress not in REPORTERS:
        raise UserError(f"--progress: '{parsed.progress}' is not one of {', '.join(REPORTERS)}")
    if parsed.device not in (None, *_DEVICES):
        raise unknown("device", parsed.device, _DEVICES)
    engine(parsed.engine)
    if not parsed.cache:
        os.environ[cache.VARIABLE] = "off"  # also for children


def threads_of(parsed: argparse.Namespace, default: int, several: bool) -> int:
    """The value of ``--threads``, else ``default``; ``several`` seeds have one each."""
    if parsed.threads is None:
        return default
    if several:
        raise UserError(
            "--threads has no effect with several seeds: each is a process of one thread"
        )
    return count("--threads", parsed.threads, MAX_THREADS)


def note(line: str) -> None:
    """Print a line on stderr; a queue of runs passes it on."""
    from apart.running.queue import NOTE

    print(f"{NOTE}{line}", file=sys.stderr)


def _earned(run: Run) -> list[str]:
    """Points of the map's task; nothing without one."""
    task = run.summary.get("task")  # runs of earlier versions lack it
    if task is None:
        return []
    return [
        f"task: {task['mean']:g} points per episode on average, {max(task['returns']):g} by the "
        f"best skill, {task['best']:g} possible"
    ]


def _covering(run: Run) -> list[str]:
    """How far the farthest place is from any end; nothing where distances are unknown, or all 0."""
    measured, noun = run.spread, run.world.places.noun
    if measured is None or not measured["radius"]:
        return []
    unit = "step" if isinstance(run.world, TableWorld) else noun  # steps from bin to bin elsewhere
    return [
        f"the farthest {noun} is {several(measured['radius'], unit)} from the nearest skill's end "
        f"(greedy k-center placement: {measured['ideal_radius']})"
    ]


def _chance(run: Run) -> list[str]:
    """Whether as many episodes of random actions end in more places."""
    walk = run.summary["n_random_walk"]
    learns = int(run.config["updates_per_episode"]) > 0
    if walk is None or not learns or run.n_effective >= walk:
        return []
    sampled = "" if isinstance(run.world, TableWorld) else " in one sample"
    return [f"fewer than random actions reach{sampled} ({walk:g})"]


def _reference(run: Run) -> list[str]:
    """What random actions reach, and how many places there are."""
    walk, n, noun = run.summary["n_random_walk"], run.n_available, run.world.places.noun
    of = "" if n is None else f", of {n:,} in reach"
    if walk is None:
        return [] if n is None else [f"for comparison: {several(n, noun)} can be reached"]
    episodes = several(int(run.config["skills"]), "episode")
    return [f"for comparison: {episodes} of random actions end in {walk:g} different {noun}s{of}"]


def pictures(trained: Run | RunSet, frames: bool = False) -> Iterator[str]:
    """Draw run after run; yields where each picture is, or why there is none.

    Raises:
        NoPicture: ``frames`` were asked for, and the world renders none.
    """
    from apart.report.figures import NoPicture, skills_picture

    for run in trained.runs:
        try:
            yield f"picture of every skill: {skills_picture(run, frames)}"
        except NoPicture as error:
            if frames:
                raise
            yield f"no picture: {error}"


def unfinished(shown: Run | RunSet) -> None:
    """Print how far a set and its runs have come, where they are not finished."""
    if isinstance(shown, RunSet) and not shown.finished:
        print(f"{shown.path}: {shown.progress}")
    for run in shown.runs:
        if not run.finished:
            print(f"{run.path}: {run.progress}")


def conclude(parsed: argparse.Namespace, trained: Run | RunSet) -> None:
    """Draw unless --no-draw, and print the result; with JSON progress stdout has nothing else."""
    drawn = pictures(trained) if parsed.draw else ()
    if parsed.progress == "json":
        for line in drawn:
            note(line)
    else:
        tell(trained, drawn)


def tell(trained: Run | RunSet, drawn: Iterable[str]) -> None:
    """Print the result; ``drawn`` are lines as of `pictures`, made when their turn comes."""
    from apart.report.figures import has_map, legend, terminal_map

    runs = trained.runs
    first, counted = runs[0], runs[0].world.places.counted
    for run in runs:
        seed = f"seed {run.summary['seed']}: "
        print(seed + _headline(run))
        about_ends = [*_chance(run), *_covering(run)] if counted else []
        for line in [*about_ends, *_earned(run)]:
            print(" " * len(seed) + line)
    if isinstance(trained, RunSet) and counted:
        mean = sum(run.n_effective for run in runs) / len(runs)
        print(f"mean of {several(len(runs), 'seed')}: {mean:.2f} skills")
    if "evidence" in first.summary:  # runs of earlier versions lack it
        print(f"skills counted: {first.summary['evidence']}")
    for line in _reference(first):
        print(line)
    if isinstance(trained, Run) and has_map(trained):
        print(f"\nskills that end in each cell ({legend(trained)}):\n{terminal_map(trained)}\n")
    for line in drawn:
        print(line)
    print(f"run folder: {trained.path}")
    print(f"look: apart report {shlex.quote(str(trained.path))}")


def _headline(run: Run) -> str:
    """How many skills there are, after how many steps."""
    s = run.summary
    n = found(run.n_effective, run.n_available, int(run.config["skills"]))
    what = f"{n} {'skill' if n == '1' else 'skills'}" if run.world.places.counted else "trained"
    full = "" if s["first_full_at"] is None else f", first complete at {s['first_full_at']:,}"
    return (
        f"{what} after {s['env_steps']:,} steps{full} "
        f"({duration(s['wall_seconds'])}, {s['env_steps_per_second']:,.0f} steps/s)"
    )
