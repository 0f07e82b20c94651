"""From the words of a command line to numbers and paths, and what several commands share."""

from __future__ import annotations

import argparse
import os
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
    """What ``--steps`` says, if anything."""
    if parsed.steps is None:
        return None
    value: int = check_value("steps", number("--steps", parsed.steps, whole=True))
    return value


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
    """What ``--out`` says, if anything."""
    return None if parsed.out is None else path("--out", parsed.out)


def add_shared(parser: argparse.ArgumentParser) -> None:
    """The flags of everything that trains."""
    group = parser.add_argument_group("running")
    group.add_argument(
        "--device", metavar="NAME", help=f"{', '.join(_DEVICES)} (default: JAX's choice)"
    )
    group.add_argument(
        "--threads", metavar="N", help="CPU threads (default: as many as make it faster)"
    )
    group.add_argument(
        "--progress",
        metavar="NAME",
        default="auto",
        help=f"how it is shown: {', '.join(REPORTERS)} (default auto)",
    )
    group.add_argument(
        "--cache",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="keep compiled programs in the user's cache folder",
    )
    group.add_argument(
        "--draw",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="draw skills.png at the end",
    )
    add_engine(group)


def add_engine(parser: argparse._ActionsContainer) -> None:
    """The flag of everything that trains several runs."""
    parser.add_argument(
        "--engine",
        metavar="NAME",
        default=LOCAL,
        help=f"where runs are trained: {', '.join(ENGINES)} (default {LOCAL})",
    )


def check_shared(parsed: argparse.Namespace) -> None:
    """The flags of `add_shared` that nothing else checks."""
    if parsed.progress not in REPORTERS:
        raise UserError(f"--progress: '{parsed.progress}' is none of {', '.join(REPORTERS)}")
    if parsed.device not in (None, *_DEVICES):
        raise unknown("device", parsed.device, _DEVICES)
    engine(parsed.engine)
    if not parsed.cache:
        os.environ[cache.VARIABLE] = "off"  # also for children


def threads_of(parsed: argparse.Namespace, unless_said: int, several: bool) -> int:
    """What ``--threads`` says, else ``unless_said``; ``several`` seeds have one each."""
    if parsed.threads is None:
        return unless_said
    if several:
        raise UserError("--threads does nothing here: each seed is a process of one thread")
    return count("--threads", parsed.threads, MAX_THREADS)


def note(line: str) -> None:
    """A line for people who watch; a queue of runs passes it on."""
    from apart.running.queue import NOTE

    print(f"{NOTE}{line}", file=sys.stderr)


def _earned(run: Run) -> list[str]:
    """What skills earn of the task on the map; nothing without one."""
    task = run.summary.get("task")  # runs of earlier versions lack it
    if task is None:
        return []
    return [
        f"seed {run.summary['seed']}: the task: {task['mean']:g} points on average, the best skill "
        f"{max(task['returns']):g}; {task['best']:g} are possible"
    ]


def _covering(run: Run) -> list[str]:
    """How well fewer skills than places cover them; nothing where distances are not known."""
    found, noun = run.spread, run.world.places.noun
    if found is None:
        return []
    unit = "step" if isinstance(run.world, TableWorld) else noun  # steps from bin to bin elsewhere
    return [
        f"seed {run.summary['seed']}: every {noun} is within {several(found['radius'], unit)} "
        f"of an end, {found['mean_distance']:.2f} on average (ends by greedy k-center: within "
        f"{found['ideal_radius']})"
    ]


def pictures(trained: Run | RunSet, frames: bool = False) -> Iterator[str]:
    """Draw run after run; yields where each picture is, or why there is none.

    Raises:
        NoPicture: ``frames`` were asked for, and the world renders none.
    """
    from apart.report.figures import NoPicture, skills_picture

    for run in trained.runs:
        try:
            yield f"every skill drawn: {skills_picture(run, frames)}"
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
    """Draw, if wanted, and tell; where progress is JSON nothing else is on stdout."""
    drawn = pictures(trained) if parsed.draw else ()
    if parsed.progress == "json":
        for line in drawn:
            note(line)
    else:
        tell(trained, drawn)


def tell(trained: Run | RunSet, drawn: Iterable[str]) -> None:
    """What was found, as text; ``drawn`` as `pictures` says it, made when its turn comes."""
    from apart.report.figures import has_map, legend, terminal_map

    runs = trained.runs
    for run in runs:
        s, k = run.summary, int(run.config["skills"])
        full = (
            f", first complete at {s['first_full_at']:,}" if s["first_full_at"] is not None else ""
        )
        counted = run.world.places.counted
        n = found(run.n_effective, run.n_available, k)
        what = f"{n} {'skill' if n == '1' else 'skills'}" if counted else "trained"
        print(
            f"seed {s['seed']}: {what} after {s['env_steps']:,} steps{full} "
            f"({duration(s['wall_seconds'])}, {s['env_steps_per_second']:,.0f} steps/s)"
        )
    if "evidence" in runs[0].summary:  # runs of earlier versions lack it
        print(f"skills counted: {runs[0].summary['evidence']}")
    if runs[0].n_available is not None:
        walk = runs[0].summary["n_random_walk"]
        by_chance = "" if walk is None else f", {walk} by random walk"
        most = min(runs[0].n_available, int(runs[0].config["skills"]))
        noun = runs[0].world.places.noun
        cells = f" ({runs[0].n_available} {noun}s)" if most < runs[0].n_available else ""
        print(f"for comparison: {most} at most{cells}{by_chance}")
        for run in runs if most < runs[0].n_available else []:
            for line in _covering(run):
                print(line)
    for run in runs:
        for line in _earned(run):
            print(line)
    if isinstance(trained, RunSet) and runs[0].world.places.counted:
        mean = sum(run.n_effective for run in runs) / len(runs)
        print(f"mean of {several(len(runs), 'seed')}: {mean:.2f}")
    elif isinstance(trained, Run) and has_map(trained):
        print(f"\nskills that end in each cell ({legend(trained)}):\n{terminal_map(trained)}\n")
    for line in drawn:
        print(line)
    print(f"run folder: {trained.path}")
