"""The tables and figures of the paper as data: conditions to train, claims to check, a picture.

A module of this folder whose name has no leading underscore holds ``EXPERIMENTS``, by id. There is
no central list: a new module is found.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

from apart._errors import unknown
from apart.paper._spec import Experiment


@cache
def _found() -> Mapping[str, Experiment]:
    found: dict[str, Experiment] = {}
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            found |= importlib.import_module(f"{__name__}.{module.name}").EXPERIMENTS
    return dict(sorted(found.items()))


def names() -> list[str]:
    """The ids of all experiments."""
    return list(_found())


def experiment(name: str) -> Experiment:
    """The experiment with this id; `UserError` with the nearest one otherwise."""
    if name not in _found():
        raise unknown("experiment", name, names())
    return _found()[name]


__all__ = ["Experiment", "experiment", "names"]
