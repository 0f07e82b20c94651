"""What is written of the evaluations of a run, and what they have shown so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from apart._config import Config
from apart.running import records
from apart.runs.folder import Writer
from apart.training.evaluate import QUANTILES, Evaluation

_SHOWN = (
    "mean_reward",
    "mean_last_reward",
    "discriminator_accuracy",
    "information_count",
    "mutual_information",
)


class Logbook:
    """Rows of metrics.csv, details and history.

    Attributes:
        n_effective: of the last evaluation.
        first_full_at: environment steps after which ``n_effective`` first was ``n_available``.
    """

    def __init__(self, writer: Writer, config: Config, n_available: int | None) -> None:
        self._writer, self._config, self._n_available = writer, config, n_available
        self._n_rows = 0
        self._last_row: int | None = None  # environment steps when it was written
        self.n_effective: float = 0
        self.first_full_at: int | None = None

    def go_on(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """With the rows that processes before this one have written."""
        self._n_rows = len(rows)
        if rows:
            self.n_effective = rows[-1]["n_effective"]
            self._last_row = int(rows[-1]["env_steps"])
        full = [int(r["env_steps"]) for r in rows if r["n_effective"] == self._n_available]
        self.first_full_at = full[0] if full else None

    def see(self, steps: int, evaluation: Evaluation, wall_seconds: float, regular: bool) -> None:
        """Take note of the evaluation after ``steps``; write it if it is a ``regular`` one.

        That of the end may come between two of those: a run that goes on longer lacks it.
        """
        self.n_effective = records.count(float(evaluation.n_effective))
        if not regular:
            return
        self._row(steps, evaluation, wall_seconds)
        if records.has_detail(self._n_rows):
            self._writer.detail(records.detail(steps, evaluation))
        if records.has_history(self._n_rows):
            self._writer.history(records.moment(steps, evaluation))
        self._n_rows += 1

    def end(self, steps: int, evaluation: Evaluation, wall_seconds: float) -> None:
        """Write what only the end has; after the last save, as a longer run lacks it."""
        self.n_effective = records.count(float(evaluation.n_effective))
        between = self._last_row != steps
        if between:
            self._row(steps, evaluation, wall_seconds)
        if between or not records.has_detail(self._n_rows - 1):
            self._writer.detail(records.detail(steps, evaluation))
        if between or not records.has_history(self._n_rows - 1):
            self._writer.history(records.moment(steps, evaluation))

    def _row(self, steps: int, evaluation: Evaluation, wall_seconds: float) -> None:
        self._last_row = steps
        if self.first_full_at is None and self.n_effective == self._n_available:
            self.first_full_at = steps
        row: dict[str, Any] = {
            "env_steps": steps,
            "updates": self._config.updates_after(steps),
            "n_effective": self.n_effective,
            "n_available": "" if self._n_available is None else self._n_available,
            "wall_seconds": wall_seconds,
        }
        for name in _SHOWN:
            found = getattr(evaluation, name)
            row[name] = "" if found is None else f"{float(found):.6g}"
        for quantile, value in zip(QUANTILES, evaluation.reward_quantiles, strict=True):
            row[f"reward_q{round(100 * quantile)}"] = f"{float(value):.6g}"
        self._writer.row(row)
