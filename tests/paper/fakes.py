"""Records and results such as runs could leave."""

from __future__ import annotations

import dataclasses

from apart.paper._spec import Condition, Record, Results
from apart.settings import resolve

COLUMNS = {
    "mean_last_reward": [0.0, 0.5, 0.7],
    "information_count": [1.0, 2.0, 2.0],
    "discriminator_accuracy": [0.0, 0.2, 0.3],
}


def fake(condition, seed, n_effective=40, keeps=()):
    """A record such as a run of this condition could leave, with what is kept and no more."""
    config, world = resolve(condition.world, condition.method, dict(condition.options))
    horizon, n = config.horizon, world.n_available(config.horizon)
    detail = {
        "env_steps": 0,
        "accuracy_per_step": [0.4] * horizon,
        "most_at_once": [(world.start, 100), (3, 5)],
    }
    found = min(n_effective + seed, n)
    curve = {
        "env_steps": [0.0, 1e6, 5e6],
        "n_effective": [1.0, float(found), float(found)],
        **{name: column for name, column in COLUMNS.items() if name in keeps},
    }
    skills = [[world.start] * horizon + [k % n] for k in range(config.skills)]
    details = [detail] * 3 if "details" in keeps else ()
    episodes = skills if "skills" in keeps and seed == 0 else ()
    return Record(seed, found, n, 20.0, 5_000_000, 9.0, curve, details, episodes)


def results_of(**scores):
    runs = {}
    for label, values in scores.items():
        base = fake(Condition(label, "diayn"), 0)
        runs[label] = [dataclasses.replace(base, n_effective=v) for v in values]
    return Results(runs, 5_000_000)


def over_steps(*curves):
    """Records of these skills at 1M, 2M, ... steps."""
    base = fake(Condition("a", "apart"), 0)
    return [
        dataclasses.replace(
            base,
            curve={"env_steps": [1e6 * (i + 1) for i in range(len(c))], "n_effective": list(c)},
            n_effective=c[-1],
        )
        for c in curves
    ]
