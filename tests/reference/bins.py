"""Where skills are to end among bins, by loops over walks. Shares no code with the package."""

from __future__ import annotations

from itertools import pairwise

from reference.ends import EVERY, Places

WELL = 8


class Bins:
    """The places of K skills among n bins; n + b is what lies beyond bin b."""

    def __init__(self, n_bins, n_skills, horizon):
        self.n, self.k, self.horizon = n_bins, n_skills, horizon
        self.places, self.seen, self.visits, self.new = None, set(), [0] * n_bins, False

    def little(self):
        return {b for b in range(self.n) if 0 < self.visits[b] < WELL}

    def round(self, rounds, walks):
        """Lists of bins, one for each episode."""
        if self.places is None:
            self.places = Places(2 * self.n, self.k, walks[0][0], self.horizon)
        before = len(self.seen), self.little()
        for walk in walks:
            self.seen |= set(pairwise(walk))
            for b in set(walk):
                self.visits[b] += 1
        little = self.little()
        self.new = self.new or before != (len(self.seen), little)
        if rounds % EVERY:
            return
        for s in range(self.n, 2 * self.n):
            if s - self.n not in little:
                self.places.place = [s - self.n if p == s else p for p in self.places.place]
                self.places.trial = [s - self.n if p == s else p for p in self.places.trial]
        edges = set(self.seen)
        for b in little:
            edges |= {(b, self.n + b), (self.n + b, b)}
        if self.new:
            self.places.n_seen = -1
        self.places.round(rounds, edges, len(edges))
        self.new = False

    def near(self, b, z):
        return max(self.places.near(b, z), self.places.near(self.n + b, z))
