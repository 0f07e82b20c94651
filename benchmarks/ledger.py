"""Write docs/paper/ledger.md and its pictures from results/reproduce/ID.json.

python benchmarks/ledger.py --from runs/reproduce    # take results over first
python benchmarks/ledger.py --check                  # exit 1 when the page differs
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from apart.paper import _ledger
from apart.paper._reproduce import draw

ROOT = Path(__file__).parent.parent
STORED = ROOT / "results" / "reproduce"
PICTURES = ROOT / "docs" / "images" / "reproduce"
PAGE = ROOT / "docs" / "paper" / "ledger.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", dest="source", type=Path, help="folder of apart reproduce")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    for path in arguments.source.glob("*.json") if arguments.source else []:
        shutil.copy(path, STORED / path.name)
    found = _ledger.results_in(STORED)
    page = _ledger.page(found)
    if arguments.check:
        if page != PAGE.read_text(encoding="utf-8"):
            raise SystemExit("docs/paper/ledger.md differs from results/: run benchmarks/ledger.py")
        return
    for name, (spec, results) in found.items():
        draw(spec, results, PICTURES / f"{name}.png")
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
