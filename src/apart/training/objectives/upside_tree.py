"""UPSIDE (Kamienny et al. 2022) in a table: a tree of short skills that lead to random walks.

A skill goes somewhere for a part of an episode and then walks at random; a classifier is to name it
from the states of that walk. Skills that can be named are kept and new ones grow from where they
end (`objective.trees`), so that far places are reached by chains. Walks and classifier are exact,
on the graph of known transitions: what is kept of a skill is where its own part lately ended, from
which follows where its walk spends time. Its reward in a state is the mean posterior over a walk
from there, in states that its part can come to.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from apart._types import Array, Key, Obs
from apart.learner.ends import Graph
from apart.objective import diffusion, trees
from apart.objective.near_optimal import remembered
from apart.objective.trees import Tree
from apart.training.objectives.contract import Given, Met, Objective, of_one_state
from apart.training.state import Hyper

EVERY = 16  # rounds between two looks at the graph and at the skills
PARTS = 10  # of an episode: a skill's own part has T / this decisions
WALK = 2  # its walk has those / this


class Grown(NamedTuple):
    """What is kept."""

    tree: Tree
    ends: Array  # [K, S] running shares of the states in which its own part ends
    walks: Array  # [S, S] where a walk from each state spends its time
    within: Array  # [S] bool the states that a part from the node can come to
    key: Array  # [2] uint32 of where new skills begin


def build(given: Given) -> Objective:
    """UPSIDE in a table whose known transitions are kept."""
    n_states, c = given.counted, given.p.config
    part = max(c.decisions // PARTS, 1)
    deepest = max(c.decisions // part - 1, 1)  # the last walk is a part, too
    assert n_states is not None
    begins = diffusion.begins(given.starts, n_states)

    def init(key: Key, hyper: Hyper) -> Grown:
        return Grown(
            trees.init(c.skills),
            jnp.tile(begins, (c.skills, 1)),
            jnp.eye(n_states),
            begins > 0,
            jax.random.key_data(key),
        )

    def of_states(kept: Grown, obs: Obs | None, hyper: Hyper) -> Array:
        mean = kept.walks @ posterior(kept)
        found = jnp.where(kept.tree.kept | kept.within[:, None], mean, 0.0)
        return found if obs is None else found[obs]

    def scores(kept: Grown, obs: Obs | None, hyper: Hyper) -> Array:
        told = jnp.log(posterior(kept) + 1e-6)
        return told if obs is None else told[obs]

    def meet(kept: Grown, met: Met, hyper: Hyper) -> Grown:
        skill = met.episodes.skill
        at = met.episodes.obs[jnp.arange(len(skill)), kept.tree.depth[skill] * part]
        ends = remembered(kept.ends, skill, jax.nn.one_hot(at, n_states))
        kept = kept._replace(ends=jnp.where(kept.tree.growing[:, None], ends, kept.ends))
        graph = met.graph
        assert graph is not None
        looks = met.rounds % EVERY == 0
        looked: Grown = jax.lax.cond(
            looks, lambda: _looked(kept, graph(), begins, part, deepest, met.rounds), lambda: kept
        )
        return looked

    return Objective(
        init,
        of_one_state(of_states, after=True),
        scores,
        of_states,
        meet=meet,
        active=lambda kept: trees.drawn(kept.tree),
        used=lambda kept: trees.found_skills(kept.tree),
        learns=lambda kept: kept.tree.growing,
        acts=lambda kept: trees.chains(kept.tree, part, c.decisions),
    )


def posterior(kept: Grown) -> Array:
    """[S, K] q(z | s) in the diffusing part of an episode."""
    return diffusion.told(kept.ends @ kept.walks, kept.tree.kept, kept.tree.growing)


def quality(kept: Grown) -> Array:
    """[K] the mean posterior of each skill over its own walk."""
    found: Array = ((kept.ends @ kept.walks) * posterior(kept).T).sum(axis=1)
    return found


def _looked(
    kept: Grown, graph: Graph, begins: Array, part: int, deepest: int, rounds: Array
) -> Grown:
    """``kept`` after a look at the ``graph`` and at the skills."""
    n_skills, n_states = kept.ends.shape
    ways = (graph.source, graph.target, graph.seen)
    kept = kept._replace(walks=diffusion.walks(*ways, n_states, max(part // WALK, 1)))
    tree = trees.looked(kept.tree, quality(kept), deepest)
    end = jnp.arange(n_states) == jnp.argmax(kept.ends[tree.node])
    within = diffusion.reach(*ways, jnp.where(tree.node < 0, begins > 0, end), part)
    key = jax.random.fold_in(jax.random.wrap_key_data(kept.key), rounds)
    new = trees.begun(kept.tree, tree)
    lots = jax.random.uniform(key, (n_skills, n_states)) * within
    begun = jax.nn.one_hot(jnp.argmax(lots, axis=1), n_states)
    return kept._replace(tree=tree, ends=jnp.where(new[:, None], begun, kept.ends), within=within)
