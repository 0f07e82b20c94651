"""The policies of a table, from their actions in all states: act, roll out, reach. NumPy only.

Who sends skills to other processes sends this: they need neither JAX nor the run folder.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from apart._types import BoolArray, FloatArray, IntArray
from apart.runs.skills import Place, Reach
from apart.skills import places
from apart.worlds.world import TableWorld


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

    def __getstate__(self) -> dict[str, Any]:
        """Without what is computed when it is first needed."""
        return {name: value for name, value in vars(self).items() if name != "_onward"}

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
