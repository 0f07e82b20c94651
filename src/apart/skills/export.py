"""Skills for other programs: a folder with a card, config.json and safetensors.

`apart_skills.py`, a file of NumPy alone, loads and runs it. The folder holds data only and is laid
out as model hubs expect it: README.md, config.json, model.safetensors, skills.png.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from safetensors.numpy import save as to_bytes

from apart._errors import UserError
from apart._types import Image
from apart._version import __version__
from apart.learner import networks, q_learning
from apart.learner.networks import NETWORKS
from apart.runs import claims, files
from apart.runs import folder as run_folder
from apart.runs.folder import Run
from apart.skills.policies import LearntRun, acts_of, learnt_of
from apart.training.learner import evaluated
from apart.training.state import by_name
from apart.worlds import observations
from apart.worlds.observations import OBSERVATIONS
from apart.worlds.world import ObsSpec, Scaling, TableWorld, World

FORMAT: Final = 1
CARD, ARRAYS = "README.md", "model.safetensors"


def export(run: Run, out: Path, picture: bytes | None) -> Path:
    """Write the skills of ``run`` to the folder ``out``, which is new or empty.

    Args:
        run: a run that learns, finished or a snapshot of one that is not.
        out: the folder.
        picture: a PNG of the skills, where there is one.

    Raises:
        UserError: nothing was learnt, there is no checkpoint, ``out`` holds something, or it
            cannot be written; then nothing is left of it.
    """
    why = claims.occupied(out)
    if why:
        raise UserError(why)
    if not run.config["updates_per_episode"]:
        raise UserError(f"{run.path}: {run.summary['method']} learns nothing; nothing to export")
    known = learnt_of(run)
    arrays = _arrays(known)
    with claims.filling(out, (CARD, run_folder.PICTURE, run_folder.CONFIG, ARRAYS)):
        files.write_bytes(out / ARRAYS, to_bytes(arrays))
        files.write_json(out / run_folder.CONFIG, _config(run, known, arrays))
        if picture is not None:
            files.write_bytes(out / run_folder.PICTURE, picture)
        files.write_bytes(out / CARD, _card(run, picture is not None).encode())
    return out


def _arrays(known: LearntRun) -> dict[str, Any]:
    """Parameters of the evaluated Q; in a table also what its states are."""
    config, world, _, learnt, _ = known
    params = evaluated(learnt)
    of_q, _ = networks.parse(config.network)
    found = {"q": params} if NETWORKS[of_q.kind].of_states else by_name(params)
    seen = OBSERVATIONS[observations.parse(config.observation)[0]]
    if isinstance(world, TableWorld):
        found |= {"next_state": world.next_state, "probability": world.probability}
        if world.one_state_a_cell:
            found["cells"] = world.cells
        if seen.images:
            found["images"] = observations.sight_of(world, config.observation).images(None)
    elif seen.features is not None:
        found |= seen.features(world)
        first = next(name for name in found if name.endswith(".weight") or name == _LAST)
        found[first] = found[first] * found.pop("amplitude")  # of the features it reads
    if "q" not in found:
        found |= _scaled(world, _image(known))
    return {name: np.asarray(array, order="C") for name, array in found.items()}


def _image(known: LearntRun) -> Image:
    """The shape of an observation before features are computed from it."""
    world, seen = known.world, known.config.observation
    if not isinstance(world, TableWorld) and OBSERVATIONS[observations.parse(seen)[0]].features:
        return (1, 1, math.prod(world.obs.shape))
    return observations.sight_of(world, seen).image


def _scaling(world: World) -> Scaling:
    """How networks see what the world shows; images of tables are drawn as they are seen."""
    return ObsSpec(()).scaling if isinstance(world, TableWorld) else world.obs.scaling


def _scaled(world: World, image: Image) -> dict[str, Any]:
    """``offset`` and ``scale`` as arrays."""
    offset, scale, _ = _scaling(world)
    return {
        name: np.asarray(given, np.float32).reshape(image if len(given) > 1 else 1)
        for name, given in (("offset", offset), ("scale", scale))
    }


def _config(run: Run, known: LearntRun, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """What `apart_skills.py` needs, and what was found."""
    config, world, acts = known.config, known.world, acts_of(known)
    content: dict[str, Any] = {"format": FORMAT, "library": "apart", "version": __version__}
    if isinstance(world, TableWorld):
        content |= {"table": True, "n_states": world.n_states, "start": int(world.start)}
    else:
        content |= {"table": False, "shape": list(world.obs.shape), "dtype": world.obs.dtype}
    return content | {
        "n_skills": config.skills,
        "n_actions": world.about.n_actions,
        "values": list(q_learning.shape(world.about.n_actions, config.skills, world.about.heads)),
        "horizon": config.horizon,
        "hold": config.hold,
        "acts": None if acts is None else acts.tolist(),
        "network": str(networks.parse(config.network)[0]),
        "hidden": sum(name.endswith(".weight") for name in arrays),
        "image": list(_image(known)),
        "range": [-_scaling(world).far, _scaling(world).far],
        "world": world.name,
        "map": list(world.places.backdrop),
        **{name: run.summary[name] for name in ("method", "seed", "env_steps", *_FOUND)},
        "skills": [
            {"last_state": skill.last_state, "probability": skill.probability}
            for skill in run.skills
        ],
    }


_LAST: Final = "last"  # the layer that there always is
_FOUND: Final = ("n_effective", "n_available", "n_random_walk")


def _card(run: Run, picture: bool) -> str:
    """README.md: what it is, what was measured, how it is used."""
    s, k, horizon = run.summary, int(run.config["skills"]), int(run.config["horizon"])
    world, method = _inline(s["world"]), _inline(s["method"])
    counted = run.world.places.counted
    found = run_folder.found(run.n_effective, run.n_available, k) if counted else "not counted"
    walk = "-" if s["n_random_walk"] is None else s["n_random_walk"]
    going = "" if run.finished else f"; {run.progress}"
    shown = "![Every skill on its own small map](skills.png)\n\n" if picture else ""
    return f"""---
library_name: apart
tags:
- reinforcement-learning
- unsupervised-skill-discovery
---

# {k} skills in {world}

Policies learnt by `{method}`, a method of skill discovery, in episodes of {horizon} steps{going}.

| world | method | seed | environment steps | skills with a last state of their own | random walk |
|---|---|---|---|---|---|
| {world} | `{method}` | {s["seed"]} | {s["env_steps"]:,} | {found} | {walk} |

{shown}## Use

`model.safetensors` has the parameters of Q, `config.json` all else; no file holds code. The file
`apart_skills.py` of the package `apart` runs them with NumPy alone:

```python
from apart_skills import Skills

skills = Skills(".")
skills.act(0, observation)  # one action of skill 0
```

Actions are numbers from 0 to {run.world.about.n_actions - 1}{_heads(run)}{_held(run)}.
Written by apart {__version__}.
"""


def _heads(run: Run) -> str:
    heads = run.world.about.heads
    return f", {heads} of them for an action" if heads > 1 else ""


def _held(run: Run) -> str:
    hold = int(run.config.get("hold", 1))  # runs made before it was an option lack it
    return f"; each is held for {hold} steps" if hold > 1 else ""


def _inline(text: Any) -> str:
    """Words of others in a line of Markdown: nothing that could start anything."""
    kept = "".join(char if char.isalnum() or char in " ._-/=,:" else "?" for char in str(text))
    return kept.strip() or "?"
