"""Drawn cells as the columns held them: whole numbers, 0 and 1, dates and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import DATES, LOW, TIMES, Column, UniformColumns

LARGEST = 2.0**63


def with_whole_numbers(
    rows: Mapping[str, NDArray[Any]], columns: Sequence[Column]
) -> dict[str, NDArray[Any]]:
    """Return the rows with integers, and outcomes as numbers, where the columns held such.

    Examples
    --------
    >>> columns = (
    ...     Column("age", "integer", "real", "whole numbers"),
    ...     Column("hit", "integer", "binary", "only -1 and 1"),
    ... )
    >>> drawn = with_whole_numbers({"age": np.array([31.4]), "hit": np.array([False])}, columns)
    >>> drawn["age"], drawn["hit"]
    (array([31]), array([-1]))
    """
    found = dict(rows)
    if isinstance(columns, UniformColumns):
        return found
    for column in columns:
        drawn = found[column.name]
        if drawn.dtype == bool and column.stored in ("integer", "number") and column.reason in LOW:
            drawn = np.where(drawn, 1.0, LOW[column.reason])
        if column.stored == "integer" and drawn.dtype.kind == "f":
            nearest = np.rint(drawn)
            held = bool((np.abs(nearest) < LARGEST).all())
            drawn = nearest.astype(np.int64) if held else nearest
        found[column.name] = drawn
    return found


EARLIEST, LATEST = -62_135_596_800, 253_402_300_799  # the years 1 to 9999
DAY = 86_400


def with_times(
    rows: Mapping[str, NDArray[Any]], columns: Sequence[Column]
) -> dict[str, NDArray[Any]]:
    """Return rows with times in the columns that held times, so that a model reads them again.

    Parameters
    ----------
    rows : mapping of str to ndarray (n,)
        Numbers, by column; None where nothing is known.
    columns : sequence of Column
        What the columns are.

    Examples
    --------
    >>> sold = Column("sold", "time", "real", DATES)
    >>> with_times({"sold": np.array([86400.5])}, [sold])["sold"]
    array(['1970-01-02T00:00:00.500000'], dtype='datetime64[us]')
    """
    found = dict(rows)
    if isinstance(columns, UniformColumns):
        return found
    for column in columns:
        if column.stored == "time" and found[column.name].dtype.kind == "f":
            found[column.name] = _times(found[column.name], column.reason)
    return found


def _times(seconds: NDArray[np.float64], what: str) -> NDArray[Any]:
    if what == TIMES:
        steps = np.rint(np.clip(seconds, 0, DAY - 1e-6) * 1e6).astype(np.int64)
        midnight = datetime(1970, 1, 1)
        of_day = [(midnight + timedelta(microseconds=int(step))).time() for step in steps]
        return np.array(of_day, dtype=object)
    steps = np.rint(np.clip(seconds, EARLIEST, LATEST) * 1e6).astype(np.int64)
    return steps.astype("datetime64[us]" if what == DATES else "timedelta64[us]")
