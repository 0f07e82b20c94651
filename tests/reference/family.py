"""Rewards of the family in loops, from the papers' equations and float64; shares no code with the
package. A function gets what an objective keeps as arrays, one transition with its episode, and a
skill.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from reference.oracle import softmax


def moves_of(world, state):
    """The different places that may follow ``state``."""
    return sorted({int(s) for s in world.next_state[state].ravel()})


def relative_vic(kept, world, config, step, z):
    starts = list(world.starts) or [world.start]
    first, last = step["path"][0], step["after"]
    together = softmax(kept["relative.params"][last, starts.index(first)])
    alone = softmax(kept["absolute.params"][last, 0])
    return math.log(together[z]) - math.log(alone[z])


def differences(world, path):
    """Per step the cell's difference as a number: which of the five moves of a map it is."""
    cells = np.asarray(world.cells)
    named = [(0, 0), (0, -1), (0, 1), (-1, 0), (1, 0)]
    return [named.index(tuple(cells[b] - cells[a])) for a, b in pairwise(path)]


def valor(kept, world, config, step, z):
    logits = np.zeros(config.skills)
    for t, move in enumerate(differences(world, step["path"])):
        logits = logits + kept["decoder.params"][t, move]
    return math.log(softmax(logits)[z])


def dads(kept, world, config, step, z):
    s, after = step["before"], step["after"]
    ways = world.next_state[s].ravel()
    possible = moves_of(world, s)

    def q(skill):
        seen = dict.fromkeys(possible, 0.0)
        for way, place in enumerate(ways):
            seen[int(place)] += kept["left"][s, way, skill]
        return (seen[after] + config.prior / len(possible)) / (sum(seen.values()) + config.prior)

    return math.log(q(z)) - math.log(sum(map(q, range(config.skills))) / config.skills)


def eddict(kept, world, config, step, z):
    f = kept["f.params"]
    made = f[step["after"]] - f[step["path"][0]]
    return -sum((kept["codes"][z] - made) ** 2)


REWARDS = {
    "relative_vic": relative_vic,
    "valor": valor,
    "valor_all": valor,
    "dads": dads,
    "eddict": eddict,
}


def log_loss(reward, sign=-1.0):
    """The mean of ``sign`` times a reward over samples that teach: what is made small by Adam."""

    def loss(kept, world, config, steps):
        return float(np.mean([sign * reward(kept, world, config, s, s["skill"]) for s in steps]))

    return loss


def relative_part(kept, world, config, step, z):
    starts = list(world.starts) or [world.start]
    return math.log(
        softmax(kept["relative.params"][step["after"], starts.index(step["path"][0])])[z]
    )


def absolute_part(kept, world, config, step, z):
    return math.log(softmax(kept["absolute.params"][step["after"], 0])[z])


# objective -> (array, what its step makes small, whether last steps alone teach it)
LOSSES = {
    "relative_vic": [
        ("relative.params", log_loss(relative_part), True),
        ("absolute.params", log_loss(absolute_part), True),
    ],
    "valor": [("decoder.params", log_loss(valor), False)],
    "valor_all": [("decoder.params", log_loss(valor), False)],
    "eddict": [("f.params", log_loss(eddict), True)],
}
