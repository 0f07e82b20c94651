"""What gives the rewards: the contract of an objective.

An objective keeps something (the parameters of a discriminator, counts, an embedding), learns from
whole episodes or from batches, and says what a transition is worth to EVERY skill. Learners know
nothing else of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp

from apart._types import Array, Key, Obs
from apart.learner.ends import Graph
from apart.learner.episodes import Episodes, Sampled
from apart.objective.contexts import Moved
from apart.training.pieces import Known, Pieces
from apart.training.state import Hyper
from apart.worlds.world import ObsSpec

Kept = Any  # a pytree of arrays: a part of the training state, saved with it


class Given(NamedTuple):
    """What an objective is built for."""

    p: Pieces
    counted: int | None = None  # number of states, where observations are their numbers
    known: Known | None = None  # the known transitions, where a sweep keeps them
    listed: bool = False  # all states are the rows of an update, not the samples of a batch
    next_state: Array | None = None  # [S, A, N] of a table
    starts: tuple[int, ...] = (0,)  # of a table: where episodes begin
    places: int | None = None  # a bound on them, where it sees their numbers, not observations
    seen: ObsSpec = ObsSpec(())  # one observation, as it is kept


class Met(NamedTuple):
    """What happened since the last update."""

    episodes: Episodes
    rounds: Array  # [] rounds made with this one
    graph: Callable[[], Graph] | None  # of all transitions that were seen, where they are kept
    steps_in_rounds: Array | None = None  # [] rounds of T steps that all steps so far amount to

    @property
    def full_rounds(self) -> Array:
        """[] rounds made, those whose episodes ended early in part."""
        return self.rounds if self.steps_in_rounds is None else self.steps_in_rounds


class Objective(NamedTuple):
    """Pure functions of what is kept."""

    init: Callable[[Key, Hyper], Kept]
    rewards: Callable[[Kept, Moved, Hyper], Array]  # transitions [n] -> [n, K] of every skill
    scores: Callable[[Kept, Obs | None, Hyper], Array]
    # observations [n, ...] or None for all states -> [n, K]; their softmax is q(z | s)
    of_states: Callable[[Kept, Obs | None, Hyper], Array] | None = None
    # [n, K], where the reward of a transition is that of the state after it (or before it)
    after: bool = True  # of which of the two
    own: Callable[[Kept, Obs, Array, Hyper], Array] | None = None
    # (kept, states [B], skills [B], numbers) -> [B] the reward of one skill each, where that is
    # less work than `of_states`
    own_moves: Callable[[Kept, Moved, Array, Hyper], Array] | None = None
    # (kept, transitions [B], skills [B], numbers) -> [B] the same, where rewards are of transitions
    meet: Callable[[Kept, Met, Hyper], Kept] = lambda kept, met, hyper: kept
    # whole episodes, right after they were made
    fit: Callable[[Kept, Sampled, Hyper, Array], Kept] | None = None
    # a batch at an update, with the rate; None: it learns from none
    bounds: tuple[float, float] | None = None
    # of rewards, where targets of networks are to stay within what they can add up to
    active: Callable[[Kept], Array] | None = None
    # [K] bool the skills that episodes are made of, at least one; None: all
    used: Callable[[Kept], Array] | None = None
    # [K] bool the skills that there are, at least one, where those are not the active ones
    learns: Callable[[Kept], Array] | None = None
    # [K] bool the skills that updates still teach, where Q has parameters of each (a table, or one
    # layer); None: all
    acts: Callable[[Kept], Array] | None = None
    # [K, T] int32 the skill whose Q decides at each decision of an episode of each skill, -1 once
    # it is over: training then walks at random, what is shown stays where it is; None: its own
    rivals: Callable[[Kept, Obs | None, Hyper], Array] | None = None
    # [n, K] for every skill the one that is most set against it; None: the likeliest other
    by_place: bool = False  # observations above are the numbers of their places
    tries: bool = False  # episodes in a table go and try what was never tried (`exploring`)
    stays: Callable[[Kept], Array] | None = None
    # [] bool: where the world ended an episode, rewards go on as if it stayed there, for methods
    # that look beyond the last step: where rewards are below 0, ending would pay otherwise. None:
    # nothing follows, and who is paid learns to live on
    at_edge: bool = False  # its rewards say what is worth a state that no episode ever leaves


class Keeper(NamedTuple):
    """How the numbers of a discriminator are kept (`told_apart`); fields as in `Objective`."""

    init: Callable[[Key, Hyper], Kept]
    read: Callable[[Kept, Obs | None], Array]  # [n, ...] numbers of observations; None: all states
    meet: Callable[[Kept, Met, Hyper], Kept] = lambda kept, met, hyper: kept
    fit: Callable[[Kept, Sampled, Hyper, Array], Kept] | None = None
    worth: Callable[[Kept, Obs | None, Hyper], Array] | None = None
    # [n] how many times a reward counts in a state; None: once
    tries: bool = False


def chains(objective: Objective, kept: Kept) -> Array | None:
    """`Objective.acts` of ``kept``, where a skill is not one policy from first to last."""
    return None if objective.acts is None else objective.acts(kept)


def skills_used(objective: Objective, kept: Kept) -> Array | None:
    """[K] bool the skills that there are, where a number of them waits to be used; None: all."""
    which = objective.used or objective.active
    return None if which is None else which(kept)


def rewards_of(objective: Objective, kept: Kept, moved: Moved, skill: Array, hyper: Hyper) -> Array:
    """[n] the reward of each transition's own skill."""
    if objective.own is not None:
        return objective.own(kept, moved.after if objective.after else moved.before, skill, hyper)
    if objective.own_moves is not None:
        return objective.own_moves(kept, moved, skill, hyper)
    return objective.rewards(kept, moved, hyper)[jnp.arange(skill.shape[0]), skill]


def for_ever(hyper: Hyper) -> Array:
    """How many rewards it is worth in a table to get one at every step from now on.

    Without a discount as many as sweeps may add up elsewhere, not more.
    """
    return 1.0 / jnp.maximum(1.0 - hyper.discount, 1e-4)


def of_one_state(
    of_states: Callable[[Kept, Obs | None, Hyper], Array], after: bool
) -> Callable[[Kept, Moved, Hyper], Array]:
    """`Objective.rewards` where they are those of one end of a transition."""
    return lambda kept, moved, hyper: of_states(kept, moved.after if after else moved.before, hyper)


def lifted(
    inner: Objective,
    get: Callable[[Kept], Kept],
    put: Callable[[Kept, Kept], Kept],
    of_states: Callable[[Kept, Obs | None, Hyper], Array],
) -> Objective:
    """``inner`` as a part of what another objective keeps, with rewards of its own.

    All but the rewards stays what it is there; bounds of those of ``inner`` do not hold for others.

    Args:
        inner: an objective that rewards states; its `init` is still to be replaced.
        get: what is kept -> what ``inner`` keeps of it.
        put: (what is kept, what ``inner`` keeps now) -> what is kept now.
        of_states: the rewards, as in `Objective`.
    """

    def reads(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda kept, *of: function(get(kept), *of)

    def changes(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda kept, *of: put(kept, function(get(kept), *of))

    functions: dict[str, Any] = {
        name: (changes if name in ("meet", "fit") else reads)(value)
        for name, value in inner._asdict().items()
        if callable(value) and name != "init"
    }
    return inner._replace(**functions)._replace(
        rewards=of_one_state(of_states, inner.after),
        of_states=of_states,
        own=None,
        own_moves=None,
        bounds=None,
    )
