"""A run that was stopped, however rudely, ends with the bits of one that never was."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torture
from conftest import NIGHTLY, as_users_run
from torture import ending as result

import apart
from apart._errors import RunInterrupted, UserError
from apart.cli import main
from apart.running import clock
from apart.running import run as host
from apart.runs import checkpoint, files
from apart.runs import folder as run_folder
from apart.runs.lock import Lock

MAP = "S..\n.#.\n..."
WORLD = apart.parse_map(MAP, "ring")
SMALL = {"steps": 1200, "skills": 5, "horizon": 6, "evaluate_every": 96}
SAMPLED = {"batch": 16, "buffer": 200}
CASES = {
    "apart": {"method": "apart", **SAMPLED},
    "apart_plus": {"method": "apart_plus"},
    "apart_logits": {"method": "apart_logits", **SAMPLED, "buffer": 90},
    "apart_spread": {"method": "apart_spread"},
    "several": {"method": "diayn", **SAMPLED, "target_period": 7, "average_rate": 0.1},
    "rarely": {"method": "vic", **SAMPLED, "buffer": 600, "episodes_per_update": 4},
    "mlp": {"method": "diayn", "network": "mlp:8+bias", **SAMPLED},
    "published": {
        "method": "apart",
        "reading": "published",
        "episodes_per_update": 4,
        **SAMPLED,
        "buffer": 600,
    },
}


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """The result of a case that was never stopped, trained once."""
    known = {}

    def of(case, **more):
        key = (case, *sorted(more.items()))
        if key not in known:
            path = tmp_path_factory.mktemp(case) / "run"
            apart.train(WORLD, out=path, **{**SMALL, **CASES[case], **more})
            known[key] = result(path)
        return known[key]

    return of


def stopping_after(n, number=signal.SIGINT):
    """A listener that sends this process a signal at the n-th slice."""
    seen = 0

    def listen(progress):
        nonlocal seen
        seen += 1
        if seen == n:
            os.kill(os.getpid(), number)

    return listen


@pytest.mark.parametrize("case", CASES)
def test_stopped_twice_and_resumed_it_ends_the_same(case, tmp_path, unbroken, monkeypatch):
    monkeypatch.setattr(host, "_SLICE_SECONDS", 0.0)  # one round a slice
    path = tmp_path / "run"
    with pytest.raises(RunInterrupted) as stopped:
        apart.train(WORLD, out=path, listener=stopping_after(7), **{**SMALL, **CASES[case]})
    assert stopped.value.signal_number == signal.SIGINT
    assert not (path / run_folder.SUMMARY).exists()
    with pytest.raises(RunInterrupted):
        apart.resume(path, listener=stopping_after(12, signal.SIGTERM))
    done = apart.resume(path)
    assert result(path) == unbroken(case)
    assert done.n_effective == apart.load(path).n_effective


def test_python_and_the_command_line_say_when_there_is_nothing_to_do(tmp_path, capsys):
    path = tmp_path / "run"
    apart.train(WORLD, out=path, **{**SMALL, **CASES["apart"]})
    before = (path / run_folder.SUMMARY).read_bytes()
    assert apart.resume(path).path == path
    assert main(["resume", str(path)]) == 0
    said = capsys.readouterr().out
    assert "already finished" in said
    assert "--steps N trains longer" in said
    assert main(["resume", str(path), "--progress", "json"]) == 0
    told = capsys.readouterr()
    assert told.out == ""  # JSON lines alone
    assert "already finished" in told.err
    assert (path / run_folder.SUMMARY).read_bytes() == before


def test_longer_training_goes_on_and_equals_a_long_run(tmp_path, unbroken):
    path = tmp_path / "run"
    apart.train(WORLD, out=path, **{**SMALL, **CASES["apart"]})
    done = apart.resume(path, steps=2000)
    assert done.summary["env_steps"] == 2004
    assert result(path) == unbroken("apart", steps=2000)
    with pytest.raises(UserError, match="was started for 2000 steps already"):
        apart.resume(path, steps=100)


@pytest.mark.parametrize("steps", [1200, 1150])  # the last evaluation on the grid, and off it
def test_longer_training_survives_a_kill_before_its_first_save(steps, tmp_path, unbroken):
    path, options = tmp_path / "run", {**SMALL, **CASES["apart"], "steps": steps}
    apart.train(WORLD, out=path, **options)

    def die(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        apart.resume(path, steps=2000, listener=die)
    assert not apart.load(path).finished
    apart.resume(path)
    assert result(path) == unbroken("apart", steps=2000)


def test_falling_rates_cannot_be_stretched(tmp_path):
    path = tmp_path / "run"
    apart.train(WORLD, out=path, **{**SMALL, **CASES["apart_plus"]})
    with pytest.raises(UserError, match=r"at step 1200.*train a new run"):
        apart.resume(path, steps=2000)


def test_stages_cannot_be_stretched(tmp_path, capsys):
    path = tmp_path / "run"
    apart.train(WORLD, method="edl", skills=3, steps=120, evaluate_every=60, out=path)
    with pytest.raises(UserError, match=r"objective 'edl' .* 120 steps"):
        apart.resume(path, steps=240)
    assert main(["resume", str(path)]) == 0
    assert "already finished\n" in capsys.readouterr().out  # offers no longer run


def test_a_set_goes_on_where_it_stopped(tmp_path, capsys):
    map_file = tmp_path / "ring.txt"
    map_file.write_text(MAP)
    words = [str(map_file), "--method", "diayn", "--seeds", "3", "--no-draw", "--steps", "1200"]
    words += "--skills 5 --horizon 6 --batch 16 --buffer 200 --evaluate-every 96".split()
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert main(["train", *words, "--out", str(whole)]) == 0
    shutil.copytree(whole, broken)
    # As if killed: one seed not begun, one in the middle, one done; no aggregate.
    (broken / run_folder.SUMMARY).unlink()
    for n in (1, 2):
        (broken / f"seed-{n}" / run_folder.SUMMARY).unlink()
        (broken / f"seed-{n}" / run_folder.SKILLS).unlink()
    for name in run_folder.LOGS:
        (broken / "seed-1" / name).unlink()
    for path in checkpoint.manifests(broken / "seed-1" / run_folder.CHECKPOINTS):
        checkpoint.remove(path)
    capsys.readouterr()
    assert main(["resume", str(broken), "--no-draw"]) == 0
    assert "mean of 3 seeds" in capsys.readouterr().out
    for n in range(3):
        assert result(broken / f"seed-{n}") == result(whole / f"seed-{n}")
    strip = ("wall_seconds", "train_seconds", "compile_seconds", "env_steps_per_second")
    sets = [files.read_sealed(p / run_folder.SUMMARY) for p in (whole, broken)]
    for one in sets:
        for summary in one["runs"]:
            for name in (*strip, "save_seconds", "peak_rss_mb", "logs"):
                del summary[name]
    assert sets[0] == sets[1]


def test_a_second_interrupt_ends_a_save_at_once(tmp_path, unbroken):
    path = tmp_path / "run"
    code = f"""
import os, sys, time, apart
from apart.runs import checkpoint
from apart.running import run as host
host._SLICE_SECONDS = 0.0
def slowly(descriptor, plain=os.fsync):
    print("saving", flush=True)
    time.sleep(900)
os.fsync = lambda descriptor: None
seen = []
def listen(progress):
    seen.append(progress)
    if len(seen) == 9:
        os.fsync = slowly
        os.kill(os.getpid(), 2)
apart.train(apart.parse_map({MAP!r}, "ring"), out={str(path)!r}, listener=listen,
            **{ {**SMALL, **CASES["apart"]}!r})
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"saving\n"
        time.sleep(0.8)  # later than what a wrapper sends twice at once
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=300) == 130
    assert checkpoint.manifests(path / run_folder.CHECKPOINTS) == []
    apart.resume(path, warn=lambda line: None)
    assert result(path) == unbroken("apart")


def test_surroundings_do_not_touch_the_bits(tmp_path, monkeypatch):
    """Locale, time zone, hash seed, folder: all other at once."""
    map_file = tmp_path / "ring.txt"
    map_file.write_text(MAP)
    words = f"-m apart train {map_file} --steps 600 --skills 5 --horizon 6 --batch 16 --no-draw"
    words += " --buffer 200 --evaluate-every 96 --seed 3 --progress none --out"
    found = []
    for name, around in (
        ("one", {"LC_ALL": "C", "TZ": "UTC", "PYTHONHASHSEED": "1"}),
        ("two/deep", {"LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "77"}),
    ):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        command = [sys.executable, *words.split(), "run"]
        subprocess.run(command, check=True, cwd=folder, env={**as_users_run(), **around})
        found.append(result(folder / "run"))
    assert found[0] == found[1]


# Killed in the middle -----------------------------------------------------------------------------


class Planned(random.Random):
    """Chance, but for the way to die."""

    phase = "before"

    def choice(self, phases):
        assert self.phase in phases
        return self.phase

    def uniform(self, low, high):
        return super().uniform(low, min(high, 3.0))  # later a small run has often ended


@pytest.mark.parametrize("case", ["apart", "apart_plus", "mlp", "three seeds"])
def test_killed_anywhere_in_a_save_it_ends_the_same(case, tmp_path, monkeypatch):
    """Kill -9 before or after file operations of all kinds, again and again on one run."""
    monkeypatch.setattr(torture, "CACHE", {})  # that of the tests
    rng = Planned(len(case))
    options = {**torture.SMALL, **torture.CASES[case]}
    if "seeds" in options and not NIGHTLY:
        options["seeds"] = 2
    path, whole = tmp_path / "run", tmp_path / "whole"
    for phase in ("before", "after", "any moment") * (4 if NIGHTLY else 1):
        rng.phase, died = phase, False
        while not died:
            if (path / run_folder.SUMMARY).exists():
                path = path.with_name(path.name + "x")
            died = torture.kill_once(path, options, rng)
    for attempt in range(100):  # a seed whose parent was killed may live a moment
        try:
            torture.begin_or_go_on(path, options)
            break
        except UserError as error:
            if "in use by" not in str(error) or attempt == 99:
                raise
            time.sleep(0.3)
    seeds = options.pop("seeds", 0)
    for seed in range(seeds):  # alone, in this process
        torture.begin_or_go_on(whole / f"seed-{seed}", {**options, "seed": seed})
    if not seeds:
        torture.begin_or_go_on(whole, options)
    assert torture.endings(path) == torture.endings(whole)


# Damage -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stopped_once(tmp_path_factory):
    """A run with two checkpoints, stopped in the middle."""
    path = tmp_path_factory.mktemp("stopped") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host, "_SLICE_SECONDS", 0.0)
        patch.setattr(clock, "SAVE_SECONDS", 0.0)
        patch.setattr(clock, "SAVE_SHARE", 1e9)
        with pytest.raises(RunInterrupted):
            apart.train(WORLD, out=path, listener=stopping_after(60), **{**SMALL, **CASES["apart"]})
    assert len(checkpoint.manifests(path / run_folder.CHECKPOINTS)) == 2
    return path


@pytest.fixture
def stopped(stopped_once, tmp_path):
    """A copy of it, to be damaged."""
    return shutil.copytree(stopped_once, tmp_path / "stopped")


def newest(path):
    return checkpoint.manifests(path / run_folder.CHECKPOINTS)[-1]


def flip(path):
    data = bytearray(path.read_bytes())
    data[-5] ^= 1
    path.write_bytes(bytes(data))


DAMAGE = {
    "a flipped bit": lambda p: flip(newest(p).with_suffix(".safetensors")),
    "a short file": lambda p: os.truncate(newest(p).with_suffix(".safetensors"), 200),
    "an empty file": lambda p: os.truncate(newest(p).with_suffix(".safetensors"), 0),
    "no arrays": lambda p: newest(p).with_suffix(".safetensors").unlink(),
    "a torn manifest": lambda p: os.truncate(newest(p), 40),
    "another format": lambda p: newest(p).write_text('{"format": 99}'),
    "a link": lambda p: (
        newest(p).unlink(),
        newest(p).with_name("iteration-999999999999.json").symlink_to("/etc/passwd"),
    ),
    "a pipe": lambda p: os.mkfifo(p / run_folder.CHECKPOINTS / "iteration-999999999999.json"),
    "a huge shape": lambda p: (
        newest(p)
        .with_suffix(".safetensors")
        .write_bytes(
            (head := b'{"x":{"dtype":"F32","shape":[99999999999],"data_offsets":[0,4]}}')
            .__len__()
            .to_bytes(8, "little")
            + head
            + b"1234"
        )
    ),
    "swapped arrays": lambda p: (
        newest(p)
        .with_suffix(".safetensors")
        .write_bytes(
            checkpoint.manifests(p / run_folder.CHECKPOINTS)[0]
            .with_suffix(".safetensors")
            .read_bytes()
        )
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_checkpoint_is_passed_over_and_said(damage, stopped, unbroken):
    DAMAGE[damage](stopped)
    said = []
    apart.resume(stopped, warn=said.append)
    assert result(stopped) == unbroken("apart")
    if damage != "a link":
        assert any("skipped" in line for line in said), said


def test_without_any_whole_checkpoint_it_says_so_and_changes_nothing(stopped):
    for path in checkpoint.manifests(stopped / run_folder.CHECKPOINTS):
        flip(path.with_suffix(".safetensors"))
    before = {p: p.read_bytes() for p in stopped.rglob("*") if p.is_file() and p.name != ".lock"}
    with pytest.raises(UserError, match="no usable checkpoint"):
        apart.resume(stopped)
    assert before == {p: p.read_bytes() for p in before}


def test_what_was_being_written_by_a_run_that_was_killed_is_removed(stopped, unbroken):
    states = stopped / run_folder.CHECKPOINTS
    left = [stopped / ".summary.json.7.tmp", states / ".iteration-000000000001.safetensors.7.tmp"]
    for path in (*left, stopped / ".skills.png.7.tmp"):
        path.write_bytes(b"{")
    apart.resume(stopped, warn=lambda line: None)
    assert [path for path in left if path.exists()] == []
    assert (stopped / ".skills.png.7.tmp").exists()  # somebody may be drawing it
    assert result(stopped) == unbroken("apart")


def test_a_torn_row_is_dropped(stopped, unbroken):
    with (stopped / run_folder.METRICS).open("ab") as file:
        file.write(b"99999,12,3")
    apart.resume(stopped)
    assert result(stopped) == unbroken("apart")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c["config"].update(skills=7), "config_sha256 does not match"),
        (lambda c: c["world"].update(map=["...", "...", "..S"]), "config_sha256 does not match"),
        (lambda c: c["config"].update(skills=-7), "skills=-7 is outside"),
        (lambda c: c["config"].update(reward="none"), "unknown reward"),
        (lambda c: c["config"].pop("batch"), "config_sha256 does not match"),
        (lambda c: c["world"].update(kind="sphere"), "unknown kind of world 'sphere'"),
        (lambda c: c.pop("world"), "not the configuration of a run"),
        (lambda c: c.update(format="new"), "written by a later version"),
        (lambda c: c.update(format=True), "written by a later version"),
        (lambda c: c["world"].update(slip=10**400), "slip is not a number from 0 to 1"),
        (lambda c: c["world"].update(map=["; horizon " + "9" * 5000, "S."]), "give a number from"),
        (lambda c: c["config"].update(extra=1), "unknown option 'extra'"),
        (lambda c: c["world"].update(map=["..", "S"]), "make all lines equally long"),
        (lambda c: c["world"].update(map=[1]), "the map is not lines of text"),
        (lambda c: c.update(config=[]), "not the configuration of a run"),
    ],
)
def test_an_edited_configuration_is_refused(stopped, change, message):
    stored = files.read_sealed(stopped / run_folder.CONFIG)
    change(stored)
    (stopped / run_folder.CONFIG).write_text(json.dumps(stored))
    with pytest.raises(UserError, match="does not match its checksum"):
        apart.resume(stopped)
    files.write_sealed(stopped / run_folder.CONFIG, stored)  # by someone who knows how
    with pytest.raises(UserError, match=message):
        apart.resume(stopped)


def test_other_versions_and_threads_are_said(stopped):
    manifest = files.read_sealed(newest(stopped))
    manifest["versions"]["jax"], manifest["threads"] = "0.0.1", 77
    files.write_sealed(newest(stopped), manifest)
    said = []
    apart.resume(stopped, warn=said.append)
    assert any("saved with jax 0.0.1" in line for line in said)
    assert any("saved with 77 threads" in line for line in said)


def test_two_processes_cannot_write_one_run(stopped):
    with Lock(stopped), pytest.raises(UserError, match=f"in use by process {os.getpid()} on"):
        apart.resume(stopped)
    with Lock(stopped), pytest.raises(UserError, match="in use by process"):
        apart.train(WORLD, out=stopped, overwrite=True, **{**SMALL, **CASES["apart"]})
    assert (stopped / run_folder.CONFIG).exists()


def test_the_lock_of_a_dead_process_is_recovered(stopped, unbroken):
    code = (
        "import os, pathlib; from apart.runs.lock import Lock; "
        f"Lock(pathlib.Path({str(stopped)!r})); os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    apart.resume(stopped)
    assert result(stopped) == unbroken("apart")


@pytest.mark.parametrize("saves", [False, True])
def test_numbers_that_overflow_stop_the_run_within_a_slice(saves, tmp_path, capsys, monkeypatch):
    if saves:
        monkeypatch.setattr(host, "_SLICE_SECONDS", 0.0)
        monkeypatch.setattr(clock, "SAVE_SECONDS", 0.0)
        monkeypatch.setattr(clock, "SAVE_SHARE", 1e9)
        monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    else:
        monkeypatch.setattr(clock, "SAVE_SECONDS", 1e9)  # however slow this machine is
    path, map_file = tmp_path / "run", tmp_path / "ring.txt"
    map_file.write_text(MAP)
    words = ["train", str(map_file), "--out", str(path), "--progress", "none", "--no-draw"]
    words += "--skills 5 --horizon 6 --batch 16 --buffer 200 --evaluate-every 96".split()
    words += "--learning-rate 900 --discount 1 --q-rule plain --bootstrap-last".split()
    assert main([*words, "--steps", "120k"]) == 3
    line = capsys.readouterr().err.strip().split("\n")[-1]
    assert "parameters became non-finite before step" in line
    assert not (path / run_folder.SUMMARY).exists()
    if not saves:
        assert "no checkpoint had been written yet" in line
        return
    assert f"the last good checkpoint is {newest(path)}" in line
    arrays = torture.load_file(newest(path).with_suffix(".safetensors"))
    assert all(np.isfinite(a).all() for a in arrays.values() if a.dtype.kind == "f")


def test_a_manifest_says_what_it_was_made_with(stopped):
    manifest = files.read_sealed(newest(stopped))
    assert set(manifest) >= {"format", "config_sha256", "threads", "versions", "arrays", "logs"}
    assert set(manifest["versions"]) >= {"apart", "python", "jax", "jaxlib", "numpy", "optax"}


def test_numbers_that_only_overflow_when_evaluated_are_caught_too(tmp_path, capsys):
    map_file = tmp_path / "ring.txt"
    map_file.write_text(MAP)
    words = ["train", str(map_file), "--out", str(tmp_path / "run"), "--progress", "none"]
    words += ["--network", "mlp:" + ",".join(["64"] * 16), "--method", "diayn"]
    words += "--learning-rate 1000 --discriminator-learning-rate 1000 --steps 6 --horizon 6".split()
    words += "--skills 4 --batch 16 --buffer 60".split()
    assert main(words) == 3
    assert "non-finite" in capsys.readouterr().err


def test_a_finished_run_that_was_damaged_is_not_called_finished(tmp_path, capsys):
    path = tmp_path / "run"
    apart.train(WORLD, out=path, **{**SMALL, **CASES["apart"]})
    assert main(["resume", str(path), "--progress", "nonsense"]) == 2
    (path / run_folder.METRICS).unlink()
    assert main(["resume", str(path)]) == 2
    assert "metrics.csv: cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("case", ["apart", "mlp", "random_walk"])
def test_a_lost_file_of_skills_is_made_again_with_the_same_bytes(case, tmp_path, capsys):
    path, options = tmp_path / "run", CASES.get(case, {"method": case})
    run = apart.train(WORLD, out=path, **{**SMALL, **options})
    assert run.skills
    before = {p: p.read_bytes() for p in path.rglob("*") if p.is_file()}
    file = path / run_folder.SKILLS
    file.write_bytes(before[file].replace(b"1", b"2", 1))
    with pytest.raises(UserError, match=r"checksum.*remove it, and 'apart resume .*run' makes it"):
        _ = apart.load(path).skills
    file.unlink()
    assert apart.load(path).skills == run.skills  # from the checkpoint; nothing is written
    assert not file.exists()
    assert main(["resume", str(path), "--no-draw"]) == 0
    assert {p: p.read_bytes() for p in before} == before
    assert "skills.json: was missing" in capsys.readouterr().err
    file.unlink()
    flip(newest(path).with_suffix(".safetensors"))
    with pytest.raises(UserError, match="no usable checkpoint"):
        apart.resume(path)
    shutil.rmtree(path / run_folder.CHECKPOINTS)
    with pytest.raises(UserError, match=r"skills.json: is missing, and no checkpoint"):
        apart.resume(path)
    with pytest.raises(UserError, match=r"skills.json: cannot be read [^;]*$"):
        _ = apart.load(path).skills


def test_a_terminal_that_is_gone_does_not_lose_the_state(tmp_path):
    """SIGTERM after the reader of standard error went away: the state is saved all the same."""
    path = tmp_path / "run"
    command = [sys.executable, "-m", "apart", "train", "four_rooms", "--method", "diayn"]
    command += ["--steps", "1G", "--progress", "json", "--out", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline().startswith(b"{")
        process.stderr.close()
        process.send_signal(signal.SIGTERM)
        while process.stdout.read(65536):
            pass
        process.wait(timeout=300)
    assert checkpoint.manifests(path / run_folder.CHECKPOINTS)
