"""The command line as users meet it: results, one-line errors, exit codes, nothing half-written."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
from functools import cache

import pytest
from conftest import NIGHTLY, as_users_run
from hypothesis import given
from hypothesis import strategies as st

import apart
from apart._config import number
from apart._errors import UserError
from apart.cli import main
from apart.cli.words import tell
from apart.facts import needs_task
from apart.running import progress
from apart.running.progress import several

TINY = "--steps 200 --skills 3 --horizon 4 --batch 8 --buffer 40 --evaluate-every 100".split()


def test_train_writes_a_run_and_prints_the_result(corridor, tmp_path, capsys):
    out = tmp_path / "run"
    assert main(["train", str(corridor), *TINY, "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert "of 3 skills after 200 steps" in printed.out
    assert "skills that end in each cell" in printed.out
    assert str(out) in printed.out
    assert "3 of 3 cells can be reached" in printed.err
    assert "left" in printed.err
    assert "\x1b" not in printed.err
    assert (out / "skills.png").exists()


def test_a_cnn_trains_from_pixels_by_flags(corridor, tmp_path):
    out = tmp_path / "run"
    words = "--method diayn --observation pixels:2 --network cnn:2,3"
    assert main(["train", str(corridor), *TINY, *words.split(), "--out", str(out)]) == 0
    config = json.loads((out / "config.json").read_text())["config"]
    assert config["network"] == "cnn:2,3:5"
    assert config["learning_rate"] == 1e-5
    assert json.loads((out / "summary.json").read_text())["updates"] == 50


def test_the_default_folder_is_named_after_world_and_method(corridor, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["train", str(corridor), *TINY, "--method", "diayn", "--no-draw"]) == 0
    assert (tmp_path / "runs" / "corridor-diayn" / "summary.json").exists()
    inside = tmp_path / "runs" / "corridor-diayn" / "seed-0"
    with pytest.raises(UserError, match="would be inside the run in"):
        apart.train(str(corridor), method="diayn", steps=200, skills=3, horizon=4, out=inside)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["trian"], "unknown command 'trian'; did you mean 'train'?"),
        (["train"], "WORLD"),
        (["train", "fourrooms"], "did you mean 'four_rooms'?"),
        (["train", "empty", "--method", "aprt"], "did you mean 'apart'?"),
        (["train", "empty", "--skils", "3"], "unknown option '--skils'; did you mean '--skills'?"),
        (["train", "empty", "--lr", "1"], "unknown option '--lr'; did you mean '--learning-rate'?"),
        (["compare", "empty", "--horizon", "9"], "'--horizon' is an option of apart train, not of"),
        (["train", "empty", "--learning_rate", "1"], "did you mean '--learning-rate'?"),
        (["compare", "empty", "--lr", "1"], "unknown option '--lr' (see apart compare --help)"),
        (["train", "empty", "--steps", "5X"], "--steps: '5X' is not a whole number"),
        (["train", "empty", "--steps", "1e309"], "--steps: inf is not a whole number"),
        (["train", "empty", "--steps", "-5"], "--steps"),
        (["train", "empty", "--discount", "nan"], "--discount: nan is not a finite number"),
        (["train", "empty", "--seeds", "0"], "--seeds: 0 is outside 1"),
        (["train", "empty", "--threads", "x"], "--threads"),
        (["train", "empty", "--threads", "2", "--seeds", "2"], "--threads has no effect"),
        (["train", "empty", "--method", "vic", "--dropout"], "--dropout has no effect"),
        (["train", "empty", "--progress", "dots"], "--progress: 'dots' is not"),
        (["train", "empty", "--observation", "pixels"], "cannot read --observation pixels"),
        (["train", "empty", "--network", "cnn"], "convolutions read images, not --observation"),
        (["train", "empty", "--network", "mpl"], "unknown network 'mpl'; did you mean 'mlp'"),
        (["train", "empty", "--network", "mlp:3,-1"], "--network mlp:3,-1: '-1' is not a"),
        (["train", "empty", "extra"], "unexpected argument 'extra'"),
        (["train", "empty", "--device", "abacus"], "unknown device 'abacus'"),
        (["train", "empty", "--device", "tpu"], "--device tpu: JAX sees no such device here"),
        (["train", "empty", "--slip", "x"], "--slip: 'x' is not a number (such as 0.5 or 2e-3)"),
        (["train", "empty", "--threads", "x"], "--threads: 'x' is not a whole number (such as 4)"),
        (["train", "empty", "--skills", "ten"], "not a whole number (such as 200 or auto)"),
        (["train", "empty", "--seed", "9" * 20], f"{'9' * 20} is outside 0 to 2,147,483,647"),
        (["train", "empty", "--steps", "0"], "0 is outside 1 to 10,000,000,000,000"),
        (["sweep", "."], ".: a folder; name the file of a sweep"),
        (["compare", "empty", "--methods", "smerl"], "--method smerl needs a task, and empty has"),
        (["resume"], "DIR"),
        (["resume", "nowhere"], "nowhere: no such run folder"),
        (["resume", "."], "no run or set of runs"),
        (["resume", ".", "--steps", "x"], "--steps: 'x' is not a whole number"),
        (["bench", "--seconds", "soon"], "--seconds: 'soon' is not a number"),
    ],
)
def test_errors_are_one_line_with_exit_code_2_and_nothing_written(
    words, message, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    said = capsys.readouterr()
    lines = said.err.strip().split("\n")
    assert said.out == ""
    assert message in lines[-1]
    assert lines[-1].startswith("apart: ")
    assert list(tmp_path.iterdir()) == []


def test_a_finished_run_needs_overwrite(corridor, tmp_path, capsys):
    words = ["train", str(corridor), *TINY, "--out", str(tmp_path / "r"), "--no-draw"]
    assert main(words) == 0
    assert main(words) == 2
    assert "holds a finished run" in capsys.readouterr().err
    assert main([*words, "--overwrite"]) == 0


def test_list_names_everything(capsys):
    assert main(["list"]) == 0
    printed = capsys.readouterr().out
    for name in ("four_rooms", "tuned_vic", "min_pairs", "exponential"):
        assert name in printed
    heads = [line for line in printed.splitlines() if line and not line.startswith(" ")]
    assert "time-weights (--time-weight)" in heads
    assert "worlds (apart train WORLD)" in heads


def test_help_shows_every_hyper_parameter_with_its_default(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["train", "--help"])
    assert stop.value.code == 0
    printed = " ".join(capsys.readouterr().out.split())
    for text in ("--episodes-per-update", "(default 0.99)", "--dropout, --no-dropout", "min_pairs"):
        assert text in printed
    for text in ("--progress NAME", "(default off)", "table, linear, mlp or cnn,"):
        assert text in printed
    assert "False" not in printed


@pytest.mark.parametrize(
    ("text", "value"), [("5M", 5_000_000), ("200k", 200_000), ("1_000", 1000), ("1e3", 1000)]
)
def test_numbers_with_suffixes(text, value):
    assert number("--steps", text, whole=True) == value


@given(st.lists(st.text(max_size=8), max_size=4))
def test_any_words_end_with_a_code_and_one_line(words):
    if any(word in ("-h", "--help", "--version") for word in words) or words[:1] in (
        ["list"],
        ["bench"],
        [],
    ):
        return
    assert main(words) in (0, 2)


def run_cli(*words, **kwargs):
    command = [sys.executable, "-m", "apart", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **kwargs)


@pytest.mark.parametrize("words", [["--help"], ["list"], ["train", "nowhere"]], ids=" ".join)
def test_errors_and_help_do_not_wait_for_jax(words, tmp_path):
    """0.2 to 0.4 s of the processor; JAX alone takes longer. How long depends on the machine."""
    result = run_cli(*words, cwd=tmp_path, env={**os.environ, "PYTHONPROFILEIMPORTTIME": "1"})
    assert "Traceback" not in result.stderr
    lines = [line.split("|") for line in result.stderr.split("\n") if line.count("|") == 2]
    imported = {name.strip().split(".")[0] for _, _, name in lines}
    assert "apart" in imported
    assert imported.isdisjoint({"jax", "jaxlib", "optax", "scipy", "matplotlib", "ray"})
    assert min(seconds_of(["-m", "apart", *words]) for _ in range(2)) < 0.9 * jax_seconds()


@cache
def jax_seconds():
    """What it takes here to start Python with JAX."""
    return min(seconds_of(["-c", "import jax"]) for _ in range(2))


def seconds_of(words):
    """Seconds of processor time: other processes do not matter."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_seeds_get_folders_and_the_same_bits_as_alone(corridor, tmp_path):
    together, alone = tmp_path / "set", tmp_path / "alone"
    result = run_cli("train", corridor, *TINY, "--seeds", 2, "--seed", 5, "--out", together)
    assert result.returncode == 0, result.stderr
    summary = json.loads((together / "summary.json").read_text())
    assert [run["seed"] for run in summary["runs"]] == [5, 6]
    counts = [run["n_effective"] for run in summary["runs"]]
    assert summary["n_effective_mean"] == pytest.approx(sum(counts) / 2)
    assert summary["all_full"] == all(count == 3 for count in counts)
    assert "mean of 2 seeds" in result.stdout
    result = run_cli("train", corridor, *TINY, "--seed", 6, "--out", alone, "--threads", 2)
    assert result.returncode == 0, result.stderr
    assert bits(together / "seed-6") == bits(alone)
    assert bits(together / "seed-6") != bits(together / "seed-5")


def test_a_terminal_that_knows_only_ascii_gets_its_result(corridor, tmp_path):
    corridor.write_text("S..#..\n......\n")  # a wall, and cells without a skill
    around = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    words = ["train", corridor, *TINY, "--out", tmp_path / "run"]
    result = run_cli(*words, env={**os.environ, **around})
    assert result.returncode == 0, result.stderr
    assert "skills that end in each cell" in result.stdout


def bits(folder):
    """What must not differ between two runs of a seed: arrays by checksum, metrics, skills."""
    manifest = json.loads(next((folder / "checkpoints").glob("*.json")).read_text())
    rows = [line.split(",") for line in (folder / "metrics.csv").read_text().split("\n")]
    timeless = [row[:4] + row[5:] for row in rows]
    return manifest["arrays"], timeless, (folder / "skills.json").read_text()


@pytest.mark.parametrize("method", ["apart", *(["ap_average", "tuned_vic"] if NIGHTLY else [])])
def test_the_number_of_threads_does_not_touch_the_bits(method, tmp_path):
    words = ["train", "four_rooms", "--method", method, "--steps", 4000, "--no-draw", "--threads"]
    for n in (1, 2):
        result = run_cli(*words, n, "--out", tmp_path / str(n), env=as_users_run())
        assert result.returncode == 0, result.stderr
    assert bits(tmp_path / "1") == bits(tmp_path / "2")


STOPS = [(signal.SIGINT, 130, 1), (signal.SIGTERM, 143, 2)]
STOPS += [(signal.SIGTERM, 143, 1), (signal.SIGINT, 130, 2)] if NIGHTLY else []


@pytest.mark.parametrize(("number", "code", "seeds"), STOPS)
def test_a_signal_saves_and_exits_with_its_code(number, code, seeds, tmp_path, capsys):
    out = tmp_path / "run"
    command = [sys.executable, "-m", "apart", "train", "four_rooms", "--steps", "1G"]
    command += ["--method", "diayn", "--progress", "json", "--out", str(out)]
    command += ["--seeds", str(seeds)] if seeds > 1 else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline().startswith(b"{")
        process.send_signal(number)
        _, errors = process.communicate(timeout=600)
    assert process.returncode == code
    assert b"saved" in errors
    assert b"apart: stopping: saving the state" in errors
    assert f"'apart resume {out}'".encode() in errors.split(b"\n")[-2]
    assert b"Traceback" not in errors
    assert list(out.rglob("checkpoints/*.safetensors"))
    assert not (out / "summary.json").exists()
    assert main(["train", "four_rooms", "--out", str(out)]) == 2
    assert "unfinished run" in capsys.readouterr().err


@pytest.mark.parametrize("draw", [True, False])
def test_progress_as_json_is_drawn_too(draw, corridor, tmp_path, capsys):
    out = tmp_path / "run"
    told = ["--progress", "json", *([] if draw else ["--no-draw"])]
    for words, evaluated in (
        (["train", corridor, *TINY, "--out", out], {100, 200}),
        (["resume", out, "--steps", "400"], {300, 400}),
    ):
        assert main([*map(str, words), *told]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert json.loads(lines[-1])["env_steps"]
        shown = [json.loads(line) for line in lines]
        rows = {row["env_steps"]: row for row in apart.load(out).metrics}
        for measure in ("mean_reward", "discriminator_accuracy"):
            at = {line["env_steps"]: line[measure] for line in shown if line[measure] is not None}
            assert {*at} == evaluated
            assert at == pytest.approx({steps: rows[steps][measure] for steps in at}, abs=1e-4)
        assert all(line.startswith("{") for line in lines)
        assert (out / "skills.png").exists() == draw
        (out / "skills.png").unlink(missing_ok=True)


def test_cells_that_held_decisions_miss_are_not_promised(tmp_path, capsys):
    """Steps of three: from the left the third cell and the last, and back by threes from there."""
    map_file = tmp_path / "map.txt"
    map_file.write_text("S.......\n")
    held = ["--hold", "3", "--horizon", "6", "--steps", "200", "--skills", "3", "--buffer", "40"]
    assert main(["train", str(map_file), *held, "--out", str(tmp_path / "run"), "--no-draw"]) == 0
    note = "the farthest cell is 7 steps away; with --hold 3 --horizon auto reaches 6\n"
    assert note in capsys.readouterr().err


def test_few_skills_and_short_episodes_get_a_hint(tmp_path, capsys):
    map_file = tmp_path / "map.txt"
    map_file.write_text("S.....#.\n")
    words = ["train", str(map_file), *TINY, "--out", str(tmp_path / "run"), "--no-draw"]
    assert main(words) == 0
    printed = capsys.readouterr()
    assert "5 of 6 cells can be reached in an episode (1 more is walled off)" in printed.err
    assert "the farthest cell is 5 steps away; --horizon auto reaches it" in printed.err
    assert "3 skills for 5 cells: most will end near the start; --method apart_sp" in printed.err
    assert "of 3 possible skills after 200 steps" in printed.out
    assert "of 5 in reach" in printed.out
    measured = apart.load(tmp_path / "run").spread
    assert measured["ideal_radius"] == 1
    far = f"the farthest cell is {several(measured['radius'], 'step')} from the nearest skill's end"
    assert far in printed.out.split("\n")[1]
    assert printed.out.split("\n")[1].endswith(": 1)")
    assert printed.out.count("x") >= 2  # out of reach: too far, and walled off
    last = [line for line in printed.err.split("\n") if line.startswith("200 / 200")]
    found = json.loads((tmp_path / "run" / "summary.json").read_text())["n_effective"]
    assert f"{found} of 3 possible" in last[-1]  # what is shown at the end is what was found


def test_the_result_names_the_spread_and_random_actions_where_they_are_better(
    corridor, tmp_path, capsys
):
    run = apart.train(str(corridor), out=tmp_path / "run", steps=200, skills=3, horizon=4, batch=8)
    for walk, worse in ((run.n_effective + 0.5, True), (run.n_effective, False), (None, False)):
        found = {"n_random_walk": walk, "spread": {"radius": 24, "ideal_radius": 5}}
        tell(dataclasses.replace(run, summary={**run.summary, **found}), ())
        lines = capsys.readouterr().out.splitlines()
        assert ("fewer than random actions" in lines[1]) == worse
        assert worse == (f"({run.n_effective + 0.5:g})" in lines[1])
        assert re.search(r"farthest cell is 24 steps .*\b5\)", lines[1 + worse])
    learns_nothing = {**run.config, "updates_per_episode": 0}
    summary = {**run.summary, "n_random_walk": run.n_effective + 0.5}
    tell(dataclasses.replace(run, config=learns_nothing, summary=summary), ())
    assert "fewer than" not in capsys.readouterr().out


def test_the_last_lines_say_where_the_result_is_and_how_to_look_at_it(corridor, tmp_path, capsys):
    out = tmp_path / "a run"
    for _ in ("train", "draw"):
        assert main(["train", str(corridor), *TINY, "--out", str(out), "--overwrite"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[-3].endswith(str(out / "skills.png"))
        assert lines[-2].endswith(str(out))
        command, folder = lines[-1].split(": ")[1].split(" report ")
        assert (command, shlex.split(folder)) == ("apart", [str(out)])
    assert len(lines) < 24


@pytest.mark.parametrize(
    ("world", "cure"),
    [
        ("CartPole-v1", "gym:CartPole-v1"),
        ("CartPole-v1:max_episode_steps=50", "gym:CartPole-v1:max_episode_steps=50"),
        ("cartpole", "'gym:CartPole-v1'"),
        ("ALE/Pong-v5", "gym:ALE/Pong-v5"),
        ("mine:Puck-v0", "gym:mine:Puck-v0"),
        ("Puck-v0", "gym:MODULE:Puck-v0"),
        ("gym:Puck-v0", "gym:MODULE:Puck-v0"),
        ("table:gym:Puck-v0", "table:gym:MODULE:Puck-v0"),
        ("gym:os:Puck-v0", "os does not register it"),
        ("gym:CartPol-v1", "did you mean 'CartPole-v1'?"),
        ("xyzzy", "'apart list worlds'"),
    ],
)
def test_an_environment_that_is_no_world_is_told_how_it_is_written(world, cure, capsys):
    pytest.importorskip("gymnasium", reason="the extra gym is not installed")
    assert main(["train", world]) == 2
    said = capsys.readouterr().err
    assert cure in said
    assert len(said) < 160  # not the names of all maps


def test_a_task_on_the_map_is_told(tmp_path, capsys):
    map_file = tmp_path / "task.txt"
    map_file.write_text("; horizon 6\n..9\nS#9\n..9\n##.\n")
    words = ["train", str(map_file), "--method", "smerl", "--skills", "2", "--steps", "200"]
    assert main([*words, "--out", str(tmp_path / "run"), "--no-draw"]) == 0
    printed = capsys.readouterr()
    assert "note:" not in printed.err  # they are to solve the task, not to spread
    task = json.loads((tmp_path / "run" / "summary.json").read_text())["task"]
    best = max(task["returns"])
    line = next(line for line in printed.out.splitlines() if "task:" in line)
    assert [word for word in line.split() if word.isdecimal()] == [
        f"{task['mean']:g}",
        f"{best:g}",
        "36",
    ]
    assert ", * worth points):" in printed.out
    assert [line[5:6] for line in printed.out.split("\n\n")[1].splitlines()[-4:]] == [*"***", ""]
    assert main(["check", str(map_file)]) == 0
    said = capsys.readouterr().out
    assert "task          3 cells with points; an episode earns at most 36" in said
    line = next(line for line in said.splitlines() if line.startswith("for the task"))
    method = line.split("--method ")[1].split()[0]
    assert needs_task(method)


def test_who_learns_nothing_is_told_so(corridor, tmp_path, capsys):
    small = ["--skills", "3", "--horizon", "4", "--steps", "40", "--no-draw"]
    for method, more, told in (
        ("apart_plus", ["--updates-per-episode", "0"], True),
        ("random_walk", [], False),
    ):
        words = ["train", str(corridor), "--method", method, *small, *more]
        assert main([*words, "--out", str(tmp_path / method)]) == 0
        assert ("nothing is learned" in capsys.readouterr().err) == told


def test_check_says_what_is_walled_off(tmp_path, capsys):
    map_file = tmp_path / "map.txt"
    map_file.write_text("S.#..\n")
    assert main(["check", str(map_file)]) == 0
    said = capsys.readouterr().out
    assert "places        2 cells (2 more are walled off); skills are counted: exact" in said
    assert "the farthest cell is 1 step away" in said


def test_help_shows_the_defaults_of_the_method_that_is_named(capsys):
    for words, steps in ((["--method", "apart_plus"], 200_000), (["--method=vic"], 5_000_000)):
        with pytest.raises(SystemExit):
            main(["train", *words, "--help"])
        printed = " ".join(capsys.readouterr().out.split())
        assert f"(default {steps})" in printed
        for group in ("common options:", "objective", "learning:", "networks"):
            assert group in printed
    for where, steps, hold in (
        ("maze:u", "from the world", "about T / 50"),
        ("empty", 200_000, "1"),
    ):
        with pytest.raises(SystemExit):
            main(["train", where, "--method", "metra", "--help"])
        printed = " ".join(capsys.readouterr().out.split())
        assert f"(default {steps})" in printed
        assert f"decides T / N times (default {hold})" in printed


def test_one_list_at_a_time(capsys):
    assert main(["list", "worlds"]) == 0
    printed = capsys.readouterr().out
    assert "(85 cells, T = 40)" in printed
    assert "tuned_vic" not in printed
    assert main(["list", "world"]) == 2
    assert "did you mean 'worlds'" in capsys.readouterr().err


def test_the_first_line_of_progress_comes_after_seconds_not_minutes(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    lines = progress.Lines(stream := io.StringIO())
    at = progress.Progress(1, 1000, 0, 85, 0.0, 100)
    for seconds, speed in ((6, 0.0), (7, 5.0), (13, 5.0), (50, 5.0), (74, 5.0)):
        now[0] = float(seconds)
        lines(at._replace(steps_per_second=speed))
    assert len(stream.getvalue().splitlines()) == 2
