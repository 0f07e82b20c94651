"""UPSIDE by plain loops: its Algorithm 1 look by look, walks, posterior and chains."""

from __future__ import annotations

KEPT, OLDER, ANYWHERE = 0.8, 3.0, 0.05


class SlowTree:
    """Who is kept, who grows, from where; skills are numbers below ``n_skills``."""

    def __init__(self, n_skills, deepest, again=False, first=4, most=8, patience=8):
        self.n, self.deepest, self.again = n_skills, deepest, again
        self.first, self.most, self.patience = first, most, patience
        self.kept, self.growing, self.tried = [], [], []
        self.parent, self.depth, self.began = {}, {}, []
        self.begin(None)

    def add(self, n):
        free = [z for z in range(self.n) if z not in self.kept + self.growing]
        for z in free[:n]:
            self.growing.append(z)
            self.began.append(z)
            self.parent[z] = self.node
            self.depth[z] = 1 + (0 if self.node is None else self.depth[self.node])
        self.waited = 0

    def begin(self, node):
        self.node, self.phase = node, "first"
        self.add(self.first)

    def drop(self, z):
        self.growing.remove(z)
        del self.parent[z], self.depth[z]

    def look(self, quality):
        self.began = []
        if not self.growing:
            return
        told_apart = all(quality[z] >= KEPT for z in self.growing)
        late = self.waited >= self.patience
        room = len(self.growing) < self.most and len(self.growing) + len(self.kept) < self.n
        if told_apart and self.phase != "removing" and room:
            self.phase = "adding"
            self.add(1)
        elif not told_apart and late and self.phase != "adding" and len(self.growing) > 1:
            self.phase = "removing"
            self.drop(min(sorted(self.growing), key=lambda z: quality[z]))
            self.waited = 0
        elif told_apart or late:
            self.finish(quality)
        else:
            self.waited += 1

    def finish(self, quality):
        for z in list(self.growing):
            if quality[z] < KEPT:
                self.drop(z)
        self.kept += self.growing
        self.growing = []
        if self.node is not None:
            self.tried.append(self.node)
        ends = [z for z in sorted(self.kept) if self.depth[z] < self.deepest]
        if self.again and all(z in self.tried for z in ends):
            self.tried = []
        able = [z for z in ends if z not in self.tried]
        if able and len(self.kept) < self.n:
            self.begin(max(able, key=lambda z: quality[z]))
        elif self.again and not self.kept:
            self.begin(None)

    def chain(self, z):
        if z not in self.depth:
            return []
        return [*([] if self.parent[z] is None else self.chain(self.parent[z])), z]

    def acts(self, part, decisions):
        rows = []
        for z in range(self.n):
            row = [who for who in self.chain(z) for _ in range(part)]
            rows.append(row + [-1] * (decisions - len(row)))
        return rows


def told(claims, kept, growing):
    """[S][K] the posterior of skills that claim shares of states [K][S]."""
    n_skills, n_states = len(claims), len(claims[0])
    rows = []
    for s in range(n_states):
        own = [0.0] * n_skills
        for z in range(n_skills):
            if z in kept:
                own[z] = OLDER * claims[z][s]
            elif z in growing:
                own[z] = claims[z][s] + ANYWHERE / n_states
        rows.append([x / max(sum(own), 1e-8) for x in own])
    return rows


def within(edges, first, steps):
    """States that at most so many edges lead to."""
    found = {first}
    for _ in range(steps):
        found |= {b for a, b in edges if a in found}
    return found
