"""What the user says of a world behind its kind: ``NAME:key=value,key=value``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apart._errors import UserError, nearest, unknown


def split(kind: str, text: str, defaults: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Name and options, those that were not said at their ``defaults``; whole numbers are numbers.

    Raises:
        UserError: a key that is none of them, or one that is said twice.
    """
    name, _, words = text.partition(":")
    said: dict[str, Any] = {}
    for pair in filter(None, words.split(",")):
        key, _, value = pair.partition("=")
        if key not in defaults:
            raise UserError(f"{kind}:{text}: {unknown('key', key, defaults)}")
        if key in said:
            raise UserError(f"{kind}:{text}: '{key}' is given twice")
        said[key] = int(value) if value.isdecimal() and len(value) < 10 else value
    return name, {**defaults, **said}


def certain(kind: str, name: str, slip: float) -> None:
    """`UserError` where a map's ``--slip`` is asked of another world."""
    if slip:
        raise UserError(f"--slip is for maps only; {kind}:{name} has its own dynamics")


def missing(kind: str, name: str) -> UserError:
    """For a package that is not installed."""
    return UserError(
        f"{kind}:{name} needs the package {kind}: pip install '.[{kind}]' in the checkout of apart"
    )


def no_id(kind: str, name: str, ids: list[str]) -> UserError:
    """For an id that the package does not have; there may be too many to list them."""
    hint = nearest(name, ids) or f"; it has {', '.join(sorted(ids)[:3])}, ..."
    return UserError(f"{kind}: no world '{name}'{hint}")
