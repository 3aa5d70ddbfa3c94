"""Labels in many orders at once: scores and p-values are those of fits, fold by fold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold

from suffice.model_selection import cross_val_score
from suffice.model_selection.permuted_labels import PermutedLabels
from suffice.model_selection.rows import Rows
from suffice.model_selection.scikit_learn import permuted
from suffice.naive_bayes import GaussianNB

IRIS, SPECIES = load_iris(return_X_y=True)
NOISY = IRIS + np.random.default_rng(0).normal(size=IRIS.shape) * 4


def by_fits(estimator: Any, X: Any, y: Any, orders: list[Any], cv: Any) -> list[float]:
    return [float(cross_val_score(estimator, X, y[order], cv=cv).mean()) for order in orders]


def together(estimator: Any, X: Any, y: Any, orders: list[Any], cv: Any) -> list[float]:
    found = PermutedLabels.of(estimator, Rows.of(X, y, None), cv, None, None)
    assert found is not None

    def fitted(order: Any) -> float:
        raise AssertionError(order)

    return list(found.scores(orders, fitted))


@pytest.mark.parametrize("cv", [None, 3, KFold(4), 20])
@pytest.mark.parametrize("X", [IRIS, NOISY, IRIS.astype(np.float32), np.round(IRIS)])
@pytest.mark.parametrize("estimator", [GaussianNB(), GaussianNB(priors=[0.5, 0.2, 0.3])])
def test_scores_are_those_of_fits(estimator: Any, X: Any, cv: Any) -> None:
    orders = list(permuted(150, None, 12, 3))
    assert together(estimator, X, SPECIES, orders, cv) == by_fits(estimator, X, SPECIES, orders, cv)
