"""README and guide: commands run as printed, with small budgets; the README stays short."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from apart.cli import main
from apart.worlds import grid

ROOT = Path(__file__).parent.parent
PAGES = {"README.md": ROOT / "README.md"}
PAGES |= {name: ROOT / "docs" / "guide" / f"{name}.md" for name in ("quickstart", "skills")}
LESS, LEAST = 1000, 1000


def blocks(page, language):
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def smaller(text):
    """``--steps 1M`` and ``steps=1_000_000`` as ``1000``."""
    units = {"": 1, "k": 1000, "M": 1_000_000}

    def less(match):
        steps = int(match[2].replace("_", "")) * units[match[3]]
        return f"{match[1]}{max(steps // LESS, LEAST)}"

    return re.sub(r"(--steps[ =]|steps=)([\d_]+)([kM]?)", less, text)


def commands(page):
    lines = [line for block in blocks(page, "sh") for line in block.splitlines()]
    return [smaller(line.split("#")[0].strip()) for line in lines if line.split("#")[0].strip()]


def test_budgets_are_made_small_by_one_rule():
    assert smaller("apart resume x --steps 2M") == "apart resume x --steps 2000"
    assert smaller("train(steps=200_000, seed=0)") == "train(steps=1000, seed=0)"


@pytest.mark.parametrize("name", PAGES)
def test_every_command_of_the_page_works_in_this_order(
    name, tmp_path, monkeypatch, capsys, in_this_process
):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "docs" / "guide", tmp_path / "docs" / "guide")
    page = PAGES[name]
    assert len(commands(page)) >= 3
    for command in commands(page):
        program, *words = shlex.split(command)
        assert program == "apart", command
        try:
            code = main(words)
        except SystemExit as ended:  # --help
            code = ended.code
        may_miss = words[0] == "reach"  # after so few steps
        assert code == 0 or (may_miss and code == 1), f"{command}: {capsys.readouterr().err}"


@pytest.mark.parametrize("name", ["README.md", "quickstart", "skills", "worlds", "methods"])
def test_the_python_of_the_page_works(name, tmp_path, monkeypatch):
    """In a process of its own: what a page registers stays."""
    page = PAGES.get(name, ROOT / "docs" / "guide" / f"{name}.md")
    code = "\n".join(smaller(block) for block in blocks(page, "python"))
    assert code
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_the_tutorials_solve_their_tasks_as_printed(tmp_path):
    own_map, gymnasium = blocks(ROOT / "docs" / "guide" / "tutorial.md", "python")
    assert len([line for line in own_map.splitlines() if line]) < 20
    for code, said in ((own_map, "solved with skill"), (gymnasium, "(100%): reward 1.0")):
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert said in done.stdout, done.stdout + done.stderr
        assert done.stderr == ""


@pytest.mark.parametrize("name", ["tutorial", "skills"])
def test_a_page_that_needs_gymnasium_says_first_how_to_install_it(name):
    text = (ROOT / "docs" / "guide" / f"{name}.md").read_text(encoding="utf-8")
    assert 0 <= text.find("pip install -e '.[gym]'") < text.find("```python")


def test_the_script_for_stable_baselines3_works(tmp_path):
    pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed")
    (code,) = blocks(ROOT / "docs" / "guide" / "skills.md", "py")
    script = tmp_path / "script.py"
    script.write_text(code)
    command = [sys.executable, str(script)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^(PPO|DQN) ", done.stdout, re.MULTILINE) == ["PPO", "PPO", "DQN"]


def test_every_script_of_a_tutorial_can_be_run_again():
    for code in blocks(ROOT / "docs" / "guide" / "tutorial.md", "python"):
        assert code.count("apart.train(") == code.count("overwrite=True")


def test_the_first_screen_has_the_two_commands():
    first = "\n".join((ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:25])
    assert "make demo" in first
    assert "make test" in first
    assert "make test" in (ROOT / ".ci" / "run").read_text()


def readme():
    return (ROOT / "README.md").read_text(encoding="utf-8")


def words(text):
    """What a reader reads: code is left out, cells of tables and marks are not."""
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL).split()


def test_the_readme_is_short_and_shows_python_early():
    assert len(words(readme())) <= 900
    before, python, _ = readme().partition("```python")
    assert python
    assert len(words(before)) < 150


def test_every_number_in_the_readmes_tables_is_generated():
    """So that `tables.py --check` holds it: every row stands between the marks of a table."""
    text = re.sub(r"```.*?```", "", readme(), flags=re.DOTALL)
    tables = re.compile(r"^<!-- (\w+) -->\n.*?^<!-- /\1 -->$", re.DOTALL | re.MULTILINE)
    assert len(tables.findall(text)) >= 3
    assert [line for line in tables.sub("", text).splitlines() if line.startswith("|")] == []


def test_every_decimal_number_in_the_readmes_sentences_is_generated():
    text = re.sub(r"```.*?```|<!-- (\w+) -->.*?<!-- /\1 -->", "", readme(), flags=re.DOTALL)
    text = re.sub(r"<!--\w+\.\d+-->.*?<!--/-->|\]\([^)]*\)", "", text)
    assert re.findall(r"(?<!Python )\b\d+\.\d+", text) == []


def test_what_a_comment_in_the_readmes_code_promises_is_stored():
    (code,) = blocks(ROOT / "README.md", "python")
    assert 'method="apart_plus", steps=200_000' in code
    table = json.loads((ROOT / "results" / "plus-sixty.json").read_text(encoding="utf-8"))
    row = table["apart_plus 200000"]
    assert row["complete"] == row["of"]
    cells = grid.load("four_rooms").n_states
    assert f"# {cells} of {cells} cells" in code
