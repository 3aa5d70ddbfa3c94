"""Coefficients of a logistic regression in any order of the rows, on any number of threads."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.running import on

from suffice.linear_model import LogisticRegression

Options = dict[str, Any]
NONE = {"C": np.inf}


def rows(n: int, d: int, k: int) -> tuple[Any, Any, Any]:
    """Return whole numbers over 7 about means that are far apart, labels, and weights.

    They are made without an elementary function, so that they are the same everywhere.
    """
    random = np.random.default_rng(n)
    x = random.integers(-3_000, 3_000, size=(n, d)) / 7.0
    score = (x[:, :k] + random.integers(-3_000, 3_000, size=(n, k))).argmax(axis=1)
    return x * 10.0 ** np.arange(d) + 1e6, score, random.integers(1, 2**30, n) / 2.0**20


def models() -> dict[str, tuple[Options, Any, Any, Any]]:
    """Return options, rows, labels and weights by name."""
    x, y, w = rows(900, 5, 3)
    near = np.column_stack([x, x[:, 0] + 1e-4 * x[:, 1]])
    table = pa.table(
        {
            "number": x[:, 0],
            "word": np.where(x[:, 1] % 3 < 1, "a", np.where(x[:, 2] % 3 < 2, "b", "c")),
            "gaps": pa.array(x[:, 3], mask=x[:, 4] % 7 < 1),
        }
    )
    two, of_two, _ = rows(700, 4, 2)
    long, of_long, heavy = rows(70_000, 3, 2)
    return {
        "plain": ({}, x, y, None),
        "weights": (NONE, x, y, w),
        "balanced, no intercept": ({"class_weight": "balanced", "fit_intercept": False}, x, y, w),
        "L-BFGS": ({"solver": "lbfgs"}, x, y, None),
        "nearly dependent": (NONE, near, y, None),
        "dependent": (NONE, np.column_stack([x, x[:, 0] + x[:, 1]]), y, None),
        "formula": ({"formula": "number * word", "C": np.inf}, table, y, None),
        "categories and gaps": ({"incomplete": "drop"}, table, y, w),
        "Firth": ({"penalty": "firth"}, two, of_two, None),
        "one column": (NONE, two[:, :1], of_two, None),
        "long": ({}, long, of_long, heavy),
    }


MODELS = models()


@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
@pytest.mark.parametrize("name", MODELS)
def test_coefficients_agree_to_nine_digits(name: str) -> None:
    options, x, y, w = MODELS[name]
    expected = on(1, LogisticRegression(**options)).fit(x, y, w)
    order = np.random.default_rng(0).permutation(len(y))
    shuffled = x.take(order) if isinstance(x, pa.Table) else x[order]
    found = on(2, LogisticRegression(**options))
    found.fit(shuffled, y[order], None if w is None else w[order])
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-9)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, rtol=1e-9)
