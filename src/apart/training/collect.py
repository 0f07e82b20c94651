"""Episodes in tables and in worlds of JAX functions, as `choices` says; others are in `host`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from apart._errors import UserError
from apart._types import Array, Key, Obs
from apart.learner import draws
from apart.learner.episodes import Episodes
from apart.training import exploring
from apart.training.choices import Drawn, actions, deciding, is_over
from apart.worlds.world import JaxWorld, TableWorld, possible_successors

_LOOK_UPS: Final = 8  # states for each step: with more, few of all greedy actions are asked for

Values = Callable[[Obs | None], Array]  # observations [n, ...] or None for all -> [n, A, K], ...


class Dynamics(NamedTuple):
    """A table as arrays."""

    next_state: Array  # [S, A, N]
    cumulative: Array  # [S, A, N] probability of each successor and those before it
    start: int
    starts: Array | None = None  # where there are several, each as likely; else None

    @classmethod
    def of(cls, world: TableWorld, starts: bool = True) -> Dynamics:
        """The dynamics of ``world``; without ``starts`` every episode begins in the first."""
        cumulative = np.cumsum(world.probability, axis=2)
        several = jnp.asarray(world.starts, jnp.int32) if starts and world.starts else None
        return cls(
            jnp.asarray(possible_successors(world)),
            jnp.asarray(cumulative, jnp.float32),
            world.start,
            several,
        )

    def begin(self, key: Key, n: int) -> Array:
        """[n] the states in which n episodes begin."""
        if self.starts is None:
            return jnp.full(n, self.start, jnp.int32)
        bits = jax.random.bits(jax.random.fold_in(key, 3), (n,), jnp.uint32)
        return self.starts[draws.integer(bits, self.starts.shape[0])]

    def after(self, state: Array, action: Array, luck: Array) -> Array:
        """The next state; ``luck`` uniform in [0, 1) chooses among several."""
        successors = self.next_state[state, action]
        if successors.shape[-1] == 1:
            return successors[..., 0]
        nth = (luck[..., None] >= self.cumulative[state, action][..., :-1]).sum(-1)
        return jnp.take_along_axis(successors, nth[..., None], -1)[..., 0]


def by_table(dynamics: Dynamics, q: Array, drawn: Drawn, key: Key, hold: int = 1) -> Episodes:
    """Episodes in a table whose values are all known: q [S, A, K].

    A decision is held for ``hold`` steps of ``dynamics``; the episodes then have their places.
    """
    chained = drawn.deciding is not None
    if dynamics.next_state.shape[2] == 1 and hold == 1 and not chained:
        few = drawn.choice.shape[1] * _LOOK_UPS < q.shape[0]
        rollout = partial(_look_ups if few else _chain, q, dynamics.next_state[:, :, 0])
        if dynamics.starts is None:
            rollout = partial(rollout, dynamics.start)
            states, action = jax.vmap(rollout)(drawn.skill, drawn.choice)
        else:
            first = dynamics.begin(key, drawn.skill.shape[0])
            states, action = jax.vmap(rollout)(first, drawn.skill, drawn.choice)
        return Episodes(states, action, drawn.skill)
    n_actions = q.shape[1]
    greedy = jnp.argmax(q, axis=1)  # [S, K]

    def decide(state: Array, drawn_t: tuple[Array, ...]) -> tuple[Array, tuple[Array, Array]]:
        choice, skill, luck = drawn_t
        action = jnp.where(choice == n_actions, greedy[state, skill], choice)
        if chained:
            action = jnp.where(is_over(choice, n_actions), 0, action)

        def step(now: Array, luck_t: Array) -> tuple[Array, Array]:
            after = dynamics.after(now, action, luck_t)
            if chained:
                after = jnp.where(is_over(choice, n_actions), now, after)
            return after, after

        last, passed = jax.lax.scan(step, state, luck)
        return last, (passed, action)

    n, decisions = drawn.choice.shape
    first = dynamics.begin(key, n)
    luck = _luck(key, (decisions, hold, n))
    _, (passed, action) = jax.lax.scan(decide, first, (drawn.choice.T, deciding(drawn), luck))
    states = jnp.concatenate([first[None], passed.reshape(-1, n)]).T
    return Episodes(states[:, ::hold], action.T, drawn.skill, place=None if hold == 1 else states)


def trying(dynamics: Dynamics, q: Array, visits: Array, drawn: Drawn, key: Key) -> Episodes:
    """`by_table` for episodes that try what was never tried, if they come to such a thing in time.

    ``visits`` [S, A, N] is how often each successor was seen so far.
    """
    n, steps = drawn.choice.shape
    leads = exploring.leads_to(dynamics.next_state, visits)
    far, first = exploring.steps_to_untried(leads), dynamics.begin(key, n)

    def tried() -> Episodes:
        greedy = jnp.argmax(q[:, :, drawn.skill], axis=1).T  # [E, S]
        rollout = partial(exploring.episode, leads, far, dynamics.after)
        luck = _luck(key, (n, steps))
        states, action = jax.vmap(rollout)(greedy, first, drawn.choice, luck)
        return Episodes(states, action, drawn.skill)

    found: Episodes = jax.lax.cond(
        (far[first] < steps).any(), tried, lambda: by_table(dynamics, q, drawn, key)
    )
    return found


def _luck(key: Key, shape: tuple[int, ...]) -> Array:
    """The world's chance: apart from the agent's."""
    return draws.uniform(jax.random.bits(jax.random.fold_in(key, 1), shape, jnp.uint32))


def _look_ups(
    q: Array, next_state: Array, start: int | Array, skill: Array, choice: Array
) -> tuple[Array, Array]:
    """`_chain` in a large table: the greedy action is looked for where the episode is."""
    n_actions = q.shape[1]

    def step(state: Array, chosen: Array) -> tuple[Array, tuple[Array, Array]]:
        action = jnp.where(chosen == n_actions, jnp.argmax(q[state, :, skill]), chosen)
        return next_state[state, action], (state, action)

    last, (visited, action) = jax.lax.scan(step, jnp.int32(start), choice)
    return jnp.append(visited, last), action


def _chain(
    q: Array, next_state: Array, start: int | Array, skill: Array, choice: Array
) -> tuple[Array, Array]:
    """One episode in a deterministic table: [T + 1] states, [T] actions.

    A step either takes a random action or "the greedy one", one more column of the transition table
    of that skill: the loop over time is then a chain of single look-ups.
    """
    n_actions = q.shape[1]
    greedy = jnp.argmax(q[:, :, skill], axis=1)
    onward = jnp.take_along_axis(next_state, greedy[:, None], 1)
    moves = jnp.concatenate([next_state, onward], 1)

    def step(state: Array, column: Array) -> tuple[Array, Array]:
        return moves[state, column], state

    last, visited = jax.lax.scan(step, jnp.int32(start), choice)
    action = jnp.where(choice == n_actions, greedy[visited], choice)
    return jnp.append(visited, last), action


class Steps(NamedTuple):
    """A world as functions of one state, compiled into the program; see `JaxWorld`."""

    reset: Callable[[Key], Any]
    step: Callable[[Key, Any, Array], tuple[Any, Array | None]]
    observe: Callable[[Any], Obs]
    place: Callable[[Any], Array] | None  # None: the observation is the place
    position: Callable[[Any], Array] | None = None  # None: there is no plane


def steps_of(world: TableWorld | JaxWorld) -> Steps:
    """The functions of ``world``."""
    if isinstance(world, JaxWorld):
        _check(world)
        return Steps(world.reset, world.step, world.observe, world.place, world.position)
    dynamics = Dynamics.of(world)

    def step(key: Key, state: Array, action: Array) -> tuple[Array, None]:
        return dynamics.after(
            state, action, draws.uniform(jax.random.bits(key, (), jnp.uint32))
        ), None

    return Steps(lambda key: dynamics.begin(key, 1)[0], step, lambda state: state, None)


def _check(world: JaxWorld) -> None:
    """`UserError` in one line where the functions of ``world`` do not fit together."""
    key, action = jax.random.key(0), jnp.int32(0)
    try:
        state = jax.eval_shape(world.reset, key)
        obs, place = jax.eval_shape(world.observe, state), jax.eval_shape(world.place, state)
        moved = jax.eval_shape(world.step, key, state, action)
        if not isinstance(moved, tuple) or len(moved) != 2:
            raise TypeError("step must return the next state and whether the episode ended")
    except Exception as error:  # whatever a user's functions raise
        line = str(error).split("\n")[0] or repr(error)
        raise UserError(f"{world.name}: its functions fail: {line}") from None
    after, ended = moved
    wrong = [
        (obs.shape != world.obs.shape, f"observe gives {obs.shape}, obs says {world.obs.shape}"),
        (place.shape != () or place.dtype.kind not in "iu", "place must give one whole number"),
        (after != state, f"step turns a state {state} into {after}"),
        (ended is not None and (ended.shape, ended.dtype.kind) != ((), "b"), "ended is no bool"),
    ]
    for is_wrong, line in wrong:
        if is_wrong:
            raise UserError(f"{world.name}: {line}")


def by_steps(
    world: Steps, values: Values, drawn: Drawn, key: Key, *, one_start: bool = False, hold: int = 1
) -> Episodes:
    """Episodes in a world of JAX functions, asking for the values of observations.

    That is done once in ``hold`` steps. With ``one_start`` all episodes start in the same state:
    what differs then is what skills do.
    """
    n_episodes, decisions = drawn.choice.shape[:2]
    episode = jnp.arange(n_episodes)
    key_reset, key_steps = jax.random.split(jax.random.fold_in(key, 2))
    resets = jax.random.split(key_reset, n_episodes)
    first = jax.vmap(world.reset)(resets[jnp.zeros_like(episode)] if one_start else resets)
    observe = jax.vmap(world.observe)

    def locate(state: Any) -> tuple[Array | None, Array | None]:
        """Place and position of each episode, where the world has them."""
        place, position = (f and jax.vmap(f)(state) for f in (world.place, world.position))
        return place, position

    def step(carry: Any, action: Array, stays: Array | None, key_t: Key) -> tuple[Any, Any]:
        state, alive = carry
        goes = alive if stays is None else alive & ~stays
        moved, ended = jax.vmap(world.step)(jax.random.split(key_t, n_episodes), state, action)
        if stays is not None:
            moved = _where(stays, state, moved)
            ended = None if ended is None else ended & ~stays
        if ended is not None:
            moved = _where(alive, moved, state)
            ended = ended & alive
            alive = alive & ~ended
        return (moved, alive), (locate(moved), ended, None if ended is None else goes)

    def decide(carry: Any, drawn_t: tuple[Array, Array, Key]) -> tuple[Any, Any]:
        state, taken = carry
        choice, skill, key_t = drawn_t
        every = values(observe(state))
        action = actions(every, skill, choice)
        stays = None if drawn.deciding is None else is_over(choice, every.shape[-2])
        if hold == 1:
            after, (passed, ended, goes) = step(carry, action, stays, key_t)
        else:
            keys = jax.random.split(key_t, hold)
            after, (passed, ended, goes) = jax.lax.scan(
                lambda c, k: step(c, action, stays, k), carry, keys
            )
            ended = None if ended is None else ended.any(axis=0)
            goes = None if goes is None else goes.sum(axis=0)
        if stays is not None:
            taken = taken & ~stays
        return after, (observe(after[0]), passed, action, taken, ended, goes)

    alive = jnp.ones(n_episodes, bool)
    chosen = drawn.choice.swapaxes(0, 1)
    scanned = (chosen, deciding(drawn), jax.random.split(key_steps, decisions))
    _, (obs, passed, action, taken, ended, goes) = jax.lax.scan(decide, (first, alive), scanned)
    place, position = _whole(locate(first), passed)
    return Episodes(
        obs=_whole(observe(first), obs),
        action=action.swapaxes(0, 1),
        skill=drawn.skill,
        alive=None if ended is None else taken.T,
        terminated=None if ended is None else ended.T,
        place=place,
        position=position,
        steps=None if goes is None else goes.sum(axis=0, dtype=jnp.int32),
    )


def _whole(at_first: Any, later: Any) -> Any:
    """[E, T + 1, ...] from [E, ...] and [T, E, ...] or [T / N, N, E, ...]."""

    def joined(a: Array, b: Array) -> Array:
        return jnp.concatenate([a[None], b.reshape(-1, *a.shape)]).swapaxes(0, 1)

    return jax.tree.map(joined, at_first, later)


def _where(condition: Array, one: Any, other: Any) -> Any:
    """Per episode [E] all of ``one`` or all of ``other``."""

    def pick(a: Array, b: Array) -> Array:
        return jnp.where(condition.reshape(-1, *[1] * (a.ndim - 1)), a, b)

    return jax.tree.map(pick, one, other)
