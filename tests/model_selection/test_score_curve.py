"""Learning curves from one pass, against scikit-learn fitting our estimators size by size."""

from typing import Any

import numpy as np
import pytest
from sklearn import model_selection as reference
from sklearn.datasets import load_iris

from suffice import LinearDiscriminantAnalysis, LogisticRegression, NaiveBayes
from suffice.errors import ParameterError
from suffice.model_selection import learning_curve
from suffice.naive_bayes import GaussianNB

IRIS, SPECIES = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    ("estimator", "sizes"),
    [
        (GaussianNB(), [0.3, 0.6, 1.0]),
        (NaiveBayes.textbook(), [100, 40]),
        (LinearDiscriminantAnalysis(), [0.5, 1.0]),
    ],
)
def test_scores_are_those_of_fits_to_the_first_rows(estimator: Any, sizes: list[float]) -> None:
    options: dict[str, Any] = {"train_sizes": sizes, "shuffle": True, "random_state": 3}
    found = learning_curve(estimator, IRIS, SPECIES, scoring="neg_log_loss", **options)
    expected = reference.learning_curve(estimator, IRIS, SPECIES, scoring="neg_log_loss", **options)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_what_is_no_function_of_sums_is_fitted_to_rows() -> None:
    options: dict[str, Any] = {"train_sizes": [0.5, 1.0], "shuffle": True, "random_state": 0}
    found = learning_curve(LogisticRegression(), IRIS, SPECIES, cv=3, **options)
    expected = reference.learning_curve(LogisticRegression(), IRIS, SPECIES, cv=3, **options)
    np.testing.assert_allclose(found[2], expected[2], rtol=1e-12)


@pytest.mark.parametrize("sizes", [[0.0, 1.0], [1.5], [0], [200], [], "all"])
def test_bad_sizes(sizes: Any) -> None:
    with pytest.raises(ParameterError, match="train_sizes="):
        learning_curve(GaussianNB(), IRIS, SPECIES, train_sizes=sizes)
