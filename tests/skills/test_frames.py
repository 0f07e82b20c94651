"""Frames are those of the evaluated episodes; where there are none, a line says why."""

from __future__ import annotations

import dataclasses
import os

import hostile
import jax.numpy as jnp
import numpy as np
import pytest
import twins
from matplotlib.image import imread

import apart
from apart import worlds
from apart._errors import UserError
from apart.cli import main
from apart.report import sheets, strips
from apart.report.page_data import page_data
from apart.skills.frames import _Camera, film, shrunk
from apart.skills.policies import policies_of
from apart.training.choices import Drawn
from apart.training.host import Host
from apart.worlds import guards
from apart.worlds.grid import parse
from apart.worlds.world import Places

OPTIONS = {"skills": 10, "horizon": 6, "steps": 200, "batch": 16, "buffer": 600, "epsilon": 0.9}
OPTIONS |= {"network": "mlp:8", "evaluate_every": 100, "method": "diayn", "learning_rate": 0.05}
DRAWN = "gym:hostile:Drawn-v0:places=hostile:where"


def trained(text, path):
    hostile.healed(False)
    return apart.train(worlds.load(text), out=path, **OPTIONS)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return trained(DRAWN, tmp_path_factory.mktemp("drawn") / "run")


def test_they_show_the_episodes_that_are_stored(run):
    """Red and green say where the agent was."""
    skills, times = [9, 0, 4, 7], [2, 4, 6]
    seen = film(run, skills, times)
    assert seen.start.shape == (6, 9, 3)
    assert seen.start[0, 0].tolist() == [0, 0, 0]
    for skill, frames, last in zip(skills, seen.frames, seen.last, strict=True):
        path = run.skills[skill].trajectory
        assert last == run.skills[skill].last_state
        for frame, time in zip(frames, times, strict=True):
            assert frame[0, 0, :2].tolist() == [*divmod(path[time], hostile.SIDE)]


def test_an_episode_that_ended_stays_where_it_ended():
    """Down thrice is the end; blue is the number of steps, and a reset would begin at 0 again."""
    hostile.healed(False)
    world, down, right = worlds.load(DRAWN), 2, 1
    choice = [[down, right, down, down, down, down], [right, down, right, right, right, right]]
    drawn = Drawn(jnp.arange(2), jnp.array(choice, jnp.int32))
    camera = _Camera(world, 2, [1, 3, 5, 6])
    host = Host(world, films=True)
    host.by_host(lambda *_: None, drawn, [0, 0], 1, camera.look)
    camera.finish()
    host.close()
    seen = [[frame[0, 0].tolist() for frame in frames] for frames in camera.frames]
    assert seen[0] == [[1, 0, 1], [2, 1, 3], [3, 1, 4], [3, 1, 4]]
    assert seen[1] == [[0, 1, 1], [1, 2, 3], [1, 3, 5], [1, 3, 6]]
    early = _Camera(world, 1, [2, 5])
    host = Host(world, films=True)
    host.by_host(lambda *_: None, drawn.part(0, 1), [0], 1, early.look)
    early.finish()
    host.close()
    assert [frame[0, 0].tolist() for frame in early.frames[0]] == [[1, 1, 2], [3, 1, 4]]


def test_the_sheet_has_a_tile_for_each_and_says_what_it_shows(run, capsys):
    assert main(["draw", str(run.path)]) == 0
    assert f"picture of every skill: {run.path / 'skills.png'}" in capsys.readouterr().out
    picture = imread(run.path / "skills.png")[..., :3]
    for edge in (picture[:4], picture[-4:], picture[:, :4], picture[:, -4:]):
        assert edge.min() == 1.0
    dark = (picture < 0.1).all(2)  # all colours are nearly black
    assert dark.mean() > 0.05
    assert apart.export(run, run.path.parent / "out").joinpath("skills.png").exists()


def test_small_ones_are_kept_for_pages(run):
    run.path.joinpath("frames.json").unlink(missing_ok=True)
    apart.draw(run.path)
    found = strips.stored(run)
    order = found["skills"]
    assert sorted(order) == list(range(10))
    assert found["times"] == [0, *strips.times(6)]
    assert found["sprites"]["shape"][1:] == [6, 9]
    assert page_data([run], policies_of)["runs"][0]["frames"] == found


@pytest.mark.parametrize("n", [1, 2, 17, 41, 121])
@pytest.mark.parametrize("aspect", [0.25, 1.0, 4.0])
def test_sheets_stay_pages(n, aspect):
    n_frames = len(sheets.times(n, 100))
    where = sheets.layout(n, n_frames, aspect)
    assert where.across * where.down >= n > (where.down - 1) * where.across
    assert max(where.size) < 40
    assert where.frame[0] / where.frame[1] == pytest.approx(aspect)
    assert where.tile[0] >= n_frames * where.frame[0]


def test_the_last_of_an_episode_is_always_seen():
    assert sheets.times(10, 100) == [33, 67, 100]
    assert sheets.times(100, 100) == [100]
    assert sheets.times(10, 1) == [1]


def test_who_cannot_render_ends_a_run_all_the_same(tmp_path, capsys):
    for text, why in (
        (f"{DRAWN},paints=false", "render fails: RuntimeError: GLX: no display (it needs a dis"),
        ("gym:hostile:Walk-v0", "has no map and no render()"),
    ):
        hostile.healed(False)
        folder = tmp_path / str(len(text))
        options = [f"--{key.replace('_', '-')}={value}" for key, value in OPTIONS.items()]
        assert main(["train", text, *options, "--out", str(folder), "--progress", "none"]) == 0
        lines = [line for line in capsys.readouterr().out.split("\n") if "no picture: " in line]
        assert len(lines) == 1
        assert why in lines[0]
        assert not (folder / "skills.png").exists()
        assert main(["draw", str(folder), "--frames"]) == 2
        said = capsys.readouterr()
        assert why in said.err
        assert said.out == ""


def test_worlds_in_jax_render_their_states(tmp_path):
    table = parse("####\n#S.#\n#..#\n####", "square")
    grid = twins.jax_grid(table)
    seen = dataclasses.replace(
        grid, places=Places(4), render=lambda s: np.full((4, 4, 3), int(s), np.uint8)
    )
    worlds.register("jax-grid", lambda spec, horizon: seen)
    run = apart.train(seen, out=tmp_path / "run", **OPTIONS)
    got = film(run, [3, 1], [2, 6])
    for skill, frames in zip([3, 1], got.frames, strict=True):
        path = run.skills[skill].trajectory
        assert [int(frame[0, 0, 0]) for frame in frames] == [path[2], path[6]]
    assert int(got.start[0, 0, 0]) == run.skills[0].trajectory[0]
    assert len(apart.draw(run)) == 1
    still = dataclasses.replace(seen, render=lambda s: jnp.zeros(3))
    worlds.register("jax-grid", lambda spec, horizon: still)
    again = apart.load(run.path)
    with pytest.raises(UserError, match=r"render gives float32 \(3,\), not bytes"):
        apart.draw(again)


def test_small_pixels_are_means_of_blocks():
    frame = np.zeros((700, 500, 3), np.uint8)
    frame[:, 0] = 90  # a line of one pixel
    small = shrunk(frame, 320)
    assert small.shape == (233, 166, 3)
    assert (small[:, 0] == 30).all()
    assert (small[:, 1:] == 0).all()


def test_what_the_user_says_of_displays_stays(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "MUJOCO_GL", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SDL_AUDIODRIVER", "pulse")
    with guards.offscreen():
        assert os.environ["MUJOCO_GL"] == "egl"
        assert os.environ["SDL_AUDIODRIVER"] == "pulse"
    assert "MUJOCO_GL" not in os.environ
    monkeypatch.setenv("DISPLAY", ":0")
    with guards.offscreen():
        assert "MUJOCO_GL" not in os.environ
