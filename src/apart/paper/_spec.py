"""What an experiment is: conditions to train, claims of the paper to check, a picture to draw."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from apart.methods import OURS
from apart.settings import resolve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from apart._config import Config
    from apart.worlds.world import World

WORLDS: Final = ("four_rooms", "empty", "u_maze")
NAMES: Final = {"apart": "APART", "diayn": "DIAYN", "vic": "VIC", "tuned_vic": "tuned VIC"}
LONG: Final = 150_000_000  # environment steps of the paper's longest runs
CURVES: Final = 20_000_000  # of the stored runs that stand for them
DETAILS, SKILLS = "details", "skills"


@dataclass(frozen=True)
class Condition:
    """One setting, trained with several seeds; experiments share the runs of equal settings."""

    label: str
    method: str
    world: str = "four_rooms"
    options: Mapping[str, Any] = field(default_factory=dict)
    instead: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by reading

    def resolved(self, reading: str, **numbers: int) -> tuple[Config, World]:
        """What is trained under a reading, with ``steps`` and ``seed`` if given."""
        options = self.instead.get(reading, self.options)
        return resolve(self.world, self.method, {**options, **numbers}, reading=reading)


def each(methods: Iterable[str], worlds: Iterable[str] = ("four_rooms",)) -> list[Condition]:
    """Every method in every world, labelled ``method world``."""
    named = list(methods)
    return [Condition(f"{m} {w}", m, w) for w in worlds for m in named]


@dataclass(frozen=True)
class Record:
    """What is kept of one run."""

    seed: int
    n_effective: int
    n_available: int
    n_random_walk: float
    env_steps: int
    wall_seconds: float
    curve: Mapping[str, Sequence[float]]  # columns of metrics.csv, at most 80 rows
    # Where the experiment keeps them: details at the start, near 5M steps (or a quarter) and at the
    # end; the states of every skill's episode.
    details: Sequence[Mapping[str, Any]] = ()
    skills: Sequence[Sequence[int]] = ()
    # Steps and skills at every evaluation with more skills than any before; those that were stored
    # before this was have none, and their curves must do.
    rises: Sequence[Sequence[float]] = ()


class Results(NamedTuple):
    """Everything that an experiment draws and judges from."""

    runs: Mapping[str, Sequence[Record]]  # by the condition's label
    steps: int
    reading: str = OURS
    until: float = math.inf  # a claim about 5M steps is judged there, however long the runs are

    @property
    def seeds(self) -> int:
        """Of the condition that has fewest."""
        return min(len(records) for records in self.runs.values())

    def in_world(self, world: str, methods: Iterable[str]) -> dict[str, Sequence[Record]]:
        """By method, of conditions made by `each`."""
        return {m: self.runs[f"{m} {world}"] for m in methods}

    def final(self, label: str) -> list[float]:
        """Skills at the end (or at ``until``), per seed."""
        return self.at(label, self.until)

    def first(self, label: str, n: float) -> list[float]:
        """Steps at the first evaluation with ``n`` skills, per seed; infinite if there is none."""
        rises = [record.rises for record in self.runs[label]]
        return [
            min((at for at, skills in rise or curve if skills >= n), default=math.inf)
            for rise, curve in zip(rises, self._curves(label), strict=True)
        ]

    def at(self, label: str, steps: float) -> list[float]:
        """Skills at the last evaluation up to ``steps``, per seed (runs end with whole rounds)."""
        if steps >= self.steps:
            return [float(record.n_effective) for record in self.runs[label]]
        return [[n for at, n in pairs if at <= steps][-1] for pairs in self._curves(label)]

    def _curves(self, label: str) -> list[list[tuple[float, float]]]:
        """Steps and skills at every evaluation, per seed."""
        curves = [record.curve for record in self.runs[label]]
        return [list(zip(c["env_steps"], c["n_effective"], strict=True)) for c in curves]


class Finding(NamedTuple):
    """A claim beside what was measured."""

    ours: str
    verdict: str
    why: str  # what decided it, for claims that have no better sentence


@dataclass(frozen=True)
class Claim:
    """Something that the paper says, and how to check it.

    Attributes:
        text: the claim in our words.
        paper: the paper's value.
        check: results -> what we found.
        why: one sentence per verdict (of one reading: `_judge.under`), as far as more can be said
            than the rule that decided it.
        at: environment steps that the claim is about.
        least: shorter runs may stand for them from here on; 0: none may.
        early: the verdict that shorter runs can give already (a bound that was reached stays
            reached); any other is not judged before.
        ours: a question of ours; the paper gives no answer in words or numbers.
    """

    text: str
    paper: str
    check: Callable[[Results], Finding]
    why: Mapping[str, str] = field(default_factory=dict)
    at: int = 5_000_000
    least: int = 0
    early: str = ""
    ours: bool = False


@dataclass(frozen=True)
class Experiment:
    """A table or figure of the paper.

    Attributes:
        title: one line.
        source: where in the paper.
        conditions: what is trained.
        claims: what the paper says about it.
        steps: environment steps of the stored runs in our reading.
        paper_steps: of those in other readings: the paper's own budget; 0: as many as in ours.
        seeds: how many of them.
        only_ours: it has options of its own for what a reading sets.
        keeps: what is stored of a run beside the number of skills over steps: other columns of
            metrics.csv, `DETAILS`, `SKILLS` (of the first seed).
        draw: results -> figure; unless said, skills over steps and at the end, a line a condition.
    """

    title: str
    source: str
    conditions: Sequence[Condition]
    claims: Sequence[Claim] = ()
    draw: Callable[[Results], Figure] | None = None
    steps: int = 5_000_000
    paper_steps: int = 0
    seeds: int = 4
    keeps: Collection[str] = ()
    only_ours: bool = False

    def steps_in(self, reading: str) -> int:
        """Environment steps of its runs under a reading."""
        return self.steps if reading == OURS else self.paper_steps or self.steps
