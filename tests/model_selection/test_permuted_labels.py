"""Labels in many orders at once: scores and p-values are those of fits, fold by fold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold

from suffice import NaiveBayes
from suffice.model_selection import cross_val_score
from suffice.model_selection.permuted_labels import PermutedLabels
from suffice.model_selection.rows import Rows
from suffice.model_selection.scikit_learn import permuted
from suffice.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB

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


RANDOM = np.random.default_rng(1)
CODES = np.minimum(RANDOM.geometric(0.25, (150, 5)) - 1, 30)  # with values that few rows show
WORDS = {f"x{j}": [None if c == 2 else f"v{c}" for c in column] for j, column in enumerate(CODES.T)}


@pytest.mark.parametrize("cv", [None, KFold(3)])
@pytest.mark.parametrize(
    ("estimator", "X"),
    [
        (CategoricalNB(), CODES),
        (CategoricalNB(alpha=0), CODES),
        (CategoricalNB(alpha=1e-9, unseen="smooth", min_categories=[3, 9, 20, 40, 0]), CODES),
        (CategoricalNB(), WORDS),
        (CategoricalNB(), np.where(CODES > 6, CODES + 0.5, CODES)),
        (BernoulliNB(), CODES > 1),
        (BernoulliNB(alpha=0), CODES > 6),
        (BernoulliNB(alpha=[1, 2, 3, 4, 5.0], binarize=2.0), CODES),
        (NaiveBayes.textbook(estimation="map"), {"length": IRIS[:, 0], **WORDS}),
    ],
)
def test_scores_of_categories_are_those_of_fits(estimator: Any, X: Any, cv: Any) -> None:
    orders = list(permuted(150, None, 10, 3))
    assert together(estimator, X, SPECIES, orders, cv) == by_fits(estimator, X, SPECIES, orders, cv)


def test_what_only_fits_can_tell_is_fitted() -> None:
    rare = np.r_[np.zeros(148, int), [1, 2]]
    table = Rows.of(np.c_[CODES, rare], SPECIES, None)
    asked = CategoricalNB(unseen="error")  # a fold shows a value that it has not learnt
    found = PermutedLabels.of(asked, table, 3, None, None)
    assert found is not None
    assert list(found.scores([np.arange(150)], lambda order: float(order.sum()))) == [
        float(np.repeat([0, 50, 100], 50).sum())
    ]
    for other, options in ((GaussianNB(), ("roc_auc", None)), (NaiveBayes(), (None, None))):
        assert PermutedLabels.of(other, Rows.of(IRIS, SPECIES, None), 3, *options) is None
    gaps = np.where(IRIS > 7, np.nan, IRIS)
    assert PermutedLabels.of(GaussianNB(), Rows.of(gaps, SPECIES, None), 3, None, None) is None
