"""A grid from one pass, against scikit-learn's search over our estimators."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import model_selection as reference
from sklearn.base import is_classifier
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import Ridge as Foreign

from suffice import LinearDiscriminantAnalysis, LogisticRegression, NaiveBayes, Ridge
from suffice.errors import DataError, ParameterError, SufficeWarning
from suffice.model_selection import GridSearchCV
from suffice.models.opened import Opened
from suffice.naive_bayes import CategoricalNB, GaussianNB

IRIS, SPECIES = load_iris(return_X_y=True)
DIABETES, PROGRESS = load_diabetes(return_X_y=True)
RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 4, (600, 5))
CLASSES = (CODES[:, 0] + RNG.integers(0, 3, 600)) % 3
MIXED = pd.DataFrame({"hue": RNG.choice(list("xyz"), 300), "size": RNG.normal(size=300)})
ANSWERS = np.where((MIXED.hue == "x") ^ (MIXED["size"] > 0.5), "yes", "no")

TASKS: dict[str, tuple[Any, Any, Any, Any, dict[str, Any]]] = {
    "smoothing": (
        GaussianNB(),
        IRIS,
        SPECIES,
        {"var_smoothing": [1e-9, 1e-3, 0.1], "priors": [None, [0.2, 0.3, 0.5]]},
        {},
    ),
    "alpha": (
        CategoricalNB(),
        CODES,
        CLASSES,
        {"alpha": [0.1, 1, 10]},
        {"scoring": "neg_log_loss"},
    ),
    "mixed": (
        NaiveBayes.textbook(),
        MIXED,
        ANSWERS,
        {"alpha": [0.5, 50.0], "estimation": ["bayes", "map"]},
        {"cv": 3},
    ),
    "several grids and scores": (
        Ridge(),
        DIABETES,
        PROGRESS,
        [{"alpha": [1e-3, 1.0, 1e3]}, {"fit_intercept": [False]}],
        {"scoring": ["r2", "neg_mean_squared_error"], "refit": "r2", "cv": 3},
    ),
    "sums that differ": (
        LinearDiscriminantAnalysis(solver="lsqr"),
        IRIS,
        SPECIES,
        {"shrinkage": [None, 0.1, "auto"]},
        {"cv": 3},
    ),
    "an option out of range": (GaussianNB(), IRIS, SPECIES, {"var_smoothing": [-1, 0.1]}, {}),
    "scores from sums": (
        Ridge(),
        np.c_[DIABETES, DIABETES[:, 0] + 1e-9 * PROGRESS, 1e6 + DIABETES[:, 1]],
        np.c_[PROGRESS, PROGRESS**2],
        {"alpha": [1e-6, 1e-2, 1e3], "fit_intercept": [True, False]},
        {"cv": 4},
    ),
    "no refit": (GaussianNB(), IRIS, SPECIES, {"var_smoothing": [1e-9, 0.1]}, {"refit": False}),
}


@pytest.fixture(autouse=True)
def _quietly() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=UserWarning)
        warnings.simplefilter("ignore", category=RuntimeWarning)  # fits that fail
        yield


@pytest.mark.parametrize("task", TASKS)
def test_results_are_those_of_scikit_learn(task: str) -> None:
    estimator, x, y, grid, options = TASKS[task]
    found = GridSearchCV(estimator, grid, return_train_score=True, **options).fit(x, y)
    expected = reference.GridSearchCV(estimator, grid, return_train_score=True, **options).fit(x, y)
    assert found.cv_results_.keys() == expected.cv_results_.keys()
    for name, value in expected.cv_results_.items():
        if name.startswith("param"):
            assert str(list(found.cv_results_[name])) == str(list(value))
        elif "_time" not in name:
            np.testing.assert_allclose(
                found.cv_results_[name], value, rtol=1e-12, atol=1e-12, err_msg=name
            )
    assert found.best_index_ == expected.best_index_
    assert found.best_params_ == expected.best_params_
    assert found.best_score_ == pytest.approx(expected.best_score_, rel=1e-12)
    assert found.n_splits_ == expected.n_splits_
    assert found.multimetric_ == expected.multimetric_
    assert hasattr(found, "best_estimator_") == hasattr(expected, "best_estimator_")
    if hasattr(expected, "best_estimator_"):
        np.testing.assert_array_equal(found.predict(x), expected.predict(x))
        assert found.score(x, y) == expected.score(x, y)


def test_points_that_share_their_sums_read_the_rows_once(monkeypatch: pytest.MonkeyPatch) -> None:
    passes = []
    original = Opened.by_group

    def counted(self: Opened, *arguments: Any) -> Any:
        passes.append(self)
        return original(self, *arguments)

    monkeypatch.setattr(Opened, "by_group", counted)
    grid = {"var_smoothing": [1e-9, 1e-3, 0.1], "priors": [None, [0.2, 0.3, 0.5]]}
    GridSearchCV(GaussianNB(), grid, cv=4).fit(IRIS, SPECIES)
    assert len(passes) == 1


def test_it_is_an_estimator() -> None:
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [0.1]})
    assert is_classifier(search)
    assert search.get_params()["estimator__var_smoothing"] == 1e-9
    fitted = search.fit(pd.DataFrame(IRIS, columns=list("abcd")), SPECIES)
    assert fitted.feature_names_in_.tolist() == list("abcd")
    assert isinstance(fitted.best_estimator_, GaussianNB)
    assert fitted.classes_.tolist() == [0, 1, 2]


def test_weights_and_groups() -> None:
    weight = np.random.default_rng(0).integers(1, 4, 150).astype(float)
    groups = np.arange(150) % 7
    options: dict[str, Any] = {"cv": reference.GroupKFold(3)}
    grid = {"var_smoothing": [1e-9, 0.1]}
    found = GridSearchCV(GaussianNB(), grid, **options)
    found.fit(IRIS, SPECIES, groups=groups, sample_weight=weight)
    expected = reference.GridSearchCV(GaussianNB(), grid, **options)
    expected.fit(IRIS, SPECIES, groups=groups, sample_weight=weight)
    np.testing.assert_array_equal(
        found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"]
    )


def test_what_is_not_ours_is_handed_over() -> None:
    grid = {"alpha": [1.0]}
    with pytest.warns(SufficeWarning, match="GridSearchCV of scikit-learn fits it anew"):
        found = GridSearchCV(Foreign(), grid, cv=3).fit(DIABETES, PROGRESS)
    expected = reference.GridSearchCV(Foreign(), grid, cv=3).fit(DIABETES, PROGRESS)
    assert found.best_score_ == pytest.approx(expected.best_score_, rel=1e-12)


def test_what_is_no_function_of_sums_is_fitted_to_every_fold() -> None:
    x = IRIS + np.random.default_rng(4).normal(size=IRIS.shape)
    for scoring, solver in ((None, "newton"), ("neg_log_loss", "lbfgs")):
        grid = {"C": [1e-3, 1.0], "solver": [solver]}
        found = GridSearchCV(LogisticRegression(), grid, cv=3, scoring=scoring).fit(x, SPECIES)
        expected = reference.GridSearchCV(LogisticRegression(), grid, cv=3, scoring=scoring)
        expected.fit(x, SPECIES)
        for f in range(3):
            name = f"split{f}_test_score"
            np.testing.assert_allclose(
                found.cv_results_[name], expected.cv_results_[name], rtol=1e-8
            )


def test_what_is_refused() -> None:
    with pytest.raises(ParameterError, match="Invalid parameter 'alfa' for estimator Gauss"):
        GridSearchCV(GaussianNB(), {"alfa": [1.0]}).fit(IRIS, SPECIES)
    with pytest.raises(ParameterError, match="var_smoothing"):
        GridSearchCV(GaussianNB(), {"var_smoothing": [-1.0]}, error_score="raise").fit(
            IRIS, SPECIES
        )
    with pytest.raises(ParameterError, match="var_smoothing"):
        GridSearchCV(GaussianNB(), {"var_smoothing": [-1.0]}).fit(IRIS, SPECIES)
    with pytest.raises(DataError, match="there is one class"):
        GridSearchCV(NaiveBayes.textbook(), {"alpha": [1.0]}).fit(IRIS[:50], SPECIES[:50])


def test_no_point_is_the_best_where_no_score_is_finite():
    y = np.array(["a", "b"] * 30, object)
    y[7] = "typo"
    x = np.random.default_rng(0).normal(size=(60, 2))
    search = GridSearchCV(
        GaussianNB(), {"var_smoothing": [1e-9, 1e-1]}, scoring="neg_log_loss", cv=3
    )
    with (
        warnings.catch_warnings(action="ignore"),
        pytest.raises(DataError, match=r"has a finite score: fold . asks for the class 'typo'"),
    ):
        search.fit(x, y)
    assert np.isnan(search.cv_results_["mean_test_score"]).all()
    with warnings.catch_warnings(action="ignore"):
        search.set_params(scoring="accuracy").fit(x, y)
    assert np.isfinite(search.best_score_)
