"""Run folders that rotted, were edited or made to harm: an error or the last good state, said.

Never a traceback, a hang, much memory, or a step outside the folder.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sys
import time
import tracemalloc
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from conftest import NIGHTLY
from mutate import Mutator
from torture import ending

import apart
from apart._errors import NonFinite, RunInterrupted, UserError
from apart.running import clock
from apart.running import run as host
from apart.runs import checkpoint
from apart.runs import folder as run_folder
from apart.runs import plan as setup
from apart.runs.lock import Lock

WORLD = apart.parse_map("S..\n.#.\n...", "ring")
OPTIONS = {"steps": 400, "skills": 5, "horizon": 6, "batch": 16, "evaluate_every": 36}
OPTIONS |= {"buffer": 60, "method": "apart"}
CASES = 10_000 if NIGHTLY else 500
SHARDS = 4  # so that several processes can share the work


class Guard:
    """While `watching`, raises on code run, processes, sockets, and files outside the folder."""

    FORBIDDEN = ("exec", "compile", "subprocess.", "os.system", "os.exec", "os.posix_spawn")
    FORBIDDEN += ("os.fork", "socket.", "pickle.", "marshal.", "ctypes.", "import")
    FILES = ("open", "os.listdir", "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link")
    FILES += ("os.truncate", "os.symlink", "os.scandir", "shutil.")

    def __init__(self):
        self.watching: str | None = None
        self.seen: list[str] = []
        sys.addaudithook(self)  # for the life of the process; idle unless watching

    def __call__(self, event, arguments):
        if self.watching is None:
            return
        if event.startswith(self.FORBIDDEN):
            self.seen.append(f"{event} {arguments!r}"[:300])
        elif event.startswith(self.FILES):
            for path in arguments[:2]:
                if isinstance(path, (str, bytes, os.PathLike)):
                    text = os.path.abspath(os.fsdecode(path))
                    if os.sep in os.fsdecode(path) and not text.startswith(self.watching):
                        self.seen.append(f"{event} {text}")


GUARD = Guard()


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    """A run with two checkpoints that was stopped, another seed of it, and both finished."""
    root = tmp_path_factory.mktemp("bases")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host, "_SLICE_SECONDS", 0.0)
        patch.setattr(clock, "SAVE_SECONDS", 0.0)
        patch.setattr(clock, "SAVE_SHARE", 1e9)
        patch.setattr(os, "fsync", lambda descriptor: None)
        for seed, name in enumerate(("stopped", "other")):
            seen = []

            def stop(progress, seen=seen):
                seen.append(progress)
                if len(seen) == 40:
                    os.kill(os.getpid(), signal.SIGINT)

            with pytest.raises(RunInterrupted):
                apart.train(WORLD, out=root / name, seed=seed, listener=stop, **OPTIONS)
    for name in ("finished", "other-finished"):
        shutil.copytree(root / {"finished": "stopped"}.get(name, "other"), root / name)
        apart.resume(root / name)
    assert len(checkpoint.manifests(root / "stopped" / run_folder.CHECKPOINTS)) == 2
    return root


def read(folder):
    """All that `apart resume` and `apart.load` read before they do anything; and what is said."""
    with Lock(folder):
        plan = setup.read(setup.folder_of_run(folder), None)
        if plan.finished:
            return (plan.config, *everything(folder)), []
        saved = host.last_state(folder, plan)
        said = setup.differences(folder, saved, host._versions()["versions"], 1)
        arrays = saved and {name: value.tobytes() for name, value in saved.arrays.items()}
        at = saved and saved.iteration
        return (plan.config, at, arrays), said


def good_states(folder):
    """What may come out: all there was, the newest state, the one before, or a new beginning."""
    copy = folder.with_name(f"{folder.name} again")
    shutil.copytree(folder, copy)
    found = [read(copy)[0]]
    (copy / run_folder.SUMMARY).unlink(missing_ok=True)
    for manifest in reversed(checkpoint.manifests(copy / run_folder.CHECKPOINTS)):
        found.append(read(copy)[0])
        checkpoint.remove(manifest)
    found.append(read(copy)[0])
    shutil.rmtree(copy)
    return found


@pytest.mark.parametrize("shard", range(SHARDS))
@pytest.mark.parametrize(("base", "other"), [("stopped", "other"), ("finished", "other-finished")])
def test_damage_gives_an_error_or_the_last_good_state(shard, base, other, bases, tmp_path):
    good = good_states(bases / base)
    n_files = sum(p.is_file() for p in (bases / base).rglob("*"))
    assert n_files > 6
    outcomes = Counter()
    for number in range(CASES // 2 // SHARDS):
        rng = random.Random(f"{base} {shard} {number}")
        folder = tmp_path / str(number)
        shutil.copytree(bases / base, folder)
        mutator = Mutator(rng, bases / other)
        kinds = [mutator.mutate(folder) for _ in range(rng.choice([1, 1, 1, 2, 3]))]
        size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
        outcomes[judge(folder, kinds, good, size, (base, shard, number))] += 1
        shutil.rmtree(folder)
    assert outcomes["error"] > 0
    if base == "stopped":
        assert outcomes["fell back"] > 0


class Enough(Exception):
    pass


def soon():
    """A listener that ends a run, which may be far too long, when it has trained a little."""
    slices = 0

    def listen(progress):
        nonlocal slices
        slices += 1
        if slices > 3:
            raise Enough

    return listen


def judge(folder, kinds, good, size, case):
    watch = tracemalloc.is_tracing()
    if not watch:
        tracemalloc.start()
    began = time.thread_time()  # of the processor: others may be busy
    GUARD.seen.clear()
    GUARD.watching = str(folder)
    try:
        found, said = read(folder)
    except UserError as error:
        found, said = None, [str(error)]
        assert "Traceback" not in str(error), case
    finally:
        GUARD.watching = None
        seconds = time.thread_time() - began
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert not GUARD.seen, (case, kinds, GUARD.seen)
    assert seconds < 5, (case, kinds, seconds)
    assert peak < 2 * size + 10_000_000, (case, kinds, peak, size)
    if found is None:
        return "error"
    if any(kind.startswith(("forged", "another_versions")) for kind in kinds):
        # Whoever can seal can lie, say about how long to train; but not crash us.
        with contextlib.suppress(UserError, NonFinite, Enough):
            apart.resume(folder, warn=lambda line: None, listener=soon())
        return "forged"
    assert found in good, (case, kinds)
    if found in (good[0], good[-3]):
        return "same"  # at most a lost summary: it will be written again
    assert said or len(kinds) > 1, (case, kinds)  # all of a checkpoint gone: nothing to tell
    return "fell back"


def test_some_damaged_runs_go_on_to_the_right_end(bases, tmp_path):
    """Not only reads: training goes on, and nothing outside of the folder is touched."""
    whole = ending(bases / "finished")
    before = {p: p.read_bytes() for p in (bases / "other").rglob("*") if p.is_file()}
    ends = Counter()
    for number in range(400 if NIGHTLY else 40):
        rng = random.Random(f"goes on {number}")
        folder = tmp_path / str(number)
        shutil.copytree(bases / "stopped", folder)
        kind = Mutator(rng, bases / "other").mutate(folder)
        try:
            apart.resume(folder, warn=lambda line: None)
        except UserError:
            ends["error"] += 1
            continue
        if not kind.startswith(("forged", "another_versions")):
            assert ending(folder) == whole, (number, kind)
        ends["went on"] += 1
    assert min(ends["error"], ends["went on"]) > 3
    assert before == {p: p.read_bytes() for p in before}


def test_reading_a_large_checkpoint_takes_at_most_twice_its_size(tmp_path):
    arrays = {name: np.ones((1_000_000,), np.float32) for name in "abcdefgh"}
    checkpoint.save(tmp_path, 1, arrays, {"config_sha256": "x"})
    tracemalloc.start()
    assert checkpoint.load(tmp_path, arrays, "x").iteration == 1
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2.05 * 32e6


def test_the_guard_sees_what_it_must(tmp_path):
    GUARD.seen.clear()
    GUARD.watching = str(tmp_path)
    try:
        (tmp_path / "inside").write_text("fine")
        assert GUARD.seen == []
        Path("/etc/hostname").exists()
        exec("1 + 1")
        with open("/etc/passwd"):
            pass
    finally:
        GUARD.watching = None
    assert any(event.startswith("exec") for event in GUARD.seen)
    assert any(event == "open /etc/passwd" for event in GUARD.seen)


def test_a_finished_run_that_was_changed_is_refused_when_it_is_read(bases, tmp_path):
    for name in (
        run_folder.SUMMARY,
        run_folder.SKILLS,
        run_folder.METRICS,
        run_folder.DETAILS,
        run_folder.HISTORY,
        run_folder.CONFIG,
    ):
        folder = tmp_path / name
        shutil.copytree(bases / "finished", folder)
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data.replace(b"1", b"2", 1))
        with pytest.raises(UserError, match="does not match its checksum"):
            everything(folder)
    other = bases / "other-finished" / run_folder.SUMMARY
    shutil.copytree(bases / "finished", tmp_path / "swapped")
    shutil.copy(other, tmp_path / "swapped" / run_folder.SUMMARY)
    with pytest.raises(UserError, match=r"summary.json: .*another configuration"):
        everything(tmp_path / "swapped")
    shutil.copy(bases / "finished" / run_folder.SUMMARY, tmp_path / "swapped")
    shutil.copy(other.with_name(run_folder.SKILLS), tmp_path / "swapped")
    with pytest.raises(UserError, match=r"skills.json: .*another configuration"):
        everything(tmp_path / "swapped")


def everything(folder):
    run = run_folder.load(folder)  # as it is stored: `apart.load` makes lost skills again
    return run.summary, run.skills, run.metrics, run.details, run.history
