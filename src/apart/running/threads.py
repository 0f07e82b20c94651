"""How many threads XLA uses on the CPU. Must be set before JAX starts; does not import it.

Small programs lose by threads and scale by processes; the all-pairs tables gain. The bits of a
table program do not depend on the number of threads (tests/test_cli.py).
"""

from __future__ import annotations

import os
import sys

from apart._config import Config
from apart._errors import UserError
from apart.learner.networks import NETWORKS, parse
from apart.objective.discriminators import DISCRIMINATORS
from apart.running.machine import cores
from apart.runs.plan import MAX_THREADS

_VARIABLE = "PJRT_NPROC"


def best(config: Config) -> int:
    """Threads that one run of ``config`` profits from."""
    tables = all(NETWORKS[form.kind].of_states for form in parse(config.network))
    small = tables and not DISCRIMINATORS[config.discriminator].pairwise
    return 1 if small else cores()


def use(threads: int) -> None:
    """Make JAX use ``threads`` threads; without effect once JAX has been imported."""
    if not 1 <= threads <= MAX_THREADS:
        raise UserError(f"--threads: {threads} is outside 1 to {MAX_THREADS}")
    if "jax" not in sys.modules:
        os.environ[_VARIABLE] = str(threads)


def in_use() -> int:
    """Threads that JAX was told to use."""
    return int(os.environ.get(_VARIABLE, cores()))
