"""The README's tables, and the numbers in its sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from statistics import median

from apart.comparison import results as comparison
from apart.methods import OURS, PUBLISHED
from apart.paper import _ledger
from apart.paper._spec import WORLDS
from apart.paper.reward_table import ROWS
from apart.report import statistics
from tabled.base import ROOT, markdown, numbers, reproduced, stored, table, thousands

WORLD, HELD_OUT = "four_rooms", "classic_rooms"
SHARED = "apart + sharing"  # its label in a comparison


@cache
def compared(name: str = "compare") -> dict[tuple[str, str], comparison.Result]:
    """The rows of a stored comparison by label and world."""
    found = comparison.read(ROOT / "results" / f"{name}.json")
    return {(row.label, row.world): row for row in found}


def mean_of(label: str, name: str = "compare", world: str = WORLD) -> str:
    """``68.5 ± 0.8``: different last cells, with the 95 % interval; needs eight seeds."""
    row = compared(name)[label, world]
    assert len(row.seeds) >= 8, f"{label} in {name}: {len(row.seeds)} seeds"
    return comparison.words("distinct", row.cells["distinct"])


def estimate_of(label: str, name: str = "compare") -> str:
    """The mean alone, for a sentence."""
    return mean_of(label, name).split(" ")[0]


def millions(name: str) -> str:
    return "{:g}M".format(compared(name)["apart", WORLD].steps / 1e6)


@table
def readme_replay() -> str:
    """Methods that learn from replayed batches, after both budgets."""
    rewarded = {
        "diayn": "log posterior of the skill, every step",
        "vic": "log posterior, last step",
        "tuned_vic": "posterior scaled to [-1, 1], last step",
        "apart": "lowest vote of pairwise classifiers, ascending",
    }
    rows = [
        [f"`{name}`", why, mean_of(name), mean_of(name, "compare-long")]
        for name, why in rewarded.items()
    ]
    why = "the same, with `--q-rule shared_adam`"
    rows.append(["`apart`", why, mean_of(SHARED, "compare-sharing"), "not run"])
    head = ["method", "reward", f"{millions('compare')} steps"]
    return markdown([*head, f"{millions('compare-long')} steps"], rows)


def complete(label: str, *places: str) -> str:
    """``24/24``: seeds with all skills that there can be; where not all have, also the mean."""
    cells = [compared()[label, place].cells["distinct"] for place in places]
    full = sum(value == cell.most for cell in cells for value in cell.values)
    seeds = sum(len(cell.values) for cell in cells)
    assert seeds >= 8 * len(places), f"{label}: {seeds} seeds in {places}"
    if full == seeds:
        return f"{full}/{seeds}"
    (place,), (cell,) = places, cells
    return f"{full}/{seeds} ({mean_of(label, world=place)} of {cell.most:g})"


@table
def readme_planning() -> str:
    """Methods that plan over all transitions, where ours were tuned and where they were not."""
    rows = []
    for name in ("apart_plus", "apart_logits", "apart_spread", "edl"):
        cells = compared()[name, WORLD].cells
        seconds, latest = (cells[of].values for of in ("seconds", "steps_to_full"))
        assert math.isfinite(max(latest))
        both = complete(name, *WORLDS), complete(name, HELD_OUT)
        rows.append([f"`{name}`", *both, thousands(max(latest)), f"{median(seconds):.0f}"])
    head = ["method", ", ".join(WORLDS), HELD_OUT, f"{WORLD} complete after", "median seconds"]
    return markdown(head, rows)


@numbers
def readme_chance() -> Sequence[str]:
    """Cells in which as many episodes of random actions end."""
    return [estimate_of("random_walk")]


@numbers
def readme_claims() -> Sequence[str]:
    """All claims; held in our reading, in the published one, in at least one."""
    found = _ledger.tally(_ledger.results_in(ROOT / "results" / "reproduce"))
    counts = (found.total, found.held[OURS], found.held[PUBLISHED], found.either)
    return [str(count) for count in counts]


@numbers
def readme_paper() -> Sequence[str]:
    """After 5M steps: `apart`, the paper's; `diayn`, the paper's; `ap_min`, the paper's."""
    published = {method: f"{mean:g}" for method, mean, _ in ROWS.values()}
    assert millions("compare-long") == "5M"
    names = ("apart", "diayn", "ap_min")
    return [n for m in names for n in (estimate_of(m, "compare-long"), published[m])]


@numbers
def readme_sign() -> Sequence[str]:
    """Skills of VIC with a reward in [-1, 1], and in [0, 1]; seeds."""
    found = reproduced("tuned_readings")
    names = ("the default", "the posterior itself")
    means = [f"{statistics.mean(found.final(name)).estimate:.1f}" for name in names]
    return [*means, str(len(found.final(names[0])))]


@numbers
def readme_sharing() -> Sequence[str]:
    """Skills of `apart` with sharing after 1M steps, without after 5M; the ratio of their times."""
    ratio = stored("sharing-speed")["ratios"]
    means = [estimate_of(SHARED, "compare-sharing"), estimate_of("apart", "compare-long")]
    return [*means, f"{statistics.mean(ratio).estimate:.1f}"]


@numbers
def readme_few() -> Sequence[str]:
    """Steps from the nearest of ten ends to the farthest cell: `apart_plus`, `apart_spread`."""
    rows = compared("compare-few")
    found = [rows[m, WORLD].cells["covering_radius"].values for m in ("apart_plus", "apart_spread")]
    assert {len(values) for values in found} == {8}
    return [f"{statistics.mean(values).estimate:.0f}" for values in found]


@numbers
def readme_gym() -> Sequence[str]:
    """Gymnasium worlds where `apart_spread` is not shown to be better than chance; of how many."""
    tables = [world["runs"] for world in stored("worlds-gym").values()]
    ends = [
        [[run["found"] for run in runs[name].values()] for name in ("apart_spread", "random_walk")]
        for runs in tables
    ]
    better = sum(statistics.difference(*both).low > 0 for both in ends)
    return [str(len(ends) - better), str(len(ends))]
