"""apart: unsupervised skill discovery; all the different things an agent can do in a world.

The names here are the public door; they are imported when first used, so that ``import apart``
is quick and does not start JAX.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from apart._errors import NonFinite, RunInterrupted, UserError
from apart._version import __version__

if TYPE_CHECKING:
    from apart.comparison.show import Comparison
    from apart.door.environments import make_env, skill_env
    from apart.door.extending import register_method, register_reward
    from apart.door.showing import draw, export, write_page
    from apart.door.studies import check, compare, sweep
    from apart.door.training import load, resume, train
    from apart.methods import METHODS
    from apart.objective import pairs
    from apart.runs.folder import Run, RunSet
    from apart.runs.skills import Skill, Skills
    from apart.worlds import WORLDS
    from apart.worlds import register as register_world
    from apart.worlds.grid import parse as parse_map
    from apart.worlds.hosts import gym_world
    from apart.worlds.search import table_of
    from apart.worlds.world import HostWorld, JaxWorld, TableWorld

# No name here is also that of a module in this folder: importing that would take the name's place.
# Without an attribute the name is a module itself.
_PLACES = {
    "Comparison": ("apart.comparison.show", "Comparison"),
    "HostWorld": ("apart.worlds.world", "HostWorld"),
    "JaxWorld": ("apart.worlds.world", "JaxWorld"),
    "METHODS": ("apart.methods", "METHODS"),
    "Run": ("apart.runs.folder", "Run"),
    "RunSet": ("apart.runs.folder", "RunSet"),
    "Skill": ("apart.runs.skills", "Skill"),
    "Skills": ("apart.runs.skills", "Skills"),
    "TableWorld": ("apart.worlds.world", "TableWorld"),
    "WORLDS": ("apart.worlds", "WORLDS"),
    "check": ("apart.door.studies", "check"),
    "compare": ("apart.door.studies", "compare"),
    "draw": ("apart.door.showing", "draw"),
    "export": ("apart.door.showing", "export"),
    "gym_world": ("apart.worlds.hosts", "gym_world"),
    "load": ("apart.door.training", "load"),
    "make_env": ("apart.door.environments", "make_env"),
    "pairs": ("apart.objective.pairs", None),
    "parse_map": ("apart.worlds.grid", "parse"),
    "register_method": ("apart.door.extending", "register_method"),
    "register_reward": ("apart.door.extending", "register_reward"),
    "register_world": ("apart.worlds", "register"),
    "resume": ("apart.door.training", "resume"),
    "skill_env": ("apart.door.environments", "skill_env"),
    "sweep": ("apart.door.studies", "sweep"),
    "table_of": ("apart.worlds.search", "table_of"),
    "train": ("apart.door.training", "train"),
    "write_page": ("apart.door.showing", "write_page"),
}

__all__ = [
    "METHODS",
    "WORLDS",
    "Comparison",
    "HostWorld",
    "JaxWorld",
    "NonFinite",
    "Run",
    "RunInterrupted",
    "RunSet",
    "Skill",
    "Skills",
    "TableWorld",
    "UserError",
    "__version__",
    "check",
    "compare",
    "draw",
    "export",
    "gym_world",
    "load",
    "make_env",
    "pairs",
    "parse_map",
    "register_method",
    "register_reward",
    "register_world",
    "resume",
    "skill_env",
    "sweep",
    "table_of",
    "train",
    "write_page",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'apart' has no attribute '{name}'")
    import importlib

    place, attribute = _PLACES[name]
    module = importlib.import_module(place)
    return module if attribute is None else getattr(module, attribute)


def __dir__() -> list[str]:
    return __all__
