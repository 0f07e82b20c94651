"""``apart resume DIR``."""

from __future__ import annotations

import argparse

from apart._errors import UserError
from apart.cli import words
from apart.facts import staged
from apart.running import jobs, threads
from apart.running.jobs import path
from apart.running.progress import REPORTERS
from apart.runs import folder as run_folder
from apart.runs import plan

HELP = "continue a run or a set of seeds that was stopped"


def add(parser: argparse.ArgumentParser, asked: list[str]) -> None:
    """Add its flags."""
    parser.add_argument("folder", metavar="DIR", help="folder of a run or of a set of runs")
    parser.add_argument(
        "--steps", metavar="N", help="train for longer, to N environment steps in total"
    )
    words.add_shared(parser.add_argument_group("running"))
    parser.set_defaults(command=run)


def run(parsed: argparse.Namespace) -> int:
    """Go on, and tell."""
    folder = path("DIR", parsed.folder)
    if not folder.is_dir():
        raise UserError(f"{folder}: no such run folder")
    steps = words.steps(parsed)
    single = (folder / run_folder.CONFIG).exists()
    plans = {folder: plan.read(folder, steps)} if single else plan.read_set(folder, steps)
    if not plans:
        raise run_folder.nothing_in(folder)
    begun, first = next(iter(plans.items()))
    as_before = plan.saved_threads(begun) or threads.best(first.config)
    n_threads = words.threads_of(parsed, as_before, several=not single)
    words.check_shared(parsed)
    finished = all(found.finished for found in plans.values())
    whole = all((one / run_folder.SKILLS).exists() for one in plans)  # or it is made again
    if finished and whole and (folder / run_folder.SUMMARY).exists():
        for one in plans:
            run_folder.load(one).check()
        ended = first.config.anneal or staged(first.config)
        longer = "" if ended else " (--steps N trains longer)"
        tell = words.note if parsed.progress == "json" else print
        tell(f"{folder}: already finished{longer}")
        return 0
    reporter = REPORTERS[parsed.progress]()
    if single:
        threads.use(n_threads)
    try:
        trained = jobs.go_on(folder, steps, parsed.device, reporter, words.note, parsed.engine)
    finally:
        reporter.close()
    words.conclude(parsed, trained)
    return 0
