"""Ends among points, by loops over lists. Shares no code with the package."""

from __future__ import annotations

import math

EVERY, MOVES, MIDDLES, BETTER = 8, 4, 8, 0.98


class Places:
    """The places of K skills among at most ``size`` points that were seen."""

    def __init__(self, n_skills, size):
        self.k, self.size = n_skills, size
        self.memory, self.gap = [], []
        self.place, self.width = None, 0.0

    def near(self, point, z):
        return math.exp(-2 * (math.dist(point, self.place[z]) / max(self.width, 1e-6)) ** 2)

    def add(self, point):
        point = list(map(float, point))
        if len(self.memory) < self.size:
            nearest = min((math.dist(point, other) for other in self.memory), default=1e30)
            if nearest > 1e-6:
                self.gap = [
                    min(g, math.dist(point, other))
                    for g, other in zip(self.gap, self.memory, strict=True)
                ]
                self.place = self.place or [point] * self.k
                self.memory.append(point)
                self.gap.append(nearest)
            return
        leaves = self.gap.index(min(self.gap))
        others = [i for i in range(self.size) if i != leaves]
        nearest = min(math.dist(point, self.memory[i]) for i in others)
        if nearest > self.gap[leaves]:
            for i in others:
                self.gap[i] = min(self.gap[i], math.dist(point, self.memory[i]))
            self.memory[leaves], self.gap[leaves] = point, nearest

    def round(self, rounds, points):
        for point in points:
            self.add(point)
        if rounds % EVERY == 0 or rounds <= 1:
            self.look()

    def look(self):
        self.gap = [
            min((math.dist(a, b) for j, b in enumerate(self.memory) if j != i), default=1e30)
            for i, a in enumerate(self.memory)
        ]
        for _ in range(MOVES):
            self.place = self.unneeded_moved()
        self.place = self.middles()
        self.width = max(min(math.dist(m, p) for p in self.place) for m in self.memory)
        if len(self.memory) > 1:
            self.width = max(self.width, min(self.gap) / 2)

    def territories(self):
        """Of each skill: its points by number, with the distances of all places from them."""
        mine = [[] for _ in range(self.k)]
        for i, point in enumerate(self.memory):
            far = [math.dist(point, place) for place in self.place]
            mine[far.index(min(far))].append((i, far))
        return mine

    def unneeded_moved(self):
        mine = self.territories()
        cost, wide = [], []
        for z, states in enumerate(mine):
            others = [min(d for j, d in enumerate(far) if j != z) for _, far in states]
            cost.append(max(others, default=-1))
            wide.append(max((far[z] for _, far in states), default=-1))
        movers = sorted(range(self.k), key=lambda z: cost[z])
        goals = sorted(range(self.k), key=lambda z: -wide[z])
        place = list(self.place)
        for n, (z, g) in enumerate(zip(movers, goals, strict=True)):
            if wide[g] > 0 and (cost[z] < 0 or (n == 0 and cost[z] < BETTER * wide[g])):
                place[z] = self.memory[next(i for i, far in mine[g] if far[g] == wide[g])]
        return place

    def middles(self):
        place = list(self.place)
        for z, states in enumerate(self.territories()):
            if not states:
                continue
            points = [self.memory[i] for i, _ in states]
            middle = self.place[z]
            for n in range(MIDDLES):
                out = [math.dist(p, middle) for p in points]
                if max(out) > 0:
                    far = points[out.index(max(out))]
                    middle = [m + (f - m) / (n + 2) for m, f in zip(middle, far, strict=True)]
            out = [math.dist(p, middle) for p in points]
            tried = points[out.index(min(out))]
            radius = max(math.dist(p, self.place[z]) for p in points)
            if max(math.dist(p, tried) for p in points) < BETTER * radius:
                place[z] = tried
        return place
