"""The law of a prediction: what is said of a row depends on that row, and on no other."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from tests.laws.comparing import frozen, require

from suffice.errors import ParameterError

__all__ = ["check_rows"]

ANSWERS = (
    *("predict", "predict_log_proba", "predict_proba", "predict_joint_log_proba"),
    *("decision_function", "transform", "predict_interval", "leverage"),
)
CUTS = ((0, 7), (1, 16), (3, 33), (1, 65))  # first row and number of rows


def check_rows(model: Any, X: NDArray[Any] | pa.Table) -> None:
    """Check that a fitted model says of a row, to the bit, what it says of the row alone.

    Rows are asked for one by one, in parts of several lengths, turned round, and three times over;
    those of an array also column by column in memory, and with others between them. Every answer
    that the model has is looked at: labels, probabilities, scores, axes and intervals.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : ndarray (n, d) or pyarrow.Table
        Rows to ask for, one at least.

    Raises
    ------
    AssertionError
        Naming the answer, and what the row stood among.

    Examples
    --------
    >>> from suffice.linear_model import LinearRegression
    >>> X = np.array([[0.1, 1.0], [0.2, 3.0], [0.7, 2.0], [0.9, 0.3]])
    >>> check_rows(LinearRegression().fit(X, [1.0, 2.0, 4.0, 8.0]), X)
    """
    for name in ANSWERS:
        if hasattr(model, name):
            _check(name, _quiet(getattr(model, name)), X)


def _quiet(answer: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same answers without the warnings that say how many rows share something."""

    def asked(rows: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return answer(rows)

    return asked


def _check(name: str, answer: Callable[[Any], Any], X: Any) -> None:
    try:
        alone = [answer(X[i : i + 1])[0] for i in range(len(X))]
    except ParameterError:
        return  # this model has no such answer
    for among, rows, places in _arranged(X):
        found = answer(rows)
        same = all(
            frozen(found[i]) == frozen(alone[place]) for i, place in enumerate(places.tolist())
        )
        require(same, f"{name}: a row {among} has the bits of the row alone")


def _arranged(X: Any) -> Iterator[tuple[str, Any, NDArray[np.intp]]]:
    """What rows stand among, such rows, and which of them each is."""
    n = len(X)
    every = np.arange(n)
    yield "among all", X, every
    for first, rows in CUTS:
        part = slice(first, first + rows)
        if len(every[part]):
            yield f"among {len(every[part])}", X[part], every[part]
    thrice = np.tile(every, 3)
    if isinstance(X, pa.Table):
        yield "in a table turned round", X.take(every[::-1]), every[::-1]
        yield "in a table that is longer", X.take(thrice), thrice
        return
    yield "in an array turned round", X[::-1], every[::-1]
    yield "in an array that is longer", X[thrice], thrice
    yield "in an array that lies by columns", np.asfortranarray(X), every
    wide = np.zeros((2 * n + 1, X.shape[1] + 3), X.dtype)
    inside = wide[1::2, 1:-2]
    inside[:] = X
    yield "in a part of an array", inside, every
