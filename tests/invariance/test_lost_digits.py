"""Forgetting values far larger than the rest: a warning says what the sums lost."""

import re
import warnings
from collections.abc import Callable
from math import inf, log10
from typing import Any

import numpy as np
import pytest

from suffice import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.errors import SufficeWarning
from suffice.linear_model import LinearRegression
from suffice.naive_bayes import GaussianNB

N = 40


def table(far: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(N, 3)), np.arange(N) % 2
    x[0, 1] = far
    return x, y


def said(make: Callable[[], Any], x: np.ndarray, y: np.ndarray) -> tuple[Any, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = make().fit(x, y).forget(x[:1], y[:1])
    sentences = [str(w.message) for w in caught if issubclass(w.category, SufficeWarning)]
    return model, [s for s in sentences if "digit" in s]


@pytest.mark.parametrize("far", [2.0**30, 2.0**35, 2.0**40, 2.0**44, 2.0**60, 1e100])
def test_digits_are_left_that_the_warning_tells(far: float) -> None:
    x, y = table(far)
    model, (sentence,) = said(GaussianNB, x, y)
    assert sentence.startswith("column 'x1': values far larger than those that stay were forgotten")
    assert sentence.endswith("fit the remaining rows anew")
    found = re.search(r"(\d+) of 16 digits are left|no digit is left", sentence)
    assert found
    error = np.abs(model.var_ / GaussianNB().fit(x[1:], y[1:]).var_ - 1).max()
    assert int(found[1] or 0) <= (-log10(error) if error else inf)


@pytest.mark.parametrize("far", [1.0, 1e3, 2.0**25, -(2.0**25)])
def test_nothing_is_said_where_nothing_is_lost(far: float) -> None:
    x, y = table(far)
    model, sentences = said(GaussianNB, x, y)
    assert sentences == []
    np.testing.assert_array_equal(model.var_, GaussianNB().fit(x[1:], y[1:]).var_)


def test_columns_without_spread_are_no_loss() -> None:
    x, y = table(1e3)
    x[1:, 1], x[1:, 2] = 5.0, 0.0
    assert said(GaussianNB, x, y)[1] == []


@pytest.mark.parametrize(
    "make", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, LinearRegression]
)
def test_products_of_columns_say_it_too(make: Any) -> None:
    x, y = table(2.0**35)
    _, (sentence,) = said(make, x, y)
    assert sentence.endswith("fit the remaining rows anew")
    assert said(make, *table(1e3))[1] == []


def test_the_other_columns_are_counted() -> None:
    x, y = table(2.0**40)
    x[0, 2] = 2.0**35
    assert said(GaussianNB, x, y)[1][0].startswith("column 'x1' (and 1 more): ")
