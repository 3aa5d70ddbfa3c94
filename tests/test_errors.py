"""Errors and warnings: what they are, and whose line they name."""

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suffice import LinearDiscriminantAnalysis, LinearRegression, errors
from suffice.linear_model import LogisticRegression

X = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
Y = np.array([0, 1, 0, 1])


class Mine(LinearRegression):
    """Whoever derives a class calls the library from a line of their own."""

    def fit(self, X: Any, y: Any) -> "Mine":
        return super().fit(X, y)


@pytest.mark.parametrize(
    "act",
    [
        lambda: LinearRegression().fit(X, Y),
        lambda: LinearRegression().partial_fit(X, Y),
        lambda: LogisticRegression(C=np.inf, dependent="minimum_norm").fit(X, Y),
        lambda: LinearDiscriminantAnalysis().fit(X, Y),
        lambda: Mine().fit(X, Y),
    ],
)
def test_a_warning_names_the_line_that_called_the_library(act: Any) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    assert {Path(warning.filename).name for warning in caught} == {"test_errors.py"}


@pytest.mark.parametrize("name", [n for n in errors.__all__ if n.endswith("Error")])
def test_an_error_is_pickled_with_its_parts(name: str) -> None:
    error = getattr(errors, name)("x is 3", "x is below 2", "divide it")
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy)) == (type(error), "x is 3; x is below 2; divide it.")
    assert (copy.fact, copy.rule, copy.next_step) == ("x is 3", "x is below 2", "divide it")
