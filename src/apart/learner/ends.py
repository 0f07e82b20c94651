"""Where skills are to end: places that share the known world among them, kept in compiled code.

Three things make it up, and a world without a table would bring its own: the memory (a place for
each skill), the distance (steps along transitions that were SEEN; nothing else of the world is
used) and the width (the covering radius of the places). Each state belongs to the skill that needs
the fewest steps from its place to there: its territory, where it wins the vote against every rival.

A step (`moved`) never makes the covering radius larger:
- a skill that is not needed (every state of its territory is nearer to another place than the
  farthest known state is to any) moves to the farthest state;
- every place moves to the middle of its territory, the state with the shortest way to its
  farthest one.
Where no step makes it better any more, some other beginnings are tried; a better end is taken.

Episodes that come to a state with their last step never act there: nothing is known of what
follows, however often they come. Such states are the edge; what follows counts there as staying.

Distances are breadth-first searches from many places at once: arrays of [S], not [S, S] or [K, S].
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array
from apart.learner.territories import most, needed_elsewhere

EVERY = 8  # rounds between two looks while something new is seen
_MOVES = 4  # at most, in one step, of skills that are not needed
_MIDDLES = 4  # states that are tried as the middle of a territory
_TRIALS = 32  # other beginnings; with four, ten places in the U-maze stay one step from the best
_TRIALS_IN_LARGE = 4  # in worlds of more than so many states, where each costs seconds:
_LARGE = 1_024


class Ends(NamedTuple):
    """The places of skills and how far the known world is from them."""

    place: Array  # [K] int32 the state in which a skill is to end
    owner: Array  # [S] int32 the skill that a state belongs to
    steps: Array  # [S] int32 from its place; S: not known, or no way leads there
    width: Array  # [] int32 the most steps to a known state: the covering radius
    n_seen: Array  # [] int32 how many transitions had been seen in the last look
    settled: Array  # [] bool: no step made it better then
    trial: Array  # [K] int32 places of another beginning
    n_trials: Array  # [] int32 beginnings tried since anything new was seen
    edge: Array  # [S] bool: episodes come there with their last step, and never act there


class Graph(NamedTuple):
    """Transitions as edges."""

    source: Array  # [E] int32 states
    target: Array  # [E] int32
    seen: Array  # [E] bool


def init(n_states: int, n_skills: int, start: int | Array) -> Ends:
    """All skills are to end in the start, the only state that is known."""
    place = jnp.full(n_skills, start, jnp.int32)
    return Ends(
        place=place,
        owner=jnp.zeros(n_states, jnp.int32),
        steps=jnp.full(n_states, n_states, jnp.int32).at[start].set(0),
        width=jnp.int32(0),
        n_seen=jnp.int32(0),
        settled=jnp.bool_(True),
        trial=place,
        n_trials=jnp.int32(0),
        edge=jnp.zeros(n_states, bool),
    )


def read(ends: Ends, states: Array | None) -> Array:
    """[n, K] how near each skill's place is to ``states`` (None: all).

    From 1 in the place itself down to 0; 0 where a rival's place is nearer.
    """
    owner, steps = (x if states is None else x[states] for x in (ends.owner, ends.steps))
    near = jnp.maximum(1.0 - steps / (ends.width + 1.0), 0.0)
    skills = jnp.arange(ends.place.shape[0])
    return jnp.where(owner[:, None] == skills, near[:, None], 0.0)


def look(ends: Ends, graph: Graph, rounds: Array, starts: int | Array, horizon: int) -> Ends:
    """``ends`` after a look at what is known, if one is due in this round and could change it.

    Args:
        ends: as they were.
        graph: all transitions.
        rounds: made so far.
        starts: the states in which episodes start, or the only one.
        horizon: transitions of an episode.
    """
    new = graph.seen.sum(dtype=jnp.int32) != ends.n_seen
    n_trials = _TRIALS if ends.owner.shape[0] <= _LARGE else min(_TRIALS, _TRIALS_IN_LARGE)
    # Where every known state has a place of its own nothing can be better.
    open_ = new | ~ends.settled | ((ends.n_trials < n_trials) & (ends.width > 0))
    due = open_ & (~new | (rounds % EVERY == 0))
    found: Ends = jax.lax.cond(
        due, lambda now: looked(now, graph, starts, horizon), lambda now: now, ends
    )
    return found


def looked(ends: Ends, graph: Graph, starts: int | Array, horizon: int) -> Ends:
    """A step of the places; of another beginning where they are settled."""
    n_seen = graph.seen.sum(dtype=jnp.int32)
    n_states = ends.owner.shape[0]
    first = jnp.full(n_states, n_states, jnp.int32).at[starts].set(0)
    away = jax.lax.cond(
        n_seen != ends.n_seen,
        lambda: _spread(first, graph, graph.seen, 1),
        lambda: jnp.where(ends.edge, horizon, 0),  # nothing new
    )
    own = (n_seen != ends.n_seen) | ~ends.settled
    known = _known(graph, ends.owner.shape[0])
    before = jnp.where(own, ends.place, ends.trial)
    place, owner, steps = moved(before, graph, known)
    settled = (place == before).all()
    width, was = (jnp.where(known, x, 0).max() for x in (steps, ends.steps))
    total, were = (jnp.where(known, x, 0).sum() for x in (steps, ends.steps))
    better = (width < was) | ((width == was) & (total < were))
    taken = own | (settled & better)
    n_trials = jnp.where(own, 0, ends.n_trials + settled)
    return Ends(
        place=jnp.where(taken, place, ends.place),
        owner=jnp.where(taken, owner, ends.owner),
        steps=jnp.where(taken, steps, ends.steps),
        width=jnp.where(taken, width, ends.width),
        n_seen=n_seen,
        settled=settled | ~own,
        trial=jnp.where(own | settled, _beginning(known, n_trials), place),
        n_trials=n_trials,
        edge=known & (away >= horizon),
    )


def _known(graph: Graph, n_states: int) -> Array:
    """[S] bool: states that were seen."""
    seen = jnp.zeros(n_states, bool)
    return seen.at[graph.source].max(graph.seen).at[graph.target].max(graph.seen)


_GOLDEN = 633, 1_024  # their ratio: each next multiple falls into a widest gap between those before


def _beginning(known: Array, nth: Array) -> Array:
    """[] one of the known states: all of them, as many as they are, are spaced evenly by number."""
    n_known, (step, whole) = known.sum(dtype=jnp.int32), _GOLDEN
    wanted = (nth + 1) * step % whole * n_known // whole
    return jnp.searchsorted(jnp.cumsum(known), wanted + 1).astype(jnp.int32) % known.shape[0]


def moved(place: Array, graph: Graph, known: Array) -> tuple[Array, Array, Array]:
    """Places [K] after a step for the better; the owner of each state and its steps [S]."""
    n_skills, n_states = place.shape[0], known.shape[0]

    def moving(carry: tuple[Array, Array, Array]) -> Array:
        _, n, moved = carry
        return moved & (n < _MOVES)

    def move(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        now, n, _ = carry
        after = _unneeded_moved(graph, now, known)
        return after, n + 1, (after != now).any()

    place, *_ = jax.lax.while_loop(moving, move, (place, jnp.int32(0), jnp.bool_(True)))
    place = _middles(graph, _nearest(graph, place, n_states), place, known)
    owner, steps = _split(_nearest(graph, place, n_states), n_skills)
    return place, owner, steps


def _split(keys: Array, n_skills: int) -> tuple[Array, Array]:
    """Skill and steps of keys, steps * K + skill: the least key is the nearest place."""
    return keys % n_skills, keys // n_skills


def _spread(values: Array, graph: Graph, allowed: Array, step: int, back: bool = False) -> Array:
    """[S] ``values`` lowered along allowed edges, ``step`` more each, until nothing changes."""
    source, target = (graph.target, graph.source) if back else (graph.source, graph.target)
    most = 2**31 - 1

    def lower(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        now, _ = carry
        after = now.at[target].min(jnp.where(allowed, now[source] + step, most))
        return after, (after != now).any()

    spread: Array
    spread, _ = jax.lax.while_loop(lambda carry: carry[1], lower, (values, jnp.bool_(True)))
    return spread


def _nearest(graph: Graph, place: Array, n_states: int) -> Array:
    """[S] keys of the nearest place of all; S * K where none leads."""
    n_skills = place.shape[0]
    far = jnp.full(n_states, n_states * n_skills, jnp.int32)
    return _spread(far.at[place].min(jnp.arange(n_skills)), graph, graph.seen, n_skills)


def _second(graph: Graph, place: Array, nearest: Array) -> Array:
    """[S] keys of the nearest place of another skill than the owner."""
    n_skills, n_states = place.shape[0], nearest.shape[0]
    skills, owner = jnp.arange(n_skills), nearest % n_skills
    most = n_states * n_skills
    here = jnp.where(owner[place] == skills, most, skills)
    source, target = graph.source, graph.target

    def lower(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        now, _ = carry
        by_first = jnp.where(owner[source] != owner[target], nearest[source], most)
        by_second = jnp.where(now[source] % n_skills != owner[target], now[source], most)
        via = jnp.where(graph.seen, jnp.minimum(by_first, by_second) + n_skills, most)
        after = now.at[target].min(via)
        return after, (after != now).any()

    first = jnp.full(n_states, most, jnp.int32).at[place].min(here)
    second: Array
    second, _ = jax.lax.while_loop(lambda carry: carry[1], lower, (first, jnp.bool_(True)))
    return second


def _unneeded_moved(graph: Graph, place: Array, known: Array) -> Array:
    """[K] places after skills that are not needed moved to the farthest states."""
    n_skills, n_states = place.shape[0], known.shape[0]
    nearest = _nearest(graph, place, n_states)
    owner, steps = _split(nearest, n_skills)
    without = most(_second(graph, place, nearest) // n_skills, owner, known, n_skills).value
    leaves, to = needed_elsewhere(without, most(steps, owner, known, n_skills))
    return jnp.where(leaves, to, place)


def _middles(graph: Graph, nearest: Array, place: Array, known: Array) -> Array:
    """[K] places moved to the middle of their territories, where that is nearer to all of it.

    The middle is found by its farthest states: the state that is least far from those known so
    far is tried, and the state that is farthest from it becomes one of them.
    """
    n_skills, n_states = place.shape[0], known.shape[0]
    owner, steps = _split(nearest, n_skills)
    inside = known & (steps < n_states)
    within = graph.seen & inside[graph.source] & (owner[graph.source] == owner[graph.target])
    far = jnp.full(n_states + 1, n_states, jnp.int32)  # one more for territories without states

    def ways(states: Array, back: bool) -> Array:
        """[S] steps from (back: to) the state of the own territory that is in ``states``."""
        at = far.at[states].set(0)[:n_states]
        return _spread(at, graph, within, 1, back)

    def attempt(_: int, carry: tuple[Array, ...]) -> tuple[Array, ...]:
        best, radius, extreme, worst, total = carry
        to = ways(extreme, back=True)
        worst, total = jnp.maximum(worst, to), total + to
        # Least worst, then least total, then lowest number.
        least = -most(n_states - worst, owner, inside, n_skills).value + n_states
        tied = inside & (worst == least[owner])
        tried = most(total.max() - total, owner, tied, n_skills).state
        found = most(ways(tried, back=False), owner, inside, n_skills)
        better = (found.value >= 0) & (found.value < radius)
        return (
            jnp.where(better, tried, best),
            jnp.where(better, found.value, radius),
            found.state,
            worst,
            total,
        )

    now = most(steps, owner, inside, n_skills)
    zeros = jnp.zeros(n_states, jnp.int32)
    first = (place, now.value, now.state, zeros, zeros)
    middles: Array = jax.lax.fori_loop(0, _MIDDLES, attempt, first)[0]
    return middles
