"""What several objectives share: kinds of moves in tables, and who ended where."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from apart._types import Array, Obs
from apart.learner import adam, counts
from apart.learner.adam import Fitted
from apart.learner.approximators import Approximator
from apart.learner.counts import Counts
from apart.learner.episodes import Batch
from apart.objective.discriminators import one_vs_all_gradient
from apart.training.objectives.contract import Given, Met
from apart.training.state import Hyper


def kind(next_state: Array, before: Array, after: Array) -> Array:
    """[...] in which of the D = A N ways of leaving it each state was left; [S, A, N] successors.

    The first that leads there: on maps that is the difference of the two cells, as a move against
    a wall is one of staying.
    """
    ways = next_state.reshape(next_state.shape[0], -1)
    n_ways = ways.shape[1]
    found = jnp.full(before.shape, n_ways - 1)
    for way in reversed(range(n_ways - 1)):  # faster than an argmax over a short last axis
        found = jnp.where(ways[before, way] == after, way, found)
    return found


def last_seen(given: Given, batch: Batch, part: Array, n_parts: int) -> tuple[Obs | None, Array]:
    """Last states of a batch (None: all states), and how often each skill was seen there.

    In shares [n, M, K] of the samples that are last steps, apart for each of M parts, ``part`` [B].
    Where states are the rows of an update, a batch is a histogram over them.
    """
    n_skills = given.p.config.skills
    teaches = batch.last / jnp.maximum(batch.last.sum(), 1.0)
    if given.listed:
        assert given.counted is not None
        row, obs, n = batch.next_obs, None, given.counted
    else:
        n = batch.skill.shape[0]
        row, obs = jnp.arange(n), batch.next_obs
    cell = (row * n_parts + part) * n_skills + batch.skill
    shares = jnp.zeros(n * n_parts * n_skills).at[cell].add(teaches)
    return obs, shares.reshape(n, n_parts, n_skills)


def named_better(
    form: Approximator, fitted: Fitted, obs: Obs | None, weights: Array, rate: Array
) -> Fitted:
    """A classifier [M, K] after an Adam step on observations [n] with ``weights`` [n, M, K]."""
    rows, pull = form.read(fitted.params, obs)
    of_rows = jax.vmap(jax.vmap(one_vs_all_gradient, (0, 0, None)), (0, 0, None))
    return adam.step(form, fitted, pull(of_rows(rows, weights, jnp.float32(1.0))), rate)


def ended(now: Counts, met: Met, hyper: Hyper) -> Counts:
    """The fading counts of last states after new episodes."""
    new = met.episodes
    return counts.add_all(now, new.obs[:, -1], new.skill, hyper.fading)


def scores(now: Counts, obs: Obs | None, hyper: Hyper) -> Array:
    """[n, K] logarithms of the share of each skill among those that ended there."""
    found = counts.read(now, obs)
    return jnp.log(found + hyper.prior / found.shape[1])
