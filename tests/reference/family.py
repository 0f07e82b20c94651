"""Slow, obvious NumPy versions of the objectives of other papers, in float64: states one by one,
samples in Python loops. Shares no code with the package.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from reference.oracle import Adam


class Metra:
    """phi in a table [S, K], moved by Adam; the multiplier in logarithms."""

    def __init__(self, phi):
        self.phi = np.array(phi, np.float64)
        self.log_lambda = np.array(math.log(30.0))
        self.adams = Adam(self.phi.shape), Adam(())

    def reward(self, s, after, z):
        step = self.phi[after] - self.phi[s]
        k = len(step)
        direction = np.where(np.arange(k) == z, 1.0, -1.0 / (k - 1))
        return float(step @ direction)

    def fit(self, transitions, rate):
        """Transitions (s, s', z)."""
        down, held = np.zeros_like(self.phi), 0.0
        k, n = self.phi.shape[1], len(transitions)
        for s, after, z in transitions:
            step = self.phi[after] - self.phi[s]
            short = 1.0 - np.mean(step**2)
            ascent = np.where(np.arange(k) == z, 1.0, -1.0 / (k - 1))
            if short < 1e-3:
                ascent = ascent - math.exp(self.log_lambda) * 2 * step / k
            down[after] -= ascent / n
            down[s] += ascent / n
            held += min(short, 1e-3) / n
        self.phi = self.adams[0].step(self.phi, down, rate)
        self.log_lambda = self.adams[1].step(self.log_lambda, held, rate)


class Rnd:
    """A table that is to become another one."""

    def __init__(self, predicted, wanted):
        self.predicted, self.wanted = np.array(predicted, np.float64), np.array(wanted, np.float64)
        self.adam, self.mean = Adam(self.predicted.shape), 1.0

    def reward(self, s, after, z):
        return np.mean((self.predicted[after] - self.wanted[after]) ** 2) / self.mean

    def fit(self, transitions, rate):
        gradient, error = np.zeros_like(self.predicted), 0.0
        for _, after, _ in transitions:
            gap = self.predicted[after] - self.wanted[after]
            gradient[after] += 2 * gap / (len(transitions) * len(gap))
            error += np.mean(gap**2) / len(transitions)
        self.predicted = self.adam.step(self.predicted, gradient, rate)
        self.mean += 0.01 * (error - self.mean)


def k_means(points, n):
    """n codes: farthest first from the point nearest to the mean, then twenty steps of Lloyd's."""
    points = [np.asarray(p, float) for p in points]

    def square(p, q):
        return float(sum((p - q) ** 2))

    mean = sum(points) / len(points)
    codes = [min(points, key=lambda p: square(p, mean))]
    while len(codes) < n:
        codes.append(max(points, key=lambda p: min(square(p, c) for c in codes)))
    for _ in range(20):
        mine = [[] for _ in codes]
        for p in points:
            mine[min(range(n), key=lambda i: square(p, codes[i]))].append(p)
        codes = [sum(m) / len(m) if m else c for m, c in zip(mine, codes, strict=True)]
    return np.array(codes)


def laplacian(edges, n_states):
    """Eigenvalues and vectors [n, n] of the normalised Laplacian, ``edges`` pairs of states."""
    near = {frozenset(edge) for edge in edges if len(set(edge)) == 2}
    degree = [sum(s in edge for edge in near) for s in range(n_states)]
    found = np.eye(n_states)
    for i, j in combinations(range(n_states), 2):
        if frozenset((i, j)) in near:
            found[i, j] = found[j, i] = -1 / math.sqrt(degree[i] * degree[j])
    return np.linalg.eigh(found)
