"""Gymnasium environments as they are: ``gym:ID`` or ``gym:ID:key=value,key=value``. No JAX.

What was found out about an environment, its spaces, its places and how large its observations are,
is the spec: a run needs Gymnasium to train and to go on, not to be read and drawn.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from apart._errors import UserError
from apart._types import FloatArray
from apart.worlds import guards, places, registered, spaces
from apart.worlds.registered import MAX_SEED, Option
from apart.worlds.spaces import Acts, Seen
from apart.worlds.world import USUAL_HORIZON, About, HostWorld, ObsSpec, Spec

KIND: Final = "gym"
SYNTAX: Final = "gym:ID[:key=value,...]"
SUMMARY: Final = "any Gymnasium environment (classic control, MuJoCo, Atari, your own)"
# Observations of random play that show how large they are. No clock ends it: what they show is a
# part of the spec, and so of a run's identity, on slow machines and busy ones too.
_SAMPLE: Final = 400
_OPTIONS: Final[Mapping[str, Option]] = {
    "seed": Option(int, 0, MAX_SEED),
    "bins": Option(int, 2, 100),
    "see": Option(str, 0, 0),
    "places": Option(str, 0, 0),
    "wrap": Option(str, 0, 0),
    "timeout": Option(float, 0.1, 1e6),
}
_BINS: Final = 3


def load(text: str, slip: float = 0.0) -> HostWorld:
    """The world that ``text``, the words after ``gym:``, names.

    ``seed``, ``bins``, ``see``, ``places``, ``wrap`` and ``timeout`` are ours, all other arguments
    are for ``gymnasium.make``.
    """
    if slip:
        raise UserError(f"--slip is for maps only; {text} has its own dynamics")
    return _loaded(*registered.parsed(text, SYNTAX))


def gym_world(
    id: str, *, places: Callable[[Any, Any], int] | None = None, **arguments: Any
) -> HostWorld:
    """A Gymnasium environment as a world.

    Args:
        id: its id, ``module:ID`` where a module registers it.
        places: (unwrapped environment, observation) -> the number of the place, for counting; a
            function at the top of a module, so that a run can be resumed.
        arguments: ``seed``, ``bins``, ``see``, ``wrap``, ``timeout`` as in ``gym:ID:key=value``;
            the others are for ``gymnasium.make`` and are stored with the run, as JSON.

    Raises:
        UserError: no such environment, or one that cannot be a world.
    """
    if places is not None:
        arguments["places"] = registered.path_of(places, "places")
    try:
        json.dumps(arguments)
    except TypeError as error:
        raise UserError(f"{id}: arguments must be JSON values ({error})") from None
    return _loaded(id, arguments)


def _loaded(id_: str, arguments: dict[str, Any]) -> HostWorld:
    """The world of an id and its arguments, ours among them."""
    name = registered.named(id_, arguments)
    options = registered.taken(id_, arguments, _OPTIONS)
    said = registered.limit_said(id_, arguments)
    seed = options.get("seed", 0)
    with (
        guards.undisturbed(seed),
        guards.Watch(name, options.get("timeout", HostWorld.timeout)) as watch,
    ):
        watch.on("gymnasium.make")
        make, limit = registered.maker(id_, f"gym:{id_}")
        env = _wrapped(make(arguments), options.get("wrap"))
        here = registered.only_here(env)
        limit = limit or registered.limit_of(env)
        try:
            watch.on("reset")
            found = _found(id_, env, name, options, watch)
        finally:
            with guards.saying(name, "close"):
                env.close()
    spec: dict[str, Any] = {
        "kind": KIND,
        "name": name,
        "id": id_,
        "arguments": arguments,
        **{key: value for key, value in options.items() if key != "places"},
        **({"only_here": True} if here else {}),
        **found,
    }
    return from_spec(spec, said or min(limit or USUAL_HORIZON, USUAL_HORIZON))


def _wrapped(env: Any, wrappers: str | None) -> Any:
    """In ``module:Class`` one after the other, with + between them."""
    for path in wrappers.split("+") if wrappers else ():
        with guards.saying(path, "wrapping"):
            env = registered.imported(path, "wrap")(env)
    return env


def _found(
    id_: str, env: Any, name: str, options: Mapping[str, Any], watch: guards.Watch
) -> dict[str, Any]:
    """What is to be known of the environment: observations, actions, places."""
    fixed = options.get("seed")

    def reset(nth: int) -> Any:
        with guards.saying(name, "reset"):
            return guards.of_reset(name, env.reset(seed=nth if fixed is None else fixed))

    seen = spaces.seen_of(env.observation_space, name, options.get("see"))
    acts = spaces.acts_of(env.action_space, name, options.get("bins", _BINS))
    first = reset(0)
    where: Any = options.get("places")
    if where is None:
        with guards.saying(name, "looking for places"):
            where = places.found(id_, env, reset)
    elif where == places.NOWHERE:
        where = None
    with guards.saying(name, "its place"):
        places.locator(where)(env.unwrapped, first)
    sample, lives = _played(env, name, seen, acts, reset, watch)
    offset, scale = spaces.standard(seen, sample)
    return {
        **({"lives": lives} if lives else {}),
        **({} if _renders(env) else {"renders": False}),
        **({"whole": True} if not np.mod(sample, 1).any() else {}),
        "observation": {
            "shape": list(seen.shape),
            "dtype": seen.dtype,
            "offset": offset,
            "scale": scale,
            "dropped": list(seen.dropped),
        },
        "actions": {**acts._asdict(), "values": [*acts.values]},
        "places": where,
    }


def _renders(env: Any) -> bool:
    """Whether it gives pictures, as its metadata tell."""
    modes = (env.metadata or {}).get("render_modes")
    return modes is None or "rgb_array" in modes


def _played(
    env: Any,
    name: str,
    seen: Seen,
    acts: Acts,
    reset: Callable[[int], Any],
    watch: guards.Watch,
) -> tuple[FloatArray, int | None]:
    """[n, ...] observations of random play, and its mean steps until an episode ends."""
    read, act = spaces.reader(seen, name), spaces.actor(acts, env.action_space)
    rng = np.random.default_rng(0)
    sample, episodes, ended, steps = [read(reset(0))], 1, 0, 0
    while len(sample) < _SAMPLE:
        shape = acts.heads if acts.heads > 1 else None
        action = act(rng.integers(acts.n_actions, size=shape))
        watch.on("step")
        with guards.saying(name, "step"):
            obs, terminated, truncated = guards.of_step(name, env.step(action))
        sample.append(read(obs))
        steps += 1
        if terminated or truncated:
            ended += 1
            watch.on("reset")
            sample.append(read(reset(episodes)))
            episodes += 1
    watch.off()
    return np.asarray(sample, np.float64), round(steps / ended) if ended else None


def from_spec(spec: Spec, horizon: int) -> HostWorld:
    """The world whose ``about.spec`` is ``spec``; no environment is made yet."""
    observed, acts = spec["observation"], acts_in(spec)
    obs = ObsSpec(
        tuple(int(side) for side in observed["shape"]),
        str(observed["dtype"]),
        tuple(float(x) for x in observed["offset"]),
        tuple(float(x) for x in observed["scale"]),
    )
    name = str(spec["name"])
    return HostWorld(
        about=About(name, spec, horizon, acts.n_actions, acts.heads),
        places=places.places_of(spec["places"]),
        obs=obs,
        make=lambda n: _vector(spec, name, acts, obs, n),
        place=lambda obs, infos: np.asarray(infos["place"]),
        timeout=float(spec.get("timeout", HostWorld.timeout)),
        filmed=lambda n: _filmed(spec, name, acts, obs, n),
        lives=spec.get("lives"),
        whole=bool(spec.get("whole")),
    )


def _filmed(spec: Spec, name: str, acts: Acts, obs: ObsSpec, n: int) -> Any:
    """The same environments, which give pictures when they are asked to render."""
    arguments = {**spec["arguments"], "render_mode": "rgb_array"}
    try:
        return _vector({**spec, "arguments": arguments}, name, acts, obs, n)
    except UserError as error:
        if "unexpected keyword argument 'render_mode'" in str(error):
            raise guards.NoRender(f"{name}: it has no render_mode rgb_array") from None
        raise


def only_here(spec: Spec) -> bool:
    """Whether other processes would not find what ``spec`` names: it is in the main program."""
    paths = (spec.get("places"), spec.get("wrap"))
    return "only_here" in spec or any("__main__:" in p for p in paths if isinstance(p, str))


def written(spec: Spec) -> str | None:
    """What names the world of ``spec`` to `load`, ``gym:`` before it; None where nothing does."""
    id_, name = str(spec["id"]), str(spec["name"])
    text = f"{id_}:{name[len(id_) + 1 :]}" if name != id_ else id_
    try:
        same = registered.named(*registered.parsed(text, SYNTAX)) == name
    except UserError:  # arguments that nobody can write so: a list
        same = False
    return f"{KIND}:{text}" if same and not only_here(spec) else None


def acts_in(spec: Spec) -> Acts:
    """How actions are chosen, from a spec."""
    known = spec["actions"]
    n_actions, heads, start = (int(known[key]) for key in ("n_actions", "heads", "start"))
    return Acts(n_actions, heads, start, tuple(known["values"]))


def actor_in(spec: Spec, space: Any) -> Callable[[Any], Any] | None:
    """Numbers of what was trained with ``spec`` -> actions of ``space``, as in training.

    None where those of ``space`` are others.
    """
    try:
        now = spaces.acts_of(space, str(spec["name"]), spec.get("bins", _BINS))
    except UserError:  # no numbers stand for them
        return None
    return spaces.actor(now, space) if now == acts_in(spec) else None


def single(spec: Spec) -> Any:
    """One environment as it is, with its wrappers, none of them ours."""
    make, _ = registered.maker(str(spec["id"]), f"gym:{spec['id']}")
    return _wrapped(make(spec["arguments"]), spec.get("wrap"))


def _vector(spec: Spec, name: str, acts: Acts, obs: ObsSpec, n: int) -> Any:
    """N environments; `UserError` where they are not what the spec says they were."""
    make, _ = registered.maker(str(spec["id"]), f"gym:{spec['id']}")
    from apart.worlds import adapter

    locate = places.locator(spec["places"])

    def one() -> Any:
        env = _wrapped(make(spec["arguments"]), spec.get("wrap"))
        seen = spaces.seen_of(env.observation_space, name, spec.get("see"))
        now = spaces.acts_of(env.action_space, name, spec.get("bins", _BINS))
        if (seen.shape, seen.dtype) != (obs.shape, obs.dtype):
            raise UserError(
                f"{name}: observations are {seen.dtype} {seen.shape}; when the run began they were "
                f"{obs.dtype} {obs.shape}"
            )
        if now != acts:
            raise UserError(f"{name}: its actions have changed since the run began")
        return adapter.Adapted(env, adapter.Parts(name, seen, acts, locate, spec.get("seed")))

    with guards.saying(name, "making it"):
        return adapter.vector(one, n)
