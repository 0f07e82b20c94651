"""Pictures come out whole and say what the run says."""

from __future__ import annotations

import apart
from apart.report.figures import skills_picture, terminal_map


def test_pictures_of_a_small_run(tmp_path):
    world = apart.parse_map("S.#\n...", "bent")
    options = {"steps": 40, "skills": 5, "horizon": 4, "batch": 8, "buffer": 40}
    run = apart.train(world, out=tmp_path / "r", **options)
    path = skills_picture(run)
    assert path.name == "skills.png"
    assert path.read_bytes().startswith(b"\x89PNG")
    lines = terminal_map(run).split("\n")
    assert len(lines) == 2
    assert lines[0].endswith("██")
    counts = [int(char) for char in "".join(lines) if char.isdigit()]
    assert sum(counts) == 5
    assert len(counts) == run.n_effective
