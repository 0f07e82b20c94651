"""One update: what a batch, or all that is known, teaches Q and the discriminator.

Losses are over rows: each row has the Q-values and the logits of one state. In the `View` of all
states a batch is a histogram over rows; in the view of samples each sample is a row of its own.
The same expressions serve both.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._config import Config
from apart._types import Array, Key
from apart.learner import adam, counts, draws, model, q_learning, replay
from apart.learner.adam import Fitted
from apart.learner.approximators import NETWORKS, Params, Shape, Store
from apart.learner.model import Model
from apart.learner.q_learning import Tally
from apart.objective.discriminators import DISCRIMINATORS
from apart.objective.rewards import REWARDS
from apart.objective.time_weights import TIME_WEIGHTS, reward_factor
from apart.training.state import Hyper, TrainState
from apart.worlds.grid import World
from apart.worlds.observations import OBSERVATIONS

# In a large world an update that teaches all skills touches part of [S * A, K] only: sampled rows,
# or the next block of a sweep. Scattered rows cost some fifteen times as much as the same number in
# one dense expression, so that they pay late; blocks are as dense as the whole.
ROWS_ABOVE, BLOCKS_ABOVE = 15, 8


class Batch(NamedTuple):
    """Sampled transitions; every field is [B]."""

    state: Array
    action: Array
    next_state: Array
    skill: Array
    last: Array  # bool: the episode ended with it
    proceeds: Array  # 1 where Q of the next state counts, else 0
    factor: Array  # on the reward: time weight, or 0 and 1 by dropout


class View(NamedTuple):
    """The rows that an update reads: every state once, or the samples of a batch."""

    before: Array | None  # [n] states in which actions were taken; None: all states in order
    after: Array | None  # states that these lead to; None: all states in order
    moves: Array  # [n, A] (samples: [n, 1]) row of ``after`` that an action leads to
    row: Array | None  # [B] row of ``before`` of each sample
    row_after: Array | None  # [B] row of ``after`` of each sample


class Seen(NamedTuple):
    """The rows in which discriminator and reward see the moves of a `View`."""

    logits: Array  # [n, *logits of one state]
    beta: Array  # [n] inverse temperature
    moves: Array  # [n, A] (or [n, 1]) row of each move
    row: Array | None  # [B] row of each sample


class Learner:
    """Q and discriminator of one world and configuration, as plain functions of arrays."""

    def __init__(self, world: World, config: Config) -> None:
        self.config = config
        self.n_states, self.n_actions = world.next_state.shape
        self.next_state = jnp.asarray(world.next_state)
        self.disc = DISCRIMINATORS[config.discriminator]
        self.reward = REWARDS[config.reward]
        self.weight = TIME_WEIGHTS[config.time_weight]
        observation = OBSERVATIONS[config.observation]
        image = observation.image(world, config.pixels_per_cell)
        sight = observation.sight(world, config.pixels_per_cell)

        def store(network: str, shape: Shape) -> Store:
            return NETWORKS[network].build(config, self.n_states, sight, image, shape)

        self.logits = store(config.discriminator_network, self.disc.shape(config.skills))
        self.q = store(config.network, (self.n_actions, config.skills))
        per_sample = self.n_states * self.n_actions / config.batch
        plain = config.q_rule == "plain"
        self.by_blocks = plain and config.sweep and per_sample > BLOCKS_ABOVE
        self.by_rows = (
            plain and config.share_transitions and not config.sweep and per_sample > ROWS_ABOVE
        )
        # A learned discriminator and every Q but that of a sweep learn from sampled transitions.
        self.samples = self.disc.learned is not None or not config.sweep

    def init(self, key_logits: Key, key_q: Key, hyper: Hyper) -> tuple[Fitted, Fitted]:
        """Discriminator and Q before the first step."""
        q = self.q.init(key_q, hyper.init_q)
        q_fitted = adam.fit(q) if self.config.q_rule == "adam" else Fitted(q, None)
        if self.disc.learned:
            return adam.fit(self.logits.init(key_logits, hyper.init_logits)), q_fitted
        nothing = self.logits.init(key_logits, jnp.float32(0.0))
        return Fitted(nothing, counts.init(self.n_states)), q_fitted

    def update(self, state: TrainState, hyper: Hyper, key: Key) -> TrainState:
        """One step for Q and, where it is trained, one for the discriminator, from one batch.

        The reward is that of the discriminator before its step (Algorithm 1).
        """
        batch = self.draw(state, key)
        q = self.q_step(state, batch, hyper)
        # The logits that rewards were read from are overwritten. XLA copies all of them before
        # (a tenth of the time of all pairs) unless it sees that Q comes first.
        rate = _after(q.params, hyper.discriminator_learning_rate)
        return state._replace(
            q=q,
            discriminator=self.discriminator_step(state.discriminator, batch, hyper, rate),
            updates=state.updates + 1,
        )

    def draw(self, state: TrainState, key: Key) -> Batch | None:
        """A batch from the replay; None where nothing learns from samples."""
        if state.replay is None:
            return None
        bits = jax.random.bits(key, (2, self.config.batch))
        packed = replay.sample(state.replay, bits[0], state.iteration)
        return self.unpack(*packed, draws.uniform(bits[1]))

    def unpack(self, state_action: Array, skill_time: Array, u: Array) -> Batch:
        """The samples of a batch; ``u`` [B] uniform in [0, 1) decides dropout."""
        c = self.config
        t = skill_time % c.horizon + 1
        return Batch(
            state=state_action // self.n_actions,
            action=state_action % self.n_actions,
            next_state=self.next_state.reshape(-1)[state_action],
            skill=skill_time // c.horizon,
            last=t == c.horizon,
            proceeds=jnp.where(c.bootstrap_last | (t < c.horizon), 1.0, 0.0),
            factor=reward_factor(self.weight, c.dropout, t, c.horizon, u),
        )

    def view(self, batch: Batch | None) -> View:
        """The rows for ``batch``; without one, every state."""
        if batch is None:
            return View(None, None, self.next_state, None, None)
        if self.config.network_rows == "states":
            return View(None, None, self.next_state, batch.state, batch.next_state)
        each = jnp.arange(self.config.batch, dtype=batch.state.dtype)
        return View(batch.state, batch.next_state, each[:, None], each, each)

    def seen(self, discriminator: Fitted, view: View, hyper: Hyper) -> Seen:
        """Logits where discriminator and reward look."""
        if self.config.reward_state == "next":
            states, moves, row = view.after, view.moves, view.row_after
        else:
            n_rows = view.moves.shape[0]
            states, moves, row = view.before, jnp.arange(n_rows)[:, None], view.row
        logits, _ = self.logits.read(discriminator.params, states)
        return Seen(logits, self.beta(discriminator, states, hyper), moves, row)

    def q_step(self, state: TrainState, batch: Batch | None, hyper: Hyper) -> Fitted:
        """Q after what the batch, or all that is known, teaches it."""
        c = self.config
        view = self.view(None if c.sweep else batch)
        q, pull = self.q.read(state.q.params, view.before)
        there = state.q.params if state.target_q is None else state.target_q
        if self.by_rows or self.by_blocks:
            target_q, _ = self.q.read(there, None)
            return Fitted(self._part_step(state, batch, q, target_q, hyper), None)
        value = self.q.read(there, view.after)[0].max(axis=1)[view.moves]
        seen = self.seen(state.discriminator, view, hyper)
        if c.q_rule == "plain":
            tally, _ = self._tally(state, batch, view, seen)
            moved = q_learning.plain_step(q, tally, value, hyper.discount, hyper.learning_rate)
            return Fitted(moved, None)
        tally, size = self._tally(state, batch, view, seen)
        gradient = q_learning.table_gradient(q, tally, value, hyper.discount, size)
        return adam.step(state.q, pull(gradient), hyper.learning_rate)

    def _tally(
        self, state: TrainState, batch: Batch | None, view: View, seen: Seen
    ) -> tuple[Tally, Array]:
        """What the rows of the view are taught, and by how many samples."""
        n_rows, n_actions, n_skills = view.moves.shape[0], self.n_actions, self.config.skills
        if self.config.sweep and state.model is not None:
            known = model.means(state.model)
            return self._for_all_skills(seen, *known), jnp.maximum(known.times.sum(), 1.0)
        assert batch is not None
        assert view.row is not None
        size = jnp.float32(self.config.batch)
        cell = view.row * n_actions + batch.action
        if self.config.share_transitions:
            sums = (
                _histogram(cell, weight, (n_rows * n_actions,))
                for weight in (jnp.ones_like(batch.factor), batch.factor, batch.proceeds)
            )
            return self._for_all_skills(seen, *sums), size
        cell = cell * n_skills + batch.skill
        shape = (n_rows, n_actions, n_skills)
        reward = batch.factor * self.rewards_of(seen, batch.skill)
        tally = Tally(
            times=_histogram(cell, jnp.ones_like(reward), shape),
            reward=_histogram(cell, reward, shape),
            proceeds=_histogram(cell, batch.proceeds, shape),
        )
        return tally, size

    def _for_all_skills(self, seen: Seen, times: Array, factor: Array, proceeds: Array) -> Tally:
        """Each transition counts for every skill: three numbers per (row, action)."""
        shape = (-1, self.n_actions, 1)
        return Tally(
            times=times.reshape(shape),
            reward=factor.reshape(shape) * self.rewards(seen)[seen.moves],
            proceeds=proceeds.reshape(shape),
        )

    def rewards(self, seen: Seen) -> Array:
        """[n, K] the reward of every skill in every row."""
        return jax.vmap(self.reward.rewards)(seen.logits, seen.beta)

    def rewards_of(self, seen: Seen, skill: Array) -> Array:
        """[B] the reward of each sample's own skill in its row."""
        assert seen.row is not None
        if self.reward.of_skill is None:
            return self.rewards(seen)[seen.row, skill]
        return jax.vmap(self.reward.of_skill, (None, 0, 0))(seen.logits, seen.row, skill)

    def beta(self, discriminator: Fitted, states: Array | None, hyper: Hyper) -> Array:
        """[n] the inverse temperature; of counts times what has faded since a row was touched."""
        n_rows = self.n_states if states is None else states.shape[0]
        beta = jnp.broadcast_to(hyper.inverse_temperature, n_rows)
        if self.disc.learned:
            return beta
        faded = counts.factor(discriminator.optimiser)
        return beta * (faded if states is None else faded[states])

    def discriminator_step(
        self, fitted: Fitted, batch: Batch | None, hyper: Hyper, rate: Array
    ) -> Fitted:
        """The discriminator after what the batch teaches it; one that counts stays as it is."""
        c, learned = self.config, self.disc.learned
        if learned is None or batch is None:
            return fitted
        view = self.view(batch)
        after = c.reward_state == "next"
        states, row = (view.after, view.row_after) if after else (view.before, view.row)
        logits, pull = self.logits.read(fitted.params, states)
        assert row is not None
        teaches = batch.last if c.discriminator_states == "last" else jnp.ones_like(batch.last)
        often = _histogram(row * c.skills + batch.skill, teaches, (logits.shape[0], c.skills))
        weights = often / jnp.maximum(often.sum(), 1.0)
        beta = hyper.inverse_temperature if c.temperature_in_loss else jnp.float32(1.0)
        gradient = jax.vmap(learned.gradient, (0, 0, None))(logits, weights, beta)
        moved = adam.step(fitted, pull(gradient), rate)
        return moved._replace(params=self.logits.times(moved.params, 1.0 - hyper.logit_decay))

    # Large tables: part of the rows, all skills -------------------------------------------------

    def _part_step(
        self, state: TrainState, batch: Batch | None, q: Array, target_q: Array, hyper: Hyper
    ) -> Array:
        """Q after a plain step that touches the sampled rows, or the next block of a sweep."""
        if self.by_blocks and state.model is not None:
            return self._block_step(state, state.model, q, target_q, hyper)
        assert batch is not None
        cell = batch.state * self.n_actions + batch.action
        target = self._targets(
            state.discriminator, target_q, cell, batch.factor, batch.proceeds, hyper
        )
        return q_learning.rows_step(q, cell, target, hyper.learning_rate)

    def _block_step(
        self, state: TrainState, memory: Model, q: Array, target_q: Array, hyper: Hyper
    ) -> Array:
        """Q after a sweep over the next ``batch`` transitions, block after block in turn."""
        size = min(max(self.config.batch // self.n_actions, 1), self.n_states)
        n_blocks = -(-self.n_states // size)
        first = jnp.minimum(state.updates % n_blocks * size, self.n_states - size)
        cell = first * self.n_actions + jnp.arange(size * self.n_actions)
        known, factor, proceeds = (field[cell] for field in model.means(memory))
        target = self._targets(state.discriminator, target_q, cell, factor, proceeds, hyper)
        block = jax.lax.dynamic_slice(q, (first, 0, 0), (size, *q.shape[1:]))
        rows = block.reshape(target.shape)
        moved = rows + (hyper.learning_rate * known)[:, None] * (target - rows)
        return jax.lax.dynamic_update_slice(q, moved.reshape(block.shape), (first, 0, 0))

    def _targets(
        self,
        discriminator: Fitted,
        target_q: Array,
        cell: Array,
        factor: Array,
        proceeds: Array,
        hyper: Hyper,
    ) -> Array:
        """[n, K] the target of every skill for the transitions ``cell`` [n], reading their rows."""
        next_state = self.next_state.reshape(-1)[cell]
        states = next_state if self.config.reward_state == "next" else cell // self.n_actions
        logits, _ = self.logits.read(discriminator.params, states)
        reward = jax.vmap(self.reward.rewards)(logits, self.beta(discriminator, states, hyper))
        value = reduce(jnp.maximum, [target_q[next_state, a] for a in range(self.n_actions)])
        return factor[:, None] * reward + (hyper.discount * proceeds)[:, None] * value

    # All states ----------------------------------------------------------------------------------

    def all_rows(self, store: Store, params: Params) -> Array:
        """[S, ...] every row, in pieces where the networks are meant to see a batch at a time."""
        size = self.config.batch
        if self.config.network_rows == "states" or self.n_states <= size:
            return store.read(params, None)[0]
        n_pieces = -(-self.n_states // size)
        states = jnp.minimum(jnp.arange(n_pieces * size), self.n_states - 1)
        rows: Array = jax.lax.map(
            lambda piece: store.read(params, piece)[0], states.reshape(-1, size)
        )
        return rows.reshape(-1, *rows.shape[2:])[: self.n_states]


def _after(first: Params, number: Array) -> Array:
    """``number``, in a way that needs ``first`` (finite) to be there."""
    part: Array = jax.tree.leaves(first)[0].ravel()[0]
    return number + 0.0 * part


def _histogram(cell: Array, weight: Array, shape: tuple[int, ...]) -> Array:
    size = math.prod(shape)
    return jnp.zeros(size).at[cell].add(weight.astype(jnp.float32)).reshape(shape)
