"""XLand-MiniGrid and its MiniGrid worlds in JAX, ``xminigrid:ID``: needs the extra `xminigrid`.

The package is imported when such a world is built. Tiles and colours are kinds, not amounts:
networks see them one-hot, as bytes. Skills are told apart by the agent's cell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np

from apart._errors import UserError, unknown
from apart._lazy import jax, jnp
from apart._types import Array, IntArray, Key
from apart.worlds import words
from apart.worlds.world import USUAL_HORIZON, About, JaxWorld, ObsSpec, Places, Spec

KIND: Final = "xminigrid"
SYNTAX: Final = "xminigrid:ID[:view=agent,seed=random]"
SUMMARY: Final = "an XLand-MiniGrid world in JAX"
_N_DIRECTIONS: Final = 4
_DRAWN: Final = "random"


def load(text: str, slip: float = 0.0) -> JaxWorld:
    """The world of ``ID`` or ``ID:key=value,...``, the words after ``xminigrid:``."""
    id_, options = words.split(KIND, text, {"view": "full", "seed": 0})
    words.certain(KIND, id_, slip)
    return from_spec({"kind": KIND, "name": f"{KIND}:{text}", "id": id_, **options}, 0)


def from_spec(spec: Spec, horizon: int) -> JaxWorld:
    """The world whose ``about.spec`` is ``spec``; a horizon of 0 is the world's own limit."""
    name, id_, view, seed = (spec.get(key) for key in ("name", "id", "view", "seed"))
    if not isinstance(name, str) or not isinstance(id_, str):
        raise UserError("the world has no name or no id")
    if not isinstance(view, str) or view not in _VIEWS:
        raise UserError(f"{name}: {unknown('view', str(view), _VIEWS)}")
    if seed != _DRAWN and (type(seed) is not int or not 0 <= seed < 2**31):
        raise UserError(f"{name}: seed={seed}: give a number, or {_DRAWN}")
    try:
        import xminigrid
        from xminigrid.core.constants import NUM_COLORS, NUM_TILES
    except ImportError:
        raise words.missing(KIND, id_) from None
    known = list(xminigrid.registered_environments())
    if id_ not in known:
        raise words.no_id(KIND, id_, known)
    env, params = xminigrid.make(id_)
    kinds = (int(NUM_TILES), int(NUM_COLORS))
    width, seen = int(params.width), _VIEWS[view]
    shape = (*seen.sides(params), sum(kinds) + seen.more)

    def step(key: Key, state: Any, action: Array) -> tuple[Any, Array]:
        after = env.step(params, state, action)
        return after, after.discount == 0.0  # running out of steps is not an end of its own

    def reset(key: Key) -> Any:
        return env.reset(params, key if seed == _DRAWN else jax.random.key(seed))

    return JaxWorld(
        about=About(
            name,
            spec,
            horizon or min(int(params.max_steps), USUAL_HORIZON),
            int(env.num_actions(params)),
        ),
        places=Places(None, partial(_cells, width)),
        obs=ObsSpec(shape, "uint8"),
        reset=reset,
        step=step,
        observe=partial(seen.of, kinds),
        place=lambda state: _number(state.state.agent.position, width),
        render=lambda state: env.render(params, state),
    )


def _number(position: Array, width: int) -> Array:
    return (position[0] * width + position[1]).astype(jnp.int32)


def _cells(width: int, places: IntArray) -> list[Any]:
    cells: list[Any] = np.stack([places // width, places % width], -1).tolist()
    return cells


def _one_hot(kinds: tuple[int, int], grid: Array) -> Array:
    """[H, W, tiles + colours] bytes from [H, W, 2] numbers."""
    parts = [jax.nn.one_hot(grid[..., i], n, dtype=jnp.uint8) for i, n in enumerate(kinds)]
    return 255 * jnp.concatenate(parts, -1)


def _agent_view(kinds: tuple[int, int], state: Any) -> Array:
    """What the agent sees before itself."""
    return _one_hot(kinds, state.observation)


def _full_view(kinds: tuple[int, int], state: Any) -> Array:
    """The whole grid, and where the agent is and looks."""
    grid, agent = state.state.grid, state.state.agent
    rows, columns = jnp.arange(grid.shape[0]), jnp.arange(grid.shape[1])
    there = (rows[:, None] == agent.position[0]) & (columns == agent.position[1])
    looks = jax.nn.one_hot(agent.direction, _N_DIRECTIONS, dtype=jnp.uint8)
    return jnp.concatenate([_one_hot(kinds, grid), 255 * there[..., None] * looks], -1)


class _View(NamedTuple):
    """What is seen of a state."""

    of: Callable[[tuple[int, int], Any], Array]  # (numbers of tiles and colours, state) -> image
    sides: Callable[[Any], tuple[int, int]]  # parameters of the world -> height, width
    more: int  # channels beside tiles and colours


_VIEWS: Final[Mapping[str, _View]] = MappingProxyType(
    {
        "full": _View(_full_view, lambda p: (int(p.height), int(p.width)), _N_DIRECTIONS),
        "agent": _View(_agent_view, lambda p: (int(p.view_size), int(p.view_size)), 0),
    }
)
