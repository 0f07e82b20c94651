"""Rewards and losses of the family outside tables, in loops and float64; shares no code with the
package. Networks are one linear layer on observations as they are, so that rows are products.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from reference.oracle import softmax


def log_density(rows, change, z):
    """Of a mixture of Gaussians of variance 1, from rows [M, D + 1, K]."""
    weights = softmax(rows[:, 0, z])
    total = 0.0
    for weight, mean in zip(weights, rows[:, 1:, z], strict=True):
        total += weight * math.exp(-0.5 * sum((change - mean) ** 2))
    return math.log(total) - 0.5 * len(change) * math.log(2.0 * math.pi)


def _dynamics(kept, config, step):
    change = (step["after"] - step["before"]) / np.sqrt(kept["scale.square"])
    last = kept["mixtures.params.last"]
    rows = (step["before"] @ last).reshape(4, -1, config.skills)
    return [log_density(rows, change, z) for z in range(config.skills)]


def dads_mixture(kept, config, step, z):
    each = _dynamics(kept, config, step)
    return each[z] - math.log(np.mean(np.exp(each)))


def dads_mixture_loss(kept, config, step, z):
    return -_dynamics(kept, config, step)[z]


def valor_differences(kept, config, step, z):
    path = step["path"]
    n = min(10, len(path) - 1)
    places = [round(i * (len(path) - 1) / n) for i in range(n + 1)]
    scale = np.sqrt(kept["scale.square"])
    read = [(path[b] - path[a]) / scale for a, b in pairwise(places)]
    read = np.concatenate(read) / math.sqrt(n * len(scale))
    return math.log(softmax(read @ kept["valor.decoder.params.last"])[z])


def _together(kept, step, z):
    both = np.concatenate([step["path"][0], step["after"]]) / math.sqrt(2.0)
    return math.log(softmax(both @ kept["relative.params.last"])[z])


def _alone(kept, step, z):
    return math.log(softmax(step["after"] @ kept["absolute.params.last"])[z])


def relative_vic(kept, config, step, z):
    return _together(kept, step, z) - _alone(kept, step, z)


def _unit(row):
    return row / math.sqrt(sum(row**2))


def discern(kept, config, step, z):
    last = kept["embedding.params.last"]
    return max(0.0, float(_unit(step["after"] @ last) @ _unit(kept["goals"][z] @ last)))


def discern_loss(kept, config, step, z):
    last = kept["embedding.params.last"]
    end = _unit(step["after"] @ last)
    return -math.log(softmax(np.array([10.0 * _unit(g @ last) @ end for g in kept["goals"]]))[z])


def named_loss(array):
    def loss(kept, config, step, z):
        return -math.log(softmax(step["after"] @ kept[array])[z])

    return loss


REWARDS = {
    "dads": dads_mixture,
    "valor": valor_differences,
    "relative_vic": relative_vic,
    "discern": discern,
}
# method -> (array, the loss of a sample that is made small, whether last steps alone teach it)
LOSSES = {
    "dads": [
        ("mixtures.params.last", dads_mixture_loss, False),
        ("named.params.last", named_loss("named.params.last"), True),
    ],
    "valor": [
        ("valor.decoder.params.last", lambda k, c, s, z: -valor_differences(k, c, s, z), False),
        ("valor.ended.params.last", named_loss("valor.ended.params.last"), True),
    ],
    "relative_vic": [
        ("relative.params.last", lambda k, c, s, z: -_together(k, s, z), True),
        ("absolute.params.last", lambda k, c, s, z: -_alone(k, s, z), True),
    ],
    "discern": [("embedding.params.last", discern_loss, True)],
}
