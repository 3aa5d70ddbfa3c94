"""Answers to the rows that have one: others lack a cell, or show a category that no fit knew."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.errors import warn
from suffice.statistics.batch import Batch

__all__ = ["Partial", "answer_complete", "tables_with_gaps"]

R = TypeVar("R")


@dataclass(frozen=True)
class Partial(Generic[R]):
    """What was found of the complete rows of a batch."""

    complete: NDArray[np.bool_]  # (n,)
    found: R


def answer_complete(
    complete: Callable[[Batch], NDArray[np.bool_]], answer: Callable[[Batch], R], batch: Batch
) -> Partial[R]:
    """Answer those rows of a batch that are ``complete``."""
    rows = complete(batch)
    return Partial(rows, answer(batch.take(np.flatnonzero(rows))))


def tables_with_gaps(
    table: Callable[[Any], pa.Table], parts: Iterable[Partial[Any]]
) -> Iterator[pa.Table]:
    """Yield a table for every batch, with nulls in rows that have no answer; count these at last.

    Examples
    --------
    >>> part = Partial(np.array([True, False, True]), [7.0, 8.0])
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     (answers,) = tables_with_gaps(lambda x: pa.table({"prediction": x}), [part])
    >>> answers.column(0).to_pylist()
    [7.0, None, 8.0]
    """
    rows = answered = 0
    for part in parts:
        place = np.cumsum(part.complete) - 1
        yield table(part.found).take(pa.array(place, mask=~part.complete))
        rows += len(place)
        answered += int(part.complete.sum())
    if answered < rows:
        warn(
            f"{rows - answered} of {rows} rows have no answer: a cell is missing, or shows a "
            "category that no row of the fit had"
        )
