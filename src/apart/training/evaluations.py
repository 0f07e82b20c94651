"""An evaluation: an episode of every skill from one start, and what `evaluate` measures of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from apart._config import Config
from apart._types import Array, Key, Obs
from apart.learner.approximators import Params
from apart.learner.episodes import Episodes
from apart.objective.contexts import Moved
from apart.objective.objectives import OBJECTIVES
from apart.training import choices, collect
from apart.training.choices import Drawn
from apart.training.collect import Dynamics
from apart.training.evaluate import Evaluation, along, evaluate_episodes, evaluate_table
from apart.training.learner import Learner, evaluated, judged
from apart.training.learners import lists_states
from apart.training.objectives.contract import chains, skills_used
from apart.training.rounds import start_key
from apart.training.state import Hyper, Learnt, TrainState
from apart.worlds.holding import held
from apart.worlds.world import About, JaxWorld, TableWorld


def evaluation_epsilon(config: Config, hyper: Hyper) -> Array | None:
    """Skills are evaluated greedily; what never learns is evaluated as it acts."""
    return hyper.epsilon if config.updates_per_episode == 0 else None


def every_skill(
    about: About, config: Config, learner: Learner, state: TrainState, hyper: Hyper
) -> tuple[Drawn, Key]:
    """The agent's part in an episode of every skill, and the key of the evaluation."""
    key = jax.random.fold_in(state.key, -1 - state.iteration)
    drawn = choices.every_skill(
        *(config.skills, config.decisions, about.n_actions),
        *(evaluation_epsilon(config, hyper), key, about.heads),
    )
    acts = chains(learner.objective, state.learnt.discriminator)
    return choices.follow(drawn, acts, about.n_actions), key


def random_actions(about: About, config: Config, state: TrainState) -> Drawn:
    """As many episodes as there are skills, of random actions; the same at any time of a run."""
    key = jax.random.fold_in(state.key, 2**31 - 2)
    shape = (config.skills, config.decisions, config.skills, about.n_actions)
    return choices.draw(*shape, jnp.ones(()), key, heads=about.heads)


def measured(
    config: Config, learner: Learner, learnt: Learnt, hyper: Hyper, episodes: Episodes
) -> Evaluation:
    """What episodes of every skill show, where states are not listed."""
    acts = chains(learner.objective, learnt.discriminator)
    if acts is not None and episodes.alive is None:  # what follows the end of a chain was not done
        episodes = episodes._replace(alive=acts >= 0)
    return evaluate_episodes(
        lambda moved: judged(learner.objective, learnt, moved, hyper),
        episodes,
        OBJECTIVES[config.objective].by_episode,
        learner.objective.by_place,
        used=skills_used(learner.objective, learnt.discriminator),
    )


def evaluate(
    world: TableWorld | JaxWorld,
    config: Config,
    learner: Learner,
    state: TrainState,
    hyper: Hyper,
    at_random: Array,
) -> Evaluation:
    """Of worlds that can be compiled; in JAX worlds as well of random actions instead of skills.

    Both are one program there: an evaluation takes as long to compile as training.
    """
    drawn, key = every_skill(world.about, config, learner, state, hyper)
    q = evaluated(state.learnt)
    if isinstance(world, JaxWorld):
        randomly = random_actions(world.about, config, state).choice
        drawn = drawn._replace(choice=jnp.where(at_random, randomly, drawn.choice))
        episodes = collect.by_steps(
            collect.steps_of(world),
            lambda obs: learner.values(q, obs),
            drawn,
            start_key(state.key),
            one_start=True,
            hold=config.hold,
        )
        return measured(config, learner, state.learnt, hyper, episodes)
    values = of_states(world, config, lambda obs: learner.values(q, obs))
    kept, scores_of = state.learnt.discriminator, learner.objective.scores
    scores = of_states(world, config, lambda obs: scores_of(kept, obs, hyper))
    # All skills start alike, in the first of several starts: what differs is what they do.
    episodes = collect.by_table(Dynamics.of(world, starts=False), values, drawn, key, config.hold)
    rewards = _rewards(world, config, learner, state.learnt, hyper, episodes)
    return evaluate_table(
        jnp.argmax(values, axis=1),
        *(scores, rewards, Dynamics.of(held(world, config.hold)), episodes),
        *(evaluation_epsilon(config, hyper), chains(learner.objective, kept)),
        used=skills_used(learner.objective, kept),
    )


def _rewards(
    world: TableWorld,
    config: Config,
    learner: Learner,
    learnt: Learnt,
    hyper: Hyper,
    episodes: Episodes,
) -> Array:
    """[K, T] of an episode of every skill in a table: those of states are looked up."""
    objective, kept = learner.objective, learnt.discriminator
    states, skills = episodes.obs, jnp.arange(config.skills)
    in_states = objective.of_states
    if in_states is not None:
        table: Array = of_states(world, config, lambda obs: in_states(kept, obs, hyper))
        paid = states[:, 1:] if objective.after else states[:, :-1]
        return table[paid, skills[:, None]]

    whole = OBJECTIVES[config.objective].by_episode

    def of_skill(one: tuple[Array, Array]) -> Array:
        skill, at = one
        moved = Moved(at[:-1], at[1:], along(at) if whole else None)
        return objective.rewards(kept, moved, hyper)[:, skill]

    found: Array = jax.lax.map(of_skill, (skills, states))
    return found


def of_states(world: TableWorld, config: Config, read: Callable[[Obs | None], Any]) -> Any:
    """``read`` of all states of a table, [S, ...], in pieces where updates do not list them."""
    size = None if lists_states(world, config) else config.batch
    return in_pieces(read, world.n_states, size)


def in_pieces(read: Callable[[Obs | None], Any], n_states: int, size: int | None) -> Any:
    """``read`` of all states, [S, ...]; at most ``size`` at a time where that is given."""
    if size is None or n_states <= size:
        return read(None)
    n_pieces = -(-n_states // size)
    states = jnp.minimum(jnp.arange(n_pieces * size), n_states - 1)
    rows = jax.lax.map(read, states.reshape(-1, size))
    return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:])[:n_states], rows)


def greedy_actions(learner: Learner, q: Params, obs: Obs, skill: Array) -> Array:
    """[n] int32 the action of each of the skills [n] in its own observation [n, ...].

    Of several heads [n, M].
    """
    return choices.greedy(learner.values(q, obs), skill)
