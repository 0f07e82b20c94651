"""Skills as policies: act, roll out, reach. One class for each kind of world.

In a table the actions of all skills in all states are read once, and everything after that is exact
and NumPy only (`table_policies`). Elsewhere a compiled function acts on observations, and what is
asked about whole episodes is sampled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from apart._config import Config
from apart._errors import UserError
from apart._types import IntArray
from apart.learner.approximators import Params
from apart.runs.folder import Run
from apart.runs.skills import Acting, Place, Reach
from apart.skills import places
from apart.skills.policies import LearntRun, acts_of, learnt_of
from apart.skills.table_policies import TablePolicies, deciding, length
from apart.training import choices, collect
from apart.training.choices import Drawn
from apart.training.evaluations import greedy_actions, of_states
from apart.training.host import Host
from apart.training.learner import Learner, evaluated
from apart.training.learners import learner_of
from apart.training.rounds import evaluated_start
from apart.worlds.world import HostWorld, JaxWorld, TableWorld

SAMPLED: Final = 20  # episodes that `reach` plays where nothing is exact


def open_policies(run: Run) -> Acting:
    """The policies of ``run``, from its newest checkpoint.

    Raises:
        UserError: no checkpoint that can be used, or nothing was learnt.
    """
    if not run.config["updates_per_episode"]:
        raise UserError(f"{run.path}: {run.summary['method']} learns nothing, so no policies")
    known = learnt_of(run)
    if isinstance(known.world, TableWorld):
        config = known.config
        return TablePolicies(
            known.world, actions_of(known), config.horizon, config.hold, acts_of(known)
        )
    return SampledPolicies(run, known, known.world)


def actions_of(known: LearntRun) -> IntArray:
    """[S, K] the greedy action of every skill in every state of a table."""
    config, world, learner, learnt, _ = known
    assert isinstance(world, TableWorld)

    def read(q: Any) -> Any:
        values = of_states(world, config, lambda obs: learner.values(q, obs))
        return jnp.argmax(values, axis=1)

    return np.asarray(jax.jit(read)(evaluated(learnt)), np.int32)


class SampledPolicies:
    """The policies of a world whose states are not listed: a compiled function and episodes.

    Pickled are the world, the configuration and the parameters of Q; what they compile to is made
    again.
    """

    def __init__(self, run: Run, known: LearntRun, world: JaxWorld | HostWorld) -> None:
        self._open(run, world, known.config, evaluated(known.learnt), acts_of(known), known.learner)

    def __getstate__(self) -> tuple[Any, ...]:
        q = jax.tree.map(np.asarray, self._q)
        return self.run, self.world, self._config, q, self._acts

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        run, world, config, q, acts = state
        self._open(run, world, config, q, acts, learner_of(world, config))

    def _open(
        self,
        run: Run,
        world: JaxWorld | HostWorld,
        config: Config,
        q: Params,
        acts: IntArray | None,
        learner: Learner,
    ) -> None:
        self.run, self.world, self.horizon = run, world, config.horizon
        self._config, self._q, self._acts = config, q, acts
        self.hold, self._decisions = config.hold, config.decisions
        self.n_actions = world.about.n_actions
        acting = jax.jit(lambda obs, skill: greedy_actions(learner, q, obs, skill))
        self._greedy: Callable[[Any, Any], Any] = acting
        key, self._seed = evaluated_start(config.seed)
        self._play: Callable[[IntArray, Any, list[int] | None], IntArray]
        if isinstance(world, HostWorld):
            self._play = self._on_host(world)
        else:
            self._play = self._compiled(world, lambda obs: learner.values(q, obs), key)

    def act(self, skill: int, observation: Any, t: int | None = None) -> Any:
        """One greedy action on an array of the world's shape: a number, of several heads a list."""
        own = places.numbered("skill", skill, self._config.skills)
        z = deciding(self._acts, own, t, self.hold)
        seen = places.as_array(self.world, observation)
        return np.asarray(self._greedy(seen[None], np.array([z]))[0]).tolist()

    def steps(self, skill: int) -> int:
        """Until it is over."""
        return length(self._acts, skill, self.horizon, self.hold)

    def _choices(self, n: int) -> Any:
        """The greedy action at every decision of n episodes."""
        heads = self.world.about.heads
        shape = (n, self._decisions, heads) if heads > 1 else (n, self._decisions)
        return jnp.full(shape, self.n_actions, jnp.int32)

    @property
    def _chains(self) -> Any:
        return None if self._acts is None else jnp.asarray(self._acts)

    def rollout(self, skill: int, start: Any, seed: int | None) -> list[Place]:
        """The places of one episode."""
        z = np.array([places.numbered("skill", skill, self._config.skills)], np.int32)
        played = self._play(z, start, None if seed is None else [seed])
        return places.labels(self.world, played[0])

    def reach(self, place: Place, start: Any) -> Reach:
        """The skill that ends at ``place`` (else: passes it earliest), and its share of hits."""
        goal = places.meant(self.world, place, self.run.skills[0].last_state)
        if start is None:
            paths = [skill.trajectory for skill in self.run.skills]
        else:
            every = np.arange(len(self.run.skills), dtype=np.int32)
            paths = [places.labels(self.world, row) for row in self._play(every, start, None)]
        hits = [[t for t, at in enumerate(path) if places.is_at(at, goal)] for path in paths]
        passing = [(at[-1] < self.horizon, at[0], z) for z, at in enumerate(hits) if at]
        if not passing:
            return Reach(0, 0.0)
        *_, best = min(passing)
        again = self._play(np.full(SAMPLED, best, np.int32), start, [*range(SAMPLED)])
        came = [any(places.is_at(at, goal) for at in places.labels(self.world, p)) for p in again]
        return Reach(best, float(np.mean(came)))

    def _compiled(
        self, world: JaxWorld, values: collect.Values, key: Any
    ) -> Callable[[IntArray, Any, list[int] | None], IntArray]:
        steps = collect.steps_of(world)

        def episode(key: Any, skill: Any, start: Any) -> Any:
            begun = steps if start is None else steps._replace(reset=lambda _: start)
            greedy = choices.follow(
                Drawn(skill[None], self._choices(1)), self._chains, self.n_actions
            )
            played = collect.by_steps(begun, values, greedy, key, hold=self.hold)
            return jax.tree.map(lambda leaf: leaf[0], played.place)

        many = jax.jit(jax.vmap(episode, (0, 0, None)))

        def play(skills: IntArray, start: Any, seeds: list[int] | None) -> IntArray:
            one = None if start is None else _state_like(world, start)
            keys = [key] * len(skills) if seeds is None else [*map(jax.random.key, seeds)]
            return np.asarray(many(jnp.stack(keys), jnp.asarray(skills), one), np.int32)

        return play

    def _on_host(self, world: HostWorld) -> Callable[[IntArray, Any, list[int] | None], IntArray]:
        def play(skills: IntArray, start: Any, seeds: list[int] | None) -> IntArray:
            if start is not None:
                raise UserError(
                    f"{world.name}: its environments start where reset puts them; choose by seed="
                )
            host = Host(world)
            drawn = Drawn(jnp.asarray(skills, jnp.int32), self._choices(len(skills)))
            drawn = choices.follow(drawn, self._chains, self.n_actions)
            try:
                made = host.by_host(
                    lambda obs, skill, _: self._greedy(obs, skill),
                    drawn,
                    [self._seed] * len(skills) if seeds is None else seeds,
                    self.hold,
                )
            finally:
                host.close()
            return np.asarray(made.place, np.int32)

        return play


def _state_like(world: JaxWorld, start: Any) -> Any:
    """``start`` as a state of ``world``; `UserError` where it is none."""
    like = jax.eval_shape(world.reset, jax.random.key(0))
    try:
        return jax.tree.map(
            lambda leaf, at: jnp.asarray(at, leaf.dtype).reshape(leaf.shape), like, start
        )
    except (TypeError, ValueError):
        raise UserError(f"{world.name}: start is no state as its reset gives it: {like}") from None
