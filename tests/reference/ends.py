"""Where skills are to end, by loops over sets of seen steps. Shares no code with the package."""

from __future__ import annotations

EVERY, MOVES, MIDDLES, TRIALS = 8, 4, 4, 32


def walk(first, steps_of, among=None):
    """{state: steps from ``first``} along ``steps_of``, within ``among``."""
    found, front = {first: 0}, [first]
    while front:
        after = []
        for s in front:
            for t in sorted(steps_of.get(s, ())):
                if t not in found and (among is None or t in among):
                    found[t] = found[s] + 1
                    after.append(t)
        front = after
    return found


class Places:
    """The places of K skills among S states; ``seen`` is a set of (state, next state)."""

    def __init__(self, n_states, n_skills, start, horizon=10**6):
        self.n, self.k, self.start, self.horizon = n_states, n_skills, start, horizon
        self.edge = [False] * n_states
        self.place = self.trial = [start] * n_skills
        self.owner = [0] * n_states
        self.steps = [0 if s == start else n_states for s in range(n_states)]
        self.width, self.n_seen, self.settled, self.trials = 0, 0, True, 0

    def near(self, s, z):
        return max(1 - self.steps[s] / (self.width + 1), 0) if self.owner[s] == z else 0.0

    def round(self, rounds, seen, n_seen):
        new = n_seen != self.n_seen
        due = rounds % EVERY == 0 or not new  # once nothing new is seen, in every round
        tries = self.trials < TRIALS and self.width > 0
        if due and (new or not self.settled or tries):
            self.look(seen, n_seen)

    def look(self, seen, n_seen):
        self.ahead, self.back = {}, {}
        for s, t in seen:
            self.ahead.setdefault(s, set()).add(t)
            self.back.setdefault(t, set()).add(s)
        known = sorted({s for pair in seen for s in pair})
        ways = walk(self.start, self.ahead)
        self.edge = [s in known and ways.get(s, self.n) >= self.horizon for s in range(self.n)]
        own = n_seen != self.n_seen or not self.settled
        before = self.place if own else self.trial
        place = self.moved(list(before), known)
        owner, steps = self.nearest(place)
        settled = place == before
        now = [max((x[s] for s in known), default=0) for x in (steps, self.steps)]
        total = [sum(x[s] for s in known) for x in (steps, self.steps)]
        better = (now[0], total[0]) < (now[1], total[1])
        if own or (settled and better):
            self.place, self.owner, self.steps, self.width = place, owner, steps, now[0]
        self.trials = 0 if own else self.trials + settled
        if own or settled:
            wanted = (self.trials + 1) * 633 % 1024 * len(known) // 1024
            place = [known[wanted] if wanted < len(known) else 0] * self.k
        self.trial = place
        self.settled = settled if own else True
        self.n_seen = n_seen

    def nearest(self, place, without=None):
        """The nearest place of each state and its steps; of other skills than ``without[s]``."""
        ways = [walk(p, self.ahead) for p in place]
        owner, steps = [], []
        for s in range(self.n):
            fits = [z for z in range(self.k) if without is None or z != without[s]]
            far, z = min(((ways[z][s], z) for z in fits if s in ways[z]), default=(self.n, 0))
            owner.append(z)
            steps.append(far)
        return owner, steps

    def moved(self, place, known):
        for _ in range(MOVES):
            after = self.unneeded_moved(list(place), known)
            if after == place:
                break
            place = after
        return self.middles(place, known)

    def unneeded_moved(self, place, known):
        owner, steps = self.nearest(place)
        _, other = self.nearest(place, without=owner)
        mine = [[s for s in known if owner[s] == z] for z in range(self.k)]
        cost = [max((other[s] for s in states), default=-1) for states in mine]
        wide = [max((steps[s] for s in states), default=-1) for states in mine]
        movers = sorted(range(self.k), key=lambda z: cost[z])
        goals = sorted(range(self.k), key=lambda z: -wide[z])
        for n, (z, g) in enumerate(zip(movers, goals, strict=True)):
            if wide[g] > 0 and (cost[z] < 0 or (n == 0 and cost[z] < wide[g])):
                place[z] = next(s for s in mine[g] if steps[s] == wide[g])
        return place

    def middles(self, place, known):
        owner, steps = self.nearest(place)
        after = list(place)
        for z in range(self.k):
            mine = [s for s in known if owner[s] == z and steps[s] < self.n]
            if not mine:
                continue
            radius = max(steps[s] for s in mine)
            extremes = [next(s for s in mine if steps[s] == radius)]
            for _ in range(MIDDLES):
                to = [walk(e, self.back, set(mine)) for e in extremes]
                far = {s: [way.get(s, self.n) for way in to] for s in mine}
                tried = min(mine, key=lambda s: (max(far[s]), sum(far[s]), s))
                ways = walk(tried, self.ahead, set(mine))
                reach = max(ways.get(s, self.n) for s in mine)
                if reach < radius:
                    after[z], radius = tried, reach
                extremes.append(next(s for s in mine if ways.get(s, self.n) == reach))
        return after
