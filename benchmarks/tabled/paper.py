"""What the paper's methods learn, beside its own numbers."""

from __future__ import annotations

import json
from collections import Counter

from apart._config import Config
from apart.methods import READINGS
from apart.paper import _ledger
from apart.paper._judge import spread
from apart.paper._spec import NAMES, WORLDS
from apart.paper.reward_table import ROWS
from apart.worlds import exact, grid
from tabled.base import ROOT, markdown, numbers, reproduced, table


@table
def learning() -> str:
    tables = {r: (reproduced("reward_table", r), reproduced("all_pairs", r)) for r in READINGS}
    methods = {m: (0, label, f"{mean:g} ± {std:g}") for label, (m, mean, std) in ROWS.items()}
    methods["vic"] = (1, "one-vs-all, last", "at most 30 (150M)")
    rows = []
    for method, (which, label, paper) in methods.items():
        ours, published = (tables[r][which] for r in READINGS)
        found = [ours.at(label, 1e6), ours.at(label, 5e6), published.at(label, 5e6)]
        rows.append([f"`{method}`", *(spread(x) for x in found), paper])
    return markdown(["method", "ours, 1M", "ours, 5M", "published, 5M", "paper, 5M"], rows)


@table
def long_curves() -> str:
    """Skills at the end of the longest runs of both readings."""

    def longest(label: str, reading: str) -> str:
        found = [made for name in RUNS if label in (made := reproduced(name, reading)).runs]
        best = max(found, key=lambda made: made.steps, default=None)
        return f"{spread(best.final(label))} ({best.steps / 1e6:g}M)" if best else "not made yet"

    rows = [
        [world, NAMES[m], *(longest(f"{m} {world}", reading) for reading in READINGS), paper]
        for world in WORLDS
        for m, paper in SAYS[world].items()
    ]
    return markdown(["world", "method", *READINGS, "paper, 150M"], rows)


RUNS = ("learned_skills", "tuned_vic", "long_runs", "tuned_long")

# world -> method -> what the paper says
SAYS: dict[str, dict[str, str]] = {
    "four_rooms": {
        "apart": "85, at about 100M",
        "tuned_vic": "85",
        "vic": "at most 30",
        "diayn": "at most 30",
    },
    "empty": {
        "apart": "100, at about 50M",
        "tuned_vic": "slightly below APART",
        "vic": "fewer than 60",
        "diayn": "fewer than 60",
    },
    "u_maze": {
        "apart": "more than 50 of 72",
        "tuned_vic": "slightly above APART",
        "vic": "fewer than 20",
        "diayn": "fewer than 20",
    },
}


@table
def versions() -> str:
    """Which versions of this package made the stored experiments."""
    parts = []
    for folder, words in (("", "our reading"), ("published", "the published one")):
        files = (ROOT / "results" / "reproduce" / folder).glob("*.json")
        counts = Counter(json.loads(path.read_text(encoding="utf-8"))["apart"] for path in files)
        made = " and ".join(f"{n} by {version}" for version, n in sorted(counts.items()))
        parts.append(f"experiments of {words}: {made}")
    return f"Versions of this package that made what is stored: {'; '.join(parts)}."


@table
def headline() -> str:
    """How many claims of the paper hold here."""
    return _ledger.headline(_ledger.results_in(ROOT / "results" / "reproduce"))


@numbers
def random_walk_cells() -> list[str]:
    """Distinct last cells of as many random episodes as there are skills, in four rooms."""
    world = grid.load("four_rooms")
    return [f"{exact.random_walk_skills(world, world.about.horizon, Config.skills):.2f}"]


@numbers
def learned_skills_runs() -> list[str]:
    """Millions of steps, seeds, and when the last of them had all skills of four rooms."""
    found = reproduced("learned_skills")
    full = max(found.first("apart four_rooms", grid.load("four_rooms").n_states))
    return [f"{found.steps / 1e6:.0f}", f"{found.seeds}", f"{full / 1e6:.1f}"]
