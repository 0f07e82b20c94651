"""Configurations: defaults of the paper, methods as data, and every way to be wrong."""

from __future__ import annotations

import dataclasses
import re
from typing import get_args, get_type_hints

import jax
import pytest
import twins
from conftest import NIGHTLY
from hypothesis import given
from hypothesis import strategies as st

import apart
from apart import checks, worlds
from apart._config import ELSEWHERE, MOVED, SPECS, TYPES, Config, Options, flag
from apart._errors import RENAMED, UserError
from apart.cli import main
from apart.facts import NAMED, choices, needs_task, spreads
from apart.learner import networks
from apart.methods import METHODS
from apart.runs import plan
from apart.settings import completed, resolve
from apart.training.learners import learner_of, lists_states
from apart.training.rounds import initial
from apart.training.state import hyper_of
from apart.worlds import grid
from apart.worlds.grid import parse
from apart.worlds.lifetime import lifetime
from apart.worlds.world import ObsSpec, Places


def test_the_papers_hyper_parameters_are_the_defaults():
    config, _ = resolve("four_rooms", "apart", {})
    assert (config.batch, config.horizon, config.skills, config.buffer) == (640, 40, 100, 50_000)
    assert (config.learning_rate, config.epsilon, config.discount) == (2e-3, 1e-3, 0.99)
    assert (config.reward, config.time_weight, config.dropout) == ("min_pairs", "square", True)


SOLVES = [m for m in METHODS if needs_task(m)]


@pytest.mark.parametrize("method", SOLVES)
def test_a_method_that_solves_a_task_needs_one(method):
    with pytest.raises(UserError, match="needs a task, and empty has none; use a map with"):
        resolve("empty", method, {})
    assert resolve(parse("S.\n.9", "task"), method, {})[0].method == method
    with pytest.raises(UserError, match=r"the task gives points at every step.*use --hold 1"):
        resolve(parse("S.\n.9", "task"), method, {"hold": 2})
    assert {"smerl", "domino"} <= {*SOLVES}


@pytest.mark.parametrize("method", [m for m in METHODS if m not in SOLVES])
def test_every_method_resolves_in_every_world(method):
    for world in choices()["world"]:
        config, loaded = resolve(world, method, {})
        assert config.method == method
        assert config.horizon == loaded.about.horizon


def test_numbers_that_stand_for_two_must_fit_compiled_code(monkeypatch):
    """Replay keeps skill * T + t, ends keep steps * K + skill; both in 32 bits."""
    monkeypatch.setattr(checks, "_physical_memory", lambda: 10**15)
    large = {"skills": 100_000, "horizon": 30_000, "buffer": 30_000}
    with pytest.raises(UserError, match="--skills 100000 times 30000 decisions"):
        resolve("four_rooms", "diayn", large)
    resolve("four_rooms", "diayn", {**large, "horizon": 20_000})
    resolve("four_rooms", "diayn", {**large, "hold": 2})
    resolve("four_rooms", "apart_plus", {k: v for k, v in large.items() if k != "buffer"})
    wide = parse("S" + "." * 999 + ("\n" + "." * 1000) * 29, "wide")
    with pytest.raises(UserError, match=r"30,000 cells, .* at most 71,580 skills"):
        resolve(wide, "apart_spread", {"skills": 80_000})
    resolve(wide, "apart_spread", {"skills": 71_580})
    twin = dataclasses.replace(twins.jax_grid(parse("S..\n...", "twin")), places=Places(30_000))
    with pytest.raises(UserError, match=r"30,000 cells, .* at most 35,790 skills"):
        resolve(twin, "apart_spread", {"discriminator": "bins", "skills": 40_000})


@pytest.mark.parametrize("starts", [1, 800])
@pytest.mark.parametrize("method", [m for m in METHODS if "network" not in METHODS[m].options])
def test_the_memory_that_is_checked_holds_all_that_is_kept(method, starts):
    """Also what an objective keeps of all pairs of states; nothing of it is made here."""
    cells = "S" * starts + "9" + "." * (1599 - starts)
    large = parse("\n".join(cells[i : i + 40] for i in range(0, 1600, 40)), "large")
    config, world = resolve(large, method, {"skills": 4})
    hyper = hyper_of(config)
    state = jax.eval_shape(initial(learner_of(world, config)), jax.numpy.uint32(0), hyper)
    kept = sum(leaf.size * 4 for leaf in jax.tree.leaves(state))
    assert kept <= checks.memory_bytes(config, world)


@pytest.mark.parametrize("method", [name for name, m in METHODS.items() if m.beyond])
def test_the_memory_that_is_checked_holds_what_is_kept_beyond_tables(method):
    large = twins.jax_grid(parse("S" + "." * 39 + ("\n" + "." * 40) * 39, "large"))
    config, world = resolve(large, method, {"skills": 300, "buffer": 2000})
    hyper = hyper_of(config)
    state = jax.eval_shape(initial(learner_of(world, config)), jax.numpy.uint32(0), hyper)
    kept = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(state.learnt))
    shown = 4 * 1600 * config.skills * (config.horizon + 1)  # observations of an evaluation
    assert kept + shown <= checks.memory_bytes(config, world)


def test_all_pairs_of_states_must_fit_into_memory(monkeypatch):
    monkeypatch.setattr(checks, "_physical_memory", lambda: 16 * 10**9)
    wide = parse("S" + "." * 299 + ("\n" + "." * 300) * 299, "wide")
    resolve(wide, "diayn", {"skills": 8})
    for method, needed in (("eigenoptions", 130), ("upside", 162)):
        with pytest.raises(UserError, match=f"needs {needed} GB .* each pair of cells"):
            resolve(wide, method, {"skills": 8})


@pytest.mark.parametrize(("method", "text"), [("domino", "S....9"), ("discern", "S.....")])
def test_all_pairs_of_skills_must_fit_into_memory(method, text, monkeypatch):
    monkeypatch.setattr(checks, "_physical_memory", lambda: 2 * 10**9)
    world = parse(text, "short")
    resolve(world, method, {"skills": 8_000, "horizon": 5})
    with pytest.raises(UserError, match=r"needs 4 GB .* each pair of skills"):
        resolve(world, method, {"skills": 32_000, "horizon": 5})


def test_a_task_that_no_episode_comes_to_is_refused():
    world = parse("S....9", "far")
    with pytest.raises(UserError, match="no digit of far is within 4 steps"):
        resolve(world, "domino", {"horizon": 4})
    resolve(world, "domino", {"horizon": 5})


def test_a_table_with_heads_is_refused():
    world = parse("S..\n...", "heads")
    world = dataclasses.replace(world, about=world.about._replace(heads=2))
    with pytest.raises(UserError, match="heads: About\\(heads=2\\)"):
        resolve(world, "diayn", {})


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
        ({"q_rule": "sweep_plain"}, "--dropout: --q-rule sweep_plain weights all transitions"),
        (
            {"discriminator": "counts", "reward": "min_counts", "discriminator_learning_rate": 0.1},
            "--discriminator-learning-rate has no effect",
        ),
        ({"prior": 5.0}, "--prior has no effect"),
        ({"inverse_temperature": 5.0}, "--inverse-temperature has no effect"),
        ({"observation": "pixels"}, "cannot read --observation pixels; try linear"),
        ({"network": "cnn"}, "convolutions read images, not --observation one_hot"),
        ({"network": "mlp/cnn"}, "convolutions read images, not --observation one_hot"),
        (
            {"observation": "pixels:64", "network": "cnn"},
            "seen as 640 x 640 pixels needs",
        ),
        ({"observation": "pixels", "network": "cnn:32:4"}, "kernels of 4 are even; use 5"),
        ({"observation": "pixel", "network": "cnn"}, "unknown observation 'pixel'; did you mean"),
        (
            {"observation": "arrays"},
            "does not fit four_rooms; use one_hot or pixels or normalized_pixels",
        ),
        ({"observation": "one_hot:2"}, "--observation one_hot has no size"),
        ({"observation": "pixels:x"}, "give 1 to 64 pixels per cell"),
        ({"network": "mlp", "q_rule": "plain"}, "--network mlp:256,256 needs --q-rule adam"),
        ({"network": "mlp:"}, "--network mlp:: '' is not a whole number"),
        ({"network": "mlp:3,0"}, "0 is outside 1"),
        ({"network": "mlp:3,x"}, "'x' is not a whole number"),
        ({"network": "mlp:3:5"}, "mlp has no such sizes"),
        ({"network": "table:3"}, "table has no such sizes"),
        ({"network": "mpl:3"}, "unknown network 'mpl'; did you mean 'mlp'"),
        ({"network": "mlp/mlp/mlp"}, "at most two"),
        ({"network": ["mlp"]}, "--network: ['mlp'] is not a name"),
        (
            {"discriminator": "counts", "reward": "min_counts", "network": "table"}
            | {"observation": "pixels"},
            "a table (of Q) has one entry per state",
        ),
        *(({name: 1}, f"option '{name}' was removed; now: {now}") for name, now in MOVED.items()),
        *(({name: 1}, f"'{name}'; did you mean '{here}'?") for name, here in ELSEWHERE.items()),
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
    assert config.network == "cnn:32,64,128:5"
    config, _ = resolve("four_rooms", "apart_logits", {**pixels, "learning_rate": 0.1})
    assert (config.learning_rate, config.q_rule) == (0.1, "sweep_adam")
    config, _ = resolve("four_rooms", "ova_art", {"network": "table/mlp:2300"})
    assert (config.network, config.learning_rate) == ("table/mlp:2300", 2e-3)
    config, _ = resolve("four_rooms", "apart_plus", {"network": "mlp:8"})  # counts are a table
    assert (config.network, config.q_rule) == ("mlp:8/table", "sweep_adam")


def test_a_reading_stands_between_the_method_and_the_user():
    config, _ = resolve("four_rooms", "tuned_vic", {}, reading="published")
    assert (config.one_skill, config.context, config.reward) == (
        True,
        "current",
        "signed_posterior",
    )
    assert config.network == "table+bias"
    assert config.learning_rate == 2e-3
    mine = {"episodes_per_update": 4, "context": "next", "network": "table"}
    config, _ = resolve("four_rooms", "apart", mine, reading="published")
    assert (config.episodes_per_update, config.context, config.network) == (4, "next", "table")
    config, _ = resolve("four_rooms", "apart", {"episodes_per_update": 1}, reading="published")
    assert not config.one_skill  # it would do nothing
    ours, unsaid = (resolve("four_rooms", "apart", {}, **r)[0] for r in ({"reading": "ours"}, {}))
    assert ours == unsaid


@pytest.mark.parametrize(
    ("method", "options", "reading", "message"),
    [
        ("apart", {}, "publishd", "unknown reading 'publishd'; did you mean 'published'"),
        ("apart", {"network": "additive"}, "ours", "name a network for the logits too"),
        ("apart", {"network": "table/joint+bias"}, "ours", "joint is for Q only"),
        ("apart_plus", {}, "published", "apart_plus is not one"),
        (
            "apart_plus",
            {"network": "table+bias", "q_rule": "sweep_plain"},
            "ours",
            "--q-rule sweep_plain is for tables",
        ),
        ("apart", {"network": "table+bais"}, "ours", "unknown network 'table+bais'"),
        ("apart", {"network": "joint/table"}, "ours", "without a bias that is the same as table"),
        ("random_walk", {}, "published", "random_walk is not one"),
        ("apart", {"buffer": 100}, "published", "(--reading published sets --context"),
        ("apart", {"keep": 0.3}, "ours", "--keep has no effect"),
        ("ap_min", {"keep": 0.3}, "ours", "--keep has no effect"),
        ("apart", {"one_skill": True}, "ours", "--one-skill has no effect"),
        ("apart_plus", {"init_logits": 1.0}, "ours", "--init-logits has no effect"),
        ("apart_spread", {"fading": 0.1}, "ours", "--fading has no effect"),
        ("apart_plus", {"context": "last"}, "ours", "--context has no effect"),
        ("apart_plus", {"episodes_per_update": 3000, "buffer": 200_000}, "ours", "--buffer has"),
        ("random_walk", {"learning_rate": 0.1}, "ours", "--learning-rate has no effect"),
        ("random_walk", {"fading": 0.1}, "ours", "--fading has no effect"),
        ("valor", {"network": "table/mlp:8"}, "ours", "only Q is a network here; write table"),
        (
            "count_bonus",
            {"discriminator": "ensemble", "reward": "clipped_posterior"},
            "ours",
            "both add a bonus",
        ),
        ("count_bonus", {"context": "current"}, "ours", "use --context next or last"),
        ("upside", {"horizon": 1}, "ours", "1 decision per episode, and --objective upside_tree"),
        ("vic", {"optimality": 0.5}, "ours", "--optimality has no effect"),
        ("vic", {"distance": 0.5}, "ours", "--distance has no effect"),
        ("apart_plus", {"network": "table/mlp:8"}, "ours", "only Q is a network here; write table"),
        (
            "apart_spread",
            {"discriminator": "learned_ends"},
            "ours",
            "known in four_rooms, a table; use --discriminator ends",
        ),
        (
            "apart_spread",
            {"q_rule": "shared_plain"},
            "ours",
            "which --q-rule shared_plain does not store",
        ),
    ],
)
def test_readings_that_do_not_fit_are_said_in_one_line(method, options, reading, message):
    with pytest.raises(UserError) as error:
        resolve("four_rooms", method, options, reading=reading)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_bias_is_part_of_the_form_that_is_written():
    for text, written in (
        ("table+bias", "table+bias"),
        ("mlp:8+bias", "mlp:8+bias"),
        ("joint+bias/table+bias", "joint+bias/table+bias"),
        ("cnn:4,4:3+bias", "cnn:4,4:3+bias"),
    ):
        assert networks.written(*networks.parse(text)) == written
    config, _ = resolve("four_rooms", "apart_logits", {"network": "table+bias"})
    assert (config.q_rule, config.learning_rate) == ("sweep_adam", 2e-3)  # cells move together


def test_networks_see_what_is_fewer_states_or_samples():
    for options, states in (
        ({"network": "mlp", "batch": 640}, True),
        ({"network": "mlp", "batch": 10}, False),
        ({"batch": 10}, True),
    ):
        config, world = resolve("four_rooms", "diayn", options)
        assert lists_states(world, config) == states
    config, slippery = resolve("four_rooms", "diayn", {"network": "mlp"}, slip=0.1)
    assert not lists_states(slippery, config)


def test_worlds_that_are_no_tables_get_what_they_can_use():
    world = twins.jax_grid(parse("S..\n...", "twin"))
    config, _ = resolve(world, "apart_logits", {})
    assert (config.observation, config.network, config.q_rule) == (
        "arrays",
        "mlp:256,256",
        "shared_adam",
    )
    assert config.learning_rate == 2e-4
    for method, options, message in (
        ("apart_plus", {}, "needs a table of all states, and those of twin cannot be listed"),
        ("apart_spread", {"q_rule": "sweep_adam"}, "needs a table of all states"),
        ("diayn", {"q_rule": "sweep_adam"}, "needs a table of all states"),
        ("count_bonus", {}, "--objective count_bonus needs a table of all states"),
        ("diayn", {"network": "table"}, "a table (of Q) has one entry per state"),
        ("diayn", {"observation": "one_hot"}, "does not fit twin; use arrays or fourier"),
        ("diayn", {"network": "cnn"}, "convolutions read images"),
    ):
        with pytest.raises(UserError, match=message.replace("(", r"\(").replace(")", r"\)")):
            resolve(world, method, options)
    with pytest.raises(UserError, match="twin is built already"):
        resolve(world, "diayn", {}, slip=0.1)


def test_there_are_few_options_each_in_a_group_and_typed_for_editors():
    # Of these keep, one_skill and init_logits are readings of the paper, optimality and distance
    # what SMERL's and DOMiNO's papers leave to the user.
    assert len(SPECS) <= 38
    assert all(spec.group for spec in SPECS.values())
    hints = get_type_hints(Options)
    assert set(hints) == set(TYPES) - {"method"}
    for name, hint in hints.items():
        assert TYPES[name] is hint or TYPES[name] in get_args(hint)
    assert not set(MOVED) & set(SPECS)
    assert set(ELSEWHERE.values()) <= set(SPECS)
    assert not set(ELSEWHERE) & {*SPECS, *MOVED}


def test_auto_asks_the_world():
    config, world = resolve("perfect_maze", "apart_plus", {"skills": "auto", "horizon": "auto"})
    assert config.horizon == 2 * world.distance.max()
    assert config.skills == world.n_states
    config, world_of_five = resolve("four_rooms", "diayn", {"skills": "auto", "horizon": "5"})
    assert (config.skills, config.horizon) == (world_of_five.n_available(5), 5)
    with pytest.raises(UserError, match="'auto' is not a whole number"):
        resolve("four_rooms", "diayn", {"batch": "auto"})


def test_auto_has_the_worlds_own_length_outside_tables_and_help_says_so():
    config, world = resolve("maze:u", "diayn", {"horizon": "auto"})
    assert config.horizon == world.about.horizon
    assert SPECS["horizon"].help.endswith("outside tables the world's own")


def test_numbers_may_be_text():
    config, _ = resolve("four_rooms", "diayn", {"steps": "200k", "learning_rate": "1e-3"})
    assert (config.steps, config.learning_rate) == (200_000, 1e-3)


def test_methods_have_budgets_of_their_own_and_say_what_they_set():
    assert resolve("four_rooms", "apart_plus", {})[0].steps == 200_000
    assert resolve("four_rooms", "apart", {})[0].steps == 5_000_000
    with pytest.raises(UserError, match=r"sweep_plain \(set by --method apart_plus\)"):
        resolve("four_rooms", "apart_plus", {"dropout": True})


def test_removed_flags_name_what_does_their_work_now(capsys):
    for name, now in MOVED.items():
        assert main(["train", "four_rooms", f"{flag(name)}=1"]) == 2
        printed = capsys.readouterr().err
        assert now in printed


def test_an_old_name_is_answered_with_the_new_one(tmp_path, capsys):
    """On the command line, in Python, and for a run that was made under the old name."""
    for (kind, old), new in RENAMED.items():
        assert new in NAMED[kind]
        assert old not in NAMED[kind]
    out = str(tmp_path / "run")
    assert main(["train", "corridor", "--method", "vic_unbiased", "--out", out]) == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert "'vic_unbiased'" in said
    assert "vic_counts" in said
    for call in (
        lambda: apart.train("corridor", method="vic_unbiased", out=out),
        lambda: apart.compare("corridor", methods=["vic_unbiased"], out=out),
        lambda: apart.register_method("mine", "x", like="vic_unbiased"),
    ):
        with pytest.raises(UserError, match="vic_counts"):
            call()
    plan.write(tmp_path, Config(method="vic_unbiased", horizon=4), grid.load("corridor"))
    assert main(["resume", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert "vic_counts" in said


def test_an_unknown_method_suggests_the_nearest():
    with pytest.raises(UserError, match="did you mean 'diayn'"):
        resolve("four_rooms", "dyan", {})


values = st.one_of(
    st.integers(), st.floats(), st.booleans(), st.text(max_size=5), st.none(), st.just(10**400)
)


@given(st.dictionaries(st.sampled_from(sorted(SPECS)), values, max_size=3))
def test_any_values_give_a_valid_config_or_one_line_of_error(options):
    options = {k: v for k, v in options.items() if k != "method"}
    try:
        config, _ = resolve("four_rooms", "diayn", options)
    except UserError as error:
        assert "\n" not in str(error)
    else:
        for name, kind in TYPES.items():
            assert type(getattr(config, name)) is kind


def test_some_methods_tie_updates_to_steps():
    for world, updates in (("four_rooms", 2), ("perfect_maze", 10), ("classic_rooms", 1)):
        assert resolve(world, "apart_plus", {})[0].updates_per_episode == updates


def test_the_fingerprint_tells_configs_apart():
    config = Config()
    for name, kind in TYPES.items():
        other = not getattr(config, name) if kind is bool else kind(7)
        if other != getattr(config, name):
            changed = dataclasses.replace(config, **{name: other})
            assert changed.fingerprint() != config.fingerprint(), name


def test_an_option_added_later_changes_no_fingerprint():
    later = dataclasses.make_dataclass(
        "Later", [("extra", int, dataclasses.field(default=3))], bases=(Config,), frozen=True
    )
    assert later(skills=7).differing() == {"skills": 7}
    assert later(skills=7).fingerprint() == Config(skills=7).fingerprint()


def test_rounds_make_at_least_the_steps_asked_for():
    config, _ = resolve("four_rooms", "apart", {"steps": 1001, "evaluate_every": 90})
    assert config.iterations == 26
    assert config.evaluation_interval == 2 * config.collection


def test_what_a_stored_configuration_lacks_is_completed_and_nothing_else_changes():
    world = twins.jax_grid(parse("S..\n...", "twin"))
    stored = dataclasses.replace(
        resolve(world, "diayn", {"learning_rate": 0.03})[0], network="auto"
    )
    found = completed(stored, world)
    assert found == dataclasses.replace(stored, network="mlp:256,256")
    assert completed(found, world) is found


def runs_in(world):
    """Methods that can be trained there."""
    for name in METHODS:
        try:
            yield name, resolve(world, name, {})[0]
        except UserError as error:
            assert re.search("table|places|does not fit", str(error)), error


@pytest.mark.parametrize(
    "world", ["gym:CartPole-v1", "gym:hostile:Walk-v0", "maze:u", "maze:bottleneck:start=random"]
)
def test_defaults_outside_tables_are_sensible_for_every_method(world):
    loaded = worlds.load(world)
    methods = dict(runs_in(loaded))
    assert {"apart", "diayn", "vic", "disdain", "metra", "apart_spread"} <= {*methods}
    for name, config in methods.items():
        updates = config.updates_per_episode
        assert name == "random_walk" or config.collection / updates <= 50, name
        evaluations = 1 + -(-config.total_steps // config.evaluation_interval)
        played = evaluations * config.skills * config.horizon
        assert played / (played + config.total_steps) <= 0.1, name
        assert config.horizon == loaded.about.horizon <= 200
        assert config.skills <= 100
        assert lifetime(loaded) / config.hold >= 10, name  # decisions of a random episode
        assert config.total_steps <= 2_000_000, name


SOME = ("apart", "random_walk")


@pytest.mark.parametrize("method", [name for name in METHODS if NIGHTLY or name in SOME])
@pytest.mark.parametrize("world", ["gym:CartPole-v1", *(["maze:u"] if NIGHTLY else [])])
def test_a_method_trains_with_nothing_but_its_name(world, method, tmp_path):
    steps = 20_000 if NIGHTLY else 1_600
    loaded = worlds.load(world)
    if method not in dict(runs_in(loaded)):
        pytest.skip("it needs a table")
    run = apart.train(loaded, method=method, steps=steps, out=tmp_path / "run")
    assert steps <= run.summary["env_steps"] < steps + 8 * 200
    assert run.summary["updates"] >= steps // 50 or method == "random_walk"
    assert run.summary["n_random_walk"] > 1


def test_the_replay_of_large_observations_is_cut_to_what_fits():
    table = twins.parse("S..\n...", "twin")
    large = dataclasses.replace(twins.jax_grid(table), obs=ObsSpec((210, 160, 3), "uint8"))
    options = {"network": "mlp:8"}
    assert 5_000 < resolve(large, "apart_spread", options)[0].buffer < 12_000
    assert resolve(large, "diayn", {**options, "buffer": 20_000})[0].buffer == 20_000


def test_actions_are_not_held_in_grids():
    assert resolve("gym:FrozenLake-v1", "apart_spread", {})[0].hold == 1
    assert resolve("gym:MountainCar-v0", "apart_spread", {})[0].hold == 4


@pytest.mark.parametrize(
    ("world", "horizon", "hold", "observation", "updates"),
    [
        ("maze:bottleneck", 200, 4, "rbf", 4),
        ("maze:tree", 50, 1, "rbf", 1),
        ("maze:u", 90, 2, "rbf", 2),
        ("maze:u", 7, 1, "rbf", 1),
    ],
)
def test_apart_spread_where_states_cannot_be_listed(world, horizon, hold, observation, updates):
    config, _ = resolve(world, "apart_spread", {"horizon": horizon})
    assert (config.hold, config.observation) == (hold, observation)
    assert (config.updates_per_episode, config.network) == (updates, "mlp:256,256")
    assert (config.learning_rate, config.q_rule) == (2.5e-4, "shared_adam")
    assert resolve(world, "apart_spread", {"horizon": horizon, "hold": 1})[0].hold == 1
    table, _ = resolve("four_rooms", "apart_spread", {})
    assert (table.hold, table.q_rule, table.reward) == (1, "sweep_plain", "own_end")


@pytest.mark.parametrize(
    ("world", "options", "message"),
    [
        ("four_rooms", {}, "use --discriminator ends"),
        (Places(None, counted=False), {}, "plans on places, and twin has none"),
        (Places(None), {}, "the number of places of twin is unknown"),
        (Places(50_000), {}, "plans on at most 46,340 places, and twin has 50,000 cells"),
        ("maze:u", {"fading": 0.1}, "--fading has no effect"),
        ("maze:u", {"init_logits": 0.1}, "--init-logits has no effect"),
        ("maze:u", {"inverse_temperature": 2.0}, "--inverse-temperature has no effect"),
        ("maze:u", {"reward": "min_counts"}, "--reward min_counts needs --discriminator counts"),
        ("maze:u", {"q_rule": "sweep_adam"}, "needs a table of all states"),
    ],
)
def test_ends_by_bins_need_a_world_that_counts_them(world, options, message):
    if isinstance(world, Places):
        grid = twins.jax_grid(parse("S..\n...", "twin"))
        world = dataclasses.replace(grid, places=world)
    with pytest.raises(UserError) as error:
        resolve(world, "apart_spread", {"discriminator": "bins", **options})
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("places", "message"),
    [
        (Places(None, counted=False), "--objective counted counts places, and twin"),
        (Places(None), "the number of places of twin is unknown"),
    ],
)
def test_exploration_by_counts_needs_places_to_count(places, message):
    grid = twins.jax_grid(parse("S..\n...", "twin"))
    with pytest.raises(UserError) as error:
        resolve(dataclasses.replace(grid, places=places), "count_exploration", {})
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    config, _ = resolve(dataclasses.replace(grid, places=Places(50_000)), "count_exploration", {})
    assert config.q_rule == "shared_adam"


def test_ends_by_bins_where_bins_are_counted():
    for world in ("maze:u", twins.jax_grid(parse("S..\n...", "twin"))):
        config, _ = resolve(world, "apart_spread", {"discriminator": "bins"})
        assert (config.reward, config.q_rule) == ("near_end", "shared_adam")
        assert spreads(config)


def test_what_needs_a_table_names_what_does_not():
    with pytest.raises(UserError, match="cannot be listed; try --method apart_spread"):
        resolve("maze:u", "apart_plus", {})


def test_a_method_without_replay_takes_as_many_episodes_as_it_likes():
    config, _ = resolve("four_rooms", "apart_plus", {"episodes_per_update": 3000})
    assert config.transitions > config.buffer
    with pytest.raises(UserError, match="--buffer 50000 is smaller than the 120000"):
        resolve("four_rooms", "diayn", {"episodes_per_update": 3000})
