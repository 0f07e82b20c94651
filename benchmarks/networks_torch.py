"""DIAYN with neural networks in PyTorch: the work of `apart train --network ...`, sample by sample.

One update is an episode of 40 steps (the network is asked at every step), one batch of 640, and an
Adam step for Q and for the discriminator. Needs torch 2.13.0 (`pip install -e .[torch]`).
"""

from __future__ import annotations

import argparse
import json

import numpy as np
import torch
from naive_torch import BATCH, EPSILON, GAMMA, K, Replay, T, updates_per_second
from torch import nn

from apart.worlds import grid


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


class Learner:
    def __init__(self, kind: str) -> None:
        self.world = world = grid.load("four_rooms")
        if kind == "cnn":
            walls = np.array([[c == "#" for c in row] for row in world.text.split("\n")])
            still = np.stack([np.zeros_like(walls), ~walls, walls]).astype(np.float32)
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", default="cnn", help="cnn, or the hidden units of an mlp: 256,256")
    parser.add_argument("--seconds", type=float, default=5.0)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    speed = updates_per_second(Learner(arguments.kind), arguments.seconds)
    print(json.dumps({"kind": arguments.kind, "updates_per_second": speed}))
