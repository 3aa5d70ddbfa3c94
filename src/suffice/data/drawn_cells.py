"""Drawn cells as the columns held them: whole numbers, 0 and 1, dates and times."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import DATES, DURATIONS, LOW, TIMES, Column, UniformColumns

LARGEST = 2.0**63
EARLIEST, LATEST = -62_135_596_800, 253_402_300_799  # the years 1 to 9999
DAY = 86_400


def as_held(rows: dict[str, NDArray[Any]], columns: Sequence[Column]) -> dict[str, NDArray[Any]]:
    """Return drawn numbers (n,) by column as cells that a model reads as the rows of its fit."""
    if isinstance(columns, UniformColumns):
        return rows
    found = {}
    for column in columns:
        drawn = rows[column.name]
        if drawn.dtype == bool and column.stored in ("integer", "number") and column.reason in LOW:
            drawn = np.where(drawn, 1.0, LOW[column.reason])
        if column.stored == "time" and drawn.dtype.kind == "f":
            drawn = _times(drawn, column.reason)
        elif column.stored == "integer" and drawn.dtype.kind == "f":
            nearest = np.rint(drawn)
            drawn = nearest.astype(np.int64) if (np.abs(nearest) < LARGEST).all() else nearest
        found[column.name] = drawn
    return found


def _times(seconds: NDArray[np.float64], reason: str) -> NDArray[Any]:
    if reason == TIMES:
        steps = np.rint(np.clip(seconds, 0, DAY - 1e-6) * 1e6).astype(np.int64)
        midnight = datetime(1970, 1, 1)
        of_day = [(midnight + timedelta(microseconds=int(step))).time() for step in steps]
        return np.array(of_day, dtype=object)
    if reason == DATES:
        seconds = DAY * np.rint(seconds / DAY)
    steps = np.rint(np.clip(seconds, EARLIEST, LATEST) * 1e6).astype(np.int64)
    return steps.astype("timedelta64[us]" if reason == DURATIONS else "datetime64[us]")
