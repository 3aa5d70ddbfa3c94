"""Folds and penalties that descend together, against fits of every fold by itself."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import model_selection as reference
from sklearn.datasets import load_iris

from suffice import LogisticRegression
from suffice.errors import SufficeWarning
from suffice.model_selection import GridSearchCV, cross_validate, refits

IRIS, SPECIES = load_iris(return_X_y=True)
RNG = np.random.default_rng(3)
X = RNG.normal(size=(900, 4)) * [1, 100, 0.01, 1] + [0, 1e5, 0, 3]
Z = (X - X.mean(axis=0)) / X.std(axis=0)
Y = np.where(Z @ [1.0, -2.0, 0.5, 0.0] + RNG.logistic(size=900) > 0, "yes", "no")
W = RNG.random(900) + 0.5
THREE = np.where(Y == "yes", "yes", np.where(Z[:, 3] + RNG.logistic(size=900) > 0, "no", "never"))
WHOLE = W < 1.4
OF_WHOLE = [
    (np.setdiff1d(np.arange(900), part), part) for part in np.array_split(np.flatnonzero(WHOLE), 3)
]


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The learners that are fitted fold by fold."""
    found: list[Any] = []
    usual = refits._one_by_one

    def one_by_one(learner: Any, *given: Any) -> Any:
        found.append(learner)
        return usual(learner, *given)

    monkeypatch.setattr(refits, "_one_by_one", one_by_one)
    return found


@pytest.mark.parametrize("y", [Y, THREE], ids=["two classes", "three"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"standardize": True},
        {"fit_intercept": False},
        {"class_weight": {"yes": 3.0}},
        {"C": 1e-4},
        {"C": 1e6},
    ],
    ids=str,
)
@pytest.mark.parametrize("weight", [None, W], ids=["", "weights"])
def test_every_fold_is_its_own_fit(y: Any, options: Any, weight: Any, alone: list[Any]) -> None:
    params = None if weight is None else {"sample_weight": weight}
    given = {"params": params, "return_estimator": True, "return_indices": True}
    found = cross_validate(LogisticRegression(**options), X, y, cv=5, **given)
    assert not alone
    for train, model in zip(found["indices"]["train"], found["estimator"], strict=True):
        mine = weight if weight is None else weight[train]
        fitted = LogisticRegression(**options).fit(X[train], y[train], mine)
        size = np.abs(fitted.coef_ * X.std(axis=0)).max()
        np.testing.assert_allclose(
            model.coef_ * X.std(axis=0), fitted.coef_ * X.std(axis=0), atol=1e-9 * size
        )
        np.testing.assert_allclose(
            model.decision_function(X), fitted.decision_function(X), atol=1e-8 * max(size, 1)
        )
        assert model.get_params() == fitted.get_params()
        assert model.n_features_in_ == 4
        assert (model.classes_ == fitted.classes_).all()


@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
def test_a_grid_is_that_of_scikit_learn(scoring: Any, alone: list[Any]) -> None:
    grid = {"C": [1e-3, 0.1, 1.0, 100.0]}
    found = GridSearchCV(LogisticRegression(), grid, cv=4, scoring=scoring).fit(X, Y)
    assert not alone
    expected = reference.GridSearchCV(LogisticRegression(), grid, cv=4, scoring=scoring).fit(X, Y)
    for f in range(4):
        name = f"split{f}_test_score"
        np.testing.assert_allclose(found.cv_results_[name], expected.cv_results_[name], rtol=1e-8)
    assert found.best_params_ == expected.best_params_


def test_separated_folds_reach_their_minimum(alone: list[Any]) -> None:
    y = IRIS[:, 2] > 2.5
    grid = {"C": [0.01, 1.0, 1e4]}
    found = GridSearchCV(LogisticRegression(), grid, cv=5, scoring="neg_log_loss").fit(IRIS, y)
    expected = reference.GridSearchCV(LogisticRegression(), grid, cv=5, scoring="neg_log_loss")
    expected.fit(IRIS, y)
    for f in range(5):
        name = f"split{f}_test_score"
        np.testing.assert_allclose(
            found.cv_results_[name], expected.cv_results_[name], rtol=1e-8, atol=1e-10
        )


@pytest.mark.parametrize(
    ("estimator", "x", "y", "cv"),
    [
        (LogisticRegression(penalty=None), X, Y, 3),
        (LogisticRegression(class_weight="balanced"), X, Y, 3),
        (LogisticRegression(solver="lbfgs"), X, Y, 3),
        (LogisticRegression(incomplete="drop"), np.where(~WHOLE[:, None], np.nan, X), Y, OF_WHOLE),
        (LogisticRegression(), pd.DataFrame({"a": Z[:, 0], "b": np.where(W > 1, "p", "q")}), Y, 3),
        (LogisticRegression(), X, Y, reference.ShuffleSplit(4, test_size=0.3, random_state=0)),
    ],
    ids=["likelihood", "balanced", "other solver", "missing cells", "categories", "rows left out"],
)
def test_others_are_fitted_one_by_one(
    estimator: Any, x: Any, y: Any, cv: Any, alone: list[Any]
) -> None:
    found = cross_validate(estimator, x, y, cv=cv, scoring="neg_log_loss")
    assert len(alone) == 1
    expected = reference.cross_val_score(estimator, x, y, cv=cv, scoring="neg_log_loss")
    np.testing.assert_allclose(found["test_score"], expected, rtol=1e-8)


def test_a_fold_without_a_class_says_so(alone: list[Any]) -> None:
    y = np.repeat(["a", "b"], 450)
    folds = [(np.arange(450), np.arange(450, 900)), (np.arange(0, 900, 2), np.arange(1, 900, 2))]
    with pytest.warns(SufficeWarning, match="fold 0: .* one class"):
        found = cross_validate(LogisticRegression(), X, y, cv=folds)
    assert np.isnan(found["test_score"]).tolist() == [True, False]
    assert alone


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_bad_cell_is_named(bad: float) -> None:
    x = X.copy()
    x[5, 2] = bad
    with pytest.raises(ValueError, match="x2"):
        cross_validate(LogisticRegression(), x, Y, cv=3, error_score="raise")


def test_options_outside_their_rule_are_refused() -> None:
    for options in ({"C": -1.0}, {"C": "many"}, {"tol": 0}):
        with pytest.raises(ValueError, match=next(iter(options))):
            cross_validate(LogisticRegression(**options), X, Y, cv=3, error_score="raise")
