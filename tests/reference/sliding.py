"""A slow, obvious walk among walls: segments in float64, the earliest one met stops what is normal
to it, the rest goes on. Shares no code with the package.
"""

from __future__ import annotations

import numpy as np


def slide(walls, position, delta):
    """Where a move by ``delta`` ends, and how near it came to the end of a wall before it slid."""
    at, left = np.array(position, np.float64), np.array(delta, np.float64)
    closest = np.inf
    while True:
        hits = []
        for wall in walls:
            axis = 0 if wall[0][0] == wall[1][0] else 1  # the direction that it is normal to
            line, (low, high) = wall[0][axis], sorted(end[1 - axis] for end in wall)
            before, after = at[axis], at[axis] + left[axis]
            if not (before < line < after or after < line < before):
                continue
            share = (line - before) / left[axis]
            along = at[1 - axis] + share * left[1 - axis]
            if left.all():
                closest = min(closest, abs(along - low), abs(along - high))
            if low <= along <= high:
                hits.append((share, axis))
        if not hits:
            return at + left, closest
        share, axis = min(hits)
        # A hair before the wall: what lies behind it is not met.
        at = at + share * left
        at[axis] -= 1e-9 * np.sign(left[axis])
        left = (1 - share) * left
        left[axis] = 0.0
