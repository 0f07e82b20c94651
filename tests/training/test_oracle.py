"""Fifty whole updates against the slow NumPy oracle, with the same sampled transitions."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference import oracle

from apart.learner import counts, draws, replay
from apart.objective import pairs
from apart.settings import resolve
from apart.training.chunk import Parts
from apart.training.state import hyper_of
from apart.worlds.grid import parse

WORLD = parse("S..\n.#.", "small")
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
    "ova_art": {},
    "vic": {},
    "tuned_vic": {},
    "literal": {"method": "apart", "reward": "min_pairs_literal"},
    "dont_cares": {"method": "apart", "discriminator": "all_pairs_dont_cares"},
    "last_states": {"method": "vic", "discriminator_states": "last"},
    "current_state": {"method": "apart", "reward_state": "current"},
    "bootstrap": {"method": "ap_min", "bootstrap_last": True, "time_weight": "linear"},
    "target": {"method": "diayn", "target_period": 7},
    "beta_in_reward_only": {"method": "tuned_vic", "temperature_in_loss": False},
    "exponential": {"method": "apart", "time_weight": "exponential", "dropout": False},
    "fourth": {"method": "apart", "time_weight": "fourth"},
    "apart_plus": {"update_every": 0},
    "apart_plus_rows": {"method": "apart_plus", "update_every": 0, "batch": 1, "sweep": False},
    "apart_plus_rows_bootstrap": {
        "method": "apart_plus",
        "update_every": 0,
        "batch": 1,
        "sweep": False,
        "bootstrap_last": True,
        "reward_state": "current",
    },
    "apart_plus_sampled": {"method": "apart_plus", "update_every": 0, "sweep": False},
    "apart_logits": {"update_every": 0},
    "apart_logits_sampled": {"method": "apart_logits", "update_every": 0, "sweep": False},
    "shared_apart": {"method": "apart", "share_transitions": True},
    "shared_diayn": {"method": "diayn", "share_transitions": True, "anneal": True},
    "shared_current": {
        "method": "apart_plus",
        "update_every": 0,
        "reward_state": "current",
        "bootstrap_last": True,
    },
    "plain": {"method": "tuned_vic", "q_rule": "plain", "learning_rate": 0.1},
    "decay": {"method": "apart", "logit_decay": 0.02, "anneal": True},
    "averaged": {"method": "apart", "average_rate": 0.05},
    "adam_sweep": {
        "method": "apart_logits",
        "update_every": 0,
        "q_rule": "adam",
        "learning_rate": 2e-3,
    },
}
# Every way to compute rows, on every set of rows, must give what the oracle gives.
FORMS = {
    "table-samples": {"network_rows": "samples"},
    "linear-states": {"network": "linear", "network_rows": "states"},
    "linear-samples": {"network": "linear", "network_rows": "samples"},
}
IN_FORMS = (
    *("apart", "tuned_vic", "last_states", "current_state", "target", "shared_apart"),
    *("shared_diayn", "decay", "adam_sweep"),
)


class Oracle:
    """The learner of the paper in loops; reads the initial tables, then goes its own way."""

    def __init__(self, config, q, logits):
        self.c = config
        self.q = np.asarray(q, np.float64).copy()
        self.target = self.q.copy()
        self.logits = np.asarray(logits, np.float64).copy()
        self.q_adam, self.logits_adam = oracle.Adam(q.shape), oracle.Adam(logits.shape)
        self.updates = 0
        self.rounds = 0
        self.average = np.zeros_like(self.q)
        self.known = {}  # (state, action, next state) -> [visits, weights, times it went on]
        self.pairs = config.discriminator.startswith("all_pairs")

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

    def left(self):
        """What annealing leaves of the rates in this round."""
        return 1 - self.rounds / self.c.iterations if self.c.anneal else 1.0

    def count(self, last_state, skill):
        """Before the update of a round: where its episode ended."""
        if self.c.discriminator == "counts":
            self.logits *= 1 - self.c.discriminator_learning_rate / self.c.skills * self.left()
            self.logits[last_state, skill] += 1

    def remember(self, episode):
        """What a sweep knows: per transition, fading sums over its visits."""
        c = self.c
        for move in {step[:3] for step in episode}:
            times = [t for *step, _, t, _ in episode if tuple(step) == move]
            new = [
                len(times),
                sum(oracle.weight(c.time_weight, t, c.horizon) for t in times),
                sum(c.bootstrap_last or t < c.horizon for t in times),
            ]
            old = self.known.get(move, [0, 0, 0])
            self.known[move] = [0.99 ** len(times) * a + b for a, b in zip(old, new, strict=True)]

    def goals(self, transitions):
        """(state, action, skill, target) of everything that the batch teaches."""
        c = self.c
        target = self.target if c.target_period else self.q
        if c.sweep:
            for (s, a, after), (n, weights, went_on) in self.known.items():
                seen = after if c.reward_state == "next" else s
                for z in range(c.skills):
                    r = oracle.reward(c.reward, self.logits_of(seen), z, c.inverse_temperature)
                    best = target[after, :, z].max()
                    yield s, a, z, weights / n * r + c.discount * went_on / n * best
            return
        for s, a, after, own, t, u in transitions:
            seen = after if c.reward_state == "next" else s
            for z in range(c.skills) if c.share_transitions else [own]:
                r = oracle.reward(c.reward, self.logits_of(seen), z, c.inverse_temperature)
                if c.dropout:
                    r *= u < oracle.keep_probability(c.time_weight, t, c.horizon)
                else:
                    r *= oracle.weight(c.time_weight, t, c.horizon)
                goes_on = c.bootstrap_last or t < c.horizon
                yield s, a, z, r + c.discount * goes_on * target[after, :, z].max()

    def q_step(self, transitions):
        c, goals, q = self.c, list(self.goals(transitions)), self.q
        if c.q_rule != "adam":
            q = q.copy()
            for cell in {goal[:3] for goal in goals}:
                mean = np.mean([goal[3] for goal in goals if goal[:3] == cell])
                q[cell] += c.learning_rate * self.left() * (mean - q[cell])
            return q
        gradient = np.zeros_like(q)
        for *cell, goal in goals:
            size = len(self.known) if c.sweep else len(transitions)
            gradient[tuple(cell)] += 2 * (q[tuple(cell)] - goal) / size
        return self.q_adam.step(q, gradient, c.learning_rate * self.left())

    def update(self, transitions):
        c = self.c
        d_gradient = np.zeros_like(self.logits)
        teach = [x for x in transitions if c.discriminator_states == "all" or x[4] == c.horizon]
        moved = self.q_step(transitions)
        beta = c.inverse_temperature if c.temperature_in_loss else 1.0
        first, second = pairs.members(c.skills)
        for s, _, after, z, _, _ in teach if c.discriminator != "counts" else []:
            seen = after if c.reward_state == "next" else s
            g = oracle.loss_gradient(c.discriminator, self.logits_of(seen), z, beta)
            if self.pairs:
                g = np.vectorize(lambda i, j, g=g: g[i, j])(first, second)
            d_gradient[seen] += g / len(teach)
        self.q = moved
        rate = c.discriminator_learning_rate * self.left()
        self.logits = self.logits_adam.step(self.logits, d_gradient, rate)
        self.logits *= 1 - c.logit_decay * self.left()
        self.updates += 1
        self.rounds += 1
        self.average += max(c.average_rate, 1 / self.updates) * (self.q - self.average)
        if c.target_period and self.updates % c.target_period == 0:
            self.target = self.q.copy()


@pytest.mark.parametrize("case", CASES)
def test_fifty_updates_equal_the_oracle(case):
    check_updates(case, {}, 50)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", IN_FORMS)
def test_so_they_do_in_every_form(case, form):
    if case == "adam_sweep" and form.endswith("samples"):
        pytest.skip("a sweep goes over all states")
    check_updates(case, FORMS[form], 20)


def check_updates(case, form, n):
    options = {**BASE, **CASES[case], **form}
    method = options.pop("method", case)
    if method == "apart_plus" and "sweep" not in options:
        del options["buffer"]  # counts and a sweep keep none
    config, world = resolve(WORLD, method, options)
    parts, hyper = Parts(world, config), hyper_of(config)
    state = jax.jit(parts.init)(3, hyper)

    def q_of(params):
        return np.asarray(parts.learner.q.read(params, None)[0])

    def logits_of(params):
        return np.asarray(parts.learner.logits.read(params, None)[0])

    first_q = q_of(state.q.params)

    @jax.jit
    def iterate(state, shadow):
        """One round of the package, and the transitions that it must have sampled."""
        key_collect, key_update = jax.random.split(jax.random.fold_in(state.key, state.iteration))
        rows = parts.collect(state.q.params, hyper.epsilon, key_collect)
        ring = replay.insert(shadow, *rows, state.iteration)
        bits = jax.random.bits(key_update, (2, config.batch))
        sampled = replay.sample(ring, bits[0], state.iteration + 1)
        return parts.iterate(state, hyper), ring, rows, (*sampled, draws.uniform(bits[1]))

    slow = Oracle(config, first_q, logits_of(state.discriminator.params))
    shadow = replay.init(config.buffer, config.collection)  # a sweep keeps no ring of its own
    for _ in range(n):
        state, shadow, rows, sampled = iterate(state, shadow)
        episode = unpack(world, config, *rows, np.zeros(config.horizon))
        slow.remember(episode)
        slow.count(*episode[-1][2:4])
        slow.update(unpack(world, config, *sampled))
    assert int(state.updates) == n
    np.testing.assert_allclose(q_of(state.q.params), slow.q, atol=2e-4)
    logits = logits_of(state.discriminator.params)
    if config.discriminator == "counts":
        logits = logits * np.asarray(counts.factor(state.discriminator.optimiser))[:, None]
    np.testing.assert_allclose(logits, slow.logits, atol=2e-4)
    assert np.abs(q_of(state.q.params) - first_q).max() > 0.02
    if config.average_rate:
        np.testing.assert_allclose(q_of(state.average_q), slow.average, atol=2e-4)


def unpack(world, config, state_action, skill_time, u):
    s, a = np.divmod(np.asarray(state_action), 5)
    z, t = np.divmod(np.asarray(skill_time), config.horizon)
    after = world.next_state[s, a]
    return list(zip(s, a, after, z, t + 1, np.asarray(u), strict=True))


def test_collected_episodes_follow_the_world_and_the_greedy_policy():
    config, world = resolve(WORLD, "apart", {**BASE, "epsilon": 0.0, "episodes_per_update": 3})
    parts, hyper = Parts(world, config), hyper_of(config)
    q = parts.init(0, hyper).q.params
    rows = parts.collect(q, jnp.float32(0), jax.random.key(5))
    steps = unpack(world, config, *rows, np.zeros(12))
    for n, (s, a, after, z, t, _) in enumerate(steps):
        assert t == n % 4 + 1
        assert a == np.argmax(q[s, :, z])
        assert s == (world.start if t == 1 else steps[n - 1][2])
        assert after == world.next_state[s, a]
        assert z == steps[n - n % 4][3]


def test_epsilon_one_takes_all_actions():
    config, world = resolve(WORLD, "apart", {**BASE, "horizon": 50, "buffer": 50})
    parts, hyper = Parts(world, config), hyper_of(config)
    q = parts.init(0, hyper).q.params
    state_action, _ = parts.collect(q, jnp.float32(1), jax.random.key(5))
    counts = np.bincount(np.asarray(state_action) % 5, minlength=5)
    assert counts.min() >= 3
