"""Configurations: defaults of the paper, methods as data, and every way to be wrong."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apart._config import SPECS, TYPES, Config
from apart._errors import UserError
from apart.methods import METHODS
from apart.settings import CHOICES, resolve


def test_the_papers_hyper_parameters_are_the_defaults():
    config, _ = resolve("four_rooms", "apart", {})
    assert (config.batch, config.horizon, config.skills, config.buffer) == (640, 40, 100, 50_000)
    assert (config.learning_rate, config.epsilon, config.discount) == (2e-3, 1e-3, 0.99)
    assert (config.reward, config.time_weight, config.dropout) == ("min_pairs", "square", True)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_resolves_in_every_world(method):
    for world in CHOICES["world"]:
        config, loaded = resolve(world, method, {})
        assert config.method == method
        assert config.horizon == loaded.horizon


def test_the_users_options_win_over_the_methods():
    config, _ = resolve("empty", "tuned_vic", {"inverse_temperature": 0.1})
    assert config.inverse_temperature == 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"skils": 3}, "unknown option 'skils'; did you mean 'skills'"),
        ({"reward": "min_pair"}, "unknown reward 'min_pair'; did you mean 'min_pairs'"),
        ({"reward": "posterior"}, "needs --discriminator one_vs_all"),
        ({"time_weight": "cubic"}, "unknown time weight"),
        ({"discount": 1.5}, "--discount: 1.5 is outside 0 to 1"),
        ({"epsilon": float("nan")}, "--epsilon: nan is not a finite number"),
        ({"learning_rate": float("inf")}, "not a finite number"),
        ({"skills": 1}, "--skills: 1 is outside 2"),
        ({"skills": 2.5}, "not a whole number"),
        ({"skills": "many"}, "not a whole number"),
        ({"dropout": 1}, "not true or false"),
        ({"batch": True}, "not a whole number"),
        ({"steps": 0}, "--steps: 0 is outside 1"),
        ({"buffer": 10}, "smaller than the 40 transitions"),
        ({"skills": 100_000}, "GB of memory"),
        ({"sweep": True}, "needs --share-transitions"),
        (
            {"discriminator": "counts", "reward": "min_counts", "logit_decay": 0.1},
            "--logit-decay does nothing",
        ),
        ({"inverse_temperature": 5.0}, "--inverse-temperature does nothing"),
        ({"update_every": 20, "updates_per_episode": 2}, "set one of them"),
        ({"episodes_per_update": 2, "updates_per_episode": 2}, "one of them must be 1"),
        ({"observation": "pixels"}, "--network table reads --observation one_hot, not pixels"),
        ({"network": "cnn"}, "--network cnn reads --observation pixels or"),
        (
            {"network": "mlp", "discriminator_network": "cnn"},
            "--discriminator-network cnn reads --observation pixels or",
        ),
        (
            {"observation": "pixels", "network": "cnn", "pixels_per_cell": 64},
            "seen as 640 x 640 pixels needs",
        ),
        ({"observation": "pixels", "network": "cnn", "kernel": 4}, "--kernel: 4 is even; use 5"),
        ({"observation": "pixel", "network": "cnn"}, "unknown observation 'pixel'; did you mean"),
        ({"network": "mlp", "q_rule": "plain"}, "--network mlp needs --q-rule adam"),
        ({"network": "mlp", "hidden": ""}, "--hidden: '' is not a whole number"),
        ({"network": "mlp", "hidden": (3, 0)}, "--hidden: 0 is outside 1"),
        ({"network": "mlp", "hidden": 5}, "--hidden: 5 is not a list such as"),
        ({"network": "mlp", "hidden": "3,x"}, "--hidden: 'x' is not a whole number"),
        ({"network": ["mlp"]}, "--network: ['mlp'] is not a name"),
        ({"hidden": (3,)}, "--hidden does nothing"),
        ({"channels": (3,), "network": "mlp"}, "--channels does nothing"),
        ({"pixels_per_cell": 2}, "--pixels-per-cell does nothing"),
        (
            {"share_transitions": True, "dropout": False, "sweep": True, "network_rows": "samples"},
            "needs --network-rows states",
        ),
        (
            {"discriminator": "counts", "reward": "min_counts", "network": "cnn"}
            | {"observation": "pixels"},
            "--discriminator counts is a table of states and cannot see pixels",
        ),
    ],
)
def test_wrong_options_say_what_is_wrong(options, message):
    with pytest.raises(UserError) as error:
        resolve("four_rooms", "apart", options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_networks_bring_the_rates_of_the_paper_unless_the_user_says_otherwise():
    pixels = {"observation": "pixels", "network": "cnn"}
    config, _ = resolve("four_rooms", "apart", pixels)
    assert (config.learning_rate, config.discriminator_learning_rate) == (1e-5, 3e-4)
    assert (config.channels, config.kernel, config.discriminator_network) == (
        (32, 64, 128),
        5,
        "cnn",
    )
    config, _ = resolve("four_rooms", "apart_logits", {**pixels, "learning_rate": 0.1})
    assert (config.learning_rate, config.q_rule, config.sweep) == (0.1, "adam", True)
    config, _ = resolve("four_rooms", "ova_art", {"discriminator_network": "mlp", "hidden": "2300"})
    assert (config.network, config.discriminator_network, config.hidden) == (
        "table",
        "mlp",
        (2300,),
    )
    assert config.learning_rate == 2e-3


def test_networks_see_what_is_fewer_states_or_samples():
    for batch, rows in ((640, "states"), (10, "samples")):
        options = {"network": "mlp", "batch": batch}
        assert resolve("four_rooms", "diayn", options)[0].network_rows == rows
    assert resolve("four_rooms", "apart", {"batch": 10})[0].network_rows == "states"


def test_an_unknown_method_suggests_the_nearest():
    with pytest.raises(UserError, match="did you mean 'diayn'"):
        resolve("four_rooms", "dyan", {})


values = st.one_of(
    st.integers(), st.floats(), st.booleans(), st.text(max_size=5), st.none(), st.just(10**400)
)


@given(st.dictionaries(st.sampled_from(sorted(SPECS)), values, max_size=3))
def test_any_values_give_a_valid_config_or_one_line_of_error(options):
    options = {k: v for k, v in options.items() if k not in ("world", "method")}
    try:
        config, _ = resolve("four_rooms", "diayn", options)
    except UserError as error:
        assert "\n" not in str(error)
    else:
        for name, kind in TYPES.items():
            assert type(getattr(config, name)) is kind


def test_update_every_ties_updates_to_steps():
    for world, updates in (("four_rooms", 2), ("perfect_maze", 10), ("classic_rooms", 1)):
        assert resolve(world, "apart_plus", {})[0].updates_per_episode == updates


def test_the_fingerprint_tells_configs_apart():
    config = Config()
    for name, kind in TYPES.items():
        other = not getattr(config, name) if kind is bool else (7,) if kind is tuple else kind(7)
        if other != getattr(config, name):
            changed = dataclasses.replace(config, **{name: other})
            assert changed.fingerprint() != config.fingerprint(), name


def test_rounds_make_at_least_the_steps_asked_for():
    config, _ = resolve("four_rooms", "apart", {"steps": 1001, "evaluate_every": 90})
    assert config.iterations == 26
    assert config.evaluate_iterations == 2
