"""A round: the chance that it is made with, its episodes, and what is learnt from them.

All chance is a function of a run's key, the number of the round and a purpose.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from apart._config import Config
from apart._types import Array, Key
from apart.learner.episodes import Episodes
from apart.training import choices, collect
from apart.training.choices import Drawn
from apart.training.collect import Dynamics
from apart.training.learner import Learner, Pace
from apart.training.learners import lists_states
from apart.training.objectives.contract import Objective, chains
from apart.training.state import Hyper, Learnt, StepCount, TrainState
from apart.worlds.holding import held
from apart.worlds.world import JaxWorld, TableWorld


def initial(learner: Learner, counts: bool = False) -> Callable[[Array, Hyper], TrainState]:
    """(seed, numbers) -> the state before the first step, which ``counts`` steps or need not."""

    def init(seed: Array, hyper: Hyper) -> TrainState:
        key_logits, key_q, key_run = jax.random.split(jax.random.key(seed), 3)
        learnt = learner.init(key_logits, key_q, hyper)
        return TrainState(learnt, jnp.int32(0), key_run, StepCount.zero() if counts else None)

    return init


class Round(NamedTuple):
    """What a round is made with: its keys, its annealed numbers, and the agent's chance."""

    collect: Key
    learn: Key
    hyper: Hyper
    drawn: Drawn


def round_of(
    config: Config,
    n_actions: int,
    state: TrainState,
    hyper: Hyper,
    heads: int = 1,
    objective: Objective | None = None,
) -> Round:
    """The next round of ``state``: a function of its key and its number alone.

    And of the skills that the ``objective`` has drawn, where it chooses among them.
    """
    c = config
    key_collect, key_learn = jax.random.split(jax.random.fold_in(state.key, state.iteration))
    if c.anneal:
        left = 1.0 - full_rounds(c, state) / hyper.rounds
        hyper = hyper._replace(
            learning_rate=hyper.learning_rate * left,
            discriminator_learning_rate=hyper.discriminator_learning_rate * left,
            fading=hyper.fading * left,
        )
    n, t = c.episodes_per_update, c.decisions
    drawn = choices.draw(n, t, c.skills, n_actions, hyper.epsilon, key_collect, c.one_skill, heads)
    if objective is not None and objective.active is not None:
        active = objective.active(state.learnt.discriminator)
        drawn = drawn._replace(skill=choices.among(active, key_collect, drawn.skill, c.one_skill))
    if objective is not None:
        acts = chains(objective, state.learnt.discriminator)
        drawn = choices.follow(drawn, acts, n_actions, key_collect)
    return Round(key_collect, key_learn, hyper, drawn)


def full_rounds(config: Config, state: TrainState) -> Array:
    """[] the rounds of full length that the steps of ``state`` amount to."""
    return state.iteration if state.made is None else state.made.number / config.collection


def learnt_from(
    config: Config, learner: Learner, state: TrainState, made: Round, episodes: Episodes
) -> TrainState:
    """``state`` after the learner saw the episodes of a round.

    Updates follow the steps that were made: where episodes end early, a round has fewer of them.
    """
    rounds, pace = state.iteration + 1, None
    state = state._replace(iteration=rounds)
    if state.made is not None:
        assert episodes.steps is not None
        steps = episodes.steps.sum()
        updates, per_steps = config.updates_per_steps
        owed = state.made.owed + steps * updates
        state = state._replace(made=state.made.add(steps, owed % per_steps))
        share = steps / config.collection
        so_far = jnp.maximum(full_rounds(config, state), 1e-9)
        pace = Pace(owed // per_steps, share, so_far)
    learnt = learner.learn(state.learnt, episodes, made.hyper, made.learn, rounds, pace)
    return state._replace(learnt=learnt)


def collector(
    world: TableWorld | JaxWorld, config: Config, learner: Learner
) -> Callable[[Learnt, Drawn, Key], Episodes]:
    """(what is known, the agent's chance, key) -> episodes, for worlds that can be compiled."""
    if isinstance(world, JaxWorld):
        steps, hold = collect.steps_of(world), config.hold
    else:
        table = held(world, config.hold)
        if lists_states(world, config):
            return partial(_in_table, Dynamics.of(table), learner)
        steps, hold = collect.steps_of(table), 1
    return lambda learnt, drawn, key: collect.by_steps(
        steps, lambda obs: learner.values(learnt.q.params, obs), drawn, key, hold=hold
    )


def _in_table(
    dynamics: Dynamics, learner: Learner, learnt: Learnt, drawn: Drawn, key: Key
) -> Episodes:
    """Episodes where all states are listed."""
    q = learner.values(learnt.q.params, None)
    if not learner.objective.tries:
        return collect.by_table(dynamics, q, drawn, key)
    assert learnt.model is not None  # where places share what is known, it is kept
    visits = learnt.model.visits.reshape(dynamics.next_state.shape)
    return collect.trying(dynamics, q, visits, drawn, key)


def iterate_with(
    world: TableWorld | JaxWorld, config: Config, learner: Learner
) -> Callable[[TrainState, Hyper], TrainState]:
    """One round: collect ``episodes_per_update`` episodes and learn."""
    episodes_of = collector(world, config, learner)

    def iterate(state: TrainState, hyper: Hyper) -> TrainState:
        about = world.about
        made = round_of(config, about.n_actions, state, hyper, about.heads, learner.objective)
        episodes = episodes_of(state.learnt, made.drawn, made.collect)
        return learnt_from(config, learner, state, made, episodes)

    return iterate


def evaluated_start(seed: int) -> tuple[Key, int]:
    """Where every evaluation of a run starts: the key of a JAX world, the seed of a host world."""
    key_run = jax.random.split(jax.random.key(jnp.uint32(seed)), 3)[2]
    return start_key(key_run), seeds_of(key_run, -1, 1)[0]


def evaluated_side(config: Config) -> int:
    """How many skills of a host world are evaluated side by side."""
    return max(config.episodes_per_update, 8)


def start_key(key_run: Key) -> Key:
    """The same in all evaluations, for all skills; no round has this number."""
    return jax.random.fold_in(key_run, 2**31 - 1)


def seeds_of(key: Key, iteration: int, n: int) -> list[int]:
    """Of the environments of a round, by episode; round -1 is the evaluation."""
    words = [int(word) for word in np.asarray(jax.random.key_data(key))]
    sequence = np.random.SeedSequence([*words, iteration + 1])
    return [int(word) for word in sequence.generate_state(n) & 0x7FFFFFFF]
