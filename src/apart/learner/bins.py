"""Where skills are to end in a world whose states cannot be listed but are counted in bins.

Bins are what the world tells last states apart by: cells of a plane, ranges of features. The same
three things as in `learner.ends`, with bins for states:

- the memory: steps from bin to bin that were SEEN, and a bin for each skill;
- the distance: the fewest such steps, so that a wall between two bins keeps them apart;
- the width: the covering radius in steps from bin to bin.

Networks try nothing because it is unknown, and few steps cover many bins: places would stay behind
what is newly found. So there is one more state beyond each bin that few episodes came to, one step
away: what is not known yet. A skill whose place that is ends in the bin. It goes when the bin is
known well, so that bins alone count at last.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array
from apart.learner import ends
from apart.learner.ends import Ends, Graph

_PER_BIN: Final = 32  # steps that are kept for each bin; on a plane it has nine, itself included
_WELL: Final = 8  # episodes that come to a bin before it is known well


class Bins(NamedTuple):
    """What was seen, and the places of skills in it."""

    ends: Ends  # of n bins and what is beyond each, 2 n states
    seen: Array  # [M] int32 sorted: source * n + target of each step seen; n * n: none
    start: Array  # [] int32 the bin in which the first episode began
    visits: Array  # [n] int32 episodes that came to each bin
    new: Array  # [] bool: the graph is another one since places were last looked at


def init(n_bins: int, n_skills: int) -> Bins:
    """Nothing was seen yet."""
    none = n_bins * n_bins
    steps = jnp.full(min(none, _PER_BIN * n_bins), none, jnp.int32)
    visits = jnp.zeros(n_bins, jnp.int32)
    first = ends.init(2 * n_bins, n_skills, 0)
    return Bins(first, steps, jnp.int32(0), visits, jnp.bool_(False))


def read(kept: Bins, bins: Array | None) -> Array:
    """[n, K] how near each skill's place is to ``bins`` [n] (None: all); see `ends.read`."""
    n_bins = kept.visits.shape[0]
    here = jnp.arange(n_bins) if bins is None else bins
    return jnp.maximum(ends.read(kept.ends, here), ends.read(kept.ends, n_bins + here))


def little_known(kept: Bins) -> Array:
    """[n] bool: bins that were seen, but not by many episodes."""
    return (kept.visits > 0) & (kept.visits < _WELL)


def graph(kept: Bins) -> Graph:
    """The steps that were seen, and one to what is beyond a bin that is little known, and back."""
    n_bins = kept.visits.shape[0]
    seen = kept.seen < n_bins * n_bins
    steps = jnp.where(seen, kept.seen, 0)
    here, little = jnp.arange(n_bins), little_known(kept)
    return Graph(
        jnp.concatenate([steps // n_bins, here, n_bins + here]),
        jnp.concatenate([steps % n_bins, n_bins + here, here]),
        jnp.concatenate([seen, little, little]),
    )


def add(kept: Bins, bins: Array) -> Bins:
    """What is known after episodes [E, T + 1] of bins, one a step of the world.

    A full memory keeps what it has.
    """
    n_bins, n_skills = kept.visits.shape[0], kept.ends.place.shape[0]
    first = kept.visits.sum() == 0
    begun = ends.init(2 * n_bins, n_skills, bins[0, 0])
    came = jnp.zeros((bins.shape[0], n_bins), jnp.int32).at[
        jnp.arange(bins.shape[0])[:, None], bins
    ]
    after = kept._replace(
        ends=jax.tree.map(lambda a, b: jnp.where(first, a, b), begun, kept.ends),
        start=jnp.where(first, bins[0, 0], kept.start),
        visits=kept.visits + came.set(1).sum(0),
        seen=_with_steps(kept.seen, bins, n_bins),
    )
    same = (after.seen == kept.seen).all() & (little_known(after) == little_known(kept)).all()
    return after._replace(new=kept.new | ~same)


def _with_steps(kept: Array, bins: Array, n_bins: int) -> Array:
    """[M] the steps that were seen, with those of episodes ``bins`` [E, T + 1]."""
    none = n_bins * n_bins
    steps = (bins[:, :-1] * n_bins + bins[:, 1:]).reshape(-1)
    at = jnp.minimum(jnp.searchsorted(kept, steps), kept.shape[0] - 1)
    steps = jnp.sort(jnp.where(kept[at] == steps, none, steps))
    new = (steps < none) & (steps != jnp.roll(steps, 1).at[0].set(none))  # each of them once
    new &= jnp.cumsum(new) <= (kept == none).sum()
    more = jnp.concatenate([kept, jnp.where(new, steps, none)])
    together: Array = jax.lax.cond(new.any(), lambda: jnp.sort(more)[: kept.shape[0]], lambda: kept)
    return together


def look(kept: Bins, rounds: Array, horizon: int) -> Bins:
    """``kept`` after a step of the places, if one is due in this round and could change them.

    ``horizon`` is the number of steps of an episode.
    """
    n_bins, little = kept.visits.shape[0], little_known(kept)

    def there(place: Array) -> Array:
        """What was beyond a bin that is known well by now is the bin."""
        return jnp.where((place >= n_bins) & ~little[place % n_bins], place % n_bins, place)

    before = kept.ends._replace(
        place=there(kept.ends.place),
        trial=there(kept.ends.trial),
        n_seen=jnp.where(kept.new, -1, kept.ends.n_seen),
    )
    due = rounds % ends.EVERY == 0
    found: Ends = jax.lax.cond(
        due,
        lambda: ends.look(before, graph(kept), rounds, kept.start, horizon),
        lambda: kept.ends,
    )
    return kept._replace(ends=found, new=kept.new & ~due)
