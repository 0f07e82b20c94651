"""Worlds that are no maps."""

from __future__ import annotations

from apart import settings
from apart.methods import METHODS
from apart.worlds import hosts, places, spaces
from apart.worlds.world import (
    FEW_SKILLS,
    USUAL_HORIZON,
    About,
    HostWorld,
    JaxWorld,
    ObsSpec,
    Places,
    Usual,
)
from tabled.base import markdown, numbers, stored, table, thousands


@table
def worlds_gym() -> str:
    """Gymnasium worlds as they are."""
    table = stored("worlds-gym")
    methods = list(dict.fromkeys(method for world in table.values() for method in world["runs"]))
    rows = []
    for name, world in table.items():
        found = []
        for method in methods:
            runs = world["runs"].get(method, {}).values()
            found.append(", ".join(f"{run['found']:g}" for run in runs) or "not made yet")
        steps = {
            thousands(run["env_steps"]) for one in world["runs"].values() for run in one.values()
        }
        seen, acts = world["observation"], world["actions"].removeprefix("1 x ")
        rows.append([f"`{name}`", seen, acts, world["horizon"], " ".join(sorted(steps)), *found])
    head = ["`gym:...`", "observation", "actions", "T", "steps"]
    return markdown([*head, *(f"`{method}`" for method in methods)], rows)


@table
def worlds_speed() -> str:
    """What the adapter costs."""
    found = stored("worlds-speed")
    names = {
        "bare": "`SyncVectorEnv.step` alone",
        "ours": "episodes collected by us, random actions",
        "with_policy": "the same, asking a policy (`mlp:128,128`, 20 skills) at every step",
    }
    bare = found["bare"]["cpu_us_per_step"]
    rows = []
    for name, words in names.items():
        cpu = found[name]["cpu_us_per_step"]
        rows.append([words, cpu, "" if name == "bare" else f"{cpu / bare - 1:+.0%}"])
    what = f"{found['side']} x `{found['world']}`, CPU µs per environment step"
    return markdown([what, "", "over bare"], rows)


@table
def worlds_tables() -> str:
    """Gymnasium worlds as tables."""
    rows = []
    for name, world in stored("worlds-tables").items():
        for runs in (world["runs"], *world.get("longer", {}).values()):
            found = [run["found"] for run in runs.values()]
            steps = {thousands(run["env_steps"]) for run in runs.values()}
            kind = "several successors" if world["successors"] > 1 else ""
            rows.append(
                [
                    f"`{name}`",
                    world["states"],
                    f"{world['search_seconds']:.1f}",
                    world["horizon"],
                    ", ".join(f"{n:.4g}" for n in found),
                    world["available"],
                    world["random_walk"],
                    " ".join(steps),
                    kind,
                ]
            )
    head = ["`table:gym:...`", "states", "search, s", "T", "skills found, by seed", "of"]
    return markdown([*head, "random walk", "steps", ""], rows)


def _usual(kind: type[JaxWorld] | type[HostWorld], **functions: object) -> Usual:
    """What the world sets in a world with very many places."""
    about = About("any", {}, USUAL_HORIZON, n_actions=2)
    return kind(about, Places(n=10**6), ObsSpec((2,)), **functions).usual


@numbers
def defaults_of_jax_worlds() -> list[str]:
    """Most skills, skills where places are unknown, least budget, episodes at a time."""
    names = ("reset", "step", "observe", "place")
    usual = _usual(JaxWorld, **dict.fromkeys(names))
    steps = f"{usual.steps / 1e6:g}M"
    return [f"{usual.skills}", f"{FEW_SKILLS}", steps, f"{usual.episodes_per_update}"]


@numbers
def defaults_of_gymnasium() -> list[str]:
    """The same, then the longest T."""
    usual = _usual(HostWorld, make=None, place=None)
    steps = thousands(usual.steps)
    some = [f"{usual.skills}", f"{FEW_SKILLS}", steps, f"{usual.episodes_per_update}"]
    return [*some, f"{USUAL_HORIZON}"]


@numbers
def defaults_outside_tables() -> list[str]:
    """Steps between updates, those of UPSIDE, decisions, evaluations' share, GB of replay."""
    method = METHODS["diayn"].elsewhere
    some = [method.steps_per_update, METHODS["upside"].elsewhere.steps_per_update]
    some += [method.decisions, settings._SHARE, settings._REPLAY_BYTES // 10**9]
    return [*map(str, some)]


@numbers
def gymnasium_limits() -> list[str]:
    """Bins, timeout, steps of random play, joint actions, heads, bins per cell, Atari games."""
    some = [hosts._BINS, HostWorld.timeout, hosts._SAMPLE, spaces._MOST_JOINT, spaces.MAX_HEADS]
    return [f"{number:g}" for number in (*some, places._PER_CELL, len(places._RAM))]
