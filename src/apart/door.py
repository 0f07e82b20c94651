"""The Python door: `train`, `resume`, `load`. The same folders and files as the command line.

Errors of the command line name flags (``--learning-rate 0.1``); here they name arguments
(``learning_rate=0.1``).
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Unpack, cast, overload

from apart import worlds
from apart._config import SPECS, TYPES, Options, check_value, unknown_option
from apart._errors import NonFinite, UserError, unknown
from apart.checks import check_names
from apart.facts import choices
from apart.methods import METHODS, OURS, Method
from apart.objective.discriminators import DISCRIMINATORS
from apart.objective.rewards import REWARDS, Reward
from apart.running import jobs
from apart.running.engines import ENGINES, LOCAL
from apart.running.progress import REPORTERS, Progress
from apart.runs import folder as run_folder
from apart.runs.folder import Run, RunSet
from apart.runs.skills import Skills
from apart.worlds.world import TableWorld

if TYPE_CHECKING:
    from apart._types import Array
    from apart.running.progress import Listener
    from apart.runs.skills import Acting, Place
    from apart.skills.environments import SkillEnv, TableEnv
    from apart.worlds.world import World


@contextlib.contextmanager
def _in_python() -> Iterator[None]:
    try:
        yield
    except OSError as error:  # a path that cannot even be looked at
        raise UserError(f"{error.filename or 'the system'}: {error.strerror or error}") from None
    except (UserError, NonFinite) as error:
        error.args = (_FLAG.sub(_argument, str(error)),)  # its class may want other arguments
        raise error.with_traceback(None) from None


# ``--name: VALUE is not ...``, ``--name VALUE`` or ``--name``, which no path or word goes on to.
_FLAG: Final = re.compile(
    r"(?<![\w./-])--(?P<no>no-)?(?P<name>[a-z]+(?:-[a-z]+)*)"
    r"(?:: (?P<wrong>[^;]+?)(?= is (?:not|no|outside) )"
    r"|(?P<colon>:)"
    r"| (?!--)(?P<value>'[^']*'|[\w.+/-]+(?:[:,][\w.+/-]+)*)(?P<ends>(?=:|$))?)?"
)


def _argument(found: re.Match[str]) -> str:
    """What the command line calls ``--name value`` as an argument of a Python function."""
    name, value = found["name"].replace("-", "_"), found["value"]
    if found["wrong"]:
        return f"{name}={found['wrong']}"
    if found["colon"]:
        return f"{name}:"
    rest = "" if value is None else f" {value}"
    if found["no"] or name in _SWITCHES:
        return f"{name}={not found['no']}{rest}"
    if value is None:
        return f"{name}="
    if re.fullmatch(r"'.*'|[\d.e+-]+", value):
        return f"{name}={value}"
    if found["ends"] is not None or re.split("[:/+]", value)[0] in _names():
        return f"{name}={value!r}"
    return f"{name}={rest}"


_SWITCHES: Final = {"overwrite", *(name for name, kind in TYPES.items() if kind is bool)}


def _names() -> set[str]:
    """Of all that options may name."""
    return {"auto", *ENGINES, *(name for names in choices().values() for name in names)}


@contextlib.contextmanager
def _shown(progress: str, listener: Listener | None) -> Iterator[Listener]:
    """Tells the reporter of that name, and the user's own listener."""
    if not isinstance(progress, str) or progress not in REPORTERS:
        raise unknown("progress", str(progress), REPORTERS)
    reporter = REPORTERS[progress]()

    def tell(now: Progress) -> None:
        reporter(now)
        if listener is not None:
            listener(now)

    try:
        yield tell
    finally:
        reporter.close()


@overload
def train(
    world: str | World = ...,
    *,
    method: str = ...,
    reading: str = ...,
    seeds: None = ...,
    slip: float = ...,
    out: str | Path | None = ...,
    overwrite: bool = ...,
    device: str | None = ...,
    engine: str = ...,
    progress: str = ...,
    listener: Listener | None = ...,
    **options: Unpack[Options],
) -> Run: ...
@overload
def train(
    world: str | World = ...,
    *,
    method: str = ...,
    reading: str = ...,
    seeds: int,
    slip: float = ...,
    out: str | Path | None = ...,
    overwrite: bool = ...,
    device: str | None = ...,
    engine: str = ...,
    progress: str = ...,
    listener: Listener | None = ...,
    **options: Unpack[Options],
) -> RunSet: ...
def train(
    world: str | World = "four_rooms",
    *,
    method: str = "apart",
    reading: str = OURS,
    seeds: int | None = None,
    slip: float = 0.0,
    out: str | Path | None = None,
    overwrite: bool = False,
    device: str | None = None,
    engine: str = LOCAL,
    progress: str = "quiet",
    listener: Listener | None = None,
    **options: Unpack[Options],
) -> Run | RunSet:
    """Train and return the finished run, or with ``seeds`` the set of runs.

    Args:
        world: a name of `apart.WORLDS`, the path of a map, ``table:gym:ID``, or a world.
        method: a name of `apart.METHODS`.
        reading: how the paper's open points are read; options of one's own come on top.
        seeds: train so many seeds, from ``seed`` on, one process each; the set is in ``out``, its
            runs in ``out/seed-N``.
        slip: probability that a random action is taken instead of the chosen one (maps).
        out: run folder; ``runs/WORLD-METHOD`` unless said.
        overwrite: replace the run or set that is in ``out``; otherwise that is an error.
        device: ``cpu``, ``gpu`` or ``tpu``; JAX's own choice unless said.
        engine: where the seeds are trained: ``local`` (processes of this machine) or ``ray``.
        progress: ``quiet`` shows a bar in terminals and notebooks; ``lines``, ``json``, ``none``.
        listener: called with a `Progress` after every slice of training.
        options: fields of the configuration (``steps``, ``seed``, ``skills``, ...).

    Raises:
        UserError: wrong input; nothing was written.
        RunInterrupted: SIGINT or SIGTERM; the state was saved.
        NonFinite: the numbers overflowed; the last good checkpoint is kept.
    """
    with _in_python():
        job = jobs.prepare(
            world,
            method=method,
            reading=reading,
            options=cast("dict[str, Any]", options),
            seeds=seeds,
            slip=slip,
            out=out,
            overwrite=overwrite,
        )
        with _shown(progress, listener) as told:
            return _usable(jobs.start(job, device, told, engine))


def resume(
    path: str | Path,
    *,
    steps: int | str | None = None,
    device: str | None = None,
    engine: str = LOCAL,
    progress: str = "quiet",
    listener: Listener | None = None,
    warn: Callable[[str], None] = lambda text: warnings.warn(text, stacklevel=4),
) -> Run | RunSet:
    """Go on with the run or set in ``path``; it ends with the bits of one that never stopped.

    Args:
        path: the folder.
        steps: train to so many environment steps instead; where rates depend on the length of the
            run, that is refused.
        device: as in `train`.
        engine: as in `train`.
        progress: as in `train`.
        listener: as in `train`.
        warn: called with a line for everything that may change the bits or was passed over.

    Raises:
        UserError: no run that can go on; nothing was changed.
        RunInterrupted: SIGINT or SIGTERM; the state was saved.
        NonFinite: as in `train`.
    """
    with _in_python(), _shown(progress, listener) as told:
        until: int | None = None if steps is None else check_value("steps", steps)
        return _usable(jobs.go_on(jobs.path("path", path), until, device, told, warn, engine))


def draw(run: Run | RunSet | str | Path, *, frames: bool = False) -> list[Path]:
    """Draw every skill of a run (or of each run of a set); the paths of the pictures.

    With ``frames`` as the world renders them, also where they can be drawn on a map. Drawing frames
    plays the skills again, in environments that it makes; nothing else that reads a run does.
    """
    from apart.report.figures import skills_picture

    with _in_python():
        return [skills_picture(one, frames) for one in _loaded(run).runs]


def write_page(
    run: Run | RunSet | str | Path, *more: Run | RunSet | str | Path, out: str | Path | None = None
) -> Path:
    """Write a page to explore the skills of runs in a browser; its path.

    ``report.html`` in the folder of the first run unless ``out`` says where: one file, without
    anything from a network.
    """
    from apart.report import page

    with _in_python():
        found = [_loaded(one) for one in (run, *more)]
        return page.write(found, None if out is None else jobs.path("--out", out)).path


def export(run: Run | str | Path, out: str | Path) -> Path:
    """Write the skills of a run to the new folder ``out``: data that loads with NumPy alone.

    README.md (a card with the results), config.json, model.safetensors and, for maps, skills.png.
    """
    from apart.report.figures import picture_of

    with _in_python():
        found = _single(_loaded(run))
        from apart.skills.export import export as written

        return written(found, jobs.path("--out", out), picture_of(found))


def register_method(name: str, summary: str, **options: Unpack[Options]) -> None:
    """Make a method of your own known by ``name``: options on top of the defaults.

    >>> register_method("far", "DIAYN with long episodes", reward="log_posterior",
    ...                 discriminator="one_vs_all", horizon=100)  # doctest: +SKIP
    """
    with _in_python():
        checked = {key: check_value(key, value) for key, value in options.items() if key in SPECS}
        if len(checked) < len(options):
            name = next(key for key in options if key not in SPECS)
            raise unknown_option(name, name)
        check_names(checked)
        METHODS.register(name, Method(summary, checked))


def register_reward(
    name: str, summary: str, rewards: Callable[[Array, Array], Array], reads: str = "logits"
) -> None:
    """Make an intrinsic reward of your own known by ``name``.

    Args:
        name: for ``reward=`` and ``--reward``.
        summary: one line for people.
        rewards: (numbers of ONE state, sharpness) -> [K] the reward of every skill there, in JAX.
        reads: ``logits`` [K] of one-vs-all, ``pairs`` (the folded logits of all pairs), or
            ``counts`` [K] of last states.
    """
    with _in_python():
        given = {record.gives for record in DISCRIMINATORS.values()}
        if reads not in given:
            raise unknown("kind of numbers", str(reads), given)
        if not callable(rewards):
            raise UserError(
                f"reward {name!r}: {rewards!r} is no function; give one of (numbers of one state, "
                "sharpness)"
            )
        REWARDS.register(name, Reward(summary, rewards, reads))


def make_env(
    world: str | World, *, goal: Place = None, steps: int | None = None, slip: float = 0.0
) -> TableEnv:
    """A Gymnasium environment of a map or another table; an observation is the state's number.

    Args:
        world: as in `train`; ``run.world`` is one.
        goal: a place, such as (row, column): an episode ends there with a reward of 1. Every other
            reward is 0.
        steps: an episode is truncated after so many; None sets no limit.
        slip: as in `train`.

    Raises:
        UserError: the world is not a table, there is no such place, or Gymnasium is missing.
    """
    with _in_python(), _gymnasium("make_env"):
        from apart.skills.environments import TableEnv

        found = worlds.load(world, slip)
        if not isinstance(found, TableWorld):
            raise UserError(f"{found.name}: only tables and maps; this world is an environment")
        if steps is not None and (type(steps) is not int or steps < 1):
            raise UserError(f"--steps {steps!r}: give a number from 1 on, or None: no limit")
        return TableEnv(found, goal, steps)


def skill_env(
    env: Any,
    skills: Skills | Run,
    *,
    steps: int | None = None,
    primitive: bool = False,
    observe: Callable[[Any], Any] | None = None,
) -> SkillEnv:
    """A Gymnasium environment whose actions are skills: options for any agent.

    Args:
        env: an environment with the actions that the skills were trained with; for a run of
            ``gym:ID`` one as ``gymnasium.make(ID)`` gives it, whatever its actions are.
        skills: ``run.skills``, or the run.
        steps: follow a skill for so many steps; None: to its end, until a step changes nothing that
            it sees, T steps at most.
        primitive: have the actions of ``env`` too, after the skills (in bins, where these act so).
        observe: observation of ``env`` -> what ``skills.act`` takes; the same unless given.

    Raises:
        UserError: the actions differ, the skills cannot see what ``env`` gives, there is no
            checkpoint, or Gymnasium is missing.
    """
    with _in_python(), _gymnasium("skill_env"):
        from apart.skills.environments import SkillEnv

        if isinstance(skills, Run | RunSet):
            skills = _single(skills).skills
        if not isinstance(skills, Skills):
            raise UserError(f"skills: {skills!r} are none; give run.skills")
        return SkillEnv(env, skills, steps, primitive, observe)


@contextlib.contextmanager
def _gymnasium(name: str) -> Iterator[None]:
    try:
        import gymnasium  # noqa: F401
    except ImportError:
        raise UserError(f"{name} needs Gymnasium: pip install 'apart[gym]'") from None
    yield


def load(path: str | Path) -> Any:
    """The finished `Run` in ``path``, or the `RunSet` of several seeds."""
    with _in_python():
        return _usable(run_folder.load_any(jobs.path("path", path)))


def _loaded(run: Any) -> Run | RunSet:
    """``run``, or what is in the folder of that path; `UserError` where it is neither."""
    if isinstance(run, str | Path):
        run = load(run)
    if not isinstance(run, Run | RunSet):
        raise UserError(f"run: {run!r} is none; give a run or the path of its folder")
    return run


def _single(found: Run | RunSet) -> Run:
    if isinstance(found, RunSet):
        raise UserError(f"{found.path}: several runs; name one, such as {found.runs[0].path}")
    return found


def _usable(found: Run | RunSet) -> Run | RunSet:
    """``found`` with skills that can act."""
    if isinstance(found, RunSet):
        runs = [dataclasses.replace(run, opener=_policies) for run in found.runs]
        return dataclasses.replace(found, runs=runs)
    return dataclasses.replace(found, opener=_policies)


def _policies(run: Run) -> Acting:
    """JAX starts when the first skill acts."""
    from apart.skills.library import open_policies

    return open_policies(run)
