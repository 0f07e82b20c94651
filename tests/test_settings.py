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
        ({"q_rule": "sweep"}, "needs --share-transitions"),
        (
            {"discriminator": "counts", "reward": "min_counts", "logit_decay": 0.1},
            "--logit-decay does nothing",
        ),
        ({"inverse_temperature": 5.0}, "--inverse-temperature does nothing"),
        ({"update_every": 20, "updates_per_episode": 2}, "set one of them"),
        ({"episodes_per_update": 2, "updates_per_episode": 2}, "one of them must be 1"),
    ],
)
def test_wrong_options_say_what_is_wrong(options, message):
    with pytest.raises(UserError) as error:
        resolve("four_rooms", "apart", options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


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
        other = not getattr(config, name) if kind is bool else kind(7)
        if other != getattr(config, name):
            changed = dataclasses.replace(config, **{name: other})
            assert changed.fingerprint() != config.fingerprint(), name


def test_rounds_make_at_least_the_steps_asked_for():
    config, _ = resolve("four_rooms", "apart", {"steps": 1001, "evaluate_every": 90})
    assert config.iterations == 26
    assert config.evaluate_iterations == 2
