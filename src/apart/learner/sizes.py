"""How much is kept, for whoever asks before it is. No JAX."""

from __future__ import annotations

from typing import Final

_PER_SKILL: Final = 8  # points in the memory for each skill, 1,024 at least
_LEAST: Final = 1024


def points_for(n_skills: int) -> int:
    """M, the points that `learner.points` keeps for so many skills."""
    return max(_LEAST, _PER_SKILL * n_skills)
