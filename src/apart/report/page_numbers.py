"""Numbers as the explorer page reads them: short, few, and deflated where they are many."""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

Json = dict[str, Any]


def packed(numbers: Any, kind: str) -> Json:
    """An array as the page reads it: little-endian, deflated, base64. ``kind`` is a NumPy dtype."""
    array = np.ascontiguousarray(numbers, np.dtype(kind).newbyteorder("<"))
    data = base64.b64encode(zlib.compress(array.tobytes(), 9)).decode()
    return {"kind": kind, "shape": list(array.shape), "data": data}


def thinned(rows: Sequence[Any], most: int) -> list[Any]:
    """At most ``most`` of ``rows``, evenly, the first and the last among them."""
    if len(rows) <= most:
        return list(rows)
    return [rows[i] for i in np.unique(np.linspace(0, len(rows) - 1, most).astype(int))]


def short(value: float | None) -> float | None:
    """Six digits; None for what is not finite."""
    if value is None or not math.isfinite(value):
        return None
    return value if isinstance(value, int) else float(f"{value:.6g}")
