"""The policies of runs on the explorer page, as far as there is room for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from apart._errors import UserError
from apart.report import page_places
from apart.report.page_groups import first_seeds_first
from apart.report.page_numbers import Json, packed, short
from apart.runs.folder import Run

if TYPE_CHECKING:
    from apart.skills.policies import Policies

Reader = Callable[[Run], "Policies | None"]
_MOST_POLICIES: Final = 1_300_000  # characters of all policies together


def add_policies(
    runs: Sequence[Run], entries: Sequence[Json], groups: Sequence[Json], policies_of: Reader
) -> None:
    """Policies take most of the room: of the first seeds first, until it is used up."""
    left = _MOST_POLICIES
    for i in first_seeds_first([group["runs"] for group in groups]):
        if left <= 0:
            entries[i]["policy_note"] = _LEFT_OUT
            continue
        try:
            found = policies_of(runs[i])
        except UserError as error:
            entries[i]["policy_note"] = str(error)
            continue
        if found is None or len(found.action) > page_places.MOST_LISTED:
            continue  # the states are not known, or too many: the page has no such part
        policy = _policy(found)
        size = len(json.dumps(policy))
        if size > left:
            entries[i]["policy_note"] = _LEFT_OUT
        else:
            entries[i]["policy"] = policy
            left -= size


_LEFT_OUT: Final = (
    "Left out to keep the page small; write a page of this run alone to see what its policies do "
    "elsewhere."
)


def _policy(found: Policies) -> Json:
    low, high = float(found.reward.min()), float(found.reward.max())
    scale = 255 / (high - low) if high > low else 0.0
    n_skills = found.action.shape[1]
    wide = "uint8" if n_skills <= 256 else "uint16"
    chains = {}
    if found.acts is not None:  # who decides at each decision; K: it is over
        chains["acts"] = packed(np.where(found.acts < 0, n_skills, found.acts), "uint16")
    return {
        **chains,
        "heading": found.heading,
        "action": packed(found.action, "uint8" if found.action.max() < 256 else "uint16"),
        "posterior": packed(np.rint(255 * found.posterior), "uint8"),
        "reward": packed(np.rint((found.reward - low) * scale), "uint8"),
        "reward_range": [short(low), short(high)],
        "rival": packed(found.rival, wide),
    }
