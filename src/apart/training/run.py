"""The host loop: chunks of compiled training, and between them evaluation, files and words."""

from __future__ import annotations

import dataclasses
import platform
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
import jaxlib
import numpy as np
import optax

from apart._config import Config
from apart._errors import NonFinite, RunInterrupted, UserError
from apart._version import __version__
from apart.progress import Listener, Progress
from apart.runs import checkpoint, store
from apart.settings import resolve
from apart.training import threads
from apart.training.chunk import program
from apart.training.evaluate import QUANTILES, Evaluation
from apart.training.signals import stop_signals
from apart.training.state import TrainState, hyper_of, to_arrays
from apart.worlds.grid import World, random_walk_skills

_SLICE_SECONDS = 0.5


def train(
    world: str | World = "four_rooms",
    *,
    method: str = "apart",
    out: str | Path | None = None,
    overwrite: bool = False,
    device: str | None = None,
    listener: Listener | None = None,
    **options: Any,
) -> store.Run:
    """Train one seed and return the finished run.

    Args:
        world: a name of `apart.worlds`, the path of a map, or a `World`.
        method: a name of `apart.methods`.
        out: run folder; ``runs/WORLD-METHOD/seed-SEED`` unless said.
        overwrite: replace a run that is in ``out``.
        device: ``cpu``, ``gpu`` or ``tpu``; JAX's own choice unless said.
        listener: called with a `Progress` after every slice of training.
        options: fields of the configuration (``steps``, ``seed``, ``skills``, ...).

    Raises:
        UserError: wrong input; nothing was written.
        RunInterrupted: SIGINT or SIGTERM; the state was saved.
        NonFinite: the numbers overflowed.
    """
    config, loaded = resolve(world, method, options)
    folder = (
        Path(out) if out else store.default_folder(config.world, method) / f"seed-{config.seed}"
    )
    refuse = store.refusal(folder, overwrite)
    if refuse:
        raise UserError(refuse)
    with jax.default_device(_device(device)), stop_signals() as stop:
        return _Training(config, loaded, store.Writer(folder, overwrite), stop, listener).run()


class _Training:
    """One run in progress."""

    def __init__(
        self,
        config: Config,
        world: World,
        writer: store.Writer,
        stop: Callable[[], int],
        listener: Listener | None,
    ) -> None:
        self.config, self.world, self.writer = config, world, writer
        self.stop, self.listener = stop, listener or (lambda _: None)
        self.n_available = world.n_available(config.horizon)
        self.program, self.hyper = program(world, config), hyper_of(config)
        self.first_full_at: int | None = None
        self.n_rows = 0
        self.n_effective = 0
        self.train_seconds = 0.0
        self.began = time.perf_counter()

    def run(self) -> store.Run:
        self.writer.config(_about(self.config, self.world))
        began = time.perf_counter()
        state = self.program.init(jnp.uint32(self.config.seed), self.hyper)
        state = self.program.chunk(state, self.hyper, jnp.int32(0))  # compiles, does no work
        evaluation = self._evaluate(state)
        compile_seconds = time.perf_counter() - began
        self.began = time.perf_counter()
        iteration, total = 0, self.config.iterations
        self._record(iteration, evaluation, final=False)
        while iteration < total:
            due = min(iteration + self.config.evaluate_iterations, total)
            state = self._advance(state, iteration, due)
            iteration = int(state.iteration)
            if iteration < due:
                self._interrupt(state, iteration)
            evaluation = self._evaluate(state)
            self._check_finite(iteration, evaluation)
            self._record(iteration, evaluation, final=iteration == total)
        self._save(state, iteration)
        self.writer.skills(_skills(self.world, evaluation))
        self.writer.summary(self._summary(iteration, compile_seconds))
        return store.load(self.writer.path)

    def _advance(self, state: TrainState, iteration: int, due: int) -> TrainState:
        """Train to iteration ``due`` in slices short enough to show progress and to be stopped.

        The length of a slice is an argument of the compiled chunk: it does not touch the bits.
        """
        while iteration < due and not self.stop():
            speed = iteration / self.train_seconds if self.train_seconds else 0.0
            n = min(due - iteration, max(int(speed * _SLICE_SECONDS), 1))
            began = time.perf_counter()
            state = self.program.chunk(state, self.hyper, jnp.int32(n))
            state.iteration.block_until_ready()
            self.train_seconds += time.perf_counter() - began
            iteration += n
            self.listener(self._progress(iteration))
        return state

    def _evaluate(self, state: TrainState) -> Evaluation:
        on_host: Evaluation = jax.device_get(self.program.evaluate(state, self.hyper))
        return on_host

    def _record(self, iteration: int, evaluation: Evaluation, final: bool) -> None:
        env_steps = iteration * self.config.collection
        self.n_effective = int(evaluation.n_effective)
        if self.first_full_at is None and self.n_effective == self.n_available:
            self.first_full_at = env_steps
        self.writer.row(self._row(iteration, evaluation))
        # A detail is long: kept at the start and at evaluations 1, 2, 4, 8, ... and at the end.
        if final or self.n_rows & (self.n_rows - 1) == 0:
            self.writer.detail(_detail(env_steps, evaluation))
        self.n_rows += 1

    def _row(self, iteration: int, evaluation: Evaluation) -> dict[str, Any]:
        row: dict[str, Any] = {
            "env_steps": iteration * self.config.collection,
            "updates": self._updates(iteration),
            "n_effective": self.n_effective,
            "n_available": self.n_available,
            "wall_seconds": round(self._wall(), 3),
        }
        for name in (
            "mean_reward",
            "mean_last_reward",
            "discriminator_accuracy",
            "information_count",
            "mutual_information",
        ):
            row[name] = f"{float(getattr(evaluation, name)):.6g}"
        for quantile, value in zip(QUANTILES, evaluation.reward_quantiles, strict=True):
            row[f"reward_q{round(100 * quantile)}"] = f"{float(value):.6g}"
        return row

    def _check_finite(self, iteration: int, evaluation: Evaluation) -> None:
        if not evaluation.finite:
            raise NonFinite(
                f"{self.writer.path}: parameters became non-finite before step "
                f"{iteration * self.config.collection:,}; lower --learning-rate or "
                "--discriminator-learning-rate (no checkpoint was written)"
            )

    def _interrupt(self, state: TrainState, iteration: int) -> NoReturn:
        self._save(state, iteration)
        steps, total = (n * self.config.collection for n in (iteration, self.config.iterations))
        raise RunInterrupted(
            f"stopped after {steps:,} of {total:,} steps; state saved in {self.writer.path}",
            self.stop(),
        )

    def _save(self, state: TrainState, iteration: int) -> None:
        about = {"config_sha256": self.config.fingerprint(), "threads": threads.in_use()}
        folder = self.writer.path / store.CHECKPOINTS
        checkpoint.save(folder, iteration, to_arrays(state), {**about, **_versions()})

    def _progress(self, iteration: int) -> Progress:
        steps = iteration * self.config.collection
        return Progress(
            env_steps=steps,
            total_steps=self.config.iterations * self.config.collection,
            n_effective=self.n_effective,
            n_available=self.n_available,
            steps_per_second=steps / self._wall(),
        )

    def _wall(self) -> float:
        """Seconds since compilation: training, evaluation and files."""
        return time.perf_counter() - self.began

    def _updates(self, iteration: int) -> int:
        return iteration * self.config.updates_per_episode

    def _summary(self, iteration: int, compile_seconds: float) -> dict[str, Any]:
        c = self.config
        env_steps, wall = iteration * c.collection, self._wall()
        return {
            "world": c.world,
            "method": c.method,
            "seed": c.seed,
            "n_effective": self.n_effective,
            "n_available": self.n_available,
            "n_random_walk": round(random_walk_skills(self.world, c.horizon, c.skills), 2),
            "first_full_at": self.first_full_at,
            "env_steps": env_steps,
            "updates": self._updates(iteration),
            "wall_seconds": round(wall, 3),
            "train_seconds": round(self.train_seconds, 3),
            "env_steps_per_second": round(env_steps / wall, 1),
            "compile_seconds": round(compile_seconds, 3),
            "peak_rss_mb": peak_rss_mb(),
            "version": __version__,
        }


def _skills(world: World, evaluation: Evaluation) -> list[dict[str, Any]]:
    cells = world.cells[np.asarray(evaluation.trajectories)].tolist()
    probabilities = np.asarray(evaluation.last_probability, np.float64)
    return [
        {"trajectory": path, "last_state": path[-1], "probability": round(float(p), 6)}
        for path, p in zip(cells, probabilities, strict=True)
    ]


def _detail(env_steps: int, evaluation: Evaluation) -> dict[str, Any]:
    """Accuracy and visits per step: visits[t] lists [state, number of skills there after t]."""
    states = np.asarray(evaluation.trajectories).T
    visits = [np.unique(row, return_counts=True) for row in states]
    return {
        "env_steps": env_steps,
        "accuracy_per_step": [round(float(x), 4) for x in evaluation.accuracy_per_step],
        "visits_per_step": [np.stack(pair, 1).tolist() for pair in visits],
    }


def _about(config: Config, world: World) -> dict[str, Any]:
    return {
        "config": dataclasses.asdict(config),
        "config_sha256": config.fingerprint(),
        "map": world.text.split("\n"),
        "device": str(jnp.zeros(()).devices().pop().platform),
        "threads": threads.in_use(),
        **_versions(),
    }


def _versions() -> dict[str, Any]:
    return {
        "versions": {
            "apart": __version__,
            "python": platform.python_version(),
            "jax": jax.__version__,
            "jaxlib": jaxlib.version.__version__,
            "optax": optax.__version__,
            "numpy": np.__version__,
        }
    }


def peak_rss_mb() -> float:
    """The most memory that this process has held so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1e6 if sys.platform == "darwin" else 1e3), 1)


def _device(name: str | None) -> Any:
    if name is None:
        return None
    try:
        return jax.devices(name)[0]
    except RuntimeError:
        seen = ", ".join(sorted({d.platform for d in jax.devices()}))
        raise UserError(f"--device {name}: JAX sees no such device here, only {seen}") from None
