"""An unfinished run as its newest checkpoint has it: evaluated in memory, nothing is written."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

import jax
import jax.numpy as jnp

from apart._config import Config
from apart._errors import UserError
from apart.running import cache, records
from apart.running.run import last_state, random_walk
from apart.runs import checkpoint, plan
from apart.runs import folder as run_folder
from apart.runs.checkpoint import Saved
from apart.runs.folder import Evaluated, Run
from apart.runs.plan import Plan
from apart.training.evaluate import Evaluation
from apart.training.program import program
from apart.training.state import env_steps, hyper_of, restored
from apart.worlds.holding import held
from apart.worlds.world import World, evidence, n_available

_TRIES: Final = 3  # a process that trains may remove the checkpoint that is being read


def snapshot(run: Run) -> Run:
    """``run`` with the skills and the summary of its newest checkpoint.

    Raises:
        UserError: it has no checkpoint that can be used.
    """
    planned = plan.read(run.path, None)
    saved = _newest(run, planned)
    config, world = planned.config, planned.world
    cache.use()
    trained, hyper = program(world, config), hyper_of(config)
    try:
        state = restored(config, trained.init(jnp.uint32(config.seed), hyper), saved.arrays)
        evaluation = jax.device_get(trained.evaluate(state, hyper))
        walk = random_walk(world, config, trained, state, hyper)
    finally:
        trained.close()
    entries = records.skills_of(world, evaluation)
    summary = {
        **run.summary,
        **_summary(config, world, env_steps(config, state), saved, evaluation),
        "n_random_walk": walk,
    }
    return dataclasses.replace(run, summary=summary, evaluated=Evaluated(entries, saved))


def _newest(run: Run, planned: Plan) -> Saved:
    """The newest checkpoint, looked for again where it was removed meanwhile."""
    states = run.path / run_folder.CHECKPOINTS
    for tries_left in reversed(range(_TRIES)):
        newest = checkpoint.manifests(states)[-1:]
        try:
            saved = last_state(run.path, planned)
        except UserError:
            if not tries_left or checkpoint.manifests(states)[-1:] == newest:
                raise
        else:
            break
    if saved is None:
        raise run_folder.no_checkpoint(run.path)
    return saved


def _summary(
    config: Config, world: World, steps: int, saved: Saved, evaluation: Evaluation
) -> dict[str, Any]:
    """The parts of summary.json that a checkpoint decides."""
    seconds = float(saved.manifest["seconds"].get("wall_seconds", 0.0))
    counted = records.count(float(evaluation.n_effective)) if world.places.counted else 0
    return {
        "n_effective": counted,
        "n_available": n_available(held(world, config.hold), config.decisions),
        "evidence": evidence(world, by_luck=config.updates_per_episode == 0),
        "spread": records.spread_of(world, config, evaluation),
        "task": records.task_of(world, config, evaluation),
        "env_steps": steps,
        "updates": config.updates_after(steps),
        "wall_seconds": seconds,
        "env_steps_per_second": round(steps / max(seconds, 1e-9), 1),
        "version": saved.manifest.get("versions", {}).get("apart"),
    }
