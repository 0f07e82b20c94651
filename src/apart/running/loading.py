"""Runs and sets as readers use them, finished or not. JAX starts when a checkpoint is evaluated."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from apart.runs import folder as run_folder
from apart.runs.folder import Run, RunSet


def shown(path: Path) -> Run | RunSet:
    """What is in ``path``, ready to be shown: unfinished runs as their newest checkpoint has them.

    Raises:
        UserError: no run there, or an unfinished one without a checkpoint.
    """
    return evaluable(run_folder.load_any(path)).snapshot


def shown_run(path: Path) -> Run:
    """The same of the one run in ``path``; a set is an error."""
    return _evaluable_run(run_folder.read(path)).snapshot


def evaluable(found: Run | RunSet) -> Run | RunSet:
    """``found``, whose unfinished runs evaluate their newest checkpoint when skills are needed."""
    if isinstance(found, RunSet):
        return dataclasses.replace(found, runs=[_evaluable_run(run) for run in found.runs])
    return _evaluable_run(found)


def _evaluable_run(run: Run) -> Run:
    return dataclasses.replace(run, evaluator=_snapshot)


def _snapshot(run: Run) -> Run:
    from apart.running.snapshot import snapshot

    return snapshot(run)
