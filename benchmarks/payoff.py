"""Do skills pay off? Zero-shot goals, chains of skills, sparse tasks for Q-learning on skills.

    python benchmarks/payoff.py [goals | chains | tasks | mazes ...] [--seeds 20] [--only METHOD]

Without a word all of it, in this order. Trains what is missing below runs/payoff (the task DoorKey
needs the extra `minigrid`), measures, and stores results/payoff.json as it goes; what is stored is
not made again. Goals are asked of every method that learns a table; `mazes --only METHOD` of any
method, with the options that benchmarks/mazes.py has for it.
"""

from __future__ import annotations

import argparse
import functools
import json
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import maze_goals
import mazes
import numpy as np

import apart
from apart import worlds
from apart.facts import needs_task
from apart.methods import METHODS
from apart.objective.discriminators import DISCRIMINATORS
from apart.settings import resolve
from apart.skills.library import TablePolicies
from apart.worlds.world import JaxWorld

ROOT = Path(__file__).parent.parent
STORED, RUNS = ROOT / "results" / "payoff.json", ROOT / "runs" / "payoff"
STEPS = 200_000  # of every run: equal for all methods
FEWER = 50_000  # of the runs whose skills are chained; their episodes are short
DOORKEY = "table:gym:MiniGrid-DoorKey-5x5-v0"
CHAINS = ("apart_plus", "apart_spread", "vic", "diayn")
TASKS = ("apart_plus", "apart_spread", "vic", "diayn")
STUDIED = "apart_spread"  # whose skills are used in more ways
MAZES = ("apart_logits",)
MAZE_STEPS = 100_000
SHORT = 8  # horizon of the skills that are chained
LINKS = 6


class Setting(NamedTuple):
    """Runs of several methods that differ in their seeds only."""

    name: str
    world: str
    steps: int
    options: dict[str, Any]
    methods: tuple[str, ...]
    slow: dict[str, int] = {}  # noqa: RUF012 - seeds of methods of which there are fewer

    def seeds(self, method: str, asked: int) -> range:
        return range(min(asked, self.slow.get(method, asked)))

    def place(self, method: str, seed: int) -> Path:
        return RUNS / f"{self.name}-{self.steps}" / method / f"seed-{seed}"


def tabular() -> tuple[str, ...]:
    """Every method that learns, and learns a table in four rooms."""
    fit = [name for name in METHODS if not needs_task(name)]
    known = {name: resolve("four_rooms", name, {})[0] for name in fit}
    return tuple(n for n, c in known.items() if c.updates_per_episode and c.network == "table")


def _pairwise(method: str) -> bool:
    config, _ = resolve("four_rooms", method, {})
    return DISCRIMINATORS[config.discriminator].pairwise


GOALS = tabular()
FEW = {name: 10 for name in GOALS if _pairwise(name)}  # their updates cost several times as much
AUTO = {"skills": "auto", "horizon": "auto"}
SETTINGS = {
    "goals": Setting("four_rooms", "four_rooms", STEPS, {}, GOALS, FEW),
    "chains": Setting("short", "four_rooms", FEWER, {"horizon": SHORT}, CHAINS),
    # 270 skills in 270 states: most of a minute a run
    "doorkey": Setting(
        "doorkey", DOORKEY, STEPS, AUTO, TASKS, {"vic": 4, "diayn": 4, "apart_spread": 4}
    ),
}


def run_of(setting: Setting, method: str, seed: int) -> apart.Run:
    """The run, trained if it is not there."""
    out = setting.place(method, seed)
    if not (out / "summary.json").exists():
        options = {"steps": setting.steps, "evaluate_every": setting.steps // 2, **setting.options}
        apart.train(
            _world(setting.world), method=method, seed=seed, out=out, overwrite=True, **options
        )
    return apart.load(out)


@functools.cache
def _world(name: str) -> apart.TableWorld:
    found = worlds.load(name)
    assert isinstance(found, apart.TableWorld)
    return found


def policies(setting: Setting, method: str, seed: int) -> TablePolicies:
    """What its skills do in every state; kept beside the run, as it is asked for often."""
    kept = setting.place(method, seed).with_name(f"actions-{seed}.npy")
    run = run_of(setting, method, seed)
    if not kept.exists():
        np.save(kept, run.skills.acting.action)
    world = run.world
    assert isinstance(world, apart.TableWorld)
    return TablePolicies(world, np.load(kept), int(run.config["horizon"]))


# Zero-shot goals


def goals(found: TablePolicies) -> dict[str, float]:
    """Shares of goals, and of (start, goal) pairs, that one chosen skill comes to.

    `TablePolicies.arrivals` of all goals at once, for a world without chance.
    """
    n, start, skills = found.world.n_states, found.world.start, np.arange(found.action.shape[1])
    states = np.arange(n)[:, None]
    onward = found.world.next_state[states, found.action, 0]
    at = np.broadcast_to(states, found.action.shape)
    comes = np.zeros((n, len(skills), n), bool)  # [from, skill, goal]
    comes[states, skills, at] = True
    for _ in range(found.horizon):
        at = onward[at, skills]
        comes[states, skills, at] = True
    ends = at[:, :, None] == np.arange(n)
    chosen = np.lexsort((~ends[start], ~comes[start]), axis=0)[0]  # of each goal
    known = comes[start, chosen, np.arange(n)]  # else nobody knows a skill for it
    return {
        "start": float(known.mean()),
        "comes": float((known * comes[:, chosen, np.arange(n)]).mean()),
        "ends": float((known * ends[:, chosen, np.arange(n)]).mean()),
        "chosen_there": float(comes.any(axis=1).mean()),
    }


def random_goals(world: apart.TableWorld, horizon: int) -> dict[str, float]:
    """The same of uniformly random actions, exact."""
    n = world.n_states
    flow = world.probability / world.about.n_actions
    comes, ends = np.eye(n), np.eye(n)  # [from, goal]
    for _ in range(horizon):
        comes, ends = ((flow[..., None] * p[world.next_state]).sum((1, 2)) for p in (comes, ends))
        np.fill_diagonal(comes, 1.0)
    start = float(comes[world.start].mean())
    return {"start": start, "comes": float(comes.mean()), "ends": float(ends.mean())}


# Chains


def chain(found: TablePolicies) -> list[int]:
    """Different cells in which 0, 1, 2, ... skills one after the other can end."""
    states = np.arange(found.world.n_states)[:, None]
    onward = found.world.next_state[states, found.action, 0]
    ends = np.broadcast_to(states, found.action.shape)
    for _ in range(found.horizon):
        ends = onward[ends, np.arange(found.action.shape[1])]
    at = {int(found.world.start)}
    counts = [1]
    for _ in range(LINKS):
        at = {int(end) for state in at for end in ends[state]}
        counts.append(len(at))
    return counts


# Tasks


class Task(NamedTuple):
    """A sparse task: a table whose states are cells and what the task remembers."""

    next_state: Any  # [P, A]
    cell: Any  # [P] the state of the world, which skills see
    done: Any  # [P] the goal: reward 1, the episode ends
    starts: Any  # [G] one of them by chance
    limit: int  # steps of an episode


def _cells(world: apart.TableWorld, *cells: tuple[int, int]) -> list[int]:
    return [world.state(cell) for cell in cells]


def staged(
    world: apart.TableWorld, marks: list[int], limit: int, shut: tuple[int, ...] = ()
) -> Task:
    """Come to the marks in order; before the first one the cells ``shut`` are walls."""
    moved, n = world.next_state[:, :, 0], world.n_states
    rows, last = [], len(marks) - 1
    for stage, mark in enumerate(marks):
        closed = np.isin(moved, shut) if stage == 0 and shut else np.zeros(moved.shape, bool)
        to = np.where(closed, np.arange(n)[:, None], moved)
        rows.append(to + n * (stage + ((to == mark) & (stage < last))))
    done = np.zeros(n * len(marks), bool)
    done[n * last + marks[-1]] = True
    cell = np.tile(np.arange(n), len(marks))
    return Task(np.concatenate(rows), cell, done, np.array([world.start]), limit)


def moving(world: apart.TableWorld, goals: list[int], limit: int) -> Task:
    """One of the goals, drawn for each episode and seen by the agent."""
    moved, n = world.next_state[:, :, 0], world.n_states
    done = np.zeros(n * len(goals), bool)
    done[[n * g + goal for g, goal in enumerate(goals)]] = True
    return Task(
        np.concatenate([moved + n * g for g in range(len(goals))]),
        np.tile(np.arange(n), len(goals)),
        done,
        world.start + n * np.arange(len(goals)),
        limit,
    )


def tasks() -> list[tuple[Setting, dict[str, Task]]]:
    """By name, with the setting whose skills they are given."""
    rooms = _world("four_rooms")
    corners = _cells(rooms, (0, 0), (0, 9), (9, 0), (9, 9))
    middles = _cells(rooms, (2, 2), (2, 7), (7, 2), (7, 7))
    doors = _cells(rooms, (2, 5), (8, 5))
    door = _world(DOORKEY)
    ended = (door.next_state == np.arange(door.n_states)[:, None, None]).all((1, 2))
    of_door = Task(
        door.next_state[:, :, 0], np.arange(door.n_states), ended, np.array([door.start]), 250
    )
    of_rooms = {
        "far corner": staged(rooms, [corners[1]], 100),
        "two cells in order": staged(rooms, [corners[0], corners[3]], 200),
        "key and doors": staged(rooms, [corners[0], corners[1]], 200, tuple(doors)),
        "a goal that moves": moving(rooms, corners + middles, 100),
    }
    return [
        (SETTINGS["goals"], of_rooms),
        (SETTINGS["doorkey"], {"MiniGrid DoorKey 5x5": of_door}),
    ]


BUDGET, CHUNK = 50_000, 1_000
WINDOW, ENOUGH = 20, 18  # episodes: 90 % of the last 20
RATE, DISCOUNT, EPSILON = 0.5, 0.99, 0.1


class Lane(NamedTuple):
    """One agent: what it is given. All agents of a task learn side by side."""

    policy: Any  # whose skills
    low: Any  # its options are low .. high - 1: skills come first, then primitive actions
    high: Any
    optimism: Any  # Q at the start
    inside: Any = False  # each step teaches all skills that would have made it (intra-option)


class Agent(NamedTuple):
    """Q-learning over options."""

    q: Any  # [P, O]; -inf for options that it does not have
    state: Any
    option: Any
    running: Any  # an option goes on
    first: Any  # where it began
    gained: Any  # discounted reward since
    fading: Any  # discount since
    lasted: Any  # steps since
    made: Any  # steps of the episode
    episodes: Any
    window: Any  # [WINDOW] successes
    steps: Any
    solved_at: Any  # -1: not yet


def _nth(luck: Any, n: Any) -> Any:
    """One of n by ``luck``, uniform in [0, 1)."""
    return (luck * n).astype(jnp.int32)


def learner(task: Task, actions: Any, longest: int) -> Any:
    """(key, lane) -> an agent; (agent, key, lane) -> the agent CHUNK steps later.

    An option is a skill until it rests (a step leaves the cell as it was) or ``longest`` steps, or
    one primitive action.
    """
    table = jax.tree.map(jnp.asarray, task)
    acts = jnp.asarray(actions)  # [policies, S, K]
    n_skills = acts.shape[2]
    n_options = n_skills + task.next_state.shape[1]

    def begin(luck: Any) -> Any:
        return table.starts[_nth(luck, len(task.starts))]

    def init(key: Any, lane: Lane) -> Agent:
        zero, one = jnp.int32(0), jnp.float32(1)
        number = jnp.arange(n_options)
        own = (number >= lane.low) & (number < lane.high)
        row = jnp.where(own, lane.optimism, -jnp.inf)
        return Agent(
            jnp.tile(row, (len(task.cell), 1)),
            begin(jax.random.uniform(key)),
            *(zero, jnp.bool_(False), zero, 0 * one, one, zero, zero, zero),
            jnp.zeros(WINDOW, bool),
            *(zero, zero - 1),
        )

    def step(a: Agent, luck: Any, lane: Lane) -> Agent:
        tie, explore, any_of, at_start = luck
        best = jnp.cumsum(a.q[a.state] == a.q[a.state].max())
        greedy = jnp.argmax(best > _nth(tie, best[-1]))  # one of the best
        random = lane.low + _nth(any_of, lane.high - lane.low)
        new = jnp.where(explore < EPSILON, random, greedy)
        option = jnp.where(a.running, a.option, new)
        first = jnp.where(a.running, a.first, a.state)
        gained, fading, lasted = (
            jnp.where(a.running, now, at_first)
            for now, at_first in ((a.gained, 0.0), (a.fading, 1.0), (a.lasted, 0))
        )
        cell = table.cell[a.state]
        of_skill = acts[lane.policy, cell, jnp.minimum(option, n_skills - 1)]
        move = jnp.where(option < n_skills, of_skill, option - n_skills)
        after = table.next_state[a.state, move]
        done = table.done[after]
        gained, fading = gained + fading * done, fading * DISCOUNT
        lasted, made = lasted + 1, a.made + 1
        over = done | (made >= task.limit)
        rests = table.cell[after] == cell
        ends = over | (option >= n_skills) | rests | (lasted >= longest)
        target = gained + fading * jnp.where(done, 0.0, a.q[after].max())
        q = a.q.at[first, option].add(jnp.where(ends, RATE, 0.0) * (target - a.q[first, option]))
        # Sutton, Precup and Singh (1999): a skill that goes on is worth there what it is worth.
        onward = jnp.where(rests, a.q[after].max(), a.q[after, :n_skills])
        taught = done + DISCOUNT * jnp.where(done, 0.0, onward) - q[a.state, :n_skills]
        same = (acts[lane.policy, cell] == move) & lane.inside & (lane.low == 0)
        q = q.at[a.state, :n_skills].add(jnp.where(same, RATE * taught, 0.0))
        shifted = jnp.roll(a.window, 1).at[0].set(done)
        window = jnp.where(over, shifted, a.window)
        episodes, steps = a.episodes + over, a.steps + 1
        solved = (episodes >= WINDOW) & (window.sum() >= ENOUGH) & (a.solved_at < 0)
        return Agent(
            q,
            jnp.where(over, begin(at_start), after),
            option,
            ~ends,
            first,
            gained,
            fading,
            lasted,
            jnp.where(over, 0, made),
            episodes,
            window,
            steps,
            jnp.where(solved, steps, a.solved_at),
        )

    def chunk(a: Agent, key: Any, lane: Lane) -> Agent:
        luck = jax.random.uniform(key, (CHUNK, 4))
        return jax.lax.scan(lambda now, drawn: (step(now, drawn, lane), None), a, luck)[0]

    return jax.jit(jax.vmap(init)), jax.jit(jax.vmap(chunk), donate_argnums=0)


def solve(task: Task, actions: Any, lanes: list[Lane], longest: int) -> list[int | None]:
    """Steps of each lane until 18 of 20 episodes came to the goal; None: not within BUDGET."""
    init, chunk = learner(task, actions, longest)
    every = Lane(*(jnp.asarray(column) for column in zip(*lanes, strict=True)))
    keys = jax.random.split(jax.random.key(0), len(lanes))
    agent = init(keys, every)
    for number in range(BUDGET // CHUNK):
        fresh = jax.vmap(functools.partial(jax.random.fold_in, data=number))(keys)
        agent = chunk(agent, fresh, every)
        solved = np.asarray(agent.solved_at) >= 0
        print(f"{(number + 1) * CHUNK:,} steps: {solved.sum()} of {len(lanes)} solved", flush=True)
        if solved.all():
            break
    return [int(at) if at >= 0 else None for at in np.asarray(agent.solved_at)]


# The command


def stored() -> dict[str, Any]:
    return json.loads(STORED.read_text()) if STORED.exists() else {}


def keep(part: str, name: str, value: Any) -> None:
    table = stored()
    table.setdefault(part, {})[name] = value
    table |= {"steps": STEPS, "fewer": FEWER, "short": SHORT, "budget": BUDGET}
    table |= {"maze_steps": MAZE_STEPS, "radius": maze_goals.RADIUS}
    table |= {"maze_discount": maze_goals.DISCOUNT, "walks": maze_goals.WALKS}
    STORED.write_text(json.dumps(table, indent=1) + "\n")
    print(part, name, json.dumps(value), flush=True)


def missing(part: str, name: str, seeds: int) -> bool:
    found = stored().get(part, {}).get(name)
    return found is None or (isinstance(found, list) and len(found) < seeds)


def make_goals(seeds: int, only: str | None) -> None:
    setting = SETTINGS["goals"]
    for method in asked_for(setting.methods, only):
        some = setting.seeds(method, seeds)
        if missing("goals", method, len(some)):
            keep("goals", method, [goals(policies(setting, method, s)) for s in some])
    if missing("goals", "random walk", 1):
        world = _world(setting.world)
        keep("goals", "random walk", [random_goals(world, world.about.horizon)])


def make_chains(seeds: int, only: str | None) -> None:
    setting = SETTINGS["chains"]
    for method in asked_for(setting.methods, only):
        if missing("chains", method, seeds):
            keep("chains", method, [chain(policies(setting, method, s)) for s in range(seeds)])
    if missing("chains", "untrained", seeds):
        world = _world(setting.world)
        shape = (world.n_states, 100)
        drawn = [np.random.default_rng(s).integers(0, 5, shape) for s in range(seeds)]
        keep("chains", "untrained", [chain(TablePolicies(world, a, SHORT)) for a in drawn])


def make_tasks(seeds: int, only: str | None) -> None:
    for setting, some in tasks():
        for name, task in some.items():
            wanted = {}
            for method in asked_for(TASKS, only):
                n = len(setting.seeds(method, seeds))
                ways = [way for way in ways_of(method) if missing("tasks", f"{name} | {way}", n)]
                wanted |= {method: ways} if ways else {}
            if wanted:
                make_task(setting, name, task, wanted, seeds)


def ways_of(method: str) -> dict[str, dict[str, Any]]:
    """How its skills are used, and what differs from a lane of all skills that begin at 0."""
    plain = {f"skills of {method}": {}, f"both of {method}": {"high": None}}
    if method != STUDIED:
        return plain
    return {
        **plain,
        f"skills of {method}, optimistic": {"optimism": 1.0},
        f"skills of {method}, intra-option": {"inside": True},
        f"both of {method}, intra-option": {"inside": True, "high": None},
    }


def make_task(
    setting: Setting, name: str, task: Task, wanted: dict[str, list[str]], seeds: int
) -> None:
    """Agents of one task: in the ``wanted`` ways of each method, and once on primitive actions."""
    every = {(m, s): policies(setting, m, s) for m in wanted for s in setting.seeds(m, seeds)}
    actions = np.stack([one.action for one in every.values()])
    n_skills, n_all = actions.shape[2], actions.shape[2] + task.next_state.shape[1]
    lanes: dict[tuple[str, int], Lane] = {}
    if missing("tasks", f"{name} | primitive", seeds):
        for seed in range(seeds):
            lanes["primitive", seed] = Lane(0, n_skills, n_all, 0.0)
            lanes["primitive, optimistic", seed] = Lane(0, n_skills, n_all, 1.0)
    for policy, (method, seed) in enumerate(every):
        for way in wanted[method]:
            differs = {k: n_all if v is None else v for k, v in ways_of(method)[way].items()}
            lanes[way, seed] = Lane(policy, 0, n_skills, 0.0)._replace(**differs)
    longest = next(iter(every.values())).horizon
    scores = solve(task, actions, [*lanes.values()], longest)
    for way in dict.fromkeys(way for way, _ in lanes):
        found = [score for (one, _), score in zip(lanes, scores, strict=True) if one == way]
        keep("tasks", f"{name} | {way}", found)


def make_mazes(seeds: int, only: str | None) -> None:
    for name in mazes.WALKED:
        world = worlds.load(f"maze:{name}")
        assert isinstance(world, JaxWorld)
        if missing("mazes", f"{name} | random actions", 1):
            walked = maze_goals.walked(world, mazes.COMMON["hold"], 0)
            keep("mazes", f"{name} | random actions", [walked])
        for label in [only] if only else MAZES:
            if missing("mazes", f"{name} | {label}", seeds):
                found = [maze_goals.measured(in_maze(name, label, s)) for s in range(seeds)]
                keep("mazes", f"{name} | {label}", found)


def in_maze(name: str, label: str, seed: int) -> apart.Run:
    """A run in a maze, trained if it is not there; options as benchmarks/mazes.py has them."""
    out = RUNS / f"maze-{name}-{MAZE_STEPS}" / label.replace(", ", "-") / f"seed-{seed}"
    if not (out / "summary.json").exists():
        method, options = in_mazes(label)
        apart.train(
            f"maze:{name}",
            method=method,
            seed=seed,
            steps=MAZE_STEPS,
            out=out,
            overwrite=True,
            **options,
        )
    return apart.load(out)


def in_mazes(label: str) -> tuple[str, dict[str, Any]]:
    """The method and its options; those that benchmarks/mazes.py has no word on are as they are."""
    common: dict[str, Any] = {"skills": mazes.COMMON["skills"], "evaluate_every": MAZE_STEPS}
    if label in mazes.METHODS and label not in mazes.ROWS:
        common |= mazes.COMMON
    method, options = {**mazes.METHODS, **mazes.ROWS}.get(label, (label, {}))
    return method, {**common, **options}


def asked_for(methods: tuple[str, ...], only: str | None) -> list[str]:
    return [method for method in methods if only in (None, method)]


PARTS = {"goals": make_goals, "chains": make_chains, "tasks": make_tasks, "mazes": make_mazes}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="default: all")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--only", metavar="METHOD", help="this method alone")
    asked = parser.parse_args()
    for part in asked.parts or PARTS:
        PARTS[part](asked.seeds, asked.only)


if __name__ == "__main__":
    main()
