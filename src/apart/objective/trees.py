"""A tree of skills (UPSIDE, Kamienny et al. 2022, Algorithm 1): who is kept, who grows, from where.

Skills grow at one node at a time, where a kept skill ends or in the start. While all that grow
there are told apart, one more is added; when they long were not, the worst goes (at first) or all
that are not told apart go (after one was added). Then those that are told apart are kept for good,
and the kept skill that is told apart best and was not tried is the next node.

A skill is the chain of those that lead to it: each decides for one part of an episode.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from apart._lazy import jax, jnp
from apart._types import Array
from apart.objective.diffusion import KEPT

FIRST: Final = 4  # skills that begin to grow at a node
MOST: Final = 8  # that grow at one
PATIENCE: Final = 8  # looks without all being told apart before something goes
_START: Final = -1  # the node that is no skill
_BEGINNING, _ADDING, _REMOVING = 0, 1, 2


class Tree(NamedTuple):
    """Of K skills."""

    kept: Array  # [K] bool for good
    growing: Array  # [K] bool at the node
    tried: Array  # [K] bool: was a node
    parent: Array  # [K] int32 the skill that leads to it; -1: none, it begins in the start
    depth: Array  # [K] int32 parts to its end; 0: not in use
    node: Array  # [] int32 where skills grow; -1: in the start
    phase: Array  # [] int32 at the node: 0 at first, 1 after skills were added, 2 after some went
    waited: Array  # [] int32 looks since then


def init(n_skills: int) -> Tree:
    """The first skills grow in the start."""
    none = jnp.zeros(n_skills, bool)
    nobody, zero = jnp.full(n_skills, _START, jnp.int32), jnp.int32(0)
    empty = Tree(
        none, none, none, nobody, jnp.zeros(n_skills, jnp.int32), jnp.int32(_START), zero, zero
    )
    return _planted(empty, jnp.int32(_START), FIRST)


def looked(tree: Tree, quality: Array, deepest: int, again: bool = False) -> Tree:
    """``tree`` after a look at the mean posterior ``quality`` [K] of each skill.

    Args:
        tree: before it.
        quality: [K].
        deepest: a chain has at most so many skills.
        again: whether nodes are tried once more when all were, for as long as there is training.
    """
    good = ~tree.growing | (quality >= KEPT)
    n, late = tree.growing.sum(), tree.waited >= PATIENCE
    room = (n < MOST) & ~(tree.kept | tree.growing).all()
    adds = good.all() & (tree.phase != _REMOVING) & room & (n > 0)
    drops = ~good.all() & late & (tree.phase != _ADDING) & (n > 1)
    ends = ~adds & ~drops & (good.all() | late) & (n > 0)
    worst = jnp.argmin(jnp.where(tree.growing, quality, jnp.inf))
    branch = jnp.where(adds, 1, jnp.where(drops, 2, jnp.where(ends, 3, 0)))
    waits = tree._replace(waited=tree.waited + 1)
    branches = (
        lambda: waits,
        lambda: _planted(tree, tree.node, 1)._replace(phase=jnp.int32(_ADDING)),
        lambda: _without(tree, jnp.arange(good.shape[0]) == worst)._replace(
            phase=jnp.int32(_REMOVING), waited=jnp.int32(0)
        ),
        lambda: _next(_without(tree, ~good), quality, deepest, again),
    )
    found: Tree = jax.lax.switch(branch, branches)
    return found


def _planted(tree: Tree, node: Array, n: int) -> Tree:
    """``tree`` with ``n`` skills more (as many as there are) that grow at ``node``."""
    free = ~(tree.kept | tree.growing)
    new = free & (jnp.cumsum(free) <= n)
    depth = jnp.where(node < 0, 0, tree.depth[node]) + 1
    return tree._replace(
        growing=tree.growing | new,
        parent=jnp.where(new, node, tree.parent),
        depth=jnp.where(new, depth, tree.depth),
        node=jnp.asarray(node, jnp.int32),
        waited=jnp.int32(0),
    )


def _without(tree: Tree, gone: Array) -> Tree:
    """``tree`` without those of the growing skills that are ``gone`` [K]."""
    gone = gone & tree.growing
    return tree._replace(
        growing=tree.growing & ~gone,
        parent=jnp.where(gone, _START, tree.parent),
        depth=jnp.where(gone, 0, tree.depth),
    )


def _next(tree: Tree, quality: Array, deepest: int, again: bool) -> Tree:
    """``tree`` with what grew kept, and the next node, if there is one and room to grow."""
    kept = tree.kept | tree.growing
    tried = tree.tried | (jnp.arange(kept.shape[0]) == tree.node)
    if again:
        tried = tried & (kept & ~tried & (tree.depth < deepest)).any()
    tree = tree._replace(
        kept=kept,
        growing=jnp.zeros_like(kept),
        tried=tried,
        phase=jnp.int32(_BEGINNING),
        waited=jnp.int32(0),
    )
    open_ = kept & ~tried & (tree.depth < deepest)
    best = jnp.argmax(jnp.where(open_, quality, -jnp.inf)).astype(jnp.int32)
    anew = jnp.asarray(again) & ~kept.any()  # at the start, where nobody could be kept
    goes_on = (open_.any() | anew) & ~kept.all()
    grown = _planted(tree, jnp.where(anew, _START, best), FIRST)
    found: Tree = jax.tree.map(lambda a, b: jnp.where(goes_on, a, b), grown, tree)
    return found


def begun(before: Tree, after: Tree) -> Array:
    """[K] bool the skills that began to grow with the look that made ``after`` of ``before``.

    A number that fell out may be among them, also at the node where it grew.
    """
    went_on = (after.node == before.node) & ((after.phase != _BEGINNING) | (after.waited > 0))
    return after.growing & ~(before.growing & went_on)


def drawn(tree: Tree) -> Array:
    """[K] bool the skills that episodes are made of: those that grow; at the end all found."""
    return jnp.where(tree.growing.any(), tree.growing, found_skills(tree))


def found_skills(tree: Tree) -> Array:
    """[K] bool the skills that are kept; the first where there are none."""
    return jnp.where(tree.kept.any(), tree.kept, jnp.arange(tree.kept.shape[0]) == 0)


def chains(tree: Tree, part: int, decisions: int) -> Array:
    """[K, T] int32 who decides at each of T ``decisions`` of an episode; -1 once it is over.

    Those that lead to a skill decide in turn, for ``part`` decisions each, then the skill itself.
    """
    skills = jnp.arange(tree.kept.shape[0], dtype=jnp.int32)
    parts = decisions // part
    order, now = jnp.full((len(skills), parts), -1, jnp.int32), skills
    for _ in range(parts):
        level = jnp.where(now < 0, 0, tree.depth[now]) - 1
        column = jnp.where(level < 0, parts, level)  # out of the array: nobody
        order = order.at[skills, column].set(now, mode="drop")
        now = jnp.where(level < 0, -1, tree.parent[now])
    acts = jnp.repeat(order, part, axis=1)
    return jnp.pad(acts, ((0, 0), (0, decisions - parts * part)), constant_values=-1)
