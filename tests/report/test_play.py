"""A skill walking: in text, and as an animation."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from apart.cli import main
from apart.cli import play as command
from apart.report import gliding, walking
from apart.runs import folder as run_folder
from apart.skills import frames
from apart.worlds.world import Plane

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
    assert f"{skill.probability:.2f}" in head
    walked = [tuple(map(int, word[1:-1].split(","))) for word in path.split()]
    steps = walking.arrival(skill.trajectory)
    assert walked == skill.trajectory[: steps + 1]
    assert skill.trajectory[steps:] == [walked[-1]] * (len(skill.trajectory) - steps)


def test_in_a_terminal_it_walks(capsys, monkeypatch):
    monkeypatch.setattr(command, "_PAUSE", 0.0)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert main(["play", str(RUN), "--skill", "2"]) == 0
    run = run_folder.load(RUN)
    rows, steps = run.world.places.backdrop, walking.arrival(run.skills[2].trajectory)
    out = capsys.readouterr().out
    assert walking.SIGNS in out
    out = out.replace(walking.SIGNS, "")
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


PLANE = Plane((0.0, 4.0, 0.0, 2.0), np.array([[[2.0, 0.0], [2.0, 1.0]]]), np.array([[3, 1, 1, 1]]))
WAY = [(0.5, 0.5), (0.5, 1.5), (2.5, 1.5), (2.5, 1.5)]


def test_on_a_plane_it_glides_among_walls():
    rows = gliding.frame(PLANE, WAY, 2).split("\n")
    assert len(rows) == 10  # a letter is as tall as two are wide
    assert (rows[7][5], rows[2][5], rows[2][25]) == ("S", "o", "@")
    assert [row[30:40].count("█") for row in rows] == [10] * 5 + [0] * 5  # solid, upper right
    assert [row[20:21] for row in rows[5:]] == ["█"] * 5  # the wall stands on the lower edge
    assert "█" not in "".join(row[:20] for row in rows)
    assert gliding.times(WAY) == [0, 1, 2]
    long = [(0.01 * t, 1.0) for t in range(400)]
    assert len(gliding.times(long)) <= 81
    assert gliding.times(long)[-1] == 399


def test_the_picture_of_a_plane_has_the_agent_where_it_is():
    made = gliding.picture(PLANE, WAY, 2)
    assert made.size == (504, 264)
    assert made.getpixel((312, 72)) == (0xD5, 0x5E, 0x00)  # (2.5, 1.5), y upwards
    assert made.getpixel((432, 72)) == (0x8C, 0x8C, 0x8C)
    assert made.getpixel((252, 212)) == (0x44, 0x44, 0x44)
    assert made.getpixel((72, 132)) == (0x00, 0x72, 0xB2)
    with Image.open(io.BytesIO(gliding.gif(PLANE, WAY))) as image:
        assert image.n_frames == 3


def test_a_world_that_renders_is_filmed(tmp_path, monkeypatch):
    seen = {}

    def film(run, skills, times):
        seen["asked"] = (list(skills), list(times))
        shade = [np.full((4, 6, 3), 40 * t, np.uint8) for t in times]
        return frames.Film(np.zeros((4, 6, 3), np.uint8), [shade], [None])

    monkeypatch.setattr(frames, "film", film)
    file = tmp_path / "walk.gif"
    assert main(["play", str(RUN), "--skill", "2", "--frames", "--gif", str(file)]) == 0
    steps = walking.arrival(run_folder.load(RUN).skills[2].trajectory)
    assert seen["asked"] == ([2], [*range(1, steps + 1)])
    with Image.open(file) as image:
        assert image.n_frames == steps + 1


def test_a_world_that_cannot_be_seen_says_so(tmp_path, capsys):
    file = tmp_path / "walk.gif"
    assert main(["play", str(RUN), "--skill", "1", "--frames", "--gif", str(file)]) == 2
    name = run_folder.load(RUN).world.name
    assert f"--gif: {name} has no render()" in capsys.readouterr().err
    assert not file.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--skill", "4"], "--skill: 4 is outside 0 to 3"),
        (["--skill", "-1"], "--skill: -1 is outside 0 to 3"),
        (["--skill", "x"], "--skill: 'x' is not a whole number"),
        ([], "the following arguments are required: --skill"),
        (["--skill", "1", "--frames"], "--frames is for animations; add --gif"),
        (["--skill", "1", "--gif", "walk.png"], "--gif: walk.png does not end in .gif"),
        (["--skill", "1", "--gif", "no/walk.gif"], "is not a file in an existing folder"),
    ],
)
def test_mistakes_are_told_in_a_line(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(RUN, tmp_path / "run")
    assert main(["play", "run", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
