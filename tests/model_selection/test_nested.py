"""A search inside a cross-validation, against scikit-learn driving our estimators."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import model_selection as reference
from sklearn.datasets import load_diabetes, load_iris

from suffice import LinearDiscriminantAnalysis, LogisticRegression, NaiveBayes, Ridge
from suffice.errors import SufficeWarning
from suffice.model_selection import GridSearchCV, cross_val_predict, cross_val_score, cross_validate
from suffice.models.generative.method import GenerativeMethod
from suffice.naive_bayes import CategoricalNB, GaussianNB

IRIS, SPECIES = load_iris(return_X_y=True)
DIABETES, PROGRESS = load_diabetes(return_X_y=True)
RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 4, (400, 5))
CLASSES = (CODES[:, 0] + RNG.integers(0, 3, 400)) % 3
MIXED = pd.DataFrame({"hue": RNG.choice(list("xyz"), 300), "size": RNG.normal(size=300)})
ANSWERS = np.where((MIXED.hue == "x") ^ (MIXED["size"] > 0.5), "yes", "no")
RIDGE = Ridge()
SMOOTHING = {"var_smoothing": [1e-9, 1e-3, 0.1]}

TASKS: dict[str, tuple[Any, Any, Any, Any, dict[str, Any], dict[str, Any]]] = {
    "smoothing": (GaussianNB(), IRIS, SPECIES, SMOOTHING, {}, {}),
    "alpha": (
        CategoricalNB(),
        CODES,
        CLASSES,
        {"alpha": [0.1, 1, 100]},
        {"scoring": "neg_log_loss", "cv": 3},
        {"scoring": ["neg_log_loss", "accuracy"], "cv": 4},
    ),
    "mixed": (
        NaiveBayes.textbook(),
        MIXED,
        ANSWERS,
        {"alpha": [1.5, 50.0], "estimation": ["bayes", "map"]},
        {"cv": 3},
        {"cv": 3},
    ),
    "penalty": (
        RIDGE,
        DIABETES,
        PROGRESS,
        {"alpha": np.logspace(-3, 3, 7).tolist()},
        {"cv": 4},
        {"cv": reference.KFold(3, shuffle=True, random_state=1)},
    ),
    "shrinkage": (
        LinearDiscriminantAnalysis(),
        IRIS,
        SPECIES,
        {"shrinkage": [None, 0.1, "auto"]},
        {"cv": reference.StratifiedShuffleSplit(3, test_size=0.3, random_state=2)},
        {"cv": reference.StratifiedKFold(3, shuffle=True, random_state=1)},
    ),
}


@pytest.mark.parametrize("task", TASKS)
def test_it_is_what_scikit_learn_finds(task: str) -> None:
    estimator, x, y, grid, inner, outer = TASKS[task]
    search = GridSearchCV(estimator, grid, **inner)
    found = cross_validate(search, x, y, return_estimator=True, return_train_score=True, **outer)
    theirs = reference.GridSearchCV(estimator, grid, **inner)
    expected = reference.cross_validate(
        theirs, x, y, return_estimator=True, return_train_score=True, **outer
    )
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if "_score" in name:
            np.testing.assert_allclose(found[name], value, rtol=1e-12, atol=1e-12, err_msg=name)
    for mine, other in zip(found["estimator"], expected["estimator"], strict=True):
        assert mine.best_params_ == other.best_params_
        for name, value in other.cv_results_.items():
            if not name.startswith("param") and "_time" not in name:
                np.testing.assert_allclose(
                    mine.cv_results_[name], value, rtol=1e-12, atol=1e-12, err_msg=name
                )
        answers, theirs = mine.predict(x), other.predict(x)
        same = np.isclose(answers, theirs, rtol=1e-12) if estimator is RIDGE else answers == theirs
        assert same.all()
    assert not hasattr(search, "best_params_")


def test_rows_are_summed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    passes = []
    usual = GenerativeMethod.sums_by_group

    def counted(self: Any, *arguments: Any) -> Any:
        passes.append(self)
        return usual(self, *arguments)

    monkeypatch.setattr(GenerativeMethod, "sums_by_group", counted)
    cross_validate(GridSearchCV(GaussianNB(), SMOOTHING, cv=4), IRIS, SPECIES, cv=6)
    assert len(passes) == 1
    shuffled = reference.StratifiedKFold(5, shuffle=True, random_state=0)
    y, x = np.tile(SPECIES, 20), np.tile(IRIS, (20, 1))
    cross_validate(GridSearchCV(GaussianNB(), SMOOTHING, cv=shuffled), x, y, cv=shuffled)
    assert len(passes) == 1 + 5  # too many groups: once for every outer fold


def test_weights_and_other_functions() -> None:
    weight = RNG.integers(1, 4, 150).astype(float)
    search = GridSearchCV(GaussianNB(), SMOOTHING)
    found = cross_val_score(search, IRIS, SPECIES, params={"sample_weight": weight})
    expected = reference.cross_val_score(
        reference.GridSearchCV(GaussianNB(), SMOOTHING),
        IRIS,
        SPECIES,
        params={"sample_weight": weight},
    )
    assert found.tolist() == expected.tolist()
    answers = cross_val_predict(search, IRIS, SPECIES, cv=4, method="predict_proba")
    theirs = reference.cross_val_predict(search, IRIS, SPECIES, cv=4, method="predict_proba")
    np.testing.assert_allclose(answers, theirs, rtol=1e-12)


def test_a_search_of_no_sums_is_handed_over() -> None:
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=3)
    with pytest.warns(SufficeWarning, match="cross_validate of scikit-learn fits it anew"):
        found = cross_validate(search, IRIS, SPECIES, cv=3)
    expected = reference.cross_val_score(search, IRIS, SPECIES, cv=3)
    assert found["test_score"].tolist() == expected.tolist()


def test_a_search_that_cannot_be_made_has_no_score() -> None:
    grid = {"var_smoothing": [-1.0]}
    with pytest.raises(ValueError, match="var_smoothing"), pytest.warns(SufficeWarning):
        cross_validate(GridSearchCV(GaussianNB(), grid), IRIS, SPECIES, cv=3)
