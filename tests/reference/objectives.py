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


def unit(row):
    return np.asarray(row, float) / np.linalg.norm(row)


class Visr:
    """Features in a table [S, D] that are brought to length 1; tasks [K, D] stay."""

    def __init__(self, rows, tasks):
        self.rows, self.tasks = np.array(rows, np.float64), np.array(tasks, np.float64)
        self.adam = Adam(self.rows.shape)

    def reward(self, s, after, z):
        return float(unit(self.rows[after]) @ self.tasks[z])

    def fit(self, transitions, rate):
        down = np.zeros_like(self.rows)
        for _, after, z in transitions:
            down[after] -= tangent(self.rows[after], self.tasks[z]) / len(transitions)
        self.rows = self.adam.step(self.rows, down, rate)


def tangent(row, to):
    """Gradient of unit(row) . to with respect to row."""
    length = np.linalg.norm(row)
    return (to - (row @ to) * row / length**2) / length


class Discern:
    """Embeddings in a table [S, D]; goals are states."""

    def __init__(self, rows, goals):
        self.rows, self.goals = np.array(rows, np.float64), list(goals)
        self.adam = Adam(self.rows.shape)

    def reward(self, s, after, z):
        return max(float(unit(self.rows[after]) @ unit(self.rows[self.goals[z]])), 0.0)

    def fit(self, transitions, rate):
        """All of them end an episode."""
        down = np.zeros_like(self.rows)
        for _, end, z in transitions:
            likeness = [10 * unit(self.rows[end]) @ unit(self.rows[g]) for g in self.goals]
            p = np.exp(likeness - np.max(likeness))
            p /= p.sum()
            for j, goal in enumerate(self.goals):
                pull = 10 * ((j == z) - p[j]) / len(transitions)
                down[end] -= pull * tangent(self.rows[end], unit(self.rows[goal]))
                down[goal] -= pull * tangent(self.rows[goal], unit(self.rows[end]))
        self.rows = self.adam.step(self.rows, down, rate)


class Domino:
    """Visits of an episode in a table; the first skill is for the task alone."""

    def __init__(self, n_states, n_skills, task, optimality=0.9, distance=0.0):
        self.visits = np.zeros((n_skills, n_states))
        self.optimality, self.distance = optimality, distance  # the latter in visits
        self.earned, self.mu = np.zeros(n_skills), np.zeros(n_skills)
        self.task = np.asarray(task) / np.max(task)

    def episode(self, states, z):
        """States without the first."""
        spent = np.bincount(states, minlength=self.visits.shape[1])
        self.visits[z] = 0.8 * self.visits[z] + 0.2 * spent
        self.earned[z] = 0.8 * self.earned[z] + 0.2 * sum(self.task[s] for s in states)
        best = self.earned[0]
        if best > 0:
            lacks = (self.optimality * best - self.earned[z]) / best
            self.mu[z] = np.clip(self.mu[z] + 0.1 * lacks, -5, 5)

    def reward(self, s, after, z):
        if z == 0:
            return self.task[after]
        away = [np.linalg.norm(self.visits[z] - other) for other in self.visits]
        away[z] = np.inf
        nearest = int(np.argmin(away))
        weight = 1 / (1 + math.exp(-self.mu[z]))
        differs = self.visits[z, after] - self.visits[nearest, after]
        if self.distance:
            differs *= 1 - (away[nearest] / self.distance) ** 3
        return weight * self.task[after] + (1 - weight) * differs


def diffused(edges, n_states, steps):
    """Shares of time in ``steps`` random steps along edges (s, t), by walking distributions."""
    out = {s: [t for a, t in edges if a == s] or [s] for s in range(n_states)}
    found = np.zeros((n_states, n_states))
    for first in range(n_states):
        at = {first: 1.0}
        for _ in range(steps):
            after = {}
            for s, p in at.items():
                for t in out[s]:
                    after[t] = after.get(t, 0.0) + p / len(out[s])
            at = after
            for s, p in at.items():
                found[first, s] += p / steps
    return found
