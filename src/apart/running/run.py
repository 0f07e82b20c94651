"""The host loop: chunks of compiled training, and between them evaluation, files and words."""

from __future__ import annotations

import math
import os
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
from apart.running import cache, devices, records, threads
from apart.running.progress import Listener, Progress
from apart.running.signals import stop_signals
from apart.runs import checkpoint, claims, files, plan
from apart.runs import folder as run_folder
from apart.runs.folder import Run
from apart.runs.lock import Lock
from apart.runs.plan import Plan
from apart.settings import only_here
from apart.training.evaluate import QUANTILES, Evaluation
from apart.training.program import program
from apart.training.state import TrainState, by_name, from_0_1, from_arrays, hyper_of, to_arrays
from apart.worlds.holding import held
from apart.worlds.world import World, evidence, n_available

_SLICE_SECONDS = 0.5
_SAVE_SECONDS = 60.0  # at least, between two checkpoints, unless the variable says otherwise
_SAVE_VARIABLE = "APART_SAVE_SECONDS"
_SAVE_SHARE = 0.01  # at most, of the time


def train_one(
    config: Config,
    world: World,
    folder: Path,
    overwrite: bool,
    device: str | None,
    listener: Listener | None,
) -> Run:
    """Train one seed in this process and return the finished run."""
    with jax.default_device(devices.find(device)), stop_signals() as stop:
        new = Plan(config, world, plan.identity(config, world), finished=False)
        training = _Training(new, run_folder.Writer(folder), stop, listener)
        with claims.claimed(folder, overwrite):
            plan.write(folder, config, world)
            return training.run(None)


def resume_one(
    path: str | Path,
    steps: int | None,
    device: str | None,
    listener: Listener | None,
    warn: Callable[[str], None],
) -> Run:
    """Go on with the run in ``path``; it ends with the bits of one that never stopped."""
    folder = plan.folder_of_run(path)
    with (
        jax.default_device(devices.find(device)),
        stop_signals() as stop,
        Lock(folder),
    ):
        found = plan.read(folder, steps)
        if found.finished:
            return run_folder.load(folder)
        saved = last_state(folder, found)
        for line in plan.differences(folder, saved, _versions()["versions"], threads.in_use()):
            warn(f"{folder}: {line}")
        writer = run_folder.Writer(folder)
        _cut_back(writer, saved)
        if found.longer:
            plan.write_longer(folder / run_folder.CONFIG, found)
        return _Training(found, writer, stop, listener).run(saved)


def last_state(folder: Path, found: Plan) -> checkpoint.Saved | None:
    """The newest state of the run in ``folder`` that is whole and fits its logs; None before one.

    Raises:
        UserError: there are checkpoints, but none can be used.
    """
    return checkpoint.load(
        folder / run_folder.CHECKPOINTS,
        _shapes(found.config, found.world),
        found.sha256,
        lambda arrays, manifest: plan.check_saved(folder, arrays, manifest),
        from_0_1,
    )


def _cut_back(writer: run_folder.Writer, saved: checkpoint.Saved | None) -> None:
    """Make the folder what it was when ``saved`` was written."""
    folder, states = writer.path, writer.path / run_folder.CHECKPOINTS
    # What it was writing when it was killed. Pictures and pages are written by others, at any time.
    own = (run_folder.CONFIG, run_folder.SKILLS, run_folder.SUMMARY)
    files.remove(*files.leftovers(folder, own), *files.leftovers(states))
    # Of a run that goes on longer.
    files.remove(folder / run_folder.SUMMARY, folder / run_folder.SKILLS)
    for path in checkpoint.manifests(states):
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
        planned: Plan,
        writer: run_folder.Writer,
        stop: Callable[[], int],
        listener: Listener | None,
    ) -> None:
        config, world = planned.config, planned.world
        self.config, self.world, self.writer = config, world, writer
        self.stop, self.listener = stop, listener or (lambda _: None)
        self.identity = planned.sha256
        self.n_available = n_available(held(world, config.hold), config.decisions)
        self.program, self.hyper = program(world, config), hyper_of(config)
        self.first_full_at: int | None = None
        self.n_rows = 0
        self.n_effective: float = 0
        self.began_at = 0  # iteration in which this process began
        self.train_seconds = 0.0
        self.compile_seconds = 0.0
        names = ("wall_seconds", "train_seconds", "compile_seconds", "save_seconds")
        self.earlier = dict.fromkeys(names, 0.0)
        self.began = self.saved_at = time.perf_counter()
        self.save_seconds = self.all_save_seconds = 0.0
        self.last_good: Path | None = None
        self.save_every = _save_seconds()

    def run(self, saved: checkpoint.Saved | None) -> Run:
        """Train from the start, or from where ``saved`` is, to the end."""
        try:
            return self._run(saved)
        except UserError as error:  # the disk, or a world that lives on the host
            if not claims.begun(self.writer.path):
                raise
            raise UserError(f"{error}; fix that, then go on with {self._again()}") from None
        finally:
            self.program.close()

    def _run(self, saved: checkpoint.Saved | None) -> Run:
        began = time.perf_counter()
        cache.use()
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
            self.n_effective = records.count(float(evaluation.n_effective))
            self.listener(self._progress(iteration))
            if iteration < total:
                self._save_if_due(state, iteration)
        self._save(state, iteration)
        self._record_end(iteration, evaluation)
        self.writer.skills(
            records.skills_of(self.world, evaluation), self.identity, evidence(self.world)
        )
        self.writer.summary(self._summary(iteration, evaluation))
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
            self.n_effective = rows[-1]["n_effective"]
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
            if iteration < due:
                self.listener(self._progress(iteration))
                self._save_if_due(state, iteration)
        return state

    def _save_if_due(self, state: TrainState, iteration: int) -> None:
        """Only where the row of an evaluation in this very round has been written."""
        pause = max(self.save_every, self.save_seconds / _SAVE_SHARE)
        if time.perf_counter() - self.saved_at > pause:
            self._save(state, iteration)

    def _evaluate(self, state: TrainState) -> Evaluation:
        on_host: Evaluation = jax.device_get(self.program.evaluate(state, self.hyper))
        if not self.world.places.counted:
            on_host = on_host._replace(n_effective=0 * on_host.n_effective)
        floats = [leaf for leaf in jax.tree.leaves(on_host) if leaf.dtype.kind == "f"]
        if not all(np.isfinite(leaf).all() for leaf in floats):  # parameters may still be
            self._not_finite(int(state.iteration))
        n, places = self.world.places.n, on_host.trajectories
        if n is not None and not (places.min() >= 0 and places.max() < n):
            raise UserError(
                f"{self.world.name}: places {places.min()} to {places.max()}, where Places(n={n}) "
                f"allows 0 to {n - 1}"
            )
        return on_host

    def _record(self, iteration: int, evaluation: Evaluation) -> None:
        self._note(iteration, evaluation)
        if records.has_detail(self.n_rows):
            self.writer.detail(records.detail(self._steps(iteration), evaluation))
        if records.has_history(self.n_rows):
            self.writer.history(records.moment(self._steps(iteration), evaluation))
        self.n_rows += 1

    def _record_end(self, iteration: int, evaluation: Evaluation) -> None:
        """What only the end of a run has; after the last save, as a longer run lacks it."""
        between = iteration % self.config.evaluate_iterations != 0
        if between:
            self._note(iteration, evaluation)
        if between or not records.has_detail(self.n_rows - 1):
            self.writer.detail(records.detail(self._steps(iteration), evaluation))
        if between or not records.has_history(self.n_rows - 1):
            self.writer.history(records.moment(self._steps(iteration), evaluation))

    def _note(self, iteration: int, evaluation: Evaluation) -> None:
        self.n_effective = records.count(float(evaluation.n_effective))
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
            "n_available": "" if self.n_available is None else self.n_available,
            "wall_seconds": self._seconds()["wall_seconds"],
        }
        for name in (
            "mean_reward",
            "mean_last_reward",
            "discriminator_accuracy",
            "information_count",
            "mutual_information",
        ):
            found = getattr(evaluation, name)
            row[name] = "" if found is None else f"{float(found):.6g}"
        for quantile, value in zip(QUANTILES, evaluation.reward_quantiles, strict=True):
            row[f"reward_q{round(100 * quantile)}"] = f"{float(value):.6g}"
        return row

    def _not_finite(self, iteration: int) -> NoReturn:
        good = f"the last good checkpoint is {self.last_good}" if self.last_good else ""
        raise NonFinite(
            f"{self.writer.path}: parameters became non-finite before step "
            f"{self._steps(iteration):,}; lower --learning-rate or --discriminator-learning-rate, "
            f"or check a reward of your own ({good or 'no checkpoint had been written yet'})"
        )

    def _interrupt(self, state: TrainState, iteration: int) -> NoReturn:
        self._save(state, iteration)
        steps, total = (self._steps(n) for n in (iteration, self.config.iterations))
        raise RunInterrupted(
            f"stopped after {steps:,} of {total:,} steps, state saved; go on with {self._again()}",
            self.stop(),
        )

    def _again(self) -> str:
        """How to go on; a world that only this process knows needs Python."""
        if only_here(self.config, self.world) is None:
            return f"'apart resume {self.writer.path}'"
        return f"apart.resume('{self.writer.path}') in Python"

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
            n_skills=self.config.skills,
            counted=self.world.places.counted,
        )

    def _updates(self, iteration: int) -> int:
        return iteration * self.config.updates_per_episode

    def _summary(self, iteration: int, evaluation: Evaluation) -> dict[str, Any]:
        c, seconds = self.config, self._seconds()
        env_steps = self._steps(iteration)
        return {
            "config_sha256": self.identity,
            "world": self.world.name,
            "method": c.method,
            "seed": c.seed,
            "n_effective": self.n_effective,
            "n_available": self.n_available,
            "evidence": evidence(self.world),
            "n_random_walk": records.random_walk(self.world, c),
            "spread": records.spread_of(self.world, c, evaluation),
            "task": records.task_of(self.world, c, evaluation),
            "first_full_at": self.first_full_at,
            "env_steps": env_steps,
            "updates": self._updates(iteration),
            **seconds,
            "env_steps_per_second": round(env_steps / max(seconds["wall_seconds"], 1e-9), 1),
            "peak_rss_mb": peak_rss_mb(),
            "version": __version__,
        }


def _save_seconds() -> float:
    """At least so many seconds between two checkpoints: fewer where machines are taken away."""
    text = os.environ.get(_SAVE_VARIABLE)
    if text is None:
        return _SAVE_SECONDS
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0.0 <= seconds < math.inf:
        raise UserError(f"{_SAVE_VARIABLE}={text}: give seconds, such as 10")
    return seconds


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
