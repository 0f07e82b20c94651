"""The tables and numbers in README and docs are those of the stored results."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import tables
from tabled.family import family_papers

from apart.methods import METHODS

ROOT = Path(__file__).parent.parent


def check(root):
    command = [sys.executable, str(root / "benchmarks" / "tables.py"), "--check"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_tables_and_numbers_equal_the_stored_results():
    result = check(ROOT)
    assert result.returncode == 0, result.stderr


def test_another_stored_number_is_noticed(tmp_path):
    """0.58 to 1.17 times as long: in a sentence, in no table."""
    for folder in ("benchmarks", "results", "docs"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "README.md", tmp_path)
    stored = tmp_path / "results" / "spread-cost.json"
    rows = json.loads(stored.read_text(encoding="utf-8"))
    rows[0]["ratio_of_means"] = 9.0
    stored.write_text(json.dumps(rows), encoding="utf-8")
    result = check(tmp_path)
    assert result.returncode == 1
    assert "apart_spread.md" in result.stderr


def test_every_table_is_shown():
    marks = {name for page in pages() for name in re.findall(r"<!-- /(\w+) -->", read(page))}
    assert marks == set(tables.TABLES)


def test_methods_without_a_rank_are_in_no_ranked_table():
    unranked = {name for name, method in METHODS.items() if method.unranked}
    assert unranked == {"relative_vic", "rnd", "count_exploration"}
    for name in ("readme_replay", "readme_planning", "compare_few"):
        shown = set(re.findall(r"^\| `(\w+)`", tables.TABLES[name](), re.MULTILINE))
        assert {"vic", "apart_plus"} & shown
        assert not unranked & shown
    assert unranked <= set(re.findall(r"^\| `(\w+)`", tables.TABLES["compare"](), re.MULTILINE))


def test_the_family_table_has_every_method_of_another_paper():
    """Others are APART's own (they have readings), this package's, or no method."""
    named = re.findall(r"^\| \[`(\w+)`\]\((\w+\.md)\) \| \[", family_papers(), re.MULTILINE)
    assert {name for name, _ in named} == {n for n, method in METHODS.items() if method.paper}
    others = [n for n, method in METHODS.items() if method.settled and not method.paper]
    own = ["apart_logits", "apart_pixels", "apart_plus", "apart_spread", "random_walk"]
    assert sorted(others) == own
    assert not any(method.paper for method in METHODS.values() if not method.settled)
    assert all((ROOT / "docs" / "family" / page).exists() for _, page in named)


def test_marks_name_known_numbers_and_every_function_has_a_mark():
    marks = {found for page in pages() for found in tables.NUMBER_MARK.findall(read(page))}
    made = {(name, str(i)) for name in tables.NUMBERS for i in range(len(tables.numbers_of(name)))}
    assert marks - made == set()
    assert {name for name, _ in marks} == set(tables.NUMBERS)


def without_code(text):
    return re.sub(r"(`+).*?\1", "", text, flags=re.DOTALL)


def test_pages_have_no_other_marks():
    for page in pages():
        text = tables.NUMBER_MARK.sub("", tables.TABLE_MARK.sub("", read(page)))
        assert "<!--" not in without_code(text), page


def test_a_number_is_shown_as_a_number():
    """Code and alternative texts show the mark, too; a line that begins with one is plain HTML."""
    for page in pages():
        text = read(page)
        plain = re.sub(r"!\[.*?\]", "", without_code(text), flags=re.DOTALL)
        assert len(tables.NUMBER_MARK.findall(plain)) == len(tables.NUMBER_MARK.findall(text)), page
        assert not re.search(r"^[ >]*([-*] +)?<!--\w+\.", text, re.MULTILINE), page


def test_the_ledger_equals_the_stored_results():
    command = [sys.executable, str(ROOT / "benchmarks" / "ledger.py"), "--check"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def read(page):
    return page.read_text(encoding="utf-8")


def pages():
    named = ("README.md", "CONTRIBUTING.md", "results/README.md")
    return [*(ROOT / name for name in named), *(ROOT / "docs").rglob("*.md")]


def anchors(page):
    """Of the headings, as code-hosting pages make them."""
    heads = re.findall(r"^#+ (.*)$", read(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_links_between_pages_lead_somewhere():
    for page in pages():
        for part in read(page).split("](")[1:]:
            target, _, anchor = part.split(")")[0].partition("#")
            if "://" in target:
                continue
            found = page.parent / target if target else page
            assert found.exists(), f"{page.name}: {target}"
            assert not anchor or anchor in anchors(found), f"{page.name}: {target}#{anchor}"


def test_every_stored_result_is_in_the_index_with_its_command():
    page = read(ROOT / "results" / "README.md")
    cells = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    known = [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]
    stored = [path.relative_to(ROOT / "results") for path in (ROOT / "results").rglob("*.json")]
    assert {path for path in stored if not any(path.match(name) for name in known)} == set()
    assert [name for name in known if not any(path.match(name) for path in stored)] == []


def test_every_figure_has_alt_text_and_is_small():
    for page in pages():
        for alt, target in re.findall(r"!\[(.*?)\]\((.*?)\)", read(page)):
            assert len(alt) >= 8, f"{page.name}: {target}"
            assert (page.parent / target).stat().st_size < 2_000_000, target


def test_every_page_is_in_an_index():
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*/*.md"):
        assert f"({page.parent.name}/{page.name})" in index, page


def test_every_run_of_the_guides_has_a_folder_of_its_own():
    """Whoever follows several pages is not told that a folder holds a run already."""
    found = [
        name
        for page in (ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md")))
        for name in re.findall(r"(?:apart train .*--out |out=\")(runs/[\w-]+)", read(page))
    ]
    assert len(found) > 20
    assert sorted(found) == sorted(set(found))
