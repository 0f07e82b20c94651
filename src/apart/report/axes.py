"""What rows and columns of a map mean, in words: for worlds whose places are bins of quantities."""

from __future__ import annotations

from apart.worlds.world import Axis, Places


def rows_and_columns(places: Places) -> tuple[Axis, Axis] | None:
    """The axes of a map of bins; None where rows and columns are those of a grid world."""
    if len(places.axes) != 2:
        return None
    rows, columns = places.axes
    return rows, columns


def number(value: float) -> str:
    """Two digits behind the point at most, with a true minus sign."""
    return f"{value:.2f}".rstrip("0").rstrip(".").replace("-", "\u2212")


def title(axis: Axis) -> str:
    """``pole angle (rad)``."""
    return f"{axis.name} ({axis.unit})" if axis.unit else axis.name


def legend(places: Places) -> list[str]:
    """Lines below a map: what its rows and columns are, and what it leaves out."""
    two, lines = rows_and_columns(places), []
    if two is not None:
        rows, columns = two
        lines = [
            f"rows: {title(rows)}, {number(rows.low)} (top) to {number(rows.high)} (bottom)",
            f"columns: {title(columns)}, {number(columns.low)} (left) to "
            f"{number(columns.high)} (right)",
        ]
    return [*lines, places.note] if places.note else lines
