"""Episodes in a table that go and try what was never tried: the nearest such action, then the next.

What is known is kept for all skills together, so one search serves them all. Values of Q cannot do
that in a large world: an action that looks good until it was tried keeps looking good to all
neighbours for as many sweeps as its value takes to fade, for every skill anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from apart._types import Array

UNTRIED = -1  # where nobody knows what an action leads to
NEVER = 2**30  # steps to where no way leads: more than any episode has
_BY_CHANCE = 5  # times that an action is tried where it may lead to several states
_MOVES = 0.5  # moves for each time that it stays: an action that has as many leads elsewhere


def leads_to(next_state: Array, visits: Array) -> Array:
    """[S, A] the state that each action led to most often; `UNTRIED` where it is to be tried.

    That is once, or several times where chance has a part: a single step may be an unlucky one. An
    action that often fails leads to where it comes to when it does not.

    Args:
        next_state: [S, A, N].
        visits: [S, A, N] how often each successor was seen.
    """
    if next_state.shape[2] == 1:
        return jnp.where(visits[:, :, 0] > 0.5, next_state[:, :, 0], UNTRIED)  # they fade a little
    here = next_state == jnp.arange(next_state.shape[0], dtype=next_state.dtype)[:, None, None]
    stays = jnp.where(here, visits, 0.0).sum(axis=2, keepdims=True)
    moves = jnp.where(here, 0.0, visits)
    mostly = moves.max(axis=2, keepdims=True) >= jnp.maximum(_MOVES * stays, 1e-6)
    likeliest = jnp.argmax(jnp.where(mostly, moves, visits), axis=2, keepdims=True)
    state = jnp.take_along_axis(next_state, likeliest, axis=2)[:, :, 0]
    return jnp.where(visits.sum(axis=2) > _BY_CHANCE - 0.5, state, UNTRIED)


def steps_to_untried(leads: Array) -> Array:
    """[S] steps along what is known to the nearest state with an action that was never tried.

    `NEVER` where no way leads to one.
    """

    def lower(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        now, _ = carry
        onward = jnp.where(leads == UNTRIED, NEVER, now[leads]).min(axis=1)
        after = jnp.minimum(now, onward + 1)
        return after, (after != now).any()

    first = jnp.where((leads == UNTRIED).any(axis=1), 0, NEVER)
    found: Array = jax.lax.while_loop(lambda carry: carry[1], lower, (first, jnp.bool_(True)))[0]
    return found


def episode(
    leads: Array,
    far: Array,
    after: Callable[[Array, Array, Array], Array],
    greedy: Array,
    start: int | Array,
    choice: Array,
    luck: Array,
) -> tuple[Array, Array]:
    """[T + 1] states and [T] actions of an episode that tries things while there is time for it.

    It knows what it has tried itself: the steps to what is left are put right in every state that
    it comes through, which leads it out of corners in which nothing is left (learning real-time A*,
    Korf 1990). On the way there it does nothing by chance: what is just in time would not be. Where
    nothing can be tried in time it acts greedily, but for ``choice``.

    Args:
        leads: as of `leads_to`, before the episode.
        far: as of `steps_to_untried`.
        after: (state, action, luck) -> the next state.
        greedy: [S] the action of the skill whose episode it is.
        start: the first state.
        choice: [T] an action, or A for the greedy one.
        luck: [T] the world's chance.
    """
    n_actions = leads.shape[1]

    def step(carry: tuple[Array, Array, Array], drawn: tuple[Array, ...]) -> tuple[Any, Any]:
        state, known, steps = carry
        chosen, chance, left = drawn
        row = known[state]
        away = jnp.where(row == UNTRIED, 0, 1 + steps[row])
        acts = jnp.where(chosen == n_actions, greedy[state], chosen)
        action = jnp.where(away.min() < left, jnp.argmin(away), acts)
        reached = after(state, action, chance)
        first_time = row[action] == UNTRIED
        known = known.at[state, action].set(jnp.where(first_time, reached, row[action]))
        return (reached, known, steps.at[state].set(away.min())), (state, action)

    first = (jnp.asarray(start, leads.dtype), leads, far)
    left = jnp.arange(choice.shape[0], 0, -1)
    (last, *_), (visited, action) = jax.lax.scan(step, first, (choice, luck, left))
    return jnp.append(visited, last), action.astype(choice.dtype)
