"""The command line: parsing and words for people; no logic. Answers errors without JAX.

Flags are derived from `_config.Config`; argparse rather than a larger parser, because its start
is quick and every error must be one line of our own.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from apart import settings
from apart._config import SPECS, TYPES, Config, check_value, flag
from apart._errors import NonFinite, RunInterrupted, UserError, nearest, unknown
from apart._version import __version__
from apart.running import threads
from apart.running.pool import NOTE
from apart.running.progress import REPORTERS, Listener, Progress, Reporter, duration
from apart.runs import folder as run_folder
from apart.runs import plan as setup

_SUFFIXES = {"k": 10**3, "M": 10**6, "G": 10**9, "m": 10**6, "K": 10**3}
_DEVICES = ("cpu", "gpu", "tpu", "cuda", "rocm")
_MOST_WORDS = 1000
_OWN = ("world", "method", "seed", "steps")


class _Parser(argparse.ArgumentParser):
    """Argparse whose errors are `UserError`, with the nearest valid name."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(allow_abbrev=False, **arguments)

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message} (see {self.prog} --help)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0, 2 (input), 3 (not finite), or 128 + signal."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(words)
    except UserError as error:
        return _fail(str(error), 2)
    except NonFinite as error:
        return _fail(str(error), 3)
    except RunInterrupted as error:
        return _fail(str(error), 128 + error.signal_number)
    except KeyboardInterrupt:
        return _fail("stopped", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:  # a path that cannot even be looked at
        return _fail(f"{error.filename or 'the system'}: {error.strerror or error}", 2)


def _fail(message: str, code: int) -> int:
    line = " ".join(message.split())
    if len(line) > _MOST_WORDS:
        line = f"{line[: _MOST_WORDS // 2]} ... {line[-_MOST_WORDS // 2 :]}"
    print(f"apart: {line}", file=sys.stderr)
    return code


def _run(words: list[str]) -> int:
    parser, commands = _parser()
    if words and not words[0].startswith("-") and words[0] not in commands:
        hint = nearest(words[0], commands) or f"; choose from {', '.join(commands)}"
        raise UserError(f"unknown command '{words[0]}'{hint}")
    parsed, rest = parser.parse_known_args(words)
    if rest:
        raise _unexpected(rest[0], commands.get(words[0]))
    if "command" not in parsed:
        parser.print_help()
        return 0
    for name, value in vars(parsed).items():
        if value == [] and name != "ids":  # what argparse makes of it
            raise UserError(f"{flag(name)}: '--' is no value")
    command: Callable[[argparse.Namespace], int] = parsed.command
    return command(parsed)


def _unexpected(word: str, parser: argparse.ArgumentParser | None) -> UserError:
    if not word.startswith("-") or parser is None:
        return UserError(f"unexpected argument '{word}'")
    known = [option for action in parser._actions for option in action.option_strings]
    name = word.split("=")[0]
    return UserError(
        f"unknown option '{name}'{nearest(name, known) or f' (see {parser.prog} --help)'}"
    )


def _parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    parser = _Parser(
        prog="apart",
        description="Discover, without any reward, all the different things an agent can do.",
    )
    parser.add_argument("--version", action="version", version=f"apart {__version__}")
    # Not `required`, not `choices`: `_run` gives the nearest command's name itself.
    subparsers = parser.add_subparsers(metavar="COMMAND", parser_class=_Parser)
    commands: dict[str, argparse.ArgumentParser] = {
        "train": subparsers.add_parser("train", help="discover skills in a world"),
        "resume": subparsers.add_parser("resume", help="go on where a run or a set stopped"),
        "list": subparsers.add_parser("list", help="worlds, methods and what options can be"),
        "reproduce": subparsers.add_parser(
            "reproduce", help="tables and figures of the paper, beside its own values"
        ),
        "bench": subparsers.add_parser("bench", help="speed of this machine on fixed work"),
    }
    _train_flags(commands["train"])
    again = commands["resume"]
    again.add_argument("folder", metavar="DIR", help="the folder of a run or of a set of runs")
    again.add_argument("--steps", help="train to so many environment steps instead")
    _shared_flags(again)
    again.set_defaults(command=_resume)
    commands["list"].set_defaults(command=_list)
    again = commands["reproduce"]
    again.add_argument("ids", metavar="ID", nargs="*", help="experiments (see 'apart list')")
    again.add_argument("--all", action="store_true", help="all of them")
    again.add_argument("--seeds", metavar="N", help="seeds per condition (default: 4, pixels 2)")
    again.add_argument(
        "--steps", help="environment steps (default: the experiment's, 5M or 20M, pixels 104k)"
    )
    again.add_argument("--out", metavar="DIR", help="folder (default runs/reproduce)")
    again.add_argument("--engine", default="local", help="local or ray (default local)")
    again.set_defaults(command=_reproduce)
    bench = commands["bench"]
    bench.add_argument("--json", metavar="FILE", help="also write the table as JSON")
    bench.add_argument("--seconds", default="2", help="seconds per measurement (default 2)")
    bench.add_argument("--repeats", default="3", help="measurements per row (default 3)")
    bench.set_defaults(command=_bench)
    return parser, commands


def _train_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("world", metavar="WORLD", help="a name from 'apart list', or a map file")
    parser.add_argument(
        "--method", default="apart", help="a name from 'apart list' (default apart)"
    )
    parser.add_argument("--steps", default=argparse.SUPPRESS, help="environment steps (default 5M)")
    parser.add_argument("--seed", default=argparse.SUPPRESS, help="random seed (default 0)")
    parser.add_argument("--seeds", metavar="N", help="train N seeds, from --seed on")
    parser.add_argument("--out", metavar="DIR", help="run folder (default runs/WORLD-METHOD)")
    parser.add_argument("--overwrite", action="store_true", help="replace the run in the folder")
    _shared_flags(parser)
    hyper = parser.add_argument_group("hyper-parameters (the method sets those that it names)")
    for name, spec in SPECS.items():
        if name in _OWN:
            continue
        default = getattr(Config, name)
        names = f": {', '.join(settings.CHOICES[spec.kind])}" if spec.kind else ""
        shown = ",".join(map(str, default)) if TYPES[name] is tuple else default
        text = f"{spec.help}{names} (default {shown})".replace("%", "%%")
        arguments: dict[str, Any] = {"dest": name, "default": argparse.SUPPRESS, "help": text}
        if TYPES[name] is bool:
            arguments["action"] = argparse.BooleanOptionalAction
        hyper.add_argument(flag(name), **arguments)
    parser.set_defaults(command=_train)


def _shared_flags(parser: argparse.ArgumentParser) -> None:
    """Of everything that trains."""
    parser.add_argument(
        "--device", metavar="NAME", help=f"{', '.join(_DEVICES)} (default: JAX's choice)"
    )
    parser.add_argument("--threads", metavar="N", help="CPU threads (default: what pays)")
    parser.add_argument("--progress", default="auto", help=f"{', '.join(REPORTERS)} (default auto)")
    parser.add_argument(
        "--draw",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="draw skills.png at the end",
    )


def number(name: str, text: str, whole: bool) -> int | float:
    """The number in ``text``: 5000000, 5M, 200k, 2e-3; `UserError` naming the flag otherwise."""
    plain, factor = text.strip(), 1
    if plain and plain[-1] in _SUFFIXES:
        plain, factor = plain[:-1], _SUFFIXES[plain[-1]]
    kind = "a whole number" if whole else "a number"
    try:
        if whole and plain.lstrip("+-").isdecimal() and len(plain) < 20:
            return int(plain) * factor
        value = float(plain) * factor
    except ValueError:
        raise UserError(f"{name}: '{text}' is not {kind}") from None
    return int(value) if whole and value.is_integer() and abs(value) < 1e18 else value


def _options(parsed: argparse.Namespace) -> dict[str, Any]:
    """The configuration fields that the user named, parsed and in range."""
    options = {}
    for name, value in vars(parsed).items():
        if name not in SPECS or name in ("world", "method"):
            continue
        kind = TYPES[name]
        if kind in (int, float):
            value = number(flag(name), value, kind is int)
        options[name] = check_value(name, value)
    return options


def _check_shared(parsed: argparse.Namespace) -> None:
    """The flags of `_shared_flags` that nothing else checks."""
    if parsed.progress not in REPORTERS:
        raise UserError(f"--progress: '{parsed.progress}' is none of {', '.join(REPORTERS)}")
    if parsed.device not in (None, *_DEVICES):
        raise unknown("device", parsed.device, _DEVICES)


def _out(parsed: argparse.Namespace) -> Path | None:
    return None if parsed.out is None else _path("--out", parsed.out)


def _path(name: str, text: str) -> Path:
    if not text or "\0" in text:
        raise UserError(f"{name}: {text!r} is no path")
    return Path(text)


def _threads(parsed: argparse.Namespace, unless_said: int, several: bool) -> int:
    if parsed.threads is None:
        return unless_said
    if several:
        raise UserError("--threads does nothing here: each seed is a process of one thread")
    return _count("--threads", parsed.threads, setup.MAX_THREADS)


def _train(parsed: argparse.Namespace) -> int:
    options = _options(parsed)
    seeds = None if parsed.seeds is None else _count("--seeds", parsed.seeds, setup.MAX_SEEDS)
    config, world = settings.resolve(parsed.world, parsed.method, options)
    n_threads = _threads(parsed, threads.best(config), several=seeds is not None)
    folder = _out(parsed) or run_folder.default_folder(config.world, config.method)
    refuse = run_folder.refusal(folder, parsed.overwrite)
    if refuse:
        raise UserError(refuse)
    _check_shared(parsed)
    reporter = REPORTERS[parsed.progress]()
    listener = _announced(
        f"{config.method} in {config.world}: {world.n_available(config.horizon)} of "
        f"{world.n_states} cells can be reached in {config.horizon} steps, {config.skills} skills",
        reporter,
    )
    common: dict[str, Any] = {
        "method": config.method,
        "overwrite": parsed.overwrite,
        "device": parsed.device,
        "listener": reporter if parsed.progress == "json" else listener,
    }
    try:
        if seeds is not None:
            from apart.running.seeds import train_seeds

            runs = train_seeds(parsed.world, seeds=seeds, out=folder, **common, **options)
        else:
            threads.use(n_threads)
            from apart.running.run import train

            runs = [train(world, out=folder, **common, **options)]
    finally:
        reporter.close()
    if parsed.progress != "json":
        _tell(runs, folder, draw=parsed.draw)
    return 0


def _announced(line: str, reporter: Reporter) -> Listener:
    """Says ``line`` when training begins: an error before that is the only line."""
    told = False

    def listen(progress: Progress) -> None:
        nonlocal told
        if not told:
            print(line, file=sys.stderr)
        told = True
        reporter(progress)

    return listen


def _resume(parsed: argparse.Namespace) -> int:
    folder = _path("DIR", parsed.folder)
    if not folder.is_dir():
        raise UserError(f"{folder}: no such run folder")
    steps = _steps(parsed)
    single = (folder / run_folder.CONFIG).exists()
    plans = {folder: setup.read(folder, steps)} if single else setup.read_set(folder, steps)
    if not plans:
        raise UserError(f"{folder}: no run and no set of runs here")
    path, plan = next(iter(plans.items()))
    n_threads = _threads(
        parsed, setup.saved_threads(path) or threads.best(plan.config), several=not single
    )
    _check_shared(parsed)
    if all(plan.finished for plan in plans.values()) and (folder / run_folder.SUMMARY).exists():
        for path in plans:
            run_folder.load(path).check()
        print(f"{folder}: finished already, nothing to do (--steps N trains longer)")
        return 0
    reporter = REPORTERS[parsed.progress]()
    common = {"steps": steps, "device": parsed.device, "listener": reporter}
    try:
        if single:
            threads.use(n_threads)
            from apart.running.run import resume

            runs = [resume(folder, warn=_warn, **common)]
        else:
            from apart.running.seeds import resume_seeds

            runs = resume_seeds(folder, **common)
    finally:
        reporter.close()
    if parsed.progress != "json":
        _tell(runs, folder, draw=parsed.draw)
    return 0


def _steps(parsed: argparse.Namespace) -> int | None:
    if parsed.steps is None:
        return None
    steps: int = check_value("steps", number("--steps", parsed.steps, whole=True))
    return steps


def _warn(line: str) -> None:
    print(f"{NOTE}{line}", file=sys.stderr)


def _count(name: str, text: str, most: int) -> int:
    value = number(name, text, whole=True)
    if not isinstance(value, int):
        raise UserError(f"{name}: '{text}' is not a whole number")
    if not 1 <= value <= most:
        raise UserError(f"{name}: {value} is outside 1 to {most}")
    return value


def _tell(runs: Sequence[run_folder.Run], folder: Path, draw: bool) -> None:
    from apart.report.figures import skills_picture, terminal_map

    for run in runs:
        s = run.summary
        full = (
            f", first complete at {s['first_full_at']:,}" if s["first_full_at"] is not None else ""
        )
        print(
            f"seed {s['seed']}: {run.n_effective} of {run.n_available} skills after "
            f"{s['env_steps']:,} steps{full} ({duration(s['wall_seconds'])}, "
            f"{s['env_steps_per_second']:,.0f} steps/s)"
        )
    print(f"for comparison: {runs[0].n_available} at most, {s['n_random_walk']} by random walk")
    if len(runs) == 1:
        print(f"\nlast states (skills that end in each cell):\n{terminal_map(runs[0])}\n")
    else:
        mean = sum(run.n_effective for run in runs) / len(runs)
        print(f"mean of {len(runs)} seeds: {mean:.2f}")
    if draw:
        for run in runs:
            print(f"every skill drawn: {skills_picture(run)}")
    print(f"run folder: {folder}")


def _list(_: argparse.Namespace) -> int:
    from apart import paper as experiments

    titles = {"world": "worlds", "method": "methods"}
    for kind, choices in settings.CHOICES.items():
        print(titles.get(kind, f"--{kind.replace(' ', '-')}"))
        width = max(map(len, choices))
        for name, summary in choices.items():
            print(f"  {name:<{width}}  {summary}")
    print("experiments (apart reproduce ID)")
    for name in experiments.names():
        spec = experiments.experiment(name)
        print(f"  {name:<20}  {spec.title}")
    return 0


def _reproduce(parsed: argparse.Namespace) -> int:
    from apart import paper as experiments
    from apart.paper._reproduce import ENGINES, reproduce

    if parsed.all and parsed.ids:
        raise UserError(f"--all or ids ({', '.join(parsed.ids)}), not both")
    ids = experiments.names() if parsed.all else parsed.ids
    if not ids:
        raise UserError(f"name an experiment or --all: {', '.join(experiments.names())}")
    if parsed.engine not in ENGINES:
        raise unknown("engine", parsed.engine, ENGINES)
    reproduce(
        list(dict.fromkeys(ids)),
        _out(parsed) or Path("runs") / "reproduce",
        seeds=None if parsed.seeds is None else _count("--seeds", parsed.seeds, 1_000_000),
        steps=_steps(parsed),
        engine=ENGINES[parsed.engine],
    )
    return 0


def _bench(parsed: argparse.Namespace) -> int:
    seconds = number("--seconds", parsed.seconds, whole=False)
    if not 0.01 <= seconds <= 3600:
        raise UserError(f"--seconds: {seconds} is outside 0.01 to 3600")
    repeats = _count("--repeats", parsed.repeats, 1000)
    path = None if parsed.json is None else _path("--json", parsed.json)
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise UserError(f"--json: {path} is no file in a folder that exists")
    from apart.running.bench import bench

    return bench(seconds=float(seconds), repeats=repeats, path=path)
