"""The queue of runs: workers that are lost, runs that fail, signals, clocks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import deque
from typing import ClassVar

import pytest
from torture import endings

import apart
from apart._errors import NonFinite, UserError
from apart.running import engines, pool, queue
from apart.running import run as host
from apart.running.queue import Ended, Failure
from apart.runs import checkpoint, claims, plan
from apart.runs import folder as run_folder
from apart.settings import resolve


class Script:
    """Workers that do what is written: by run, the events of each of its starts."""

    stopped = "all is saved"

    def __init__(self, free=2, **starts):
        self.free, self.now = free, 0.0
        self.started, self.told = [], []
        self._starts = {run: deque(events) for run, events in starts.items()}
        self._events = deque()

    def start(self, run, words):
        self.started.append(run)
        self.free -= 1
        self._events.extend((run, event) for event in self._starts[run].popleft())

    def wait(self, seconds):
        self.now += 1.0
        run, event = self._events.popleft()
        self.free += isinstance(event, Ended)
        return run, event

    def stop(self, number):
        self.told.append(number)


LOST, DONE = Ended(-9, "killed by SIGKILL", lost=True), Ended(0)


def at(steps):
    return {"env_steps": steps}


def train(workers, *runs, until=float("inf")):
    """What was seen, and the failures."""
    seen = []
    failures = queue.run(dict.fromkeys(runs, ()), lambda *event: seen.append(event), until, workers)
    return seen, failures


def test_a_worker_that_cannot_begin_is_an_error_and_nobody_waits_for_it():
    class Full(Script):
        def start(self, run, words):
            if run == "b":
                raise RuntimeError("can't start new thread")
            super().start(run, words)

    workers = Full(a=[[DONE]])
    with pytest.raises(RuntimeError, match="new thread"):
        train(workers, "a", "b")
    assert workers.told  # the others were asked to end
    assert not workers._events  # and were heard


def test_what_a_child_writes_need_not_be_text(monkeypatch):
    """It comes with any worker, on this machine and elsewhere."""
    code = (
        "import os; os.write(2, b'caf\\xe9\\n' * 9); os.write(1, b'\\xe9\\n{\"env_steps\": 3}\\n')"
    )
    monkeypatch.setattr(pool, "command", lambda *words: [sys.executable, "-c", code])
    last = deque(maxlen=1)
    with pool.child("run", []) as process:
        assert list(pool.said(process, last)) == [{"env_steps": 3}]
    assert list(last) == ["caf\N{REPLACEMENT CHARACTER}"]


def test_a_lost_run_goes_on_with_another_worker(capsys):
    workers = Script(a=[[at(0), LOST], [at(40), DONE]], b=[[at(0), DONE]])
    seen, failures = train(workers, "a", "b")
    assert failures == {}
    assert workers.started == ["a", "b", "a"]
    assert [run for run, progress in seen if progress is None] == ["b", "a"]
    assert "a: killed by SIGKILL; another worker" in capsys.readouterr().err


def test_a_run_that_comes_no_further_is_given_up_and_one_that_does_is_not():
    stuck = Script(a=[[at(0), LOST], [at(40), LOST], [at(40), LOST], [at(40), LOST], [at(40)]])
    assert train(stuck, "a")[1] == {"a": Failure(-9, "killed by SIGKILL")}
    assert len(stuck.started) == 4  # forty steps came between the first loss and the second
    slow = Script(a=[[at(n), LOST] for n in range(20)] + [[DONE]])
    assert train(slow, "a")[1] == {}


def test_a_failure_is_said_at_once_and_does_not_take_the_others_down(capsys):
    workers = Script(
        1, a=[[Ended(3, "apart: numbers")]], b=[[DONE]], c=[[Ended(2, "x")]], d=[[DONE]]
    )
    seen, failures = train(workers, *"abcd")
    assert failures == {"a": Failure(3, "apart: numbers"), "c": Failure(2, "x")}
    assert seen == [("a", failures["a"]), ("b", None), ("c", failures["c"]), ("d", None)]
    told = capsys.readouterr().err
    assert [f"apart: note: failed: {words}\n" in told for words in ("a: numbers", "c: x")] == [1, 1]
    assert Failure(3, "apart: runs/x/a: numbers").of("a") == "runs/x/a: numbers"
    with pytest.raises(UserError, match=r"^2 of 4 runs failed: a: numbers; c: x$"):
        queue.raise_failures(failures, 4)
    with pytest.raises(NonFinite, match=r"^a: numbers$"):
        queue.raise_failures({"a": failures["a"]}, 4)
    queue.raise_failures({}, 4)
    with pytest.raises(
        UserError, match=r"^7 of 9 runs failed: 0: x; .* 4: x; 2 more, named above$"
    ):
        queue.raise_failures(dict.fromkeys(range(7), failures["c"]), 9)


def test_every_run_that_failed_is_named_also_the_last(capsys):
    runs = {name: [[Ended(2, "x")]] for name in "abcdefg"}
    failures = train(Script(1, **runs), *runs)[1]
    told = capsys.readouterr().err
    assert all(f"note: failed: {name}: x\n" in told for name in failures)
    train(Script(1, a=[[Ended(2, "x")]]), "a")
    assert not capsys.readouterr().err  # its error will be all there is


def test_a_signal_after_the_clock_is_not_passed_on_to_children_that_are_saving():
    class Child:
        told: ClassVar = []

        def send_signal(self, number):
            self.told.append(number)

    workers = pool.Pool()
    workers._running["a"] = Child()
    for number in (15, 2):
        workers.stop(number)
    assert Child.told == [15]


@pytest.mark.parametrize(("code", "fails"), [(143, False), (3, True)])
def test_when_time_is_up_those_under_way_are_asked_once_and_nothing_is_started(
    code, fails, monkeypatch
):
    workers = Script(1, a=[[at(0), at(40), at(80), Ended(code, "last words")]], b=[[DONE]])
    monkeypatch.setattr(time, "monotonic", lambda: workers.now)
    _, failures = train(workers, "a", "b", until=2.0)
    assert failures == ({"a": Failure(3, "last words")} if fails else {})
    assert (workers.started, workers.told) == (["a"], [15])


def test_a_child_that_dies_while_it_is_stopped_has_not_failed(monkeypatch, capsys):
    """Its run goes on from its last checkpoint, as all others do."""
    workers = Script(1, a=[[at(0), at(40), pool.ending(-11, [])]])
    monkeypatch.setattr(time, "monotonic", lambda: workers.now)
    assert train(workers, "a", until=2.0)[1] == {}
    line = "a: killed by SIGSEGV; it continues from its last checkpoint"
    assert line in capsys.readouterr().err


@pytest.mark.parametrize("code", [130, 143, -9])
def test_a_worker_that_somebody_ended_is_lost_and_another_goes_on(code, capsys):
    """It saved its state, or was killed; nobody here had asked it to."""
    workers = Script(1, a=[[at(0), at(40), pool.ending(code, ["last words"])], [DONE]])
    assert train(workers, "a")[1] == {}
    assert workers.started == ["a", "a"]
    assert "another worker" in capsys.readouterr().err


def test_what_a_watcher_raises_stops_the_workers():
    workers = Script(2, a=[[at(0), Ended(143)]], b=[[at(0), Ended(143)]])

    def raises(run, progress):
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        queue.run({"a": (), "b": ()}, raises, float("inf"), workers)
    assert workers.told == [15]
    assert not workers._events  # nobody was left behind


# Real processes


def child(code):
    return [sys.executable, "-c", code]


@pytest.fixture
def free_words(monkeypatch):
    """The words of a run are the whole command of its process."""
    monkeypatch.setattr(pool, "command", lambda run, *words: list(words))

    def run(commands, watch=lambda run, progress: None, until=float("inf")):
        return queue.run(commands, watch, until, pool.Pool())

    return run


def test_the_pool_survives_what_children_do(free_words):
    """Much on standard error, half a line of progress, silent deaths, a code with a meaning."""
    loud = child("import sys; sys.stderr.write('x' * 500_000 + '\\n'); print('{', end='')")
    assert free_words({"loud": loud}) == {}
    killed = child("import os; print('{\"env', flush=True); os.kill(os.getpid(), 9)")
    assert free_words({"killed": killed}) == {"killed": Failure(-9, "killed by SIGKILL")}
    code = "import sys; print('apart: numbers', file=sys.stderr); sys.exit(3)"
    error = free_words({"nan": child(code)})["nan"].error("seed-0")
    assert isinstance(error, NonFinite)
    assert str(error) == "seed-0: numbers"


def test_a_process_that_cannot_be_started_is_a_failure(free_words):
    found = free_words({"a": [os.devnull], "b": child("pass")})
    assert list(found) == ["a"]
    assert "PermissionError" in found["a"].line


def sleeper(mark, before="pass"):
    """A child that leaves a file if nobody stops it."""
    return child(
        f"import pathlib, time; {before}; time.sleep(60); pathlib.Path({str(mark)!r}).touch()"
    )


def test_what_a_watcher_raises_stops_the_children(tmp_path, free_words):
    def raises(name, progress):
        raise BrokenPipeError

    says = "print('{}', flush=True)"
    children = {name: sleeper(tmp_path / name, says) for name in ("a", "b")}
    with pytest.raises(BrokenPipeError):
        free_words(children, raises)
    assert list(tmp_path.iterdir()) == []


def test_a_signal_reaches_a_child_that_was_just_started(tmp_path, monkeypatch, free_words):
    """It comes between the start of the child and the moment when the pool knows it."""
    plain = subprocess.Popen

    def popen(*words, **named):
        process = plain(*words, **named)
        os.kill(os.getpid(), 2)
        threading.Event().wait(0.2)
        return process

    monkeypatch.setattr(subprocess, "Popen", popen)
    with pytest.raises(apart.RunInterrupted):
        free_words({"a": sleeper(tmp_path / "a")})
    assert list(tmp_path.iterdir()) == []


CHILD = "import signal, sys, time; signal.signal(15, lambda *_: sys.exit({})); time.sleep({})"


@pytest.mark.parametrize(("code", "fails"), [(143, False), (3, True)])
def test_when_time_is_up_children_are_asked_to_end(code, fails, free_words):
    commands = {n: [sys.executable, "-c", CHILD.format(code, 60)] for n in range(9)}
    began = time.monotonic()
    failures = free_words(commands, until=began + 2.0)
    assert time.monotonic() - began < 50
    assert bool(failures) == fails
    assert all(failure.code == code for failure in failures.values())


# Whole runs

OPTIONS = {"steps": 1500, "skills": 4, "horizon": 6, "batch": 16, "evaluate_every": 300}
OPTIONS |= {"buffer": 600}
# A run that saves after every slice, and tells when a state is on disk.
SAVES = """
import sys
from apart.cli import main
from apart.running import clock, run as host
host._SLICE_SECONDS, clock.SAVE_SECONDS, clock.SAVE_SHARE = 0.0, 0.0, 1e9
sys.exit(main(sys.argv[1:]))
"""


def prepared(folder, method="diayn", **options):
    config, world = resolve("four_rooms", method, {**OPTIONS, **options})
    with claims.claim(folder, overwrite=False):
        plan.write(folder, config, world)
    return folder


def test_a_killed_worker_s_run_is_resumed_to_the_same_bits(tmp_path, monkeypatch, capsys):
    """kill -9 when a checkpoint is there; another process goes on from it."""
    plain = pool.command
    monkeypatch.setattr(
        pool, "command", lambda run, *words: [sys.executable, "-c", SAVES, *plain(run, *words)[3:]]
    )
    workers, killed = pool.Pool(), []
    lost = prepared(tmp_path / "seed-1", seed=1)
    began = []

    def watch(run, progress):
        if progress is None:
            return
        began.append(progress["env_steps"])
        states = list((lost / run_folder.CHECKPOINTS).glob("*.json"))
        if not killed and states:
            killed.append(workers._running[lost].pid)
            workers._running[lost].kill()

    assert queue.run({lost: ()}, watch, float("inf"), workers) == {}
    assert killed
    assert "another worker" in capsys.readouterr().err
    again = began.index(min(began[1:]), 1) if 0 in began[1:] else None
    assert again is None, "it began anew"
    whole = apart.train("four_rooms", method="diayn", seed=1, out=tmp_path / "whole", **OPTIONS)
    assert endings(lost) == endings(whole.path)


def test_a_run_saves_its_state_when_nobody_listens_any_more(tmp_path, monkeypatch):
    """Who listened was killed: nothing of what was trained since the last checkpoint is lost."""
    monkeypatch.setattr(host, "_SLICE_SECONDS", 0.0)
    heard = []

    def leaves(progress):
        heard.append(progress.env_steps)
        if progress.env_steps > 600:
            raise BrokenPipeError(32, "Broken pipe")

    with pytest.raises(UserError, match="Broken pipe"):
        apart.train("four_rooms", method="diayn", out=tmp_path / "run", listener=leaves, **OPTIONS)
    saved = [json.loads(path.read_bytes()) for path in checkpoint.manifests(states(tmp_path))]
    assert saved[-1]["iteration"] * OPTIONS["horizon"] == heard[-1]
    assert 600 < heard[-1] < OPTIONS["steps"]
    whole = apart.train("four_rooms", method="diayn", out=tmp_path / "whole", **OPTIONS)
    assert endings(apart.resume(tmp_path / "run").path) == endings(whole.path)


def states(folder):
    return folder / "run" / run_folder.CHECKPOINTS


def test_a_run_that_overflows_leaves_the_others_alone(tmp_path):
    numbers = {"q_rule": "plain", "learning_rate": 900.0, "discount": 1.0, "bootstrap_last": True}
    bad = prepared(tmp_path / "bad", steps=120_000, **numbers)
    good = prepared(tmp_path / "good")
    failures = engines.ENGINES["local"]({bad: (), good: ()}, lambda *_: None, float("inf"))
    assert {run: failure.code for run, failure in failures.items()} == {bad: 3}
    assert "parameters became non-finite" in failures[bad].line
    assert (good / run_folder.SUMMARY).exists()


def test_progress_is_told_as_json(tmp_path):
    told = []
    run = prepared(tmp_path / "run")
    engines.ENGINES["local"]({run: ()}, lambda _, progress: told.append(progress), float("inf"))
    assert told[-1] is None
    assert json.dumps(told[0])
    assert told[0]["total_steps"] == 1500
