"""``apart reach DIR --goal ROW,COL``."""

from __future__ import annotations

import argparse
from typing import Any

from apart._errors import UserError
from apart.cli import words
from apart.running import loading
from apart.running.jobs import path
from apart.running.progress import several
from apart.skills import places
from apart.worlds.world import TableWorld, World

HELP = "choose the skill for a goal and run it (exit code 1: goal not reached)"
_NOT_REACHED = 1


def add(parser: argparse.ArgumentParser, asked: list[str]) -> None:
    """Add its arguments."""
    parser.add_argument("folder", metavar="DIR", help="folder of a run")
    parser.add_argument(
        "--goal",
        metavar="ROW,COL",
        help="goal, a place as in skills.json; in a table also the number of a state",
    )
    parser.add_argument(
        "--start", metavar="ROW,COL", help="first state, in tables only (default: the start)"
    )
    parser.set_defaults(command=run)


def run(parsed: argparse.Namespace) -> int:
    """Pick, walk, and say how it went."""
    if parsed.goal is None:
        raise UserError("--goal: name a place, such as --goal 0,9 (see apart reach --help)")
    goal = place("--goal", parsed.goal)
    start = None if parsed.start is None else place("--start", parsed.start)
    found = loading.shown_run(path("DIR", parsed.folder))
    goal = places.meant(found.world, goal, found.skills[0].last_state)
    if start is not None:
        _check_start(found.world, start)
    from apart.skills.library import SAMPLED, open_policies  # JAX, once nothing is wrong

    words.unfinished(found)
    policies = open_policies(found)
    skill, probability = policies.reach(goal, start)
    walked = policies.rollout(skill, start, None)
    there = [t for t, at in enumerate(walked) if places.is_at(at, goal)]
    way = f"reaches {_said(goal)} from {_said(walked[0])}"
    exact = isinstance(found.world, TableWorld)
    # The stored episode may come there, and none of those that are sampled.
    stored = () if exact else found.skills[skill].trajectory
    if probability == 0 and not any(places.is_at(at, goal) for at in stored):
        print(f"no skill {way}")
    else:
        sampled = f"in {round(probability * SAMPLED)} of {SAMPLED} sampled episodes"
        how = f"with probability {probability:.4g}" if exact else sampled
        print(f"skill {skill} of {len(found.skills)} {way} {how}")
    if isinstance(found.world, TableWorld) and found.world.observed and isinstance(goal, int):
        print(found.world.label(goal))
    if not there:
        return _NOT_REACHED
    path_ = " ".join(map(_said, walked[: there[0] + 1]))
    print(f"reached after {several(there[0], 'step')}: {path_}")
    return 0


def _check_start(world: World, start: Any) -> None:
    """`UserError` where no episode can begin at ``start``."""
    if not isinstance(world, TableWorld):
        raise UserError(
            f"--start is for tables only; episodes of {world.name} begin where reset puts them"
        )
    places.state_of(world, start)


def place(flag: str, text: str) -> Any:
    """``0,9`` as (0, 9), ``17`` as 17."""
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise UserError(f"{flag}: '{text}' is not a place; write ROW,COL, such as 0,9") from None
    return numbers if len(numbers) > 1 else numbers[0]


def _said(at: Any) -> str:
    return ",".join(map(str, at)) if isinstance(at, tuple) else str(at)
