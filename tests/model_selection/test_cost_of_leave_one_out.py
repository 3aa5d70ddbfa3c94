"""Leave-one-out that fits a model for every row says so before it begins."""

import numpy as np
import pytest

from suffice.errors import SufficeWarning
from suffice.linear_model import LogisticRegression
from suffice.model_selection import evaluate_folds

N = 256


def test_as_many_fits_as_rows_are_told() -> None:
    x = np.arange(N, dtype=float)[:, None]
    y = (x[:, 0] % 2).astype(int)
    model = LogisticRegression(solver="gradient", tol=1.0)
    with pytest.warns(SufficeWarning, match=f"LogisticRegression.*{N} models"):
        evaluate_folds(model, x, y, cv="loo")
