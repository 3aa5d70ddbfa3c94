"""Rows that a model can answer: others lack a cell, or show a category that no fit knew."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.source import Part
from suffice.errors import warn
from suffice.models.base.predictions import Predictions
from suffice.phrases import rows_in_print
from suffice.sums.batch import Batch
from suffice.sums.vocabulary import Vocabulary

__all__ = [
    "Partial",
    "WithGaps",
    "answer_complete",
    "class_tables_with_gaps",
    "of_complete",
    "tables_with_gaps",
    "told",
]

R = TypeVar("R")

NO_ANSWER = "a cell is missing, or shows a category that no row of the fit had"


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
        verb = "has" if rows - answered == 1 else "have"
        warn(f"{rows - answered} of {rows_in_print(rows)} {verb} no answer: {NO_ANSWER}")


def class_tables_with_gaps(
    classes: Vocabulary, parts: Iterable[Partial[Predictions]]
) -> Iterator[pa.Table]:
    """The same of the answers of a classifier."""
    return tables_with_gaps(lambda found: found.table(classes), parts)


@dataclass(frozen=True)
class WithGaps(Generic[R]):
    """What a kernel found in the complete rows, and how many others there are."""

    found: R
    gaps: int

    def __add__(self, other: Self) -> Self:
        found: Any = self.found
        return replace(self, found=found + other.found, gaps=self.gaps + other.gaps)

    def __sub__(self, other: Self) -> Self:
        found: Any = self.found
        return replace(self, found=found - other.found, gaps=self.gaps - other.gaps)


def told(parts: Mapping[Any, WithGaps[R]]) -> dict[Any, R]:
    """What was found in every part, with one warning that counts the rows left out of all."""
    gaps = sum(part.gaps for part in parts.values())
    if gaps:
        warn(f"{gaps} row{'s' if gaps > 1 else ''} left out: {NO_ANSWER}")
    return {name: part.found for name, part in parts.items()}


def of_complete(
    part: Part,
    params: Any,
    kernel: Callable[[Part, Any], R],
    complete: Callable[[Batch], NDArray[np.bool_]] | None,
) -> WithGaps[R]:
    """Kernel: what another one finds in those rows that are ``complete``; None: in all."""
    if complete is None:
        return WithGaps(kernel(part, params), 0)
    view = _CompleteRows(part, complete, [])
    found = kernel(view, params)
    return WithGaps(found, view.gaps)


@dataclass
class _CompleteRows(Part):
    """The complete rows of a part, and where they stand there."""

    part: Part
    complete: Callable[[Batch], NDArray[np.bool_]]
    places: list[NDArray[np.intp]]  # of the rows so far, batch by batch
    gaps: int = 0

    def batches(self) -> Iterator[Batch]:
        first = 0
        for batch in self.part.batches():
            rows = np.flatnonzero(self.complete(batch))
            self.places.append(first + rows)
            self.gaps += batch.rows - len(rows)
            first += batch.rows
            yield batch.take(rows)

    def locate(self, row: int) -> str:
        return self.part.locate(int(np.concatenate(self.places)[row]))
