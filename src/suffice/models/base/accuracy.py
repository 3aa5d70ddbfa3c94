"""The share of rows whose label is predicted: what `score` returns; no more is summed."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.data.source import Part, each_batch
from suffice.errors import DataError, warn
from suffice.models.base.costs import by_costs
from suffice.models.base.evaluated_rows import UNKNOWN, label_codes
from suffice.numerics import kernels
from suffice.numerics.exact import DoubleDouble
from suffice.phrases import rows_in_print
from suffice.sums.batch import Batch, scored_rows

__all__ = ["Hits", "accuracy_told", "hits", "of_rows", "such_label", "tell_of_unknown_labels"]


@dataclass(frozen=True)
class Hits:
    """Exact sums over labelled rows.

    Parameters
    ----------
    weight : DoubleDouble (2,)
        Σw of the rows whose label is not predicted, and of those whose label is.
    unknown : int
        Rows, among those whose label is not predicted, with a label that is none of the classes.
    such : str, optional
        One of these labels, quoted.
    """

    weight: DoubleDouble
    unknown: int = 0
    such: str | None = None

    def __add__(self, other: Hits) -> Hits:
        such = other.such if self.such is None else self.such
        return Hits(self.weight + other.weight, self.unknown + other.unknown, such)

    def __sub__(self, other: Hits) -> Hits:
        return Hits(self.weight - other.weight, self.unknown - other.unknown, self.such)

    @property
    def accuracy(self) -> float:
        """Σw of the rows whose label is predicted, by that of all; NaN without rows."""
        missed, hit = self.weight.value.tolist()
        return hit / (missed + hit) if missed + hit else float("nan")


def hits(part: Part, model: Any, costs: NDArray[np.float64] | None = None) -> Hits:
    """Kernel of an accuracy.

    Parameters
    ----------
    part : Part
    model : object
        Of a classifier.
    costs : ndarray (k, k), optional
        As for `suffice.models.base.evaluated_rows.evaluation`.

    Raises
    ------
    DataError
        If a label is of another type than those learnt.
    """
    table = np.zeros((1, 2, 2))  # a pair for either
    right_or_wrong = np.zeros(1, np.int64), np.array([2]), np.array([0, 2])  # low, size, offsets

    unknown, such = 0, None

    def add(batch: Batch) -> None:
        nonlocal unknown, such
        codes = label_codes(batch, model)
        unknown, such = unknown + int((codes == UNKNOWN).sum()), such or such_label(batch, codes)
        answers = model.answers(batch) if costs is None else by_costs(costs, model.answers, batch)
        right = answers.best == codes
        if not batch.weights.size:
            hit, labelled = int((right & (codes >= 0)).sum()), int((codes != -1).sum())
            table[0, 0] += labelled - hit, hit
            return
        rows = np.flatnonzero((codes != -1) & (batch.weights > 0))
        weights, one_class = batch.weights[rows], np.zeros(len(rows), np.intp)
        values = right[rows, None].astype(np.intp)
        kernels.counts.add_weighted_codes(values, *right_or_wrong, one_class, weights, table)

    for _ in each_batch(part, model.layout, add, scored_rows(len(model.classes))):
        pass
    return Hits(DoubleDouble.from_table(table)[0], unknown, such)


def such_label(batch: Batch, codes: NDArray[np.intp]) -> str | None:
    """A label of a batch that is none of the classes, as it is written; None without."""
    strange = np.flatnonzero(codes == UNKNOWN)
    return repr(batch.classes.values[batch.codes[strange[0]]]) if len(strange) else None


def accuracy_told(found: Hits) -> float:
    """The accuracy, with a warning of rows whose label is none of the classes."""
    if found.unknown:
        tell_of_unknown_labels(found.unknown, str(found.such))
    return found.accuracy


def tell_of_unknown_labels(rows: int, such: str) -> None:
    """Warn of rows whose label is none of the classes."""
    warn(
        f"{rows_in_print(rows)} with a label that the model does not know, such as {such}: "
        "counted as errors."
    )


class Judged(Protocol):
    """What was found of rows with labels."""

    @property
    def accuracy(self) -> float:
        """The fraction of rows answered as they are labelled; NaN without a row."""


J = TypeVar("J", bound=Judged)


def of_rows(found: J) -> J:
    """What was found in one row at least.

    Raises
    ------
    DataError
        If there is none.
    """
    if isnan(found.accuracy):
        raise DataError(
            "there is no labelled row whose weight is not zero",
            "an evaluation needs at least one",
            "check the label column and the weights",
        )
    return found
