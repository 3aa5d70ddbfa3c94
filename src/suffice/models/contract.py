"""What the estimators share of scikit-learn's contract: telling inputs apart, checking them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets

from suffice.data.arrays import Labels
from suffice.data.schema import MAX_CLASSES
from suffice.engines.work import work
from suffice.errors import DataError, ForgetError, ParameterError, SchemaError

__all__ = ["check_labels", "checked_weights", "forgetting", "is_array", "unless_it_fails"]


def is_array(X: Any) -> bool:
    """Tell arrays, sparse matrices and lists of rows from tables: frames, and lists of paths."""
    if isinstance(X, list | tuple):
        return not all(isinstance(row, str | PathLike) for row in X)
    if isinstance(X, np.ndarray) or issparse(X):
        return True
    if not hasattr(X, "__array__"):  # asked first: a LazyFrame resolves its query for its columns
        return False
    return not hasattr(X, "__arrow_c_stream__") and not hasattr(X, "columns")


def checked_weights(sample_weight: Any, n: int) -> NDArray[np.float64]:
    """Weights of n rows as an array; one number serves all.

    Raises
    ------
    DataError
        If a weight is not a finite number, 0 or more.
    ParameterError
        If there is not one weight per row.
    """
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"sample_weight: {error}", "a weight is a number", "convert the weights"
        ) from None
    if weights.ndim == 0:
        weights = np.full(n, weights)
    if weights.shape != (n,):
        raise ParameterError(
            f"sample_weight has shape {weights.shape} for {n} rows", "there is one weight per row"
        )
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise DataError(
            f"sample_weight, row {row}: {weights[row]}", "a weight is finite and 0 or more"
        )
    return weights


def check_labels(labels: Labels) -> None:
    """Refuse what cannot be the name of a class; only the distinct values are looked at.

    Raises
    ------
    DataError
        If a label is infinite, or there are too many.
    SchemaError
        If strings and other labels are mixed.
    ValueError
        As scikit-learn has it, if labels are fractions.
    """
    distinct = labels.classes.values
    infinite = [value for value in distinct if value in (np.inf, -np.inf)]
    if infinite:
        row = labels.values.tolist().index(infinite[0])
        raise DataError(f"label, row {row}: {infinite[0]}", "a label is not a fraction")
    if len(distinct) > MAX_CLASSES:
        raise DataError(
            f"the labels have more than {MAX_CLASSES} values",
            "a label names a class",
            "check that the right values are the labels",
        )
    kinds = sorted({type(value).__name__ for value in distinct})
    if "str" in kinds and len(kinds) > 1:
        raise SchemaError(
            f"the labels mix types: {', '.join(kinds)}", "labels are of one type", "convert them"
        )
    if not set(kinds) <= {"bool", "int", "str"}:  # else there is no fraction among them
        # Each twice: labels that are nearly all distinct would be warned of.
        check_classification_targets(np.repeat(np.array(distinct), 2))


@contextmanager
def unless_it_fails(estimator: Any) -> Iterator[None]:
    """Learn in one piece of work; keep what was learnt before if learning fails half-way."""
    before = vars(estimator).copy()
    try:
        with work():
            yield
    except BaseException:
        estimator.__dict__ = before
        raise


@contextmanager
def forgetting(name: Callable[[ForgetError], str]) -> Iterator[None]:
    """Say of rows that cannot be forgotten which column shows it: a statistic knows its number."""
    try:
        yield
    except ForgetError as error:
        if error.column is None:
            raise
        raise ForgetError(f"column {name(error)!r}: {error.fact}", error.rule) from None
