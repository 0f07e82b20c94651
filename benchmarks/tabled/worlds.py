"""Worlds that are no maps."""

from __future__ import annotations

from tabled.base import markdown, stored, table, thousands


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
