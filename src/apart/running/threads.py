"""How many threads XLA uses on the CPU. Must be set before JAX starts; does not import it.

Small programs lose by threads and scale by processes; the all-pairs tables gain. The bits of a
table program do not depend on the number of threads (tests/test_cli.py).
"""

from __future__ import annotations

import os
import sys

from apart._config import Config
from apart._errors import UserError
from apart.facts import Facts
from apart.running.machine import cores
from apart.runs.plan import MAX_THREADS

_VARIABLE = "PJRT_NPROC"


def best(config: Config) -> int:
    """Threads that one run of ``config`` profits from.

    One, unless networks or the tables of pairs of skills are trained.
    """
    facts = Facts.of(config)
    tables = all(network.of_states for network in facts.networks.values())
    pairs = facts.discriminates and facts.discriminator.pairwise and config.updates_per_episode > 0
    return cores() if pairs or not tables else 1


def use(threads: int) -> None:
    """Make JAX use ``threads`` threads; without effect once JAX has been imported."""
    if not 1 <= threads <= MAX_THREADS:
        raise UserError(f"--threads: {threads} is outside 1 to {MAX_THREADS}")
    if "jax" not in sys.modules:
        os.environ[_VARIABLE] = str(threads)


def in_use() -> int:
    """Threads that JAX was told to use."""
    return int(os.environ.get(_VARIABLE, cores()))
