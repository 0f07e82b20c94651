"""Methods of other papers, each beside its check."""

from __future__ import annotations

import re
from statistics import fmean
from typing import Any

from apart.methods import METHODS
from apart.references import Paper, Verdict
from tabled.base import ROOT, markdown, numbers, stored, table, thousands

PAPERS: dict[str, Paper] = {
    name: paper for name, method in METHODS.items() if (paper := method.paper) is not None
}


@table
def family_papers() -> str:
    """What each method leaves out of its paper; those that follow it first."""
    order, pages = list(Verdict), _pages()
    rows = [
        [
            f"[`{name}`]({pages[name]})",
            f"[{paper.title}]({paper.link})",
            paper.verdict,
            paper.leaves_out,
        ]
        for name, paper in sorted(PAPERS.items(), key=lambda item: order.index(item[1].verdict))
    ]
    return markdown(["method", "paper", "verdict", "what it leaves out"], rows)


def _pages() -> dict[str, str]:
    """Method -> its page, by the names in headings."""
    return {
        name: path.name
        for path in sorted((ROOT / "docs" / "family").glob("*.md"))
        for name in re.findall(r"`(\w+)`", path.read_text(encoding="utf-8").partition("\n")[0])
    }


@numbers
def family_size() -> list[str]:
    """Methods, their papers, and how many methods have each verdict."""
    verdicts = [paper.verdict for paper in PAPERS.values()]
    papers = {paper.link for paper in PAPERS.values()}
    return list(map(str, [len(PAPERS), len(papers), *map(verdicts.count, Verdict)]))


@table
def family_disdain() -> str:
    """Information count and distinct last states in the world of DISDAIN's notebook."""
    shown = {n: f"{n:,}" for n in (100_000, 300_000, 500_000, 700_000, 1_000_000)}
    return _disdain("family-disdain", "updates", shown)


@table
def family_disdain_summed() -> str:
    """The same in its four rooms, by environment steps: 320 an update."""
    shown = {62_500 * n: f"{20 * n}M" for n in (1, 5, 10, 15, 20, 25, 30)}
    return _disdain("family-disdain-summed", "steps", shown)


def _disdain(study: str, what: str, shown: dict[int, str]) -> str:
    table = stored(study)
    rows = []
    for found in zip(*table["variants"].values(), strict=True):
        if found[0]["updates"] not in shown:
            continue
        cells = []
        for one in found:
            low, high = min(one["information_count"]), max(one["information_count"])
            ends = fmean(one["last_states"])
            cells.append(f"{low:.1f} to {high:.1f} ({ends:.1f} last states)")
        rows.append([shown[found[0]["updates"]], *cells])
    return markdown([f"{what}, {table['seeds']} seeds", *table["variants"]], rows)


@table
def family_disdain_rooms() -> str:
    """Skills of DISDAIN in its own four rooms, as training goes on."""
    rows = []
    for seed, found in stored("family-disdain-rooms").items():
        at = {row["env_steps"]: row for row in found}
        for steps in sorted(at):
            if steps in (2e6, 10e6, 20e6, 50e6, 100e6, 200e6, 600e6):
                row = at[steps]
                count = f"{row['information_count']:.1f}"
                rows.append([seed, f"{steps / 1e6:g}M", f"{row['n_effective']:g}", count])
    return markdown(["seed", "steps", "distinct last states", "information count"], rows)


@table
def family_valor() -> str:
    """How many skills VALOR's decoder names how well, with and without the curriculum."""
    table, rows = stored("family-valor"), []
    names = {"valor": "with", "valor_all": "without"}
    for objective, seeds in table["runs"].items():
        for seed, found in seeds.items():
            at = [one for one in found if one["updates"] in (20_000, 40_000, 60_000)]
            cells = [f"{one['skills']}: {one['named']:.2f} ({one['last_states']})" for one in at]
            rows.append([f"{names[objective]}, seed {seed}", *cells])
    return markdown(["curriculum", "20,000 updates", "40,000", "60,000"], rows)


def _grouped(study: str, *names: str) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """Rows of a study of the family that differ by their seeds alone."""
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in stored(study):
        found.setdefault(tuple(row[name] for name in names), []).append(row)
    return found


def _over(rows: list[dict[str, Any]], name: str, form: str = ".2f") -> str:
    """The least, the mean and the most of a number over seeds."""
    numbers = [row[name] for row in rows]
    low, high = (format(number, form) for number in (min(numbers), max(numbers)))
    return f"{fmean(numbers):{form}} ({low} to {high})"


@table
def family_metra() -> str:
    """What METRA's embedding knows of four rooms."""
    rows = []
    for (skills, steps), mine in _grouped("family-metra", "skills", "steps").items():
        ends = [_over(mine, "found", ".1f"), _over(mine, "radius", ".1f")]
        knows = [_over(mine, "rank_correlation"), _over(mine, "goals_within_2", ".0%")]
        rows.append([skills, thousands(steps), len(mine), *knows, *ends, mine[0]["ideal_radius"]])
    head = ["K", "steps", "seeds", "rank correlation", "goals within 2", "distinct last cells"]
    return markdown([*head, "covering radius", "ideal radius"], rows)


@table
def family_collapse() -> str:
    """Two skills of METRA in a corridor, by the share of random actions."""
    rows = []
    for (steps, epsilon), mine in _grouped("family-collapse", "steps", "epsilon").items():
        both = sum((row["least"], row["most"]) == (0, 7) for row in mine)
        numbers = [_over(mine, name, ".1f") for name in ("most", "phi")]
        rows.append([thousands(steps), epsilon, f"{both} of {len(mine)}", *numbers])
    head = ["steps", "random actions", "seeds with a skill at each end", "farther skill ends at"]
    return markdown([*head, "distance of the ends in phi"], rows)


@table
def family_few() -> str:
    """The covering radius of eight skills of several methods."""
    found = _grouped("spread-family", "world", "method")
    worlds, methods = (list(dict.fromkeys(key[i] for key in found)) for i in (0, 1))
    rows = []
    for world in worlds:
        radii = [
            f"{fmean([r['radius'] for r in found[world, m]]):.1f}" if (world, m) in found else "-"
            for m in methods
        ]
        rows.append([f"`{world}`", found[world, methods[0]][0]["ideal_radius"], *radii])
    return markdown(["world", "greedy k-center", *(f"`{m}`" for m in methods)], rows)


@table
def family_explore() -> str:
    """Cells known after so many steps."""
    found = _grouped("family-explore", "world", "method", "steps")
    lengths = sorted({key[2] for key in found})
    rows = []
    for world, method in dict.fromkeys(key[:2] for key in found):
        cells = [_over(found[world, method, n], "known", ".1f") for n in lengths]
        n_cells = found[world, method, lengths[0]][0]["cells"]
        rows.append([f"`{method}`", f"`{world}` ({n_cells})", *cells])
    return markdown(["method", "world (cells)", *map(thousands, lengths)], rows)


@table
def family_visr() -> str:
    """Tasks solved by regression."""
    rows = []
    for (steps,), mine in _grouped("family-visr", "steps").items():
        shares = [_over(mine, name, ".0%") for name in ("gpi", "nearest_skill", "random_skill")]
        rows.append([thousands(steps), len(mine), *shares])
    return markdown(["steps", "seeds", "GPI", "the nearest skill", "a random skill"], rows)


@table
def family_discern() -> str:
    """Goals that skills end in."""
    rows = []
    for (skills, steps), mine in _grouped("family-discern", "skills", "steps").items():
        told = [_over(mine, "goals", ".1f"), _over(mine, "reached", ".0%")]
        rows.append([skills, thousands(steps), len(mine), *told, _over(mine, "found", ".1f")])
    head = ["K", "steps", "seeds", "distinct goals", "skills that end in theirs"]
    return markdown([*head, "distinct last cells"], rows)


@table
def family_blocked() -> str:
    """Who still comes to the goal when a way is walled off."""
    names = {
        ("smerl", None): "`smerl`",
        ("smerl", 2.0): "`smerl` with its gates shut: the task alone",
        ("domino", None): "`domino`",
    }
    rows = []
    for key, mine in _grouped("family-blocked", "method", "share").items():
        came = [_over(mine, f"{way}_walled", ".1f") for way in ("upper", "lower")]
        rows.append([names[key], len(mine), _over(mine, "mean_return", ".1f"), *came])
    best = stored("family-blocked")[0]["best_return"]
    head = ["6 skills, 100k steps", "seeds", f"mean return (best: {best:.0f})"]
    return markdown([*head, "come, upper way walled", "come, lower way walled"], rows)


@table
def family_ways() -> str:
    """How SMERL's share of random actions was chosen."""
    rows = []
    for (world, epsilon), mine in _grouped("family-ways", "world", "epsilon").items():
        both = sum(row["upper"] > 0 and row["lower"] > 0 for row in mine)
        each = [_over(mine, way, ".1f") for way in ("upper", "lower")]
        rows.append([world, epsilon, f"{both} of {len(mine)}", *each])
    head = ["map", "`--epsilon`", "seeds with skills on both ways", "skills on the upper way"]
    return markdown([*head, "on the lower way"], rows)


@table
def family_domino() -> str:
    """Diversity against return."""
    rows = []
    for (share,), mine in _grouped("family-domino", "share").items():
        best = f"{mine[0]['best_return']:.0f}"
        rows.append([share, len(mine), _over(mine, "mean_return", ".1f"), best])
        rows[-1].append(_over(mine, "nearest"))
    head = ["held to this share of the best", "seeds", "mean return", "best possible"]
    return markdown([*head, "distance of shares of time to the nearest skill"], rows)


@table
def family_parted() -> str:
    """How far skills part, by the distance asked for."""
    rows = []
    for (distance,), mine in _grouped("family-parted", "distance").items():
        both = [_over(mine, name) for name in ("nearest_remembered", "nearest")]
        rows.append([distance, len(mine), *both])
    head = ["`--distance`", "seeds", "to the nearest skill, as remembered"]
    return markdown([*head, "in the last greedy episode"], rows)


@table
def family_upside() -> str:
    """Skills that are kept."""
    rows = []
    for (world, method, walk), mine in _grouped("family-upside", "world", "method", "walk").items():
        names = ("active", "deepest", "distinct", "radius", "ideal_radius")
        kept = [_over(mine, name, ".1f") for name in names]
        least = _over(mine, "least_posterior")
        rows.append([f"`{world}`", f"`{method}`", walk, len(mine), *kept, least])
    head = ["300k steps, K = 20", "method", "steps of a walk", "seeds", "skills kept"]
    head += ["longest chain"]
    head += ["distinct last cells", "covering radius", "ideal radius for as many"]
    return markdown([*head, "least mean posterior"], rows)


@numbers
def disdain_averaged() -> list[str]:
    """The highest information count at 600M steps where steps are means over trajectories."""
    last = stored("family-disdain-long")["variants"]["disdain"][-1]
    assert last["updates"] * 320 == 600e6
    return [f"{max(last['information_count']):.1f}"]


@numbers
def domino_leaves_the_task() -> list[str]:
    """On how many seeds some skill earns nothing, of how many."""
    rows = [row for row in stored("family-blocked") if row["method"] == "domino"]
    return [f"{sum(row['mean_return'] < row['best_return'] for row in rows)}", f"{len(rows)}"]


@numbers
def smerl_comes_around() -> list[str]:
    """On how many seeds some skill comes to the goal by the longer way, of how many."""
    rows = _grouped("family-blocked", "method", "share")["smerl", None]
    return [f"{sum(row['upper_walled'] > 0 for row in rows)}", f"{len(rows)}"]
