"""Fifty whole updates against the slow NumPy oracle, with the same sampled transitions."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import twins
from conftest import NIGHTLY, fitting
from reference import oracle
from reference.bins import Bins
from reference.ends import Places
from reference.points import Places as PointPlaces

from apart.learner import bins, counts, draws, ends, points, replay
from apart.methods import METHODS
from apart.objective import pairs
from apart.settings import resolve
from apart.training.collect import Dynamics, by_steps, by_table, steps_of
from apart.training.learners import learner_over, lists_states
from apart.training.pieces import pieces
from apart.training.program import hosted
from apart.training.rounds import collector, initial, iterate_with, round_of
from apart.training.state import hyper_of
from apart.worlds.grid import parse
from apart.worlds.observations import sight_of
from apart.worlds.world import HostWorld, TableWorld

WORLD = parse("S..\n.#.", "small")
SLIPPERY = parse("S..\n.#.", "slippery", slip=0.4)
BASE = {
    "steps": 400,
    "skills": 5,
    "horizon": 4,
    "batch": 24,
    "buffer": 100,
    "epsilon": 0.3,
    "init_q": 0.3,
}

CASES = {
    "apart": {},
    "apart_even": {"method": "apart", "skills": 4},
    "ap_min": {},
    "ap_min_ascending": {},
    "ap_min_dropout": {},
    "ap_average": {},
    "ap_average_art": {},
    "diayn": {},
    "ova_ascending": {},
    "ova_dropout": {},
    "ova_art": {},
    "vic": {},
    "tuned_vic": {},
    "literal": {"method": "apart", "reward": "min_pairs_literal"},
    "dont_cares": {"method": "apart", "discriminator": "all_pairs_dont_cares"},
    "last_states": {"method": "vic", "context": "last"},
    "current_state": {"method": "apart", "context": "current"},
    "bootstrap": {"method": "ap_min", "bootstrap_last": True, "time_weight": "linear"},
    "edge": {"method": "diayn", "bootstrap_last": True, "horizon": 3},
    "edge_shared": {
        "method": "ap_min",
        "bootstrap_last": True,
        "horizon": 3,
        "q_rule": "shared_adam",
    },
    "target": {"method": "diayn", "target_period": 7},
    "beta_in_reward_only": {"method": "tuned_vic", "discriminator": "one_vs_all_sharpened"},
    "signed_both": {"method": "tuned_vic", "discriminator": "one_vs_all"},
    "unsigned": {"method": "tuned_vic", "reward": "posterior"},
    "kept_less": {"method": "ap_min_dropout", "keep": 0.2, "init_logits": 1.0},
    "bias": {"method": "apart", "network": "table+bias"},
    "bias_published": {"method": "diayn", "reading": "published", "episodes_per_update": 3},
    "bias_target": {"method": "tuned_vic", "network": "table+bias", "target_period": 7},
    "bias_of_logits": {"method": "apart", "network": "table/table+bias", "fading": 0.02},
    "bias_shared": {"method": "ova_art", "network": "table+bias", "q_rule": "shared_adam"},
    "bias_average": {"method": "ap_average", "network": "table+bias", "average_rate": 0.05},
    "bias_per_action": {"method": "apart", "network": "joint+bias/table+bias"},
    "additive": {"method": "apart", "network": "additive/table"},
    "additive_bias": {"method": "diayn", "network": "additive+bias/table+bias"},
    "one_skill": {"method": "apart", "episodes_per_update": 4, "one_skill": True},
    "exponential": {"method": "apart", "time_weight": "exponential", "dropout": False},
    "fourth": {"method": "apart", "time_weight": "fourth"},
    "apart_plus": {},
    "prior": {"method": "apart_plus", "prior": 0.3, "fading": 0.5},
    "apart_plus_blocks": {"method": "apart_plus", "batch": 1, "bootstrap_last": True},
    "apart_plus_rows": {"method": "apart_plus", "batch": 1, "q_rule": "shared_plain"},
    "vic_counts": {"prior": 0.3},
    "apart_plus_rows_bootstrap": {
        "method": "apart_plus",
        "batch": 1,
        "q_rule": "shared_plain",
        "bootstrap_last": True,
        "context": "current",
    },
    "apart_plus_sampled": {"method": "apart_plus", "q_rule": "shared_plain"},
    "apart_spread": {},
    "apart_spread_short": {"method": "apart_spread", "horizon": 2, "skills": 4},
    "apart_spread_few": {"method": "apart_spread", "skills": 2, "init_q": 3.0},
    "apart_spread_blocks": {"method": "apart_spread", "batch": 1, "skills": 3},
    "apart_spread_adam": {"method": "apart_spread", "q_rule": "sweep_adam", "learning_rate": 2e-3},
    "dgpo": {},
    "disdain": {"bonus": 3.0},
    "disdain_shared": {"method": "disdain", "q_rule": "shared_adam", "learning_rate": 2e-3},
    "disdain_sweep": {"method": "disdain", "q_rule": "sweep_plain", "init_logits": 2.0},
    "count_bonus": {"bonus": 2.0},
    "count_bonus_sweep": {"method": "count_bonus", "q_rule": "sweep_plain"},
    "count_bonus_counts": {
        "method": "count_bonus",
        "q_rule": "shared_plain",
        "discriminator": "counts",
        "reward": "min_counts",
    },
    "apart_logits": {},
    "apart_logits_sampled": {"method": "apart_logits", "q_rule": "shared_plain"},
    "shared_apart": {"method": "apart", "q_rule": "shared_adam"},
    "shared_diayn": {"method": "diayn", "q_rule": "shared_adam", "anneal": True},
    "shared_current": {"method": "apart_plus", "context": "current", "bootstrap_last": True},
    "shared_counts": {"method": "apart_plus", "q_rule": "shared_adam", "learning_rate": 2e-3},
    "plain": {"method": "tuned_vic", "q_rule": "plain", "learning_rate": 0.1},
    "decay": {"method": "apart", "fading": 0.02, "anneal": True},
    "averaged": {"method": "apart", "average_rate": 0.05},
    "grouped": {"method": "diayn", "q_rule": "shared_adam", "batch": 96},  # by action
    "grouped_own": {"method": "apart", "batch": 96},
    "picked": {"method": "tuned_vic", "skills": 9, "target_period": 7},  # numbers of one skill
    "held": {"method": "ap_min_ascending", "hold": 2, "horizon": 8},
    "held_longer": {"method": "apart_logits", "hold": 4, "horizon": 12, "q_rule": "shared_plain"},
    "held_sweep": {"method": "apart_plus", "hold": 3, "horizon": 9},
    "held_shared": {"method": "diayn", "hold": 2, "time_weight": "linear", "q_rule": "shared_adam"},
    "adam_sweep": {"method": "apart_logits", "q_rule": "sweep_adam", "learning_rate": 2e-3},
}
# What only worlds have whose states cannot be listed.
BEYOND = {
    "points": {
        "method": "apart_spread",
        "observation": "arrays",
        "skills": 3,
        "target_period": 7,
        "q_rule": "shared_adam",
        "learning_rate": 2e-3,
        "init_q": 3.0,  # beyond what there is to gain
    },
    "points_own": {"method": "apart_spread", "observation": "arrays", "q_rule": "adam"},
    "bins": {
        "method": "apart_spread",
        "discriminator": "bins",
        "observation": "arrays",
        "skills": 3,
        "target_period": 7,
        "q_rule": "shared_adam",
        "learning_rate": 2e-3,
        "init_q": 3.0,
        "hold": 2,
        "horizon": 8,
        "context": "current",
    },
}
# Every way to compute rows, on every set of rows and in every kind of world, must give what the
# oracle gives: form -> (world, network, whether the rows are all states).
FORMS = {
    "table-samples": (WORLD, "table", False),
    "linear-states": (WORLD, "linear", True),
    "linear-samples": (WORLD, "linear", False),
    "jax": (twins.jax_grid(WORLD), "linear", False),
    "host": (twins.host_grid(WORLD), "linear", False),
}
IN_FORMS = (
    *("apart", "tuned_vic", "last_states", "current_state", "target", "shared_apart"),
    *("shared_diayn", "decay", "averaged", "bootstrap", "held", "held_shared"),
    *("grouped", "grouped_own", "picked"),
)
# Every case with observations of a compiled world, and in each other form what it alone computes:
# `make nightly` has them all.
ALSO = {
    "table-samples": ("apart", "current_state", "target", "held_shared", "grouped"),
    "linear-states": ("apart", "tuned_vic", "target", "shared_apart", "averaged", "decay", "edge"),
    "linear-samples": ("apart", "last_states", "bootstrap", "edge", "edge_shared"),
    "jax": IN_FORMS,
    "host": ("apart", "last_states", "shared_diayn", "held", "grouped_own", "picked"),
}
BIASED = ("bias", "bias_target", "bias_of_logits", "additive_bias")
# Where an action has several successors.
BY_CHANCE = (
    *("apart", "diayn", "current_state", "plain", "shared_apart", "shared_current", "apart_plus"),
    *("apart_plus_sampled", "apart_plus_rows", "apart_logits", "adam_sweep", "target"),
    *("held", "held_longer", "held_sweep", "held_shared"),
    *("apart_spread", "apart_spread_few", "vic_counts"),
)


def test_every_method_of_discriminators_is_among_the_cases():
    told = {
        name
        for name, method in METHODS.items()
        if method.options.get("objective", "told_apart") in ("told_apart", "count_bonus")
        and "network" not in method.options
        and method.options.get("updates_per_episode", 1)
    }
    assert told <= {options.get("method", case) for case, options in CASES.items()}


class Oracle:
    """The learner of the paper in loops; reads the initial tables, then goes its own way."""

    def __init__(self, config, q, logits, fade=0.99):
        self.c = config
        self.q_terms, self.logits_terms = oracle.Sum(q), oracle.Sum(logits)
        self.q, self.logits = self.q_terms.values(), self.logits_terms.values()
        self.target = self.q.copy()
        self.updates = 0
        self.rounds = 0
        self.average = self.q.copy()
        self.known = {}  # (state, action) -> next state -> [visits, weights, times it went on]
        self.fade = fade
        self.edge = set()  # states that no episode leaves
        self.pairs = config.discriminator.startswith("all_pairs")
        self.ends = self.points = self.bins = None
        if config.discriminator == "ends" and config.q_rule.startswith("sweep"):
            decisions = config.horizon // config.hold
            self.ends = Places(len(self.q), config.skills, 0, decisions)
        elif config.discriminator == "ends":
            self.points = PointPlaces(config.skills, points.points_for(config.skills))
        elif config.discriminator == "bins":
            self.bins = Bins(len(self.q), config.skills, config.horizon)
        self.counts = config.discriminator == "counts"
        self.kept = self.counts or config.discriminator in ("ends", "bins")
        self.ended = np.zeros(len(self.q))
        self.sharpness = config.prior if self.kept else config.inverse_temperature

    def logits_of(self, state):
        if not self.pairs:
            return self.logits[state]
        first, second = pairs.members(self.c.skills)
        named = {
            (int(i), int(j)): float(self.logits[state][r, c])
            for r, row in enumerate(zip(first, second, strict=True))
            for c, (i, j) in enumerate(zip(*row, strict=True))
        }
        return oracle.PairLogits(named, self.c.skills)

    def reward(self, state, skill):
        """Of being in ``state``, with the bonus of those methods that have one."""
        c = self.c
        found = oracle.reward(c.reward, self.logits_of(state), skill, self.sharpness)
        if c.discriminator == "ensemble":
            found += c.bonus * oracle.disagreement(self.logits[state])
        if c.objective == "count_bonus":
            found += c.bonus / max(self.ended[state], 1) ** 0.5
        return found

    def left(self):
        """What annealing leaves of the rates in this round."""
        return 1 - self.rounds / self.c.iterations if self.c.anneal else 1.0

    def count(self, last_state, skill):
        """Before the update of a round: where its episode ended."""
        self.ended[last_state] += 1
        if self.counts:
            self.logits *= 1 - self.c.fading / self.c.skills * self.left()
            self.logits[last_state, skill] += 1
        if self.ends:
            seen = {(s, after) for (s, _), found in self.known.items() for after in found}
            self.ends.round(self.rounds + 1, seen, sum(map(len, self.known.values())))
            cells = np.ndindex(self.logits.shape)
            self.logits = np.reshape([self.ends.near(s, z) for s, z in cells], self.logits.shape)

    def see(self, states):
        """Before the update of a round: all states of its episode, seen one-hot."""
        if self.points:
            one_hot = np.eye(len(self.q))
            self.points.round(self.rounds + 1, one_hot[states])
            cells = np.ndindex(self.logits.shape)
            near = [self.points.near(one_hot[s], z) for s, z in cells]
            self.logits = np.reshape(near, self.logits.shape)

    def walk(self, places):
        """The same: the places of every step of the world, decisions or not."""
        if self.bins:
            self.bins.round(self.rounds + 1, [places])
            cells = np.ndindex(self.logits.shape)
            self.logits = np.reshape([self.bins.near(s, z) for s, z in cells], self.logits.shape)

    def remember(self, episode):
        """What a sweep knows: per transition, fading sums over its visits."""
        c = self.c
        for cell in {step[:2] for step in episode}:
            steps = [(after, t) for *at, after, _, t, _ in episode if tuple(at) == cell]
            known = self.known.setdefault(cell, {})
            for after in known:
                known[after] = [self.fade ** len(steps) * x for x in known[after]]
            for after, t in steps:
                weight = oracle.weight(c.time_weight, t, c.horizon)
                new = [1, weight, c.bootstrap_last or t < c.horizon]
                known[after] = [a + b for a, b in zip(known.get(after, [0] * 3), new, strict=True)]

    def block(self):
        """The states that an update of a large sweep goes over, in turn."""
        n_states = len(self.q)
        size = min(max(self.c.batch // 5, 1), n_states)
        if n_states * 5 / self.c.batch <= 8 or self.c.q_rule != "sweep_plain":
            return range(n_states)
        first = min(self.updates % -(-n_states // size) * size, n_states - size)
        return range(first, first + size)

    def average_step(self, swept):
        """Of what was swept, for all updates until its next turn: it stays as it is."""
        for s in swept:
            for nth in range(len(self.q) // len(swept)):
                rate = max(self.c.average_rate, 1 / (self.updates + nth))
                self.average[s] += rate * (self.q[s] - self.average[s])

    def onward(self, state, z, target):
        """What follows a state: the best action there, or staying where nobody ever acts."""
        if state in self.edge:
            return self.reward(state, z) / (1 - self.c.discount)
        return target[state, :, z].max()

    def goals(self, transitions):
        """(state, action, skill, target) of everything that the batch teaches."""
        c = self.c
        target = self.target if c.target_period else self.q
        if c.q_rule.startswith("sweep"):
            for (s, a), successors in self.known.items():
                if s not in self.block():
                    continue
                n = sum(visits for visits, _, _ in successors.values())
                for z in range(c.skills):
                    goal = 0.0
                    for after, (_, weights, went_on) in successors.items():
                        seen = s if c.context == "current" else after
                        r = self.reward(seen, z)
                        if self.ends and self.ends.edge[seen]:
                            r /= 1 - c.discount
                        then = self.onward(after, z, target)
                        goal += weights / n * r + c.discount * went_on / n * then
                    yield s, a, z, goal
            return
        for s, a, after, own, t, u in transitions:
            seen = s if c.context == "current" else after
            for z in range(c.skills) if c.q_rule.startswith("shared") else [own]:
                r = self.reward(seen, z)
                if c.dropout:
                    r *= u < oracle.keep_probability(c.time_weight, t, c.horizon, c.keep)
                else:
                    r *= oracle.weight(c.time_weight, t, c.horizon)
                goes_on = c.bootstrap_last or t < c.horizon
                goal = r + c.discount * goes_on * self.onward(after, z, target)
                if c.reward == "near_end":  # between nothing and standing in the end for ever
                    goal = min(max(goal, 0.0), 0.05 / (1 - c.discount))
                yield s, a, z, goal

    def q_step(self, transitions):
        c, goals, q = self.c, list(self.goals(transitions)), self.q
        if c.q_rule.endswith("plain"):
            q = q.copy()
            for cell in {goal[:3] for goal in goals}:
                mean = np.mean([goal[3] for goal in goals if goal[:3] == cell])
                q[cell] += c.learning_rate * self.left() * (mean - q[cell])
            return q
        gradient = np.zeros_like(q)
        for *cell, goal in goals:
            size = len(self.known) if c.q_rule.startswith("sweep") else len(transitions)
            gradient[tuple(cell)] += 2 * (q[tuple(cell)] - goal) / size
        return self.q_terms.step(gradient, c.learning_rate * self.left())

    def update(self, transitions):
        c = self.c
        d_gradient = np.zeros_like(self.logits)
        teach = [x for x in transitions if c.context != "last" or x[4] == c.horizon]
        moved = self.q_step(transitions)
        sharpened = c.discriminator == "one_vs_all_sharpened"
        beta = 1.0 if sharpened else c.inverse_temperature
        first, second = pairs.members(c.skills)
        for s, _, after, z, _, _ in teach if not self.kept else []:
            seen = s if c.context == "current" else after
            name = "one_vs_all" if sharpened else c.discriminator
            g = oracle.loss_gradient(name, self.logits_of(seen), z, beta)
            if self.pairs:
                g = np.vectorize(lambda i, j, g=g: g[i, j])(first, second)
            d_gradient[seen] += g / len(teach)
        self.q, swept = moved, self.block()
        rate = c.discriminator_learning_rate * self.left()
        if not self.kept:
            self.logits = self.logits_terms.step(d_gradient, rate, 1 - c.fading * self.left())
        self.updates += 1
        self.rounds += 1
        self.average_step(swept)
        if c.target_period and self.updates % c.target_period == 0:
            self.target = self.q.copy()


class TwoHeads(Oracle):
    """DISDAIN as its paper has it: a Q of skills and one of the bonus, either of which bootstraps
    on the action that is best by Q_skill + bonus Q_bonus.
    """

    def __init__(self, config, q, logits, fade=0.99):
        super().__init__(config, q, logits, fade)
        self.of_bonus = np.random.default_rng(0).normal(size=self.q.shape)
        self.of_skill = self.q - config.bonus * self.of_bonus

    def q_step(self, transitions):
        c, heads, goals = self.c, (self.of_skill, self.of_bonus), {}
        for s, a, after, z, t, _ in transitions:
            best, goes_on = self.q[after, :, z].argmax(), t < c.horizon
            paid = not goes_on and (
                oracle.reward(c.reward, self.logits[after], z, 1.0),
                oracle.disagreement(self.logits[after]),
            )
            goals.setdefault((s, a, z), []).append(
                [c.discount * q[after, best, z] for q in heads] if goes_on else paid
            )
        change = {cell: np.mean(found, axis=0) for cell, found in goals.items()}
        for n, q in enumerate(heads):
            for cell, goal in change.items():
                q[cell] += c.learning_rate * (goal[n] - q[cell])
        return self.of_skill + c.bonus * self.of_bonus


@pytest.mark.parametrize("case", CASES)
def test_fifty_updates_equal_the_oracle(case):
    check_updates(case, WORLD, "table", None, 50)


def test_one_q_is_the_two_of_disdain():
    check_updates("disdain", WORLD, "table", None, 50, TwoHeads)


@pytest.mark.parametrize("case", BY_CHANCE)
def test_fifty_updates_equal_the_oracle_where_chance_has_a_part(case):
    check_updates(case, SLIPPERY, "table", None, 50)


@pytest.mark.parametrize("case", ["apart", "shared_diayn", "last_states"])
def test_samples_of_chance_equal_the_oracle(case):
    check_updates(case, SLIPPERY, "table", False, 20)


@pytest.mark.parametrize(
    ("form", "case"), [(f, c) for f in FORMS for c in (IN_FORMS if NIGHTLY else ALSO[f])]
)
def test_so_they_do_in_every_form(case, form):
    world, network, states = FORMS[form]
    check_updates(case, world, network, states, 50 if form in ("jax", "host") else 20)


@pytest.mark.parametrize("case", BEYOND)
@pytest.mark.parametrize("form", ["jax", "host"])
def test_so_does_what_no_table_has(case, form):
    world, network, states = FORMS[form]
    check_updates(case, world, network, states, 50)


@pytest.mark.parametrize("case", BIASED)
@pytest.mark.parametrize("form", FORMS)
def test_so_do_biases_in_every_form(case, form):
    world, network, states = FORMS[form]
    named = CASES[case]["network"]
    if network != "table":
        if "additive" in named:
            pytest.skip("a sum of tables of states")
        named = named.replace("table", network)
    check_updates(case, world, named, states, 20)


def test_one_skill_for_all_episodes_before_an_update_and_another_for_the_next():
    config, _ = resolve(WORLD, "apart", {**BASE, "episodes_per_update": 6, "one_skill": True})
    hyper = hyper_of(config)
    state = initial(learner_over(WORLD, config, True))(0, hyper)
    drawn = [round_of(config, 5, state._replace(iteration=i), hyper).drawn for i in range(60)]
    assert all(len(set(np.asarray(one.skill).tolist())) == 1 for one in drawn)
    assert {int(one.skill[0]) for one in drawn} == set(range(config.skills))
    assert len({tuple(row) for row in np.asarray(drawn[0].choice).tolist()}) > 1


def terms_of(params, network, shape):
    """Arrays whose sum are the rows of ``params``; how they share it does not matter to Adam."""
    if hasattr(params, "last"):
        parts = [params.last] if params.bias is None else [params.last, params.bias]
        return [np.asarray(part).reshape(-1, *shape) for part in parts]
    rows = np.asarray(params, np.float64)
    if "additive" in network:
        by_state, by_skill = rows[:, :, :1], rows[:1] - rows[:1, :, :1]
        np.testing.assert_allclose(by_state + by_skill, rows, atol=1e-6)
        parts = [by_state, by_skill]
    else:
        parts = [rows]
    if "bias" in network:
        parts.append(
            np.zeros((1, shape[0], 1) if "joint" in network or len(parts) > 1 else (1, *shape))
        )
    return parts


def check_updates(case, world, network, states, n, by=Oracle):
    options = {**BASE, "updates_per_episode": 1, **{**CASES, **BEYOND}[case]}
    if isinstance(world, HostWorld):  # whose default is several
        options.setdefault("episodes_per_update", 1)
    method = options.pop("method", case)
    reading = options.pop("reading", "ours")
    network = options.pop("network", network) if network == "table" else network
    if reading != "ours":
        network = "table+bias"
    config, _ = resolve(WORLD, method, {})
    kept = (
        method in ("apart_plus", "apart_spread", "vic_counts")
        or options.get("discriminator") == "counts"
    )
    if kept and options.get("q_rule", "sweep").startswith("sweep"):
        del options["buffer"]  # what is kept and a sweep need none
        options = fitting(world, method, options)
    options.setdefault("learning_rate", config.learning_rate)
    options.setdefault("q_rule", config.q_rule)
    config, _ = resolve(world, method, {**options, "network": network}, reading=reading)
    rows = states if states is not None else lists_states(world, config)
    learner, hyper = learner_over(world, config, states=rows), hyper_of(config)
    p = pieces(config, 5, sight_of(world, config.observation))
    everywhere = None if isinstance(world, TableWorld) else jnp.eye(WORLD.n_states)
    state = jax.jit(initial(learner))(3, hyper)

    def q_of(params):
        return np.asarray(learner.values(params, everywhere))

    def kept_by(learnt):
        return getattr(learnt.discriminator, "inner", learnt.discriminator)

    def logits_of(learnt):
        learnt = learnt._replace(discriminator=kept_by(learnt))
        if isinstance(learnt.discriminator, counts.Counts):
            return np.asarray(counts.read(learnt.discriminator, None))
        if isinstance(learnt.discriminator, ends.Ends):
            return np.asarray(ends.read(learnt.discriminator, None))
        if isinstance(learnt.discriminator, bins.Bins):
            return np.asarray(bins.read(learnt.discriminator, None))
        if isinstance(learnt.discriminator, points.Points):
            return np.asarray(points.read(learnt.discriminator, everywhere))
        return np.asarray(p.logits.read(learnt.discriminator.params, everywhere)[0])

    first_q = q_of(state.learnt.q.params)
    twin = twins.jax_grid(WORLD) if isinstance(world, HostWorld) else world
    episodes_of = collector(twin, config, learner)
    decisions = config.horizon // config.hold
    memory = replay.packed(
        replay.slots_for(config.buffer, config.episodes_per_update * decisions),
        config.episodes_per_update,
        after_holding(world if isinstance(world, TableWorld) else WORLD, config.hold),
        decisions,
    )

    def looked(state, ring, hyper):
        """What a round of the package must see: its episode, and the transitions it samples."""
        made = round_of(config, 5, state, hyper)
        episodes = episodes_of(state.learnt, made.drawn, made.collect)
        if episodes.place is not None:
            episodes = episodes._replace(obs=episodes.place[:, :: config.hold])
        ring = memory.insert(ring, episodes, state.iteration)
        bits = jax.random.bits(made.learn, (2, config.batch))
        batch = memory.sample(ring, bits[0], state.iteration + 1)
        return ring, episodes, batch, draws.uniform(bits[1])

    if isinstance(world, HostWorld):
        program, watch = hosted(world, config, learner), jax.jit(looked)
        step = lambda *at: (watch(*at), program.chunk(at[0], hyper, 1))  # noqa: E731
    else:  # one program of both: compiling is most of the time
        rounds = iterate_with(world, config, learner)
        step = jax.jit(lambda *at: (looked(*at), rounds(at[0], at[2])))
    fade = 0.99 if world is not SLIPPERY else 0.999
    named = config.network.split("/")
    q_terms = terms_of(state.learnt.q.params, named[0], (5, config.skills))
    logits_terms = [logits_of(state.learnt)]
    if p.discriminator.learned:
        shape = p.discriminator.shape(config.skills)
        logits_terms = terms_of(kept_by(state.learnt).params, named[-1], shape)
    slow = by(config, q_terms, logits_terms, fade)
    if config.bootstrap_last and config.discriminator != "ends" and isinstance(world, TableWorld):
        slow.edge = set(np.flatnonzero(world.distance == decisions).tolist())
        assert bool(slow.edge) == case.startswith("edge")
    ring = memory.init()  # a sweep keeps no ring of its own
    for _ in range(n):
        (ring, episodes, batch, u), state = step(state, ring, hyper)
        episode = transitions_of(episodes, config)
        slow.remember(episode)
        slow.count(*episode[-1][2:4])
        slow.see([episode[0][0], *(step[2] for step in episode)])
        slow.walk([] if episodes.place is None else np.asarray(episodes.place)[0].tolist())
        columns = (batch.obs, batch.action, batch.next_obs, batch.skill)
        t = np.rint(np.asarray(batch.time) * config.horizon).astype(int)
        slow.update(list(zip(*(np.asarray(x).tolist() for x in (*columns, t, u)), strict=True)))
    learnt = state.learnt
    assert int(learnt.updates) == n
    np.testing.assert_allclose(q_of(learnt.q.params), slow.q, atol=2e-4, rtol=3e-6)
    np.testing.assert_allclose(logits_of(learnt), slow.logits, atol=2e-4)
    assert np.abs(q_of(learnt.q.params) - first_q).max() > 0.02
    if config.average_rate:
        np.testing.assert_allclose(q_of(learnt.average_q), slow.average, atol=2e-4)


def transitions_of(episodes, config):
    """[(state, action, next state, skill, t, 0)] of the first episode."""
    states, actions = np.asarray(episodes.obs)[0].tolist(), np.asarray(episodes.action)[0].tolist()
    skill = int(episodes.skill[0])
    return [
        (states[i], action, states[i + 1], skill, (i + 1) * config.hold, 0.0)
        for i, action in enumerate(actions)
    ]


def after_holding(world, hold):
    """[S, A, N] where an action leads that is taken several times, in loops; by chance, shapes."""
    moved = np.array(world.next_state)
    if moved.shape[2] == 1:
        for s, a in np.ndindex(*moved.shape[:2]):
            at = s
            for _ in range(hold):
                at = world.next_state[at, a, 0]
            moved[s, a, 0] = at
    return jnp.asarray(moved)


def test_collected_episodes_follow_the_world_and_the_greedy_policy():
    config, world = resolve(WORLD, "apart", {**BASE, "epsilon": 0.0, "episodes_per_update": 3})
    learner, hyper = learner_over(world, config, states=True), hyper_of(config)
    state = initial(learner)(0, hyper)
    q = np.asarray(state.learnt.q.params)
    made = round_of(config, 5, state, hyper)
    got = collector(world, config, learner)(state.learnt, made.drawn, made.collect)
    assert got.obs.shape == (3, 5)
    for states, actions, z in zip(got.obs, got.action, got.skill, strict=True):
        assert states[0] == world.start
        for t, a in enumerate(actions):
            assert a == np.argmax(q[states[t], :, z])
            assert states[t + 1] == world.next_state[states[t], a, 0]


@pytest.mark.parametrize("world", [WORLD, SLIPPERY], ids=["certain", "chance"])
def test_epsilon_one_takes_all_actions_and_all_successors(world):
    config, _ = resolve(world, "apart", {**BASE, "horizon": 500, "buffer": 500, "epsilon": 1.0})
    learner, hyper = learner_over(world, config, states=True), hyper_of(config)
    state = initial(learner)(0, hyper)
    made = round_of(config, 5, state, hyper)
    q = jnp.zeros((5, 5, 5))
    for got in (
        by_table(Dynamics.of(world), q, made.drawn, made.collect),
        by_steps(steps_of(world), lambda s: q[s], made.drawn, made.collect),
    ):
        actions, states = np.asarray(got.action)[0], np.asarray(got.obs)[0]
        assert np.bincount(actions, minlength=5).min() >= 60
        for s in range(world.n_states):
            for a in range(5):
                then = states[1:][(states[:-1] == s) & (actions == a)]
                possible = world.next_state[s, a][world.probability[s, a] > 0]
                assert set(then) <= set(possible)
                stays = world.probability[s, a][world.next_state[s, a] == s].sum()
                assert abs((then == s).mean() - stays) < 0.35


def test_the_ways_to_collect_give_the_same_episodes():
    options = {**BASE, "episodes_per_update": 7, "skills": 9, "epsilon": 0.3}
    config, _ = resolve(WORLD, "diayn", options)
    made = round_of(
        config, 5, initial(learner_over(WORLD, config, True))(0, hyper_of(config)), hyper_of(config)
    )
    q = jax.random.normal(jax.random.key(1), (WORLD.n_states, 5, 9))
    table = by_table(Dynamics.of(WORLD), q, made.drawn, made.collect)
    stepped = by_steps(steps_of(WORLD), lambda s: q[s], made.drawn, made.collect)
    seen = by_steps(
        steps_of(twins.jax_grid(WORLD)), lambda x: jnp.tensordot(x, q, 1), made.drawn, made.collect
    )
    for other in (stepped.obs, seen.place):
        np.testing.assert_array_equal(table.obs, other)
    np.testing.assert_array_equal(table.action, seen.action)
