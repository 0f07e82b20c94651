"""Kill -9 a run again and again, inside and outside of saves, and compare how it ends.

    python benchmarks/torture.py [--kills 1000]

Small runs of several methods save after every round. Each is killed before or after a random file
operation, or at a random moment, resumed, killed again, until it ends; then all its bits (but for
the clock) are compared with those of a run that was never stopped. Of a set of seeds, each child or
the parent is killed; children that live on hold their locks. Prints the count of identical endings;
exit 1 if one differs.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from safetensors.numpy import load_file

import apart
from apart.running import pool, queue
from apart.runs import checkpoint
from apart.runs import folder as run_folder

RESULTS = Path(__file__).parents[1] / "results" / "torture.json"
MAP = "S..\n.#.\n..."
SMALL = {"steps": 240, "skills": 5, "horizon": 6, "evaluate_every": 24}
SAMPLED = {"batch": 16, "buffer": 200}
CASES: dict[str, dict[str, Any]] = {
    "apart": {"method": "apart", **SAMPLED},
    "apart_plus": {"method": "apart_plus"},
    "apart_logits": {"method": "apart_logits", **SAMPLED, "buffer": 90},
    "diayn": {"method": "diayn", **SAMPLED, "target_period": 7, "average_rate": 0.1},
    "published": {"method": "apart", "reading": "published", **SAMPLED, "buffer": 4000},
    "mlp": {"method": "vic", "network": "mlp:8", **SAMPLED},
    "three seeds": {"method": "diayn", **SAMPLED, "seeds": 3},
}
# Of os; every save goes through them.
OPERATIONS = ("open", "write", "fsync", "close", "replace", "unlink", "ftruncate")
# A run of this size spends its life compiling: keep what was compiled.
CACHE = {
    "JAX_COMPILATION_CACHE_DIR": tempfile.gettempdir() + "/apart-torture-cache",
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}


def ending(path: Path) -> dict[str, Any]:
    """Everything that must be equal: all but the clock."""
    newest = checkpoint.manifests(path / run_folder.CHECKPOINTS)[-1]
    arrays = load_file(newest.with_suffix(".safetensors"))
    with (path / run_folder.METRICS).open(newline="") as file:
        rows = [{k: v for k, v in r.items() if k != "wall_seconds"} for r in csv.DictReader(file)]
    return {
        "iteration": newest.name,
        "arrays": {name: value.tobytes() for name, value in arrays.items()},
        "metrics": rows,
        "details": (path / run_folder.DETAILS).read_bytes(),
        "history": (path / run_folder.HISTORY).read_bytes(),
        "skills": (path / run_folder.SKILLS).read_bytes(),
        "config": (path / run_folder.CONFIG).read_bytes(),
        "first_full_at": json.loads((path / run_folder.SUMMARY).read_text())["first_full_at"],
    }


def endings(path: Path) -> list[dict[str, Any]]:
    """Of a run, or of every run of a set."""
    return [ending(folder) for folder in run_folder.seed_folders(path) or [path]]


def begin_or_go_on(path: Path, options: dict[str, Any]) -> None:
    if (path / run_folder.CONFIG).exists() or run_folder.seed_folders(path):
        apart.resume(path, warn=lambda line: None)
    else:
        apart.train(apart.parse_map(MAP, "ring"), out=path, overwrite=True, **options)


def child(path: Path, options: dict[str, Any], at: int, phase: str) -> None:
    """Train, and die before or after the ``at``-th file operation (or by another's hand)."""
    if "seeds" in options:
        queue._TRIES = 1  # a lost seed is resumed with its set, by the next start
        mine = [sys.executable, __file__, "--child"]
        pool.command = lambda folder, *more: [*mine, str(folder), "{}", str(at), phase]
    else:
        from apart.running import clock
        from apart.running import run as host

        clock.SAVE_SECONDS, clock.SAVE_SHARE, host._SLICE_SECONDS = 0.0, 1e9, 0.0
        _die_at(at, phase)
    begin_or_go_on(path, options)


def _die_at(at: int, phase: str) -> None:
    count = 0

    def wrap(name: str) -> None:
        plain = getattr(os, name)

        def wrapped(*arguments: Any, **named: Any) -> Any:
            nonlocal count
            count += 1
            mine = count == at
            if mine and phase == "before":
                os.kill(os.getpid(), 9)
            found = plain(*arguments, **named)
            if mine and phase == "after":
                os.kill(os.getpid(), 9)
            return found

        setattr(os, name, wrapped)

    for name in OPERATIONS:
        wrap(name)


def kill_once(path: Path, options: dict[str, Any], rng: random.Random) -> bool:
    """Start it once and let it (or a child of it) die, or end; whether one died."""
    phase = rng.choice(["before", "after", "any moment"])
    at = 10**9 if phase == "any moment" else rng.randrange(1, 250)
    words = [sys.executable, __file__, "--child", str(path), json.dumps(options), str(at), phase]
    process = subprocess.Popen(
        words, env={**os.environ, **CACHE, "PJRT_NPROC": "1"}, stderr=subprocess.PIPE
    )
    if phase == "any moment":
        time.sleep(rng.uniform(0.5, 5.0))
        process.kill()
    _, errors = process.communicate()
    if process.returncode in (0, -9):
        return process.returncode == -9
    lines = errors.decode().strip().split("\n")
    if "seeds" in options and re.match(
        r"apart\.UserError: (\d+ of \d+ runs failed: )?seed-", lines[-1]
    ):
        return "in use by" not in lines[-1]  # a seed was killed; or one still lives
    raise SystemExit(f"{path}: {errors.decode()}")


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        _, _, path, options, at, phase = sys.argv
        return child(Path(path), json.loads(options), int(at), phase)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    os.environ.update(CACHE)
    with tempfile.TemporaryDirectory() as folder:
        whole = {}
        for case, options in CASES.items():
            begin_or_go_on(Path(folder) / case, {**SMALL, **options})
            whole[case] = endings(Path(folder) / case)
        told = threading.Lock()
        tally = {"kills": 0, "endings": 0, "identical": 0}

        def work(number: int) -> None:
            rng = random.Random(1000 * arguments.seed + number)
            n = 0
            while tally["kills"] < arguments.kills:
                case, n = rng.choice(list(CASES)), n + 1
                path = Path(folder) / f"{case}-{number}-{n}"
                deaths = 0
                while not (path / run_folder.SUMMARY).exists():
                    deaths += kill_once(path, {**SMALL, **CASES[case]}, rng)
                same = endings(path) == whole[case]
                with told:
                    tally["kills"] += deaths
                    tally["endings"] += 1
                    tally["identical"] += same
                    print(
                        f"{case}: {deaths} kills, {'same' if same else 'DIFFERS'}; {tally}",
                        flush=True,
                    )

        workers = [threading.Thread(target=work, args=(n,)) for n in range(os.cpu_count() or 1)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    print(f"{tally['identical']} of {tally['endings']} endings identical, {tally['kills']} kills")
    RESULTS.write_text(json.dumps(tally) + "\n")
    raise SystemExit(tally["identical"] != tally["endings"])


if __name__ == "__main__":
    main()
