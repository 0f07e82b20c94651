"""Methods and rewards of one's own."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Unpack

from apart._config import SPECS, Options, check_value, unknown_option
from apart._errors import UserError, unknown
from apart.checks import check_names
from apart.door.errors import in_python
from apart.methods import METHODS, Method
from apart.objective.discriminators import DISCRIMINATORS
from apart.objective.rewards import REWARDS, Reward

if TYPE_CHECKING:
    from apart._types import Array


def register_method(
    name: str, summary: str, *, like: str | None = None, **options: Unpack[Options]
) -> None:
    """Make a method of your own known by ``name``: options on top of those of another method.

    >>> register_method("far", "DIAYN with long episodes", like="diayn",
    ...                 horizon=100)  # doctest: +SKIP

    Args:
        name: for ``method=`` and ``--method``.
        summary: one line for people.
        like: the method of whose options it has all others; without it the defaults of all options.
        options: in which it differs.
    """
    with in_python():
        given: dict[str, Any] = {**options}
        for key, value in given.items():
            if key == "method":
                raise UserError(f"method={value!r}: write like={value!r}")
            if key not in SPECS:
                raise unknown_option(key, key)
            if key == "seed":
                raise UserError("seed belongs to a run, not to a method; give it to apart.train")
        checked = {key: check_value(key, value) for key, value in given.items()}
        check_names(checked)
        base = Method(summary) if like is None else METHODS.named(like)
        METHODS.register(name, _changed(base, summary, checked))


def _changed(base: Method, summary: str, options: Mapping[str, Any]) -> Method:
    """``base`` with other ``options``, in tables and elsewhere."""
    in_tables, elsewhere = (
        dataclasses.replace(record, summary=summary, options={**record.options, **options})
        for record in (base, base.elsewhere)
    )
    return dataclasses.replace(in_tables, beyond=elsewhere)


def register_reward(
    name: str, summary: str, rewards: Callable[[Array, Array], Array], reads: str = "logits"
) -> None:
    """Make an intrinsic reward of your own known by ``name``.

    Args:
        name: for ``reward=`` and ``--reward``.
        summary: one line for people.
        rewards: (numbers of ONE state, sharpness) -> [K] the reward of every skill there, in JAX.
        reads: ``logits`` [K] of one-vs-all, ``pairs`` (the folded logits [R, C] of all pairs, which
            `apart.pairs` reduces to [K]), or ``counts`` [K] of last states.
    """
    with in_python():
        given = {record.gives for record in DISCRIMINATORS.values()}
        if reads not in given:
            raise unknown("input of a reward", str(reads), given)
        if not callable(rewards):
            raise UserError(
                f"reward {name!r}: {rewards!r} is not a function; give a function of (numbers of "
                "one state, sharpness)"
            )
        REWARDS.register(name, Reward(summary, rewards, reads))
