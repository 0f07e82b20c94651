"""Pictures come out whole and say what the run says."""

from __future__ import annotations

import dataclasses
import io
import shutil
from pathlib import Path

import pytest
from matplotlib.image import imread

import apart
from apart.cli import main
from apart.report import axes
from apart.report.figures import legend, picture_of, skills_picture, terminal_map
from apart.runs import folder as run_folder
from apart.worlds.world import Axis

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


def test_the_map_in_text_shows_the_start(run):
    row, column = run.skills[0].trajectory[0]
    sign = terminal_map(run).split("\n")[row][2 * column : 2 * column + 2]
    assert "S" in sign
    assert "S start" in legend(run)


def test_bins_are_drawn_with_axes_and_a_note(run, tmp_path):
    """The picture has room for them: its margins stay white."""
    two = (Axis("pole angle", "rad", 0.2, -0.2, 3), Axis("position", "", -2.4, 2.4, 3))
    world = dataclasses.replace(
        run.world, places=run.world.places._replace(backdrop=("...",) * 3, axes=two, note="a note")
    )
    some = dataclasses.replace(run)
    some.__dict__["world"] = world
    plain, picture = (imread(io.BytesIO(picture_of(one)))[..., :3] for one in (run, some))
    assert picture.shape[0] > plain.shape[0]
    for edge in (picture[:4], picture[-4:], picture[:, :4], picture[:, -4:]):
        assert edge.min() == 1.0
    assert terminal_map(some).split("\n")[3:] == axes.legend(world.places)


def test_a_picture_for_others_writes_nothing(run, tmp_path):
    copy = dataclasses.replace(run, path=tmp_path / "run")
    shutil.copytree(FINISHED, copy.path)
    before = sorted(copy.path.rglob("*"))
    assert picture_of(copy).startswith(b"\x89PNG")
    assert sorted(copy.path.rglob("*")) == before


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
    assert f"{run}: no run here (config.json is missing)" in capsys.readouterr().err


def test_a_damaged_run_says_so_before_anything_is_told(tmp_path, capsys):
    shutil.copytree(FINISHED, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "checkpoints")
    (tmp_path / "run" / "skills.json").unlink()
    assert main(["draw", str(tmp_path / "run")]) == 2
    said = capsys.readouterr()
    assert "skills.json" in said.err
    assert said.out == ""


def test_lost_skills_are_made_again_from_the_checkpoint(run, tmp_path, capsys):
    shutil.copytree(FINISHED, tmp_path / "run")
    (tmp_path / "run" / "skills.json").unlink()
    assert main(["draw", str(tmp_path / "run")]) == 0
    assert (tmp_path / "run" / "skills.png").exists()
    again = apart.load(tmp_path / "run")
    assert again.finished
    ends = [skill.trajectory for skill in again.skills]
    assert ends == [skill.trajectory for skill in run.skills]
