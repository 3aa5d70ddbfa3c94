"""A small fit stays short: calls of our functions, and switches from one file to another.

The bounds leave room for a few calls more. Who needs many more looks first at what is asked twice.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from benchmarks.measure import calls

from suffice.linear_model import LinearRegression, LogisticRegression
from suffice.naive_bayes import GaussianNB, NaiveBayes

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(400, 5)), RNG.integers(0, 3, 400)
TABLE = pa.table({**{f"x{j}": column for j, column in enumerate(X.T)}, "y": Y})


@pytest.mark.parametrize(
    ("fit", "most"),
    [
        (lambda: NaiveBayes.textbook().fit(X, Y), (90, 58)),
        (lambda: NaiveBayes.textbook().fit(TABLE, "y"), (285, 122)),
        (lambda: GaussianNB().fit(X, Y), (74, 46)),
        (lambda: LinearRegression().fit(X, Y), (180, 95)),
        (lambda: LogisticRegression().fit(X, Y > 0), (447, 248)),
    ],
    ids=["array", "Arrow table", "GaussianNB", "linear regression", "logistic regression"],
)
def test_a_fit_makes_few_calls(fit: Callable[[], Any], most: tuple[int, int]) -> None:
    fit()  # what is kept for the next time is kept now
    found = calls(fit)
    assert all(n <= bound for n, bound in zip(found, most, strict=True)), found
