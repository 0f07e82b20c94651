"""Who may import whom, read from the source."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from apart.facts import choices

SOURCE = Path(__file__).parent.parent / "src" / "apart"
BASE = {"_config", "_types", "_errors", "_lazy", "_registry", "_version"}
PARTS = {"worlds", "objective", "learner"}  # siblings do not know each other
MAY_IMPORT = {
    **{room: {"_errors"} for room in BASE},
    **dict.fromkeys(PARTS, BASE),
    "references": BASE,
    "methods": BASE | {"references"},
    **dict.fromkeys(("facts", "checks", "settings"), BASE | PARTS | {"methods", "facts", "checks"}),
    "training": BASE | PARTS,
    "runs": BASE | {"worlds", "checks", "facts", "settings"},
    "running": BASE | PARTS | {"methods", "checks", "facts", "settings", "training", "runs"},
    "report": BASE | {"runs", "settings", "skills", "worlds"},
    "skills": BASE | PARTS | {"training", "runs"},
    "paper": BASE | {"methods", "worlds", "settings", "runs", "running", "report"},
    "door": BASE
    | {"methods", "objective", "report", "runs", "running", "checks", "facts", "skills"}
    | {"worlds", "comparison"},
    "comparison": BASE
    | {"learner", "objective", "methods", "worlds", "settings", "runs", "running", "report"}
    | {"facts", "skills"},
    "cli": BASE
    | {"methods", "worlds", "settings", "runs", "running", "report", "skills", "paper"}
    | {"comparison", "facts"},
    "__main__": {"cli"},
    "__init__": BASE | {"door", "methods", "objective", "worlds", "runs", "comparison"},
}
FILES = sorted(SOURCE.rglob("*.py"))


def room(path):
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_go_one_way(path):
    own = room(path)
    for name in imported(path):
        parts = name.split(".")
        assert parts[0] not in ("torch", "pickle", "flax"), name
        if parts[0] == "apart" and len(parts) > 1 and parts[1] not in (own, "__version__"):
            assert parts[1] in MAY_IMPORT[own], f"{own} imports {name}"


# What an option can be is a record with facts; whoever asks for a name misses the next record.
NAMES = {name for kind in choices() for name in choices()[kind] if kind != "world"}
MAY_NAME = {"runs/versions.py"}  # translates the names of an earlier version


def compared(node):
    """The strings that a comparison, a ``startswith`` or a ``match`` asks for."""
    asked = []
    if isinstance(node, ast.Compare):
        asked = [node.left, *node.comparators]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        asked = node.args if node.func.attr in ("startswith", "endswith") else []
    elif isinstance(node, ast.MatchValue):
        asked = [node.value]
    for part in asked:
        for leaf in part.elts if isinstance(part, ast.Tuple | ast.List | ast.Set) else [part]:
            if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str):
                yield leaf.value


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_nobody_asks_for_the_name_of_a_record(path):
    if str(path.relative_to(SOURCE)) in MAY_NAME:
        return
    for node in ast.walk(ast.parse(path.read_text())):
        for word in compared(node):
            close = [name for name in NAMES if name == word or name.startswith(f"{word}_")]
            assert not close, f"{path.name}:{node.lineno} asks for '{word}'"


def test_a_question_for_a_name_is_found():
    for code in (
        "config.discriminator == 'counts'",
        "c.discriminator.startswith('all_pairs')",
        "'mlp' in (c.network, 'table')",
        "match x:\n case 'vic': pass",
    ):
        assert any(word for node in ast.walk(ast.parse(code)) for word in compared(node)), code


def test_the_command_line_starts_without_jax():
    code = "import sys, apart, apart.cli, apart.running.seeds; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_there_is_one_door_to_the_disk():
    """Runs are written by runs/files.py and held by runs/lock.py; others ask them."""
    doors = {"write_text", "write_bytes", "mkdir", "unlink", "rmdir", "rename", "touch", "savefig"}
    doors |= {"rmtree", "fsync", "open", "truncate", "ftruncate", "symlink_to"}
    may = {"runs/files.py", "runs/lock.py"}
    may |= {"worlds/grid.py", "cli/__init__.py", "running/cache.py"}  # maps, /dev/null, programs
    for path in FILES:
        if str(path.relative_to(SOURCE)) in may:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                owner = node.func.value.id if isinstance(node.func.value, ast.Name) else "?"
                door = node.func.attr in doors or (owner, node.func.attr) == ("os", "replace")
                assert not door or owner == "files", f"{path.name}:{node.lineno} {node.func.attr}"
