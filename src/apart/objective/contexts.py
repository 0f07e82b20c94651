"""Contexts: what of a transition a discriminator sees, and from which steps it learns.

A context looks at a transition through ``see``; observations stay opaque. To add one, write a
function and one line in ``CONTEXTS``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from apart._registry import Registry
from apart._types import Obs


class Moved(NamedTuple):
    """The observations of some transitions."""

    before: Obs
    after: Obs
    path: Obs | None = None  # [n, T + 1, ...] the whole episode of each, for objectives that ask


@dataclass(frozen=True)
class Context:
    """What a discriminator, and so a reward, is about.

    Attributes:
        summary: one line for people.
        see: transitions -> the observations that are judged.
        after: whether that is the state after the action: then all moves into a state are
            judged alike.
        only_last: whether the discriminator learns from the last step of an episode only.
    """

    summary: str
    see: Callable[[Moved], Obs]
    after: bool
    only_last: bool = False


CONTEXTS: Final = Registry(
    "context",
    {
        "next": Context("the state after the action", lambda moved: moved.after, after=True),
        "current": Context("the state before the action", lambda moved: moved.before, after=False),
        "last": Context(
            "the state after the action; the discriminator is trained on last states only",
            lambda moved: moved.after,
            after=True,
            only_last=True,
        ),
    },
)
