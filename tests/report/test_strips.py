"""Strips of frames: what is kept of a film, how large it may be, and when it is not believed."""

from __future__ import annotations

import base64
import json
import zlib

import numpy as np
import pytest

import apart
from apart._errors import UserError
from apart.report import page_frames, strips
from apart.runs import files
from apart.skills import frames
from apart.skills.frames import Film

OPTIONS = {"steps": 400, "skills": 4, "horizon": 8, "evaluate_every": 200}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    world = apart.parse_map("S..\n...", "small")
    return apart.train(world, method="apart_plus", out=tmp_path_factory.mktemp("run"), **OPTIONS)


def unpacked(part):
    data = zlib.decompress(base64.b64decode(part["data"]))
    return np.frombuffer(data, part["kind"]).reshape(part["shape"])


def picture(colour, side=(4, 6)):
    return np.full((*side, 3), colour, np.uint8)


def filmed(_run, skills, times):
    """Each frame is one colour, which says whose it is and when."""
    return Film(
        picture([0, 0, 0]),
        [[picture([50 * skill, 10 * time, 200]) for time in times] for skill in skills],
        [None] * len(skills),
    )


def test_quarters_of_an_episode():
    assert strips.times(40) == [10, 20, 30, 40]
    assert strips.times(3) == [1, 2, 3]
    assert strips.times(1) == [1]


def test_a_film_is_kept_and_read_back(run, monkeypatch):
    monkeypatch.setattr(frames, "film", filmed)
    shown = strips.filmed(run, [2, 0, 3], [3, 8])
    assert [frame[0, 0, 1] for frame in shown.frames[0]] == [30, 80]  # what was asked for
    found = strips.stored(run)
    assert found["skills"] == [2, 0, 3]
    assert found["times"] == [0, 2, 4, 6, 8]
    palette, sprites, which = (unpacked(found[n]) for n in ("palette", "sprites", "which"))
    assert sprites.shape == (13, 4, 6)  # the start once, four of each skill
    for row, skill in enumerate(found["skills"]):
        colours = [palette[sprites[n][0, 0]].tolist() for n in which[row]]
        assert colours == [[0, 0, 0], *([50 * skill, 10 * t, 200] for t in (2, 4, 6, 8))]


def test_frames_are_made_small_by_means_of_blocks():
    frame = np.zeros((100, 200, 3), np.uint8)
    frame[:, ::3] = 90
    small = strips.made(Film(frame, [[frame]], [(0, 0)]), [0], [0, 8], [0])
    assert small.sprites.shape == (1, 33, 66)
    assert (small.palette[small.sprites] == 30).all()


def test_what_is_too_large_loses_times_then_skills(run, monkeypatch):
    noise = np.random.default_rng(0).integers(0, 64, (17, 30, 30))
    which = np.arange(16).reshape(4, 4)
    full = strips.Strips(
        [0, 1, 2, 3], [0, *strips.times(8)], np.zeros((64, 3)), noise, np.c_[[16] * 4, which]
    )
    size = len(strips._content(full)["sprites"]["data"])
    for share, skills, times in (
        (1.01, [0, 1, 2, 3], [0, 2, 4, 6, 8]),
        (0.6, [0, 1, 2, 3], [0, 4, 8]),
        (0.35, [0, 1, 2, 3], [0, 8]),
        (0.2, [0, 1], [0, 8]),
        (0.13, [0], [0, 8]),
    ):
        monkeypatch.setattr(strips, "_MOST", int(share * size))
        strips.keep(run, full)
        found = strips.stored(run)
        assert (found["skills"], found["times"]) == (skills, times)
        sprites, kept = unpacked(found["sprites"]), unpacked(found["which"])
        assert (sprites[kept[0, -1]] == noise[3]).all()  # the end of the first skill
        assert len(sprites) == len(np.unique(kept))


def test_a_run_that_went_on_has_none_and_damage_is_told(run, monkeypatch):
    monkeypatch.setattr(frames, "film", filmed)
    strips.film_all(run)
    path = run.path / "frames.json"
    stored = files.read_sealed(path)
    files.write_sealed(path, {**stored, "env_steps": 1})
    assert strips.stored(run) is None
    for wrong in (
        {"skills": [9, 0, 1, 2]},
        {"times": [0, 8]},
        {"which": {**stored["which"], "kind": "object"}},
        {"palette": {**stored["palette"], "shape": [1, 3]}},
        {"sprites": None},
    ):
        files.write_sealed(path, {**stored, **wrong})
        with pytest.raises(UserError, match=r"frames.json: not written by this version"):
            strips.stored(run)
    path.write_text(path.read_text().replace("uint8", "uint9"))
    with pytest.raises(UserError, match=r"frames.json"):
        strips.stored(run)
    path.unlink()
    assert strips.stored(run) is None


def test_a_page_keeps_frames_of_first_seeds(run, monkeypatch):
    monkeypatch.setattr(frames, "film", filmed)
    strips.film_all(run)
    one = len(json.dumps(strips.stored(run)))
    monkeypatch.setattr(page_frames, "_MOST_FRAMES", int(2.5 * one))
    entries = [{}, {}, {}]
    page_frames.add_frames([run] * 3, entries, [{"runs": [0, 1]}, {"runs": [2]}])
    assert [entry["frames"] is None for entry in entries] == [False, True, False]
    assert "left out" in entries[1]["frames_note"]
