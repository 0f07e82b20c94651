"""skills.json of a finished run, made again from its last checkpoint."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from apart._errors import UserError
from apart.running import cache, records
from apart.runs import folder as run_folder
from apart.runs.checkpoint import Saved
from apart.runs.folder import Writer
from apart.runs.plan import Plan
from apart.training.evaluate import Evaluation
from apart.training.program import program
from apart.training.state import env_steps, hyper_of, restored
from apart.worlds.world import evidence


def skills(writer: Writer, found: Plan, saved: Saved | None) -> None:
    """Evaluate the last state of the finished run once more and write its skills.json.

    The evaluation is a function of that state, so that the file has the bytes that it had.

    Raises:
        UserError: there is no checkpoint of the end, or the evaluation differs from the summary.
    """
    config, world, path = found.config, found.world, writer.path / run_folder.SKILLS
    lost = UserError(f"{path}: is missing, and no checkpoint of the end is there to remake it")
    if saved is None:
        raise lost
    cache.use()
    made, hyper = program(world, config), hyper_of(config)
    try:
        state = restored(config, made.init(jnp.uint32(config.seed), hyper), saved.arrays)
        if env_steps(config, state) < config.steps:
            raise lost
        evaluation: Evaluation = jax.device_get(made.evaluate(state, hyper))
    finally:
        made.close()
    before = run_folder.load(writer.path).n_effective
    now = records.count(float(evaluation.n_effective))
    if world.places.counted and now != before:
        raise UserError(
            f"{path}: is missing, and the checkpoint gives {now:g} skills here where "
            f"{run_folder.SUMMARY} says {before:g}; resume with the versions that trained it"
        )
    known = evidence(world, by_luck=config.updates_per_episode == 0)
    writer.skills(records.skills_of(world, evaluation), found.sha256, known)
