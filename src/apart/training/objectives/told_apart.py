"""Skills are told apart by a discriminator, and rewarded for how well: APART, DIAYN, VIC and ours.

The discriminator's numbers of a state (logits, counts, how near an end is) are kept in one of
several ways; what a reward makes of them is `objective.rewards`, whichever way that is.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from apart._types import Array, Key, Obs
from apart.learner import adam, bins, counts, ends, points
from apart.learner.episodes import Sampled
from apart.objective import pairs
from apart.objective.contexts import Moved
from apart.training.objectives import moves
from apart.training.objectives.contract import (
    Given,
    Keeper,
    Kept,
    Met,
    Objective,
    for_ever,
    of_one_state,
)
from apart.training.objectives.measured import measured
from apart.training.pieces import Pieces
from apart.training.state import Hyper


def build(given: Given, whole: bool = True) -> Objective:
    """The objective of a configuration that names discriminator, reward and context.

    Where it is not the ``whole`` reward, nobody knows here what staying at the edge is worth.
    """
    p = given.p
    keeper = keeper_of(given)
    if not whole:
        keeper = keeper._replace(worth=None)

    def sharpness(hyper: Hyper) -> Array:
        return hyper.inverse_temperature if p.discriminator.learned else hyper.prior

    def of_rows(rows: Array, hyper: Hyper) -> Array:
        rewards = jax.vmap(p.reward.rewards, (0, None))(rows, sharpness(hyper))
        if p.reward.bonus is None:
            return rewards
        return rewards + hyper.bonus * jax.vmap(p.reward.bonus)(rows)[:, None]

    def of_states(kept: Kept, obs: Obs | None, hyper: Hyper) -> Array:
        reward = of_rows(keeper.read(kept, obs), hyper)
        if keeper.worth is None:
            return reward
        return keeper.worth(kept, obs, hyper)[:, None] * reward

    def own(kept: Kept, obs: Obs, skill: Array, hyper: Hyper) -> Array:
        reward: Array
        # Where states are rows, those of all are read once, however often the batch has each.
        rows = keeper.read(kept, None if given.listed else obs)
        row = obs if given.listed else jnp.arange(skill.shape[0], dtype=skill.dtype)
        if p.reward.of_skill is not None and p.reward.bonus is None:
            reward = jax.vmap(p.reward.of_skill, (None, 0, 0))(rows, row, skill)
        else:
            reward = of_rows(rows, hyper)[row, skill]
        return reward if keeper.worth is None else keeper.worth(kept, obs, hyper) * reward

    def scores(kept: Kept, obs: Obs | None, hyper: Hyper) -> Array:
        rows = keeper.read(kept, obs)
        return jax.vmap(p.discriminator.scores, (0, None))(rows, sharpness(hyper))

    def rivals(kept: Kept, obs: Obs | None, hyper: Hyper) -> Array:
        found: Array = jax.lax.map(_rivals, keeper.read(kept, obs))
        return found

    return Objective(
        init=keeper.init,
        rewards=of_one_state(of_states, p.context.after),
        scores=scores,
        of_states=of_states,
        after=p.context.after,
        own=own,
        meet=keeper.meet,
        fit=keeper.fit,
        bounds=p.reward.bounds,
        rivals=rivals if p.discriminator.pairwise else None,
        by_place=p.by_place,
        tries=keeper.tries,
        at_edge=keeper.worth is not None,
    )


def keeper_of(given: Given) -> Keeper:
    """How the discriminator of a configuration is kept."""
    if given.p.discriminator.learned is not None:
        return _trained(given)
    if not given.p.discriminator.over_known:
        return _counted(given)
    if given.counted is not None:
        return _places(given)
    if given.p.by_place:
        return _binned(given)
    return measured(given) if given.p.discriminator.embeds else _points(given)


def _trained(given: Given) -> Keeper:
    """Parameters, moved by Adam."""
    p = given.p

    def fit(kept: Kept, drawn: Sampled, hyper: Hyper, rate: Array) -> Kept:
        obs, weights = _seen(given, drawn)
        return _adam_step(p, kept, obs, weights, hyper, rate)

    return Keeper(
        init=lambda key, hyper: adam.fit(p.logits, p.logits.init(key, hyper.init_logits)),
        read=lambda kept, obs: p.logits.read(kept.params, obs)[0],
        fit=fit,
    )


def _seen(given: Given, drawn: Sampled) -> tuple[Obs | None, Array]:
    """The observations of a batch (None: of all states) and how often each skill was seen there.

    In shares [n, K] of the batch.
    """
    p, batch = given.p, drawn.batch
    n_skills = p.config.skills
    ones = jnp.ones_like(drawn.weight)
    teaches = ones * batch.last if p.context.only_last else ones
    obs = p.context.see(Moved(batch.obs, batch.next_obs))
    if not given.listed:
        weights = jax.nn.one_hot(batch.skill, n_skills) * teaches[:, None]
        return obs, weights / jnp.maximum(teaches.sum(), 1.0)
    assert given.counted is not None
    often = jnp.zeros(given.counted * n_skills).at[obs * n_skills + batch.skill].add(teaches)
    return None, (often / jnp.maximum(often.sum(), 1.0)).reshape(given.counted, n_skills)


def _adam_step(
    p: Pieces, fitted: adam.Fitted, obs: Obs | None, weights: Array, hyper: Hyper, rate: Array
) -> adam.Fitted:
    """The discriminator after one Adam step on rows [n] with ``weights`` [n, K]."""
    learned = p.discriminator.learned
    assert learned is not None
    logits, pull = p.logits.read(fitted.params, obs)
    beta = hyper.inverse_temperature if p.discriminator.beta_in_loss else jnp.float32(1.0)
    gradient = jax.vmap(learned.gradient, (0, 0, None))(logits, weights, beta)
    moved = adam.step(p.logits, fitted, pull(gradient), rate)
    return moved._replace(params=p.logits.scaled(moved.params, 1.0 - hyper.fading))


def _counted(given: Given) -> Keeper:
    """Fading counts of last states."""
    n_states, n_skills = given.counted, given.p.config.skills
    assert n_states is not None
    return Keeper(lambda key, hyper: counts.init(n_states, n_skills), counts.read, moves.ended)


def _places(given: Given) -> Keeper:
    """Places that share the known transitions among them."""
    n_states = given.counted
    assert n_states is not None

    def meet(kept: Kept, met: Met, hyper: Hyper) -> Kept:
        assert met.graph is not None
        return ends.look(kept, met.graph(), met.rounds, starts, given.p.config.decisions)

    def worth(kept: Kept, obs: Obs | None, hyper: Hyper) -> Array:
        """As many times as a state at the edge would pay if the episode stayed there for ever."""
        edge = kept.edge if obs is None else kept.edge[obs]
        return jnp.where(edge, for_ever(hyper), 1.0)

    n_skills, starts = given.p.config.skills, jnp.asarray(given.starts)
    return Keeper(
        init=lambda key, hyper: ends.init(n_states, n_skills, given.starts[0]),
        read=ends.read,
        meet=meet,
        worth=worth if given.p.config.bootstrap_last else None,
        tries=True,
    )


def _points(given: Given) -> Keeper:
    """Places that share what was seen among them, where states cannot be listed."""
    p = given.p
    vectors = p.vectors
    assert vectors is not None

    def seen(obs: Obs) -> Array:
        return points.projected(vectors.of(obs))

    def init(key: Key, hyper: Hyper) -> Kept:
        return points.init(p.config.skills, points.seen_as(vectors.n))

    def read(kept: Kept, obs: Obs | None) -> Array:
        assert obs is not None  # nobody can list all of them
        return points.read(kept, seen(obs))

    def meet(kept: Kept, met: Met, hyper: Hyper) -> Kept:
        flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), met.episodes.obs)
        return points.look(points.add(kept, seen(flat)), met.rounds)

    return Keeper(init, read, meet)


def _binned(given: Given) -> Keeper:
    """Places that share the bins that were seen among them; what is read are numbers of bins."""
    n_bins, c = given.places, given.p.config
    assert n_bins is not None

    def meet(kept: Kept, met: Met, hyper: Hyper) -> Kept:
        assert met.episodes.place is not None
        return bins.look(bins.add(kept, met.episodes.place), met.rounds, c.horizon)

    return Keeper(lambda key, hyper: bins.init(n_bins, c.skills), bins.read, meet)


def _rivals(logits: Array) -> Array:
    """[K] of every skill, the one with the least vote for it; logits of pairs [R, C]."""
    n_skills = pairs.n_skills_of(logits)
    first, second = pairs.members(n_skills)
    votes = jnp.zeros((n_skills, n_skills))
    votes = votes.at[first, second].set(logits).at[second, first].set(-logits)
    return jnp.argmin(jnp.where(jnp.eye(n_skills, dtype=bool), jnp.inf, votes), axis=1)
