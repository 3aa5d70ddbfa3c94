"""Predictions from probabilities: labels, prediction sets, least cost; and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import ceil
from numbers import Real
from typing import Annotated, Any, Generic, Self, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.source import Part, RowsOf
from suffice.errors import ParameterError, warn
from suffice.families.options import check_boolean
from suffice.phrases import rows_in_print
from suffice.rules import NONNEGATIVE, Shape
from suffice.sums.base import tree_sum
from suffice.sums.batch import Batch
from suffice.sums.vocabulary import Vocabulary


@dataclass(frozen=True)
class Predictions:
    """The predictions of a classifier for n rows."""

    best: NDArray[np.intp]  # codes of the most probable classes, (n,)
    posterior: NDArray[np.float64] | None = None  # P(c | x), (n, k), if asked for
    impossible: int = 0  # rows impossible under every class, which the class prior answers
    more: Mapping[str, NDArray[Any]] = field(default_factory=dict)  # further columns, (n,)

    def table(self, classes: Vocabulary) -> pa.Table:
        """The answers in columns: ``prediction``, and ``P(c)`` of every class."""
        labels = classes.values
        columns = {"prediction": pa.array(labels).take(pa.array(self.best))}
        if self.posterior is not None:
            names = (f"P({label})" for label in labels)
            columns |= zip(names, map(pa.array, self.posterior.T), strict=True)
        return pa.table(columns | {name: pa.array(found) for name, found in self.more.items()})


def prediction_tables(classes: Vocabulary, answers: Iterable[Predictions]) -> Iterator[pa.Table]:
    """Yield a table for every batch; warn at the end of the rows that were impossible."""
    rows = impossible = 0
    for found in answers:
        rows += len(found.best)
        impossible += found.impossible
        yield found.table(classes)
    if impossible:
        warn(impossible_rows(impossible, rows))


def answered_by_prior(impossible: int, rows: int) -> str:
    """Say how many rows no class could have produced, and what was answered.

    Examples
    --------
    >>> answered_by_prior(1, 3)
    '1 of 3 rows is impossible under every class, and was answered by the class prior.'
    """
    one = impossible == 1
    return (
        f"{impossible:,} of {rows_in_print(rows)} {'is' if one else 'are'} impossible under every "
        f"class, and {'was' if one else 'were'} answered by the class prior."
    )


def impossible_rows(impossible: int, rows: int) -> str:
    """Say how many rows no class could have produced."""
    return f"{answered_by_prior(impossible, rows)} Smoothing (alpha > 0) avoids this."


def expected_costs(weights: NDArray[np.float64], costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Σ_i w_i A_ij of every row and decision, (n, m).

    Parameters
    ----------
    weights : ndarray (n, k)
        P(i | x) or P(i, x).
    costs : ndarray (k, m)
        A.

    Examples
    --------
    >>> expected_costs(np.array([[0.75, 0.25]]), np.array([[0.0, 1.0], [9.0, 0.0]]))
    array([[2.25, 0.75]])
    """
    # Class by class, so that the bits of a row do not depend on its neighbours.
    out = np.zeros((len(weights), costs.shape[1]))
    for weight, cost in zip(weights.T, costs, strict=True):
        out += weight[:, None] * cost
    return out


def checked_costs(costs: Any, k: int) -> NDArray[np.float64]:
    """A (k, k), checked."""
    try:
        given = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"costs={costs!r}", "a cost is a number") from None
    if given.shape != (k, k):
        raise ParameterError(
            f"costs has shape {given.shape}",
            f"there are {k} classes, and costs[i][j] is the cost of deciding j when the truth is i",
        )
    bad = np.argwhere(~(np.isfinite(given) & (given >= 0)))
    if len(bad):
        i, j = bad[0]
        raise ParameterError(
            f"costs[{i}][{j}]={given[i, j]}",
            "a cost is a finite number, 0 or more",
            "add a constant to its row: that changes no decision",
        )
    return given


def of_threshold(threshold: float) -> NDArray[np.float64]:
    """Costs (2, 2) by which the second class is chosen where its probability is above a threshold.

    Deciding for it costs P(first)·t, deciding against it P(second)·(1 − t); these are equal where
    P(second) = t.

    Examples
    --------
    >>> of_threshold(0.25)
    array([[0.  , 0.25],
           [0.75, 0.  ]])
    """
    return np.array([[0.0, threshold], [1.0 - threshold, 0.0]])


def by_costs(
    costs: NDArray[np.float64],
    answer: Callable[..., Predictions],
    batch: Batch,
    proba: bool = False,
) -> Predictions:
    """Predict the labels of least expected cost for a batch."""
    found = answer(batch, proba=True)
    assert found.posterior is not None  # it was asked for
    best = expected_costs(found.posterior, costs).argmin(axis=1)
    return replace(found, best=best, posterior=found.posterior if proba else None)


LEVELS = 1000  # of the quantiles that are kept


@dataclass(frozen=True, eq=False)
class Doubts:
    """The nonconformity scores of held-out rows."""

    # of 1 − P(c_i | x_i), at the levels 0, 1/q, …, 1; none without rows
    quantiles: Annotated[NDArray[np.float64], Shape("q"), NONNEGATIVE]
    rows: Annotated[float, NONNEGATIVE]  # Σw

    @classmethod
    def of(cls, p: NDArray[np.float64], weights: NDArray[np.float64]) -> Self:
        """Compute them from the probabilities of the rows' own classes, (n,), n > 0.

        Examples
        --------
        >>> Doubts.of(np.array([0.9, 0.5, 0.8, 0.7]), np.ones(4)).largest(0.75).__round__(2)
        0.5
        """
        doubts = np.maximum(1 - p, 0.0)
        order = np.argsort(doubts, kind="stable")
        upto = np.cumsum(weights[order])
        levels = np.linspace(0, 1, LEVELS + 1) * upto[-1] * (1 - 1e-12)
        quantiles = doubts[order][np.searchsorted(upto, levels)]
        return cls(np.asarray(quantiles), float(weights.sum()))

    def largest(self, coverage: float) -> float:
        """Bound 1 − P(c | x) of a new row's class with probability ``coverage``.

        It is 1, no class is left out, where so few rows cannot say so.
        """
        level = coverage * (1 + 1 / self.rows) if self.rows else 1.0
        if not len(self.quantiles) or level > 1:
            return 1.0
        return float(self.quantiles[ceil(level * (len(self.quantiles) - 1) - 1e-9)])


def label_sets(
    p: NDArray[np.float64], doubts: Doubts, coverage: Any, allow_empty: bool
) -> NDArray[np.bool_]:
    """Return which classes are in the prediction sets of rows with these probabilities, (n, k)."""
    check_boolean(allow_empty=allow_empty)
    if not (isinstance(coverage, Real) and 0 < float(coverage) < 1):
        raise ParameterError(f"coverage={coverage!r}", "coverage is above 0 and below 1")
    inside = np.asarray(1 - p <= doubts.largest(float(coverage)))
    if not allow_empty:
        inside[np.arange(len(p)), p.argmax(axis=1)] = True
    return inside


R = TypeVar("R")

NO_ANSWER = (
    "a cell is missing, or shows a category that no row of the fit had, which "
    "unseen='reference' takes for the reference"
)


@dataclass(frozen=True)
class Partial(Generic[R]):
    """A result of the complete rows of a batch."""

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


@dataclass(frozen=True)
class WithGaps(Generic[R]):
    """The result of a kernel for the complete rows, and the number of others."""

    found: R
    gaps: int

    def __add__(self, other: Self) -> Self:
        found: Any = self.found
        return replace(self, found=found + other.found, gaps=self.gaps + other.gaps)


def told(parts: Mapping[Any, WithGaps[R]]) -> dict[Any, R]:
    """Return the results of all parts, with one warning that counts the rows left out."""
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

    def of_batches() -> Iterator[WithGaps[R]]:
        first = 0
        for batch in part.batches():
            rows = np.flatnonzero(complete(batch))
            some = RowsOf(part, first, rows, batch.take(rows))
            yield WithGaps(kernel(some, params), batch.rows - len(rows))
            first += batch.rows

    return tree_sum(of_batches())
