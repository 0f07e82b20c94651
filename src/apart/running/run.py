"""The host loop: chunks of compiled training, and between them evaluation, files and words."""

from __future__ import annotations

import platform
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
from apart.running import cache, devices, machine, records, remake, threads
from apart.running.clock import Clock
from apart.running.logbook import Logbook
from apart.running.progress import Listener, Progress
from apart.running.signals import stop_signals
from apart.runs import checkpoint, claims, files, plan
from apart.runs import folder as run_folder
from apart.runs.folder import Run
from apart.runs.lock import Lock
from apart.runs.plan import Plan
from apart.settings import only_here
from apart.training.evaluate import Evaluation
from apart.training.program import Program, program
from apart.training.state import (
    COUNTED,
    Hyper,
    StepCount,
    TrainState,
    by_name,
    env_steps,
    from_0_1,
    hyper_of,
    restored,
    to_arrays,
)
from apart.worlds.holding import held
from apart.worlds.world import World, evidence, n_available

_SLICE_SECONDS = 0.5


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
        lost = found.finished and not (folder / run_folder.SKILLS).exists()
        if found.finished and not lost:
            return run_folder.load(folder)
        saved = last_state(folder, found)
        writer = run_folder.Writer(folder)
        if lost:
            remake.skills(writer, found, saved)
            warn(f"{folder / run_folder.SKILLS}: was missing, made again from the last checkpoint")
            return run_folder.load(folder)
        for line in plan.differences(folder, saved, _versions()["versions"], threads.in_use()):
            warn(f"{folder}: {line}")
        _cut_back(writer, saved)
        if found.longer:
            plan.write_longer(folder / run_folder.CONFIG, found)
        return _Training(found, writer, stop, listener).run(saved)


def last_state(folder: Path, found: Plan) -> checkpoint.Saved | None:
    """The newest state of the run in ``folder`` that is whole and fits its logs; None before one.

    Raises:
        UserError: there are checkpoints, but none can be used.
    """
    shapes = _shapes(found.config, found.world)
    counted = {name for name in shapes if name.startswith(COUNTED)}  # version 0.3 did not count
    return checkpoint.load(
        folder / run_folder.CHECKPOINTS,
        {name: shape for name, shape in shapes.items() if name not in counted},
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
        self.logbook = Logbook(writer, config, self.n_available)
        self.clock = Clock()
        self.total = config.total_steps
        self.began_in = 0  # the round in which this process began
        self.began_at = 0  # environment steps made before this process began
        self.last_good: Path | None = None

    def run(self, saved: checkpoint.Saved | None) -> Run:
        """Train from the start, or from where ``saved`` is, to the end."""
        try:
            return self._run(saved)
        except UserError as error:  # the disk, or a world that lives on the host
            if not claims.begun(self.writer.path):
                raise
            raise UserError(f"{error}; fix that, then continue with {self._again()}") from None
        finally:
            self.program.close()

    def _run(self, saved: checkpoint.Saved | None) -> Run:
        cache.use()
        state = self.program.init(jnp.uint32(self.config.seed), self.hyper)
        if state.made is not None:
            self.total = self.config.steps
        if saved is not None:
            state = restored(self.config, state, saved.arrays)
            self._go_on(saved, self._steps(state))
        self.listener(self._progress(self.began_at))  # nothing can be wrong any more
        state = self._rounds(state, 0, until=0)  # compiles, does no work
        evaluation = self._evaluate(state)
        self.clock.compiled()
        steps = self._steps(state)
        if saved is None:
            self.logbook.see(steps, evaluation, self._wall_seconds(), regular=True)
        while steps < self.total:
            regular = self.config.next_evaluation(steps)
            due = min(regular, self.total)
            state = self._advance(state, due)
            steps = self._steps(state)
            if steps < due:
                self._interrupt(state)
            evaluation = self._evaluate(state)
            self.logbook.see(steps, evaluation, self._wall_seconds(), regular=steps >= regular)
            self._tell(state, evaluation)
            if steps < self.total:
                self._save_if_due(state)
        self._save(state)
        self.logbook.end(steps, evaluation, self._wall_seconds())
        self.writer.skills(records.skills_of(self.world, evaluation), self.identity, self._evidence)
        self.writer.summary(
            self._summary(
                steps,
                evaluation,
                random_walk(self.world, self.config, self.program, state, self.hyper),
            )
        )
        return run_folder.load(self.writer.path)

    def _steps(self, state: TrainState) -> int:
        """Environment steps made so far."""
        return env_steps(self.config, state)

    def _go_on(self, saved: checkpoint.Saved, steps: int) -> None:
        """What the host knew when ``saved`` was written; its rows are in the metrics."""
        self.began_in, self.began_at, self.last_good = saved.iteration, steps, saved.path
        self.clock.go_on(saved.manifest.get("seconds", {}))
        path = self.writer.path / run_folder.METRICS
        written = run_folder.read_log(path, saved.manifest["logs"][run_folder.METRICS])
        self.logbook.go_on(run_folder.rows_of(written))

    def _advance(self, state: TrainState, due: int) -> TrainState:
        """Train until ``due`` steps, in slices short enough to show progress and to be stopped.

        The length of a slice is an argument of the compiled chunk: it does not touch the bits.
        Every slice is checked for non-finite numbers before it can be saved.
        """
        steps = self._steps(state)
        while steps < due and not self.stop():
            rounds, seconds = int(state.iteration) - self.began_in, self.clock.training_here
            n = max(int(rounds / seconds * _SLICE_SECONDS), 1) if seconds else 1
            with self.clock.training():
                state = self._rounds(state, n, due)
                finite = bool(self.program.finite(state))
            steps = self._steps(state)
            if not finite:
                self._not_finite(steps)
            if steps < due:
                self._tell(state)
                self._save_if_due(state)
        return state

    def _rounds(self, state: TrainState, n: int, until: int) -> TrainState:
        """At most ``n`` rounds more, and none after the one that comes to ``until`` steps."""
        if state.made is None:
            left = max(until - self._steps(state), 0) // self.config.collection
            return self.program.chunk(state, self.hyper, jnp.int32(min(n, left)))
        return self.program.chunk(state, self.hyper, jnp.int32(n), StepCount.of(until))

    def _tell(self, state: TrainState, evaluation: Evaluation | None = None) -> None:
        """Report progress; where the listener was killed the state is saved first."""
        measured = {} if evaluation is None else records.live(evaluation)
        try:
            self.listener(self._progress(self._steps(state))._replace(**measured))
        except BrokenPipeError:
            self._save(state)
            raise

    def _save_if_due(self, state: TrainState) -> None:
        """Only where the row of an evaluation in this very round has been written."""
        if self.clock.save_is_due:
            self._save(state)

    def _evaluate(self, state: TrainState) -> Evaluation:
        on_host: Evaluation = jax.device_get(self.program.evaluate(state, self.hyper))
        if not self.world.places.counted:
            on_host = on_host._replace(n_effective=0 * on_host.n_effective)
        floats = [leaf for leaf in jax.tree.leaves(on_host) if leaf.dtype.kind == "f"]
        if not all(np.isfinite(leaf).all() for leaf in floats):  # parameters may still be
            self._not_finite(self._steps(state))
        n, places = self.world.places.n, on_host.trajectories
        if n is not None and not (places.min() >= 0 and places.max() < n):
            raise UserError(
                f"{self.world.name}: places {places.min()} to {places.max()}, where Places(n={n}) "
                f"allows 0 to {n - 1}"
            )
        return on_host

    def _not_finite(self, steps: int) -> NoReturn:
        good = f"the last good checkpoint is {self.last_good}" if self.last_good else ""
        raise NonFinite(
            f"{self.writer.path}: parameters became non-finite before step {steps:,}; lower "
            "--learning-rate or --discriminator-learning-rate, "
            f"or check your own reward ({good or 'no checkpoint had been written yet'})"
        )

    def _interrupt(self, state: TrainState) -> NoReturn:
        self._save(state)
        raise RunInterrupted(
            f"stopped after {self._steps(state):,} of {self.total:,} steps, state saved; "
            f"continue with {self._again()}",
            self.stop(),
        )

    def _again(self) -> str:
        """How to go on; a world that only this process knows needs Python."""
        if only_here(self.config, self.world) is None:
            return f"'apart resume {self.writer.path}'"
        return f"apart.resume('{self.writer.path}') in Python"

    def _save(self, state: TrainState) -> None:
        with self.clock.saving():
            about = {
                "config_sha256": self.identity,
                "logs": self.writer.sync(),
                "threads": threads.in_use(),
                "seconds": self.clock.spent(),
                **_versions(),
            }
            folder = self.writer.path / run_folder.CHECKPOINTS
            arrays = to_arrays(state)
            self.last_good = checkpoint.save(folder, int(state.iteration), arrays, about)

    @property
    def _evidence(self) -> str:
        """A method that never learns is evaluated as it acts: at random."""
        return evidence(self.world, by_luck=self.config.updates_per_episode == 0)

    def _wall_seconds(self) -> float:
        return self.clock.spent()["wall_seconds"]

    def _progress(self, steps: int) -> Progress:
        c, made = self.config, steps - self.began_at
        return Progress(
            env_steps=min(steps, self.total),
            total_steps=self.total,
            n_effective=self.logbook.n_effective,
            n_available=self.n_available,
            steps_per_second=made / max(self.clock.here, 1e-9),
            n_skills=c.skills,
            counted=self.world.places.counted,
        )

    def _summary(
        self, env_steps: int, evaluation: Evaluation, random_walk: float | None
    ) -> dict[str, Any]:
        c, seconds = self.config, self.clock.spent()
        return {
            "config_sha256": self.identity,
            "world": self.world.name,
            "method": c.method,
            "seed": c.seed,
            "n_effective": self.logbook.n_effective,
            "n_available": self.n_available,
            "evidence": self._evidence,
            "n_random_walk": random_walk,
            "spread": records.spread_of(self.world, c, evaluation),
            "task": records.task_of(self.world, c, evaluation),
            "first_full_at": self.logbook.first_full_at,
            "env_steps": env_steps,
            "updates": c.updates_after(env_steps),
            **seconds,
            "env_steps_per_second": round(env_steps / max(seconds["wall_seconds"], 1e-9), 1),
            "peak_rss_mb": machine.peak_rss_mb(),
            "machine": machine.words(),
            "version": __version__,
        }


def random_walk(
    world: World, config: Config, made: Program, state: TrainState, hyper: Hyper
) -> float | None:
    """What random actions find: exact in tables, else in as many episodes as there are skills.

    None where the world has no places to count.
    """
    if made.random is None:
        return records.random_walk(world, config)
    if not world.places.counted:
        return None
    return len(np.unique(np.asarray(made.random(state, hyper))))


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
