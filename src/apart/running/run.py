"""The host loop: chunks of compiled training, and between them evaluation, files and words."""

from __future__ import annotations

import platform
import resource
import sys
import time
import warnings
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
from apart.running import devices, threads
from apart.running.progress import Listener, Progress
from apart.running.signals import stop_signals
from apart.runs import checkpoint, files
from apart.runs import folder as run_folder
from apart.runs import plan as setup
from apart.runs.lock import Lock
from apart.settings import resolve
from apart.training.chunk import program
from apart.training.evaluate import QUANTILES, Evaluation
from apart.training.state import TrainState, by_name, from_arrays, hyper_of, to_arrays
from apart.worlds.grid import World, random_walk_skills

_SLICE_SECONDS = 0.5
_SAVE_SECONDS = 60.0  # at least, between two checkpoints
_SAVE_SHARE = 0.01  # at most, of the time


def train(
    world: str | World = "four_rooms",
    *,
    method: str = "apart",
    out: str | Path | None = None,
    overwrite: bool = False,
    device: str | None = None,
    listener: Listener | None = None,
    **options: Any,
) -> run_folder.Run:
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
        NonFinite: the numbers overflowed; the last good checkpoint is kept.
    """
    config, loaded = resolve(world, method, options)
    folder = (
        Path(out)
        if out
        else run_folder.default_folder(config.world, method) / f"seed-{config.seed}"
    )
    with (
        jax.default_device(devices.find(device)),
        stop_signals() as stop,
        run_folder.claim(folder, overwrite),
    ):
        setup.write(folder, config, loaded)
        return _Training(config, loaded, run_folder.Writer(folder), stop, listener).run(None)


def resume(
    path: str | Path,
    *,
    steps: int | None = None,
    device: str | None = None,
    listener: Listener | None = None,
    warn: Callable[[str], None] = lambda text: warnings.warn(text, stacklevel=3),
) -> run_folder.Run:
    """Go on with the run in ``path``; it ends with the bits of one that never stopped.

    Args:
        path: the folder of one seed.
        steps: train to so many environment steps instead; where rates depend on the length of the
            run, that is refused.
        device: as in `train`.
        listener: as in `train`.
        warn: called with a line for everything that may change the bits or was passed over.

    Raises:
        UserError: no run that can go on; nothing was changed.
        RunInterrupted: SIGINT or SIGTERM; the state was saved.
        NonFinite: as in `train`.
    """
    folder = setup.folder_of_run(path)
    with (
        jax.default_device(devices.find(device)),
        stop_signals() as stop,
        Lock(folder),
    ):
        plan = setup.read(folder, steps)
        if plan.finished:
            return run_folder.load(folder)
        saved = last_state(folder, plan)
        for line in setup.differences(folder, saved, _versions()["versions"], threads.in_use()):
            warn(f"{folder}: {line}")
        writer = run_folder.Writer(folder)
        _cut_back(writer, saved)
        if plan.longer:
            setup.write(folder, plan.config, plan.world)
        return _Training(plan.config, plan.world, writer, stop, listener).run(saved)


def last_state(folder: Path, plan: setup.Plan) -> checkpoint.Saved | None:
    """The newest state of the run in ``folder`` that is whole and fits its logs; None before one.

    Raises:
        UserError: there are checkpoints, but none can be used.
    """
    like = _shapes(plan.config, plan.world)
    return checkpoint.load(
        folder / run_folder.CHECKPOINTS,
        like,
        plan.sha256,
        lambda arrays, manifest: setup.check_saved(folder, arrays, manifest),
    )


def _cut_back(writer: run_folder.Writer, saved: checkpoint.Saved | None) -> None:
    """Make the folder what it was when ``saved`` was written."""
    folder = writer.path
    files.remove(
        folder / run_folder.SUMMARY, folder / run_folder.SKILLS
    )  # of a run that goes on longer
    for path in checkpoint.manifests(folder / run_folder.CHECKPOINTS):
        if saved is None or path > saved.path:
            checkpoint.remove(path)  # passed over; it must not stand in the way of new ones
    writer.cut_back(saved.manifest["logs"] if saved else None)


def _shapes(config: Config, world: World) -> dict[str, Any]:
    """Names, types and shapes of a training state, without making one."""
    init = program(world, config).init
    state = jax.eval_shape(init, jnp.uint32(0), hyper_of(config))
    plain = state._replace(key=jax.eval_shape(jax.random.key_data, state.key))
    return by_name(plain)


class _Training:
    """One run in progress."""

    def __init__(
        self,
        config: Config,
        world: World,
        writer: run_folder.Writer,
        stop: Callable[[], int],
        listener: Listener | None,
    ) -> None:
        self.config, self.world, self.writer = config, world, writer
        self.stop, self.listener = stop, listener or (lambda _: None)
        self.identity = setup.identity(config, world)
        self.n_available = world.n_available(config.horizon)
        self.program, self.hyper = program(world, config), hyper_of(config)
        self.first_full_at: int | None = None
        self.n_rows = 0
        self.n_effective = 0
        self.began_at = 0  # iteration in which this process began
        self.train_seconds = 0.0
        self.compile_seconds = 0.0
        names = ("wall_seconds", "train_seconds", "compile_seconds", "save_seconds")
        self.earlier = dict.fromkeys(names, 0.0)
        self.began = self.saved_at = time.perf_counter()
        self.save_seconds = self.all_save_seconds = 0.0
        self.last_good: Path | None = None

    def run(self, saved: checkpoint.Saved | None) -> run_folder.Run:
        """Train from the start, or from where ``saved`` is, to the end."""
        try:
            return self._run(saved)
        except UserError as error:  # the disk
            raise UserError(
                f"{error}; mend that, then 'apart resume {self.writer.path}' goes on"
            ) from None

    def _run(self, saved: checkpoint.Saved | None) -> run_folder.Run:
        began = time.perf_counter()
        state = self.program.init(jnp.uint32(self.config.seed), self.hyper)
        if saved is not None:
            state = from_arrays(state, saved.arrays)
            self._go_on(saved)
        self.listener(self._progress(self.began_at))  # nothing can be wrong any more
        state = self.program.chunk(state, self.hyper, jnp.int32(0))  # compiles, does no work
        evaluation = self._evaluate(state)
        self.compile_seconds = time.perf_counter() - began
        self.began = self.saved_at = time.perf_counter()
        iteration, total = int(state.iteration), self.config.iterations
        if saved is None:
            self._record(iteration, evaluation)
        while iteration < total:
            due = self.config.next_evaluation(iteration)
            state = self._advance(state, iteration, due)
            iteration = int(state.iteration)
            if iteration < due:
                self._interrupt(state, iteration)
            evaluation = self._evaluate(state)
            if iteration % self.config.evaluate_iterations == 0:
                self._record(iteration, evaluation)
            if iteration < total:
                self._save_if_due(state, iteration)
        self._save(state, iteration)
        self._record_end(iteration, evaluation)
        self.writer.skills(_skills(self.world, evaluation), self.identity)
        self.writer.summary(self._summary(iteration))
        return run_folder.load(self.writer.path)

    def _go_on(self, saved: checkpoint.Saved) -> None:
        """What the host knew when ``saved`` was written; its rows are in the metrics."""
        self.began_at, self.last_good = saved.iteration, saved.path
        times = saved.manifest.get("seconds", {})
        self.earlier = {name: float(times.get(name, 0.0)) for name in self.earlier}
        path = self.writer.path / run_folder.METRICS
        rows = run_folder.rows_of(
            run_folder.read_log(path, saved.manifest["logs"][run_folder.METRICS])
        )
        self.n_rows = len(rows)
        if rows:
            self.n_effective = int(rows[-1]["n_effective"])
        full = [int(r["env_steps"]) for r in rows if r["n_effective"] == self.n_available]
        self.first_full_at = full[0] if full else None

    def _advance(self, state: TrainState, iteration: int, due: int) -> TrainState:
        """Train to iteration ``due`` in slices short enough to show progress and to be stopped.

        The length of a slice is an argument of the compiled chunk: it does not touch the bits.
        Every slice is checked for non-finite numbers before it can be saved.
        """
        while iteration < due and not self.stop():
            made = iteration - self.began_at
            speed = made / self.train_seconds if self.train_seconds else 0.0
            n = min(due - iteration, max(int(speed * _SLICE_SECONDS), 1))
            began = time.perf_counter()
            state = self.program.chunk(state, self.hyper, jnp.int32(n))
            finite = bool(self.program.finite(state))
            self.train_seconds += time.perf_counter() - began
            iteration += n
            if not finite:
                self._not_finite(iteration)
            self.listener(self._progress(iteration))
            if iteration < due:
                self._save_if_due(state, iteration)
        return state

    def _save_if_due(self, state: TrainState, iteration: int) -> None:
        """Only where the row of an evaluation in this very round has been written."""
        pause = max(_SAVE_SECONDS, self.save_seconds / _SAVE_SHARE)
        if time.perf_counter() - self.saved_at > pause:
            self._save(state, iteration)

    def _evaluate(self, state: TrainState) -> Evaluation:
        on_host: Evaluation = jax.device_get(self.program.evaluate(state, self.hyper))
        floats = [leaf for leaf in jax.tree.leaves(on_host) if leaf.dtype.kind == "f"]
        if not all(np.isfinite(leaf).all() for leaf in floats):  # parameters may still be
            self._not_finite(int(state.iteration))
        return on_host

    def _record(self, iteration: int, evaluation: Evaluation) -> None:
        self._note(iteration, evaluation)
        if _has_detail(self.n_rows):
            self.writer.detail(_detail(self._steps(iteration), evaluation))
        self.n_rows += 1

    def _record_end(self, iteration: int, evaluation: Evaluation) -> None:
        """What only the end of a run has; after the last save, as a longer run lacks it."""
        if iteration % self.config.evaluate_iterations:
            self._note(iteration, evaluation)
        elif _has_detail(self.n_rows - 1):
            return
        self.writer.detail(_detail(self._steps(iteration), evaluation))

    def _note(self, iteration: int, evaluation: Evaluation) -> None:
        self.n_effective = int(evaluation.n_effective)
        if self.first_full_at is None and self.n_effective == self.n_available:
            self.first_full_at = self._steps(iteration)
        self.writer.row(self._row(iteration, evaluation))

    def _steps(self, iteration: int) -> int:
        return iteration * self.config.collection

    def _row(self, iteration: int, evaluation: Evaluation) -> dict[str, Any]:
        row: dict[str, Any] = {
            "env_steps": self._steps(iteration),
            "updates": self._updates(iteration),
            "n_effective": self.n_effective,
            "n_available": self.n_available,
            "wall_seconds": self._seconds()["wall_seconds"],
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

    def _not_finite(self, iteration: int) -> NoReturn:
        good = f"the last good checkpoint is {self.last_good}" if self.last_good else ""
        raise NonFinite(
            f"{self.writer.path}: parameters became non-finite before step "
            f"{self._steps(iteration):,}; lower --learning-rate or "
            f"--discriminator-learning-rate ({good or 'no checkpoint had been written yet'})"
        )

    def _interrupt(self, state: TrainState, iteration: int) -> NoReturn:
        self._save(state, iteration)
        steps, total = (self._steps(n) for n in (iteration, self.config.iterations))
        raise RunInterrupted(
            f"stopped after {steps:,} of {total:,} steps; state saved in {self.writer.path}",
            self.stop(),
        )

    def _save(self, state: TrainState, iteration: int) -> None:
        began = time.perf_counter()
        about = {
            "config_sha256": self.identity,
            "logs": self.writer.sync(),
            "threads": threads.in_use(),
            "seconds": self._seconds(),
            **_versions(),
        }
        folder = self.writer.path / run_folder.CHECKPOINTS
        self.last_good = checkpoint.save(folder, iteration, to_arrays(state), about)
        self.saved_at = time.perf_counter()
        self.save_seconds = self.saved_at - began
        self.all_save_seconds += self.save_seconds

    def _seconds(self) -> dict[str, float]:
        """Of this process and those before it."""
        now = {
            "wall_seconds": time.perf_counter() - self.began,
            "train_seconds": self.train_seconds,
            "compile_seconds": self.compile_seconds,
            "save_seconds": self.all_save_seconds,
        }
        return {name: round(value + self.earlier[name], 3) for name, value in now.items()}

    def _progress(self, iteration: int) -> Progress:
        here = time.perf_counter() - self.began
        return Progress(
            env_steps=self._steps(iteration),
            total_steps=self._steps(self.config.iterations),
            n_effective=self.n_effective,
            n_available=self.n_available,
            steps_per_second=self._steps(iteration - self.began_at) / max(here, 1e-9),
        )

    def _updates(self, iteration: int) -> int:
        return iteration * self.config.updates_per_episode

    def _summary(self, iteration: int) -> dict[str, Any]:
        c, seconds = self.config, self._seconds()
        env_steps = self._steps(iteration)
        return {
            "config_sha256": self.identity,
            "world": c.world,
            "method": c.method,
            "seed": c.seed,
            "n_effective": self.n_effective,
            "n_available": self.n_available,
            "n_random_walk": round(random_walk_skills(self.world, c.horizon, c.skills), 2),
            "first_full_at": self.first_full_at,
            "env_steps": env_steps,
            "updates": self._updates(iteration),
            **seconds,
            "env_steps_per_second": round(env_steps / max(seconds["wall_seconds"], 1e-9), 1),
            "peak_rss_mb": peak_rss_mb(),
            "version": __version__,
        }


def _has_detail(evaluation: int) -> bool:
    """A detail is long: kept of evaluations 0, 1, 2, 5, 10, 20, 50, ... (and of the end).

    With the default of 25,000 steps between evaluations, 5M steps is one of them.
    """
    return evaluation == 0 or str(evaluation).rstrip("0") in ("1", "2", "5")


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
