"""``apart train WORLD``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
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
from apart.methods import METHODS, OURS, Method
from apart.running import jobs, threads
from apart.running.progress import REPORTERS, Listener, Progress, Reporter, several
from apart.runs.plan import MAX_SEEDS
from apart.worlds import environments, hosts
from apart.worlds.holding import held
from apart.worlds.world import TableWorld, Usual, walled_off

HELP = "learn K skills in a world"
_RUNNING = "running"
_MANY = 10  # names that help does not list
_ELSEWHERE = " in worlds that are not tables"
_FROM_WORLD = (*Usual._fields, "evaluate_every", "buffer")  # there, unless a method sets them
_GROUPS = {
    EVERYDAY: "common options",
    _RUNNING: "running",
    OBJECTIVE: "objective (a method sets these; change them to make your own)",
    LEARNING: "learning",
    NETWORKS: "networks instead of tables",
}


def add(parser: argparse.ArgumentParser, asked: list[str]) -> None:
    """Add its flags: those of `Config`, in groups, and those of a run folder."""
    parser.usage = "apart train WORLD [--method NAME] [--skills K] [--steps N] [OPTION ...]"
    parser.add_argument(
        "world",
        metavar="WORLD",
        help="a name from 'apart list worlds', a map file, "
        f"{hosts.SYNTAX} or {environments.SYNTAX} ('apart check WORLD' tests it)",
    )
    choices = facts.choices()
    groups = {name: parser.add_argument_group(title) for name, title in _GROUPS.items()}
    _add_options(groups, *_defaults(asked), choices)
    common = groups[EVERYDAY]
    common.add_argument(
        "--seeds", metavar="N", help="train N seeds, from --seed on, one process each"
    )
    common.add_argument(
        "--slip",
        metavar="P",
        help="probability of a random action instead of the chosen one (maps only; default 0)",
    )
    common.add_argument(
        "--reading",
        metavar="NAME",
        default=OURS,
        help=f"choices where the paper is silent: {', '.join(choices['reading'])} (default {OURS})",
    )
    common.add_argument("--out", metavar="DIR", help="run folder (default runs/WORLD-METHOD)")
    common.add_argument("--overwrite", action="store_true", help="replace the run in that folder")
    method, _, where = _defaults(asked)
    parser.description = (
        f"Learn K skills in WORLD. The defaults below are those of --method {method}{where}."
    )
    words.add_shared(groups[_RUNNING])
    parser.set_defaults(command=run)


def _defaults(asked: list[str]) -> tuple[str, Method, str]:
    """The method whose defaults help shows, its record where it is asked for, and where that is."""
    method = _method(asked)
    record = METHODS[method]
    if all(map(worlds.lists_states, asked)):
        return method, record, " in tables"
    return method, record.elsewhere, _ELSEWHERE


def _add_options(
    groups: Mapping[str, argparse._ArgumentGroup],
    method: str,
    record: Method,
    where: str,
    choices: Mapping[str, Mapping[str, str]],
) -> None:
    """Add the flags of `Config` with the defaults of ``record``."""
    every, decisions = record.steps_per_update, record.decisions
    in_words = {
        "method": method,
        "updates_per_episode": every and f"one in {every} steps",
        "hold": decisions and f"about T / {decisions}",
    }
    if where == _ELSEWHERE:
        in_words |= {name: "from the world" for name in _FROM_WORLD if name not in record.options}
    for name, spec in SPECS.items():
        default = in_words.get(name) or record.options.get(name, getattr(Config, name))
        text = f"{spec.help}{_names(spec.kind, choices)} (default {default_words(default)})"
        arguments: dict[str, Any] = {"dest": name, "default": argparse.SUPPRESS}
        if TYPES[name] is bool:
            arguments["action"] = argparse.BooleanOptionalAction
        else:
            arguments["metavar"] = "NAME" if TYPES[name] is str else "N"
        groups[spec.group].add_argument(flag(name), help=text.replace("%", "%%"), **arguments)


def _names(kind: str, choices: Mapping[str, Mapping[str, str]]) -> str:
    """The names of a kind in a help text, or the command that lists many."""
    if not kind:
        return ""
    if len(choices[kind]) > _MANY:
        return f"; 'apart list {kind}s' shows them"
    return f": {', '.join(choices[kind])}"


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
        line += (
            f"\n{reached} of {world.n_states} {noun}s can be reached in an episode"
            f"{walled_off(world)}"
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
        line += "\nnote: --updates-per-episode 0: nothing is learned"
    return line


def _few(config: Config, noun: str) -> str:
    """What becomes of fewer skills than places."""
    if facts.spreads(config):
        return f"they will spread out; --skills auto trains one for each {noun}"
    return (
        "most will end near the start; --method apart_spread spreads them, --skills auto trains "
        f"one for each {noun}"
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
