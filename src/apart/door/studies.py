"""Many runs as one piece of work, and what a world is like before any."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from apart._config import Config, check_value
from apart._errors import UserError
from apart.comparison import results
from apart.comparison.rows import one_k
from apart.comparison.show import Comparison
from apart.door.errors import in_python
from apart.door.training import load
from apart.running import jobs, world_facts
from apart.running import sweep as sweeps
from apart.running.engines import LOCAL
from apart.running.engines import engine as engine_of
from apart.runs.folder import Run
from apart.runs.plan import seeds_from
from apart.worlds import load as load_world
from apart.worlds import written

if TYPE_CHECKING:
    from apart.worlds.world import World

    Named = str | os.PathLike[str]


def check(world: Named | World, *, slip: float = 0.0) -> dict[str, str]:
    """Whether and how a world will work: what is to be said of it, by name, in seconds.

    Args:
        world: as in `train`.
        slip: as in `train`.

    Raises:
        UserError: it will not work.
    """
    with in_python():
        found = load_world(world, slip)
        if isinstance(world, str | os.PathLike):
            named: str | None = os.fspath(world)
        else:
            named = written(found.about.spec)

        def command(before: str, options: Mapping[str, Any]) -> str:
            text = "world" if named is None else repr(before + named)
            asked = {**options, "slip": slip} if slip else options
            said = "".join(f", {name}={value!r}" for name, value in asked.items())
            return f"apart.train({text}{said})"

        return dict(world_facts.facts(found, command))


def compare(
    worlds: Named | World | Sequence[Named | World],
    *,
    methods: str | Sequence[str] | None = None,
    steps: int | str | Sequence[int | str] = 1_000_000,
    seed: int = 0,
    seeds: int = 4,
    skills: int = Config.skills,
    sharing: bool = True,
    known: Sequence[Named] = (),
    out: Named | None = None,
    engine: str = LOCAL,
    say: Callable[[str], None] = print,
) -> Comparison:
    """Methods side by side on the same worlds, by every measure; what is there is not made again.

    Args:
        worlds: one or several, as in `train`.
        methods: names of `apart.METHODS`; None: all that bring no network of their own.
        steps: environment steps; several make rows of their own.
        seed: the first seed.
        seeds: of each row.
        skills: K.
        sharing: a second row of each method: a transition teaches all skills, or its own alone.
        known: paths of compare.json of other comparisons: their rows too; what they have is not
            trained.
        out: folder; ``runs/compare`` unless said. It gets compare.json, compare.md, compare.png.
        engine: as in `train`.
        say: called with every line, the table last.

    Raises:
        UserError: wrong input (nothing was trained), or what failed (all else is written).
        RunInterrupted: SIGINT or SIGTERM; calling again goes on.
    """
    from apart.comparison.compare import FOLDER
    from apart.comparison.compare import compare as made

    with in_python():
        named = [
            os.fspath(world) if isinstance(world, os.PathLike) else world
            for world in _listed(worlds)
        ]
        if not named:
            raise UserError("name at least one world")
        lengths = [check_value("steps", length) for length in _listed(steps)]
        if not lengths:
            raise UserError("--steps: give at least one number")
        folder = FOLDER if out is None else jobs.path("--out", out)
        rows = made(
            named,
            folder,
            methods=None if methods is None else _names(methods),
            steps=lengths,
            seeds=seeds_from(seed, seeds),
            skills=one_k(skills),
            sharing=sharing,
            engine=engine_of(engine),
            say=say,
            known=[
                row for file in _listed(known) for row in results.read(jobs.path("--with", file))
            ],
        )
        return Comparison(folder, rows)


def sweep(
    file: Named,
    *,
    out: Named | None = None,
    engine: str = LOCAL,
    say: Callable[[str], None] = print,
) -> list[Run]:
    """The runs that a TOML file describes (docs/guide/sweeps.md), in its order, trained.

    A table of every measure, with a row for each setting, is written beside them.

    Args:
        file: the description.
        out: folder; ``runs/NAME`` of the file unless said. Runs that are there are not made again.
        engine: as in `train`.
        say: called with every line.

    Raises:
        UserError: wrong input (nothing was trained), or what failed (all else is done).
        RunInterrupted: SIGINT or SIGTERM; calling again goes on.
    """
    from apart.comparison.compare import summed_up

    with in_python():
        path = jobs.path("file", file)
        folder = Path("runs") / path.stem if out is None else jobs.path("--out", out)
        tasks = sweeps.train(path, folder, engine_of(engine), say, summed_up=summed_up)
        return [load(one) for one in dict.fromkeys(task.folder for task in tasks)]


def _names(given: Any) -> list[Any]:
    """As `_listed`; ``"vic,apart"`` as on the command line is two."""
    return [part.strip() for part in given.split(",")] if isinstance(given, str) else _listed(given)


def _listed(given: Any) -> list[Any]:
    """Several, or one alone, as a list."""
    return list(given) if isinstance(given, list | tuple) else [given]
