"""The Python door: the same folders as the command line, errors in Python's words."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys

import numpy as np
import pytest

import apart
from apart._errors import UserError
from apart.cli import main
from apart.methods import METHODS
from apart.objective.rewards import REWARDS, Reward
from apart.runs.skills import Skills
from apart.settings import resolve

TINY = {"steps": 200, "skills": 3, "horizon": 4, "batch": 8, "buffer": 40, "evaluate_every": 100}
WORLD = apart.parse_map("S..", "corridor")


def test_one_folder_rule_for_both_doors(corridor, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = apart.train(str(corridor), **TINY)
    assert str(run.path) == "runs/corridor-apart"
    words = [f"--{name.replace('_', '-')}={value}" for name, value in TINY.items()]
    assert main(["train", str(corridor), *words, "--no-draw"]) == 2  # the same folder
    assert main(["train", str(corridor), *words, "--no-draw", "--overwrite"]) == 0
    assert apart.load("runs/corridor-apart").n_available == 3


def test_a_second_run_in_a_notebook_has_a_clear_choice(tmp_path):
    out = tmp_path / "run"
    apart.train(WORLD, out=out, **TINY)
    with pytest.raises(
        UserError, match=r"choose another out= \(such as .*-2\) or pass overwrite=True"
    ):
        apart.train(WORLD, out=out, **TINY)
    assert apart.train(WORLD, out=out, overwrite=True, **TINY).path == out
    assert apart.train(WORLD, out=tmp_path / "other", **TINY).path == tmp_path / "other"


def test_a_set_of_seeds_is_trained_loaded_and_resumed_by_the_same_names(tmp_path, in_this_process):
    out = tmp_path / "set"
    trained = apart.train(WORLD, seeds=2, seed=3, out=out, **TINY)
    assert [run.summary["seed"] for run in trained.runs] == [3, 4]
    assert [run.path for run in apart.load(out).runs] == [out / "seed-3", out / "seed-4"]
    skills = trained.runs[1].skills
    longer = apart.resume(out, steps=400)
    assert [run.summary["env_steps"] for run in longer.runs] == [400, 400]
    assert "of 3 skills" in repr(longer)
    assert len(repr(longer.runs[0])) < 200
    single = apart.train(WORLD, seed=4, out=tmp_path / "one", **TINY)
    assert single.skills == skills
    nowhere = dataclasses.replace(single, summary={**single.summary, "n_effective": 0})
    assert repr(nowhere).endswith(", seed 4, skills not counted>")
    assert repr(apart.RunSet(out, [nowhere, nowhere])).endswith("set: skills not counted>")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"learning_rate": -1}, "learning_rate=-1 is outside 0"),
        ({"seeds": 0}, "seeds=0 is outside 1"),
        ({"seeds": 1.5}, "seeds=1.5 is not a whole number"),
        ({"slip": 0.1}, "slip: corridor is built already"),
        ({"skils": 3}, "unknown option 'skils'; did you mean 'skills'"),
        ({"hidden": (3,)}, "option 'hidden' was removed; now: network='mlp:256,256'"),
        ({"skills": "ten"}, "skills='ten' is not a whole number"),
        (
            {"method": "diayn", "reward": "min_pairs"},
            "reward='min_pairs' needs discriminator='all_pairs' or all_pairs_dont_cares, not",
        ),
        ({"hold": 3}, "hold=3 does not divide the 4 steps of an episode; try horizon=3 or 6"),
        (
            {"method": "apart_plus", "dropout": True},
            "dropout: q_rule='sweep_plain' (set by method='apart_plus') weights all "
            "transitions by W(t) instead; use dropout=False, or q_rule='shared_adam'",
        ),
        ({"network": "mlp:0"}, "network='mlp:0': 0 is outside 1 to"),
        ({"device": "abacus"}, "device='abacus': "),
        ({"method": "aprt"}, "did you mean 'apart'"),
    ],
)
def test_errors_name_arguments_and_nothing_is_written(arguments, message, tmp_path):
    with pytest.raises(UserError) as error:
        apart.train(WORLD, out=tmp_path / "run", **{**TINY, **arguments})
    assert message in str(error.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: apart.draw(None), "run: None is not a run; give a run or the path of its folder"),
        (
            lambda: apart.export(3, "out"),
            "run: 3 is not a run; give a run or the path of its folder",
        ),
        (lambda: apart.parse_map(None), "map: None is not a map"),
        (lambda: apart.parse_map(3, "mine"), "mine: 3 is not a map"),
        (lambda: apart.table_of(3), "env: 3 is not a Gymnasium environment"),
        (lambda: apart.train(3), "3 is not a world; give a name, the path of a map, or a world"),
        (lambda: apart.train("empty", slip="x"), "'x' is not a number"),
        (lambda: apart.check(3), "3 is not a world; give a name, the path of a map, or a world"),
        (lambda: apart.check("emty"), "did you mean 'empty'"),
        (lambda: apart.compare([]), "name at least one world"),
        (lambda: apart.compare("emty"), "did you mean 'empty'"),
        (lambda: apart.compare("empty", methods="vik"), "unknown method 'vik'; did you mean 'vic'"),
        (lambda: apart.compare("empty", methods=[3]), "unknown method '3'"),
        (lambda: apart.compare("empty", steps=[100, "x"]), "steps='x' is not a whole number"),
        (lambda: apart.compare("empty", steps=[]), "steps: give at least one number"),
        (lambda: apart.compare("empty", seeds=0), "seeds=0 is outside 1"),
        (lambda: apart.compare("empty", known="none.json"), "none.json: cannot be read"),
        (lambda: apart.compare("empty", engine="rai"), "did you mean 'ray'"),
        (
            lambda: apart.compare([WORLD, apart.parse_map("S.", "corridor")]),
            "corridor: several worlds have that name",
        ),
        (lambda: apart.sweep("none.toml"), "none.toml: no such file"),
        (lambda: apart.sweep(3), "file: 3 is not a path"),
        (lambda: Skills([], None).rollout(1, seed="a"), "seed='a': give a whole number from 0"),
        (lambda: Skills([], None).rollout(1, seed=-1), "seed=-1: give a whole number from 0"),
    ],
)
def test_what_is_of_another_kind_is_one_line(call, message):
    with pytest.raises(UserError) as error:
        call()
    assert message in str(error.value)


def test_an_error_in_a_script_shows_its_own_line_and_little_of_ours(tmp_path):
    script = tmp_path / "mine.py"
    script.write_text("import apart\n\napart.train('empti')\n")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    lines = done.stderr.splitlines()
    assert sum(line.startswith("  File ") for line in lines) <= 3
    assert "apart.train('empti')" in done.stderr
    assert lines[-1].startswith("apart.UserError: unknown world 'empti'")


def test_what_is_known_of_a_world_ends_with_the_next_line_of_python(tmp_path):
    said = apart.check("empty", slip=0.1)
    assert said["kind"].startswith("a table of 100 cells")
    assert said["next"] == (
        "apart.train('empty', method='apart_plus', skills='auto', horizon='auto', slip=0.1)"
    )
    assert apart.check(WORLD)["next"].startswith("apart.train(world, method=")
    (tmp_path / "own.txt").write_text("S..")
    assert str(tmp_path / "own.txt") in apart.check(tmp_path / "own.txt")["next"]


def test_a_comparison_is_trained_once_and_shows_its_table(tmp_path, in_this_process):
    said: list[str] = []
    asked = {"methods": ["vic", "random_walk"], "steps": "200", "seeds": 2, "skills": 3}
    asked |= {"sharing": False, "out": tmp_path / "compare", "say": said.append}
    found = apart.compare(WORLD, **asked)
    assert [(row.label, list(row.seeds)) for row in found.rows] == [
        ("vic", [0, 1]),
        ("random_walk", [0, 1]),
    ]
    assert "random_walk" in str(found)
    assert str(found) in said[-1]
    assert repr(found) == f"<apart.Comparison {tmp_path / 'compare'}: 2 rows>"
    again = apart.compare(
        [WORLD],
        **{**asked, "methods": "vic", "out": tmp_path / "more"},
        known=[tmp_path / "compare" / "compare.json"],
    )
    assert not (tmp_path / "more" / "runs").exists()
    assert [row.cells["distinct"] for row in again.rows] == [
        row.cells["distinct"] for row in found.rows
    ]


def test_a_sweep_gives_its_runs_in_order(tmp_path, in_this_process):
    file = tmp_path / "trial.toml"
    (tmp_path / "own.txt").write_text("S..")
    options = {"world": str(tmp_path / "own.txt"), "method": "vic", **TINY}
    lines = [f"{name} = {value!r}" for name, value in options.items()]
    file.write_text("\n".join(["[options]", *lines, "[grid]", "seed = [4, 2]"]))
    runs = apart.sweep(file, out=tmp_path / "trial", say=lambda text: None)
    assert [run.summary["seed"] for run in runs] == [4, 2]
    assert runs[0].skills.act(1, 0) in range(5)


def test_an_environment_in_place_of_a_world_is_told_how_it_becomes_one():
    gymnasium = pytest.importorskip("gymnasium", reason="the extra gym is not installed")
    with pytest.raises(UserError) as error:
        apart.train(gymnasium.make("CartPole-v1"))
    for way in ("'gym:CartPole-v1'", "apart.gym_world('CartPole-v1')", "apart.table_of(env)"):
        assert way in str(error.value)


@pytest.mark.parametrize(
    "call", [lambda world, out: apart.train(world, out=out), lambda world, _: apart.make_env(world)]
)
def test_a_search_that_meets_its_bounds_is_one_line(call, tmp_path):
    pytest.importorskip("gymnasium", reason="the extra gym is not installed")
    with pytest.raises(UserError, match=r"more than 4 states.*max_states=40") as error:
        call("table:gym:FrozenLake-v1:is_slippery=false,max_states=4", tmp_path / "run")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "run").exists()


def test_a_run_stands_for_its_skills(tmp_path):
    pytest.importorskip("gymnasium", reason="the extra gym is not installed")
    run = apart.train(WORLD, out=tmp_path / "run", **TINY)
    assert apart.skill_env(apart.make_env(WORLD), run).action_space.n == TINY["skills"]
    several = apart.RunSet(tmp_path, [run])
    with pytest.raises(UserError, match="several runs; name one"):
        apart.skill_env(apart.make_env(WORLD), several)


def test_public_names_stay_what_they_are():
    """A name that is also a module would turn into it after its first import."""
    code = """
import apart
for name in apart.__all__:
    first = getattr(apart, name)
    assert getattr(apart, name) is first, name
apart.load, apart.train
assert "four_rooms" in apart.WORLDS and "diayn" in apart.METHODS
assert sorted(apart.METHODS) == sorted(apart.METHODS)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_own_rewards_and_methods_are_known_by_name(tmp_path, capsys):
    """In a process of its own: what is registered stays."""
    code = f"""
import apart, jax.numpy as jnp
share = lambda o, beta: jnp.exp(o - o.max())
apart.register_reward("share", "posterior without a logarithm", share)
apart.register_method("mine", "VIC with it", discriminator="one_vs_all", reward="share",
                      time_weight="last", steps=400)
run = apart.train(apart.parse_map("S..", "corridor"), method="mine", skills=3, horizon=4, batch=8,
                  buffer=40, out={str(tmp_path / "run")!r})
assert run.config["reward"] == "share" and run.summary["env_steps"] == 400
assert "mine" in apart.METHODS
for wrong, message in (
    (lambda: apart.register_reward("posterior", "x", lambda o, b: o), "is there already"),
    (lambda: apart.register_method("no name", "x"), "use letters, digits and underscores"),
    (lambda: apart.register_method("other", "x", skils=3), "unknown option"),
    (lambda: apart.register_method("other", "x", method="domino"), "write like='domino'"),
    (lambda: apart.compare("empty", skills="auto"), "a comparison uses one K"),
    (lambda: apart.register_method("other", "x", like="domina"), "did you mean 'domino'"),
    (lambda: apart.register_method("other", "x", seed=3), "seed belongs to a run"),
    (lambda: apart.register_method("other", "x", skills=1), "skills=1 is outside"),
    (lambda: apart.register_method("other", "x", reward="posteriorr"), "did you mean 'posterior'"),
    (lambda: apart.register_reward("other", "x", lambda o, b: o, reads="logit"), "'logits'"),
    (lambda: apart.register_reward("other", "x", lambda o, b: o, reads=3), "input of a reward '3'"),
    (lambda: apart.register_reward("other", "x", 3), "reward 'other': 3 is not a function"),
    (lambda: apart.register_reward(3, "x", share), "reward 3: use letters"),
    (lambda: apart.register_world("kind", 3), "kind of world 'kind': 3 is not a function"),
    (lambda: apart.register_world(3, print), "kind of world 3: must be text"),
    (lambda: apart.train("empty", method="mine", seeds=2), "do not know the method 'mine'"),
    (lambda: apart.compare("empty", methods="mine", out="c"), "do not know the method 'mine'"),
    (lambda: apart.train(method=object()), "method= takes a name"),
):
    try:
        wrong()
    except apart.UserError as error:
        assert message in str(error), error
    else:
        raise SystemExit("no error")
from apart.cli import main
assert main(["list", "methods", "rewards"]) == 0
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "VIC with it" in done.stdout
    assert "posterior without a logarithm" in done.stdout


OWN_REWARDS = {
    "one_argument": (lambda o: o, "fails: TypeError: "),
    "raises": (lambda o, beta: 1 / 0, "fails: ZeroDivisionError: division by zero"),
    "in_numpy": (lambda o, beta: np.exp(o), "in jax.numpy, fails: TracerArrayConversionError: "),
    "misshapen": (lambda o, beta: o.sum(), "gives shape []: it must give a reward for each of"),
    "nothing": (lambda o, beta: None, "gives NoneType: it must give a reward for each of"),
}


@pytest.mark.parametrize("name", OWN_REWARDS)
def test_a_wrong_reward_is_one_line_and_stands_in_nobodys_way(name, tmp_path, monkeypatch):
    function, said = OWN_REWARDS[name]
    monkeypatch.setitem(REWARDS._records, name, Reward("x", function, "logits"))
    out, options = tmp_path / "run", {**TINY, "method": "diayn"}
    for overwrite in (False, True):
        with pytest.raises(apart.UserError) as error:
            apart.train(WORLD, reward=name, out=out, overwrite=overwrite, **options)
        assert name in str(error.value)
        assert said in str(error.value)
        assert "\n" not in str(error.value)
        if not overwrite:
            assert list(tmp_path.iterdir()) == []
            before = apart.train(WORLD, out=out, **options).summary
    assert apart.load(out).summary == before


def test_a_method_like_another_has_all_of_its_other_options(monkeypatch):
    """In tables, and where it has settings of its own beyond them."""
    monkeypatch.setattr(METHODS, "_records", dict(METHODS.items()))
    apart.register_method("half", "DOMiNO, held to half", like="domino", optimality=0.5)
    apart.register_method("slow", "METRA, slowly", like="metra", learning_rate=1e-4)
    known, own = METHODS["domino"], METHODS["half"]
    assert own.options == {**known.options, "optimality": 0.5}
    assert own.summary == "DOMiNO, held to half"
    (tables, beyond), slow = (METHODS["metra"], METHODS["metra"].beyond), METHODS["slow"]
    assert slow.options == {**tables.options, "learning_rate": 1e-4}
    assert slow.elsewhere.options == {**beyond.options, "learning_rate": 1e-4}
    assert (slow.beyond.decisions, slow.beyond.sees) == (beyond.decisions, beyond.sees)
    apart.register_method("often", "x", like="apart_plus", updates_per_episode=7)
    apart.register_method("briefly", "x", like="apart_spread", hold=2)
    assert resolve("four_rooms", "often", {})[0].updates_per_episode == 7
    assert resolve("maze:bottleneck", "briefly", {})[0].hold == 2


def test_an_entry_point_is_asked_when_a_name_is_not_known(tmp_path, monkeypatch):
    plugin = tmp_path / "plugin"
    (plugin / "far-1.0.dist-info").mkdir(parents=True)
    (plugin / "far.py").write_text(
        "import apart\napart.register_method('far', 'from a plugin', steps=100)\n"
    )
    (plugin / "far-1.0.dist-info" / "METADATA").write_text("Name: far\nVersion: 1.0\n")
    (plugin / "far-1.0.dist-info" / "entry_points.txt").write_text("[apart.plugins]\nfar = far\n")
    code = "from apart.settings import resolve; print(resolve('empty', 'far', {})[0].steps)"
    around = {**os.environ, "PYTHONPATH": os.pathsep.join([str(plugin), *sys.path])}
    done = subprocess.run([sys.executable, "-c", code], env=around, capture_output=True, text=True)
    assert done.stdout.strip() == "100", done.stderr


def test_skills_are_drawn_again(tmp_path, capsys):
    out = tmp_path / "run"
    run = apart.train(WORLD, out=out, **TINY)
    assert not (out / "skills.png").exists()
    assert apart.draw(run) == [out / "skills.png"]
    (out / "skills.png").unlink()
    assert main(["draw", str(out)]) == 0
    assert (out / "skills.png").exists()
    assert "skills that end in each cell" in capsys.readouterr().out
    assert main(["draw", str(tmp_path)]) == 2


def test_a_page_is_written_of_runs_and_sets_of_runs(tmp_path, capsys):
    one = apart.train(WORLD, out=tmp_path / "one", **TINY)
    two = apart.train(WORLD, out=tmp_path / "two", **{**TINY, "seeds": 2})
    assert apart.write_page(one) == one.path / "report.html"
    page = tmp_path / "page.html"
    assert apart.write_page(one, tmp_path / "two", two.runs[0], out=page) == page
    assert main(["report", str(one.path), str(two.path), "--out", str(tmp_path / "cli.html")]) == 0
    assert page.read_text() == (tmp_path / "cli.html").read_text()
    assert capsys.readouterr().out.startswith("3 runs: open ")
    for wrong, said in (
        (tmp_path / "page.txt", "does not end in .html or .htm"),
        (tmp_path / "no" / "page.html", "is not a file in a folder that exists"),
    ):
        with pytest.raises(apart.UserError, match=f"^out.*{said}"):
            apart.write_page(one, out=wrong)
    with pytest.raises(apart.UserError, match="give a run or the path"):
        apart.write_page(one, 3)


def test_numbers_of_a_run_are_numbers(tmp_path):
    run = apart.train(WORLD, out=tmp_path / "run", **{**TINY, "steps": "400"})
    assert run.config["skills"] == 3
    assert [type(run.metrics[-1][name]) for name in ("env_steps", "n_effective")] == [int, int]
    assert run.world.state((0, 2)) == 2
    assert run.world.cell(2) == (0, 2)
    with pytest.raises(KeyError):
        run.world.state((5, 5))


@pytest.mark.parametrize(
    "call",
    [
        lambda out: apart.train(3, out=out),
        lambda out: apart.train(None, out=out),
        lambda out: apart.train("x" * 5000, out=out),
        lambda out: apart.train(WORLD, out=5),
        lambda out: apart.train(WORLD, out=""),
        lambda out: apart.train(WORLD, out="a\0b"),
        lambda out: apart.train("empty", slip="x", out=out),
        lambda out: apart.train(WORLD, progress=3, out=out),
        lambda out: apart.train(WORLD, skills=[1], out=out),
        lambda out: apart.train(WORLD, method=None, out=out),
        lambda out: apart.resume(5),
        lambda out: apart.resume(out, steps="x"),
        lambda out: apart.load(5),
        lambda out: apart.draw("nowhere"),
    ],
)
def test_mistakes_in_python_are_one_line(call, tmp_path):
    with pytest.raises(UserError) as error:
        call(tmp_path / "run")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "run").exists()


def test_paths_and_numbers_of_other_libraries_are_fine(corridor, tmp_path):
    run = apart.train(corridor, out=tmp_path / "my--run", **{**TINY, "skills": np.int64(3)})
    assert run.config["skills"] == 3
    with pytest.raises(UserError, match="my--run holds a finished run"):
        apart.train(corridor, out=tmp_path / "my--run", **TINY)
