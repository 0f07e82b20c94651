"""How many threads a run gets."""

from __future__ import annotations

import pytest

import apart
from apart.methods import METHODS
from apart.running import threads
from apart.settings import resolve

WORLD = apart.parse_map("S..\n.#3", "task")  # with a task, for those who solve one
PAIRS = {"apart", "ap_min", "ap_min_ascending", "ap_min_dropout", "ap_average", "ap_average_art"}
NETWORKS = {"apart_pixels"}


@pytest.mark.parametrize("method", METHODS)
def test_only_pairs_of_skills_and_networks_get_all_cores(method, monkeypatch):
    monkeypatch.setattr(threads, "cores", lambda: 8)
    config, _ = resolve(WORLD, method, {})
    assert threads.best(config) == (8 if method in PAIRS | NETWORKS else 1)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("smerl", {"discriminator": "all_pairs", "reward": "min_pairs"}),
        ("metra", {"network": "mlp:8"}),
    ],
)
def test_options_that_bring_them_do_too(method, options, monkeypatch):
    monkeypatch.setattr(threads, "cores", lambda: 8)
    assert threads.best(resolve(WORLD, method, options)[0]) == 8
