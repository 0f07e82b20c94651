"""What a run learnt, read back from its newest checkpoint.

The seam between run folders and everybody who uses policies: `learnt_of` gives the learner and its
parameters for any world; `policies_of` everything at once where states are listed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from apart._config import Config
from apart._errors import UserError
from apart._types import Array, FloatArray, IntArray
from apart.objective.contexts import Moved
from apart.objective.discriminators import DISCRIMINATORS
from apart.objective.objectives import OBJECTIVES
from apart.runs import checkpoint, plan
from apart.runs import folder as run_folder
from apart.runs.folder import Run
from apart.training.evaluate import in_use
from apart.training.evaluations import of_states
from apart.training.learner import Learner, evaluated
from apart.training.learners import learner_of
from apart.training.objectives.contract import Kept, Objective, chains, skills_used
from apart.training.program import contents
from apart.training.rounds import initial
from apart.training.state import Hyper, Learnt, TrainState, by_name, from_0_1, hyper_of
from apart.worlds.holding import held
from apart.worlds.world import TableWorld, World

_MOST_NUMBERS = 20_000_000  # S * K of the tables that `policies_of` makes


class LearntRun(NamedTuple):
    """A learner and what it knew at the end of a run."""

    config: Config
    world: World
    learner: Learner
    learnt: Learnt
    hyper: Hyper


class Policies(NamedTuple):
    """What every skill does, and what the discriminator makes of it, in every state of a table."""

    action: IntArray  # [S, K] the greedy action of the Q that was evaluated
    posterior: FloatArray  # [S, K] q(z | s); sums to 1 over those in use
    reward: FloatArray  # [S, K] the intrinsic reward, before time weight and dropout
    rival: IntArray  # [S, K] the other skill that most stands in the way there
    acts: IntArray | None = None  # [K, T] who decides, where skills are chains
    heading: str = ""  # what posterior and reward come from, for people


def learnt_of(run: Run) -> LearntRun:
    """The learner of ``run`` and its state in the newest checkpoint; of a snapshot, in its own.

    The greedy policy is the argmax over actions of ``learner.values(evaluated(learnt), obs)``,
    which is [n, A, K]; the discriminator is ``learner.objective`` of ``learnt.discriminator``.

    Raises:
        UserError: the folder has no checkpoint that can be used.
    """
    found = plan.read(run.path, None)
    hyper = hyper_of(found.config)
    learner = learner_of(found.world, found.config)
    like = jax.eval_shape(initial(learner), jnp.uint32(0), hyper)
    plain = like._replace(key=jax.eval_shape(jax.random.key_data, like.key))
    folder = run.path / run_folder.CHECKPOINTS
    saved = run.evaluated.saved if run.evaluated is not None else None
    if saved is None:
        saved = checkpoint.load(folder, by_name(plain), found.sha256, older=from_0_1)
    if saved is None:
        raise UserError(f"{folder}: no checkpoint, so no policies")
    leaves = [saved.arrays[name] for name in by_name(plain)]
    state: TrainState = jax.tree_util.tree_unflatten(jax.tree_util.tree_structure(plain), leaves)
    return LearntRun(found.config, found.world, learner, state.learnt, hyper)


def policies_of(run: Run) -> Policies | None:
    """Actions, posterior, rewards and rivals of every skill in every state.

    None where states are not listed (JAX and host worlds), or are too many for a table [S, K].

    Raises:
        UserError: the folder has no checkpoint that can be used.
    """
    if not isinstance(run.world, TableWorld):
        return None
    if run.world.n_states * int(run.config["skills"]) > _MOST_NUMBERS:
        return None
    config, world, learner, learnt, hyper = learnt_of(run)
    assert isinstance(world, TableWorld)
    same = (contents(world), config.static())
    if same not in _COMPILED:
        _COMPILED[same] = jax.jit(_tables(config, world, learner))
    action, posterior, reward, rival = _COMPILED[same](learnt, hyper)
    acts = acts_of(LearntRun(config, world, learner, learnt, hyper))
    return Policies(
        np.asarray(action, np.int32),
        np.asarray(posterior, np.float64),
        np.asarray(reward, np.float64),
        np.asarray(rival, np.int32),
        acts,
        _heading(config),
    )


def _heading(config: Config) -> str:
    """What gives the rewards: a discriminator, or what its objective has instead."""
    kind = OBJECTIVES[config.objective]
    return kind.heading or DISCRIMINATORS[config.discriminator].heading


def acts_of(known: LearntRun) -> IntArray | None:
    """[K, T] whose policy decides at each decision, -1 once it is over; None: always its own."""
    acts = chains(known.learner.objective, known.learnt.discriminator)
    return None if acts is None else np.asarray(acts, np.int32)


Tables: TypeAlias = Callable[[Learnt, Hyper], tuple[Array, Array, Array, Array]]
_NEVER: Final = -1e30  # the score of a skill that is not in use; less is oneself
_COMPILED: dict[Any, Tables] = {}  # seeds of one configuration compile once


def _tables(config: Config, world: TableWorld, learner: Learner) -> Tables:
    """(parameters, numbers) -> the arrays of `Policies`."""
    over, objective = partial(of_states, world, config), learner.objective
    decided = held(world, config.hold)
    next_state, probability = jnp.asarray(decided.next_state), jnp.asarray(decided.probability)
    whole = OBJECTIVES[config.objective].by_episode
    waits = jnp.full(config.decisions, world.start) if whole else None

    def tables(learnt: Learnt, hyper: Hyper) -> tuple[Array, Array, Array, Array]:
        kept, in_states = learnt.discriminator, objective.of_states
        action = jnp.argmax(over(lambda obs: learner.values(evaluated(learnt), obs)), axis=1)
        scores = over(lambda obs: objective.scores(kept, obs, hyper))
        scores = in_use(scores, skills_used(objective, kept))
        if in_states is not None:
            reward = over(lambda obs: in_states(kept, obs, hyper))
        else:  # what the skill's own move is worth
            reward = jax.lax.map(
                partial(_of_move, objective, kept, hyper, next_state, probability, waits),
                (jnp.arange(config.skills), action.T),
            ).T
        rivals = objective.rivals
        rival = _likeliest_other(jnp.maximum(scores, _NEVER))
        if rivals is not None:
            rival = over(lambda obs: rivals(kept, obs, hyper))
        return action, jax.nn.softmax(scores, axis=1), reward, rival

    return tables


def _of_move(
    objective: Objective,
    kept: Kept,
    hyper: Hyper,
    next_state: Array,
    probability: Array,
    waits: Array | None,
    one: tuple[Array, Array],
) -> Array:
    """[S] the reward of a skill for what it does in every state, in expectation over chance.

    Where that looks at whole episodes, of those that wait [T] in the start and then are there.
    """
    skill, action = one
    states = jnp.arange(next_state.shape[0])

    def worth(after: Array) -> Array:
        path = None
        if waits is not None:
            before = jnp.broadcast_to(waits, (after.shape[0], *waits.shape))
            path = jnp.concatenate([before, after[:, None]], axis=1)
        return objective.rewards(kept, Moved(states, after, path), hyper)[:, skill]

    each: Array = jax.lax.map(worth, next_state[states, action].T)  # [N, S]
    return (probability[states, action].T * each).sum(axis=0)


def _likeliest_other(scores: Array) -> Array:
    """[S, K] of every skill in every state, the other one with the greatest score."""
    itself = jnp.eye(scores.shape[1], dtype=bool)
    others = jax.lax.map(lambda row: jnp.argmax(jnp.where(itself, -jnp.inf, row), axis=1), scores)
    return jnp.asarray(others)
