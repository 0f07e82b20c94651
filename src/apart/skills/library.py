"""Skills as policies: act, roll out, reach. One class for each kind of world.

In a table the actions of all skills in all states are read once, and everything after that is exact
and NumPy only. Elsewhere a compiled function acts on observations, and what is asked about whole
episodes is sampled.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from apart._errors import UserError
from apart._types import BoolArray, FloatArray, IntArray
from apart.runs.folder import Run
from apart.runs.skills import Acting, Place, Reach
from apart.skills import places
from apart.skills.policies import LearntRun, acts_of, learnt_of
from apart.training import choices, collect
from apart.training.choices import Drawn
from apart.training.evaluations import greedy_actions, of_states
from apart.training.host import Host
from apart.training.learner import evaluated
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


class TablePolicies:
    """The policies of a table: all that can be asked is computed, nothing sampled but rollouts."""

    def __init__(
        self,
        world: TableWorld,
        action: IntArray,
        horizon: int,
        hold: int = 1,
        acts: IntArray | None = None,
    ) -> None:
        self.world, self.action, self.horizon, self.hold = world, action, horizon, hold
        self.n_actions = world.about.n_actions
        self._acts = acts  # [K, T / hold] who decides, where skills are chains

    def act(self, skill: int, observation: Any, t: int | None = None) -> int:
        """One greedy action in a state, given by number or place."""
        state = places.state_of(self.world, observation)
        z = places.numbered("skill", skill, self.action.shape[1])
        return int(self.action[state, deciding(self._acts, z, t, self.hold)])

    def steps(self, skill: int) -> int:
        """Until it is over."""
        return length(self._acts, skill, self.horizon, self.hold)

    def rollout(self, skill: int, start: Any, seed: int | None) -> list[Place]:
        """The places of one episode; by chance, that of ``seed`` (0 unless given)."""
        z = places.numbered("skill", skill, self.action.shape[1])
        state = self.world.start if start is None else places.state_of(self.world, start)
        luck, action = np.random.default_rng(seed or 0), np.int32(0)
        states = [state]
        for t in range(self.steps(z)):
            if t % self.hold == 0:
                action = self.action[states[-1], deciding(self._acts, z, t, self.hold)]
            onward = self.world.next_state[states[-1], action]
            chance = self.world.probability[states[-1], action]
            nth = 0 if len(onward) == 1 else int(luck.choice(len(onward), p=chance))
            states.append(int(onward[nth]))
        states += [states[-1]] * (self.horizon - self.steps(z))
        return places.labels(self.world, np.array(states, np.int32))

    def reach(self, place: Place, start: Any) -> Reach:
        """The skill that comes to ``place`` most surely; of equals one that ends there."""
        state = self.world.start if start is None else places.state_of(self.world, start)
        goal = places.states_at(self.world, place)
        comes, ends = self.arrivals(goal)
        best = np.lexsort((-ends[state], -comes[state]))[0]
        return Reach(int(best), float(comes[state, best]))

    def arrivals(self, goal: BoolArray) -> tuple[FloatArray, FloatArray]:
        """[S, K] the probability to come to ``goal`` [S] within T steps, and to be there after T.

        Of every skill from every state: p_0(s) = [s in goal], p_t(s) = E[p_(t-1)(s')], where to
        come there is to stay there.
        """
        there = np.broadcast_to(goal[:, None], self.action.shape).astype(np.float64)
        comes = ends = there
        for t in reversed(range(self.horizon // self.hold)):
            comes = self._before(comes, t, goal)
            ends = self._before(ends, t)
        return comes, ends

    def _before(self, after: FloatArray, t: int, goal: BoolArray | None = None) -> FloatArray:
        """[S, K] what to expect of ``after`` [S, K] at decision ``t``; 1 on the way in ``goal``.

        A chain that is over stays.
        """
        if self._acts is None:
            return self._decided(after, self.action, goal)
        who = self._acts[:, t]
        found = self._decided(after, self.action[:, np.maximum(who, 0)], goal)
        return np.where(who < 0, after, found)

    def _decided(self, after: FloatArray, action: IntArray, goal: BoolArray | None) -> FloatArray:
        """The same where skills take ``action`` [S, K].

        It is held: on the way a skill has no other choice.
        """
        states, skills = np.arange(self.world.n_states)[:, None], np.arange(after.shape[1])
        if self.hold == 1:
            onward, chance = self._onward if action is self.action else self._leads(action)
            found = (chance * after[onward, skills[:, None]]).sum(2)
            return found if goal is None else np.where(goal[:, None], 1.0, found)
        held = np.broadcast_to(after[:, None], (len(after), self.n_actions, len(skills)))
        actions = np.arange(self.n_actions)[:, None]
        for _ in range(self.hold):
            successors = held[self.world.next_state, actions]  # [S, A, N, K]
            held = (self.world.probability[..., None] * successors).sum(2)
            if goal is not None:
                held = np.where(goal[:, None, None], 1.0, held)
        return np.asarray(held[states, action, skills])

    @cached_property
    def _onward(self) -> tuple[IntArray, FloatArray]:
        """Of the skills' own actions."""
        return self._leads(self.action)

    def _leads(self, action: IntArray) -> tuple[IntArray, FloatArray]:
        """[S, K, N] where ``action`` [S, K] may come in one step, and how likely."""
        states, world = np.arange(self.world.n_states)[:, None], self.world
        return world.next_state[states, action], world.probability[states, action]


class SampledPolicies:
    """The policies of a world whose states are not listed: a compiled function and episodes."""

    def __init__(self, run: Run, known: LearntRun, world: JaxWorld | HostWorld) -> None:
        config, _, learner, learnt, _ = known
        self.run, self.world, self.horizon = run, world, config.horizon
        self.hold, self._decisions = config.hold, config.decisions
        self.n_actions = world.about.n_actions
        q, self._acts = evaluated(learnt), acts_of(known)
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
        own = places.numbered("skill", skill, len(self.run.skills))
        z = deciding(self._acts, own, t, self.hold)
        seen = places.observed(self.world, observation)
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
        z = np.array([places.numbered("skill", skill, len(self.run.skills))], np.int32)
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


def deciding(acts: IntArray | None, skill: int, t: int | None, hold: int) -> int:
    """The skill whose policy decides after ``t`` steps of ``skill``; its own unless it is a chain.

    ``acts`` [K, T / hold] as in `Objective.acts`.
    """
    if acts is None or t is None or not 0 <= t // hold < acts.shape[1]:
        return skill
    who = int(acts[skill, t // hold])
    return skill if who < 0 else who


def length(acts: IntArray | None, skill: int, horizon: int, hold: int) -> int:
    """How many of T = ``horizon`` steps ``skill`` makes before it is over."""
    return horizon if acts is None else hold * int((acts[skill] >= 0).sum())


def _state_like(world: JaxWorld, start: Any) -> Any:
    """``start`` as a state of ``world``; `UserError` where it is none."""
    like = jax.eval_shape(world.reset, jax.random.key(0))
    try:
        return jax.tree.map(
            lambda leaf, at: jnp.asarray(at, leaf.dtype).reshape(leaf.shape), like, start
        )
    except (TypeError, ValueError):
        raise UserError(f"{world.name}: start is no state as its reset gives it: {like}") from None
