"""``apart train WORLD``."""

from __future__ import annotations

import argparse
import sys
from itertools import pairwise
from typing import Any

from apart import facts, settings, worlds
from apart._config import (
    EVERYDAY,
    LEARNING,
    NETWORKS,
    OBJECTIVE,
    SPECS,
    TYPES,
    Config,
    default_words,
    flag,
    number,
)
from apart._config import check_value as checked
from apart.cli import words
from apart.methods import METHODS, OURS
from apart.running import jobs, threads
from apart.running.progress import REPORTERS, Listener, Progress, Reporter, several
from apart.runs.plan import MAX_SEEDS
from apart.worlds import environments, hosts
from apart.worlds.holding import held
from apart.worlds.world import TableWorld, walled_off

HELP = "discover skills in a world"
_GROUPS = {
    EVERYDAY: "everyday",
    OBJECTIVE: "objective (what is rewarded; the method sets those that it names)",
    LEARNING: "learning",
    NETWORKS: "networks instead of tables",
}


def add(parser: argparse.ArgumentParser, asked: list[str]) -> None:
    """Its flags: those of `Config`, in groups, and those of a folder."""
    parser.add_argument(
        "world",
        metavar="WORLD",
        help="a name from 'apart list', a map file, "
        f"{hosts.SYNTAX} or {environments.SYNTAX} ('apart check WORLD' says how it will work)",
    )
    parser.add_argument(
        "--seeds", metavar="N", help="train N seeds, from --seed on, one process each"
    )
    parser.add_argument("--out", metavar="DIR", help="run folder (default runs/WORLD-METHOD)")
    parser.add_argument("--overwrite", action="store_true", help="replace the run in the folder")
    groups = {name: parser.add_argument_group(title) for name, title in _GROUPS.items()}
    groups[EVERYDAY].add_argument(
        "--slip",
        metavar="P",
        help="probability of a random action instead of the chosen one (maps; default 0)",
    )
    choices = facts.choices()
    groups[EVERYDAY].add_argument(
        "--reading",
        metavar="NAME",
        default=OURS,
        help="how the paper's open points are read, by their own options: "
        f"{', '.join(choices['reading'])} (default {OURS})",
    )
    method, where = _method(asked), ""
    record = METHODS[method]
    if record.beyond is not None:
        beyond = not all(map(worlds.lists_states, asked))
        record = record.beyond if beyond else record
        where = " where states cannot be listed" if beyond else " in tables"
    parser.description = f"Defaults are those of --method {method}{where} (apart list methods)."
    every, decisions = record.steps_per_update, record.decisions
    in_words = {
        "updates_per_episode": every and f"one in {every} steps",
        "hold": decisions and f"about T / {decisions}",
    }
    for name, spec in SPECS.items():
        default = in_words.get(name) or record.options.get(name, getattr(Config, name))
        names = f": {', '.join(choices[spec.kind])}" if spec.kind else ""
        text = f"{spec.help}{names} (default {default_words(default)})".replace("%", "%%")
        arguments: dict[str, Any] = {"dest": name, "default": argparse.SUPPRESS, "help": text}
        if TYPES[name] is bool:
            arguments["action"] = argparse.BooleanOptionalAction
        else:
            arguments["metavar"] = "NAME" if TYPES[name] is str else "N"
        groups[spec.group].add_argument(flag(name), **arguments)
    words.add_shared(parser)
    parser.set_defaults(command=run)


def _method(asked: list[str]) -> str:
    """The method whose defaults help is to show: the one that was named, if it is one."""
    words = [part for word in asked for part in word.split("=", 1)]
    named = [after for word, after in pairwise(words) if word == "--method"]
    return named[-1] if named and named[-1] in METHODS else Config.method


def _options(parsed: argparse.Namespace) -> dict[str, Any]:
    """The configuration fields that the user named, parsed and in range."""
    options = {}
    for name, value in vars(parsed).items():
        if name not in SPECS:
            continue
        options[name] = value if value == settings.AUTO else checked(name, value)
    return options


def run(parsed: argparse.Namespace) -> int:
    """Train, and tell."""
    options = _options(parsed)
    method = options.pop("method", Config.method)
    job = jobs.prepare(
        parsed.world,
        method=method,
        options=options,
        seeds=None if parsed.seeds is None else words.count("--seeds", parsed.seeds, MAX_SEEDS),
        reading=parsed.reading,
        slip=0.0 if parsed.slip is None else number("--slip", parsed.slip, whole=False),
        out=words.out(parsed),
        overwrite=parsed.overwrite,
    )
    n_threads = words.threads_of(parsed, threads.best(job.config), several=job.seeds is not None)
    words.check_shared(parsed)
    reporter = REPORTERS[parsed.progress]()
    quiet = parsed.progress == "json"
    listener = reporter if quiet else _announced(_begins(job), reporter)
    if job.seeds is None:
        threads.use(n_threads)
    try:
        trained = jobs.start(job, parsed.device, listener, parsed.engine)
    finally:
        reporter.close()
    words.conclude(parsed, trained)
    return 0


def _begins(job: jobs.Job) -> str:
    config, world = job.config, job.world
    skills, horizon = several(config.skills, "skill"), several(config.horizon, "step")
    if config.hold > 1:
        horizon += f" (each action held for {config.hold}, --hold)"
    line = (
        f"{config.method} in {world.name}: {skills}, episodes of {horizon}, "
        f"{config.steps:,} steps in all"
    )
    if isinstance(world, TableWorld):
        reached = held(world, config.hold).n_available(config.decisions)
        noun = world.places.noun
        line = (
            f"{config.method} in {world.name}: {reached} of {world.n_states} {noun}s can be "
            f"reached in {horizon}{walled_off(world)}, {skills}"
        )
        if reached < world.n_states:
            far = int(world.distance.max())
            every = held(world, config.hold).n_available(-(-2 * far // config.hold))
            way = "--horizon auto reaches it"
            if every < world.n_states:
                way = f"with --hold {config.hold} --horizon auto reaches {every}"
            line += f"\nnote: the farthest {noun} is {several(far, 'step')} away; {way}"
        if config.skills < reached and config.updates_per_episode and not facts.solves_task(config):
            line += f"\nnote: {skills} for {reached} {noun}s: {_few(config, noun)}"
    if not config.updates_per_episode and METHODS[config.method].learns:
        line += "\nnote: --updates-per-episode 0: nothing is learnt"
    return line


def _few(config: Config, noun: str) -> str:
    """What becomes of fewer skills than places."""
    if facts.spreads(config):
        return f"they will spread; --skills auto has one for each {noun}"
    return (
        "they will stay near the start; --method apart_spread spreads them, --skills auto has one "
        f"for each {noun}"
    )


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
