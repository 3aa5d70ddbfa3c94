"""Infinity is refused by name, whatever the distribution of its column."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from suffice import AODE, NaiveBayes
from suffice.errors import DataError

RNG = np.random.default_rng(2)
Y = RNG.integers(0, 2, 400)
# A Gaussian, and a column that only bins describe.
X = RNG.normal(size=(400, 2)) + np.c_[2 * Y, np.where(Y, RNG.choice([-3.0, 3.0], 400), 0.0)]
MODELS = {
    "default": NaiveBayes,
    "density": lambda: NaiveBayes.textbook(numbers="density"),
    "gaussian": NaiveBayes.textbook,
    "AODE": AODE,
}


@cache
def fitted(name: str) -> Any:
    return MODELS[name]().fit(X, Y)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    ("rows", "column", "verb"), [(1, 0, "explain"), (40, 1, "explain"), (5_000, 1, "predict_proba")]
)
def test_infinity_is_refused(name: str, rows: int, column: int, verb: str) -> None:
    model = fitted(name)
    asked = np.tile(X[:40], (125, 1))[:rows]
    getattr(model, verb)(asked)
    asked[rows // 2, column] = -np.inf
    told = f"column 'x{column}', row {rows // 2}: -inf; a number must be finite"
    with pytest.raises(DataError, match=told):
        getattr(model, verb)(asked)
