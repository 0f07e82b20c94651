"""Pictures come out whole and say what the run says."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest
from matplotlib.image import imread

from apart.cli import main
from apart.report.figures import skills_picture, terminal_map
from apart.runs import folder as run_folder

FINISHED = Path(__file__).parents[1] / "fixtures" / "runs-0.1" / "finished" / "apart"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run of an earlier version: its folder alone is enough."""
    copy = tmp_path_factory.mktemp("run") / "apart"
    shutil.copytree(FINISHED, copy)
    return run_folder.load(copy)


def test_a_picture_and_a_map_in_text(run):
    path = skills_picture(run)
    assert path.name == "skills.png"
    assert path.read_bytes().startswith(b"\x89PNG")
    lines = terminal_map(run).split("\n")
    rows = run.world.places.backdrop
    assert [line.count("██") for line in lines] == [row.count("#") for row in rows]
    assert "██" in "".join(lines)
    counts = [int(char) for char in "".join(lines) if char.isdigit()]
    assert sum(counts) == len(run.skills)
    assert len(counts) == run.n_effective


@pytest.mark.parametrize("n", [1, 8, 100, 160])
@pytest.mark.parametrize("shape", [(10, 10), (12, 30), (40, 6), (1, 3)])
def test_any_number_of_skills_on_any_map_fits_the_page(run, n, shape):
    """Nothing is cut off: the margins are white. The page is mostly skills.

    A number above a map of one row takes as much room as the map; a title is wider than one skill.
    """
    height, width = shape
    rows = ["S" + "." * (width - 1), *["." * width] * (height - 1)]
    skills = [
        run_folder.Skill(k, [(0, 0), (k % height, k % width)], (k % height, k % width), 0.5)
        for k in range(n)
    ]
    some = dataclasses.replace(run, spec={**run.spec, "map": rows})
    some.__dict__["skills"] = skills  # as if read from the folder
    picture = imread(skills_picture(some))[..., :3]
    tall, wide, _ = picture.shape
    for edge in (picture[:4], picture[-4:], picture[:, :4], picture[:, -4:]):
        assert edge.min() == 1.0
    assert tall <= 4000
    assert 700 <= wide <= 4000
    ink = (picture < 1.0).any(2)
    filled = ink[:, : wide // 2].any(1).mean(), ink.any(0).mean()
    assert min(filled) > (0.8 if n > 1 < height else 0.4), filled


def test_who_names_another_folder_is_told_where_runs_are(tmp_path, capsys):
    run = tmp_path / "study" / "runs" / "one" / "seed-0"
    shutil.copytree(FINISHED, run)
    for command, folder, why in (
        ("draw", tmp_path / "study", f"such as {run}"),
        ("resume", tmp_path / "study", "repeat its command"),
        ("report", tmp_path / "study", f"such as {run}"),
        ("play", run.parent, f"a set of runs; name one of them, such as {run}"),
    ):
        words = ["--skill", "0"] if command == "play" else []
        assert main([command, str(folder), *words]) == 2
        assert why in capsys.readouterr().err
    (run / "config.json").unlink()
    assert main(["draw", str(run)]) == 2
    assert f"{run}: no finished run here (config.json is missing)" in capsys.readouterr().err


def test_a_damaged_run_says_so_before_anything_is_told(tmp_path, capsys):
    shutil.copytree(FINISHED, tmp_path / "run")
    (tmp_path / "run" / "skills.json").unlink()
    assert main(["draw", str(tmp_path / "run")]) == 2
    said = capsys.readouterr()
    assert "skills.json" in said.err
    assert said.out == ""
