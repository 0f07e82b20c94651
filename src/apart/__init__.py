"""apart: discover, without any reward, all the different things an agent can do in a world.

The names here are the public door; they are imported when first used, so that ``import apart``
is quick and does not start JAX.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from apart._errors import NonFinite, RunInterrupted, UserError
from apart._version import __version__

if TYPE_CHECKING:
    from apart.methods import METHODS as methods
    from apart.running.run import resume, train
    from apart.running.seeds import resume_seeds, train_seeds
    from apart.runs.folder import Run, Skill, load
    from apart.worlds.grid import World
    from apart.worlds.grid import parse as parse_map
    from apart.worlds.layouts import LAYOUTS as worlds

_PLACES = {
    "Run": ("apart.runs.folder", "Run"),
    "Skill": ("apart.runs.folder", "Skill"),
    "World": ("apart.worlds.grid", "World"),
    "load": ("apart.runs.folder", "load"),
    "methods": ("apart.methods", "METHODS"),
    "parse_map": ("apart.worlds.grid", "parse"),
    "resume": ("apart.running.run", "resume"),
    "resume_seeds": ("apart.running.seeds", "resume_seeds"),
    "train": ("apart.running.run", "train"),
    "train_seeds": ("apart.running.seeds", "train_seeds"),
    "worlds": ("apart.worlds.layouts", "LAYOUTS"),
}

__all__ = [
    "NonFinite",
    "Run",
    "RunInterrupted",
    "Skill",
    "UserError",
    "World",
    "__version__",
    "load",
    "methods",
    "parse_map",
    "resume",
    "resume_seeds",
    "train",
    "train_seeds",
    "worlds",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'apart' has no attribute '{name}'")
    import importlib

    module, attribute = _PLACES[name]
    return getattr(importlib.import_module(module), attribute)


def __dir__() -> list[str]:
    return __all__
