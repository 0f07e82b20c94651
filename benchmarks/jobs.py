"""Many runs on all cores: one worker process a core, each with one thread and one compilation per
program. Finished runs are not made again, so an interrupted study goes on where it stopped.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from apart.runs import folder as run_folder

Job = dict[str, Any]  # world, method, id (a folder's name), and options of the configuration


def run(jobs: list[Job], folder: Path, long: bool = False) -> dict[str, run_folder.Run]:
    """Train every job below ``folder``; the finished runs by id.

    Seeds of one program go to one worker, which compiles it once; ``long`` runs are dealt out one
    by one, so that both cores are busy to the end.
    """
    folder.mkdir(parents=True, exist_ok=True)
    todo = [job for job in jobs if not (folder / job["id"] / run_folder.SUMMARY).exists()]
    groups = [[job] for job in todo] if long else list(_groups(todo).values())
    cores = len(os.sched_getaffinity(0))
    began = time.monotonic()
    workers = []
    for number in range(min(cores, len(groups))):
        share = [job for group in groups[number::cores] for job in group]
        environment = {**os.environ, "PJRT_NPROC": "1"}
        command = [sys.executable, __file__, str(folder), json.dumps(share)]
        workers.append(subprocess.Popen(command, env=environment))
    failed = [worker for worker in workers if worker.wait()]
    if failed:
        raise SystemExit(f"{len(failed)} of {len(workers)} workers failed")
    if todo:
        print(f"{len(todo)} runs in {time.monotonic() - began:.0f} s on {cores} cores", flush=True)
    return {job["id"]: run_folder.load(folder / job["id"]) for job in jobs}


def _groups(jobs: list[Job]) -> dict[str, list[Job]]:
    groups: dict[str, list[Job]] = {}
    for job in jobs:
        program = {name: value for name, value in job.items() if name not in ("id", "seed")}
        groups.setdefault(json.dumps(program, sort_keys=True), []).append(job)
    return groups


def work(folder: Path, jobs: list[Job]) -> None:
    """Train ``jobs`` one after the other in this process."""
    import apart

    for job in jobs:
        options = dict(job)
        out = folder / options.pop("id")
        done = apart.train(options.pop("world"), out=out, overwrite=True, **options)
        for checkpoint in (out / run_folder.CHECKPOINTS).glob("*.safetensors"):
            checkpoint.unlink()  # a study keeps results, not states
        print(f"{out.name}: {done.n_effective} of {done.n_available}", flush=True)


if __name__ == "__main__":
    work(Path(sys.argv[1]), json.loads(sys.argv[2]))
