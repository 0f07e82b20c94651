"""Which learner a world and a configuration take, and what it is built from."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from apart._config import Config
from apart._types import Array
from apart.learner import networks, replay
from apart.learner.episodes import Episodes
from apart.learner.networks import NETWORKS
from apart.learner.q_learning import Q_RULES
from apart.objective.objectives import OBJECTIVES
from apart.training import collect
from apart.training.choices import Drawn
from apart.training.learner import Learner
from apart.training.objectives.contract import Given
from apart.training.pieces import States, pieces
from apart.training.sampled import sampled
from apart.training.tabular import tabular
from apart.worlds.holding import held
from apart.worlds.observations import sight_of, vectors_of
from apart.worlds.world import (
    HostWorld,
    JaxWorld,
    ObsSpec,
    TableWorld,
    World,
    possible_successors,
)


def learner_of(world: World, config: Config) -> Learner:
    """The learner that is less work: over all states, or over the samples of a batch."""
    of_table = isinstance(world, TableWorld) and lists_states(world, config)
    return learner_over(world, config, states=of_table)


def lists_states(world: TableWorld, config: Config) -> bool:
    """Whether an update goes over all states of ``world`` rather than over samples.

    An update on samples runs the networks on the states before and after: 2 B rows.
    """
    forms = networks.parse(config.network)
    tables = all(NETWORKS[form.kind].of_states for form in forms)
    few = world.n_states <= 2 * config.batch
    rule = Q_RULES[config.q_rule]
    return tables or rule.sweeps or not rule.adam or (few and world.deterministic)


def learner_over(world: World, config: Config, states: bool) -> Learner:
    """A learner over all states of a table, or over the samples of a batch."""
    c, n_episodes = config, config.episodes_per_update
    p = pieces(
        *(c, world.about.n_actions, sight_of(world, c.observation)),
        *(world.about.heads, vectors_of(world), _states(world)),
    )
    slots, paths = replay.slots_for(c.buffer, c.transitions), OBJECTIVES[c.objective].by_episode
    if not isinstance(world, TableWorld):
        like = partial(example, world, c, p.by_place)
        kept = replay.plain(slots, n_episodes, like, c.decisions, paths, p.by_place)
        bound = world.places.bound if p.by_place else None
        return sampled(Given(p, places=bound, seen=world.obs), kept)
    next_state = jnp.asarray(possible_successors(held(world, c.hold)))
    ring = replay.packed(slots, n_episodes, next_state, c.decisions, paths)
    starts = world.starts or (world.start,)
    seen = ObsSpec((), str(next_state.dtype))
    given = Given(p, world.n_states, next_state=next_state, starts=starts, seen=seen)
    return tabular(given, ring) if states else sampled(given, ring)


def _states(world: World) -> States | None:
    """What a table says of its states."""
    if not isinstance(world, TableWorld):
        return None
    task = np.zeros(world.n_states) if world.task is None else world.task / world.task.max()
    return States(partial(_coordinates, world), jnp.asarray(task, jnp.float32))


def _coordinates(world: TableWorld) -> Array:
    """[S, D]; without a map S x S numbers, which few objectives ask for."""
    at = world.cells if len(world.cells) else np.eye(world.n_states, dtype=np.float32)
    return jnp.asarray(at, jnp.float32)


def example(world: JaxWorld | HostWorld, config: Config, by_place: bool) -> Episodes:
    """What one collection looks like: shapes and types."""
    n, decisions, heads = config.episodes_per_update, config.decisions, world.about.heads
    several = (heads,) if heads > 1 else ()
    action = jnp.zeros((n, decisions, *several), jnp.int32)
    if isinstance(world, JaxWorld):
        drawn = Drawn(jnp.zeros(n, jnp.int32), action)
        zeros = jnp.zeros((n, *several, world.about.n_actions, config.skills))
        return collect.by_steps(collect.steps_of(world), lambda _: zeros, drawn, jax.random.key(0))
    return Episodes(
        obs=jnp.zeros((n, decisions + 1, *world.obs.shape), world.obs.dtype),
        action=action,
        skill=jnp.zeros(n, jnp.int32),
        alive=jnp.ones((n, decisions), bool),
        terminated=jnp.zeros((n, decisions), bool),
        place=jnp.zeros((n, config.horizon + 1), jnp.int32) if by_place else None,
        steps=jnp.zeros(n, jnp.int32),
    )
