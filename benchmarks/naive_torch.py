"""APART in PyTorch, three times: as most people would write it, with less work, tuned by hand;
and DIAYN with networks.

    code_matrix  Python loop over steps, nn.Linear on one-hots, all L pairs through the code matrix
    gathered     the same, but only the K - 1 pairs of the sampled skill are gathered
    tuned        tables instead of one-hots (sparse reads), no torch call per environment step
    cnn          DIAYN with the paper's CNN
    256,256      DIAYN with an MLP of so many hidden units

All do the same work per update as this package does: one episode of 40 steps, one batch of 640, one
Adam step for Q and one for the discriminator. Needs torch 2.13.0 (`pip install -e .[torch]`).
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import combinations
from typing import Protocol

import numpy as np
import torch
from torch import nn

from apart.report.maps import walls
from apart.worlds import grid

K, T, BATCH, BUFFER, RATE, GAMMA, EPSILON = 100, 40, 640, 50_000, 2e-3, 0.99, 1e-3


class Replay:
    def __init__(self) -> None:
        self.rows = np.zeros((BUFFER, 5), np.int64)
        self.n = 0

    def add(self, row: tuple[int, ...]) -> None:
        self.rows[self.n % BUFFER] = row
        self.n += 1

    def sample(self, rng: np.random.Generator) -> torch.Tensor:
        picked = rng.integers(0, min(self.n, BUFFER), BATCH)
        return torch.from_numpy(self.rows[picked])


class Naive:
    """One-hot states through nn.Linear; the form of the pairs is a choice."""

    def __init__(self, world: grid.World, form: str) -> None:
        self.world, self.form = world, form
        self.states = torch.eye(world.n_states)
        pairs = list(combinations(range(K), 2))
        self.code = torch.zeros(K, len(pairs))
        self.pair_of = torch.zeros(K, K - 1, dtype=torch.long)
        self.sign = torch.zeros(K, K - 1)
        for n, (i, j) in enumerate(pairs):
            self.code[i, n], self.code[j, n] = 1.0, -1.0
            self.pair_of[i, j - 1], self.sign[i, j - 1] = n, 1.0
            self.pair_of[j, i], self.sign[j, i] = n, -1.0
        self.q = nn.Linear(world.n_states, K * 5)
        self.disc = nn.Linear(world.n_states, len(pairs))
        self.q_adam = torch.optim.Adam(self.q.parameters(), lr=RATE)
        self.disc_adam = torch.optim.Adam(self.disc.parameters(), lr=RATE)
        self.replay, self.rng = Replay(), np.random.default_rng(0)

    def episode(self) -> None:
        state, skill = self.world.start, int(self.rng.integers(K))
        for t in range(1, T + 1):
            if self.rng.random() < EPSILON:
                action = int(self.rng.integers(5))
            else:
                with torch.no_grad():
                    values = self.q(self.states[state]).view(K, 5)[skill]
                action = int(values.argmax())
            after = int(self.world.next_state[state, action])
            self.replay.add((state, action, after, t, skill))
            state = after

    def update(self) -> None:
        s, a, after, t, z = self.replay.sample(self.rng).T
        logits = self.disc(self.states[after])
        if self.form == "code_matrix":
            signed = self.code[z] * torch.tanh(logits)
            mine = self.code[z] != 0
            reward = signed.masked_fill(~mine, 2.0).min(1).values.detach()
            labels = (self.code[z] + 1) / 2
            cost = nn.functional.binary_cross_entropy_with_logits(
                2 * logits, labels, reduction="none"
            )
            loss = (cost * mine).sum(1).div(K - 1).mean()
        else:
            signed = logits.gather(1, self.pair_of[z]) * self.sign[z]
            reward = torch.tanh(signed.detach()).min(1).values
            loss = nn.functional.softplus(-2 * signed).mean()
        keep = torch.rand(BATCH) < (t / T) ** 2
        with torch.no_grad():
            best = self.q(self.states[after]).view(-1, K, 5)[torch.arange(BATCH), z].max(1).values
            target = reward * keep + GAMMA * (t < T) * best
        value = self.q(self.states[s]).view(-1, K, 5)[torch.arange(BATCH), z, a]
        q_loss = nn.functional.mse_loss(value, target)
        for optimiser, objective in ((self.q_adam, q_loss), (self.disc_adam, loss)):
            optimiser.zero_grad()
            objective.backward()
            optimiser.step()


class Tuned(Naive):
    """Tables read by index, gradients by hand, fused Adam, no torch call per step."""

    def __init__(self, world: grid.World, form: str) -> None:
        super().__init__(world, form)
        self.q_table = torch.zeros(world.n_states, K, 5).uniform_(-0.01, 0.01)
        self.pairs = torch.zeros(world.n_states, self.code.shape[1]).uniform_(-0.1, 0.1)
        for table in (self.q_table, self.pairs):
            table.grad = torch.zeros_like(table)
        self.adam = torch.optim.Adam([self.q_table, self.pairs], lr=RATE, fused=True)
        self.moves = world.next_state.tolist()

    def episode(self) -> None:
        state, skill = self.world.start, int(self.rng.integers(K))
        greedy = self.q_table[:, skill].argmax(1).tolist()
        explores = self.rng.random(T) < EPSILON
        rows = []
        for t in range(1, T + 1):
            action = int(self.rng.integers(5)) if explores[t - 1] else greedy[state]
            after = self.moves[state][action]
            rows.append((state, action, after, t, skill))
            state = after
        at = self.replay.n % BUFFER
        self.replay.rows[at : at + T] = rows
        self.replay.n += T

    def update(self) -> None:
        s, a, after, t, z = self.replay.sample(self.rng).T
        index = after[:, None] * self.pairs.shape[1] + self.pair_of[z]
        sign = self.sign[z]
        y = torch.tanh(self.pairs.view(-1)[index] * sign)
        keep = torch.rand(BATCH) < (t / T) ** 2
        best = self.q_table[after, z].max(1).values
        target = y.min(1).values * keep + GAMMA * (t < T) * best
        cell = (s * K + z) * 5 + a
        error = self.q_table.view(-1)[cell] - target
        assert self.q_table.grad is not None
        assert self.pairs.grad is not None
        self.q_table.grad.zero_().view(-1).index_add_(0, cell, 2 * error / BATCH)
        gradient = ((y - 1) * sign / ((K - 1) * BATCH)).view(-1)
        self.pairs.grad.zero_().view(-1).index_add_(0, index.view(-1), gradient)
        self.adam.step()


def mlp(n_in: int, hidden: tuple[int, ...], n_out: int) -> nn.Module:
    layers: list[nn.Module] = []
    for units in hidden:
        layers += [nn.Linear(n_in, units), nn.ReLU()]
        n_in = units
    return nn.Sequential(*layers, nn.Linear(n_in, n_out, bias=False))


def cnn(side: int, n_out: int) -> nn.Module:
    layers: list[nn.Module] = []
    channels = 3
    for units in (32, 64, 128):
        layers += [nn.Conv2d(channels, units, 5, padding=2), nn.ReLU()]
        channels = units
    last = nn.Linear(side * side * channels, n_out, bias=False)
    return nn.Sequential(*layers, nn.Flatten(), last)


class Networks:
    """DIAYN with neural networks, sample by sample; the network is asked at every step."""

    def __init__(self, world: grid.World, kind: str) -> None:
        self.world = world
        if kind == "cnn":
            solid = walls(world.text)
            still = np.stack([np.zeros_like(solid), ~solid, solid]).astype(np.float32)
            images = np.repeat(still[None], world.n_states, 0)
            for state, (row, column) in enumerate(world.cells):
                images[state, :, row, column] = (1, 0, 0)
            self.seen = torch.from_numpy(images)
            self.q, self.disc = cnn(10, 5 * K), cnn(10, K)
        else:
            hidden = tuple(int(word) for word in kind.split(","))
            self.seen = torch.eye(world.n_states)
            self.q, self.disc = (mlp(world.n_states, hidden, n) for n in (5 * K, K))
        self.q_adam = torch.optim.Adam(self.q.parameters(), lr=1e-5, fused=True)
        self.disc_adam = torch.optim.Adam(self.disc.parameters(), lr=3e-4, fused=True)
        self.replay, self.rng = Replay(), np.random.default_rng(0)

    def episode(self) -> None:
        state, skill = self.world.start, int(self.rng.integers(K))
        for t in range(1, T + 1):
            with torch.no_grad():
                values = self.q(self.seen[state : state + 1]).view(5, K)[:, skill]
            explores = self.rng.random() < EPSILON
            action = int(self.rng.integers(5)) if explores else int(values.argmax())
            after = int(self.world.next_state[state, action])
            self.replay.add((state, action, after, t, skill))
            state = after

    def update(self) -> None:
        s, a, after, t, z = self.replay.sample(self.rng).T
        each = torch.arange(BATCH)
        log_posterior = torch.log_softmax(self.disc(self.seen[after]), 1)[each, z]
        with torch.no_grad():
            best = self.q(self.seen[after]).view(-1, 5, K)[each, :, z].max(1).values
            target = log_posterior + float(np.log(K)) + GAMMA * (t < T) * best
        value = self.q(self.seen[s]).view(-1, 5, K)[each, a, z]
        for optimiser, loss in (
            (self.disc_adam, -log_posterior.mean()),
            (self.q_adam, nn.functional.mse_loss(value, target.detach())),
        ):
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()


class Learning(Protocol):
    def episode(self) -> None: ...
    def update(self) -> None: ...


def updates_per_second(learner: Learning, seconds: float) -> float:
    """Rounds of an episode and an update."""
    for _ in range(2):
        learner.episode()
        learner.update()
    began, n = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        learner.episode()
        learner.update()
        n += 1
    return n / (time.perf_counter() - began)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--form", default="gathered", help="one of the above")
    parser.add_argument("--seconds", type=float, default=5.0)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    kind = {"code_matrix": Naive, "gathered": Naive, "tuned": Tuned}.get(arguments.form, Networks)
    learner = kind(grid.load("four_rooms"), arguments.form)
    print(json.dumps({"updates_per_second": updates_per_second(learner, arguments.seconds)}))
