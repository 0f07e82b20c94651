"""Objectives, compiled: one file each. `objective.objectives` has their names and facts."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from apart.objective.objectives import OBJECTIVES
from apart.training.objectives.contract import Given, Objective


def build(given: Given) -> Objective:
    """The objective that the configuration names."""
    module = OBJECTIVES[given.p.config.objective].module
    made: Callable[[Given], Objective] = importlib.import_module(module).build
    return made(given)
