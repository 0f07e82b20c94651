"""Where an agent is in worlds that are known: what last states are told apart by. No Gymnasium.

A place is a row of small whole numbers, bins of features of the environment; written down as JSON.
To add a world, add a record to `KNOWN`, and a function to `FEATURES` where none fits. Without a
record nothing is invented: skills are then not counted, unless the user names a function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from apart._errors import UserError
from apart._types import IntArray
from apart.worlds import registered
from apart.worlds.world import Axis, Places

Feature = Callable[[Any, Any], Sequence[float]]  # (unwrapped environment, its observation)
Locate = Callable[[Any, Any], int]
_MAX_SIDE: Final = 1_000
_PER_CELL: Final = 3  # bins along the side of a cell of a maze
NOWHERE: Final = "none"  # places=none
_LAYOUTS: Final = 8  # resets whose walls are compared


class Known(NamedTuple):
    """How places of some worlds are told apart.

    Attributes:
        feature: a name of `FEATURES`.
        low: of each feature, where its first bin begins; above ``high`` it counts downwards, as
            rows of a picture do.
        high: where its last bin ends.
        bins: of each feature; places are rows of as many numbers.
        noun: what people call a place.
    """

    feature: str
    low: tuple[float, ...]
    high: tuple[float, ...]
    bins: tuple[int, ...]
    noun: str = "bin"


def _plane(feature: str, side: float, bins: int) -> Known:
    return Known(feature, (side, -side), (-side, side), (bins, bins))


# Ids that begin so. Bins beyond the ranges belong to the outermost ones.
KNOWN: Final[Mapping[str, Known]] = {
    "CartPole-": Known("cart_pole", (0.2095, -2.4), (-0.2095, 2.4), (10, 10)),
    "MountainCar": Known("mountain_car", (0.07, -1.2), (-0.07, 0.6), (10, 18)),
    "Acrobot-": Known("state", (math.pi, -math.pi), (-math.pi, math.pi), (12, 12)),
    "Pendulum-": Known("pendulum", (8.0, -math.pi), (-8.0, math.pi), (8, 12)),
    "InvertedPendulum-": Known("pole", (0.2, -1.0), (-0.2, 1.0), (10, 10)),
    "Reacher-": _plane("fingertip", 0.21, 10),
    "HalfCheetah-": Known("torso_x", (-20.0,), (20.0,), (80,)),
    "Hopper-": Known("torso_x", (-5.0,), (5.0,), (40,)),
    "Walker2d-": Known("torso_x", (-5.0,), (5.0,), (40,)),
    "Swimmer-": _plane("torso_xy", 4.0, 32),
    "Ant-": _plane("torso_xy", 16.0, 32),
    "Humanoid-": _plane("torso_xy", 8.0, 32),
}

# Bytes of the RAM of Atari games: room (where there are several), y, x of the player. From the
# annotations of Anand et al., "Unsupervised State Representation Learning in Atari" (2019).
_RAM: Final[Mapping[str, tuple[int, ...]]] = {
    "Berzerk": (11, 19),
    "Bowling": (40, 29),
    "Boxing": (34, 32),
    "Breakout": (101, 72),  # the ball's y
    "Freeway": (14,),
    "Frostbite": (100, 102),
    "Hero": (28, 31, 27),
    "MontezumaRevenge": (3, 43, 42),
    "MsPacman": (16, 10),
    "Pitfall": (105, 97),
    "PrivateEye": (92, 86, 63),
    "Seaquest": (97, 70),
    "Venture": (90, 26, 85),
}
_WIDE: Final = 16  # bytes in a bin of a position; rooms have a bin each


def _ram(env: Any, obs: Any, at: Sequence[int]) -> Sequence[float]:
    bytes_ = env.ale.getRAM()
    return [float(bytes_[n]) for n in at]


FEATURES: Final[Mapping[str, Feature]] = {
    "cart_pole": lambda env, obs: (env.state[2], env.state[0]),
    "mountain_car": lambda env, obs: (env.state[1], env.state[0]),
    "state": lambda env, obs: (env.state[1], env.state[0]),
    "pendulum": lambda env, obs: (
        env.state[1],
        (env.state[0] + math.pi) % (2 * math.pi) - math.pi,
    ),
    "pole": lambda env, obs: (env.data.qpos[1], env.data.qpos[0]),
    "fingertip": lambda env, obs: env.get_body_com("fingertip")[1::-1],
    "torso_x": lambda env, obs: env.data.qpos[:1],
    "torso_xy": lambda env, obs: env.data.qpos[1::-1],
    "agent": lambda env, obs: env.agent_pos[::-1],
    "maze": lambda env, obs: obs["achieved_goal"][1::-1],
    "observed": lambda env, obs: (obs,),
    "lake": lambda env, obs: divmod(int(obs), env.ncol),
    "cliff": lambda env, obs: divmod(int(obs), env.shape[1]),
    "cell": lambda env, obs: _cell_from_0(env),
}


# What the numbers of a feature are, as Gymnasium's documentation names them, with their units.
_QUANTITIES: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "cart_pole": (("pole angle", "rad"), ("cart position", "")),
    "mountain_car": (("velocity", ""), ("position", "m")),
    "state": (("angle of the second joint", "rad"), ("angle of the first joint", "rad")),
    "pendulum": (("angular velocity", "rad/s"), ("angle", "rad")),
    "pole": (("pole angle", "rad"), ("cart position", "m")),
    "fingertip": (("y of the fingertip", "m"), ("x of the fingertip", "m")),
    "torso_x": (("x of the torso", "m"),),
    "torso_xy": (("y of the torso", "m"), ("x of the torso", "m")),
    "maze": (("y", "m"), ("x", "m")),
}
_VARIES: Final = "the layout changes from episode to episode, so inner walls are not drawn"


def axes(
    quantities: Sequence[tuple[str, str]],
    low: Sequence[float],
    high: Sequence[float],
    bins: Sequence[int],
) -> tuple[Axis, ...]:
    """The axes of bins of ``quantities``, each a name and a unit."""
    return tuple(
        Axis(name, unit, float(a), float(b), int(n))
        for (name, unit), a, b, n in zip(quantities, low, high, bins, strict=True)
    )


def cell_in(given: Any, what: str) -> tuple[int, int]:
    """Row and column that an environment's author gives; `UserError` naming ``what`` gave them."""
    try:
        row, column = (int(part) if int(part) == part else None for part in given)
    except (TypeError, ValueError, OverflowError):
        row = column = None
    if row is None or column is None:
        raise UserError(f"{what} returns {given!r}, not (row, column), two whole numbers")
    return row, column


def _cell_from_0(env: Any) -> tuple[int, int]:
    """The cell of ``env``; `UserError` where it would be counted as another one, the outermost."""
    what = f"{type(env).__name__}.cell()"
    cell = cell_in(env.cell(), what)
    if not all(0 <= part < _MAX_SIDE for part in cell):
        raise UserError(
            f"{what} returns {cell}: rows and columns must be 0 to {_MAX_SIDE - 1}; shift "
            "cell(), or use places=module:function"
        )
    return cell


def found(id_: str, env: Any, reset: Callable[[int], Any]) -> dict[str, Any] | None:
    """What is known of the places of ``env`` as JSON; None where nothing is.

    ``reset`` resets it with the n-th seed of a few.
    """
    bare, id_ = env.unwrapped, id_.rpartition(":")[2]
    if callable(getattr(bare, "cell", None)):
        return _whole("cell", (_MAX_SIDE, _MAX_SIDE), "cell")
    if hasattr(bare, "agent_pos") and hasattr(bare, "grid"):
        walls, varies = _walls(bare, reset)
        more = {"varies": True} if varies else {}
        return _whole("agent", (bare.height, bare.width), "cell", walls, **more)
    if hasattr(bare, "maze") and hasattr(bare.maze, "maze_map"):
        return _maze(bare.maze)
    if hasattr(bare, "ale"):
        at = _RAM.get(id_.rpartition("/")[2].partition("-")[0])
        return None if at is None else _bytes(at)
    known = next((one for begin, one in KNOWN.items() if id_.startswith(begin)), None)
    if known is not None:
        return _json(known, _floor(known.bins))
    from gymnasium.spaces import Discrete

    space = bare.observation_space
    if isinstance(space, Discrete):
        return _states(bare, space)
    return None


def _json(known: Known, backdrop: Sequence[str] = (), **more: Any) -> dict[str, Any]:
    spec = {**known._asdict(), "backdrop": backdrop, **more}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in spec.items()}


def _whole(
    feature: str, shape: tuple[int, ...], noun: str, backdrop: Sequence[str] = (), **more: Any
) -> dict[str, Any]:
    """Features that are whole numbers from 0 on."""
    high = tuple(float(n) for n in shape)
    return _json(Known(feature, (0.0,) * len(shape), high, shape, noun), backdrop, **more)


def _floor(bins: Sequence[int]) -> list[str]:
    return ["." * bins[1]] * bins[0] if len(bins) == 2 else []


def _walls(env: Any, reset: Callable[[int], Any]) -> tuple[list[str], bool]:
    """The walls of a MiniGrid, and whether they change with the seed: then only its border."""
    layouts = []
    for nth in range(_LAYOUTS):
        reset(nth)
        layouts.append(
            [
                [getattr(env.grid.get(x, y), "type", None) == "wall" for x in range(env.width)]
                for y in range(env.height)
            ]
        )
    solid = np.array(layouts)
    shared: Any = solid.all(axis=0)
    varies = bool((solid != solid[0]).any())
    if varies:
        shared[1:-1, 1:-1] = False
    return ["".join("#" if wall else "." for wall in row) for row in shared], varies


def _maze(maze: Any) -> dict[str, Any]:
    """Several bins a cell of a maze of Gymnasium-Robotics, whose rows run downwards from y."""
    rows = ["".join("#" if cell == 1 else "." for cell in row) for row in maze.maze_map]
    y, x = float(maze.y_map_center), float(maze.x_map_center)
    shape = (_PER_CELL * len(rows), _PER_CELL * len(rows[0]))
    wide = ["".join(char * _PER_CELL for char in row) for row in rows for _ in range(_PER_CELL)]
    return _json(Known("maze", (y, -x), (-y, x), shape), wide)


def _bytes(at: tuple[int, ...]) -> dict[str, Any]:
    widths = (1,) * (len(at) == 3) + (_WIDE,) * min(len(at), 2)
    bins = tuple(256 // width for width in widths)
    known = Known("ram", (0.0,) * len(at), (256.0,) * len(at), bins)
    return _json(known, _floor(bins), at=list(at))


def _states(env: Any, space: Any) -> dict[str, Any]:
    """A place a state; rows and columns where the states are the cells of a grid."""
    n = int(space.n)
    grids: dict[str, Sequence[Any]] = {
        "lake": (getattr(env, "nrow", 0), getattr(env, "ncol", 0)),
        "cliff": getattr(env, "shape", ()),
    }
    for feature, sides in grids.items():
        if space.start == 0 and len(sides) == 2 and math.prod(sides) == n:
            shape = (int(sides[0]), int(sides[1]))
            return _whole(feature, shape, "cell", _floor(shape), n=n)
    first = float(space.start)
    return _json(Known("observed", (first,), (first + n,), (n,), "state"), n=n)


def places_of(spec: Mapping[str, Any] | str | None) -> Places:
    """The record for people and pictures of what `found` gave, of a function's name, or of None."""
    if spec is None:
        return Places(None, noun="place", counted=False)
    if isinstance(spec, str):
        return Places(None, noun="place")
    bins = tuple(int(n) for n in spec["bins"])
    backdrop = tuple(str(row) for row in spec["backdrop"])

    def label(places: IntArray) -> list[Any]:
        if len(bins) == 1:
            numbers: list[Any] = places.tolist()
            return numbers
        rows: list[Any] = np.stack(np.unravel_index(places, bins), -1).tolist()
        return rows

    n = spec.get("n")
    known, most = None if n is None else int(n), math.prod(bins)
    return Places(
        known,
        label,
        backdrop,
        str(spec["noun"]),
        most=most,
        axes=axes(_quantities(spec), spec["low"], spec["high"], bins) if _quantities(spec) else (),
        note=_VARIES if spec.get("varies") else "",
    )


def _quantities(spec: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """Names and units of what is in bins; none where rows and columns say it all."""
    at = spec.get("at")
    if at is not None:
        return [(f"byte {n} of the RAM", "") for n in at]
    return _QUANTITIES.get(spec["feature"], ())


def locator(spec: Mapping[str, Any] | str | None) -> Locate:
    """(unwrapped environment, observation) -> the number of the place, for the same."""
    if spec is None:
        return lambda env, obs: 0
    if isinstance(spec, str):
        return _by_function(spec)
    bins = [int(n) for n in spec["bins"]]
    low, high = [float(x) for x in spec["low"]], [float(x) for x in spec["high"]]
    at = spec.get("at")  # bytes of a RAM
    feature = FEATURES[spec["feature"]] if at is None else partial(_ram, at=at)
    scales = [n / (b - a) for n, a, b in zip(bins, low, high, strict=True)]

    def locate(env: Any, obs: Any) -> int:
        number = 0
        for x, a, scale, n in zip(feature(env, obs), low, scales, bins, strict=True):
            number = number * n + min(max(int((x - a) * scale), 0), n - 1)
        return number

    return locate


def _by_function(path: str) -> Locate:
    function = registered.imported(path, "places")

    def locate(env: Any, obs: Any) -> int:
        place = function(env, obs)
        if isinstance(place, bool) or not isinstance(place, int | np.integer):
            raise UserError(f"places={path}: returned {place!r}, not a whole number")
        if not -(2**31) <= place < 2**31:
            raise UserError(f"places={path}: returned {place}, which exceeds 32 bits")
        return int(place)

    return locate
