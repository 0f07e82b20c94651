"""A skill walking: in text, and as an animation."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PIL import Image

from apart.cli import main
from apart.cli import play as command
from apart.report import walking
from apart.runs import folder as run_folder

RUN = Path(__file__).parents[1] / "fixtures" / "runs-0.1" / "finished" / "apart"
PATH = [(0, 0), (0, 1), (0, 1), (1, 1), (1, 1), (1, 1)]
MAP = ("S.#", "...")


def test_a_frame_shows_where_it_is_and_was():
    assert walking.frame(MAP, PATH, 0) == "@ · ██\n· · ·"
    assert walking.frame(MAP, PATH, 1) == "S @ ██\n· · ·"
    assert walking.frame(MAP, PATH, 3) == "S o ██\n· @ ·"


def test_it_arrives_when_it_moves_no_more():
    assert walking.arrival(PATH) == 3
    assert walking.arrival([(0, 0), (0, 0)]) == 0
    assert walking.arrival([1, 2]) == 1


def test_without_a_terminal_the_path_is_printed(capsys):
    assert main(["play", str(RUN), "--skill", "2"]) == 0
    head, path = capsys.readouterr().out.splitlines()
    skill = run_folder.load(RUN).skills[2]
    assert head.startswith("skill 2: from (0, 0) to ")
    assert [tuple(map(int, word[1:-1].split(","))) for word in path.split()] == skill.trajectory


def test_in_a_terminal_it_walks(capsys, monkeypatch):
    monkeypatch.setattr(command, "_PAUSE", 0.0)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert main(["play", str(RUN), "--skill", "2"]) == 0
    run = run_folder.load(RUN)
    rows, steps = run.world.places.backdrop, walking.arrival(run.skills[2].trajectory)
    out = capsys.readouterr().out
    assert out.count("@") == steps + 1
    assert out.count(f"\x1b[{len(rows)}A") == steps
    last = walking.frame(rows, run.skills[2].trajectory, steps).split("\n")
    assert out.replace("\x1b[2K", "").splitlines()[-len(rows) + 1 :] == last[1:]


def test_a_gif_has_a_frame_for_each_step(tmp_path, capsys):
    assert main(["play", str(RUN), "--skill", "1", "--gif", str(tmp_path / "walk.gif")]) == 0
    assert str(tmp_path / "walk.gif") in capsys.readouterr().out
    run = run_folder.load(RUN)
    with Image.open(tmp_path / "walk.gif") as image:
        assert image.n_frames == walking.arrival(run.skills[1].trajectory) + 1
        rows = run.world.places.backdrop
        assert image.width * len(rows) == image.height * len(rows[0])
        assert image.info["loop"] == 0


def test_the_agent_is_where_the_path_says():
    """Its colour stands in the middle of its cell, in every frame."""
    for time in (0, 1, 3):
        picture = walking._picture(MAP, PATH, time, 20)
        row, column = PATH[time]
        assert picture.getpixel((20 * column + 10, 20 * row + 10)) == (0xD5, 0x5E, 0x00)
    assert picture.getpixel((45, 5)) == (0x8C, 0x8C, 0x8C)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--skill", "4"], "--skill: 4 is outside 0 to 3"),
        (["--skill", "-1"], "--skill: -1 is outside 0 to 3"),
        (["--skill", "x"], "--skill: 'x' is not a whole number"),
        ([], "the following arguments are required: --skill"),
        (["--skill", "1", "--gif", "walk.png"], "--gif: walk.png does not end in .gif"),
        (["--skill", "1", "--gif", "no/walk.gif"], "is no file in a folder that exists"),
    ],
)
def test_mistakes_are_told_in_a_line(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(RUN, tmp_path / "run")
    assert main(["play", "run", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
