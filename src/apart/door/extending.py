"""Methods and rewards of one's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Unpack

from apart._config import SPECS, Options, check_value, unknown_option
from apart._errors import UserError, unknown
from apart.checks import check_names
from apart.door.errors import in_python
from apart.methods import METHODS, Method
from apart.objective.discriminators import DISCRIMINATORS
from apart.objective.rewards import REWARDS, Reward

if TYPE_CHECKING:
    from apart._types import Array


def register_method(name: str, summary: str, **options: Unpack[Options]) -> None:
    """Make a method of your own known by ``name``: options on top of the defaults.

    >>> register_method("far", "DIAYN with long episodes", reward="log_posterior",
    ...                 discriminator="one_vs_all", horizon=100)  # doctest: +SKIP
    """
    with in_python():
        checked = {key: check_value(key, value) for key, value in options.items() if key in SPECS}
        if len(checked) < len(options):
            name = next(key for key in options if key not in SPECS)
            raise unknown_option(name, name)
        check_names(checked)
        METHODS.register(name, Method(summary, checked))


def register_reward(
    name: str, summary: str, rewards: Callable[[Array, Array], Array], reads: str = "logits"
) -> None:
    """Make an intrinsic reward of your own known by ``name``.

    Args:
        name: for ``reward=`` and ``--reward``.
        summary: one line for people.
        rewards: (numbers of ONE state, sharpness) -> [K] the reward of every skill there, in JAX.
        reads: ``logits`` [K] of one-vs-all, ``pairs`` (the folded logits of all pairs), or
            ``counts`` [K] of last states.
    """
    with in_python():
        given = {record.gives for record in DISCRIMINATORS.values()}
        if reads not in given:
            raise unknown("kind of numbers", str(reads), given)
        if not callable(rewards):
            raise UserError(
                f"reward {name!r}: {rewards!r} is no function; give one of (numbers of one state, "
                "sharpness)"
            )
        REWARDS.register(name, Reward(summary, rewards, reads))
