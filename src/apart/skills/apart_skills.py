"""Runs what `apart export` wrote, with NumPy alone: Skills("exported").act(7, observation)."""

import json
from pathlib import Path
from typing import Any

import numpy as np

TYPES = {"F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8", "U8": "u1"}


def read(path: Path) -> dict[str, Any]:
    """The arrays of a safetensors file: a header in JSON, then bytes; there is no code in it."""
    data = path.read_bytes()
    first = 8 + int.from_bytes(data[:8], "little")
    has = {n: a for n, a in json.loads(data[8:first]).items() if n != "__metadata__"}
    b = {n: data[first:][slice(*a["data_offsets"])] for n, a in has.items()}
    return {n: np.frombuffer(b[n], TYPES[a["dtype"]]).reshape(a["shape"]) for n, a in has.items()}


def convolve(x: Any, w: Any) -> Any:
    """Images [n, H, W, C] and a kernel [k, k, C, D], padded with zeros -> [n, H, W, D]."""
    (_, height, width, _), k = x.shape, len(w)
    p = np.pad(x, ((0, 0), (k // 2, k // 2), (k // 2, k // 2), (0, 0)))
    return sum(p[:, i : i + height, j : j + width] @ w[i, j] for i in range(k) for j in range(k))


class Skills:
    """The K skills of an exported folder; ``config`` says what is known of them."""

    def __init__(self, folder: str | Path) -> None:
        self.config = json.loads((Path(folder) / "config.json").read_text("utf-8"))
        self.arrays = read(Path(folder) / "model.safetensors")

    def state(self, place: Any) -> int:
        """The number of a state of a table, given by itself or as (row, column)."""
        x, n = np.asarray(place), self.config["n_states"]
        found = np.flatnonzero((self.arrays["cells"] == x).all(1) if x.ndim else np.arange(n) == x)
        if not len(found):
            raise ValueError(f"no state {place}: states are 0 to {n - 1} or free cells of the map")
        return int(found[0])

    def values(self, observation: Any) -> Any:
        """[A, K] or [M, A, K] Q of an observation; of a table: of a state or (row, column)."""
        a, c, x = self.arrays, self.config, np.asarray(observation)
        if c["table"]:
            state = self.state(observation)
            x = a["images"][state] if "images" in a else np.eye(1, c["n_states"], state)
        if "q" in a:
            return a["q"][state]
        x = ((np.float32(x).reshape(1, *c["image"]) - a["offset"]) * a["scale"]).clip(*c["range"])
        d = (x.ravel() - a["centres"]) / a["width"] if "centres" in a else None
        x = x if d is None else np.exp(-np.square(d).sum(1) / 2)
        x = np.cos(x.ravel() @ a["direction"] + a["phase"]) if "phase" in a else x
        for i in range(c["hidden"]):
            w, b = a[f"hidden.{i}.weight"], a[f"hidden.{i}.bias"]
            x = np.maximum((convolve(x, w) if w.ndim == 4 else x.reshape(1, -1) @ w) + b, 0)
        return (x.reshape(-1) @ a["last"] + a.get("bias", 0)).reshape(c["values"])

    def who(self, skill: int, t: int | None) -> int:
        """The skill that decides after t steps of a chain of skills; -1: the chain is over."""
        if not 0 <= skill < self.config["n_skills"]:
            raise ValueError(f"skill {skill}: there are skills 0 to {self.config['n_skills'] - 1}")
        acts = None if t is None else self.config.get("acts")
        return acts[skill][t // self.config["hold"]] if acts else skill

    def act(self, skill: int, observation: Any, t: int | None = None) -> Any:
        """The greedy action of a skill; of several heads a list, the best number of each."""
        z = self.who(skill, t)
        return self.values(observation)[..., z if z >= 0 else skill].argmax(-1).tolist()

    def rollout(self, skill: int, start: Any = None, seed: int = 0) -> list[Any]:
        """One episode in a table: cells (row, column), or numbers of states where it has none."""
        a, c, luck = self.arrays, self.config, np.random.default_rng(seed)
        if not c["table"]:
            raise ValueError(f"{c['world']} is no table: step its environment and ask act")
        path = [self.state(c["start"] if start is None else start)]
        for t in range(c["horizon"]):
            at = path[t], self.act(skill, path[t - t % c["hold"]], t)
            over = self.who(skill, t) < 0
            to = luck.choice(a["next_state"][at], p=a["probability"][at])
            path.append(path[t] if over else int(to))
        return [tuple(a["cells"][s].tolist()) for s in path] if "cells" in a else path
