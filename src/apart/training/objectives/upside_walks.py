"""UPSIDE (Kamienny et al. 2022) with networks: the tree of `upside_tree` where nothing is listed.

After its part a skill walks at random. The states of its last walks are kept; a classifier is
trained to name the skill from them, and its posterior of a state is the reward there, in [0, 1].
Where nobody walks, the skills that grow are as likely as each other, as in tables: a classifier
that nobody shows such places names there whoever is nearest, and new skills stay beside old ones.
The states of a skill that is kept are those of its last walks before that. Every transition
teaches all skills that grow. Where Q is one layer, a kept skill does not change by a bit; where
skills share hidden layers it is held in place by its reward alone, which those states hold.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array, Key, Obs
from apart.learner import adam
from apart.learner.adam import Fitted
from apart.learner.approximators import Approximator
from apart.learner.episodes import Episodes, Sampled
from apart.objective import diffusion, trees
from apart.objective.trees import Tree
from apart.training.objectives.contract import Given, Met, Objective, of_one_state
from apart.training.state import Hyper

EVERY = 6  # rounds between two looks at the skills
PARTS = 10  # of an episode: a skill's own part has T / this decisions
ANYWHERE = 0.3  # skills: as much as what was seen anywhere counts in the classifier
WALKS = 10  # of as many decisions as a part: states of a skill that are kept


class Walked(NamedTuple):
    """What is kept."""

    tree: Tree
    told: Fitted  # of the classifier: logits of all K skills
    states: Array  # [K, B, ...] of the last walks of each skill
    n_states: Array  # [K] int32 that were ever seen of a skill; its last B are there
    key: Array  # [2] uint32
    fits: Array  # [] int32 steps of the classifier


def build(given: Given) -> Objective:
    """UPSIDE in any world."""
    p, c, seen = given.p, given.p.config, given.seen
    form = p.network((c.skills,))
    part = max(c.decisions // PARTS, 1)
    # 8 steps for parts of 20; decisions that are held lead `hold` times as far.
    walk = max(2 * part // (5 * c.hold), 1)
    deepest = max((c.decisions - walk) // part, 1)

    def init(key: Key, hyper: Hyper) -> Walked:
        key_told, key_draws = jax.random.split(key)
        return Walked(
            trees.init(c.skills),
            adam.fit(form, form.init(key_told, hyper.init_logits)),
            jnp.zeros((c.skills, WALKS * part, *seen.shape), seen.dtype),
            jnp.zeros(c.skills, jnp.int32),
            jax.random.key_data(key_draws),
            jnp.int32(0),
        )

    def scores(kept: Walked, obs: Obs | None, hyper: Hyper) -> Array:
        return _of_tree(kept.tree, form.read(kept.told.params, obs)[0])

    def of_states(kept: Walked, obs: Obs | None, hyper: Hyper) -> Array:
        return jax.nn.softmax(scores(kept, obs, hyper), axis=1)

    def meet(kept: Walked, met: Met, hyper: Hyper) -> Walked:
        kept = _remembered(kept, met.episodes, part, walk)

        def look() -> Walked:
            # What a trained classifier cannot name once, it may name another time.
            tree = trees.looked(kept.tree, quality(form, kept), deepest, again=True)
            new = trees.begun(kept.tree, tree)
            return kept._replace(tree=tree, n_states=jnp.where(new, 0, kept.n_states))

        looked: Walked = jax.lax.cond(met.rounds % EVERY == 0, look, lambda: kept)
        return looked

    def fit(kept: Walked, drawn: Sampled, hyper: Hyper, rate: Array) -> Walked:
        return _taught(form, kept, drawn.batch.next_obs, rate)

    return Objective(
        init,
        of_one_state(of_states, after=True),
        scores,
        of_states,
        meet=meet,
        fit=fit,
        bounds=(0.0, 1.0),
        active=lambda kept: trees.drawn(kept.tree),
        used=lambda kept: trees.found_skills(kept.tree),
        learns=lambda kept: kept.tree.growing,
        acts=lambda kept: trees.chains(kept.tree, part, c.decisions),
    )


def _of_tree(tree: Tree, logits: Array) -> Array:
    """``logits`` [n, K] of those in the tree; the others are impossible."""
    return jnp.where(tree.kept | tree.growing, logits, -1e9)


def _remembered(kept: Walked, new: Episodes, part: int, length: int) -> Walked:
    """``kept`` with the walks of the ``new`` episodes of growing skills.

    A walk of ``length`` decisions has one state more, the one that it begins in. Of an episode that
    ended before it did, the states that it came to are kept: what follows is the last one repeated.
    """
    most, steps = kept.states.shape[1], jnp.arange(length + 1)
    ends = None if new.alive is None else new.alive.sum(axis=1)  # [E] decisions that were made

    def one(now: Walked, episode: tuple[Array, Array, Array | None]) -> tuple[Walked, None]:
        at, z, end = episode
        first = now.tree.depth[z] * part
        walk = jax.lax.dynamic_slice_in_dim(at, first, length + 1)
        made = now.tree.growing[z] & (True if end is None else first + steps <= end)
        # States that are not taken go past the end, where nothing is.
        place = jnp.where(made, (now.n_states[z] + steps) % most, most)
        states = now.states.at[z, place].set(walk, mode="drop")
        n_states = now.n_states.at[z].add(jnp.broadcast_to(made, steps.shape).sum())
        return now._replace(states=states, n_states=n_states), None

    after: Walked = jax.lax.scan(one, kept, (new.obs, new.skill, ends))[0]
    return after


def quality(form: Approximator, kept: Walked) -> Array:
    """[K] the mean posterior of each skill over the states of its own walks; 0 without any."""
    n_skills, most = kept.states.shape[:2]

    def of_skill(one: tuple[Array, Obs]) -> Array:
        """[B]; for one after the other, as [K B, K] may not fit the memory."""
        skill, states = one
        logits = _of_tree(kept.tree, form.read(kept.told.params, states)[0])
        return jax.nn.softmax(logits, axis=1)[:, skill]

    own = jax.lax.map(of_skill, (jnp.arange(n_skills), kept.states))  # [K, B]
    seen = jnp.arange(most) < kept.n_states[:, None]
    found: Array = (own * seen).sum(axis=1) / jnp.maximum(seen.sum(axis=1), 1)
    return found


def _taught(form: Approximator, kept: Walked, seen: Obs, rate: Array) -> Walked:
    """``kept`` after a step of the classifier; kept skills count `diffusion.OLDER` times.

    What was ``seen`` [B, ...], wherever that is, is shown as of any skill that grows.
    """
    tree, most, batch = kept.tree, kept.states.shape[1], seen.shape[0]
    key = jax.random.fold_in(jax.random.wrap_key_data(kept.key), kept.fits)
    key_skill, key_state = jax.random.split(key)
    weight = jnp.where(tree.kept, diffusion.OLDER, tree.growing.astype(jnp.float32))
    weight = jnp.where(kept.n_states > 0, weight, 0.0)
    skill = jax.random.categorical(key_skill, jnp.log(weight + 1e-20), shape=(batch,))
    lots = jax.random.uniform(key_state, (batch,))
    nth = (lots * jnp.minimum(kept.n_states[skill], most)).astype(jnp.int32)
    anyone = tree.growing / jnp.maximum(tree.growing.sum(), 1)
    names = jnp.stack([jax.nn.one_hot(skill, len(weight)), jnp.tile(anyone, (batch, 1))])
    counts = jnp.stack([weight.sum(), ANYWHERE * tree.growing.any()])
    counts = counts / jnp.maximum(counts.sum(), 1e-6) / batch
    logits, pull = form.read(kept.told.params, jnp.concatenate([kept.states[skill, nth], seen]))
    wrong = jax.nn.softmax(_of_tree(tree, logits), axis=1) - names.reshape(logits.shape)
    told = adam.step(form, kept.told, pull(wrong * jnp.repeat(counts, batch)[:, None]), rate)
    return kept._replace(told=told, fits=kept.fits + 1)
