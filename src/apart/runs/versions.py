"""What earlier versions wrote, in today's terms. No JAX.

A run folder of any released version loads, reports and resumes in every later one. Fields that did
not exist take their defaults; those that are gone are translated here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from apart._errors import UserError
from apart.runs.files import digest
from apart.worlds import grid

FORMAT: Final = 3  # of config.json and set.json; version 0.1 wrote none

# How Q learned in version 0.1: (q_rule, share_transitions, sweep) -> the rule
_RULES: Final = {
    ("adam", False, False): "adam",
    ("adam", True, False): "shared_adam",
    ("adam", True, True): "sweep_adam",
    ("plain", False, False): "plain",
    ("plain", True, False): "shared_plain",
    ("plain", True, True): "sweep_plain",
}
# (reward_state, discriminator_states) -> the context
_CONTEXTS: Final = {
    ("next", "all"): "next",
    ("current", "all"): "current",
    ("next", "last"): "last",
}
_SAME: Final = (
    *("method", "steps", "seed", "skills", "horizon", "evaluate_every", "discriminator", "reward"),
    *("time_weight", "dropout", "inverse_temperature", "batch", "buffer", "learning_rate"),
    *("discriminator_learning_rate", "anneal", "discount", "epsilon", "episodes_per_update"),
    *("updates_per_episode", "bootstrap_last", "target_period", "average_rate", "init_q"),
    "init_logits",
)


def from_0_1(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a config.json or set.json of version 0.1 as this version writes it.

    Its ``config_sha256``, by which checkpoints and skills are tied to it, stays.

    Raises:
        UserError: it is damaged, or says what this version cannot do any more.
    """
    old, rows = stored.get("config"), stored.get("map")
    if not isinstance(old, dict) or not isinstance(rows, list):
        raise UserError("not the configuration of a run")
    if not all(isinstance(row, str) for row in rows):
        raise UserError("the map is not lines of text")
    try:
        if stored.get("config_sha256") != _identity(old, rows):
            raise UserError("config_sha256 does not match the configuration")
        fields = _fields(old)
        name = str(old["world"])
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise UserError(f"not written by apart 0.1 ({error!r})") from None
    world = {"kind": grid.KIND, "name": name, "map": rows}
    return {**stored, "format": FORMAT, "config": fields, "world": world}


def _identity(old: Mapping[str, Any], rows: list[str]) -> str:
    kept = {**old, "steps": old["steps"] if old["anneal"] else 1}
    fingerprint = hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()
    text = "\n".join(rows)
    return digest(f"{fingerprint}\n{text}".encode())


def _fields(old: Mapping[str, Any]) -> dict[str, Any]:
    counting = old["discriminator"] == "counts"
    new = {name: old[name] for name in _SAME}
    gone = {
        "evaluation_epsilon": 1.0 if old["updates_per_episode"] == 0 else 0.0,
    }
    for name, value in gone.items():
        if old[name] != value:
            raise UserError(f"made with {name} {old[name]}, which this version does not support")
    seen = (old["reward_state"], old["discriminator_states"])
    if seen not in _CONTEXTS:
        raise UserError(f"made with reward_state {seen[0]} and discriminator_states {seen[1]}")
    new["context"] = _CONTEXTS[seen]
    new["q_rule"] = _RULES[old["q_rule"], old["share_transitions"], old["sweep"]]
    new["fading"] = old["discriminator_learning_rate"] if counting else old["logit_decay"]
    if counting:
        new["prior"] = 1.0 / old["inverse_temperature"]
        new["inverse_temperature"], new["discriminator_learning_rate"] = 1.0, 2e-3
    elif not old["temperature_in_loss"]:
        new["discriminator"] = f"{old['discriminator']}_sharpened"
    new["observation"] = old["observation"]
    if old["pixels_per_cell"] != 1:
        new["observation"] += f":{old['pixels_per_cell']}"
    q, logits = _network(old, old["network"]), _network(old, old["discriminator_network"])
    new["network"] = q if q == logits else f"{q}/{logits}"
    return new


def _network(old: Mapping[str, Any], kind: str) -> str:
    sizes = {"mlp": old["hidden"], "cnn": old["channels"]}.get(kind)
    if sizes is None:
        return kind
    kernel = f":{old['kernel']}" if kind == "cnn" else ""
    return f"{kind}:{','.join(map(str, sizes))}{kernel}"
