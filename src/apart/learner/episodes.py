"""What collecting gives and learning takes: whole episodes, and transitions sampled from them."""

from __future__ import annotations

from typing import NamedTuple

from apart._types import Array, Obs


class Episodes(NamedTuple):
    """E episodes of at most T decisions; s' of decision t is row t + 1. Observations stay opaque.

    Places and positions are those of every environment step: N T + 1 where a decision is held for
    N of them.
    """

    obs: Obs  # [E, T + 1, ...]; after the end of an episode its last one
    action: Array  # [E, T] int32, of M heads [E, T, M]
    skill: Array  # [E] int32
    alive: Array | None = None  # [E, T] bool: the step was taken; None: all were
    terminated: Array | None = None  # [E, T] bool: the world ended it there; None: never
    place: Array | None = None  # [E, N T + 1] int32 the places, where observations do not tell
    position: Array | None = None  # [E, N T + 1, 2] on the plane of a world that has one
    steps: Array | None = None  # [E] int32 environment steps made; None: all N T of them

    def without_places(self) -> Episodes:
        """What a learner sees."""
        return self._replace(place=None, position=None, steps=None)

    def with_places(self) -> Episodes:
        """The same where it sees places too: those of observations, [E, T + 1]."""
        assert self.place is not None
        hold = (self.place.shape[1] - 1) // self.action.shape[1]
        return self._replace(place=self.place[:, ::hold], position=None, steps=None)


class Batch(NamedTuple):
    """Sampled transitions; every field is [B] or [B, ...]."""

    obs: Obs
    action: Array
    next_obs: Obs
    skill: Array
    time: Array  # t / T in (0, 1]; 1 where the episode ended
    last: Array  # bool: the episode ended with it
    terminated: Array | None  # bool: because of where it came to, not because of the clock
    cut: Array | None = None  # bool: by the world's own clock, before ours: it would have gone on
    path: Obs | None = None  # [B, T + 1, ...] the whole episode, where the replay was asked for it
    place: Array | None = None  # [B, 2] int32 before and after, where the replay was asked for them


class Sampled(NamedTuple):
    """A batch, and what decides of its rewards and targets."""

    batch: Batch
    weight: Array  # [B] on the reward: time weight, or 0 and 1 by dropout
    proceeds: Array  # [B] 1 where Q of the next state counts, else 0
