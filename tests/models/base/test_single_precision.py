"""Rows of single precision are answered in it where scikit-learn does so: the answers, rounded."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.discriminant_analysis
import sklearn.linear_model
import sklearn.naive_bayes

import suffice

RNG = np.random.default_rng(0)
X = np.abs(RNG.normal(size=(60, 3)))
LABELS, TARGET = RNG.integers(0, 3, 60), RNG.normal(size=60)
REGRESSORS = ("LinearRegression", "Ridge", "Lasso", "ElasticNet")
NAMES = {
    "naive_bayes": ("GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB"),
    "discriminant_analysis": ("LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"),
    "linear_model": (*REGRESSORS, "LogisticRegression"),
}
CASES = [(module, name) for module, names in NAMES.items() for name in names]
METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform")


def fitted(package, module, name, x):
    y = TARGET.astype(x.dtype) if name in REGRESSORS else LABELS
    home = package if hasattr(package, name) else getattr(package, module)
    return getattr(home, name)().fit(x, y)


@pytest.mark.parametrize(("module", "name"), CASES)
def test_answers_have_the_precision_that_scikit_learn_gives(module, name, tmp_path):
    single = X.astype(np.float32)
    for fit, rows in [(single, single), (single, X), (X, X)]:
        theirs, ours = (fitted(p, module, name, fit) for p in (sklearn, suffice))
        for method in METHODS:
            if hasattr(theirs, method) and hasattr(ours, method):
                expected = getattr(theirs, method)(rows).dtype
                assert getattr(ours, method)(rows).dtype == expected, (method, fit.dtype)
    model = fitted(suffice, module, name, single)
    model.save(tmp_path / "model")
    again = suffice.load(tmp_path / "model")
    for method in METHODS[1 - (name in REGRESSORS) :]:
        if hasattr(model, method):
            found = getattr(model, method)(single)
            double = getattr(model, method)(single.astype(float))
            np.testing.assert_array_equal(found, double.astype(found.dtype))
            np.testing.assert_array_equal(getattr(again, method)(single), found)
