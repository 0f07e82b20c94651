"""Episodes: a skill each, epsilon-greedy on Q. One way for each kind of world.

All chance of the agent is drawn first (`draw`), in the same order for every kind, so that equal
values give equal episodes whichever way they are collected.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from apart._errors import UserError
from apart._types import Array, IntArray, Key, Obs
from apart.learner import draws
from apart.learner.episodes import Episodes
from apart.worlds.world import HostWorld, JaxWorld, TableWorld

Values = Callable[[Obs | None], Array]  # observations [n, ...] or None for all -> [n, A, K]


class Drawn(NamedTuple):
    """All chance of the agent in E episodes."""

    skill: Array  # [E]
    choice: Array  # [E, T] a random action, or A for the greedy one


def draw(
    n_episodes: int,
    horizon: int,
    n_skills: int,
    n_actions: int,
    epsilon: Array,
    key: Key,
    one_skill: bool = False,
) -> Drawn:
    """From random words per episode: [0] the skill, then T to explore or not, T actions.

    With ``one_skill`` all episodes have that of the first.
    """
    bits = jax.random.bits(key, (n_episodes, 1 + 2 * horizon), jnp.uint32)
    if one_skill:
        bits = bits.at[:, 0].set(bits[0, 0])
    explores = draws.uniform(bits[:, 1 : 1 + horizon]) < epsilon
    random_action = draws.integer(bits[:, 1 + horizon :], n_actions)
    return Drawn(draws.integer(bits[:, 0], n_skills), jnp.where(explores, random_action, n_actions))


def every_skill(
    n_skills: int, horizon: int, n_actions: int, epsilon: Array | None, key: Key
) -> Drawn:
    """An episode of every skill, in order; greedy without ``epsilon``."""
    choice = jnp.full((n_skills, horizon), n_actions, jnp.int32)
    if epsilon is not None:
        choice = draw(n_skills, horizon, n_skills, n_actions, epsilon, key).choice
    return Drawn(jnp.arange(n_skills), choice)


class Dynamics(NamedTuple):
    """A table as arrays."""

    next_state: Array  # [S, A, N]
    cumulative: Array  # [S, A, N] probability of each successor and those before it
    start: int

    @classmethod
    def of(cls, world: TableWorld) -> Dynamics:
        """The dynamics of ``world``."""
        cumulative = np.cumsum(world.probability, axis=2)
        return cls(jnp.asarray(world.next_state), jnp.asarray(cumulative, jnp.float32), world.start)

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
    if dynamics.next_state.shape[2] == 1 and hold == 1:
        rollout = partial(_chain, q, dynamics.next_state[:, :, 0], dynamics.start)
        states, action = jax.vmap(rollout)(drawn.skill, drawn.choice)
        return Episodes(states, action, drawn.skill)
    n_actions = q.shape[1]
    greedy = jnp.argmax(q, axis=1)  # [S, K]

    def decide(state: Array, drawn_t: tuple[Array, Array]) -> tuple[Array, tuple[Array, Array]]:
        choice, luck = drawn_t
        action = jnp.where(choice == n_actions, greedy[state, drawn.skill], choice)

        def step(now: Array, luck_t: Array) -> tuple[Array, Array]:
            after = dynamics.after(now, action, luck_t)
            return after, after

        last, passed = jax.lax.scan(step, state, luck)
        return last, (passed, action)

    n, decisions = drawn.choice.shape
    first = jnp.full(n, dynamics.start, jnp.int32)
    luck = _luck(key, (decisions, hold, n))
    _, (passed, action) = jax.lax.scan(decide, first, (drawn.choice.T, luck))
    states = jnp.concatenate([first[None], passed.reshape(-1, n)]).T
    return Episodes(states[:, ::hold], action.T, drawn.skill, place=None if hold == 1 else states)


def _luck(key: Key, shape: tuple[int, ...]) -> Array:
    """The world's chance: apart from the agent's."""
    return draws.uniform(jax.random.bits(jax.random.fold_in(key, 1), shape, jnp.uint32))


def _chain(
    q: Array, next_state: Array, start: int, skill: Array, choice: Array
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

    return Steps(lambda key: jnp.int32(dynamics.start), step, lambda state: state, None)


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
    n_episodes, decisions = drawn.choice.shape
    episode = jnp.arange(n_episodes)
    key_reset, key_steps = jax.random.split(jax.random.fold_in(key, 2))
    resets = jax.random.split(key_reset, n_episodes)
    first = jax.vmap(world.reset)(resets[jnp.zeros_like(episode)] if one_start else resets)
    observe = jax.vmap(world.observe)

    def locate(state: Any) -> tuple[Array | None, Array | None]:
        """Place and position of each episode, where the world has them."""
        place, position = (f and jax.vmap(f)(state) for f in (world.place, world.position))
        return place, position

    def step(carry: Any, action: Array, key_t: Key) -> tuple[Any, Any]:
        state, alive = carry
        moved, ended = jax.vmap(world.step)(jax.random.split(key_t, n_episodes), state, action)
        if ended is not None:
            moved = _where(alive, moved, state)
            ended = ended & alive
            alive = alive & ~ended
        return (moved, alive), (locate(moved), ended)

    def decide(carry: Any, drawn_t: tuple[Array, Array]) -> tuple[Any, Any]:
        state, taken = carry
        choice, key_t = drawn_t
        q = values(observe(state))
        greedy = jnp.argmax(q[episode, :, drawn.skill], axis=1)
        action = jnp.where(choice == q.shape[1], greedy, choice)
        if hold == 1:
            after, (passed, ended) = step(carry, action, key_t)
        else:
            keys = jax.random.split(key_t, hold)
            after, (passed, ended) = jax.lax.scan(lambda c, k: step(c, action, k), carry, keys)
            ended = None if ended is None else ended.any(axis=0)
        return after, (observe(after[0]), passed, action, taken, ended)

    alive = jnp.ones(n_episodes, bool)
    scanned = (drawn.choice.T, jax.random.split(key_steps, decisions))
    _, (obs, passed, action, taken, ended) = jax.lax.scan(decide, (first, alive), scanned)

    def whole(at_first: Any, later: Any) -> Any:
        """[E, T + 1, ...] from [E, ...] and [T, E, ...] or [T / N, N, E, ...]."""

        def joined(a: Array, b: Array) -> Array:
            return jnp.concatenate([a[None], b.reshape(-1, *a.shape)]).swapaxes(0, 1)

        return jax.tree.map(joined, at_first, later)

    place, position = whole(locate(first), passed)
    return Episodes(
        obs=whole(observe(first), obs),
        action=action.T,
        skill=drawn.skill,
        alive=None if ended is None else taken.T,
        terminated=None if ended is None else ended.T,
        place=place,
        position=position,
    )


def _where(condition: Array, one: Any, other: Any) -> Any:
    """Per episode [E] all of ``one`` or all of ``other``."""

    def pick(a: Array, b: Array) -> Array:
        return jnp.where(condition.reshape(-1, *[1] * (a.ndim - 1)), a, b)

    return jax.tree.map(pick, one, other)


Act = Callable[[Any, Array, Array], Array]  # (observations, skills, choices) [E] -> actions


class Host:
    """Environments that live in Python; made when first needed, kept until closed."""

    def __init__(self, world: HostWorld) -> None:
        self.world = world
        self._made: dict[int, Any] = {}

    def close(self) -> None:
        """End all environments; they are made anew when needed again."""
        for environments in self._made.values():
            environments.close()
        self._made.clear()

    def by_host(self, act: Act, drawn: Drawn, seeds: list[int], hold: int = 1) -> Episodes:
        """Episodes, all environments side by side; environment e is reset with ``seeds[e]``.

        A decision is held for ``hold`` steps, or until the episode ends. Nothing that an
        environment remembers outlives a call: it begins with a seeded reset.
        """
        choice = np.asarray(drawn.choice).repeat(hold, axis=1)
        n, steps = choice.shape
        if n not in self._made:
            self._made[n] = self._vector(n)
        environments = self._made[n]
        obs, info = environments.reset(seed=seeds)
        seen, places = [self._checked(obs, n)], [self._places(obs, info)]
        actions, taken, ended = [], [], []
        alive = np.ones(n, bool)
        for t in range(steps):
            if t % hold == 0:
                action = np.asarray(act(seen[-1], drawn.skill, jnp.asarray(choice[:, t])))
            obs, _, terminated, truncated, info = environments.step(action)
            taken.append(alive)
            ended.append(alive & np.asarray(terminated))
            actions.append(action)
            # After its end an episode stays where it ended, whatever the environment does then.
            still = alive.reshape(-1, *[1] * (seen[-1].ndim - 1))
            seen.append(np.where(still, self._checked(obs, n), seen[-1]))
            places.append(np.where(alive, self._places(obs, info), places[-1]))
            alive = alive & ~(np.asarray(terminated) | np.asarray(truncated))
        return Episodes(
            obs=jnp.asarray(np.stack(seen[::hold], 1)),
            action=jnp.asarray(np.stack(actions[::hold], 1), jnp.int32),
            skill=drawn.skill,
            alive=jnp.asarray(np.stack(taken[::hold], 1)),
            terminated=jnp.asarray(np.stack(ended, 1).reshape(n, -1, hold).any(axis=2)),
            place=jnp.asarray(np.stack(places, 1)),
        )

    def _vector(self, n: int) -> Any:
        """N environments; `UserError` where they are not what the world says."""
        made, name = self.world.make(n), self.world.name
        if getattr(made, "num_envs", None) != n:
            raise UserError(f"{name}: make({n}) must give a Gymnasium vector environment of {n}")
        mode = getattr(made.metadata.get("autoreset_mode"), "name", "NEXT_STEP")
        if mode != "NEXT_STEP":
            raise UserError(f"{name}: make its vector environment with AutoresetMode.NEXT_STEP")
        actions = getattr(made.single_action_space, "n", None)
        if actions != self.world.about.n_actions:
            raise UserError(
                f"{name}: About says {self.world.about.n_actions} actions, the environment has "
                f"{actions or made.single_action_space}"
            )
        return made

    def _checked(self, obs: Any, n: int) -> Any:
        found = np.asarray(obs)
        spec = self.world.obs
        if found.shape != (n, *spec.shape):
            raise UserError(
                f"{self.world.name}: an observation of shape {found.shape[1:]}, not {spec.shape}"
            )
        if found.dtype.kind == "f" and not np.isfinite(found).all():
            raise UserError(f"{self.world.name}: an observation that is not finite")
        return found.astype(spec.dtype)

    def _places(self, obs: Any, info: Mapping[str, Any]) -> IntArray:
        places = np.asarray(self.world.place(obs, info))
        if places.shape != (len(obs),) or places.dtype.kind not in "iu":
            raise UserError(
                f"{self.world.name}: place must give a whole number for each of {len(obs)} "
                f"observations, not {places.dtype} {places.shape}"
            )
        return places.astype(np.int32)
