"""How long random play lasts before the world itself ends the episode."""

from __future__ import annotations

from typing import Any, Final

from apart._lazy import jax, jnp
from apart._types import Key
from apart.worlds.world import HostWorld, JaxWorld, World

_EPISODES: Final = 64  # of a JAX world, side by side


def lifetime(world: World) -> int:
    """Typical steps of an episode of random play: T where the world ends none before.

    Held decisions must be short beside it, or an episode is over before the agent decides twice.
    """
    horizon = world.about.horizon
    if isinstance(world, HostWorld):
        return min(world.lives or horizon, horizon)
    if isinstance(world, JaxWorld):
        try:
            return _in_jax(world, horizon)
        except Exception:  # functions that do not fit together: the collector names what is wrong
            return horizon
    return horizon


def may_end(world: JaxWorld) -> bool:
    """Whether ``world`` can end an episode before its T steps are over."""
    state = jax.eval_shape(world.reset, jax.random.key(0))
    action = jnp.zeros((world.about.heads,) * (world.about.heads > 1), jnp.int32)
    return jax.eval_shape(world.step, jax.random.key(0), state, action)[1] is not None


def is_grid(world: HostWorld | JaxWorld) -> bool:
    """Whether observations are made of whole numbers: every step of such a world is a decision."""
    return not world.obs.dtype.startswith("float") or (isinstance(world, HostWorld) and world.whole)


def _in_jax(world: JaxWorld, horizon: int) -> int:
    if not may_end(world):
        return horizon

    def episode(key: Key) -> Any:
        """[] steps that one episode lasts."""
        key_reset, key_act, key_step = jax.random.split(key, 3)

        def goes_on(carry: Any) -> Any:
            t, _, ended = carry
            return ~ended & (t < horizon)

        def step(carry: Any) -> Any:
            t, state, _ = carry
            action = jax.random.randint(
                jax.random.fold_in(key_act, t), heads, 0, world.about.n_actions
            )
            state, ended = world.step(jax.random.fold_in(key_step, t), state, action)
            return t + 1, state, ended

        begin = (jnp.int32(0), world.reset(key_reset), jnp.bool_(False))
        return jax.lax.while_loop(goes_on, step, begin)[0]

    heads = (world.about.heads,) if world.about.heads > 1 else ()
    lengths = jax.jit(jax.vmap(episode))(jax.random.split(jax.random.key(0), _EPISODES))
    return int(jnp.median(lengths))
