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
    """``weight(x)`` with x = t / T in (0, 1]; ``keep(x)`` is the probability used by dropout.

    ``only_last`` weights are 0 before the last step, so that dropout would change nothing.
    """

    summary: str
    weight: Callable[[Array], Array]
    keep: Callable[[Array], Array]
    only_last: bool = False


def _same(summary: str, weight: Callable[[Array], Array], only_last: bool = False) -> TimeWeight:
    return TimeWeight(summary, weight, weight, only_last)


TIME_WEIGHTS: Final = Registry(
    "time weight",
    {
        # Without an ascending weight the paper's dropout has no probability of its own: 1/2.
        "all": TimeWeight("1 (DIAYN)", lambda x: jnp.ones_like(x), lambda x: jnp.full_like(x, 0.5)),
        "last": _same("1 at t = T, else 0 (VIC)", lambda x: jnp.where(x >= 1.0, 1.0, 0.0), True),
        "linear": _same("t / T", lambda x: x),
        "square": _same("(t / T)^2 (APART)", lambda x: x**2),
        "fourth": _same("(t / T)^4", lambda x: x**4),
        "exponential": _same("exp(5 t / T - 5)", lambda x: jnp.exp(5.0 * x - 5.0)),
    },
)


def reward_factor(weight: TimeWeight, dropout: bool, x: Array, u: Array) -> Array:
    """The factor on the reward of a step: W(x), or kept with probability W(x).

    Args:
        weight: a record of ``TIME_WEIGHTS``.
        dropout: draw 0 or 1 instead of multiplying by W (equation 8 of the paper).
        x: t / T in (0, 1] for step t of T; 1 where the episode ended early.
        u: uniform in [0, 1), fresh for every sample; unused without dropout.
    """
    if dropout:
        return jnp.where(u < weight.keep(x), 1.0, 0.0)
    return weight.weight(x)
