"""Gymnasium environments: worlds, and worlds whose actions are skills."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from apart import worlds
from apart._errors import UserError
from apart.door.errors import in_python
from apart.door.training import single
from apart.runs.folder import Run, RunSet
from apart.runs.skills import Skills
from apart.worlds.world import TableWorld

if TYPE_CHECKING:
    from apart.runs.skills import Place
    from apart.skills.environments import SkillEnv, TableEnv
    from apart.worlds.world import World


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
    with in_python(), _gymnasium("make_env"):
        from apart.skills.environments import TableEnv

        found = worlds.load(world, slip)
        if not isinstance(found, TableWorld):
            raise UserError(
                f"{found.name} is not a table, and make_env is for tables only; use "
                "run.skills.rollout and run.skills.reach, or apart.skill_env for gym:ID"
            )
        if steps is not None and (type(steps) is not int or steps < 1):
            raise UserError(f"--steps: {steps!r} is not a positive whole number or None (no limit)")
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
    with in_python(), _gymnasium("skill_env"):
        from apart.skills.environments import SkillEnv

        if isinstance(skills, Run | RunSet):
            skills = single(skills).skills
        if not isinstance(skills, Skills):
            raise UserError(f"skills: {skills!r} is not a set of skills; give run.skills")
        return SkillEnv(env, skills, steps, primitive, observe)


@contextlib.contextmanager
def _gymnasium(name: str) -> Iterator[None]:
    try:
        import gymnasium  # noqa: F401
    except ImportError:
        raise UserError(f"{name} needs Gymnasium: pip install gymnasium") from None
    yield
