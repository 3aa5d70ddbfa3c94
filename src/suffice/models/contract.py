"""What the estimators share of scikit-learn's contract: telling inputs apart, checking weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from suffice.errors import DataError, ParameterError

__all__ = ["checked_weights", "is_array", "unless_it_fails"]


def is_array(X: Any) -> bool:
    """Tell arrays, sparse matrices and lists of rows from tables: frames, and lists of paths."""
    if isinstance(X, list | tuple):
        return not all(isinstance(row, str | PathLike) for row in X)
    if isinstance(X, np.ndarray) or issparse(X):
        return True
    return hasattr(X, "__array__") and not hasattr(X, "__arrow_c_stream__")


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


@contextmanager
def unless_it_fails(estimator: Any) -> Iterator[None]:
    """Keep what an estimator learnt before if learning fails half-way."""
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:
        estimator.__dict__ = before
        raise
