"""The tables and figures of the paper, one file each.

A file of this folder whose name has no leading underscore holds ``EXPERIMENT``; its name is the
experiment's id. There is no central list: a new file is found.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache

from apart._errors import unknown
from apart.paper._spec import Experiment


def names() -> list[str]:
    """The ids of all experiments."""
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


@lru_cache(maxsize=64)
def experiment(name: str) -> Experiment:
    """The experiment with this id; `UserError` with the nearest one otherwise."""
    if name not in names():
        raise unknown("experiment", name, names())
    module = importlib.import_module(f"{__name__}.{name}")
    found: Experiment = module.EXPERIMENT
    return found


__all__ = ["Experiment", "experiment", "names"]
