"""Permutation tests are those of scikit-learn, for the same orders of the labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.model_selection as reference
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GroupKFold, StratifiedKFold

from suffice import LinearDiscriminantAnalysis, NaiveBayes, Ridge
from suffice.errors import ParameterError, SufficeWarning
from suffice.model_selection import permutation_test_score
from suffice.naive_bayes import GaussianNB

IRIS, SPECIES = load_iris(return_X_y=True)
NOISY = IRIS + np.random.default_rng(0).normal(size=IRIS.shape) * 4
DIABETES, PROGRESS = load_diabetes(return_X_y=True)


@pytest.mark.parametrize(
    ("estimator", "options"),
    [
        (GaussianNB(), {}),
        (NaiveBayes.textbook(), {"cv": 3, "scoring": "balanced_accuracy"}),
        (LinearDiscriminantAnalysis(), {"cv": StratifiedKFold(4, shuffle=True, random_state=1)}),
        (GaussianNB(), {"groups": np.arange(150) % 7, "cv": GroupKFold(3)}),
    ],
)
def test_scores_are_those_of_scikit_learn(estimator: Any, options: dict[str, Any]) -> None:
    given = options | {"n_permutations": 12, "random_state": 5}
    found = permutation_test_score(estimator, NOISY, SPECIES, **given)
    expected = reference.permutation_test_score(estimator, NOISY, SPECIES, **given)
    assert found[0] == pytest.approx(expected[0], rel=1e-12)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)
    assert found[2] == expected[2]


def test_targets_change_places_too() -> None:
    found = permutation_test_score(Ridge(), DIABETES, PROGRESS, n_permutations=9)
    expected = reference.permutation_test_score(Ridge(), DIABETES, PROGRESS, n_permutations=9)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-9)
    assert found[2] == expected[2] == 0.1


def test_what_is_refused_and_what_is_handed_over() -> None:
    with pytest.raises(ParameterError, match="there is one at least"):
        permutation_test_score(GaussianNB(), IRIS, SPECIES, n_permutations=0)
    with pytest.raises(ParameterError, match="pass them as values"):
        permutation_test_score(GaussianNB(), {"x": IRIS[:, 0]}, "y")
    with pytest.warns(SufficeWarning, match="permutation_test_score of scikit-learn"):
        permutation_test_score(DummyClassifier(), IRIS, SPECIES, n_permutations=2)
