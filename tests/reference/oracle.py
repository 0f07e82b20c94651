"""A slow, obvious NumPy version of one update, written from the paper: pairs by name, samples in
a Python loop, float64. Shares no code with the package.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np


def weight(name, t, horizon):
    x = t / horizon
    return {
        "all": 1.0,
        "last": 1.0 if t == horizon else 0.0,
        "linear": x,
        "square": x * x,
        "fourth": x**4,
        "exponential": math.exp(5 * x - 5),
    }[name]


def keep_probability(name, t, horizon, unless_ascending):
    return unless_ascending if name == "all" else weight(name, t, horizon)


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


class PairLogits:
    """Logits of one state by pair (i, j), i < j."""

    def __init__(self, values, n_skills):
        self.n = n_skills
        self.values = dict(values)

    def y(self, i, j):
        return math.tanh(self.values[i, j]) if i < j else -math.tanh(self.values[j, i])


def reward(name, logits, skill, beta):
    if name == "log_posterior":
        return math.log(softmax(beta * logits)[skill]) + math.log(len(logits))
    if name == "clipped_log_posterior":
        return max(0.0, math.log(softmax(beta * logits)[skill] * len(logits)))
    if name == "signed_posterior":
        return 2 * softmax(beta * logits)[skill] - 1
    if name == "posterior":
        return softmax(beta * logits)[skill]
    if name == "min_margin":
        rivals = np.delete(logits, skill)
        return min(math.tanh(beta * (logits[skill] - o) / 2) for o in rivals)
    if name == "min_counts":
        mine, prior = logits[skill], beta
        return min((mine - n) / (mine + n + prior) for n in np.delete(logits, skill))
    if name == "near_end":
        return logits[skill] / 20
    if name == "log_counts":
        share = (logits[skill] + beta / len(logits)) / (sum(logits) + beta)
        return math.log(share * len(logits))
    if name == "own_end":
        return logits[skill]
    if name == "min_log_odds":
        q = softmax(beta * logits)
        return min(math.log(q[skill] / (q[skill] + other)) for other in np.delete(q, skill))
    if name == "clipped_posterior":
        mean = sum(softmax(member) for member in logits) / len(logits)
        return max(0.0, math.log(mean[skill] * len(mean)))
    rivals = [j for j in range(logits.n) if j != skill]
    if name == "min_pairs":
        return min(logits.y(skill, j) for j in rivals)
    if name == "min_pairs_literal":
        return min(0.0, *[logits.y(skill, j) for j in rivals])
    votes = [sum(logits.y(z, j) for j in range(logits.n) if j != z) for z in range(logits.n)]
    return softmax(np.array(votes))[skill]


def disagreement(logits):
    """Of members [N, K]: the mutual information between a random member and its guess."""
    each = [softmax(member) for member in logits]
    mean = sum(each) / len(each)
    return sum((q * np.log(q / mean)).sum() for q in each) / len(each)


def loss_gradient(name, logits, skill, beta):
    """d loss / d logits of one sample: an array [K], or a dict by pair."""
    if name == "one_vs_all":
        onehot = np.eye(len(logits))[skill]
        return beta * (softmax(beta * logits) - onehot)
    if name == "ensemble":
        onehot = np.eye(logits.shape[1])[skill]
        return np.stack([(softmax(member) - onehot) / len(logits) for member in logits])
    gradient = {}
    all_pairs = list(combinations(range(logits.n), 2))
    for i, j in all_pairs:
        p = 1 / (1 + math.exp(-2 * logits.values[i, j]))  # probability of "i, not j"
        if name == "all_pairs_dont_cares":
            target = 1.0 if i == skill else 0.0 if j == skill else 0.5
            gradient[i, j] = 2 * (p - target) / len(all_pairs)
        elif skill in (i, j):
            gradient[i, j] = 2 * (p - (1.0 if i == skill else 0.0)) / (logits.n - 1)
        else:
            gradient[i, j] = 0.0
    return gradient


class Adam:
    def __init__(self, shape):
        self.m, self.v, self.t = np.zeros(shape), np.zeros(shape), 0

    def step(self, params, gradient, rate):
        self.t += 1
        self.m = 0.9 * self.m + 0.1 * gradient
        self.v = 0.999 * self.v + 0.001 * gradient**2
        m = self.m / (1 - 0.9**self.t)
        v = self.v / (1 - 0.999**self.t)
        return params - rate * m / (np.sqrt(v) + 1e-8)


class Sum:
    """Numbers that are the sum of arrays (a table and its bias), each with an Adam of its own."""

    def __init__(self, terms):
        self.terms = [np.asarray(term, np.float64) for term in terms]
        self.adams = [Adam(term.shape) for term in self.terms]

    def values(self):
        return sum(self.terms, np.zeros(()))

    def step(self, gradient, rate, factor=1.0):
        """The values after a step; a term's gradient is the sum over all that share it."""
        for n, term in enumerate(self.terms):
            shared = tuple(a for a in range(term.ndim) if term.shape[a] < gradient.shape[a])
            own = gradient.sum(axis=shared, keepdims=True)
            self.terms[n] = factor * self.adams[n].step(term, own, rate)
        return self.values()
