"""What a comparison measures of a finished run: a record each, found by all who list them. No JAX.

A measure is of one run, from its folder alone. What cannot be said of a run (bits of a world that
is no table) is None; a column that nobody has is not shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from apart._registry import Registry
from apart.objective.objectives import OBJECTIVES
from apart.runs.folder import Run
from apart.worlds.world import TableWorld


class Measured(NamedTuple):
    """A number, and whether it is exact: another sample of episodes would not change it."""

    value: float
    exact: bool = True


@dataclass(frozen=True)
class Metric:
    """A column of the comparison.

    Attributes:
        summary: what it is, one line.
        head: the heading of its column.
        unit: of the numbers.
        of: finished run -> the number, None where it has none.
        never: it may never be reached (infinite): medians instead of means, and how often it was.
        uneven: single seeds may be far off for reasons of their own: medians, and the range.
        digits: after the point.
        most: run -> the largest value there can be; None: no bound that is known.
    """

    summary: str
    head: str
    unit: str
    of: Callable[[Run], Measured | None]
    never: bool = False
    uneven: bool = False
    digits: int = 1
    most: Callable[[Run], float | None] = lambda run: None


def _greedy(run: Run) -> bool:
    """Whether a table's skills are evaluated without drawing anything."""
    return isinstance(run.world, TableWorld) and int(run.config["updates_per_episode"]) > 0


def _deterministic(run: Run) -> bool:
    world = run.world
    return _greedy(run) and isinstance(world, TableWorld) and world.next_state.shape[2] == 1


def _last(run: Run, column: str, exact: bool) -> Measured | None:
    """The last value of a column of metrics.csv."""
    found = run.metrics[-1].get(column, math.nan)
    return None if math.isnan(found) else Measured(float(found), exact)


def _distinct(run: Run) -> Measured | None:
    """None where the world tells no places apart: what is stored there is 0, and no count."""
    if not run.world.places.counted:
        return None
    return Measured(float(run.n_effective), _greedy(run))


def _bits(run: Run) -> Measured | None:
    """Computed from the distributions of last states themselves, also where actions are random."""
    return _last(run, "mutual_information", exact=True)


def _most_skills(run: Run) -> float | None:
    skills = int(run.config["skills"])
    return skills if run.n_available is None else min(run.n_available, skills)


def _most_information(run: Run) -> float | None:
    """2^I at most: as evenly as K skills can be dealt to the places that there are."""
    bits = _most_bits(run)
    return None if bits is None else 2.0**bits


def _most_bits(run: Run) -> float | None:
    """The entropy of the last state when K skills are dealt evenly to n places."""
    n, k = run.n_available, int(run.config["skills"])
    if n is None:
        return None
    each, more = divmod(k, min(n, k))
    shares = [(each + 1) / k] * more + [each / k] * (min(n, k) - more)
    return -sum(share * math.log2(share) for share in shares)


def _information(run: Run) -> Measured | None:
    """None where nothing that is learnt is a posterior of the skill."""
    kind = OBJECTIVES.get(str(run.config["objective"]))
    if not run.config["updates_per_episode"] or (kind is not None and not kind.posterior):
        return None
    return _last(run, "information_count", _greedy(run))


def _first_full(run: Run) -> Measured | None:
    """None where skills are counted in expectation, which is never a whole number of places."""
    if run.n_available is None or run.n_available > int(run.config["skills"]):
        return None
    if isinstance(run.world, TableWorld) and not _deterministic(run):
        return None
    found = run.summary["first_full_at"]
    return Measured(math.inf if found is None else float(found), _greedy(run))


def _several_starts(run: Run) -> bool:
    """Whether places are counted from several starts, while stored episodes have the first."""
    return isinstance(run.world, TableWorld) and len(run.world.starts) > 1


def _radius(run: Run) -> Measured | None:
    if run.spread is None or _several_starts(run):
        return None
    return Measured(float(run.spread["radius"]), _greedy(run))


def _goals(run: Run) -> Measured | None:
    """In a table the places in reach are known; what `apart reach` finds there, for each of them.

    By chance, one episode of each skill is looked at.
    """
    world = run.world
    if not isinstance(world, TableWorld) or _several_starts(run):
        return None
    passed = {place for skill in run.skills for place in skill.trajectory}
    near = int((world.distance <= int(run.config["horizon"])).sum())
    return Measured(100.0 * len(passed) / near, _deterministic(run))


def _earned(run: Run) -> Measured | None:
    task = run.summary.get("task")  # runs of earlier versions lack it
    return None if task is None else Measured(float(task["mean"]), _deterministic(run))


def _most_earned(run: Run) -> float | None:
    task = run.summary.get("task")
    return None if task is None else float(task["best"])


METRICS: Final = Registry(
    "metric",
    {
        "distinct": Metric(
            "number of different places in which the K skills end (APART's count); an expected "
            "number where actions or moves are random",
            "distinct last states",
            "states",
            _distinct,
            most=_most_skills,
        ),
        "covering_radius": Metric(
            "steps (in mazes from bucket to bucket) from the nearest last state to the farthest "
            "place",
            "covering radius",
            "steps",
            _radius,
        ),
        "information_count": Metric(
            "2^E[log2 q(z|s_T) - log2 p(z)] by the run's own discriminator (DISDAIN's number)",
            "information count",
            "skills",
            _information,
            most=_most_information,
        ),
        "mutual_information": Metric(
            "bits of mutual information between skill and last state, from the table itself",
            "I(Z; S_T)",
            "bits",
            _bits,
            digits=2,
            most=_most_bits,
        ),
        "goals_reached": Metric(
            "share of the places within T steps that some skill visits, without further training",
            "goals reached",
            "%",
            _goals,
        ),
        "task": Metric(
            "points of the map's task that skills earn in an episode, mean over the K skills",
            "points of the task",
            "points",
            _earned,
            most=_most_earned,
        ),
        "steps_to_full": Metric(
            "environment steps at the first evaluation with a skill for every place",
            "steps to full",
            "steps",
            _first_full,
            never=True,
            digits=0,
        ),
        "seconds": Metric(
            "wall time of a run in one process on a shared machine, without compilation",
            "seconds",
            "s",
            lambda run: Measured(float(run.summary["wall_seconds"]), False),
            uneven=True,
            digits=0,
        ),
    },
)
