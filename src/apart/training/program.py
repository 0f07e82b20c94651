"""The program of a run: where world, collector and learner meet.

``chunk(state, hyper, n, until)`` makes n rounds of (collect episodes, learn). Where episodes can
end early it stops sooner, after the round in which the steps come to ``until``. For tables and JAX
worlds it is one compiled loop that does not touch the host; n and ``until`` are arguments, so that
all chunks of a run share one compilation. For host worlds it is a Python loop around two compiled
functions. Callers see no difference.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from functools import lru_cache, partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._config import Config
from apart._types import Array, Obs
from apart.learner.approximators import Params
from apart.learner.episodes import Episodes
from apart.training import choices, evaluations
from apart.training.choices import Drawn
from apart.training.evaluate import Evaluation
from apart.training.host import Host
from apart.training.learner import Learner, evaluated
from apart.training.learners import example, learner_of
from apart.training.rounds import (
    Round,
    evaluated_side,
    initial,
    iterate_with,
    learnt_from,
    round_of,
    seeds_of,
)
from apart.training.state import Hyper, StepCount, TrainState
from apart.worlds.lifetime import may_end
from apart.worlds.world import HostWorld, JaxWorld, TableWorld, World


class Program(NamedTuple):
    """Functions for one world and one static configuration."""

    init: Callable[[Array, Hyper], TrainState]
    chunk: Callable[..., TrainState]  # (state, numbers, rounds n, until: `StepCount` or no limit)
    evaluate: Callable[[TrainState, Hyper], Evaluation]
    finite: Callable[[TrainState], Array]  # [] bool: all parameters are
    random: Callable[[TrainState, Hyper], Array] | None
    # -> [K] the places in which K episodes of random actions end; None where that is known exactly
    close: Callable[[], None] = lambda: None  # lets go of what lives on the host


def program(world: World, config: Config) -> Program:
    """The program for ``config`` in ``world``; equal static parts share one compilation."""
    same = contents(world) if isinstance(world, TableWorld) else world
    return _program(_Key((same, config.static()), world, config))


def contents(world: TableWorld) -> object:
    """Equal for tables that are: specs alone may be alike where somebody's own tables differ."""
    arrays = (world.next_state, world.probability, world.distance, world.cells, world.task)
    return (
        json.dumps(world.about.spec),
        *(None if a is None else (a.shape, a.tobytes()) for a in arrays),
        *(world.start, world.starts),
    )


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


def compiled(world: TableWorld | JaxWorld, config: Config, learner: Learner) -> Program:
    """One donated loop; nothing of it happens on the host."""
    iterate = iterate_with(world, config, learner)
    in_jax = world if isinstance(world, JaxWorld) else None
    counts = in_jax is not None and may_end(in_jax)

    def chunk(
        state: TrainState, hyper: Hyper, n: Array, until: StepCount | None = None
    ) -> TrainState:
        if not counts:
            after_n: TrainState = jax.lax.fori_loop(0, n, lambda _, s: iterate(s, hyper), state)
            return after_n

        def goes_on(carry: tuple[Array, TrainState]) -> Array:
            i, now = carry
            assert now.made is not None
            return i < n if until is None else (i < n) & now.made.below(until)

        begin = (jnp.int32(0), state)
        _, after = jax.lax.while_loop(goes_on, lambda c: (c[0] + 1, iterate(c[1], hyper)), begin)
        there: TrainState = after
        return there

    evaluate = jax.jit(partial(evaluations.evaluate, world, config, learner))

    def random(state: TrainState, hyper: Hyper) -> Array:
        places: Array = evaluate(state, hyper, at_random=jnp.bool_(True)).trajectories
        return places[:, -1]

    return Program(
        init=jax.jit(initial(learner, counts)),
        chunk=jax.jit(chunk, donate_argnums=0),
        evaluate=lambda state, hyper: evaluate(state, hyper, at_random=jnp.bool_(False)),
        finite=jax.jit(_finite),
        random=None if in_jax is None else random,
    )


def _finite(state: TrainState) -> Array:
    leaves = jax.tree.leaves((state.learnt.q, state.learnt.discriminator))
    floats = [leaf for leaf in leaves if jnp.issubdtype(leaf.dtype, jnp.floating)]
    return jnp.stack([jnp.isfinite(leaf).all() for leaf in floats]).all()


def hosted(world: HostWorld, config: Config, learner: Learner) -> Program:
    """The same functions where the world lives on the host.

    Environments are reset with seeds that are a function of (seed, round, episode), so that a run
    goes on exactly where it stopped although no environment is saved.
    """
    host, about = Host(world), world.about
    by_place = learner.objective.by_place
    tried: list[bool] = []  # whether the environments repeat themselves

    @jax.jit
    def act(q: Params, obs: Obs, skill: Array, choice: Array) -> Array:
        return choices.actions(learner.values(q, obs), skill, choice)

    begin = jax.jit(
        lambda state, hyper: round_of(
            config, about.n_actions, state, hyper, about.heads, learner.objective
        )
    )

    def end(state: TrainState, made: Round, episodes: Episodes) -> TrainState:
        return learnt_from(config, learner, state, made, episodes)

    learn = jax.jit(end, donate_argnums=0)
    measure = jax.jit(partial(evaluations.measured, config, learner))

    def play(q: Params, drawn: Drawn, seeds: list[int]) -> Episodes:
        return host.by_host(lambda *seen: act(q, *seen), drawn, seeds, config.hold)

    def chunk(
        state: TrainState, hyper: Hyper, n: Array, until: StepCount | None = None
    ) -> TrainState:
        if n == 0:  # compiles: a round of nothing, on a copy
            like = example(world, config, by_place)
            learn(jax.tree.map(jnp.copy, state), begin(state, hyper), like)
        for _ in range(int(n)):
            if until is not None and state.made is not None and not state.made.below(until):
                break
            made = begin(state, hyper)
            seeds = seeds_of(state.key, int(state.iteration), config.episodes_per_update)
            episodes = play(state.learnt.q.params, made.drawn, seeds)
            if not tried:
                tried.append(True)
                _warn_unless_same(world, episodes, play(state.learnt.q.params, made.drawn, seeds))
            seen = episodes if by_place else episodes.without_places()
            state = learn(state, made, seen._replace(steps=episodes.steps))
        return state

    def evaluate(state: TrainState, hyper: Hyper) -> Evaluation:
        drawn, _ = evaluations.every_skill(about, config, learner, state, hyper)
        found: Evaluation = measure(state.learnt, hyper, side_by_side(state, drawn))
        return found

    def random(state: TrainState, hyper: Hyper) -> Array:
        episodes = side_by_side(state, evaluations.random_actions(about, config, state))
        assert episodes.place is not None
        return episodes.place[:, -1]

    def side_by_side(state: TrainState, drawn: Drawn) -> Episodes:
        """An episode of every skill, all from the start that all evaluations have."""
        side, played = evaluated_side(config), []
        for first in range(0, config.skills, side):
            some = drawn.part(first, side)
            seeds = seeds_of(state.key, -1, 1) * len(some.skill)
            played.append(play(evaluated(state.learnt), some, seeds))
        joined: Episodes = jax.tree.map(lambda *parts: jnp.concatenate(parts), *played)
        return joined

    return Program(
        init=jax.jit(initial(learner, counts=True)),
        chunk=chunk,
        evaluate=evaluate,
        finite=jax.jit(_finite),
        random=random,
        close=host.close,
    )


def _warn_unless_same(world: HostWorld, one: Episodes, again: Episodes) -> None:
    if not bool((again.obs == one.obs).all()):
        warnings.warn(
            f"{world.name} does not repeat itself with the same seeds: a run of it that is stopped "
            "and resumed will differ",
            stacklevel=3,
        )
