"""Time weights W(t): how much the reward of step t of T counts.

A weight multiplies the reward, or, under dropout, is the probability that the reward is kept
(else it is 0). To add one, write a function and one line in ``TIME_WEIGHTS``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from apart._lazy import jnp
from apart._registry import Registry
from apart._types import Array


@dataclass(frozen=True)
class TimeWeight:
    """How much step t counts.

    Attributes:
        summary: one line for people.
        weight: W(x) with x = t / T in (0, 1].
        ascends: whether it grows with t; under dropout it is then the probability of the reward.
        only_last: whether it is 0 before the last step, so that dropout would change nothing.
    """

    summary: str
    weight: Callable[[Array], Array]
    ascends: bool = True
    only_last: bool = False


TIME_WEIGHTS: Final = Registry(
    "time weight",
    {
        "all": TimeWeight("1 (DIAYN)", lambda x: jnp.ones_like(x), ascends=False),
        "last": TimeWeight(
            "1 at t = T, else 0 (VIC)", lambda x: jnp.where(x >= 1.0, 1.0, 0.0), only_last=True
        ),
        "linear": TimeWeight("t / T", lambda x: x),
        "square": TimeWeight("(t / T)^2 (APART)", lambda x: x**2),
        "fourth": TimeWeight("(t / T)^4", lambda x: x**4),
        "exponential": TimeWeight("exp(5 t / T - 5)", lambda x: jnp.exp(5.0 * x - 5.0)),
    },
)


def reward_factor(weight: TimeWeight, dropout: bool, x: Array, u: Array, keep: Array) -> Array:
    """The factor on the reward of a step: W(x), or 0 and 1 by dropout.

    Args:
        weight: a record of ``TIME_WEIGHTS``.
        dropout: draw 0 or 1 instead of multiplying by W (equation 8 of the paper).
        x: t / T in (0, 1] for step t of T; 1 where the episode ended early.
        u: uniform in [0, 1), fresh for every sample; unused without dropout.
        keep: what dropout keeps where W does not ascend: the paper's then has no probability.
    """
    if dropout:
        return jnp.where(u < (weight.weight(x) if weight.ascends else keep), 1.0, 0.0)
    return weight.weight(x)
