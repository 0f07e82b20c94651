"""Runs on a Ray cluster: folders travel, machines are lost. A play of Ray, and Ray itself."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections import deque
from types import SimpleNamespace

import pytest
from conftest import NIGHTLY
from torture import endings

import apart
from apart._errors import UserError
from apart.running import cluster, queue
from apart.running.queue import Failure
from apart.runs import checkpoint
from apart.runs import folder as run_folder
from apart.runs.lock import Lock

OPTIONS = {"steps": 1500, "skills": 4, "horizon": 6, "batch": 16, "evaluate_every": 300}
OPTIONS |= {"buffer": 600, "method": "diayn"}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Two seeds, finished here."""
    path = tmp_path_factory.mktemp("whole") / "set"
    for seed in (0, 1):
        apart.train("four_rooms", seed=seed, out=path / f"seed-{seed}", **OPTIONS)
    return path


class RayError(Exception):
    pass


class RayTaskError(RayError):
    pass


class Play:
    """As much of Ray as is asked for: tasks are lists of what they say."""

    def __init__(self, *tasks):
        self.tasks, self.sent, self.cancelled = deque(tasks), [], []
        self.exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)
        self.init = self.shutdown = lambda **_: None

    def cluster_resources(self):
        return {"CPU": 1.0}

    def remote(self, **options):
        assert options == {"num_cpus": 1, "max_retries": 0, "num_returns": "streaming"}
        return lambda function: SimpleNamespace(remote=self._send)

    def _send(self, content, words):
        self.sent.append((content, words))
        return iter(self.tasks.popleft())

    def wait(self, tasks, num_returns, timeout):
        return tasks[:1], tasks[1:]

    def get(self, said):
        if isinstance(said, Exception):
            raise said
        return said

    def cancel(self, task, force):
        assert force
        self.cancelled.append(task)


@pytest.fixture
def played(monkeypatch):
    """Train runs where Ray says what a play says."""

    def run(play, *runs, watch=lambda run, progress: None):
        monkeypatch.setitem(sys.modules, "ray", play)
        with cluster.Cluster() as workers:
            return queue.run(dict.fromkeys(runs, ("--steps", "9")), watch, float("inf"), workers)

    return run


def result(folder):
    return {**cluster.state(folder), **cluster._read(folder, cluster._AFTER)}


def begun(whole, tmp_path):
    """The folder of a run of which only the configuration is there."""
    path = tmp_path / "seed-0"
    path.mkdir()
    shutil.copy(whole / "seed-0" / run_folder.CONFIG, path)
    return path


DONE = (0, "", False)


def test_a_folder_travels_whole(whole, tmp_path):
    there = whole / "seed-0"
    cluster.receive(tmp_path, result(there))
    assert endings(tmp_path) == endings(there)
    assert run_folder.load(tmp_path).skills == run_folder.load(there).skills
    names = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")}
    assert names == set(result(there))


def test_what_a_task_left_that_was_ended_at_once_is_swept_up(tmp_path):
    names = ("apart-ray-old", "apart-ray-busy", "apart-ray-new", "other")
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / run_folder.CONFIG).touch()
    (tmp_path / "apart-ray-link").symlink_to(tmp_path / "other")
    with Lock(tmp_path / "apart-ray-busy"):
        for name in names:
            if name != "apart-ray-new":
                os.utime(tmp_path / name, (0, 0))
        cluster._sweep_up(tmp_path)
    there = {path.name for path in tmp_path.iterdir()}
    assert there == {"apart-ray-busy", "apart-ray-new", "apart-ray-link", "other"}
    assert (tmp_path / "other" / run_folder.CONFIG).exists()


def test_a_run_travels_with_the_checkpoint_before_its_last(whole, tmp_path):
    """The last may be damaged, and then the one before is what it goes on from."""
    there = whole / "seed-0"
    states = checkpoint.manifests(there / run_folder.CHECKPOINTS)
    sent = cluster.state(there, checkpoint.KEPT)
    names = {f"{run_folder.CHECKPOINTS}/{path.name}" for path in states[-checkpoint.KEPT :]}
    assert len(names) == min(len(states), checkpoint.KEPT)
    assert {name for name in sent if name.endswith(".json")} - {run_folder.CONFIG} == names
    cluster.receive(tmp_path, sent)
    kept = checkpoint.manifests(tmp_path / run_folder.CHECKPOINTS)
    assert [path.name for path in kept] == [path.name for path in states[-checkpoint.KEPT :]]


def test_an_unfinished_folder_replaces_a_finished_one_and_names_stay_inside(whole, tmp_path):
    there = result(whole / "seed-0")
    (tmp_path / "run").mkdir()
    cluster.receive(tmp_path / "run", there)
    goes_on = {k: v for k, v in there.items() if k not in cluster._AFTER}
    strange = {"../evil": b"x", "checkpoints/../evil": b"x", "checkpoints/x.json": b"x"}
    cluster.receive(tmp_path / "run", {**goes_on, **strange})
    assert not (tmp_path / "run" / run_folder.SUMMARY).exists()
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert not list((tmp_path / "run").rglob("*evil*"))
    assert len(list((tmp_path / "run" / run_folder.CHECKPOINTS).iterdir())) == 2


def test_a_lost_task_s_run_goes_on_from_what_came_back(whole, tmp_path, played, capsys):
    run, end = begun(whole, tmp_path), result(whole / "seed-0")
    part = {name: data for name, data in end.items() if name not in cluster._AFTER}
    lost = [({"env_steps": 6}, {}, None), ({"env_steps": 12}, part, None), RayError("node died")]
    play = Play(lost, [({"env_steps": 12}, {}, None), (None, end, DONE)])
    assert played(play, run) == {}
    (first, words), (second, _) = play.sent
    assert list(first) == [run_folder.CONFIG]
    assert set(second) == set(part)
    assert words == ["--steps", "9"]
    assert "lost with its worker (RayError); another worker" in capsys.readouterr().err
    assert endings(run) == endings(whole / "seed-0")


def test_errors_are_of_the_run_that_has_them(whole, tmp_path, played):
    run, other = begun(whole, tmp_path), tmp_path / "seed-1"
    shutil.copytree(whole / "seed-1", other)
    end = result(other)
    words = f"apart: {cluster._HERE}: numbers"
    play = Play([(None, {}, (3, words, False))], [(None, end, DONE)])
    assert played(play, run, other) == {run: Failure(3, f"apart: {run}: numbers")}
    play = Play([RayTaskError("a trace\nNo module named 'apart'")])
    assert played(play, run) == {run: Failure(2, "No module named 'apart'")}
    with Lock(run):
        found = played(Play([(None, end, DONE)]), run, other)
    assert list(found) == [run]
    assert "is in use by process" in found[run].line


def test_a_signal_ends_the_tasks_and_loses_no_more_than_they_did_not_send(whole, tmp_path, played):
    run = begun(whole, tmp_path)
    play = Play([({"env_steps": 6}, {}, None), RayError("cancelled")])

    def interrupt(run, progress):
        os.kill(os.getpid(), 15)

    with pytest.raises(apart.RunInterrupted, match="from their last checkpoints"):
        played(play, run, watch=interrupt)
    assert len(play.cancelled) == 1
    with Lock(run):
        pass  # nobody holds it any more


@pytest.fixture
def listening():
    """The address of a port at which somebody listens, until it is closed."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server, f"127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize("named", [False, True])
def test_a_cluster_is_joined_only_where_it_is_named(named, listening, monkeypatch):
    """Ray would join one that happens to run on this machine, and keep a token in HOME."""
    play, asked = Play(), []
    play.init = lambda **options: asked.append(options.get("address"))
    monkeypatch.setitem(sys.modules, "ray", play)
    for name in ("RAY_ADDRESS", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.setenv(name, "")  # what is set below is taken back, too
        monkeypatch.delenv(name)
    if named:
        monkeypatch.setenv("RAY_ADDRESS", listening[1])
    with cluster.Cluster():
        pass
    assert asked == [None if named else "local"]  # Ray reads the variable itself
    assert ("RAY_AUTH_TOKEN" in os.environ) != named


def test_runs_wait_for_the_first_core_of_a_cluster_and_nobody_is_asked_in_vain(
    whole, tmp_path, monkeypatch, capsys
):
    """What waits makes a cluster that can grow do so."""
    run, end = begun(whole, tmp_path), result(whole / "seed-0")
    play = Play([(None, end, DONE)])
    play.cluster_resources = dict
    monkeypatch.setitem(sys.modules, "ray", play)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with cluster.Cluster() as workers:
        assert workers.free == 1
        assert queue.run({run: ()}, lambda run, progress: None, float("inf"), workers) == {}
    assert "note: the cluster has no cores yet" in capsys.readouterr().err


def test_without_ray_one_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UserError, match="--engine ray needs Ray: pip install"):
        cluster.Cluster()


def test_a_cluster_that_is_not_there_changes_nothing(
    tmp_path, listening, monkeypatch, in_this_process
):
    """Finished sets stay as they are, whether they are to be made anew or to go on."""

    class Gone:
        def init(self, **options):
            raise ConnectionError("this is none")

        def shutdown(self):
            pass

    folder = tmp_path / "set"
    options = {"method": "vic", "steps": 160, "skills": 6, "seeds": 2}
    apart.train("corridor", out=folder, **options)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    monkeypatch.setitem(sys.modules, "ray", Gone())
    server, address = listening
    monkeypatch.setenv("RAY_ADDRESS", f"ray://{address}")
    with pytest.raises(UserError, match=r"no cluster \(this is none\)"):
        apart.train("corridor", out=folder, overwrite=True, engine="ray", **options)
    server.close()
    with pytest.raises(UserError, match=f"no answer from ray://{address}"):
        apart.resume(folder, steps=320, engine="ray")
    after = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.name != ".lock"}
    assert {path: text for path, text in before.items() if path.name != ".lock"} == after


def test_parts_of_checkpoints_are_known_by_name():
    good = ("iteration-000000000007.json", "iteration-000000000007.safetensors")
    bad = ("iteration-7.json", "iteration-000000000007.txt", "iteration-000000000007", "x.json")
    assert all(map(checkpoint.is_part, good))
    assert not any(map(checkpoint.is_part, bad))


# In a process of its own: Ray leaves sockets and threads behind. Runs save after every round, so
# that there is a state long before the end, however fast or slow the machine is.
TWO_NODES = """
import os, sys
from pathlib import Path

import ray
from ray.cluster_utils import Cluster

from apart.running import cluster, engines

SAVES = '''
import sys
from apart.cli import main
from apart.running import clock, run as host
host._SLICE_SECONDS, clock.SAVE_SECONDS, clock.SAVE_SHARE = 0.0, 0.0, 1e9
sys.exit(main(sys.argv[1:]))
'''

def saving(content, words):
    import sys
    from apart.running import cluster, pool
    if not hasattr(pool, "plain"):
        pool.plain = pool.command
        pool.command = lambda run, *more: [sys.executable, "-c", SAVES, *pool.plain(run, *more)[3:]]
    yield from cluster._elsewhere(content, words)

cluster._elsewhere = saving
nodes = Cluster()
try:  # Ray gives itself 30 seconds for each
    nodes.add_node(num_cpus=0, include_dashboard=False)
    first, second = (nodes.add_node(num_cpus=1) for _ in range(2))
except Exception as error:
    print("no cluster:", error, flush=True)
    nodes.shutdown()
    sys.exit(75)
os.environ["RAY_ADDRESS"] = nodes.address
runs = [Path(word) for word in sys.argv[1:]]
killed = []

def watch(run, progress):
    print("heard", run.name, progress and progress["env_steps"], flush=True)
    states = [list((one / "checkpoints").glob("*.json")) for one in runs]
    if not killed and all(states):
        killed.append(first)
        nodes.remove_node(first, allow_graceful=False)
        print("killed", flush=True)

failures = engines.ENGINES["ray"](dict.fromkeys(runs, ()), watch, float("inf"))
print("failures", failures, flush=True)
nodes.shutdown()
"""


@pytest.mark.skipif(
    not (NIGHTLY or os.environ.get("APART_CLUSTER")), reason="takes a minute: make test-cluster"
)
def test_a_machine_is_lost_and_its_run_goes_on_elsewhere(whole, tmp_path):
    pytest.importorskip("ray")
    runs = [tmp_path / f"seed-{seed}" for seed in (0, 1)]
    for run in runs:
        run.mkdir()
        shutil.copy(whole / run.name / run_folder.CONFIG, run)
    command = [sys.executable, "-c", TWO_NODES, *map(str, runs)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 75:
        pytest.skip(f"Ray did not start in its time: {done.stdout[-300:]}")
    assert done.returncode == 0, done.stderr[-3000:]
    assert "failures {}" in done.stdout
    assert done.stderr.count("another worker") == 1
    (lost,) = (run.name for run in runs if f"{run}: lost with its worker" in done.stderr)
    after = done.stdout.partition("killed")[2].split("\n")
    heard = [
        int(line.split()[2])
        for line in after
        if line.startswith(f"heard {lost} ") and not line.endswith("None")
    ]
    assert heard
    assert min(heard) > 0, "it began anew"
    assert endings(tmp_path) == endings(whole)


ALL_BY_RAY = """
import sys
from pathlib import Path
from apart.cli import main
where = Path(sys.argv[1])
(where / "grid.toml").write_text('''
[options]
world = "corridor"
steps = 120
skills = 3
[grid]
method = ["vic", "diayn"]
''')
train = ["train", "corridor", "--method", "vic", "--steps", "120", "--skills", "3", "--no-draw"]
compare = ["compare", "corridor", "--methods", "vic,diayn", "--steps", "120", "--seeds", "1"]
reproduce = ["reproduce", "dont_cares", "--seeds", "1", "--steps", "120"]
for engine in ("local", "ray"):
    out = where / engine
    on = ["--engine", engine, "--out"]
    assert not main([*train, "--seeds", "2", *on, str(out / "set")])
    assert not main([*compare, "--skills", "3", *on, str(out / "compare")])
    assert not main(["sweep", str(where / "grid.toml"), *on, str(out / "sweep")])
    assert not main([*reproduce, *on, str(out / "reproduce")])
"""


@pytest.mark.skipif(
    not (NIGHTLY or os.environ.get("APART_CLUSTER")), reason="takes a minute: make test-cluster"
)
def test_sets_comparisons_sweeps_and_reproductions_are_the_same_on_both_engines(tmp_path):
    pytest.importorskip("ray")
    command = [sys.executable, "-c", ALL_BY_RAY, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    local, by_ray = (
        {
            str(path.relative_to(tmp_path / engine)): path.read_bytes()
            for path in (tmp_path / engine).rglob("skills.json")
        }
        for engine in ("local", "ray")
    )
    assert len(local) >= 8
    assert local == by_ray
