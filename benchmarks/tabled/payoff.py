"""What skills are worth."""

from __future__ import annotations

from typing import Any

from apart.methods import METHODS
from apart.report import statistics
from tabled.base import markdown, numbers, stored, table


def _percent(scores: list[float]) -> str:
    """The mean and half of its interval, in per cent; one exact number has none."""
    found = statistics.mean([100 * score for score in scores])
    half = found.high - found.estimate
    return f"{found.estimate:.1f}" + (f" ± {half:.1f}" if len(scores) > 1 else "")


def goals_by_score(goals: dict[str, Any]) -> dict[str, Any]:
    """Methods by the share of pairs that they come to; what is exact, chance, stands last."""

    def rank(row: tuple[str, Any]) -> tuple[bool, float]:
        return len(row[1]) == 1, -sum(one["comes"] for one in row[1]) / len(row[1])

    return dict(sorted(goals.items(), key=rank))


@table
def payoff_goals() -> str:
    rows = []
    for method, found in goals_by_score(stored("payoff")["goals"]).items():
        columns = ("start", "comes", "ends", "chosen_there")
        cells = [_percent([one[c] for one in found]) if c in found[0] else "" for c in columns]
        seeds = len(found) if len(found) > 1 else "exact"
        rows.append([f"`{method}`" if len(found) > 1 else method, *cells, seeds])
    head = ["%", "goals reached from the start", "(start, goal) pairs: comes there", "ends there"]
    return markdown([*head, "comes there, chosen in each state", "seeds"], rows)


@table
def payoff_chains() -> str:
    rows = []
    for method, found in stored("payoff")["chains"].items():
        cells = []
        for links in range(1, len(found[0])):
            mean = statistics.mean([one[links] for one in found])
            cells.append(f"{mean.estimate:.1f} ± {mean.high - mean.estimate:.1f}")
        label = f"`{method}`" if method in METHODS else f"{method}, random policies"
        rows.append([label, *cells, len(found)])
    links = len(next(iter(stored("payoff")["chains"].values()))[0]) - 1
    return markdown(["cells, of 85", *map(str, range(1, links + 1)), "seeds"], rows)


@table
def payoff_mazes() -> str:
    rows = []
    for key, found in stored("payoff")["mazes"].items():
        maze, label = key.split(" | ")
        columns = ("reached", "score", "tried", "tried_score")
        cells = [_percent([one[c] for one in found]) if c in found[0] else "" for c in columns]
        name = f"`{label}`" if len(found) > 1 else label
        rows.append([f"`maze:{maze}`", name, *cells, len(found) if len(found) > 1 else ""])
    head = ["maze", "skills of", "goals reached, %", "score, %", "best of all: reached, %"]
    return markdown([*head, "score, %", "seeds"], rows)


def task_steps(scores: list[int | None], budget: int) -> statistics.Interval:
    """Mean steps; those who did not come there count as the budget."""
    return statistics.mean([budget if at is None else at for at in scores])


def way_rank(way: str) -> tuple[bool, int, str, bool]:
    """Primitive actions first, then methods, the last that is listed first."""
    plain, _, more = way.partition(", ")
    kind, _, method = plain.partition(" of ")
    return bool(method), -list(METHODS).index(method) if method else 0, more, kind == "both"


@table
def payoff_tasks() -> str:
    found = stored("payoff")
    budget, by_task = found["budget"], {}
    for key, scores in found["tasks"].items():
        task, how = key.split(" | ")
        solved = sum(at is not None for at in scores)
        mean = task_steps(scores, budget)
        cell = f"{mean.estimate:,.0f} ± {mean.high - mean.estimate:,.0f}"
        if not solved:
            cell = "never"
        elif solved < len(scores):
            cell = f"at least {mean.estimate:,.0f} ({solved} of {len(scores)} solved)"
        few = f" ({len(scores)} seeds)" if len(scores) < 20 else ""
        by_task.setdefault(task, {})[how] = cell + few
    ways = sorted({how for row in by_task.values() for how in row}, key=way_rank)
    table = [[how, *(row.get(how, "") for row in by_task.values())] for how in ways]
    return markdown(["actions", *by_task], table)


def _quicker(task: str, way: str) -> str:
    """How many times as fast as optimistic primitive actions."""
    found = stored("payoff")
    ways = ("primitive, optimistic", way)
    plain, skills = (task_steps(found["tasks"][f"{task} | {w}"], found["budget"]) for w in ways)
    return f"{plain.estimate / skills.estimate:.1f}"


@numbers
def payoff_quicker() -> list[str]:
    """Skills of `apart_plus` in tasks of one stage."""
    tasks = ("far corner", "a goal that moves", "MiniGrid DoorKey 5x5")
    return [_quicker(task, "skills of apart_plus") for task in tasks]


@numbers
def payoff_quicker_within() -> list[str]:
    """Skills of `apart_spread` with intra-option learning: two tasks in stages, one of one."""
    tasks = ("two cells in order", "key and doors", "far corner")
    return [_quicker(task, "skills of apart_spread, intra-option") for task in tasks]


@numbers
def payoff_settings() -> list[str]:
    """The most steps of a task; steps, discount and random episodes in mazes."""
    found = stored("payoff")
    steps = [f"{found[name]:,}" for name in ("budget", "maze_steps")]
    return [*steps, f"{found['maze_discount']}", f"{found['walks']}"]
