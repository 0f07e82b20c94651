"""Measured numbers in the sentences of README and docs are those of the stored results."""

from __future__ import annotations

import math
import re
from pathlib import Path
from statistics import fmean, median
from types import SimpleNamespace

import pytest
from readings import PUBLISHED, name_of, reading_of
from runs.disk import FAULTS
from runs.mutate import Mutator
from tabled.base import ROOT, reproduced, stored
from tabled.payoff import task_steps
from tabled.readings import searched

from apart._config import Config
from apart.comparison import rows as rows_of_methods
from apart.comparison.metrics import METRICS
from apart.paper._spec import WORLDS
from apart.paper.reward_table import ROWS
from apart.worlds import exact, grid
from apart.worlds.observations import sight_of

K, EVERY = Config.skills, Config.evaluate_every
PAIRS = K * (K - 1) // 2
WORDS = dict(enumerate("zero one two three four five six seven eight nine ten".split()))
WORDS |= {16: "sixteen", 100: "a hundred"}


def steps_of(task, way):
    """Mean steps to solve a task of the pay-off."""
    table = stored("payoff")
    return task_steps(table["tasks"][f"{task} | {way}"], table["budget"]).estimate


def quicker(task, way="skills of apart_plus"):
    """How many times as fast skills are as optimistic primitive actions."""
    return steps_of(task, "primitive, optimistic") / steps_of(task, way)


def solved(task, way):
    """How many seeds solved a task of the pay-off, and how many there were."""
    scores = stored("payoff")["tasks"][f"{task} | {way}"]
    return [sum(at is not None for at in scores), len(scores)]


def share(part, parts):
    """0.31 in 3 parts: a third; 0.82 in 10: eight tenths."""
    n, name = round(parts * part), {2: "half", 3: "third", 5: "fifth", 10: "tenth"}[parts]
    one = name if parts == 2 else f"a {name}"
    return one if n == 1 else f"{WORDS[n]} {name}s"


# Worlds


def world(name="four_rooms"):
    return grid.load(name)


def cells(name="four_rooms"):
    return world(name).n_available(world(name).about.horizon)


def most_information(name):
    run = SimpleNamespace(config={"skills": K}, n_available=cells(name))
    return METRICS["information_count"].most(run)


def walk():
    return exact.random_walk_skills(world(), world().about.horizon, K)


def changing_pixels():
    images = sight_of(world(), "pixels").images(None)
    changed = (images[1:] != images[0]).any(-1)
    return WORDS[int(changed.sum((1, 2)).max())], WORDS[changed[0].size]


# apart_plus


def complete():
    """How many seeds had all skills of four rooms after 200,000 steps, of how many."""
    row = stored("plus-sixty")["apart_plus 200000"]
    return row["per_world"]["four_rooms"]["complete"], row["of"] // len(WORLDS)


def by_all_seeds():
    """Skills that each of them found, if all found all."""
    some, seeds = complete()
    return cells() if some == seeds else math.nan


def film():
    """Steps -> skills of the run in the animation, which is that of the quickstart."""
    return dict(stored("animation")["curve"])


def first_complete():
    return min(at for at, n in film().items() if n == cells() and at % EVERY == 0)


def found(change, where="four_rooms", method="apart_plus"):
    """Skills of each seed in the ablation."""
    rows = stored("plus-ablation")
    named = (change, f"posterior as reward, {change}")
    row = next(row for row in rows if row["method"] == method and row["change"] in named)
    return row[where]["found"]


def mean(*asked):
    return fmean(found(*asked))


def everywhere(change):
    return [mean(change, where) for where in WORLDS]


def sharing(method):
    return mean("as it is", "four_rooms", method), mean("+ sharing", "four_rooms", method)


def every_seed(where):
    return "all" if set(found("apart_plus", where)) == {cells(where)} else "not all"


def slip(chance):
    """Skills of each seed."""
    return next(row["found"] for row in stored("plus-slip") if row["slip"] == chance)


def compared(method, where, metric="distinct", of="compare"):
    """The mean of a measure in the stored comparison."""
    rows = [row for row in stored(of)["rows"] if (row["label"], row["world"]) == (method, where)]
    return fmean(rows[0]["cells"][metric]["values"])


def spans(numbers):
    found = list(numbers)
    return min(found), max(found)


def through(method, share):
    """How many skills of each seed come to the goal with the shorter way walled."""
    rows = [
        row for row in stored("family-blocked") if (row["method"], row["share"]) == (method, share)
    ]
    return [row["upper_walled"] for row in rows]


BINS = "apart_spread, bins"


def in_maze(name, k, row="apart_spread", count="visited", of="mazes"):
    """The mean over seeds of buckets that skills visit, or end in."""
    return fmean(run[count] for run in stored(of)["upside"][name][row][str(k)].values())


def alike():
    """Of each setting of the study on maps, whether all its seeds have the same radius."""
    radii = {}
    for row in stored("spread-maps"):
        radii.setdefault((row["world"], row["skills"]), set()).add(row["radius"])
    return [len(found) == 1 for found in radii.values()]


def maze():
    return stored("plus-maps")["perfect_maze 300000 1.0"]


def largest():
    """Steps, episodes and skills in the largest world."""
    row = stored("plus-scale")[-1]
    return row["steps"], row["steps"] // row["horizon"], row["skills"]


# Pixels and speed

SMALLER = "channels 16, 32, 32"


def seen(method, what="n_effective"):
    """Of each seed that learnt from pixels."""
    return [run[what] for run in stored("pixels-learning")[method]]


def pixel_time():
    """Thousands of steps, and minutes in words."""
    steps = stored("pixels-learning")["apart_logits"][0]["curve"]["env_steps"][-1]
    return steps / 1e3, WORDS[round(fmean(seen("apart_logits", "wall_seconds")) / 60)]


def seconds_an_update():
    return fmean(seen("apart", "wall_seconds")) / fmean(seen("apart", "updates"))


BOTH = "AP min, both (APART)"
HORIZON = 40  # of four_rooms: an update an episode


def steps_to_half():
    """Steps until `apart` in a table has half of the skills of four rooms, mean over seeds."""
    curves = [run["curve"] for run in stored("reproduce/reward_table")["runs"][BOTH]]
    found = map(fmean, zip(*(curve["n_effective"] for curve in curves), strict=True))
    steps = curves[0]["env_steps"]
    return next(at for at, n in zip(steps, found, strict=True) if n >= cells() / 2)


def choice(change="as it is", what="n_effective"):
    return next(row[what] for row in stored("pixels-choices") if row["change"] == change)


def in_the_time_of_one(change):
    return round(choice(what="ms_per_update") / choice(change, "ms_per_update"))


def cnn(piece, form="whole update"):
    return stored("networks-profile")[form][piece]


def discriminator_part(method, form):
    pieces = ("discriminator: forward and backward", "discriminator: Adam")
    return sum(cnn(piece, form) for piece in pieces) / cnn(method)


def gains(which):
    return [f(row[which] for row in stored("networks").values()) for f in (min, max)]


def larger_batch():
    """How many times as large, and how many times as expensive at most."""
    costs = []
    for method in ("apart", "diayn"):
        rows = stored("bench")["tables"][f"scaling of {method}"]
        cost = {row["case"]: row["ms_per_update"] for row in rows}
        costs.append(cost["batch 2560"] / cost["batch 160"])
    return WORDS[2560 // 160], {2: "twice"}[math.ceil(max(costs))]


def profiled(method, piece="all"):
    return stored("update-profile")[method][piece]


# The paper


def at_end(name):
    """Millions of steps, and seeds."""
    return reproduced(name).steps / 1e6, reproduced(name).seeds


def core_hours(name):
    runs = reproduced(name).runs.values()
    return sum(record.wall_seconds for records in runs for record in records) / 3600


def all_four_rooms():
    """Steps until all seeds of APART had all skills, as a share of the paper's 100M."""
    return max(reproduced("learned_skills").first("apart four_rooms", cells())) / 100e6


def cnns(steps, *methods):
    """Mean skills from pixels with the same budget."""
    return [fmean(reproduced("pixels").at(method, steps)) for method in methods]


def published(*rows):
    """Mean of four seeds in the published reading."""
    stored_rows = searched()[name_of(PUBLISHED)]
    return fmean(stored_rows[row][str(seed)] for row in rows for seed in range(4))


def fewest():
    """Of the least vote alone: the Q of that reading, and three of its rows."""
    finished = {name: rows for name, rows in searched().items() if "AP min" in rows}
    name = min(finished, key=lambda name: finished[name]["AP min"]["0"])
    rows = ("AP min", "AP min, dropout", "AP min, both (APART)")
    return reading_of(name)["Q"].split("+")[0], *(finished[name][row]["0"] for row in rows)


def tried(axis):
    """The lowest and the highest number on an axis of the search."""
    numbers = [int(one[axis]) for one in map(reading_of, searched()) if axis in one]
    return min(numbers), max(numbers)


def replayed():
    """Transitions, collections of one skill in them, skills that these are of, skills."""
    steps = int(PUBLISHED["episodes per update"]) * world().about.horizon
    collections = Config.buffer // steps
    return Config.buffer, collections, K * (1 - (1 - 1 / K) ** collections), K


# page -> a phrase of it -> what stands in the gaps
def all_ends(method):
    """Complete runs and all runs of the study of one skill for each cell."""
    rows = [row for row in stored("spread-complete") if row["method"] == method]
    return sum(row["found"] == row["cells"] for row in rows), len(rows)


def soon(name):
    """The most steps until every cell has a skill of apart_spread; how many seeds, of how many."""
    rows = [row for row in stored("spread-soon") if row["method"] == "apart_spread"]
    at = [row["first_full_at"] for row in rows if row["world"] == name]
    full = [steps for steps in at if steps is not None]
    return [max(full), len(full), len(at)]


def plus_soon():
    """Between which steps apart_plus was complete in four rooms for the first time."""
    rows = [row for row in stored("spread-soon") if row["method"] == "apart_plus"]
    at = [row["first_full_at"] for row in rows if row["world"] == "four_rooms"]
    return [*spans(at), len(at)]


def disdain_at_the_end(variant):
    return spans(stored("family-disdain-summed")["variants"][variant][-1]["information_count"])


def seconds(method):
    """Of 1M steps in four rooms, the median."""
    rows = stored("compare")["rows"]
    row = next(r for r in rows if (r["label"], r["world"]) == (method, "four_rooms"))
    return median(row["cells"]["seconds"]["values"])


def spread_costs():
    return [row["ratio_of_means"] for row in stored("spread-cost")]


def known_at(millions, variant, study="family-disdain-summed"):
    """Least and most information count of DISDAIN's loop after so many steps: 320 an update."""
    rows = stored(study)["variants"][variant]
    (row,) = (row for row in rows if row["updates"] * 320 == millions * 1e6)
    return min(row["information_count"]), max(row["information_count"])


def first_near(variant):
    """Millions of steps from which on the least of its seeds has all but 1 of what it ends with."""
    end, _ = known_at(600, variant)
    return next(m for m in range(20, 601, 20) if known_at(m, variant)[0] > end - 1)


def domino_blocked():
    return [row for row in stored("family-blocked") if row["method"] == "domino"]


HELD = {
    "README.md": {
        "random actions visit {:.1f} and {:.1f} buckets in 100 episodes": (
            lambda: [in_maze(name, 100, "random_walk") for name in ("bottleneck", "u")]
        ),
        "leave a cell of four rooms {:.0f} to {:.0f} steps away on average": (
            lambda: spans(
                compared(method, "four_rooms", "covering_radius", "compare-few")
                for method in ("apart_plus", "apart", "diayn")
            )
        ),
        "`apart_spread` within {:,} on {} of {}": lambda: soon("four_rooms"),
        "(after {:,} to {:,} for the first time, {} seeds)": plus_soon,
        "its *information count* is {:.0f} to {:.0f} (published: about 90)": (
            lambda: disdain_at_the_end("disdain")
        ),
        "without ensemble and bonus, give {:.0f} to {:.0f}, and sooner": (
            lambda: disdain_at_the_end("baseline with the initial Q of disdain")
        ),
        "`apart_plus` {:.0f} s, `vic` {:.0f} s, `diayn` {:.0f} s, `apart` {:.0f} s.": (
            lambda: [seconds(method) for method in ("apart_plus", "vic", "diayn", "apart")]
        ),
        "has {:.1f} of {} skills after 1M steps, as many as after 5M without ({:.1f};": (
            lambda: [
                compared("apart + sharing", "four_rooms", of="compare-sharing"),
                cells(),
                compared("apart", "four_rooms", of="compare-long"),
            ]
        ),
        "finds all {} skills of four rooms within 200,000 steps on {} of {} seeds": (
            lambda: [cells(), *complete()]
        ),
        "{} of {} cells before training, all {} after 40,000 steps]": (
            lambda: [film()[0], cells(), film()[40_000]]
        ),
        "*{} skills of `apart_plus` in four rooms, seed {}, at {} evaluations during one run": (
            lambda: [
                *(stored("animation")[name] for name in ("skills", "seed")),
                WORDS[len(stored("animation")["episodes"])],
            ]
        ),
        "--method apart_plus --steps 200k # {0} of {0} skills, each drawn": (
            lambda: [by_all_seeds()]
        ),
        '"of", run.n_available) # {0} of {0}': lambda: [by_all_seeds()],
        "Four rooms, {} skills, episodes of {} steps; {} cells can be reached.": (
            lambda: [K, world().about.horizon, cells()]
        ),
        "it finds {:.1f} of {} cells in expectation ({} seeds, 200k steps;": (
            lambda: [fmean(slip(0.2)), cells(), len(slip(0.2))]
        ),
        "it sweeps over the {} true states": lambda: [world().n_states],
        "Sampling instead of sweeping gave {} skills instead of {} after 300 updates (one seed;": (
            lambda: [choice("a batch, no sweep"), choice()]
        ),
        "has the {} maps that are included": lambda: [len(grid.maps())],
        "apart reproduce reward_table # {} methods, {} seeds, {:.0f}M steps each": (
            lambda: [len(ROWS), *reversed(at_end("reward_table"))]
        ),
        "--method apart_pixels --steps {:.0f}k # skills from images, {} minutes on one core": (
            pixel_time
        ),
    },
    "docs/guide/quickstart.md": {
        "seed 0: {0} of {0} skills after 200,000 steps, first complete at {1:,} (...)": (
            lambda: [by_all_seeds(), first_complete()]
        ),
        "for comparison: {} episodes of random actions end in {:.2f} different cells, of {} in": (
            lambda: [K, walk(), cells()]
        ),
        "**{0} of {0} skills**: each of the {1} policies walks": lambda: [by_all_seeds(), K],
        "They end in {0} different cells, as many as can be reached. Those {0} skills are *found*; "
        "the other {1} end where an earlier skill ends.": (
            lambda: [by_all_seeds(), K - by_all_seeds()]
        ),
        "**first complete at {:,}**: the first evaluation (one every {:,} steps)": (
            lambda: [first_complete(), EVERY]
        ),
        "**{:.2f} different cells**: the expected number for {} episodes": lambda: [walk(), K],
        "{} faint maps end where an earlier skill ends]": lambda: [K - by_all_seeds()],
    },
    "docs/guide/methods.md": {
        "one for all leaves {} of the skills out of the replay": (
            lambda: [share(1 - replayed()[2] / K, 2)]
        ),
        "from here T = {} reaches all {} cells": (
            lambda: [world("u_maze").about.horizon, cells("u_maze")]
        ),
    },
    "docs/guide/skills.md": {
        "{:.1f}, {:.1f} and {:.1f} times as fast as optimistic Q-learning": (
            lambda: [
                quicker(task)
                for task in ("far corner", "a goal that moves", "MiniGrid DoorKey 5x5")
            ]
        ),
        "came to the goal, {:,} at most": lambda: [stored("payoff")["budget"]],
        "skills of `apart_spread` are {:.1f} and {:.1f} times as fast as optimistic Q-learning on "
        "primitive actions in these two tasks, {:.1f} times in the far corner": (
            lambda: [
                quicker(task, "skills of apart_spread, intra-option")
                for task in ("two cells in order", "key and doors", "far corner")
            ]
        ),
        "{} of {} seeds solved the far corner so": (
            lambda: solved("far corner", "skills of apart_spread, optimistic")
        ),
        "{:.0f} cells within {} steps have a skill, and chains of them end in the same {:.0f} "
        "cells": (
            lambda: [
                fmean(one[1] for one in stored("payoff")["chains"]["apart_spread"]),
                stored("payoff")["short"],
                fmean(one[-1] for one in stored("payoff")["chains"]["apart_spread"]),
            ]
        ),
        "100 skills, {:,} steps: three goals": lambda: [stored("payoff")["maze_steps"]],
        "scores {}^t": lambda: [stored("payoff")["maze_discount"]],
        "the mean of {} episodes": lambda: [stored("payoff")["walks"]],
    },
    "docs/guide/compare.md": {
        "With K = {} skills the information count is at most {:.1f} in `four_rooms` ({} cells), "
        "{:g} in `empty` and {:.1f} in `u_maze` ({} cells)": (
            lambda: [
                *(K, most_information("four_rooms"), cells()),
                *(most_information("empty"), most_information("u_maze"), cells("u_maze")),
            ]
        ),
        "without the outer wall, {} cells, T = {}, start in a corner": (
            lambda: [cells("classic_rooms"), world("classic_rooms").about.horizon]
        ),
    },
    "docs/guide/networks.md": {
        "--steps {:.0f}k # skills from images, a CNN: {} minutes on one core": pixel_time,
        "an update runs over the {} true states of four rooms": lambda: [world().n_states],
        "The {} images of four rooms are nearly the same image: {} pixels of {} differ.": (
            lambda: [world().n_states, *changing_pixels()]
        ),
        "the paper's CNN, {} seeds, one core per seed.": lambda: [WORDS[len(seen("diayn"))]],
        "gives all three the {:.0f}k steps of the slowest ([ledger](../paper/ledger.md)): "
        "`apart` has {:g}, `diayn` {:g} and `apart_pixels` {:g} skills on average of {} seeds": (
            lambda: [
                reproduced("pixels").steps / 1e3,
                *cnns(math.inf, "apart", "diayn", "apart_pixels"),
                WORDS[reproduced("pixels").seeds],
            ]
        ),
        "`apart` has {:g} after 24k steps and ends {} its start": (
            lambda: [
                *cnns(24_000, "apart"),
                "below" if cnns(math.inf, "apart") < cnns(0, "apart") else "above",
            ]
        ),
        "apart_logits rises to {} and {} of {}, apart and diayn end between {} and {}]": (
            lambda: [
                *(*sorted(seen("apart_logits")), cells()),
                *(f(seen("apart") + seen("diayn")) for f in (min, max)),
            ]
        ),
        "In {} minutes on one core `apart_logits` finds {} and {} of the {} skills (two seeds).": (
            lambda: [pixel_time()[1], *seen("apart_logits"), cells()]
        ),
        "`apart` with its {:,} outputs per state makes {} updates in the same time": (
            lambda: [PAIRS, *set(seen("apart", "updates"))]
        ),
        "needs some {:,.0f} updates for half of the skills ({:.0f}k steps: "
        "`results/reproduce/reward_table.json`); at {:.1f} s an update that is about {} hours": (
            lambda: [
                *(round(steps_to_half() / HORIZON, -2), steps_to_half() / 1e3, seconds_an_update()),
                WORDS[round(steps_to_half() / HORIZON * seconds_an_update() / 3600)],
            ]
        ),
        "on plain pixels {} skills, on normalized ones {}. "
        "The paper's rate of Q (1e-5) costs {} of them": (
            lambda: [
                *(choice("plain pixels, not normalized"), choice()),
                share(1 - choice("the paper's rate of Q, 1e-5") / choice(), 2),
            ]
        ),
        "with 640 samples {} skills, with one episode {}. "
        "Sampling instead of sweeping over all known transitions: {}.": (
            lambda: map(choice, ("batch of 640", "one episode per update", "a batch, no sweep"))
        ),
        "(channels 16, 32, 32) makes {} updates in the time of one but learns less per update: "
        "{} after 300.": (lambda: [WORDS[in_the_time_of_one(SMALLER)], choice(SMALLER)]),
        ": {} after 300, and it learns on": (lambda: [choice("mlp 256, 256 on the same images")]),
        "each in a fresh process, {} rounds:": (
            lambda: [WORDS[len(stored("networks")["mlp 2300"]["rounds"])]]
        ),
        "On the same batch this package is faster by {:.1f} to {:.1f} times; "
        "running on the {} distinct observations makes it {:.0f} to {:.0f} times.": (
            lambda: [*gains("same_batch"), world().n_states, *gains("distinct")]
        ),
        "would save at most the discriminator's part, about {}.": (
            lambda: [share(discriminator_part("diayn", "100 outputs (diayn)"), 3)]
        ),
        "The {:,} outputs of all pairs cost more than everything else together: "
        "{:.0f} million weights, {} of the update.": (
            lambda: [
                *(PAIRS, PAIRS * 10 * 10 * 128 / 1e6),
                share(discriminator_part("apart", "4,950 outputs (apart)"), 5),
            ]
        ),
        "2 x 2 pixels per cell cost {} times as much": (
            lambda: [WORDS[round(cnn("diayn, 2 x 2 pixels per cell") / cnn("diayn"))]]
        ),
    },
    "docs/family/README.md": {
        "its mazes with networks ({:.1f} of 100 and {:.1f} of 72 buckets": (
            lambda: [
                in_maze(name, 100, "upside", of="family-upside-mazes")
                for name in ("bottleneck", "u")
            ]
        ),
    },
    "docs/family/count_bonus.md": {
        "`count_bonus` and `disdain`): {:.1f} and {:.1f} in `four_rooms`, {:.1f} and {:.1f} in "
        "`u_maze`, {:.1f} and {:.1f} in `empty`, {:.1f} and {:.1f} in `classic_rooms`": (
            lambda: [
                compared(method, where)
                for where in ("four_rooms", "u_maze", "empty", "classic_rooms")
                for method in ("count_bonus", "disdain")
            ]
        ),
    },
    "docs/family/disdain.md": {
        "DISDAIN comes to {:.0f} to {:.0f} and the baseline to {:.0f} to {:.0f}, as published": (
            lambda: [*known_at(600, "disdain"), *known_at(600, "baseline")]
        ),
        "comes to {:.0f} to {:.0f}, and is there after {}M steps, where DISDAIN has {:.0f} to "
        "{:.0f}; DISDAIN whose Q starts as that of the baseline comes to {:.0f} to {:.0f}": (
            lambda: [
                *known_at(600, "baseline with the initial Q of disdain"),
                first_near("baseline with the initial Q of disdain"),
                *known_at(
                    first_near("baseline with the initial Q of disdain"),
                    "disdain",
                ),
                *known_at(600, "disdain with the initial Q of the baseline"),
            ]
        ),
        "DISDAIN is still at {:.1f} after 600M steps": (
            lambda: [max(known_at(600, "disdain", "family-disdain-long"))]
        ),
        "![Curves: information count by steps. DISDAIN rises to {:.0f} to {:.0f} at 600M steps, "
        "one discriminator without bonus but with its initial Q to {:.0f} to {:.0f} and sooner, "
        "all others stay below {:.0f}]": (
            lambda: [
                *known_at(600, "disdain"),
                *known_at(600, "baseline with the initial Q of disdain"),
                math.ceil(known_at(600, "ensemble without bonus")[1]),
            ]
        ),
    },
    "docs/family/domino.md": {
        "one of the six skills earns nothing on {} of {} seeds ([the same map](smerl.md), mean "
        "return {:.1f})": (
            lambda: [
                sum(row["mean_return"] < row["best_return"] for row in domino_blocked()),
                len(domino_blocked()),
                min(row["mean_return"] for row in domino_blocked()),
            ]
        ),
    },
    "docs/family/eddict.md": {
        "{:.0f} of 100 buckets and {:.0f} of 72, fewer than random actions visit "
        "({:.1f} and {:.1f})": (
            lambda: [
                in_maze(name, 50, row)
                for row in ("eddict", "random_walk")
                for name in ("bottleneck", "u")
            ]
        ),
        "it finds {:.0f} to {:.0f} places of 100 skills": (
            lambda: spans(
                compared("eddict", where)
                for where in ("four_rooms", "u_maze", "empty", "classic_rooms")
            )
        ),
    },
    "docs/family/smerl.md": {
        "still comes to the goal on {} of {} seeds, one of six but for a seed with {}, and none "
        "of the task alone": (
            lambda: [
                sum(came > 0 for came in through("smerl", None)),
                len(through("smerl", None)) if not any(through("smerl", 2.0)) else "not all",
                WORDS[max(through("smerl", None))],
            ]
        ),
        "the longer way earns 81 of {:.0f} points": (
            lambda: [stored("family-blocked")[0]["best_return"]]
        ),
    },
    "docs/family/edl.md": {
        "with 50 skills ours visits {:.1f} and {:.1f} buckets": (
            lambda: [in_maze("bottleneck", 50, "edl"), in_maze("u", 50, "edl")]
        ),
    },
    "docs/paper/apart_spread.md": {
        "with counts episodes come to all {:.0f} and all {:.0f} buckets on every seed, and at the "
        "end the skills visit {:.1f} and {:.1f} of them": (
            lambda: [
                in_maze(name, 50, "count_exploration", count)
                for count in ("seen", "visited")
                for name in ("bottleneck", "u")
            ]
        ),
        "it is complete in {} of {} runs ({} worlds, 300k steps), `apart_plus` in {} of {}": (
            lambda: [
                *all_ends("apart_spread"),
                len({row["world"] for row in stored("spread-complete")}),
                *all_ends("apart_plus"),
            ]
        ),
        "the radius is {} with 0.01 and with 0.2, where the ideal is {}": (
            lambda: [
                *{row["radius"] for row in stored("spread-epsilon")},
                stored("spread-epsilon")[0]["ideal_radius"],
            ]
        ),
        "in all {} settings of `maps` the radius of the eight seeds is the same. {} runs": (
            lambda: [len(alike()), len(stored("spread-maps")) if all(alike()) else "not all"]
        ),
        "{:.1f} buckets against 85.67 in the bottleneck, and {:.1f} against 71.33 in the U": (
            lambda: [in_maze("bottleneck", 57), in_maze("u", 51)]
        ),
        "in the U ({:.1f} against 55.67, {:.1f} against 43.33)": (
            lambda: [in_maze("u", 20), in_maze("u", 10)]
        ),
        "with 50 skills in the bottleneck ({:.1f} against {:.1f})": (
            lambda: [in_maze("bottleneck", 50, BINS), in_maze("bottleneck", 50)]
        ),
        "its skills end in more ({:.1f} against {:.1f})": (
            lambda: [
                in_maze("bottleneck", 50, BINS, "last"),
                in_maze("bottleneck", 50, count="last"),
            ]
        ),
        "our `random_walk` visits {:.1f} and {:.1f} buckets in 100 episodes": (
            lambda: [in_maze(name, 100, "random_walk") for name in ("bottleneck", "u")]
        ),
        "as UPSIDE's baseline takes them, {:.1f} and {:.1f} here": (
            lambda: [
                fmean(run["visited"] for run in stored("mazes")["walk"][name].values())
                for name in ("bottleneck", "u")
            ]
        ),
        "`apart_spread` visits {} buckets of the bottleneck after 300k steps, {} with four times": (
            lambda: [
                stored("mazes")["hold"][hold]["bounded"]["0"]["visited"]
                for hold in ("1", "1, 16 updates")
            ]
        ),
        "when looked at after {:.0f}k steps": lambda: [
            max(row["all_tried_at"] or 0 for row in stored("spread-scale") if row["skills"] == 256)
            / 1000
        ],
        "A run takes {:.2f} to {:.2f} of the time of one of `apart_plus`": (
            lambda: [min(spread_costs()), max(spread_costs())]
        ),
    },
    "docs/paper/apart_plus.md": {
        "in `empty`, `apart_logits` finds {:.1f} of {} with decay and {:.1f} without": (
            lambda: [
                *(mean("logits, not counts", "empty"), cells("empty")),
                mean("logits without decay", "empty"),
            ]
        ),
        "takes `empty` ({0} cells for {1} skills, no spare) from {2:.1f} skills after 200,000 "
        "steps with sampled batches to {3} {0}": (
            lambda: [cells("empty"), K, mean("no sweep", "empty"), every_seed("empty")]
        ),
        "{} seeds in each world (`python benchmarks/plus.py sixty`": lambda: [complete()[1]],
        "{} million steps, {} seeds each (`python benchmarks/plus.py long`": (
            lambda: [
                WORDS[stored("plus-long")[0]["env_steps"] / 1e6].capitalize(),
                WORDS[len({row["seed"] for row in stored("plus-long")})],
            ]
        ),
        "{} maps that come with the package, the same setting": (
            lambda: [WORDS[len({key.split()[0] for key in stored("plus-maps")})].capitalize()]
        ),
        "plus.py maps`, mean over {} seeds of the share found": (
            lambda: [WORDS[len(maze()["found"])]]
        ),
        "where an episode takes {} steps and 300k steps are only {:,} episodes": (
            lambda: [maze()["horizon"], round(300_000 // maze()["horizon"], -2)]
        ),
        "{:,} steps, {} seeds, mean and 95 % interval": (
            lambda: [stored("plus-ablation")[0]["steps"], len(found("apart_plus"))]
        ),
        "Without both, {:.0f} of {}; with sharing and sampled batches {:.1f}, and {:.1f} of {} in "
        "`empty`; with the sweep {} of them on all {} seeds.": (
            lambda: [
                *(mean("no sharing, no sweep"), cells(), mean("no sweep")),
                *(mean("no sweep", "empty"), cells("empty")),
                *(every_seed("four_rooms"), len(found("apart_plus"))),
            ]
        ),
        "{:.0f} to {:.0f}; DIAYN {:.0f} to {:.0f} and VIC {:.0f} to {:.0f}, whose log posterior": (
            lambda: [n for method in ("tuned_vic", "diayn", "vic") for n in sharing(method)]
        ),
        "The same sharing takes `apart`, whose reward is negative wherever a rival is stronger, "
        "from {:.0f} to {:.0f}.": lambda: sharing("apart"),
        "(that tuned VIC {:.0f} to {:.0f}, in `empty` {:.0f} to {:.0f}; VIC with sharing "
        "{:.0f} to {:.0f})": (
            lambda: [
                mean(change, where, method)
                for where, method, changes in (
                    ("four_rooms", "tuned_vic", ("as it is", "+ initial Q +-1")),
                    ("empty", "tuned_vic", ("as it is", "+ initial Q +-1")),
                    ("four_rooms", "vic", ("+ sharing", "+ sharing, initial Q +-1")),
                )
                for change in changes
            ]
        ),
        "{:.3g}, {:.3g} and {:.3g} without it; {:.3g}, {:.3g} and {:.3g} with it.": (
            lambda: [*everywhere("logits without decay"), *everywhere("logits, not counts")]
        ),
        "In the largest world {:,} steps are {:,} episodes for {:,} skills": largest,
        "slip`, {} seeds, 200,000 steps)": lambda: [len(slip(0.2))],
    },
    "docs/paper/results.md": {
        "Four rooms, K = {}, T = {}, {} seeds (0 to 3)": (
            lambda: [K, world().about.horizon, WORDS[reproduced("reward_table").seeds]]
        ),
        "A random walk of {} episodes ends in {:.0f} distinct cells on average": (
            lambda: [K, walk()]
        ),
        "Three plots of skills found over {:.0f}M steps": lambda: at_end("learned_skills"),
        "over {:.0f}M steps in our reading: means of {} seeds with 95 % intervals "
        "(`apart reproduce learned_skills`, {:.0f} core-hours)": (
            lambda: [*at_end("learned_skills"), core_hours("learned_skills")]
        ),
        "finds all skills of four rooms on all seeds (our reading, in {} of the paper's steps)": (
            lambda: [share(all_four_rooms(), 10)]
        ),
    },
    "docs/paper/readings.md": {
        "AP min, alone and with dropout alone, ends near {:.0f} skills where the paper has {:g}.": (
            lambda: [round(published("AP min", "AP min, dropout"), -1), ROWS["AP min"][1]]
        ),
        "not the number of rollouts ({} to {})": lambda: tried("episodes per update"),
        "target networks ({} to {} updates)": lambda: tried("target network"),
        "Only the {} Q has fewer ({} and {}), and with it APART has {}.": fewest,
        "**APART is at {:.1f}, where the paper has {:g} ± 3.7**": (
            lambda: [published("AP min, both (APART)"), ROWS["AP min, both (APART)"][1]]
        ),
        "a replay of {:,} transitions holds {} collections, "
        "which are the rollouts of some {:.0f} of the {} skills": replayed,
        "cells in which skills end ({} against {})": (
            lambda: [row["skills"] for row in stored("reward-maps").values()]
        ),
    },
    "docs/internals/performance.md": {
        "Up to K = {} the pairs of four rooms ({:.0f} MB with Adam's moments)": (
            lambda: [K, world().n_states * PAIRS * 3 * 4 / 1e6]
        ),
        "A batch {} times as large costs less than {} as much": larger_batch,
        "seed-updates per second for {} seeds": lambda: [WORDS[stored("seeds")["seeds"]]],
        "`apart` spends {} of its time on the gradient and the dense Adam step of the pairs": (
            lambda: [share(profiled("apart", "the discriminator") / profiled("apart"), 10)]
        ),
        "`diayn` takes {} of a millisecond for everything": (
            lambda: [share(profiled("diayn") / 1e3, 10)]
        ),
    },
    "docs/internals/safety.md": {
        "killed before and after, power cut) | all, {} kinds |": lambda: [len(FAULTS)],
        "mutated run folders, {} kinds of damage": (
            lambda: [sum(name.startswith("by_") for name in dir(Mutator))]
        ),
    },
}


COMPARED = ("four_rooms", "u_maze", "empty", "classic_rooms")


def prose(page):
    """A page without the tables that are written from results, all on one line."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return " ".join(re.sub(r"<!-- (\w+) -->\n.*?<!-- /\1 -->", "", text, flags=re.DOTALL).split())


@pytest.mark.parametrize(
    ("page", "phrase"), [(page, phrase) for page, phrases in HELD.items() for phrase in phrases]
)
def test_a_number_in_a_sentence_is_the_stored_one(page, phrase):
    said = phrase.format(*HELD[page][phrase]())
    assert re.search(rf"(?<![\d.,]){re.escape(said)}(?![.,]?\d)", prose(page)), said


def test_what_the_page_says_of_five_times_as_many_steps_is_what_was_stored():
    """How many skills more, in each world, by method; a skill more or less counts as none."""
    page, more = prose("docs/guide/compare.md"), {}
    for row in stored("compare-long")["rows"]:
        shorter = compared(row["label"], row["world"])
        after = fmean(row["cells"]["distinct"]["values"])
        more.setdefault(row["label"], {})[row["world"]] = after - shorter
        assert len(row["seeds"]) == 8, row["label"]
    assert "`apart`, `tuned_vic`, `vic` and `vic_unbiased` go on finding in every world" in page
    for name in ("apart", "tuned_vic", "vic", "vic_unbiased"):
        assert min(more[name].values()) > 1
    for name, but in (("dgpo", "classic_rooms"), ("valor", "empty")):
        assert f"`{name}` in all but `{but}`" in page
        assert [where for where, n in more[name].items() if n < 1] == [but]
    for name in ("disdain", "count_bonus"):
        assert all(2 < n < 10 for n in more[name].values())
    assert "`dads` has fewer in every world, `metra` in three of the four" in page
    assert max(more["dads"].values()) < -0.5
    assert sum(n < -1 for n in more["metra"].values()) == 3
    ova = ["ova_ascending", "ova_dropout", "ova_art"]
    for name in ("diayn", *ova, "upside", "upside_flat", "eigenoptions", "apart_plus"):
        assert max(map(abs, more[name].values())) < 0.2
    for where, of in (("four_rooms", "in four rooms"), ("u_maze", "in the U")):
        before = compared("apart", where)
        said = f"from {before:.1f} to {before + more['apart'][where]:.1f} {of}"
        assert said in page
        for name in ("ap_min", "ap_min_dropout"):
            before = compared(name, where)
            assert f"from {before:.1f} to {before + more[name][where]:.1f}" in page
    least = [
        {where: compared(name, where, of="compare-long") for where in COMPARED}
        for name in ("apart", "ap_min", "ap_min_dropout", "ap_min_ascending")
    ]
    own, plain, dropped, ascending = least
    said = [f"{found['empty']:.1f}" for found in (plain, dropped, own)]
    assert "past it ({} and {}, `apart` {})".format(*said) in page
    assert min(plain["empty"], dropped["empty"]) > own["empty"] + 2
    assert all(abs(ascending[where] - own[where]) < 2.5 for where in COMPARED)
    assert all(0 < max(more[name].values()) < 10 for name in ("ap_average", "ap_average_art"))


def test_what_the_page_says_of_sharing_is_what_was_stored():
    page = prose("docs/guide/compare.md")
    usual = {(r["world"], r["label"]): r for r in stored("compare")["rows"]}
    times = {}
    for row in stored("compare-sharing")["rows"]:
        both = [
            fmean(one["cells"]["distinct"]["values"])
            for one in (row, usual[row["world"], row["method"]])
        ]
        shared, own = both if row["label"].endswith("+ sharing") else both[::-1]
        times.setdefault(row["method"], []).append(shared / own)
        assert len(row["seeds"]) == 8
    assert all(len(found) == 4 for found in times.values())
    for of, name, said in (
        ("compare-sharing", "apart + sharing", "has {} distinct last states in"),
        ("compare-long", "apart", "without it {} after 5M"),
    ):
        *some, last = (f"{compared(name, where, of=of):.1f}" for where in COMPARED)
        assert said.format(f"{', '.join(some)} and {last}") in page
    least = [name for name in times if name.startswith("ap_min")]
    assert all(min(times[name][:3]) > 1.05 for name in least)
    assert [name for name in least if times[name][3] < 1] == ["ap_min"]
    averages = [found for name in times if name.startswith("ap_average") for found in times[name]]
    assert 1.08 < min(averages) < max(averages) < 1.28
    for method, words in (("disdain", "of `disdain` by"), ("count_bonus", "`count_bonus` by")):
        numbers = "{:.1f}, {:.1f}, {:.1f} and {:.1f}".format(*times[method])
        assert f"{words} {numbers}" in page
    assert "of `discern` by {:.1f}, {:.1f}, {:.1f} and {:.1f};".format(*times["discern"]) in page
    assert all(min(times[name]) > 1 for name in ("vic_unbiased", "apart_plus", "apart_logits"))
    assert all(0.8 < found < 1.15 for found in times["vic"])
    assert sum(found > 1 for found in times["tuned_vic"]) == 3
    assert "by 1.1 to 2.8" in prose("docs/family/disdain.md")
    assert [round(end(times["disdain"]), 1) for end in (min, max)] == [1.1, 2.8]
    harmed = ["diayn", "ova_ascending", "ova_dropout", "ova_art", "valor", "eddict"]
    assert [name for name in times if max(times[name]) < 1] == [
        *harmed,
        "count_exploration",
        "rnd",
    ]


@pytest.mark.parametrize("name", ["compare", "compare-few", "compare-long", "compare-sharing"])
def test_stored_rows_are_of_the_options_that_methods_have_today(name):
    """Or they would have to be made again; `apart compare --with` refuses them, too."""
    today = {}
    for row in stored(name)["rows"]:
        asked = row["world"], row["method"], row["steps"], row["skills"]
        if asked not in today:
            where, method, steps, skills = asked
            said = {"seeds": [0], "sharing": name == "compare-sharing", "folder": Path("x")}
            made = rows_of_methods.rows(
                [where], [method], steps=[steps], skills=skills, say=print, **said
            )
            today[asked] = {one.label: (one.identity, one.world_identity) for one in made}
        assert (row["identity"], row["world_identity"]) == today[asked][row["label"]], row["label"]
