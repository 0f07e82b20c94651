"""Pictures that a world renders of its skills, each played once more from where it was evaluated.

Nothing is stored here (`report.strips` keeps small ones). Whoever wants frames makes the
environments again, from the checkpointed policies and the start of the evaluation; who reads a run
needs neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from apart._errors import UserError
from apart.runs.folder import Run
from apart.runs.skills import Place
from apart.skills import places
from apart.skills.policies import LearntRun, learnt_of
from apart.training import choices, collect
from apart.training.choices import Drawn
from apart.training.evaluations import greedy_actions
from apart.training.host import Host
from apart.training.learner import evaluated
from apart.training.objectives.contract import chains
from apart.training.rounds import evaluated_side, evaluated_start
from apart.worlds import guards
from apart.worlds.world import HostWorld, JaxWorld

_MOST_PIXELS: Final = 320  # of the longer side of a frame that is kept


class Film(NamedTuple):
    """What was seen of the skills.

    Attributes:
        start: [H, W, 3] bytes, where all of them start.
        frames: of each skill, as they were asked for, what was seen after each of the times; where
            its episode had ended by then, the last that was seen of it.
        last: of each skill, where it ended this time.
    """

    start: Any
    frames: list[list[Any]]
    last: list[Place]


def film(run: Run, skills: Sequence[int], times: Sequence[int]) -> Film:
    """Play the evaluated episode of every one of ``skills`` again and see it after ``times`` steps.

    Raises:
        NoRender: the world renders nothing.
        UserError: rendering fails here, or nothing was learnt.
    """
    if not run.config["updates_per_episode"]:
        raise UserError(f"{run.summary['method']} learns nothing, so no skill can be played again")
    known = learnt_of(run)
    if isinstance(known.world, HostWorld):
        return _on_host(known, known.world, skills, times)
    if isinstance(known.world, JaxWorld) and known.world.render is not None:
        return _compiled(known, known.world, skills, times)
    raise guards.NoRender(f"{known.world.name}: it has no render()")


def _drawn(known: LearntRun, skills: Any) -> Drawn:
    """The greedy action at every decision of an episode of each of ``skills`` [n]."""
    about, shape = known.world.about, (len(skills), known.config.decisions)
    choice = jnp.full((*shape, about.heads) if about.heads > 1 else shape, about.n_actions)
    acts = chains(known.learner.objective, known.learnt.discriminator)
    return choices.follow(Drawn(skills, choice.astype(jnp.int32)), acts, about.n_actions)


class _Camera:
    """Takes the frames of environments that are stepped side by side."""

    def __init__(self, world: HostWorld, n: int, times: Sequence[int]) -> None:
        self._world, self._times = world, times
        self.start: Any = None
        self.frames: list[list[Any]] = [[] for _ in range(n)]
        self._now: list[Any] = [None] * n

    def look(self, environments: Any, t: int, moved: Any, alive: Any) -> None:
        """After step ``t``: only what is wanted is rendered."""
        if t == 0:
            self.start = self._taken(environments, 0)
            self._now = [self.start] * len(self._now)
        for one in range(len(self._now)):
            if t and moved[one] and (t in self._times or not alive[one]):
                self._now[one] = self._taken(environments, one)
            if t in self._times:
                self.frames[one].append(self._now[one])

    def finish(self) -> None:
        """All episodes ended before the last of the times: they stay where they ended."""
        for frames, now in zip(self.frames, self._now, strict=True):
            frames.extend([now] * (len(self._times) - len(frames)))

    def _taken(self, environments: Any, one: int) -> Any:
        with guards.saying(self._world.name, "render"):
            inner = getattr(environments, "envs", None)
            frame = inner[one].render() if inner else environments.render()[one]
        return _frame(self._world.name, frame)


def _on_host(
    known: LearntRun, world: HostWorld, skills: Sequence[int], times: Sequence[int]
) -> Film:
    config, _, learner, learnt, _ = known
    q, side = evaluated(learnt), evaluated_side(config)
    act = jax.jit(lambda obs, skill, _: greedy_actions(learner, q, obs, skill))
    _, seed = evaluated_start(config.seed)
    host, start = Host(world, films=True), None
    seen: dict[int, tuple[list[Any], Place]] = {}
    with guards.offscreen():
        try:
            # As many side by side as in the evaluation: sums of other shapes round otherwise.
            for first in range(0, config.skills, side):
                group = np.arange(first, min(first + side, config.skills), dtype=np.int32)
                if not set(group.tolist()) & set(skills):
                    continue
                camera = _Camera(world, len(group), times)
                drawn = _drawn(known, jnp.asarray(group))
                played = host.by_host(act, drawn, [seed] * len(group), config.hold, camera.look)
                camera.finish()
                start = camera.start if start is None else start
                ends = places.labels(world, np.asarray(played.place)[:, -1])
                seen.update(zip(group.tolist(), zip(camera.frames, ends, strict=True), strict=True))
        finally:
            host.close()
    return Film(start, [seen[k][0] for k in skills], [seen[k][1] for k in skills])


def _compiled(
    known: LearntRun, world: JaxWorld, skills: Sequence[int], times: Sequence[int]
) -> Film:
    config, _, learner, learnt, _ = known
    q, (key, _) = evaluated(learnt), evaluated_start(config.seed)
    steps, render = collect.steps_of(world), world.render
    assert render is not None
    chosen, at = jnp.asarray(skills), jnp.asarray([0, *times])

    @jax.jit
    def states() -> tuple[Any, Any]:
        """The states of the chosen skills at those times, and their last places."""
        every = _drawn(known, jnp.arange(config.skills))
        played = collect.by_steps(
            steps._replace(position=lambda state: state),
            lambda obs: learner.values(q, obs),
            every,
            key,
            one_start=True,
            hold=config.hold,
        )
        assert played.place is not None
        some = jax.tree.map(lambda leaf: leaf[chosen[:, None], at], played.position)
        return played.place[chosen, -1], some

    last, seen = jax.device_get(states())

    def rendered(skill: int, time: int) -> Any:
        with guards.undisturbed(), guards.saying(world.name, "render"):
            frame = render(jax.tree.map(lambda leaf: jnp.asarray(leaf[skill, time]), seen))
        return _frame(world.name, frame)

    with guards.offscreen():
        frames = [
            [rendered(nth, time) for time in range(1, len(times) + 1)] for nth in range(len(skills))
        ]
        start = rendered(0, 0)
    return Film(start, frames, places.labels(world, np.asarray(last, np.int32)))


def _frame(name: str, frame: Any) -> Any:
    """[H, W, 3] bytes, small enough to keep many; `UserError` where it is no picture."""
    if frame is None:
        raise guards.NoRender(f"{name}: its render() returns nothing")
    found: Any = np.asarray(frame)
    if found.ndim != 3 or found.shape[2] not in (3, 4) or found.dtype != np.uint8 or not found.size:
        given = f"{found.dtype} {found.shape}"
        raise UserError(f"{name}: render gives {given}, not bytes [height, width, 3]")
    return shrunk(found[..., :3], _MOST_PIXELS)


def shrunk(frame: Any, most: int) -> Any:
    """[H, W, 3] bytes, at most ``most`` along the longer side.

    Each pixel is the mean of a block, so that thin lines stay.
    """
    k = -(-max(frame.shape[:2]) // most)
    tall, wide = (side // k * k for side in frame.shape[:2])
    blocks = frame[:tall, :wide].reshape(tall // k, k, wide // k, k, 3)
    return blocks.mean(axis=(1, 3)).astype(np.uint8)
