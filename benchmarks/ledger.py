"""Write docs/paper/ledger.md, claims.md and their pictures from results/reproduce/.

python benchmarks/ledger.py --from runs/reproduce    # take results over first
python benchmarks/ledger.py --check                  # exit 1 when a page differs
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from apart.methods import READINGS
from apart.paper import _ledger, _records
from apart.paper._reproduce import draw

ROOT = Path(__file__).parent.parent
STORED = ROOT / "results" / "reproduce"
PICTURES = ROOT / "docs" / "images" / "reproduce"
PAGES = {"ledger": _ledger.short, "claims": _ledger.claims}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", dest="source", type=Path, help="folder of apart reproduce")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    for reading in READINGS if arguments.source else []:
        stored = _records.place(STORED, reading)
        stored.mkdir(exist_ok=True)
        for path in _records.place(arguments.source, reading).glob("*.json"):
            shutil.copy(path, stored / path.name)
    found = _ledger.results_in(STORED)
    for name, write in PAGES.items():
        page, path = write(found), ROOT / "docs" / "paper" / f"{name}.md"
        if not arguments.check:
            path.write_text(page)
        elif page != path.read_text(encoding="utf-8"):
            raise SystemExit(f"{path.name} differs from results/: run python benchmarks/ledger.py")
    if arguments.check:
        return
    for name, entry in found.items():
        for reading, results in entry.results.items():
            draw(entry.spec, results, _records.place(PICTURES, reading) / f"{name}.png")


if __name__ == "__main__":
    main()
