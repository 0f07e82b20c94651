"""Write the tables and numbers of README and docs from the stored results; `--check` compares.

    python benchmarks/tables.py [--check]

A table stands between `<!-- name -->` and `<!-- /name -->` in any page, on lines of its own; a
number in a sentence stands in `<!--name.0-->85<!--/-->`, where 0 is its index in what the function
returns. The functions are in the modules of `tabled`.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import pkgutil
import re
from collections.abc import Sequence

import tabled
from tabled.base import NUMBERS, ROOT, TABLES

for module in pkgutil.iter_modules(tabled.__path__):
    importlib.import_module(f"tabled.{module.name}")

TABLE_MARK = re.compile(r"<!-- (\w+) -->\n.*?<!-- /\1 -->", re.DOTALL)
NUMBER_MARK = re.compile(r"<!--(\w+)\.(\d+)-->.*?<!--/-->")


@functools.cache
def numbers_of(name: str) -> Sequence[str]:
    return NUMBERS[name]()


def renewed(text: str) -> str:
    def table(match: re.Match[str]) -> str:
        name = match.group(1)
        return f"<!-- {name} -->\n{TABLES[name]()}\n<!-- /{name} -->"

    def number(match: re.Match[str]) -> str:
        name, index = match.group(1), int(match.group(2))
        return f"<!--{name}.{index}-->{numbers_of(name)[index]}<!--/-->"

    return NUMBER_MARK.sub(number, TABLE_MARK.sub(table, text))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit 1 when a page is out of date")
    check = parser.parse_args().check
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        text = path.read_text(encoding="utf-8")
        new = renewed(text)
        if new == text:
            continue
        if check:
            page = path.relative_to(ROOT)
            raise SystemExit(f"{page} differs from results/: run python benchmarks/tables.py")
        path.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
