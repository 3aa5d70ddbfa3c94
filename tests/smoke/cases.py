"""Estimators by name and the small tables that suit them; the library is imported on first use."""

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

#: Public home of an estimator, the table that suits it, and the options of its cases.
ESTIMATORS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "NaiveBayes": ("suffice", "numbers", {}),
    "NaiveBayes.textbook": ("suffice", "numbers", {"numbers": "gaussian"}),
    "GaussianNB": ("suffice.naive_bayes", "numbers", {}),
    "BernoulliNB": ("suffice.naive_bayes", "flags", {}),
    "CategoricalNB": ("suffice.naive_bayes", "codes", {}),
    "MultinomialNB": ("suffice.naive_bayes", "counts", {}),
    "ComplementNB": ("suffice.naive_bayes", "counts", {}),
    "LinearDiscriminantAnalysis": ("suffice.discriminant_analysis", "numbers", {}),
    "QuadraticDiscriminantAnalysis": ("suffice.discriminant_analysis", "numbers", {}),
    "AODE": ("suffice", "numbers", {"bins": {f"x{j}": [0.0, 1.0] for j in range(4)}}),
    "AutoClassifier": ("suffice", "numbers", {"candidates": ["lda", "qda"], "best": 2}),
    "LogisticRegression": ("suffice.linear_model", "numbers", {}),
    "LinearRegression": ("suffice.linear_model", "target", {}),
    "Ridge": ("suffice.linear_model", "target", {}),
    "Lasso": ("suffice.linear_model", "target", {"alpha": 0.1}),
    "ElasticNet": ("suffice.linear_model", "target", {"alpha": 0.1}),
}
REGRESSORS = ("LinearRegression", "Ridge", "Lasso", "ElasticNet")
CLASSIFIERS = tuple(name for name in ESTIMATORS if name not in REGRESSORS)
#: Those whose model is a function of sums.
OF_SUMS = tuple(n for n in ESTIMATORS if n not in ("AutoClassifier", "LogisticRegression"))


def make(name: str, **options: Any) -> Any:
    """Return an unfitted estimator."""
    home, _, defaults = ESTIMATORS[name]
    found = import_module(home)
    for part in name.split("."):
        found = getattr(found, part)
    return found(**(defaults | options))


def fitted(name: str, rows: Any = slice(None), **options: Any) -> Any:
    """Return an estimator fitted to some rows of its table."""
    X, y = table(ESTIMATORS[name][1])
    return make(name, **options).fit(X[rows], y[rows])


@cache
def whole(name: str) -> Any:
    """Return an estimator fitted to its whole table, shared by the tests that change nothing."""
    return fitted(name)


def rows_of(name: str) -> tuple[Any, Any]:
    """Return the table that suits an estimator."""
    return table(ESTIMATORS[name][1])


@cache
def table(kind: str) -> tuple[Any, Any]:
    """Return features and labels, or a numeric target."""
    rng = np.random.default_rng(7)
    y = np.arange(60) % 3
    numbers = np.round(rng.normal(size=(60, 4)) + np.array([[0, 0, 1, 2]]) * y[:, None], 3)
    if kind == "numbers":
        return numbers, np.array(["a", "b", "c"])[y]
    if kind == "target":
        return numbers, np.round(numbers @ [1.0, -2.0, 0.5, 3.0] + rng.normal(size=60), 3)
    if kind == "flags":
        return (rng.random((60, 4)) < 0.25 + 0.2 * y[:, None]).astype(float), y
    if kind == "codes":
        return (y[:, None] + (rng.random((60, 4)) < 0.5) * rng.integers(0, 3, (60, 4))) % 3, y
    return rng.poisson(1 + np.array([[0, 1, 2, 4]]) * np.roll(y, 1)[:, None]), np.roll(y, 1)


def answers(model: Any, X: Any) -> Any:
    """Return what a model says of rows: probabilities, or numbers."""
    return model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)
