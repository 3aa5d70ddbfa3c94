"""Leave-one-out, against a fit to all other rows for every row."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import KFold, LeaveOneOut

from suffice import (
    LinearDiscriminantAnalysis,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    Ridge,
)
from suffice.errors import SufficeWarning
from suffice.families import Gaussian
from suffice.linear_model import ElasticNet
from suffice.model_selection import (
    cross_val_predict,
    cross_val_score,
    cross_validate,
    evaluate_folds,
)
from suffice.naive_bayes import CategoricalNB, GaussianNB

RNG = np.random.default_rng(0)
IRIS, SPECIES = load_iris(return_X_y=True)
FEW = np.arange(0, 150, 6)
CANCER, MALIGNANT = (part[::19] for part in load_breast_cancer(return_X_y=True))
DIABETES, PROGRESS = (part[:30] for part in load_diabetes(return_X_y=True))
GAPS = np.where(RNG.random(CANCER.shape) < 0.1, np.nan, CANCER)
OUTLIER = IRIS[FEW].copy()
OUTLIER[0, 0] = 1e3
CODES = RNG.integers(0, 5, (30, 4))
CODES[3, 1], CODES[7, 2] = 9, 6  # the only rows with these values
KINDS = RNG.integers(0, 3, 30)
WORDS = pd.DataFrame({f"c{j}": np.array(list("abcdefghij"))[CODES[:, j]] for j in range(4)})
WORDS.loc[5, "c0"] = None
WORDS["number"] = np.where(np.arange(30) % 7 == 0, np.nan, RNG.normal(size=30))
NEAR = WORDS.assign(name=[f"r{max(i, 1)}" for i in range(30)])  # but for one, all differ
NAMED = WORDS.assign(name=[f"r{i}" for i in range(30)], place=np.arange(30.0))
ONE_OF_A_CLASS = np.where(np.arange(25) == 3, 9, SPECIES[FEW])

LDA, QDA = LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
TASKS: dict[str, tuple[Any, Any, Any]] = {
    "gaussian": (GaussianNB(), IRIS[FEW], SPECIES[FEW]),
    "gaussian, gaps": (GaussianNB(), GAPS, MALIGNANT),
    "gaussian, floors": (GaussianNB(var_smoothing=0.2), CANCER, MALIGNANT),
    "gaussian, outlier": (GaussianNB(), OUTLIER, SPECIES[FEW]),
    "gaussian, all digits cancel": (GaussianNB(), OUTLIER**3, SPECIES[FEW]),
    "gaussian, far from 0": (GaussianNB(), IRIS[FEW] + 1e8, SPECIES[FEW]),
    "gaussian, a constant": (GaussianNB(), np.c_[IRIS[FEW], np.ones(25)], SPECIES[FEW]),
    "gaussian, priors": (GaussianNB(priors=[0.2, 0.3, 0.5]), IRIS[FEW], SPECIES[FEW]),
    "gaussian, class of one": (GaussianNB(), IRIS[FEW], ONE_OF_A_CLASS),
    "gaussian, balanced": (GaussianNB(class_weight="balanced"), IRIS[FEW], ONE_OF_A_CLASS),
    "student": (NaiveBayes.textbook(), GAPS, MALIGNANT),
    "mode": (NaiveBayes.textbook(estimation="map"), IRIS[FEW], SPECIES[FEW]),
    "mle": (NaiveBayes.textbook(Gaussian("mle")), IRIS[FEW], SPECIES[FEW]),
    "categorical": (CategoricalNB(), CODES, KINDS),
    "categorical, wide": (CategoricalNB(min_categories=12), CODES, KINDS),
    "categorical, impossible": (CategoricalNB(alpha=0.0), CODES, KINDS),
    "words": (NaiveBayes.textbook(), WORDS, KINDS),
    "words, smooth": (
        NaiveBayes.textbook(unseen="smooth", class_prior="smoothed"),
        WORDS[:18],
        KINDS[:18],
    ),
    "words, map": (NaiveBayes.textbook(estimation="map", unseen="smooth"), WORDS, KINDS),
    "nearly an identifier": (NaiveBayes.textbook(), NEAR, KINDS),
    "identifiers": (NaiveBayes.textbook(), NAMED, KINDS),
    "few identifiers": (NaiveBayes.textbook(), NAMED[:14], KINDS[:14]),
    "LDA": (LDA(), IRIS[FEW], SPECIES[FEW]),
    "LDA, ddof": (LDA(ddof=1), CANCER[:, :8], MALIGNANT),
    "LDA, dependent": (LDA(), np.c_[IRIS, IRIS.sum(axis=1)][FEW], SPECIES[FEW]),
    "LDA, far from 0": (LDA(), IRIS[FEW] + 1e6, SPECIES[FEW]),
    "LDA, outlier": (LDA(), OUTLIER, SPECIES[FEW]),
    "LDA, class of one": (LDA(), IRIS[FEW], ONE_OF_A_CLASS),
    "QDA": (QDA(), IRIS[FEW], SPECIES[FEW]),
    "QDA, ddof": (QDA(ddof=1, priors=[0.4, 0.6]), CANCER[:, :4], MALIGNANT),
    "QDA, outlier": (QDA(), OUTLIER, SPECIES[FEW]),
}
QUICK = {
    "gaussian, gaps",
    "gaussian, floors",
    "student",
    "categorical, wide",
    "words, smooth",
    "few identifiers",
    "LDA, ddof",
    "LDA, class of one",
    "QDA",
}


def by_fits(estimator: Any, X: Any, y: Any, **options: Any) -> Any:
    """Answers of models that are fitted to all other rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        return cross_val_predict(estimator, X, y, cv=list(KFold(len(y)).split(X)), **options)


def left_out(estimator: Any, X: Any, y: Any, **options: Any) -> Any:
    """The same by leave-one-out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        return cross_val_predict(estimator, X, y, cv="loo", **options)


@pytest.mark.parametrize(
    "task",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.exhaustive) for name in TASKS],
)
def test_answers_are_those_of_fits_to_all_other_rows(task: str) -> None:
    estimator, X, y = TASKS[task]
    expected = by_fits(estimator, X, y, method="predict_proba")
    found = left_out(estimator, X, y, method="predict_proba")
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    labels = np.unique(y)[expected.argmax(axis=1)]
    assert (left_out(estimator, X, y) == labels).all()


@settings(max_examples=4, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.sampled_from([GaussianNB(), NaiveBayes.textbook(), LDA(), QDA()])
)
def test_a_row_is_taken_out_with_all_its_weight(seed: int, estimator: Any) -> None:
    rng = np.random.default_rng(seed)
    weights = np.append(np.zeros(4), rng.choice([0.3, 1.0, 2.5], 14))
    params = {"sample_weight": rng.permutation(weights)}
    X, y = rng.normal(size=(18, 2)), np.arange(18) % 2
    options = {"params": params, "method": "predict_log_proba"}
    expected = by_fits(estimator, X, y, **options)
    np.testing.assert_allclose(left_out(estimator, X, y, **options), expected, atol=1e-11)


def test_lachenbruchs_errors_of_iris() -> None:
    """MASS: table(lda(Species ~ ., iris, CV = TRUE)$class, iris$Species) has three errors."""
    model = LDA(ddof=1, priors=[1 / 3] * 3)
    assert (np.flatnonzero(left_out(model, IRIS, SPECIES) != SPECIES) + 1).tolist() == [71, 84, 134]


def test_quadratic_errors_of_iris_are_those_of_sas() -> None:
    """SAS/STAT, The DISCRIM Procedure, normal-theory example: cross-validated error 0.0267."""
    model = QDA(ddof=1, priors=[1 / 3] * 3)
    wrong = left_out(model, IRIS, SPECIES) != SPECIES
    assert round(wrong.mean(), 4) == 0.0267
    assert np.bincount(SPECIES[wrong], minlength=3).tolist() == [0, 3, 1]


def test_scores_of_rows_are_those_of_scikit_learn() -> None:
    X, y = IRIS[FEW], SPECIES[FEW]
    found = cross_validate(LDA(), X, y, cv="loo", scoring=["accuracy", "neg_log_loss"])
    proba = by_fits(LDA(), X, y, method="predict_proba")
    expected = (proba.argmax(axis=1) == y).astype(float)
    assert (found["test_accuracy"] == expected).all()
    assert (cross_val_score(LDA(), X, y, cv=LeaveOneOut()) == expected).all()
    log_loss = np.log(proba[np.arange(len(y)), y])
    np.testing.assert_allclose(found["test_neg_log_loss"], log_loss, atol=1e-10)


def test_an_evaluation_is_of_all_rows_left_out_one_by_one() -> None:
    found = evaluate_folds(QDA(), IRIS, SPECIES, cv="loo")
    again = evaluate_folds(QDA(), IRIS, SPECIES, cv=LeaveOneOut()).pooled
    proba = left_out(QDA(), IRIS, SPECIES, method="predict_proba")
    assert found.pooled.error == again.error == np.mean(proba.argmax(axis=1) != SPECIES)
    expected = -np.log(proba[np.arange(150), SPECIES]).mean()
    assert found.mean("log loss") == pytest.approx(expected, rel=1e-12)
    assert repr(found).startswith("every row by the model of all others\nlog loss")


def test_files_are_left_out_row_by_row(tmp_path: Path) -> None:
    frame = WORDS.assign(kind=KINDS)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    found = evaluate_folds(NaiveBayes.textbook(), tmp_path / "rows.csv", "kind", cv="loo")
    expected = evaluate_folds(NaiveBayes.textbook(), WORDS, KINDS, cv="loo")
    assert found.mean("log loss") == pytest.approx(expected.mean("log loss"), rel=1e-12)


LINES: dict[str, tuple[Any, Any, Any]] = {
    "without intercept": (LinearRegression(fit_intercept=False), DIABETES, PROGRESS),
    "two targets": (LinearRegression(), DIABETES, np.c_[PROGRESS, PROGRESS**2]),
    "dependent columns": (LinearRegression(), DIABETES[:, [0, 2, 2, 3]], PROGRESS),
    "a column of one row": (LinearRegression(), np.c_[DIABETES[:, 2], np.eye(30)[4]], PROGRESS),
    "ridge, far from 0": (Ridge(alpha=0.01), DIABETES + 1e6, PROGRESS),
    "a penalty of squares of a mean": (ElasticNet(0.01, l1_ratio=0.0), DIABETES, PROGRESS),
}


@pytest.mark.parametrize("task", LINES)
def test_errors_of_rows_left_out_are_those_of_fits_to_all_others(task: str) -> None:
    estimator, X, y = LINES[task]
    expected = by_fits(estimator, X, y)
    np.testing.assert_allclose(left_out(estimator, X, y), expected, rtol=1e-9)


def test_press_of_delivery_times() -> None:
    """Montgomery, Peck and Vining, Introduction to Linear Regression Analysis: PRESS = 459.0393."""
    cases = "7 3 3 4 6 7 2 7 30 5 16 10 4 6 9 10 6 7 3 17 10 26 9 8 4"
    feet = (
        "560 220 340 80 150 330 110 210 1460 605 688 215 255 "
        "462 448 776 200 132 36 770 140 810 450 635 150"
    )
    minutes = (
        "16.68 11.5 12.03 14.88 13.75 18.11 8 17.83 79.24 21.5 40.33 21 13.5 "
        "19.75 24 29 15.35 19 9.5 35.1 17.9 52.32 18.75 19.83 10.75"
    )
    X = np.array([cases.split(), feet.split()], float).T
    y = np.array(minutes.split(), float)
    found = left_out(LinearRegression(), X, y)
    assert round(((y - found) ** 2).sum(), 4) == 459.0393


@pytest.mark.parametrize(
    ("estimator", "X", "y"),
    [
        (GaussianNB(), OUTLIER**3, SPECIES[FEW]),
        (NaiveBayes.textbook(calibration="temperature"), IRIS[FEW[::2]], SPECIES[FEW[::2]]),
        (LogisticRegression(), IRIS[FEW[::2]], SPECIES[FEW[::2]]),
        (Ridge(alpha="gcv"), DIABETES[:15], PROGRESS[:15]),
        (LinearRegression(), LINES["a column of one row"][1], PROGRESS),
    ],
)
def test_an_evaluation_without_closed_form_is_that_of_fits(estimator: Any, X: Any, y: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        found = evaluate_folds(estimator, X, y, cv="loo")
    if len(np.unique(y)) > 3:
        errors = y - by_fits(estimator, X, y)
        assert found.mean("RMSE") == pytest.approx(np.sqrt((errors**2).mean()), rel=1e-6)
        return
    logs = by_fits(estimator, X, y, method="predict_log_proba")
    codes = np.unique(y, return_inverse=True)[1]
    log_loss = -logs[np.arange(len(y)), codes].mean()
    assert found.mean("log loss") == pytest.approx(log_loss, rel=1e-6)


def test_the_cost_is_said_before_a_fit_for_every_row() -> None:
    for ask in (cross_val_predict, evaluate_folds):
        with pytest.warns(SufficeWarning, match="9 models are fitted, each to 8 rows"):
            ask(LogisticRegression(C=0.1), IRIS[FEW[::3]], SPECIES[FEW[::3]], cv="loo")
