"""Does it learn? Six methods in four rooms, several seeds each, beside the paper's values.

    python benchmarks/learning.py                 # 5M steps, 4 seeds: results/learning.json
    python benchmarks/learning.py --table         # print the stored table as Markdown

Runs that are already in the folder are not made again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

from apart.runs import folder as run_folder

STORED = Path(__file__).parent.parent / "results" / "learning.json"
MARKS = (500_000, 1_000_000, 2_500_000, 5_000_000)
PAPER = {  # four rooms at 5M steps: the paper's reward table
    "apart": "56.25 ± 3.7",
    "ap_min_ascending": "46 ± 1",
    "ap_min": "10 ± 1.5",
    "ap_average": "26 ± 0",
    "diayn": "8.5 ± 0.8",
    "vic": "under 30 (at 150M)",
}


def train(method: str, steps: int, seeds: int, folder: Path) -> list[run_folder.Run]:
    out = folder / f"{method}-{steps}"
    if not (out / run_folder.SUMMARY).exists():
        command = [sys.executable, "-m", "apart", "train", "four_rooms", "--method", method]
        command += ["--steps", str(steps), "--seeds", str(seeds), "--out", str(out)]
        subprocess.run([*command, "--overwrite", "--no-draw"], check=True)
    return [run_folder.load(path) for path in sorted(out.glob("seed-*"))]


def at(run: run_folder.Run, mark: int) -> int:
    return int([row["n_effective"] for row in run.metrics if row["env_steps"] <= mark][-1])


def table(stored: dict[str, dict[str, list[int]]]) -> str:
    lines = ["| method | 0.5M | 1M | 2.5M | 5M | seeds at 5M | paper at 5M |", "|" + "---|" * 7]
    for method, marks in stored.items():
        cells = [f"{statistics.fmean(v):.1f} ± {statistics.stdev(v):.1f}" for v in marks.values()]
        last = ", ".join(map(str, list(marks.values())[-1]))
        lines.append(f"| `{method}` | {' | '.join(cells)} | {last} | {PAPER[method]} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=5_000_000)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--runs", type=Path, default=Path("runs/learning"))
    parser.add_argument("--table", action="store_true", help="only print what is stored")
    arguments = parser.parse_args()
    if not arguments.table:
        stored = {}
        for method in PAPER:
            runs = train(method, arguments.steps, arguments.seeds, arguments.runs)
            marks = [mark for mark in MARKS if mark <= arguments.steps]
            stored[method] = {str(mark): [at(run, mark) for run in runs] for mark in marks}
            STORED.parent.mkdir(exist_ok=True)
            STORED.write_text(json.dumps(stored, indent=1) + "\n")
    print(table(json.loads(STORED.read_text())))


if __name__ == "__main__":
    main()
