"""Every file operation may fail, or be the last: what was whole stays whole, a line says so."""

from __future__ import annotations

import contextlib
import random
import shutil

import numpy as np
import pytest
from conftest import NIGHTLY
from disk import DEATHS, ERRORS, FAULTS, Died, Disk
from torture import ending

import apart
from apart._errors import UserError
from apart.cli import main
from apart.running import clock
from apart.running import run as host
from apart.runs import checkpoint
from apart.runs import folder as run_folder

OLD = {"a": np.arange(300.0), "b": np.array(1, np.int32)}
NEW = {"a": np.arange(300.0) + 7, "b": np.array(2, np.int32)}
ABOUT = {"config_sha256": "x"}


def operations_of_a_save(tmp_path):
    folder = tmp_path / "count"
    for iteration in (1, 2):
        checkpoint.save(folder, iteration, OLD, ABOUT)
    with Disk(folder) as disk:
        checkpoint.save(folder, 3, NEW, ABOUT)
    return disk.count


@pytest.mark.parametrize("fault", FAULTS)
def test_a_save_leaves_the_old_or_the_new_state_never_a_third(fault, tmp_path):
    n = operations_of_a_save(tmp_path)
    assert n > 15
    ends = set()
    for at in range(1, n + 1):
        folder = tmp_path / str(at)
        for iteration in (1, 2):
            checkpoint.save(folder, iteration, OLD, ABOUT)
        error = None
        try:
            with Disk(folder, at, fault):
                checkpoint.save(folder, 3, NEW, ABOUT)
        except (UserError, Died) as caught:
            error = caught
        saved = checkpoint.load(folder, OLD, "x")
        assert saved is not None
        assert all("its manifest is missing" in line for line in saved.passed_over)
        want = {2: OLD, 3: NEW}[saved.iteration]
        for name, value in want.items():
            np.testing.assert_array_equal(saved.arrays[name], value)
        if error is None:
            assert saved.iteration == 3
        if fault in ERRORS and error is not None:
            assert "\n" not in str(error)
            assert "cannot be" in str(error)
        ends.add(saved.iteration)
        checkpoint.save(folder, 4, NEW, ABOUT)  # and the next one works
        assert checkpoint.load(folder, NEW, "x").iteration == 4
        assert len(checkpoint.manifests(folder)) == 2
    assert 3 in ends
    if fault in (*ERRORS, *DEATHS):
        assert 2 in ends


MAP = "S..\n.#.\n..."
WORLD = apart.parse_map(MAP, "ring")
OPTIONS = {"steps": 150, "skills": 4, "horizon": 6, "batch": 16, "evaluate_every": 36}
OPTIONS |= {"buffer": 60, "method": "diayn"}


def save_always(patch):
    patch.setattr(host, "_SLICE_SECONDS", 0.0)
    patch.setattr(clock, "SAVE_SECONDS", 0.0)
    patch.setattr(clock, "SAVE_SHARE", 1e9)


@pytest.fixture
def saves_always(monkeypatch):
    save_always(monkeypatch)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "run"
    apart.train(WORLD, out=path, **OPTIONS)
    return ending(path)


def begin_or_go_on(path):
    if (path / run_folder.CONFIG).exists():
        return apart.resume(path, warn=lambda line: None)
    return apart.train(WORLD, out=path, overwrite=True, **OPTIONS)


@pytest.fixture(scope="module")
def operations(tmp_path_factory, whole):
    """The names of all file operations of a whole run, in their order."""
    counted = tmp_path_factory.mktemp("counted")
    with pytest.MonkeyPatch.context() as patch, Disk(counted) as disk:
        save_always(patch)
        begin_or_go_on(counted / "run")
    assert ending(counted / "run") == whole
    assert set(disk.names) >= {"open", "write", "fsync", "close", "replace", "unlink", "mkdir"}
    return disk.names


def chosen(fault, names):
    """Numbers of operations: all of them in the nightly form; some here.

    The beginning and the end of a run, all of them by power cuts; every kind of operation by every
    fault, once at a place by chance; the rest by chance.
    """
    everywhere = range(1, len(names) + 1)
    if NIGHTLY:
        return everywhere
    rng = random.Random(fault)
    edges = {at for at in everywhere if not 30 < at <= len(names) - 30}
    places = edges if fault.endswith("lost") else set()
    for name in sorted(set(names)):
        places.add(rng.choice([at for at in everywhere if names[at - 1] == name]))
    return sorted(places | set(rng.sample(everywhere, 3)))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_whole_run_survives_a_fault_at_any_operation(
    fault, operations, tmp_path, saves_always, whole
):
    for at in chosen(fault, operations):
        around = tmp_path / str(at)
        around.mkdir()
        path = around / "run"
        try:
            with Disk(around, at, fault):
                begin_or_go_on(path)
            assert (path / run_folder.SUMMARY).exists()
        except Died:
            assert fault in DEATHS
        except UserError as error:
            assert "\n" not in str(error)
            assert fault not in DEATHS
        begin_or_go_on(path).check()
        assert ending(path) == whole, (at, fault, operations[at - 1])
        shutil.rmtree(around)


def test_overwriting_survives_a_kill_at_any_operation(tmp_path, saves_always, whole):
    """The old run is taken away piece by piece; what is left is ours at every moment."""
    first = tmp_path / "first"
    apart.train(WORLD, out=first / "run", **{**OPTIONS, "seed": 7})
    around = tmp_path / "around"
    for at in range(1, 60, 1 if NIGHTLY else 3):
        shutil.copytree(first, around)
        with contextlib.suppress(Died), Disk(around, at, "killed before"):
            apart.train(WORLD, out=around / "run", overwrite=True, **OPTIONS)
        apart.train(WORLD, out=around / "run", overwrite=True, **OPTIONS)
        assert ending(around / "run") == whole
        shutil.rmtree(around)


def test_a_full_disk_is_one_line_that_says_how_to_go_on(tmp_path, saves_always, capsys):
    path, map_file = tmp_path / "run", tmp_path / "ring.txt"
    map_file.write_text(MAP)
    words = ["train", str(map_file), "--out", str(path), "--progress", "none", "--no-draw"]
    words += "--method diayn --steps 150 --skills 4 --horizon 6 --batch 16 --buffer 60".split()
    with Disk(path, 200, "disk full"):
        assert main(words) == 2
    lines = capsys.readouterr().err.strip().split("\n")
    assert "No space left on device" in lines[-1]
    assert lines[-1].endswith(f"fix that, then continue with 'apart resume {path}'")
    assert main(["resume", str(path), "--no-draw", "--progress", "none"]) == 0
