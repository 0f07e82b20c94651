"""Gymnax worlds with discrete actions, ``gymnax:ID``: needs the extra `gymnax` (1.0 or later).

The package is imported when such a world is built. Skills are told apart by bins of what matters in
classic control (`_BINS`), or by a function that the user names; elsewhere they are not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np

from apart._errors import UserError
from apart._lazy import jax, jnp
from apart._types import Array, IntArray, Key
from apart.worlds import guards, places, registered, words
from apart.worlds.world import USUAL_HORIZON, About, JaxWorld, ObsSpec, Places, Spec

KIND: Final = "gymnax"
SYNTAX: Final = "gymnax:ID[:seed=random,places=module:function]"
SUMMARY: Final = "a Gymnax world in JAX"
_DRAWN: Final = "random"


class _Feature(NamedTuple):
    """A number that an observation tells, and its bins."""

    of: Callable[[Array], Array]  # observation -> []
    low: float
    high: float
    bins: int
    quantity: tuple[str, str]  # its name and unit


def _at(index: int) -> Callable[[Array], Array]:
    return lambda obs: obs[index]


def _angle(index: int) -> Callable[[Array], Array]:
    """Of a cosine and the sine behind it."""
    return lambda obs: jnp.arctan2(obs[index + 1], obs[index])


_BINS: Final[Mapping[str, tuple[_Feature, ...]]] = MappingProxyType(
    {
        "CartPole-v1": (
            _Feature(_at(0), -2.4, 2.4, 12, ("cart position", "")),
            _Feature(_at(2), -0.21, 0.21, 6, ("pole angle", "rad")),
        ),
        "MountainCar-v0": (
            _Feature(_at(0), -1.2, 0.6, 18, ("position", "m")),
            _Feature(_at(1), -0.07, 0.07, 4, ("velocity", "")),
        ),
        "Acrobot-v1": (
            _Feature(_angle(0), -np.pi, np.pi, 12, ("angle of the first joint", "rad")),
            _Feature(_angle(2), -np.pi, np.pi, 12, ("angle of the second joint", "rad")),
        ),
    }
)


class State(NamedTuple):
    """A state of the package, and what is seen of it: some observations need the step."""

    obs: Array
    inner: Any


def load(text: str, slip: float = 0.0) -> JaxWorld:
    """The world of ``ID`` or ``ID:key=value,...``, the words after ``gymnax:``."""
    id_, options = words.split(KIND, text, {"seed": 0, "places": None})
    words.certain(KIND, id_, slip)
    return from_spec({"kind": KIND, "name": f"{KIND}:{text}", "id": id_, **options}, 0)


def from_spec(spec: Spec, horizon: int) -> JaxWorld:
    """The world whose ``about.spec`` is ``spec``; a horizon of 0 is the world's own limit."""
    name, id_, seed = (spec.get(key) for key in ("name", "id", "seed"))
    if not isinstance(name, str) or not isinstance(id_, str):
        raise UserError("the world has no name or no id")
    if seed != _DRAWN and (type(seed) is not int or not 0 <= seed < 2**31):
        raise UserError(f"{name}: seed={seed}: give a number, or {_DRAWN}")
    try:
        import gymnax
        from gymnax.environments import spaces
    except ImportError:
        raise words.missing(KIND, id_) from None
    known = list(gymnax.registered_envs)
    if id_ not in known:
        raise words.no_id(KIND, id_, known)
    env, params = gymnax.make(id_)
    if not isinstance(env.action_space(params), spaces.Discrete):
        raise UserError(f"{name}: its actions are continuous; gymnax: needs discrete ones")

    def reset(key: Key) -> State:
        return _strong(env.reset_env(key if seed == _DRAWN else jax.random.key(seed), params))

    def step(key: Key, state: State, action: Array) -> tuple[State, Array]:
        # Without the package's own reset at the end of an episode.
        obs, inner, *_ = env.step_env(key, state.inner, action, params)
        return _strong((obs, inner)), jnp.asarray(env.is_terminated(inner, params), bool)

    seen = jax.eval_shape(reset, jax.random.key(0)).obs
    known_places, place = _places(id_, spec.get("places"))
    if place is not None:
        _check(f"{name}: places", place, jax.eval_shape(reset, jax.random.key(0)))
    limit = min(int(params.max_steps_in_episode), USUAL_HORIZON)
    return JaxWorld(
        about=About(name, spec, horizon or limit, int(env.num_actions)),
        places=known_places,
        obs=ObsSpec(seen.shape, "float32"),
        reset=reset,
        step=step,
        observe=lambda state: state.obs.astype(jnp.float32),
        place=lambda state: jnp.int32(0) if place is None else place(state).astype(jnp.int32),
    )


def _strong(pair: tuple[Any, Any]) -> State:
    """Arrays whose types are said, where the package has Python's numbers."""
    strong = partial(jax.tree.map, lambda leaf: jax.lax.convert_element_type(leaf, _type(leaf)))
    return State(*strong(pair))


def _type(leaf: Any) -> Any:
    return jnp.asarray(leaf).dtype


Place = Callable[[State], Array]


def _places(id_: str, said: Any) -> tuple[Places, Place | None]:
    """What last states are told apart by, and how; ``said`` is what the user says of it, or None.

    As for `gym:ID`, nothing is made up: without bins that are known, nothing is counted.
    """
    if isinstance(said, str) and said != places.NOWHERE:
        function = registered.imported(said, "places")
        return Places(None, noun="place"), lambda state: function(state.inner, state.obs)
    bins = _BINS.get(id_) if said is None else None
    if bins is None:
        return places.places_of(None), None
    shape = tuple(feature.bins for feature in bins)

    def label(places: IntArray) -> list[Any]:
        labels: list[Any] = np.stack(np.unravel_index(places, shape), -1).tolist()
        return labels

    drawn = Places(
        int(np.prod(shape)),
        label,
        backdrop=("." * shape[1],) * shape[0],
        noun="bin",
        axes=places.axes(
            [feature.quantity for feature in bins],
            [feature.low for feature in bins],
            [feature.high for feature in bins],
            shape,
        ),
    )
    return drawn, lambda state: _bin(bins, state.obs)


def _check(name: str, place: Place, state: State) -> None:
    """`UserError` where a function of the user does not give one whole number."""
    with guards.saying(name, "the function"):
        given = jax.eval_shape(place, state)
    if getattr(given, "shape", None) != () or not jnp.issubdtype(given.dtype, jnp.integer):
        raise UserError(f"{name}: the function must return one integer of JAX, not {given}")


def _bin(bins: tuple[_Feature, ...], obs: Array) -> Array:
    """The number of the bin; what lies outside belongs to the outermost."""
    place: Array = jnp.int32(0)
    for feature in bins:
        share = (feature.of(obs) - feature.low) / (feature.high - feature.low)
        nth = jnp.clip(jnp.floor(share * feature.bins), 0, feature.bins - 1)
        place = place * feature.bins + nth.astype(jnp.int32)
    return place
