"""What a run writes down of an evaluation: rows of its logs, skills.json, parts of summary.json."""

from __future__ import annotations

from typing import Any

import numpy as np

from apart._config import Config
from apart.training.evaluate import Evaluation
from apart.worlds import observed, tasks
from apart.worlds.exact import random_walk_skills
from apart.worlds.holding import held
from apart.worlds.spread import spread
from apart.worlds.world import JaxWorld, TableWorld, World


def has_detail(evaluation: int) -> bool:
    """A detail is long: kept of evaluations 0, 1, 2, 5, 10, 20, 50, ... (and of the end).

    With the default of 25,000 steps between evaluations, 5M steps is one of them.
    """
    return evaluation == 0 or str(evaluation).rstrip("0") in ("1", "2", "5")


def has_history(evaluation: int) -> bool:
    """Last states are kept of evaluations 0 to 16, then of eight for each doubling (and the end).

    A run of 200 evaluations keeps 45, one of 4,000 some 80; a run that goes on longer keeps the
    same ones.
    """
    return evaluation % (1 << max(evaluation.bit_length() - 4, 0)) == 0


def moment(env_steps: int, evaluation: Evaluation) -> dict[str, Any]:
    """The number of the place in which each skill ends; by chance, of the likeliest."""
    return {"env_steps": env_steps, "last_states": _ends(evaluation).tolist()}


def _ends(evaluation: Evaluation) -> Any:
    """[K] the last state of each skill; by chance, the likeliest."""
    if evaluation.last_states is not None:
        return np.asarray(evaluation.last_states).argmax(axis=0)
    return np.asarray(evaluation.trajectories)[:, -1]


def count(n_effective: float) -> float:
    """A whole number where nothing is left to chance."""
    return int(n_effective) if n_effective.is_integer() else round(n_effective, 3)


def live(evaluation: Evaluation) -> dict[str, Any]:
    """The measures of an evaluation that progress shows."""
    names = ("mean_reward", "discriminator_accuracy")
    return {name: round(float(getattr(evaluation, name)), 6) for name in names}


def random_walk(world: World, config: Config) -> float | None:
    """What chance alone would find; None where that cannot be computed exactly."""
    if not isinstance(world, TableWorld):
        return None
    decided = held(world, config.hold)
    return round(random_walk_skills(decided, config.decisions, config.skills), 2)


def spread_of(world: World, config: Config, evaluation: Evaluation) -> dict[str, Any] | None:
    """How well the last states cover the world; by chance, the likeliest ones.

    Of tables; elsewhere of places of which it is known which are neighbours.
    """
    table = world.cells if isinstance(world, JaxWorld) else world
    if not isinstance(table, TableWorld):
        return None
    if table is world:
        may_end = held(table, config.hold).last_states(config.decisions)
        found = spread(table, config.horizon, _ends(evaluation), config.skills, may_end)
    else:
        found = spread(table, table.n_states, _ends(evaluation), config.skills)
    return {**found._asdict(), "score": round(found.score, 4)}


def task_of(world: World, config: Config, evaluation: Evaluation) -> dict[str, Any] | None:
    """What the episode of each skill earns of the map's task, beside the most; None without one."""
    if not isinstance(world, TableWorld) or world.task is None:
        return None
    returns = tasks.returns(world.task, np.asarray(evaluation.trajectories))
    best = tasks.best_return(world, config.horizon, config.hold)
    return {"returns": returns.tolist(), "mean": round(float(returns.mean()), 4), "best": best}


_SHOWN_ENDS, _LIKELY = 10, 0.005  # likeliest last states of a skill that skills.json lists


def skills_of(world: World, evaluation: Evaluation) -> list[dict[str, Any]]:
    """What skills.json says of each skill."""
    label = world.places.label
    entries, ends_in = [], _ends(evaluation)
    for skill, places in enumerate(np.asarray(evaluation.trajectories, np.int32)):
        path = label(places)
        entry = {
            "trajectory": path,
            "last_state": path[-1],
            "probability": round(float(evaluation.last_probability[skill]), 6),
        }
        if evaluation.last_states is not None:
            chance = np.asarray(evaluation.last_states, np.float64)[:, skill]
            likely = [s for s in np.argsort(-chance)[:_SHOWN_ENDS] if chance[s] >= _LIKELY]
            named = label(np.array(likely, np.int32))
            ends = [
                [place, round(float(chance[s]), 4)] for place, s in zip(named, likely, strict=True)
            ]
            entry |= {"last_state": ends[0][0], "certainty": ends[0][1], "ends": ends}
        if evaluation.positions is not None:
            points = np.asarray(evaluation.positions[skill], np.float64)
            entry["positions"] = np.round(points, 3).tolist()
        if evaluation.last_observations is not None:
            seen = np.asarray(evaluation.last_observations[skill])
            entry["last_observation"] = observed.plain(seen)
        if isinstance(world, TableWorld) and world.observed is not None:
            entry["last_observation"] = world.observed.shown[ends_in[skill]]
        entries.append(entry)
    return entries


def detail(env_steps: int, evaluation: Evaluation) -> dict[str, Any]:
    """Accuracy and visits per step: visits[t] lists [state, number of skills there after t]."""
    states = np.asarray(evaluation.trajectories).T
    visits = [np.unique(row, return_counts=True) for row in states]
    return {
        "env_steps": env_steps,
        "accuracy_per_step": [round(float(x), 4) for x in evaluation.accuracy_per_step],
        "visits_per_step": [np.stack(pair, 1).tolist() for pair in visits],
    }
