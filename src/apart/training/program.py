"""The program of a run: where world, collector and learner meet.

``chunk(state, hyper, n)`` makes n rounds of (collect episodes, learn). For tables and JAX worlds it
is one compiled loop that does not touch the host; n is an argument, so that all chunks of a run
share one compilation. For host worlds it is a Python loop around two compiled functions. Callers
see no difference.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from apart._config import Config
from apart._types import Array, Key, Obs
from apart.learner import approximators, replay
from apart.learner.approximators import NETWORKS, Params
from apart.learner.episodes import Episodes
from apart.learner.q_learning import Q_RULES
from apart.objective.contexts import Moved
from apart.objective.objectives import OBJECTIVES
from apart.training import collect
from apart.training.collect import Drawn, Dynamics
from apart.training.evaluate import Evaluation, along, evaluate_episodes, evaluate_table
from apart.training.host import Host
from apart.training.learner import Learner, evaluated, judged
from apart.training.objectives.contract import Given, Objective, chains
from apart.training.pieces import States, pieces
from apart.training.sampled import sampled
from apart.training.state import Hyper, Learnt, TrainState
from apart.training.tabular import tabular
from apart.worlds.holding import held
from apart.worlds.observations import sight_of, vectors_of
from apart.worlds.world import HostWorld, JaxWorld, ObsSpec, TableWorld, World


class Program(NamedTuple):
    """Functions for one world and one static configuration."""

    init: Callable[[Array, Hyper], TrainState]
    chunk: Callable[[TrainState, Hyper, Array], TrainState]
    evaluate: Callable[[TrainState, Hyper], Evaluation]
    finite: Callable[[TrainState], Array]  # [] bool: all parameters are
    close: Callable[[], None] = lambda: None  # lets go of what lives on the host


def program(world: World, config: Config) -> Program:
    """The program for ``config`` in ``world``; equal static parts share one compilation."""
    same = json.dumps(world.about.spec) if isinstance(world, TableWorld) else world
    return _program(_Key((same, config.static()), world, config))


class _Key:
    """Hashes like the static parts; carries the objects that they were taken from."""

    def __init__(self, static: object, world: World, config: Config) -> None:
        self.static, self.world, self.config = static, world, config

    def __hash__(self) -> int:
        return hash(self.static)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.static == other.static


@lru_cache(maxsize=64)
def _program(key: _Key) -> Program:
    world, config = key.world, key.config
    if isinstance(world, HostWorld):
        return hosted(world, config, learner_of(world, config))
    return compiled(world, config, learner_of(world, config))


def learner_of(world: World, config: Config) -> Learner:
    """The learner that is less work: over all states, or over the samples of a batch."""
    of_table = isinstance(world, TableWorld) and lists_states(world, config)
    return learner_over(world, config, states=of_table)


def lists_states(world: TableWorld, config: Config) -> bool:
    """Whether an update goes over all states of ``world`` rather than over samples.

    An update on samples runs the networks on the states before and after: 2 B rows.
    """
    forms = approximators.parse(config.network)
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
        example = partial(_example, world, c, p.by_place)
        kept = replay.plain(slots, n_episodes, example, c.decisions, paths, p.by_place)
        bound = world.places.bound if p.by_place else None
        return sampled(Given(p, places=bound, seen=world.obs), kept)
    next_state = jnp.asarray(held(world, c.hold).next_state)
    ring = replay.packed(slots, n_episodes, next_state, c.decisions, paths)
    starts = world.starts or (world.start,)
    seen = ObsSpec((), str(next_state.dtype))
    given = Given(p, world.n_states, next_state=next_state, starts=starts, seen=seen)
    return tabular(given, ring) if states else sampled(given, ring)


def _states(world: World) -> States | None:
    """What a table says of its states."""
    if not isinstance(world, TableWorld):
        return None
    at = world.cells if len(world.cells) else np.eye(world.n_states)
    task = np.zeros(world.n_states) if world.task is None else world.task / world.task.max()
    return States(jnp.asarray(at, jnp.float32), jnp.asarray(task, jnp.float32))


def _example(world: JaxWorld | HostWorld, config: Config, by_place: bool) -> Episodes:
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
    )


def initial(learner: Learner) -> Callable[[Array, Hyper], TrainState]:
    """(seed, numbers) -> the state before the first step."""

    def init(seed: Array, hyper: Hyper) -> TrainState:
        key_logits, key_q, key_run = jax.random.split(jax.random.key(seed), 3)
        return TrainState(learner.init(key_logits, key_q, hyper), jnp.int32(0), key_run)

    return init


def evaluated_start(seed: int) -> tuple[Key, int]:
    """Where every evaluation of a run starts: the key of a JAX world, the seed of a host world."""
    key_run = jax.random.split(jax.random.key(jnp.uint32(seed)), 3)[2]
    return _start(key_run), _seeds(key_run, -1, 1)[0]


def evaluated_side(config: Config) -> int:
    """How many skills of a host world are evaluated side by side."""
    return max(config.episodes_per_update, 8)


def _start(key_run: Key) -> Key:
    """The same in all evaluations, for all skills; no round has this number."""
    return jax.random.fold_in(key_run, 2**31 - 1)


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
        left = 1.0 - state.iteration / hyper.rounds
        hyper = hyper._replace(
            learning_rate=hyper.learning_rate * left,
            discriminator_learning_rate=hyper.discriminator_learning_rate * left,
            fading=hyper.fading * left,
        )
    n, t = c.episodes_per_update, c.decisions
    drawn = collect.draw(n, t, c.skills, n_actions, hyper.epsilon, key_collect, c.one_skill, heads)
    if objective is not None and objective.active is not None:
        active = objective.active(state.learnt.discriminator)
        drawn = drawn._replace(skill=collect.among(active, key_collect, drawn.skill, c.one_skill))
    if objective is not None:
        acts = chains(objective, state.learnt.discriminator)
        drawn = collect.follow(drawn, acts, n_actions, key_collect)
    return Round(key_collect, key_learn, hyper, drawn)


def learnt_from(learner: Learner, state: TrainState, made: Round, episodes: Episodes) -> TrainState:
    """``state`` after the learner saw the episodes of a round."""
    rounds = state.iteration + 1
    learnt = learner.learn(state.learnt, episodes, made.hyper, made.learn, rounds)
    return state._replace(learnt=learnt, iteration=rounds)


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
        return learnt_from(learner, state, made, episodes)

    return iterate


def compiled(world: TableWorld | JaxWorld, config: Config, learner: Learner) -> Program:
    """One donated loop; nothing of it happens on the host."""
    iterate = iterate_with(world, config, learner)

    def chunk(state: TrainState, hyper: Hyper, n: Array) -> TrainState:
        last: TrainState = jax.lax.fori_loop(0, n, lambda _, s: iterate(s, hyper), state)
        return last

    def evaluate(state: TrainState, hyper: Hyper) -> Evaluation:
        return _evaluate(world, config, learner, state, hyper)

    return Program(
        init=jax.jit(initial(learner)),
        chunk=jax.jit(chunk, donate_argnums=0),
        evaluate=jax.jit(evaluate),
        finite=jax.jit(_finite),
    )


def _finite(state: TrainState) -> Array:
    leaves = jax.tree.leaves((state.learnt.q, state.learnt.discriminator))
    floats = [leaf for leaf in leaves if jnp.issubdtype(leaf.dtype, jnp.floating)]
    return jnp.stack([jnp.isfinite(leaf).all() for leaf in floats]).all()


def _evaluation_epsilon(config: Config, hyper: Hyper) -> Array | None:
    """Skills are evaluated greedily; what never learns is evaluated as it acts."""
    return hyper.epsilon if config.updates_per_episode == 0 else None


def _evaluate(
    world: TableWorld | JaxWorld, config: Config, learner: Learner, state: TrainState, hyper: Hyper
) -> Evaluation:
    key = jax.random.fold_in(state.key, -1 - state.iteration)
    epsilon = _evaluation_epsilon(config, hyper)
    about = world.about
    drawn = collect.every_skill(
        config.skills, config.decisions, about.n_actions, epsilon, key, about.heads
    )
    acts = chains(learner.objective, state.learnt.discriminator)
    drawn = collect.follow(drawn, acts, about.n_actions)
    q = evaluated(state.learnt)
    if isinstance(world, JaxWorld):
        episodes = collect.by_steps(
            collect.steps_of(world),
            lambda obs: learner.values(q, obs),
            drawn,
            _start(state.key),
            one_start=True,
            hold=config.hold,
        )
        return evaluate_episodes(
            lambda moved: judged(learner.objective, state.learnt, moved, hyper),
            episodes,
            OBJECTIVES[config.objective].by_episode,
            learner.objective.by_place,
        )
    values = of_states(world, config, lambda obs: learner.values(q, obs))
    kept, scores_of = state.learnt.discriminator, learner.objective.scores
    scores = of_states(world, config, lambda obs: scores_of(kept, obs, hyper))
    # All skills start alike, in the first of several starts: what differs is what they do.
    episodes = collect.by_table(Dynamics.of(world, starts=False), values, drawn, key, config.hold)
    rewards = _rewards(world, config, learner, state.learnt, hyper, episodes)
    greedy, decided = jnp.argmax(values, axis=1), Dynamics.of(held(world, config.hold))
    return evaluate_table(greedy, scores, rewards, decided, episodes, epsilon, acts)


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
        return table[states[:, 1:], skills[:, None]]

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
    return collect.greedy(learner.values(q, obs), skill)


def hosted(world: HostWorld, config: Config, learner: Learner) -> Program:
    """The same functions where the world lives on the host.

    Environments are reset with seeds that are a function of (seed, round, episode), so that a run
    goes on exactly where it stopped although no environment is saved.
    """
    host = Host(world)
    n_actions, heads = world.about.n_actions, world.about.heads
    by_place = learner.objective.by_place
    tried: list[bool] = []  # whether the environments repeat themselves

    @jax.jit
    def act(q: Params, obs: Obs, skill: Array, choice: Array) -> Array:
        return collect.actions(learner.values(q, obs), skill, choice)

    begin = jax.jit(
        lambda state, hyper: round_of(config, n_actions, state, hyper, heads, learner.objective)
    )

    def end(state: TrainState, made: Round, episodes: Episodes) -> TrainState:
        return learnt_from(learner, state, made, episodes)

    learn = jax.jit(end, donate_argnums=0)

    def play(q: Params, drawn: Drawn, seeds: list[int]) -> Episodes:
        return host.by_host(lambda *seen: act(q, *seen), drawn, seeds, config.hold)

    def chunk(state: TrainState, hyper: Hyper, n: Array) -> TrainState:
        if n == 0:  # compiles: a round of nothing, on a copy
            like = _example(world, config, by_place)
            learn(jax.tree.map(jnp.copy, state), begin(state, hyper), like)
        for _ in range(int(n)):
            made = begin(state, hyper)
            seeds = _seeds(state.key, int(state.iteration), config.episodes_per_update)
            episodes = play(state.learnt.q.params, made.drawn, seeds)
            if not tried:
                tried.append(True)
                again = play(state.learnt.q.params, made.drawn, seeds)
                if not bool((again.obs == episodes.obs).all()):
                    warnings.warn(
                        f"{world.name} does not repeat itself with the same seeds: a run of it "
                        "that is stopped and resumed will differ",
                        stacklevel=2,
                    )
            state = learn(state, made, episodes if by_place else episodes.without_places())
        return state

    @jax.jit
    def measure(learnt: Learnt, hyper: Hyper, episodes: Episodes) -> Evaluation:
        return evaluate_episodes(
            lambda moved: judged(learner.objective, learnt, moved, hyper),
            episodes,
            OBJECTIVES[config.objective].by_episode,
            learner.objective.by_place,
        )

    def evaluate(state: TrainState, hyper: Hyper) -> Evaluation:
        key = jax.random.fold_in(state.key, -1 - state.iteration)
        drawn = collect.every_skill(
            *(config.skills, config.decisions, n_actions),
            *(_evaluation_epsilon(config, hyper), key, heads),
        )
        acts = chains(learner.objective, state.learnt.discriminator)
        drawn = collect.follow(drawn, acts, n_actions)
        q, side = evaluated(state.learnt), evaluated_side(config)
        played = []
        for first in range(0, config.skills, side):
            some = drawn.part(first, side)
            # The same start in all evaluations, for all skills: what differs is what they do.
            played.append(play(q, some, _seeds(state.key, -1, 1) * len(some.skill)))
        episodes = jax.tree.map(lambda *parts: jnp.concatenate(parts), *played)
        measured: Evaluation = measure(state.learnt, hyper, episodes)
        return measured

    return Program(jax.jit(initial(learner)), chunk, evaluate, jax.jit(_finite), host.close)


def _seeds(key: Key, iteration: int, n: int) -> list[int]:
    """Of the environments of a round, by episode; round -1 is the evaluation."""
    words = [int(word) for word in np.asarray(jax.random.key_data(key))]
    sequence = np.random.SeedSequence([*words, iteration + 1])
    return [int(word) for word in sequence.generate_state(n) & 0x7FFFFFFF]
