"""Where an update of the CNN spends its time: pieces by themselves, on all cores.

    python benchmarks/profile_cnn.py        # writes results/networks-profile.json

Four rooms as images, 85 distinct observations, the paper's CNN; the best of five.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from apart.learner import adam
from apart.learner.convolution import convolve
from apart.settings import resolve
from apart.training.learners import learner_of
from apart.training.pieces import pieces
from apart.training.program import program
from apart.training.state import hyper_of
from apart.worlds.observations import sight_of

STORED = Path(__file__).parent.parent / "results" / "networks-profile.json"
IMAGES = {"observation": "pixels", "network": "cnn"}


def best(function: Callable[..., Any], *arguments: Any) -> float:
    """Milliseconds."""
    compiled = jax.jit(function)
    jax.block_until_ready(compiled(*arguments))
    times = []
    for _ in range(5):
        began = time.perf_counter()
        jax.block_until_ready(compiled(*arguments))
        times.append(time.perf_counter() - began)
    return round(1e3 * min(times), 1)


def parts(method: str) -> dict[str, float]:
    """Of the discriminator of ``method`` and of Q."""
    config, world = resolve("four_rooms", method, IMAGES)
    p = pieces(config, world.about.n_actions, sight_of(world, config.observation))
    learnt = learner_of(world, config).init(jax.random.key(0), jax.random.key(1), hyper_of(config))
    found = {}
    for name, of, one in (("Q", p.q, learnt.q), ("discriminator", p.logits, learnt.discriminator)):
        rows, _ = of.read(one.params, None)
        probe = jnp.ones_like(rows)

        def both(params: Any, probe: Any, of: Any = of) -> Any:
            rows, pull = of.read(params, None)
            return rows, pull(probe)

        def moved(fitted: Any, of: Any = of) -> Any:
            return adam.step(of, fitted, fitted.params, jnp.float32(1e-4))

        found[f"{name}: forward"] = best(lambda x, of=of: of.read(x, None)[0], one.params)
        found[f"{name}: forward and backward"] = best(both, one.params, probe)
        found[f"{name}: Adam"] = best(moved, one)
    return found


def convolutions(n: int) -> dict[str, float]:
    """The largest layer (64 to 128 channels, 10 x 10 pixels), forward and backward, both ways."""
    images = jax.random.normal(jax.random.key(0), (n, 10, 10, 64))
    weight = jax.random.normal(jax.random.key(1), (5, 5, 64, 128))
    probe = jnp.ones((n, 10, 10, 128))

    def both(convolution: Callable[[Any, Any], Any], *arguments: Any) -> Any:
        out, pull = jax.vjp(convolution, *arguments)
        return pull(probe.reshape(out.shape))

    def plain(x: Any, w: Any) -> Any:
        layout = ("NHWC", "HWIO", "NHWC")
        return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=layout)

    pixels = images.reshape(n, 100, 64).swapaxes(0, 1)
    return {
        f"XLA's convolution, {n} images": best(partial(both, plain), images, weight),
        f"frequencies, {n} images": best(
            partial(both, lambda x, w: convolve(x, w, (10, 10))), pixels, weight
        ),
    }


def update(method: str, options: dict[str, Any]) -> float:
    """Milliseconds of a whole round: an episode, a batch, both steps."""
    config, world = resolve("four_rooms", method, {**IMAGES, **options})
    run, hyper = program(world, config), hyper_of(config)
    state = run.chunk(run.init(jnp.uint32(0), hyper), hyper, jnp.int32(1))
    times = []
    for _ in range(3):
        began = time.perf_counter()
        state = run.chunk(state, hyper, jnp.int32(2))
        state.iteration.block_until_ready()
        times.append((time.perf_counter() - began) / 2)
    return round(1e3 * min(times), 1)


def main() -> None:
    table: dict[str, Any] = {
        "100 outputs (diayn)": parts("diayn"),
        "4,950 outputs (apart)": parts("apart"),
        "whole update": {
            "diayn": update("diayn", {}),
            "diayn, batch of 20,000": update("diayn", {"batch": 20_000}),
            "diayn, 8 episodes": update("diayn", {"episodes_per_update": 8}),
            "diayn, 2 x 2 pixels per cell": update("diayn", {"observation": "pixels:2"}),
            "diayn, channels 16, 32, 32": update("diayn", {"network": "cnn:16,32,32"}),
            "apart": update("apart", {}),
        },
        "one layer, forward and backward": {**convolutions(85), **convolutions(640)},
    }
    STORED.write_text(json.dumps(table, indent=1) + "\n")
    print(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()
