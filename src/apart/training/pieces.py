"""A configuration looked up: the records that it names, its networks, and how batches are drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from apart._config import Config
from apart._errors import UserError
from apart._types import Array, Key, Obs, Sight, Vectors
from apart.learner import draws, networks, q_learning
from apart.learner.approximators import Approximator, Shape
from apart.learner.ends import Graph
from apart.learner.episodes import Episodes, Sampled
from apart.learner.model import Model
from apart.learner.networks import NETWORKS, Form
from apart.learner.q_learning import Q_RULES, QRule
from apart.learner.replay import Replay, Ring
from apart.objective.contexts import CONTEXTS, Context
from apart.objective.discriminators import DISCRIMINATORS, Discriminator
from apart.objective.objectives import OBJECTIVES, sees_places
from apart.objective.rewards import REWARDS, Reward
from apart.objective.time_weights import TIME_WEIGHTS, TimeWeight, reward_factor
from apart.training.state import Hyper
from apart.worlds import guards


class States(NamedTuple):
    """What a table says of its states beside their transitions."""

    coordinates: Callable[[], Array]  # [S, D] row and column on the map; without one, one-hot
    task: Array  # [S] points of a task, the most in any state being 1; 0 without a task


class Pieces(NamedTuple):
    """A configuration looked up: the records that it names, and its approximators."""

    config: Config
    n_actions: int
    sight: Sight
    discriminator: Discriminator
    reward: Reward
    weight: TimeWeight
    context: Context
    rule: QRule
    logits: Approximator
    q: Approximator
    heads: int = 1
    vectors: Vectors | None = None  # of observations; None for states
    states: States | None = None  # where the world is a table

    @property
    def by_place(self) -> bool:
        """Whether what gives the rewards sees the places of observations, not these."""
        kind = OBJECTIVES[self.config.objective]
        return sees_places(kind, self.discriminator, in_table=self.states is not None)

    def network(self, shape: Shape, sight: Sight | None = None) -> Approximator:
        """One of the kind that logits have, with rows of another ``shape``.

        It reads observations, or whatever is seen as ``sight`` says.
        """
        return _built(networks.parse(self.config.network)[1], sight or self.sight, shape)

    def points(self) -> Callable[[Obs], Array]:
        """Observations [n, ...] -> [n, D] where they lie: vectors, of states rows and columns."""
        if self.vectors is not None:
            return self.vectors.of
        assert self.states is not None  # a table
        return self.states.coordinates().__getitem__


def _built(form: Form, sight: Sight, shape: Shape) -> Approximator:
    return NETWORKS[form.kind].build(form, sight, shape)


def pieces(
    config: Config,
    n_actions: int,
    sight: Sight,
    heads: int = 1,
    vectors: Vectors | None = None,
    states: States | None = None,
) -> Pieces:
    """What ``config`` names, for observations that are seen as ``sight`` says.

    ``vectors`` are the same observations without what networks add to them; None for states.
    ``states`` is what a table says of its states.
    """
    of_q, of_logits = networks.parse(config.network)
    discriminator = DISCRIMINATORS[config.discriminator]
    shape = discriminator.shape(config.skills)
    _check_reward(config, shape)
    return Pieces(
        config,
        n_actions,
        sight,
        discriminator,
        REWARDS[config.reward],
        TIME_WEIGHTS[config.time_weight],
        CONTEXTS[config.context],
        Q_RULES[config.q_rule],
        logits=_built(of_logits, sight, shape),
        q=_built(of_q, sight, q_learning.shape(n_actions, config.skills, heads)),
        heads=heads,
        vectors=vectors,
        states=states,
    )


def _check_reward(config: Config, shape: Shape) -> None:
    """`UserError` where the reward, which may be somebody's own, is no function as it should be."""
    name = f"--reward {config.reward}"
    try:
        given = jax.eval_shape(REWARDS[config.reward].rewards, jnp.zeros(shape), jnp.float32(1.0))
    except Exception as error:
        raise UserError(
            f"{name}: its function of (numbers {list(shape)} of one state, sharpness), in "
            f"jax.numpy, fails: {guards.in_a_line(error)}"
        ) from None
    if getattr(given, "shape", None) != (config.skills,):
        found = getattr(given, "shape", None)
        what = f"gives {type(given).__name__}" if found is None else f"gives shape {list(found)}"
        raise UserError(
            f"{name} {what}: it must give a reward for each of the K skills, [{config.skills}]"
        )


class Known(NamedTuple):
    """How known transitions are kept."""

    empty: Callable[[], Model]
    add: Callable[[Any, Episodes], Model]  # (model, new episodes)
    graph: Callable[[Any], Graph]  # those that were seen, as edges


def draw(p: Pieces, replay: Replay, ring: Ring, hyper: Hyper, key: Key, rounds: Array) -> Sampled:
    """A batch from the ring of ``replay`` after so many rounds."""
    bits = jax.random.bits(key, (2, p.config.batch), jnp.uint32)
    batch = replay.sample(ring, bits[0], rounds)
    weight = reward_factor(
        p.weight, p.config.dropout, batch.time, draws.uniform(bits[1]), hyper.keep
    )
    proceeds = jnp.where(p.config.bootstrap_last | ~batch.last, 1.0, 0.0)
    if batch.cut is not None and not p.weight.only_last:  # else it would be paid every time
        proceeds = jnp.where(batch.cut, 1.0, proceeds)
    if batch.terminated is not None:
        proceeds = jnp.where(batch.terminated, 0.0, proceeds)
    return Sampled(batch, weight, proceeds)
