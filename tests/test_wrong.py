"""Every way to be wrong on the command line: one line, exit code 2, nothing written.

Hypothesis makes them up, each wrong by construction: 500 here, 10,000 in `make nightly`.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from conftest import NIGHTLY
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apart import paper as experiments
from apart._config import SPECS, TYPES, flag
from apart.cli import main
from apart.facts import choices
from apart.running import queue
from apart.running import run as host
from apart.runs.lock import Lock

CHOICES = choices()
COMMANDS = ("train", "resume", "list", "reproduce", "bench")
NOT_NUMBERS = (
    "nan",
    "inf",
    "-inf",
    "1e309",
    "-1e309",
    "",
    " ",
    "x",
    "5X",
    "0x10",
    "1,5",
    "½",
    "--",
)
NOT_WHOLE = (*NOT_NUMBERS, "1.5", "1e-3", "2.0000001", "1e400", "MM", "k", "1__", "1 2")
KINDS = ("option", "misspelled", "together", "out", "map", "world", "resume", "reproduce", "bench")
KINDS += ("command", "extra", "number")

words = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=12)


@st.composite
def beyond(draw, spec, whole):
    """A number outside of a range, or far beyond any."""
    choices = ["1e30", "-1e30", "99999999999999999999999"]
    if spec.low > -1e12:
        below = spec.low - draw(st.integers(1, 10**6))
        choices.append(str(int(below)) if whole else repr(float(below)))
    if spec.high < 1e15:
        above = spec.high + draw(st.integers(1, 10**6))
        choices.append(str(int(above)) if whole else repr(float(above)))
    return draw(st.sampled_from(choices))


@st.composite
def wrong_option(draw):
    """An option of `train` with a value that it cannot have."""
    name = draw(st.sampled_from(sorted(SPECS)))
    spec, kind = SPECS[name], TYPES[name]
    if kind is bool:
        return [f"{flag(name)}={draw(words)}"]
    if kind is tuple:
        wrong = st.sampled_from(["", ",", "3,", "-1", "0", "3,x", "1.5", "9" * 20, "3," * 40])
        return [f"{flag(name)}={draw(wrong)}"]
    if kind is str:
        known = CHOICES.get(spec.kind or name)
        wrong = words.filter(lambda word: word.split(":")[0] not in (*known, "auto"))
        return [f"{flag(name)}={draw(wrong | st.just('--'))}"]
    texts = st.sampled_from(NOT_WHOLE if kind is int else NOT_NUMBERS)
    text = draw(st.one_of(texts, beyond(spec, kind is int)))
    return draw(st.sampled_from([[f"{flag(name)}={text}"], [flag(name), text]]))


@st.composite
def misspelled(draw):
    """The name of an option with a letter changed, doubled or lost."""
    name = flag(draw(st.sampled_from(sorted(SPECS))))
    at = draw(st.integers(3, len(name) - 1))
    wrong = draw(
        st.sampled_from([name[:at] + name[at + 1 :], name[:at] + "x" + name[at:], name + "s"])
    )
    known = {flag(n) for n in SPECS} | {"--out", "--seeds", "--draw", "--device"}
    return [wrong if wrong not in known else "--nothing", "3"]


CONTRADICTIONS = st.sampled_from(
    [
        "--reward posterior",
        "--method diayn --reward min_pairs",
        "--q-rule sweep_adam",
        "--method apart_plus --dropout",
        "--network cnn",
        "--network mlp --q-rule plain",
        "--observation pixels",
        "--network mlp:1000000,1000000",
        "--network cnn:32:4 --observation pixels",
        "--skills 100000",
        "--buffer 10",
        "--update-every 3",
        "--hold 3",
        "--inverse-temperature 3",
        "--hidden 3",
        "--kernel 3",
        "--prior 3",
        "--slip 2",
        "--slip x",
        "--method apart_plus --discriminator-learning-rate 0.1",
        "--steps 9e12 --horizon 1",
    ]
).map(str.split)

# Paths that nothing can be written to; the folder is made by the fixture.
OUTS = st.sampled_from(
    [
        "file.txt",
        "file.txt/run",
        "foreign",
        "done",
        "busy",
        "locked/run",
        "",
        "x" * 300,
        "a\0b",
        "/proc/nowhere/run",
        "/dev/null/run",
    ]
)
MAPS = st.one_of(
    st.sampled_from(
        [
            "",
            "\n\n",
            "...",
            "S",
            "S0.",
            "S#.\n###\n...",
            "S.\n...",
            "S.x",
            "S.é",
            "S" + "." * 5000,
            "\ufeff",
        ]
    ).map(str.encode),
    st.binary(max_size=40).filter(lambda data: b"S" not in data),
    st.text("#", min_size=1, max_size=30).map(str.encode),
)


@st.composite
def invocations(draw):
    """(words, content of map.txt): wrong by construction."""
    kind = draw(st.sampled_from(KINDS))
    train = ["train", "four_rooms"]
    if kind == "option":
        return [*train, *draw(wrong_option())], None
    if kind == "misspelled":
        return [*train, *draw(misspelled())], None
    if kind == "together":
        return [*train, *draw(CONTRADICTIONS)], None
    if kind == "out":
        return [*train, "--steps", "100", "--out", draw(OUTS)], None
    if kind == "map":
        return ["train", "map.txt", "--out", "new"], draw(MAPS)
    if kind == "world":
        odd = ["", ".", "foreign", "pipe", "/dev/zero", "no/such.txt", "x" * 400, "a\0b"]
        unknown = words.filter(
            lambda word: word not in CHOICES["world"] and not Path(word).exists()
        )
        world = draw(st.one_of(st.sampled_from(odd), unknown))
        return ["train", world if not world.startswith("-") else "fourrooms"], None
    if kind == "resume":
        folder = draw(st.sampled_from(["nowhere", "foreign", "file.txt", "", "a\0b", "broken"]))
        return ["resume", folder], None
    if kind == "reproduce":
        return ["reproduce", *draw(wrong_reproduction())], None
    if kind == "bench":
        more = ["--seconds=0", "--seconds=nan", "--repeats=0", "--repeats=1.5", "--json=foreign"]
        more += ["--json=no/such/file", "--seconds=-1", "--seconds=1e9", "--repeats=x", "--json="]
        return ["bench", draw(st.sampled_from(more))], None
    if kind == "command":
        word = draw(words.filter(lambda w: w not in COMMANDS and not w.startswith("-") and w))
        return [word, *draw(st.lists(words, max_size=2))], None
    if kind == "extra":
        command = draw(st.sampled_from([["train", "empty"], ["list"], ["bench"], ["resume", "x"]]))
        return [
            *command,
            draw(st.sampled_from(["more", "--nothing", "--x=3", "---", "--seed"])),
        ], None
    name = draw(st.sampled_from(["--seeds", "--threads", "--device", "--progress"]))
    texts = ("nothing", "--", "-1", "0", "1e9", "1.5", "nan", "", "inf", "99999999999999999999")
    return [*train, f"{name}={draw(st.sampled_from(texts))}"], None


@st.composite
def wrong_reproduction(draw):
    one = experiments.names()[0]
    return draw(
        st.sampled_from(
            [
                [],
                ["nothing"],
                [f"{one}s"],
                [one, "--steps", "0"],
                [one, "--steps=nan"],
                [one, "--seeds", "0"],
                [one, "--seeds=1.5"],
                [one, "--engine", "steam"],
                [one, "--out", "file.txt"],
                [one, "--out", "foreign"],
                [one, "--out", ""],
                ["--all", "--steps", "-5"],
            ]
        )
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A working folder with everything that can stand in the way."""
    root = tmp_path_factory.mktemp("wrong")
    (root / "file.txt").write_text("mine")
    for name in ("foreign", "done", "busy", "locked", "broken"):
        (root / name).mkdir()
    (root / "foreign" / "thesis.tex").write_text("mine")
    for name in ("done", "busy"):
        (root / name / "config.json").write_text("{}")
    (root / "done" / "summary.json").write_text("{}")
    (root / "broken" / "config.json").write_text("{")
    os.mkfifo(root / "pipe")
    with pytest.MonkeyPatch.context() as patch, Lock(root / "busy"):
        patch.chdir(root)
        patch.setattr(os, "mkdir", _refusing(os.mkdir))
        patch.setattr(host._Training, "run", _would_train)
        patch.setattr(queue, "run", _would_train)
        yield root


def _would_train(*_):
    raise AssertionError("this was not wrong: it would train")


def _refusing(plain):
    """`locked` cannot be written to, whoever runs the tests (root may write anywhere)."""

    def mkdir(path, *more, **named):
        if "locked" in str(path):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return plain(path, *more, **named)

    return mkdir


def everything(root):
    return {
        str(path): path.read_bytes() if path.is_file() else None
        for path in sorted(root.rglob("*"))
        if path.name != ".lock"
    }


@settings(
    max_examples=10_000 if NIGHTLY else 500,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(case=invocations())
def test_a_wrong_command_is_one_line_and_changes_nothing(case, folder, capsys):
    arguments, content = case
    if content is not None:
        (folder / "map.txt").write_bytes(content)
    before = everything(folder)
    capsys.readouterr()
    code = main(arguments)
    printed = capsys.readouterr()
    assert code == 2, printed
    assert printed.out == ""
    lines = printed.err.rstrip("\n").split("\n")
    assert len(lines) == 1, lines
    assert lines[0].startswith("apart: ")
    assert len(lines[0]) < 1100
    assert everything(folder) == before


def test_a_run_that_is_busy_is_not_overwritten(folder, capsys):
    assert main(["train", "four_rooms", "--steps", "100", "--out", "busy", "--overwrite"]) == 2
    lines = capsys.readouterr().err.strip().split("\n")
    assert len(lines) == 1
    assert f"in use by process {os.getpid()}" in lines[0]
    assert (folder / "busy" / "config.json").read_text() == "{}"
