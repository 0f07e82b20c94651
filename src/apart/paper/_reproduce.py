"""Run what is missing, keep it, draw it, judge it. Trains in processes of its own; no JAX here."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from apart._config import Config
from apart._errors import RunInterrupted, UserError
from apart._version import __version__
from apart.paper import _draw, experiment
from apart.paper._board import Board, Say
from apart.paper._spec import (
    DETAILS,
    MISSED,
    NOT_JUDGED,
    REPRODUCED,
    SKILLS,
    Condition,
    Experiment,
    Record,
    Results,
    spread,
)
from apart.running import pool, threads
from apart.running.progress import duration
from apart.runs import files
from apart.runs import folder as run_folder
from apart.runs import plan as setup
from apart.runs.lock import Lock
from apart.settings import resolve
from apart.worlds.grid import World

_CURVE = ("env_steps", "n_effective")
_MOST_ROWS = 80
_MARKS = (1e6, 5e6, math.inf)  # environment steps that claims are about: these rows are kept
Engine = Callable[[Mapping[Path, list[str]], "pool.Watcher[Path]"], dict[Path, pool.Failure]]


class Run(NamedTuple):
    """One seed of one condition; equal ones of several experiments are one."""

    folder: Path
    condition: Condition
    config: Config
    world: World

    @property
    def done(self) -> bool:
        """Whether it is finished."""
        return (self.folder / run_folder.SUMMARY).exists()

    @property
    def seconds(self) -> float:
        """A guess of what it costs on one core, from sizes alone."""
        c, states = self.config, self.world.n_states
        pairs = c.skills * (c.skills - 1) // 2 if c.discriminator.startswith("all_pairs") else 0
        of_pair = 2.2e-9 if states * pairs < 1_000_000 else 4e-9  # in the cache or not
        if c.reward == "average_pairs":
            of_pair *= 1.8  # which reads them all
        per_update = 1e-4 + states * (of_pair * pairs + 6e-9 * c.skills)
        if c.discriminator_network == "mlp":
            per_update += 3.2e-3
        if c.network == "cnn":
            per_update += 0.7 + 3e-4 * pairs
        return 4.0 + c.iterations * c.updates_per_episode * per_update


def run_of(condition: Condition, seed: int, steps: int, folder: Path) -> Run:
    """Where the run of ``condition`` is, or will be: named after all that decides its bits."""
    options = {**condition.options, "steps": steps, "seed": seed}
    config, world = resolve(condition.world, condition.method, options)
    name = f"{world.name}-{condition.method}-{steps}-{_fingerprint(config)}"
    return Run(folder / "runs" / name / f"seed-{seed}", condition, config, world)


def _fingerprint(config: Config) -> str:
    return dataclasses.replace(config, seed=0).fingerprint()[:10]


def plan(name: str, folder: Path, seeds: int | None, steps: int | None) -> dict[str, list[Run]]:
    """The runs of an experiment by condition."""
    spec = experiment(name)
    n_seeds, n_steps = seeds or spec.seeds, steps or spec.steps
    return {
        c.label: [run_of(c, seed, n_steps, folder) for seed in range(n_seeds)]
        for c in spec.conditions
    }


def reproduce(
    names: Sequence[str],
    folder: Path,
    *,
    seeds: int | None = None,
    steps: int | None = None,
    engine: Engine = pool.run,
    say: Say = lambda text: print(text, flush=True),
) -> dict[str, Path]:
    """Train what is missing; write ID.json and ID.png of an experiment as soon as it is complete.

    Raises:
        UserError: an unknown id or a wrong option; nothing was trained.
        RunInterrupted: a signal; finished runs stay, calling again goes on.
    """
    plans = {name: plan(name, folder, seeds, steps) for name in names}
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file; choose another --out")
    if not (folder / "runs").is_dir() and files.listing(folder):
        raise UserError(f"{folder} is not empty and holds no reproduction; choose another --out")
    runs = {run.folder: run for p in plans.values() for group in p.values() for run in group}
    todo = sorted((r for r in runs.values() if not r.done), key=lambda r: r.seconds)
    cost = sum(run.seconds for run in todo)
    say(
        f"{names[0] if len(names) == 1 else f'{len(names)} experiments'}: {len(runs)} runs, "
        f"{len(runs) - len(todo)} done, {len(todo)} to do, about "
        f"{duration(cost / threads.cores())} on {threads.cores()} cores"
    )
    pictures: dict[str, Path] = {}

    def show() -> None:
        for name, planned in plans.items():
            if name not in pictures and all(r.done for group in planned.values() for r in group):
                pictures[name] = _show(name, planned, folder, steps, say)

    show()
    if todo:
        groups = {
            name: {run.folder for group in planned.values() for run in group}
            for name, planned in plans.items()
        }
        _train(todo, groups, engine, say, show)
    return {name: pictures[name] for name in plans}


def _show(
    name: str, planned: Mapping[str, Sequence[Run]], folder: Path, steps: int | None, say: Say
) -> Path:
    """Write, draw and print what a complete experiment found; its picture."""
    spec = experiment(name)
    runs = {label: [record_of(run, spec.keeps) for run in runs] for label, runs in planned.items()}
    results = Results(runs, steps or spec.steps)
    write_results(folder / f"{name}.json", results, spec)
    picture = draw(name, results, folder / f"{name}.png")
    say(f"\n{table(name, results)}\n{picture}")
    return picture


def _train(
    todo: Sequence[Run],
    groups: Mapping[str, Collection[Path]],
    engine: Engine,
    say: Say,
    show: Callable[[], None],
) -> None:
    """Train ``todo``; ``show`` is called whenever one of them is done."""
    for run in todo:
        if not (run.folder / run_folder.CONFIG).exists():
            with run_folder.claim(run.folder, overwrite=False):
                setup.write(run.folder, run.config, run.world)
    runs = {run.folder: run for run in todo}
    with Board(runs, groups, say) as board:

        def watch(folder: Path, progress: Mapping[str, Any] | None) -> None:
            if progress is not None:
                board.under_way(folder, progress["env_steps"] / progress["total_steps"])
                return
            # A study keeps results, not states.
            files.remove(*files.listing(folder / run_folder.CHECKPOINTS))
            found, run = run_folder.load(folder), runs[folder]
            board.done(
                folder,
                f"{run.condition.label}, {run.config.world}, seed {run.config.seed}: "
                f"{found.n_effective} of {found.n_available}",
            )
            show()

        try:
            failures = engine({folder: pool.command(folder) for folder in runs}, watch)
        except RunInterrupted as stop:
            raise RunInterrupted(f"{stop}; the same command goes on", stop.signal_number) from None
    for path, failure in failures.items():
        raise failure.error(path)


def thinned(rows: Sequence[Mapping[str, float]]) -> list[Mapping[str, float]]:
    """Evenly many of the rows of metrics.csv, and those that claims are about."""
    step = max(1, -(-len(rows) // _MOST_ROWS))
    marks = {max(i for i, row in enumerate(rows) if row["env_steps"] <= at) for at in _MARKS}
    return [row for i, row in enumerate(rows) if i % step == 0 or i in marks]


def record_of(run: Run, keeps: Collection[str] = ()) -> Record:
    """What is kept of a finished run, with what its experiment ``keeps`` beside."""
    loaded = run_folder.load(run.folder)
    rows = loaded.metrics
    kept = thinned(rows)
    columns = [name for name in rows[0] if name in _CURVE or name in keeps]
    summary = loaded.summary
    first_seed = summary["seed"] == 0
    return Record(
        seed=summary["seed"],
        n_effective=summary["n_effective"],
        n_available=summary["n_available"],
        n_random_walk=summary["n_random_walk"],
        env_steps=summary["env_steps"],
        wall_seconds=summary["wall_seconds"],
        curve={name: [_whole(row[name]) for row in kept] for name in columns},
        details=_moments(loaded) if DETAILS in keeps else (),
        skills=_episodes(run.world, loaded) if SKILLS in keeps and first_seed else (),
    )


def _whole(value: float) -> float:
    """Whole numbers as such: they take less room."""
    return int(value) if value.is_integer() else value


def _moments(run: run_folder.Run) -> list[dict[str, Any]]:
    """What was recorded at the start, near 5M steps (or a quarter) and at the end."""
    details = [_short(detail) for detail in run.details]
    quarter = min(5e6, details[-1]["env_steps"] / 4)
    middle = min(details, key=lambda detail: abs(detail["env_steps"] - quarter))
    return [details[0], middle, details[-1]]


def _episodes(world: World, run: run_folder.Run) -> list[list[int]]:
    number = {(int(row), int(column)): n for n, (row, column) in enumerate(world.cells)}
    return [[number[cell] for cell in skill.trajectory] for skill in run.skills]


def _short(detail: Mapping[str, Any]) -> dict[str, Any]:
    """A detail with the most skills at once in each state instead of the visits of every step."""
    most: dict[int, int] = {}
    for step in detail["visits_per_step"]:
        for state, count in step:
            most[state] = max(most.get(state, 0), count)
    return {
        "env_steps": detail["env_steps"],
        "accuracy_per_step": detail["accuracy_per_step"],
        "most_at_once": sorted(most.items()),
    }


def _settings(spec: Experiment) -> dict[str, Any]:
    """What was trained under each label, as JSON gives it back."""
    conditions = {c.label: dataclasses.asdict(c) for c in spec.conditions}
    settings: dict[str, Any] = json.loads(json.dumps(conditions))
    return settings


def write_results(path: Path, results: Results, spec: Experiment) -> None:
    """The stored form: JSON, read back by `read_results`."""
    files.make_folder(path.parent)
    head = {"apart": __version__, "steps": results.steps, "conditions": _settings(spec)}
    parts = []
    for label, records in results.runs.items():
        lines = ",\n".join(
            "  " + json.dumps(dataclasses.asdict(record), separators=(",", ":"))
            for record in records
        )
        parts.append(f" {json.dumps(label)}: [\n{lines}\n ]")
    text = json.dumps(head)[:-1] + ', "runs": {\n' + ",\n".join(parts) + "\n}}\n"
    files.write_bytes(path, text.encode())


def read_results(path: Path, spec: Experiment) -> Results:
    """Results as they were stored.

    Raises:
        UserError: they were trained with other settings than ``spec`` says.
    """
    stored = files.read_json(path)
    wanted, had = _settings(spec), stored["conditions"]
    for label in {**wanted, **had}:
        if wanted.get(label) != had.get(label):
            raise UserError(
                f"{path}: '{label}' is {had.get(label)} there, {wanted.get(label)} in the "
                f"experiment; make it again: apart reproduce {path.stem}"
            )
    runs = {label: [Record(**r) for r in records] for label, records in stored["runs"].items()}
    return Results(runs, stored["steps"])


def draw(name: str, results: Results, path: Path) -> Path:
    """The experiment's picture at ``path``."""
    spec = experiment(name)
    made = spec.draw(results) if spec.draw else _draw.variations(results, spec)
    files.write_picture(path, made)
    return path


class Row(NamedTuple):
    """A claim of the paper beside ours."""

    claim: str
    paper: str
    ours: str
    verdict: str
    why: str
    own: bool  # a question of ours


_ANSWERS = {REPRODUCED: "yes", MISSED: "no"}  # to questions of ours


def judge(spec: Experiment, results: Results) -> list[Row]:
    """Every claim with its verdict; not judged where the runs are too short for it."""
    rows = []
    for claim in spec.claims:
        found = claim.check(results._replace(until=claim.at))
        verdict, why = found.verdict, claim.why.get(found.verdict, found.why)
        if results.steps < claim.at and verdict == claim.early:
            why += f", after {results.steps / 1e6:g}M steps already"
        elif results.steps < claim.at:
            verdict = f"not judged below {claim.at / 1e6:g}M steps"
            why = claim.why.get(NOT_JUDGED, f"ours end at {results.steps / 1e6:g}M")
        if results.seeds < 2:
            verdict, why = "not judged by one seed", "it has no interval"
        paper = f"{claim.paper} (a question of ours)" if claim.ours else claim.paper
        if claim.ours:
            verdict = _ANSWERS.get(verdict, verdict)
        rows.append(Row(claim.text, paper, found.ours, verdict, why, claim.ours))
    return rows


def table(name: str, results: Results) -> str:
    """For the terminal: what each condition found, and each claim with its verdict."""
    spec = experiment(name)
    width = max(len(label) for label in results.runs)
    lines = [f"{name}: {spec.title} ({spec.source}), {results.steps / 1e6:g}M steps"]
    lines += [f"  {label:<{width}}  {spread(results.final(label))}" for label in results.runs]
    for row in judge(spec, results):
        lines.append(
            f"  {row.verdict}: {row.claim}; paper: {row.paper}; ours: {row.ours}; {row.why}"
        )
    return "\n".join(lines)


def ray_engine(
    commands: Mapping[Path, list[str]], watch: pool.Watcher[Path]
) -> dict[Path, pool.Failure]:
    """The same runs as tasks of a Ray cluster; their folders come back as files.

    Connects to the cluster that RAY_ADDRESS names, or starts one here. Machines need the same
    version of this package; they share no disk.
    """
    try:
        import ray
    except ImportError:
        raise UserError(
            "--engine ray needs Ray: pip install '.[ray]' in a checkout of it"
        ) from None
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would call home
    os.environ.setdefault("RAY_worker_niceness", "0")  # this is the work, not something beside it
    own: dict[str, Any] = {} if os.environ.get("RAY_ADDRESS") else {"include_dashboard": False}
    ray.init(log_to_driver=False, **own)
    try:
        return _on_ray(ray, commands, watch)
    finally:
        ray.shutdown()


def _on_ray(
    ray: Any, commands: Mapping[Path, list[str]], watch: pool.Watcher[Path]
) -> dict[Path, pool.Failure]:
    train = ray.remote(num_cpus=1, max_retries=2)(_train_elsewhere)
    waiting = {
        train.remote((folder / run_folder.CONFIG).read_bytes()): folder for folder in commands
    }
    failures: dict[Path, pool.Failure] = {}
    while waiting and not failures:
        (ready,), _ = ray.wait(list(waiting), num_returns=1)
        folder = waiting.pop(ready)
        answer = ray.get(ready)
        if isinstance(answer, tuple):
            failures[folder] = pool.Failure(*answer)
        else:
            _receive(folder, answer)
            watch(folder, None)
    return failures


def _train_elsewhere(config: bytes) -> dict[str, bytes] | tuple[int, str]:
    """Train in a temporary folder; the files of the run, or exit code and last line of an error."""
    import subprocess
    import tempfile

    with tempfile.TemporaryDirectory() as where:
        files.write_bytes(Path(where) / run_folder.CONFIG, config)
        done = subprocess.run(
            pool.command(Path(where)), capture_output=True, text=True, check=False
        )
        if done.returncode:
            return done.returncode, done.stderr.strip().split("\n")[-1]
        return {file.name: file.read_bytes() for file in Path(where).iterdir() if file.is_file()}


def _receive(folder: Path, content: Mapping[str, bytes]) -> None:
    """Write a run that was trained elsewhere; the summary, which makes it finished, last."""
    with Lock(folder):
        for name in sorted(content, key=lambda name: name == run_folder.SUMMARY):
            if name in (
                run_folder.CONFIG,
                run_folder.METRICS,
                run_folder.DETAILS,
                run_folder.SKILLS,
                run_folder.SUMMARY,
            ):
                files.write_bytes(folder / name, content[name])


ENGINES: Mapping[str, Engine] = {"local": pool.run, "ray": ray_engine}


def ledger(stored: Iterable[tuple[str, Results]]) -> str:
    """The ledger as Markdown: a section per experiment, a row per claim."""
    parts = []
    for name, results in stored:
        spec = experiment(name)
        seeds = max(len(records) for records in results.runs.values())
        words = ["apart reproduce", name]
        words += [f"--steps {results.steps}"] if results.steps != spec.steps else []
        words += [f"--seeds {seeds}"] if seeds != spec.seeds else []
        parts.append(
            f"### {spec.title}\n\n{spec.source}. Ours: {results.steps / 1e6:g}M steps, {seeds} "
            f"seeds (`{' '.join(words)}`).\n"
        )
        lines = ["| claim | paper | ours | verdict | why |", "|---|---|---|---|---|"]
        for row in judge(spec, results):
            lines.append(
                f"| {row.claim} | {row.paper} | {row.ours} | **{row.verdict}** | {row.why} |"
            )
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)
