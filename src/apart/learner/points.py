"""Where skills are to end in a world whose states cannot be listed: `ends` for points.

The same three things as in `learner.ends`, for observations that are vectors:

- the memory: what was seen, as at most M points that are as far apart as they can be (a new one
  takes the place of the one that is nearest to another), and a place for each skill among them;
- the distance: that of the vectors, as networks see them, or of what they are embedded as;
- the width: the covering radius, the distance of the farthest point in the memory from all places.

A step moves a skill that is not needed to the farthest point, and every place to the middle of its
territory. No cells or bins, and nothing is trained here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array
from apart.learner.sizes import points_for
from apart.learner.territories import most, needed_elsewhere

EVERY: Final = 8  # rounds between two looks at the memory
_MOVES: Final = 4  # at most, in one look, of skills that are not needed
_MIDDLES: Final = 8  # steps towards the middle of a territory
_MOST_NUMBERS: Final = 128  # of a point; longer observations are projected
_BETTER: Final = 0.98  # a place moves for a radius that is smaller by this factor
_FAR: Final = 1e30  # of a place in the memory that is empty


class Points(NamedTuple):
    """What was seen, and the places of skills in it."""

    memory: Array  # [M, D]
    gap: Array  # [M] distance to the nearest other point of the memory; 1e30: an empty place
    n: Array  # [] int32 points in the memory
    place: Array  # [K, D]
    width: Array  # [] the covering radius; at least half of the least gap


def seen_as(n_numbers: int) -> int:
    """D for observations of so many numbers."""
    return min(n_numbers, _MOST_NUMBERS)


def projected(points: Array) -> Array:
    """[n, D] observations [n, numbers]: as they are, or by as many fixed random directions.

    Distances stay about what they are (Johnson and Lindenstrauss 1984).
    """
    n_numbers = points.shape[1]
    if n_numbers <= _MOST_NUMBERS:
        return points
    shape = (n_numbers, _MOST_NUMBERS)
    directions = jax.random.normal(jax.random.key(n_numbers), shape) / math.sqrt(_MOST_NUMBERS)
    return points @ directions


def init(n_skills: int, dimensions: int, size: int | None = None) -> Points:
    """Nothing was seen yet: all places are the origin. ``size`` is M, unless it follows from K."""
    size = size or points_for(n_skills)
    return Points(
        memory=jnp.zeros((size, dimensions)),
        gap=jnp.full(size, _FAR, jnp.float32),
        n=jnp.int32(0),
        place=jnp.zeros((n_skills, dimensions)),
        width=jnp.float32(0.0),
    )


def distances(points: Array, places: Array) -> Array:
    """[n, K] from points [n, D] to places [K, D]."""
    square = (points**2).sum(1)[:, None] + (places**2).sum(1) - 2.0 * points @ places.T
    return jnp.sqrt(jnp.maximum(square, 0.0))


Embed = Callable[[Array], Array]  # points [n, D] -> [n, E]


def _as_they_are(points: Array) -> Array:
    return points


def read(kept: Points, points: Array, embed: Embed = _as_they_are) -> Array:
    """[n, K] how near each skill's place is to ``points`` [n, D]: exp(-2 (distance / width)^2).

    From 1 in the place itself to 0.14 at the covering radius: half of that is the width of the
    bump. Bumps of neighbours overlap, but each has one top. Distances are those of ``embed``.
    """
    far = distances(embed(points), embed(kept.place)) / jnp.maximum(kept.width, 1e-6)
    return jnp.exp(-2.0 * jnp.square(far))


def add(kept: Points, points: Array, scaled: Embed = _as_they_are) -> Points:
    """The memory after ``points`` [n, D] were seen, one after the other.

    How far apart they are is that of ``scaled``.
    """

    def one(now: Points, point: Array) -> tuple[Points, None]:
        far = jnp.sqrt(jnp.square(scaled(now.memory) - scaled(point[None])).sum(1))
        slots = jnp.arange(far.shape[0])
        far = jnp.where(slots < now.n, far, _FAR)
        full = now.n == far.shape[0]
        leaves = jnp.where(full, jnp.argmin(now.gap), now.n)
        others = jnp.where(slots == leaves, _FAR, far)
        nearest = others.min()
        # The first point has no other; then whatever is new, then what is farther than what leaves.
        enters = jnp.where(full, nearest > now.gap[leaves], nearest > 1e-6)
        gap = jnp.minimum(now.gap, others).at[leaves].set(nearest)
        entered = now._replace(
            memory=now.memory.at[leaves].set(point),
            gap=gap,
            n=now.n + ~full,
            place=jnp.where(now.n == 0, point, now.place),  # all begin where the first episode did
        )
        return jax.tree.map(lambda a, b: jnp.where(enters, a, b), entered, now), None

    after, _ = jax.lax.scan(one, kept, points)
    return after


class Space(NamedTuple):
    """Where distances are measured: those of the memory, which never change, and of territories."""

    scaled: Embed
    embed: Embed


def look(kept: Points, rounds: Array, space: Space | None = None) -> Points:
    """``kept`` after a step of the places, if one is due in this round."""
    due = (rounds % EVERY == 0) | (rounds <= 1)
    found: Points = jax.lax.cond(due, lambda now: looked(now, space), lambda now: now, kept)
    return found


def looked(kept: Points, space: Space | None = None) -> Points:
    """A step of the places; gaps, which only fall between two looks, are measured again.

    Without a ``space`` all distances are those of the points.
    """
    known = jnp.arange(kept.memory.shape[0]) < kept.n
    spread = kept.memory if space is None else space.scaled(kept.memory)
    between = distances(spread, spread)
    apart = known[:, None] & known & ~jnp.eye(len(known), dtype=bool)
    gap = jnp.where(known, jnp.where(apart, between, _FAR).min(1), _FAR)
    place = kept.place
    if space is None:
        place, width = _stepped(kept.memory, known, place)
        # Where every point has a place the radius is rounding; half a gap still tells them apart.
        width = jnp.maximum(width, jnp.where(kept.n > 1, gap.min() / 2, 0.0))
    else:
        memory, were = space.embed(kept.memory), space.embed(place)
        now, width = _stepped(memory, known, were)
        # A place that moved is a point of the memory: the one that is embedded there.
        which = jnp.argmin(jnp.where(known, distances(now, memory), _FAR), axis=1)
        moved = (now != were).any(axis=1)
        place = jnp.where(moved[:, None], kept.memory[which], place)
    return kept._replace(gap=gap, place=place, width=width)


def _stepped(memory: Array, known: Array, place: Array) -> tuple[Array, Array]:
    """Places [K, D] after a step, and the covering radius."""
    place = jax.lax.fori_loop(0, _MOVES, lambda _, now: _unneeded_moved(memory, known, now), place)
    place = _middles(memory, known, place)
    far = distances(memory, place).min(1)
    return place, jnp.where(known, far, 0.0).max()


def _unneeded_moved(memory: Array, known: Array, place: Array) -> Array:
    """[K, D] places after skills that are not needed moved to the farthest points."""
    n_skills = place.shape[0]
    far = distances(memory, place)
    owner, nearest = jnp.argmin(far, axis=1), far.min(1)
    second = jnp.where(jax.nn.one_hot(owner, n_skills, dtype=bool), _FAR, far).min(1)
    without = most(second, owner, known, n_skills).value
    leaves, to = needed_elsewhere(without, most(nearest, owner, known, n_skills), _BETTER)
    return jnp.where(leaves[:, None], _at(memory, to), place)


def _at(memory: Array, points: Array) -> Array:
    """[n, D] the points of these numbers; of one that is none the last, which nobody takes."""
    return memory[jnp.minimum(points, memory.shape[0] - 1)]


def _middles(memory: Array, known: Array, place: Array) -> Array:
    """[K, D] places moved to the middle of their territories, where that is nearer to all of it.

    Steps towards the farthest point, each shorter than the last, end in the middle of the smallest
    ball (Badoiu and Clarkson 2003); a place is the point of the memory that is nearest to it.
    """
    n_skills = place.shape[0]
    far = distances(memory, place)
    owner, nearest = jnp.argmin(far, axis=1), far.min(1)
    radius = most(nearest, owner, known, n_skills)

    def step(i: Array, middle: Array) -> Array:
        out = jnp.sqrt(jnp.square(memory - middle[owner]).sum(1))
        farthest = most(out, owner, known, n_skills)
        there = _at(memory, farthest.state)
        moved = middle + (there - middle) / (i + 2.0)
        return jnp.where(farthest.value[:, None] > 0, moved, middle)

    middle = jax.lax.fori_loop(0, _MIDDLES, step, place)
    out = jnp.sqrt(jnp.square(memory - middle[owner]).sum(1))
    snapped = most(-out + out.max(), owner, known, n_skills).state
    tried = _at(memory, snapped)
    found = most(jnp.sqrt(jnp.square(memory - tried[owner]).sum(1)), owner, known, n_skills)
    better = (found.value >= 0) & (found.value < _BETTER * radius.value)
    return jnp.where(better[:, None], tried, place)
