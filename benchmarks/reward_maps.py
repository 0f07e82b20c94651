"""Why tuned VIC needs a reward that can be negative: maps of rewards and values.

    python benchmarks/reward_maps.py      # docs/images/reward_maps.png, results/reward-maps.json

Trains tuned VIC in four rooms for 500k steps with the posterior as its reward and with the reward
in APART's range, and shows where all skills end, and for the skill with the highest last
reward its reward and its highest Q in every cell.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from tabled.base import ROOT

from apart.report import draw, maps
from apart.settings import resolve
from apart.training.learner import evaluated
from apart.training.learners import learner_of
from apart.training.program import program
from apart.training.state import hyper_of

STEPS = 500_000
FORMS: dict[str, dict[str, Any]] = {
    "the posterior, softmax(10 o)": {"reward": "posterior"},
    "2 softmax(10 o) - 1 (default)": {},
}


class Trained(NamedTuple):
    last: Any  # [K] last cells
    rewards: Any  # [S, K]
    q: Any  # [S, A, K]


def trained(options: dict[str, Any]) -> Trained:
    config, world = resolve("four_rooms", "tuned_vic", {**options, "steps": STEPS})
    made, hyper = program(world, config), hyper_of(config)
    state = made.chunk(made.init(jnp.int32(0), hyper), hyper, jnp.int32(config.iterations))
    learner = learner_of(world, config)
    rewards = learner.objective.of_states(state.learnt.discriminator, None, hyper)
    q = learner.values(evaluated(state.learnt), None)
    last = np.asarray(made.evaluate(state, hyper).trajectories)[:, -1]
    return Trained(last, np.asarray(rewards), np.asarray(q))


def main() -> None:
    _, world = resolve("four_rooms", "tuned_vic", {})
    made, axes = draw.figure(4, len(FORMS), size=(11.2, 5.4))
    stored = {}
    for row, (name, options) in enumerate(FORMS.items()):
        found = trained(options)
        ends = np.bincount(found.last, minlength=world.n_states)
        skill = int(np.argmax(found.rewards[found.last, np.arange(len(found.last))]))
        of_skill = found.q[:, :, skill]
        bad = (found.q.min(axis=1) < -0.02).sum(axis=1)  # Q starts within 0.01 of 0
        shown = (
            (ends, f"skills that end there ({(ends > 0).sum()} cells)", "viridis_r", (1, 10)),
            (found.rewards[:, skill], f"reward of skill {skill}", "RdBu", (-1, 1)),
            (of_skill.max(1), f"highest Q of skill {skill}", "RdBu", (-1, 1)),
            (bad, "skills that have a Q below 0 there", "viridis_r", (1, 100)),
        )
        for axis, (numbers, title, colours, (low, high)) in zip(
            axes[4 * row : 4 * row + 4], shown, strict=True
        ):
            picture = np.full(maps.walls(world.places.backdrop).shape, np.nan)
            picture[tuple(world.cells.T)] = numbers
            if low == 1:
                picture[picture == 0] = np.nan
            axis.imshow(maps.walls(world.places.backdrop), cmap="Greys", vmin=0, vmax=1.6)
            image = axis.imshow(picture, cmap=colours, vmin=low, vmax=high)
            made.colorbar(image, ax=axis, fraction=0.045, pad=0.03)
            axis.set_xticks([])
            axis.set_yticks([])
            axis.grid(visible=False)
            draw.title(axis, title, 9)
        axes[4 * row].set_ylabel(name, fontsize=9)
        tried = np.abs(found.q) > 0.02
        stored[name] = {
            "skills": int((ends > 0).sum()),
            "share of tried Q below 0": round(float((found.q[tried] < 0).mean()), 3),
        }
    made.savefig(ROOT / "docs" / "images" / "reward_maps.png")
    (ROOT / "results" / "reward-maps.json").write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
