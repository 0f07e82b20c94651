"""Who may import whom, read from the source."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "apart"
BASE = {"_config", "_types", "_errors", "_lazy", "_version"}
PARTS = {"worlds", "objective", "learner", "methods"}
MAY_IMPORT = {
    **dict.fromkeys(PARTS, BASE),
    **{room: {"_errors"} for room in BASE},
    "settings": BASE | PARTS,
    "runs": BASE | {"worlds", "settings"},
    "training": BASE | PARTS,
    "running": BASE | {"worlds", "settings", "training", "runs"},
    "report": BASE | {"runs"},
    "paper": BASE | {"worlds", "settings", "runs", "running", "report"},
    "cli": BASE | {"settings", "runs", "running", "report", "paper"},
    "__main__": {"cli"},
    "__init__": BASE | {"methods", "worlds", "runs", "running"},
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


def test_the_command_line_starts_without_jax():
    code = "import sys, apart, apart.cli, apart.running.seeds; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_there_is_one_door_to_the_disk():
    """Runs are written by runs/files.py and held by runs/lock.py; others ask them."""
    doors = {"write_text", "write_bytes", "mkdir", "unlink", "rmdir", "rename", "touch", "savefig"}
    doors |= {"rmtree", "fsync", "open", "truncate", "ftruncate", "symlink_to"}
    may = {"runs/files.py", "runs/lock.py", "worlds/grid.py", "cli/__init__.py"}  # maps, /dev/null
    for path in FILES:
        if str(path.relative_to(SOURCE)) in may:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                owner = node.func.value.id if isinstance(node.func.value, ast.Name) else "?"
                door = node.func.attr in doors or (owner, node.func.attr) == ("os", "replace")
                assert not door or owner == "files", f"{path.name}:{node.lineno} {node.func.attr}"
